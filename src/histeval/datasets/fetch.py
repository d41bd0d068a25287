"""Fetching the published datasets: every file by its address, size and SHA-256, which come with the package.

A file appears under its name only when it is whole and checked. What was left half fetched (`NAME.part`) is gone on
with where the server can (HTTP Range), else fetched anew.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files as package_files
from pathlib import Path
from typing import IO
from urllib.parse import quote

from histeval.datasets.files import inside, make_folder, reason, shown
from histeval.errors import DatasetError, OutputError, UsageError

Progress = Callable[[str, int, int], None]
"""Told after each file: its path, how many files are done, and of how many."""

TASKS = {"business_letters": "letters", "medieval_manuscripts": "manuscripts", "trade_directories": "directories"}
ATTEMPTS = 4
WAIT = 0.5
"""Seconds before the second attempt; each further one waits twice as long."""
LONGEST_WAIT = 30.0
TIMEOUT = 30.0
"""Seconds without a byte after which an attempt counts as failed."""
CONNECTIONS = 4
_BLOCK = 1 << 16
_PASSING = (408, 425, 429, 500, 502, 503, 504)
_RANGE = re.compile(r"bytes (\d{1,18})-")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A published file: its path in the repository, its size in bytes and its SHA-256 (hexadecimal)."""

    path: str
    size: int
    sha256: str

    @property
    def local(self) -> str:
        """Where it goes in the fetched folder: the published path without `benchmarks/`."""
        return self.path.removeprefix("benchmarks/")


@dataclass(frozen=True)
class Collection:
    """A published dataset: where its files are, at which commit."""

    name: str
    repository: str
    commit: str
    url: str
    files: tuple[SourceFile, ...]

    @property
    def task(self) -> str:
        """The task the dataset is for."""
        return TASKS[self.name]

    @property
    def bytes(self) -> int:
        """Size of all files together."""
        return sum(file.size for file in self.files)

    def address(self, file: SourceFile, source: str | None) -> str:
        """The address of a file, at the published place or at a mirror.

        A mirror is the address of a folder with the published paths below it, or a template with {path} (and, where
        it needs them, {repository} and {commit}).
        """
        template = source or self.url
        if "{path}" not in template:
            template = template.rstrip("/") + "/{path}"
        parts = {"repository": self.repository, "commit": self.commit, "path": quote(file.path)}
        for name, value in parts.items():  # not str.format: a mirror's address may hold other braces
            template = template.replace("{" + name + "}", value)
        return template


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a fetch did: the dataset's folder, how many files came in, and how many were there already."""

    name: str
    task: str
    dataset: Path
    fetched: int
    kept: int


class _Passing(Exception):
    """A fault that may be gone at the next attempt; `wait` is what the server asks for, in seconds."""

    def __init__(self, what: str, wait: float = 0.0) -> None:
        super().__init__(what)
        self.wait = wait


class _GivenUp(DatasetError):
    """A server that could not be reached, or that failed at every attempt."""


def collections() -> tuple[Collection, ...]:
    """The published datasets that can be fetched."""
    text = (package_files("histeval.datasets") / "data" / "sources.json").read_text(encoding="utf-8")
    return tuple(
        Collection(
            item["name"],
            item["repository"],
            item["commit"],
            item["url"],
            tuple(SourceFile(path, size, sha256) for path, size, sha256 in item["files"]),
        )
        for item in json.loads(text)
    )


def get(name: str, to: Path | str, source: str | Path | None = None, progress: Progress | None = None) -> Fetched:
    """Fetches the published dataset `name` into the folder `to`; `load_dataset` reads the `dataset` of the result.

    `source` is a folder or an address that mirrors the published files. Files that are there and right are kept; one
    that was changed is left alone and reported. Raises UsageError for an unknown name, OutputError where the disk is
    full or the folder may not be written to, DatasetError where files could not be had; what came in stays, and the
    same call goes on from there.
    """
    known = {collection.name: collection for collection in collections()}
    if name not in known:
        raise UsageError(f"there is no published dataset {name!r}; there are {', '.join(known)}")
    return fetch(known[name], Path(to), None if source is None else str(source), progress)


def fetch(collection: Collection, to: Path, source: str | None, progress: Progress | None = None) -> Fetched:
    """`get` for a collection of one's own."""
    targets = {file: inside(to, file.local) for file in collection.files}
    if source is not None and "://" in source and not source.startswith(("http://", "https://")):
        raise UsageError(f"a mirror is a folder or an http(s) address, not {source[:200]!r}")
    if source is not None and "://" not in source and not Path(source).is_dir():
        raise UsageError(f"the mirror {source[:200]!r} is no folder")
    make_folder(to)
    tally = {True: 0, False: 0}
    faults: list[DatasetError] = []
    with ThreadPoolExecutor(CONNECTIONS if source is None or "://" in source else 1) as pool:
        jobs = [pool.submit(_fetch_file, collection, file, targets[file], source) for file in collection.files]
        try:
            for number, (job, file) in enumerate(zip(jobs, collection.files, strict=True), start=1):
                try:
                    tally[job.result()] += 1
                except _GivenUp:  # the others would wait as long and in vain
                    raise
                except DatasetError as fault:
                    faults.append(fault)
                if progress is not None:
                    progress(file.local, number, len(jobs))
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    if faults:
        first = faults[0]
        others = f" (and {len(faults) - 1} more of {len(jobs)} files)" if len(faults) > 1 else ""
        remedy = first.remedy or "The same command goes on from here"
        raise DatasetError(f"{first.what}{others}", file=first.file, remedy=remedy)
    dataset = to / collection.name if (to / collection.name).is_dir() else to
    return Fetched(collection.name, collection.task, dataset, tally[True], tally[False])


def _fetch_file(collection: Collection, file: SourceFile, target: Path, source: str | None) -> bool:
    """Whether the file had to be fetched; raises DatasetError or OutputError."""
    try:
        if target.exists():
            if _is_right(target, file):
                return False
            remedy = "Move it away to have the published one fetched again"
            raise DatasetError("is there and differs from the published file", file=shown(target), remedy=remedy)
        make_folder(target.parent)
        part = target.with_name(f"{target.name}.part")
        if source is not None and "://" not in source:
            _copy(Path(source), file, part)
        else:
            _download(collection.address(file, source), file, part)
        os.replace(part, target)
        return True
    except OSError as fault:
        raise OutputError(f"{shown(target)} could not be written: {reason(fault)}") from None


def _is_right(path: Path, file: SourceFile) -> bool:
    if path.stat().st_size != file.size:
        return False
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest() == file.sha256


def _copy(mirror: Path, file: SourceFile, part: Path) -> None:
    """Copies a file from a folder that mirrors the published paths, or that was fetched before."""
    for origin in (inside(mirror, file.path), inside(mirror, file.local)):
        if origin.is_file():
            break
    else:
        raise DatasetError("there is no such file in the mirror", file=shown(mirror / file.path))
    try:
        data = origin.read_bytes()
    except OSError as fault:
        raise DatasetError(f"cannot be read: {reason(fault)}", file=shown(origin)) from None
    if len(data) != file.size or hashlib.sha256(data).hexdigest() != file.sha256:
        raise DatasetError("differs from the published file", file=shown(origin), remedy="Use another mirror")
    with open(part, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _download(address: str, file: SourceFile, part: Path) -> None:
    """Fetches a file to `part`, trying again what may pass; raises DatasetError where it cannot be had."""
    wrong = 0
    for attempt in range(1, ATTEMPTS + 1):
        wait = WAIT * 2 ** (attempt - 1)
        try:
            _continue(address, file, part)
            if _is_right(part, file):
                return
            part.unlink()
            wrong += 1
            what = "is not the published file: size or SHA-256 differ"
            if wrong > 1:  # the first may be the fault of an old part that was gone on with
                raise DatasetError(what, file=address, remedy="Try another mirror; nothing of it was kept")
        except _Passing as fault:
            what, wait = str(fault), max(wait, min(fault.wait, LONGEST_WAIT))
        except urllib.error.HTTPError as fault:
            raise DatasetError(f"the server answers {fault.code} {_words(fault.reason)}", file=address) from None
        if attempt < ATTEMPTS:
            time.sleep(wait)
    remedy = "The same command goes on from here"
    raise _GivenUp(f"could not be fetched in {ATTEMPTS} attempts: {what}", file=address, remedy=remedy)


def _continue(address: str, file: SourceFile, part: Path) -> None:
    """One attempt: goes on with `part` where it and the server allow it. Raises _Passing, HTTPError or OSError."""
    have = part.stat().st_size if part.exists() else 0
    if have >= file.size:
        if have > file.size:
            part.unlink()
            have = 0
        elif file.size:
            return
    request = urllib.request.Request(address, headers={"Accept-Encoding": "identity", "User-Agent": _agent()})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as fault:
        with closing(fault):
            if fault.code == 416:
                part.unlink(missing_ok=True)
                raise _Passing("the server cannot go on with a part") from None
            if fault.code in _PASSING:
                wait = _seconds(fault.headers.get("Retry-After", ""))
                raise _Passing(f"the server answers {fault.code} {_words(fault.reason)}", wait) from None
            raise
    except (OSError, http.client.HTTPException) as fault:
        raise _Passing(_network_reason(fault)) from None
    except ValueError as fault:  # an address that is none
        raise DatasetError(f"is no address: {_words(fault)}", file=address[:300]) from None
    with closing(response):
        match = _RANGE.match(response.headers.get("Content-Range", ""))
        goes_on = response.status == 206 and match is not None and int(match[1]) == have
        with open(part, "ab" if goes_on else "wb") as stream:
            length = have if goes_on else 0
            for block in _blocks(response):
                length += len(block)
                if length > file.size:
                    break  # the check of size and hash says the rest
                stream.write(block)
            stream.flush()
            os.fsync(stream.fileno())
    if length < file.size:
        raise _Passing(f"the connection ended after {length} of {file.size} bytes")


def _blocks(response: IO[bytes]) -> Iterator[bytes]:
    """The body in blocks; raises _Passing where the connection breaks, so that disk faults stay apart from it."""
    while True:
        try:
            block = response.read(_BLOCK)
        except http.client.IncompleteRead as fault:
            block = fault.partial
            if not block:
                return
        except (OSError, http.client.HTTPException) as fault:
            raise _Passing(_network_reason(fault)) from None
        if not block:
            return
        yield block


def _network_reason(fault: Exception) -> str:
    inner = fault.reason if isinstance(fault, urllib.error.URLError) else fault
    if isinstance(inner, TimeoutError):
        return f"nothing came for {TIMEOUT:.0f} seconds"
    if isinstance(inner, ConnectionRefusedError):
        return "the server refuses the connection"
    if isinstance(inner, ConnectionError):
        return "the connection broke"
    return _words(inner)


def _words(value: object) -> str:
    return "".join(letter for letter in str(value) if letter.isprintable())[:120]


def _seconds(text: str) -> float:
    return float(text) if text.isdecimal() and len(text) < 9 else 0.0


def _agent() -> str:
    return f"histeval/{version('histeval')}"
