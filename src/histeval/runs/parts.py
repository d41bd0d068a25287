"""Corpora in parts: rows that carry truth and answer side by side, streamed, so that memory is bounded by a part.

A part is a JSON Lines or a Parquet file (or a folder of them); a row is `{"document": ID, "truth": ..., "text" or
"record" or "error": ...}`, with `unit`, `attributes`, `cost`, `seconds` and `usage` where known. `truth` is written as
in the task's datasets; in Parquet, `truth` and `record` may be text that holds JSON. A large file is cut into pieces of
some megabytes at row ends; each piece is scored by itself, wherever, and its sums are added up
(`histeval.runs.summary`).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from histeval.datasets.base import Dataset, Document
from histeval.datasets.files import LINE_LIMIT, MEBIBYTE, decode, parse_json, reason, shown
from histeval.errors import AnswersError, DatasetError, MissingExtraError, UsageError, printable
from histeval.runs.answers import answer_from
from histeval.tasks.base import Answer
from histeval.tasks.description import Description

PIECE = 8 * MEBIBYTE
"""Bytes of a JSON Lines file that make one piece, about."""
ROWS = 4000
"""Rows of a Parquet file that make one piece."""
MOST_ROWS = 10**9
"""Rows of a Parquet file at most; a damaged one may name any number."""
SUFFIXES = (".jsonl", ".ndjson", ".parquet")
SEEN = 20
"""Parts of a folder that are looked into for a row with a truth."""
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".lz4", ".br", ".zip")
REMEDY = 'A row of a corpus in parts is {"document": ID, "truth": ..., "text" or "record" or "error": ...}'


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows of one file: those that begin in the bytes (JSON Lines) or have the numbers (Parquet) from `start` up to
    and without `stop`. `number` is its place among all pieces."""

    number: int
    file: Path
    start: int
    stop: int

    @property
    def weight(self) -> float:
        """Its share of a whole piece: a corpus may be of thousands of small files."""
        return (self.stop - self.start) / (ROWS if self.file.suffix.lower() == ".parquet" else PIECE)


def is_corpus(path: Path | str) -> bool:
    """Whether `path` is a corpus in parts: a Parquet file, JSON Lines of which one of the first rows has a truth (rows
    without are left out of the scoring, and a part may be empty), or a folder of such that is no run folder."""
    place = Path(path)
    if not place.is_dir():
        return _has_truth(place)
    if (place / "run.json").exists() or (place / "answers.jsonl").exists():
        return False
    try:
        found = _part_files(place)[:SEEN]
        return any(map(_has_truth, found)) or any(map(_is_compressed, _visible(place)))
    except OSError:  # said where the answers are opened
        return False


def _has_truth(file: Path) -> bool:
    if file.suffix.lower() == ".parquet":
        return file.is_file()
    if file.suffix.lower() not in SUFFIXES or not file.is_file():
        return False
    try:
        with file.open("rb") as stream:
            while stream.tell() < PIECE and (row := stream.readline(LINE_LIMIT)):
                if b'"truth"' in row and _is_row(row, file):
                    return True
    except OSError:  # said where the answers are opened
        pass
    return False


def _is_row(row: bytes, file: Path) -> bool:
    try:
        value, _ = parse_json(decode(row.strip(), file, line=1), file, line=1)
    except DatasetError:  # said with its line when the row is read
        return False
    return isinstance(value, dict) and "truth" in value and "document" in value


def _visible(folder: Path) -> list[Path]:
    return sorted(item for item in folder.iterdir() if not item.name.startswith((".", "_")))


def _is_compressed(item: Path) -> bool:
    return item.suffix.lower() in COMPRESSED and Path(item.stem).suffix.lower() in SUFFIXES


def _part_files(folder: Path) -> list[Path]:
    return [item for item in _visible(folder) if item.suffix.lower() in SUFFIXES and item.is_file()]


def _all_parts(folder: Path) -> list[Path]:
    """The parts of a folder; raises AnswersError where it holds others that are not read, so that none is left out in
    silence: compressed ones, folders of parts, links to nothing."""
    for item in _visible(folder):
        if _is_compressed(item):
            raise AnswersError("is compressed, and parts are read as they are", file=item, remedy="Unpack it")
        if item.is_dir() and any(part.suffix.lower() in SUFFIXES or _is_compressed(part) for part in _visible(item)):
            what, remedy = "is a folder of parts inside another, which is not read", "Lay all parts into one folder"
            raise AnswersError(what, file=item, remedy=remedy)
        if item.suffix.lower() in SUFFIXES and not item.is_file():
            raise AnswersError("is named like a part and is no file", file=item, remedy="Move it elsewhere")
    return _part_files(folder)


def pieces(path: Path | str, size: int = PIECE, rows: int = ROWS) -> list[Piece]:
    """The pieces of a corpus, in order of file names; only sizes are read. Raises AnswersError where there are none."""
    place = Path(path)
    found: list[Piece] = []
    try:
        files = _all_parts(place) if place.is_dir() else [place]
        for file in files:
            parquet = file.suffix.lower() == ".parquet"
            length, step = (_parquet_rows(file), rows) if parquet else (os.stat(file).st_size, size)
            found += [Piece(0, file, start, min(start + step, length)) for start in range(0, length, step)]
    except OSError as fault:
        raise AnswersError(f"cannot be read: {reason(fault)}", file=shown(place)) from None
    if not found:
        raise AnswersError("holds no part of a corpus", file=place, remedy=REMEDY)
    return [replace(piece, number=number) for number, piece in enumerate(found)]


def rows_of(piece: Piece) -> Iterator[tuple[int | None, dict[str, Any]]]:
    """The rows of a piece with their line or row number (None in JSON Lines: lines before are not counted)."""
    if piece.file.suffix.lower() == ".parquet":
        yield from _parquet(piece)
    else:
        yield from _json_lines(piece)


def _json_lines(piece: Piece) -> Iterator[tuple[int | None, dict[str, Any]]]:
    try:
        with open(piece.file, "rb") as stream:
            if piece.start:
                stream.seek(piece.start - 1)
                _line(stream, piece)  # the rest of a row that began before
            while (place := stream.tell()) < piece.stop and (data := _line(stream, piece)):
                if data.strip():
                    try:
                        text = decode(data.rstrip(b"\r\n"), piece.file, error=AnswersError, line=1 if not place else 2)
                        value, _ = parse_json(text, piece.file, error=AnswersError, line=1)
                        if not isinstance(value, dict):
                            raise AnswersError("is not an object", file=piece.file, remedy=REMEDY)
                    except AnswersError as fault:
                        raise _numbered(fault, piece.file, place) from None
                    yield place, value
    except (OSError, ValueError) as fault:
        raise AnswersError(f"cannot be read: {reason(fault)}", file=shown(piece.file)) from None


def _line(stream: Any, piece: Piece) -> bytes:
    data: bytes = stream.readline(LINE_LIMIT + 1)
    if len(data) > LINE_LIMIT:
        raise AnswersError(f"holds a row longer than {LINE_LIMIT // MEBIBYTE} MB", file=piece.file)
    return data


def _numbered(fault: AnswersError | DatasetError, file: Path, place: int) -> AnswersError:
    """A fault with the number of the line that begins at byte `place`; lines are counted only now, since it is rare."""
    line = 1
    with open(file, "rb") as stream:
        while place > 0 and (data := stream.read(min(place, MEBIBYTE))):
            line += data.count(b"\n")
            place -= len(data)
    return AnswersError(fault.what, file=file, line=line, item=fault.item, remedy=fault.remedy)


def _polars() -> Any:
    try:
        import polars
    except ImportError:
        raise MissingExtraError("parts in Parquet need polars: pip install 'histeval[cluster]'") from None
    return polars


def _parquet_rows(file: Path) -> int:
    polars = _polars()
    rows = int(_collected(polars.scan_parquet(file).select(polars.len()), file).item())
    if rows > MOST_ROWS:
        raise AnswersError(f"says that it holds {rows} rows, more than the {MOST_ROWS} that one part may", file=file)
    return rows


def _collected(query: Any, file: Path) -> Any:
    """The table of a query. A damaged file makes polars panic, which is no Exception, in whatever place it is."""
    polars = _polars()
    try:
        return query.collect()
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError, ValueError) as fault:
        raise AnswersError(f"is not Parquet: {printable(' '.join(str(fault).split()), 200)}", file=file) from None


def _parquet(piece: Piece) -> Iterator[tuple[int | None, dict[str, Any]]]:
    polars = _polars()
    rows = polars.scan_parquet(piece.file).slice(piece.start, piece.stop - piece.start)
    frame = _collected(rows, piece.file)
    for number, row in enumerate(frame.iter_rows(named=True), piece.start + 1):
        value = {key: _plain(item, piece.file, number) for key, item in row.items() if item is not None}
        for key in ("truth", "record", "attributes", "usage"):
            if isinstance(value.get(key), str):
                value[key], _ = parse_json(value[key], piece.file, error=AnswersError, line=number)
        yield number, value


def _plain(item: Any, file: Path, number: int) -> Any:
    """A value of Parquet as JSON has it. All rows of a column share the names of all: what a row does not have stands
    there as null, so that a null in an object is left out. Text may be stored as bytes."""
    if isinstance(item, dict):
        return {key: _plain(part, file, number) for key, part in item.items() if part is not None}
    if isinstance(item, list):
        return [_plain(part, file, number) for part in item]
    if isinstance(item, bytes):
        return decode(item, file, error=AnswersError, line=number)
    return item


@dataclass(frozen=True)
class Corpus:
    """What a corpus in parts is scored as: a dataset without documents, and how a truth in a row is read."""

    dataset: Dataset
    truth: Callable[[str, Any, Path, int | None], tuple[Any, dict[str, str]]]

    def documents(self, piece: Piece) -> Iterator[tuple[Document, Answer]]:
        """The documents of a piece, each with its answer; raises AnswersError for a row that is neither."""
        lines = piece.file.suffix.lower() != ".parquet"
        for place, value in rows_of(piece):
            number = None if lines else place
            try:
                yield self._row(value, piece.file, number)
            except (AnswersError, DatasetError) as fault:
                if lines and place is not None:
                    raise _numbered(fault, piece.file, place) from None
                raise AnswersError(
                    fault.what, file=piece.file, line=number, item=fault.item, remedy=fault.remedy
                ) from None

    def _row(self, value: dict[str, Any], file: Path, number: int | None) -> tuple[Document, Answer]:
        if value.get("repeat"):
            raise AnswersError("holds a repeat, which a corpus in parts cannot", file=file, line=number)
        if not {"text", "record", "error"} & value.keys():
            value["error"] = "missing"
        answer = answer_from(value, file, number or 0)
        truth: Any = None
        attributes: dict[str, str] = {}
        if value.get("truth") is not None:
            truth, attributes = self.truth(answer.document, value["truth"], file, number)
        given = value.get("attributes")
        if isinstance(given, Mapping):
            attributes |= {str(key): str(item) for key, item in given.items() if isinstance(item, (str, int, float))}
        name = self.dataset.description.unit
        unit = value.get("unit")
        if isinstance(unit, int) and not isinstance(unit, bool):
            unit = str(unit)
        if unit is not None and not isinstance(unit, str):
            raise AnswersError("has a unit that is neither text nor whole number", file=file, line=number)
        if not unit:
            unit = answer.document if name == "document" else attributes.get(name) or answer.document
        return Document(answer.document, truth, unit, attributes), answer


def open_corpus(task: str, path: Path | str) -> Corpus:
    """The description and authority lists of a dataset folder, for a corpus whose truth lies in its parts.

    The folder needs a dataset.toml, or is one of the published layouts. Raises DatasetError where it is neither.
    """
    from histeval.datasets.layout import open_folder

    folder = open_folder(path, task)
    makers: dict[str, Any] = {"letters": _letters, "manuscripts": _manuscripts, "directories": _directories}
    if task not in makers:
        raise UsageError(f"a corpus in parts is scored for letters, manuscripts and directories, not for {task}")
    description, authorities, truth = makers[task](folder)
    dataset = Dataset(task, description.name, folder.path, description, {}, authorities, "")
    return Corpus(dataset, truth)


class _Letters:
    def __init__(self, plan: Any, description: Description) -> None:
        self.plan, self.description = plan, description

    def __call__(self, name: str, value: Any, file: Path, line: int | None) -> tuple[Any, dict[str, str]]:
        from histeval.datasets.letters import json_values
        from histeval.tasks.truth import LetterTruth

        value = _object(value, name, file, line)
        fields = {
            field: json_values(value[field], file=file, line=line, item=f"{name}, {field}")
            for field in self.plan.names
            if field in value
        }
        signed = value.get(self.plan.truth.signed)
        known = signed if signed is None or isinstance(signed, bool) else signed == "TRUE"
        return LetterTruth(fields, known), {} if known is None else {"signed": "true" if known else "false"}


class _Pages:
    def __call__(self, name: str, value: Any, file: Path, line: int | None) -> tuple[Any, dict[str, str]]:
        from histeval.datasets.manuscripts import page_truth
        from histeval.datasets.records import Record

        return page_truth(Record(name, _object(value, name, file, line), file, line)), {}


class _Entries:
    def __init__(self, description: Description) -> None:
        self.description = description

    def __call__(self, name: str, value: Any, file: Path, line: int | None) -> tuple[Any, dict[str, str]]:
        from histeval.datasets.directories import EntryReader, entry_from_record
        from histeval.entities.grammar import Grammar

        raw = entry_from_record(name, _object(value, name, file, line), file, line)
        return EntryReader(Grammar.of(self.description.types)).read(raw), raw.attributes


def _object(value: Any, name: str, file: Path, line: int | None) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise AnswersError("has a truth that is no object", file=file, line=line, item=name, remedy=REMEDY)
    return value


def _letters(folder: Any) -> tuple[Description, Mapping[str, Any], Any]:
    from histeval.datasets.layout import described
    from histeval.datasets.letters import plan_of, read_authorities
    from histeval.datasets.published import description_of

    description = described(folder, description_of("letters", folder.name))
    authorities, _ = read_authorities(folder, description)
    return description, authorities, _Letters(plan_of(folder.settings, description), description)


def _manuscripts(folder: Any) -> tuple[Description, Mapping[str, Any], Any]:
    from histeval.datasets.layout import described
    from histeval.datasets.published import description_of

    return described(folder, description_of("manuscripts", folder.name)), {}, _Pages()


def _directories(folder: Any) -> tuple[Description, Mapping[str, Any], Any]:
    from histeval.datasets.directories import description_for

    description = description_for(folder)
    return description, {}, _Entries(description)


def digest_of(found: Sequence[Piece]) -> str:
    """A fingerprint of the cut of a corpus: names and sizes of its parts, whatever folder they lie in."""
    names = "\n".join(f"{piece.file.name}\t{piece.start}\t{piece.stop}" for piece in found)
    return hashlib.sha256(names.encode("utf-8", "surrogateescape")).hexdigest()


def choose_shard(found: Sequence[Any], shard: tuple[int, int]) -> list[Any]:
    """Every n-th of some things, from the i-th: the share of shard (i, n)."""
    number, of = shard
    return list(found[number - 1 :: of])
