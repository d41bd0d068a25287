"""Every error that Histeval raises on purpose.

A message is one sentence for a person: the file, the line and the item where there is one, and what to do about it.
The command line prints it without a traceback and exits with status 2.
"""

from __future__ import annotations

from pathlib import Path


def printable(text: str, limit: int = 400) -> str:
    """Text for one line of a message: control and direction characters escaped, cut at `limit` characters.

    >>> printable("a\\nb")
    'a\\\\nb'
    """
    if not text.isprintable():
        text = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
    return text if len(text) <= limit else f"{text[:limit]}..."


class HistevalError(Exception):
    """The base of the tree: catch this to catch everything Histeval raises on purpose."""


class UsageError(HistevalError):
    """A wrong option, name or combination of rules."""


class MissingExtraError(UsageError):
    """A library or program that is optional and not installed."""


class InputError(HistevalError):
    """A file or folder that cannot be read as what it is said to be.

    `file`, `line` (from 1) and `item` are kept so that callers can sort and group.
    """

    def __init__(
        self, what: str, *, file: Path | str | None = None, line: int | None = None, item: str = "", remedy: str = ""
    ) -> None:
        # Names and values in a message come from files: they stay on one line and move no cursor.
        what, item, remedy = printable(what), printable(item, 300), printable(remedy, 2000)
        self.what, self.file, self.line, self.item, self.remedy = what, file, line, item, remedy
        place = printable(str(file), 300) if file is not None else ""
        if line is not None:
            place += f", line {line}"
        if item:
            place += f", {item}" if place else item
        sentence = f"{place}: {what}" if place else what
        super().__init__(f"{sentence}. {remedy}" if remedy else sentence)


class DatasetError(InputError):
    """A dataset that cannot be read."""


class AnswersError(InputError):
    """A file or folder of answers that cannot be read."""


class ModelError(InputError):
    """A tagger's model folder that is damaged, edited, or made by another version or for another grammar."""


class SystemFault(HistevalError):
    """A system that cannot answer at all: wrong key, unknown model, program missing."""


class OutputError(HistevalError):
    """A result that could not be written: the disk is full, the folder may not be written to."""
