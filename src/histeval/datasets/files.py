"""Reading and writing files that people made: one helper, so that every reader says the same of the same fault.

Text is UTF-8, with or without a byte order mark. What is read is untrusted: files have a size limit, JSON a depth
limit, only regular files are opened (a pipe would block for ever), and a name from a file never leaves its folder.
"""

from __future__ import annotations

import json
import math
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from histeval.errors import DatasetError, InputError, OutputError, printable

MEBIBYTE = 1 << 20
TEXT_LIMIT = 256 * MEBIBYTE
"""Largest text file that is read whole, in bytes."""
LINE_LIMIT = 64 * MEBIBYTE
"""Longest line of a file that is read line by line, in bytes."""
DEPTH_LIMIT = 100
"""Deepest nesting of JSON: no record needs ten, and code that walks records may recurse."""

_MARK = b"\xef\xbb\xbf"
_OTHER_ENCODINGS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_SAVE_AS = (
    "Save it as UTF-8 (Excel: Save As, CSV UTF-8; LibreOffice: Save As, Edit filter settings, Unicode (UTF-8); "
    "text editors: Save As, encoding UTF-8)"
)
_PROGRAMS = (
    (b"\xd0\xcf\x11\xe0", (), "a file of old Word or Excel (.doc, .xls)"),
    (b"PK\x03\x04", (b"word/",), "a Word document (.docx)"),
    (b"PK\x03\x04", (b"xl/",), "an Excel workbook (.xlsx)"),
    (b"PK\x03\x04", (b"opendocument.spreadsheet",), "an OpenDocument spreadsheet (.ods)"),
    (b"PK\x03\x04", (b"opendocument.text",), "an OpenDocument text (.odt)"),
    (b"PK\x03\x04", (), "a zip archive"),
    (b"%PDF-", (), "a PDF"),
    (b"{\\rtf", (), "a text with formats (.rtf)"),
)
"""Files of programs by how they begin and what else they hold, whatever their name says."""
_DIGITS = re.compile(r"(\d+)")


def read_bytes(path: Path | str, *, error: type[InputError] = DatasetError, limit: int = TEXT_LIMIT) -> bytes:
    """The bytes of a regular file of at most `limit` bytes; raises `error` with one sentence for anything else."""
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise error("is a folder, not a file", file=path)
        if not stat.S_ISREG(status.st_mode):
            raise error("is not a regular file", file=path)
        if status.st_size > limit:
            raise error(f"is larger than {limit // MEBIBYTE} MB", file=path, remedy="Split it into parts")
        with open(path, "rb") as file:
            data = file.read(limit + 1)
    except (OSError, ValueError) as fault:
        raise error(f"cannot be read: {reason(fault)}", file=shown(path)) from None
    if len(data) > limit:
        raise error(f"is larger than {limit // MEBIBYTE} MB", file=path, remedy="Split it into parts")
    return data


def read_text(path: Path | str, *, error: type[InputError] = DatasetError, limit: int = TEXT_LIMIT) -> str:
    """The text of a UTF-8 file, its byte order mark removed and its line ends kept.

    Raises `error` where the file is missing, too large, not UTF-8 (UTF-16 and UTF-32 are named), or binary.
    """
    return decode(read_bytes(path, error=error, limit=limit), path, error=error)


def decode(data: bytes, path: Path | str, *, error: type[InputError] = DatasetError, line: int | None = None) -> str:
    """`data`, read from `path`, as text; `line` is the number of the line where only one is decoded."""
    program = program_of(data)
    if program:
        name = program.partition("(")[2].rstrip(")").split(",")[0]
        export = "Save its text as a file of the kind that its name says, in UTF-8"
        remedy = f"Name it {name}, or save its table as CSV in UTF-8" if name in (".xlsx",) else export
        raise error(f"is {program}, whatever its name says", file=path, line=line, remedy=remedy)
    foreign = foreign_encoding(data)
    if foreign:
        raise error(f"is {foreign}, not UTF-8", file=path, line=line, remedy=_SAVE_AS)
    body = data.removeprefix(_MARK) if line in (None, 1) else data
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as fault:
        where = line if line is not None else body.count(b"\n", 0, fault.start) + 1
        raise error(f"is not UTF-8 (byte 0x{body[fault.start]:02x})", file=path, line=where, remedy=_SAVE_AS) from None


def foreign_encoding(data: bytes) -> str | None:
    """UTF-16 or UTF-32 where the bytes show it, by their mark or by a NUL in every second place; else None.

    >>> foreign_encoding("Basel".encode("utf-16")), foreign_encoding("Basel".encode("utf-16-be"))
    ('UTF-16', 'UTF-16')
    """
    for mark, name in _OTHER_ENCODINGS:
        if data.startswith(mark):
            return name
    head = data[:400]
    if b"\x00" not in head or len(head) < 4:
        return None
    shares = sorted(half.count(0) / len(half) for half in (head[0::2], head[1::2]))
    if shares[0] < 0.1 and shares[1] > 0.7:
        return "UTF-16"
    return "a binary file"


def program_of(data: bytes) -> str:
    """The kind of a file that a word processor or the like made, by what is in it; empty for others.

    >>> program_of(b"%PDF-1.7"), program_of(b"Nr;Datum")
    ('a PDF', '')
    """
    for start, parts, name in _PROGRAMS:
        if data.startswith(start) and all(part in data for part in parts):
            return name
    return ""


def read_lines(
    path: Path | str, *, error: type[InputError] = DatasetError, limit: int = LINE_LIMIT
) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 file with their numbers from 1, without their line ends, one at a time.

    Memory is bounded by `limit`, the longest line allowed in bytes. Only a line feed ends a line (a carriage return
    before it is removed), since U+2028 and its like occur inside historical texts.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise error("is not a file", file=path)
        with open(path, "rb") as file:
            number = 0
            while data := file.readline(limit + 1):
                number += 1
                if len(data) > limit:
                    raise error(f"is longer than {limit // MEBIBYTE} MB", file=path, line=number)
                if number == 1 and (foreign_encoding(data) or program_of(data)):
                    decode(data, path, error=error)
                yield number, decode(data.rstrip(b"\r\n"), path, error=error, line=number)
    except (OSError, ValueError) as fault:
        raise error(f"cannot be read: {reason(fault)}", file=shown(path)) from None


def read_json(
    path: Path | str, *, error: type[InputError] = DatasetError, limit: int = TEXT_LIMIT, depth: int = DEPTH_LIMIT
) -> tuple[Any, int]:
    """The JSON value in a file, and how many bare NaN or Infinity it holds, which are read as null.

    Raises `error` where the file is no UTF-8 text, no JSON, or nested deeper than `depth`.
    """
    text = read_text(path, error=error, limit=limit)
    if not text.strip():
        raise error("is empty", file=path)
    return parse_json(text, path, error=error, depth=depth)


def parse_json(
    text: str,
    path: Path | str,
    *,
    error: type[InputError] = DatasetError,
    depth: int = DEPTH_LIMIT,
    line: int | None = None,
    duplicate_keys: list[str] | None = None,
) -> tuple[Any, int]:
    """Like `read_json`, for text that came from `path` (from its line `line`, where it is one line of many).

    Where `duplicate_keys` is a list, keys that occur twice in one object are appended to it; the last one counts.
    """
    not_numbers = 0

    def constant(_: str) -> None:
        nonlocal not_numbers
        not_numbers += 1

    def number(word: str) -> float | None:
        value = float(word)
        if math.isfinite(value):
            return value
        constant(word)
        return None

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in members:
            if key in result and duplicate_keys is not None:
                duplicate_keys.append(key)
            result[key] = value
        return result

    hook = pairs if duplicate_keys is not None else None
    try:
        value = json.loads(text, parse_constant=constant, parse_float=number, object_pairs_hook=hook)
    except json.JSONDecodeError as fault:
        where = line if line is not None else fault.lineno
        what = f"is not JSON: {fault.msg} (column {fault.colno})"
        raise error(what, file=path, line=where, remedy=_usual_cause(fault)) from None
    except RecursionError:
        raise error(f"is nested deeper than {depth} levels", file=path, line=line) from None
    except ValueError:  # a whole number of more than 4300 digits
        raise error("holds a number too long to read", file=path, line=line) from None
    if nesting(value, depth + 1) > depth:
        raise error(f"is nested deeper than {depth} levels", file=path, line=line)
    return value, not_numbers


_CAUSES = (
    ("Expecting ',' delimiter", 'a comma is missing before this place, or a quotation mark inside a text is not \\"'),
    ("Expecting ':' delimiter", "a colon is missing between a name and its value"),
    ("Expecting property name", "a comma stands after the last entry, or a name has no straight quotation marks"),
    ("Illegal trailing comma", "a comma stands after the last entry before a bracket"),
    ("Expecting value", "a comma is too many, a text has no quotation marks, or the file is cut off"),
    ("Unterminated string", "the closing quotation mark of a text is missing, or the file is cut off"),
    ("Invalid control character", "a line end or tab stands inside a text; write \\n or \\t for it"),
    ("Invalid \\", "a backslash stands in a text by itself; write \\\\ for one"),
    ("Extra data", "a bracket is closed too early, or the file holds an entry a line and should be called .jsonl"),
)


def _usual_cause(fault: json.JSONDecodeError) -> str:
    """What the author of a JSON file usually did where a reader stops."""
    cause = next((words for start, words in _CAUSES if fault.msg.startswith(start)), "")
    if any(mark in fault.doc[max(0, fault.pos - 2) : fault.pos + 3] for mark in "“”„«»‘’"):
        cause = 'a text stands in typographic quotation marks instead of straight ones (")'
    return f"Usually {cause}" if cause else ""


def nesting(value: Any, stop: int = 1000) -> int:
    """How deep lists and objects are nested in a JSON value, counted up to `stop`.

    >>> nesting("text"), nesting([]), nesting({"a": [1]})
    (0, 1, 2)
    """
    level = [value] if isinstance(value, (dict, list)) else []
    depth = 0
    while level and depth < stop:
        depth += 1
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, (dict, list))
        ]
    return depth


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key that reads digits as numbers, so that page 10 follows page 9.

    >>> sorted(["letter02_p10", "letter02_p9", "letter1"], key=natural_key)
    ['letter1', 'letter02_p9', 'letter02_p10']
    """
    parts = _DIGITS.split(name)
    # The text of the digits breaks ties (1 before 01). int() refuses more than 4300 digits, so long runs stay text.
    return tuple(
        (0, int(part), part) if index % 2 and len(part) <= 18 else (1, 0, part)
        for index, part in enumerate(parts)
        if part
    )


def inside(folder: Path, name: str, *, error: type[InputError] = DatasetError, file: Path | str | None = None) -> Path:
    """The path `name` (parts separated by `/`) inside `folder`; raises `error` where it would lead out of it.

    `file` is the file in which the name stands, for the message.
    """
    pure = PurePosixPath(name)
    drive = len(name) > 1 and name[1] == ":"
    if not name or pure.is_absolute() or drive or ".." in pure.parts or "\\" in name or "\x00" in name:
        raise error(f"the name {name[:200]!r} leads out of its folder", file=file)
    return folder.joinpath(*pure.parts)


def atomic_write(path: Path | str, data: str | bytes) -> None:
    """Writes a file whole or not at all: under another name first, then renamed. Text is written as UTF-8.

    Raises OutputError with one sentence where the folder cannot be written to or the disk is full.
    """
    target = Path(path)
    # A short name of its own: adding to a name of 255 characters would not fit.
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data.encode("utf-8") if isinstance(data, str) else data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as fault:
        raise OutputError(f"{shown(path)} could not be written: {reason(fault)}") from None


def make_folder(path: Path) -> None:
    """The folder `path`, made with those above it where it is not there; raises OutputError where that fails."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as fault:
        raise OutputError(f"the folder {shown(path)} could not be made: {reason(fault)}") from None


def check_writable(path: Path) -> None:
    """Raises OutputError where nothing can be written at `path`, which need not be there: asked before long work."""
    place = path
    try:
        while not place.exists() and place != place.parent:
            place = place.parent
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(bytes(4096))  # on a full disk an empty file can often still be made
    except (OSError, ValueError) as fault:
        raise OutputError(f"{shown(path)} could not be written: {reason(fault)}") from None


def list_folder(path: Path, *, error: type[InputError] = DatasetError) -> Sequence[str]:
    """The names in a folder, in natural order; raises `error` where it cannot be listed."""
    try:
        return sorted(os.listdir(path), key=natural_key)
    except (OSError, ValueError) as fault:
        raise error(f"cannot be listed: {reason(fault)}", file=shown(path)) from None


def reason(fault: Exception) -> str:
    """What the system says of a fault, in the words a person knows."""
    words = {
        FileNotFoundError: "there is no such file",
        PermissionError: "permission is missing",
        IsADirectoryError: "it is a folder",
        NotADirectoryError: "a part of its path is not a folder",
        FileExistsError: "something else stands there",
    }
    if isinstance(fault, OSError):
        if fault.errno == 28:
            return "the disk is full"
        return words.get(type(fault), (fault.strerror or str(fault)).lower())
    return "its name cannot be used" if "null" in str(fault) else str(fault)


def shown(path: Path | str) -> str:
    """A path for a message: cut where it is absurdly long, control characters escaped."""
    return printable(str(path), 300)
