"""The files that an import reads: single files, folders, and zip archives, with limits against hostile ones."""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from histeval.datasets.files import (
    MEBIBYTE,
    TEXT_LIMIT,
    inside,
    list_folder,
    natural_key,
    read_bytes,
    reason,
    shown,
)
from histeval.datasets.formats.base import HEAD, Source
from histeval.datasets.images import SUFFIXES
from histeval.errors import DatasetError

MOST_FILES = 100_000
"""So many files are read in one import."""
ARCHIVE_LIMIT = 8 << 30
"""Bytes of all files of an archive together, unpacked."""
RATIO = 500
"""A file in an archive may be so many times as large as its packed form; text is at most some 50 times."""
_SMALL = 4 * MEBIBYTE
"""Below, no ratio is suspicious: an empty page packs well."""
_HEADS = 200
"""So many heads of files are kept."""
IGNORED = ("__MACOSX", "thumbs.db", "desktop.ini")
"""What operating systems leave in folders and archives."""


def open_sources(paths: Iterable[Path | str]) -> tuple[list[Source], list[Source]]:
    """The files and the page images at some places, in natural order: (files, images).

    A folder is read with all below it, its name first in the names of its files; a `.zip` like a folder. Hidden files
    are passed over. Raises DatasetError where there is nothing to read, or an archive is damaged, encrypted, leads out
    of itself or unpacks to far more than it should.
    """
    files: list[Source] = []
    images: list[Source] = []
    heads = _Heads()
    for path in map(Path, paths):
        for source in _at(path, heads):
            (images if source.suffix in SUFFIXES else files).append(source)
            if len(files) + len(images) > MOST_FILES:
                raise DatasetError(f"holds more than {MOST_FILES} files", file=shown(path), remedy="Import parts of it")
    if not files:
        first = next(iter(paths), "")
        raise DatasetError(
            "holds no file to import",
            file=shown(Path(first)),
            remedy="Name a folder, an archive or files with transcriptions, tables or annotations",
        )
    return files, images


class _Heads:
    """The heads of the files last looked at, so that ten formats do not read a file ten times."""

    def __init__(self) -> None:
        self.known: dict[Path, bytes] = {}

    def of(self, path: Path, read: Callable[[], bytes]) -> Callable[[], bytes]:
        def head() -> bytes:
            if path not in self.known:
                if len(self.known) >= _HEADS:
                    self.known.pop(next(iter(self.known)))
                self.known[path] = read()
            return self.known[path]

        return head


def _at(path: Path, heads: _Heads) -> Iterator[Source]:
    try:
        status = os.stat(path)
    except (OSError, ValueError) as fault:
        raise DatasetError(f"cannot be read: {reason(fault)}", file=shown(path), remedy="Name another place") from None
    if stat.S_ISDIR(status.st_mode):
        yield from _folder(path, path.resolve().name, heads)
    elif path.suffix.lower() == ".zip":
        yield from _archive(path, heads)
    else:
        yield _file(path, path.name, heads)


def _folder(folder: Path, name: str, heads: _Heads) -> Iterator[Source]:
    """The files of a folder and those below it; links to folders are not followed, since they may run in circles."""
    for entry in list_folder(folder):
        path = folder / entry
        if entry.startswith(".") or entry.casefold() in IGNORED or entry in IGNORED:
            continue
        if path.is_dir():
            if not path.is_symlink():
                yield from _folder(path, f"{name}/{entry}", heads)
        elif path.is_file():
            yield _file(path, f"{name}/{entry}", heads)


def _file(path: Path, name: str, heads: _Heads) -> Source:
    def load() -> bytes:
        return read_bytes(path)

    def read() -> bytes:
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise DatasetError("is not a regular file", file=shown(path), remedy="Remove it from the folder")
            with open(path, "rb") as file:
                return file.read(HEAD)
        except OSError as fault:
            raise DatasetError(f"cannot be read: {reason(fault)}", file=shown(path), remedy="Copy it anew") from None

    return Source(path, name, load, heads.of(path, read))


def _archive(path: Path, heads: _Heads) -> Iterator[Source]:
    """The files in a zip archive. Each is unpacked when it is read, up to the size that the archive gives for it."""
    try:
        # Open as long as a source of it lives: reading the directory anew for each of many files would take long.
        archive = zipfile.ZipFile(path)
        members = [member for member in archive.infolist() if not member.is_dir()]
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError, EOFError) as fault:
        words = reason(fault) if isinstance(fault, OSError) else "it is damaged or no zip archive"
        raise DatasetError(f"cannot be read: {words}", file=shown(path), remedy="Export it again") from None
    if len(members) > MOST_FILES or sum(member.file_size for member in members) > ARCHIVE_LIMIT:
        what = f"unpacks to more than {MOST_FILES} files or {ARCHIVE_LIMIT >> 30} GB"
        raise DatasetError(what, file=shown(path), remedy="Unpack it and import parts of it")
    seen: set[str] = set()
    for member in sorted(members, key=lambda member: natural_key(member.filename)):
        place = inside(path, member.filename, file=path)
        parts = member.filename.split("/")
        if any(part.startswith(".") or part.casefold() in IGNORED or part in IGNORED for part in parts):
            continue
        if stat.S_ISLNK(member.external_attr >> 16):
            raise DatasetError("is a link", file=place, remedy="Unpack it and import the folder")
        if member.flag_bits & 1:
            raise DatasetError("is encrypted", file=place, remedy="Unpack it and import the folder")
        if member.file_size > max(_SMALL, RATIO * member.compress_size) or member.file_size > TEXT_LIMIT:
            what = f"unpacks from {member.compress_size} to {member.file_size} bytes, as hostile archives do"
            raise DatasetError(what, file=place, remedy="Unpack it yourself if you trust it, and import the folder")
        if member.filename in seen:
            raise DatasetError("stands twice in the archive", file=place, remedy="Export it again")
        seen.add(member.filename)
        load = _unpacker(archive, member, place)
        yield Source(place, f"{path.stem}/{member.filename}", load, heads.of(place, partial(load, HEAD)))


def _unpacker(archive: zipfile.ZipFile, member: zipfile.ZipInfo, place: Path) -> Callable[..., bytes]:
    def load(limit: int | None = None) -> bytes:
        try:
            with archive.open(member) as file:
                # The size is what the archive says; more than that is a lie, and is not read.
                data = file.read(member.file_size + 1 if limit is None else limit)
        except (OSError, zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, EOFError) as fault:
            words = reason(fault) if isinstance(fault, OSError) else "it is damaged or packed in an unknown way"
            raise DatasetError(f"cannot be unpacked: {words}", file=place, remedy="Export it again") from None
        if limit is None and len(data) != member.file_size:
            raise DatasetError("has another size than the archive says", file=place, remedy="Export it again")
        return data

    return load
