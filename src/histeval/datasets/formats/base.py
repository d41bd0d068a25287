"""What every format shares: the files it reads, the options it takes, and the report of an import or export."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from histeval.datasets.files import shown
from histeval.errors import UsageError, printable

HEAD = 1 << 16
"""How many bytes of a file `sniff` may look at."""
SHOWN = 8
"""How many ids a line of a report names; `ImportReport.repaired` and `left_out` hold all of them."""


@dataclass(frozen=True)
class Source:
    """A file to read: where it is, for messages (`export.zip/page/0001.xml` inside an archive), its name relative to
    the folder or archive it came with (parts separated by `/`), and its content and first bytes, read when they are
    asked for: an export may have thousands of files."""

    path: Path
    name: str
    load: Callable[[], bytes] = field(repr=False)
    start: bytes | Callable[[], bytes] = field(repr=False, default=b"")

    @property
    def head(self) -> bytes:
        """The first 64 KB of the file; raises DatasetError where it cannot be read."""
        return self.start if isinstance(self.start, bytes) else self.start()

    @property
    def data(self) -> bytes:
        """The whole file; raises DatasetError where it cannot be read or is too large."""
        return self.load()

    @property
    def stem(self) -> str:
        """The last part of the name without its suffix: what a document is called if nothing else says so."""
        return PurePosixPath(self.name).stem

    @property
    def suffix(self) -> str:
        """The suffix in lower case, with its dot."""
        return PurePosixPath(self.name).suffix.lower()


AS_KNOWN = "ids written as the dataset has them"
"""What the report says of a document that is found by an id written otherwise."""

Options = Mapping[str, Any]
"""Options of a format by name: what the command line gives (text), else the table [import] of a dataset.toml.
"documents" holds the ids of the dataset that is imported to (`DocumentIds`), where there is one."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a format: its default, what it is for, and the values it can take (empty: any text)."""

    name: str
    default: str
    help: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Format:
    """A file format. `module` has the functions

    - `sniff(source) -> bool`: whether the file is of this format, by `source.head` (64 KB) and its name; never raises;
    - `read(sources, options, report) -> iterable of documents`, in order; raises DatasetError with one sentence;
    - `write(documents, options, report) -> {file name: bytes}`, where `writes` says that there is one; what the format
      cannot say goes to `report.lose`.

    What a document is depends on the task: the module in `MODELS` defines it.
    """

    name: str
    tasks: tuple[str, ...]
    suffixes: tuple[str, ...]
    module: str
    help: str
    reads: bool = True
    writes: bool = False
    options: tuple[Option, ...] = ()

    def sniff(self, source: Source) -> bool:
        """Whether `source` is of this format, by its content."""
        return bool(self._function("sniff")(source))

    def read(self, sources: Sequence[Source], options: Options, report: ImportReport) -> Iterable[Any]:
        """The documents in some files, in order."""
        found: Iterable[Any] = self._function("read")(sources, options, report)
        return found

    def write(self, documents: Iterable[Any], options: Options, report: ImportReport) -> dict[str, bytes]:
        """The files that say the same as `documents`, by name."""
        files: dict[str, bytes] = self._function("write")(documents, options, report)
        return files

    def option(self, options: Options, name: str) -> str:
        """The value of an option, its default where it is not set; raises UsageError for a value it cannot take."""
        known = {option.name: option for option in self.options}[name]
        value = options.get(name, known.default)
        if not isinstance(value, str) or (known.choices and value not in known.choices):
            wanted = " or ".join(known.choices) or "a text"
            raise UsageError(f"the option {name} of {self.name} takes {wanted}, not {value!r}")
        return value

    def _function(self, name: str) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(import_module(self.module), name)
        return function


Remarks = dict[str, list[str]]


@dataclass
class ImportReport:
    """What an import or export did: what was read by kind (pages, regions, lines ...), and what was repaired, left
    out or could not be said, each with the ids it concerns. `str` gives it line by line."""

    task: str
    format: str
    path: Path | None = None
    verb: Literal["read", "written"] = "read"
    counts: dict[str, int] = field(default_factory=dict)
    repaired: Remarks = field(default_factory=dict)
    left_out: Remarks = field(default_factory=dict)
    lost: Remarks = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def count(self, kind: str, number: int = 1) -> None:
        """Adds to the number of things of a kind (a plural noun)."""
        self.counts[kind] = self.counts.get(kind, 0) + number

    def repair(self, what: str, *ids: str) -> None:
        """Something was mended or read otherwise than it stands; `ids` say where (`0001.xml: r3`)."""
        self.repaired.setdefault(what, []).extend(ids)

    def leave_out(self, what: str, *ids: str) -> None:
        """Something was not taken over."""
        self.left_out.setdefault(what, []).extend(ids)

    def lose(self, what: str, *ids: str) -> None:
        """Something that the format written cannot say."""
        self.lost.setdefault(what, []).extend(ids)

    def note(self, what: str) -> None:
        """Something worth knowing, once."""
        if what not in self.notes:
            self.notes.append(what)

    def as_json(self) -> dict[str, Any]:
        """All of it, every id included."""
        return {
            "task": self.task,
            "format": self.format,
            "path": None if self.path is None else str(self.path),
            self.verb: self.counts,
            "repaired": self.repaired,
            "left_out": self.left_out,
            "lost": self.lost,
            "notes": self.notes,
        }

    def __str__(self) -> str:
        counts = ", ".join(f"{number} {kind}" for kind, number in self.counts.items()) or "nothing"
        place = f" in {shown(self.path)}" if self.path is not None else ""
        lines = [f"{self.format}: {counts} {self.verb}{place}"]
        for title, remarks in (("repaired", self.repaired), ("left out", self.left_out), ("lost", self.lost)):
            for what, ids in remarks.items():
                more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
                where = f" ({', '.join(ids[:SHOWN])}{more})" if ids else ""
                number = f"{len(ids)} x " if len(ids) > 1 else ""
                lines.append(printable(f"{title}: {number}{what}{where}"))
        return "\n".join([*lines, *(printable(note) for note in self.notes)])
