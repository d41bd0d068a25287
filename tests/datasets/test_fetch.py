"""Fetching against a server on loopback that misbehaves in every way a server can."""

from __future__ import annotations

import errno
import hashlib
import os
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from histeval.datasets import fetch as module
from histeval.datasets import load_dataset
from histeval.datasets.fetch import Collection, SourceFile, collections, fetch, get
from histeval.errors import DatasetError, OutputError, UsageError
from support import DATA, needs_data

BODY = bytes(range(256)) * 1200
PATH = "benchmarks/business_letters/ground_truths/letter01.json"


def collection(body: bytes = BODY, *paths: str) -> Collection:
    files = tuple(SourceFile(path, len(body), hashlib.sha256(body).hexdigest()) for path in paths or (PATH,))
    return Collection("business_letters", "owner/repository", "abc", "http://unused/{path}", files)


class Server(ThreadingHTTPServer):
    """Answers from a script of faults, one a request; when the script is over, with the right file."""

    daemon_threads = True

    def __init__(self, script: list[str], body: bytes = BODY) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script, self.body = script, body
        self.requests: list[tuple[str, str | None]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is part of the test."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.requests.append((self.path, wanted))
        fault = self.server.script.pop(0) if self.server.script else "right"
        body = self.server.body
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        if fault.isdecimal():
            self.send_response(int(fault))
            if fault == "429":
                self.send_header("Retry-After", "0")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if fault == "reset":
            self.connection.close()
            return
        if fault == "wrong":
            body = bytes(len(body))
        elif fault == "longer":
            body += b"more"
        elif fault == "shorter":
            body = body[:-5]
        ranged = start and fault not in ("norange", "wrongrange")
        self.send_response(206 if start and fault != "norange" else 200)
        part = body[start:] if ranged else body
        if start and fault != "norange":
            first = 0 if fault == "wrongrange" else start
            self.send_header("Content-Range", f"bytes {first}-{len(body) - 1}/{len(body)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if fault == "truncated":
            self.wfile.write(part[: len(part) // 2])
            self.wfile.flush()
            self.connection.close()
        elif fault == "stalls":
            self.wfile.write(part[: len(part) // 2])
            self.wfile.flush()
            time.sleep(1.5)
        elif fault == "slow":
            for place in range(0, len(part), 65536):
                self.wfile.write(part[place : place + 65536])
                self.wfile.flush()
                time.sleep(0.05)
        else:
            self.wfile.write(part)


@contextmanager
def serve(*script: str, body: bytes = BODY) -> Iterator[Server]:
    server = Server(list(script), body)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WAIT", 0.01)
    monkeypatch.setattr(module, "TIMEOUT", 0.5)


@pytest.mark.parametrize(
    ("script", "requests"),
    [
        ((), 1),
        (("500",), 2),
        (("429", "503", "500"), 4),
        (("reset",), 2),
        (("truncated",), 2),
        (("truncated", "truncated", "truncated"), 4),
        (("truncated", "norange"), 2),
        (("truncated", "wrongrange"), 2),
        (("truncated", "416"), 3),
        (("stalls",), 2),
        (("slow",), 1),
        (("wrong",), 2),
        (("longer",), 2),
        (("shorter",), 2),
    ],
)
def test_what_passes_is_tried_again(tmp_path: Path, script: tuple[str, ...], requests: int) -> None:
    with serve(*script) as server:
        done = fetch(collection(), tmp_path, server.address)
        assert len(server.requests) == requests
    file = tmp_path / "business_letters/ground_truths/letter01.json"
    assert file.read_bytes() == BODY
    assert (done.fetched, done.kept) == (1, 0)
    assert done.dataset == tmp_path / "business_letters"
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["letter01.json"]


def test_a_half_fetched_file_is_gone_on_with(tmp_path: Path) -> None:
    with serve("truncated", "500", "500", "500") as server:
        with pytest.raises(DatasetError, match=r"in 4 attempts: the server answers 500.*goes on from here"):
            fetch(collection(), tmp_path, server.address)
        part = tmp_path / "business_letters/ground_truths/letter01.json.part"
        have = part.stat().st_size
        assert 0 < have < len(BODY)
        fetch(collection(), tmp_path, server.address)
        assert server.requests[-1] == (f"/{PATH}", f"bytes={have}-")
    assert part.with_suffix("").read_bytes() == BODY
    assert not part.exists()


def test_files_that_are_there_are_kept(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    many = collection(BODY, *(f"benchmarks/business_letters/images/letter{n:02}_p1.jpg" for n in range(9)))
    with serve() as server:
        fetch(many, tmp_path, server.address)
        done = fetch(many, tmp_path, server.address, lambda *what: seen.append(what))
        assert len(server.requests) == 9
    assert (done.fetched, done.kept) == (0, 9)
    assert seen[-1] == ("business_letters/images/letter08_p1.jpg", 9, 9)


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (("404",), r"letter01.json: the server answers 404"),
        (("403",), r"the server answers 403"),
        (("500",) * 4, r"could not be fetched in 4 attempts: the server answers 500"),
        (("wrong", "wrong"), r"is not the published file: size or SHA-256 differ"),
        (("longer", "longer"), r"is not the published file"),
        (("reset",) * 4, r"could not be fetched in 4 attempts: (the connection broke|Remote end closed)"),
        (("stalls",) * 4, r"in 4 attempts: (nothing came for 0 seconds|the connection)"),
    ],
)
def test_what_cannot_be_had_is_one_sentence(tmp_path: Path, script: tuple[str, ...], sentence: str) -> None:
    with serve(*script) as server, pytest.raises(DatasetError, match=sentence):
        fetch(collection(), tmp_path, server.address)
    assert not (tmp_path / "business_letters/ground_truths/letter01.json").exists()


def test_one_missing_file_does_not_stop_the_others(tmp_path: Path) -> None:
    names = [f"benchmarks/business_letters/images/letter{n:02}_p1.jpg" for n in range(6)]
    with serve("404") as server, pytest.raises(DatasetError, match="404"):
        fetch(collection(BODY, *names), tmp_path, server.address)
    assert len(list(tmp_path.rglob("*.jpg"))) == 5


def test_no_server_ends_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve() as server:
        address = server.address
    asked: list[str] = []
    urlopen = urllib.request.urlopen

    def counted(request: Any, **options: Any) -> Any:
        asked.append(request.full_url)
        return urlopen(request, **options)

    monkeypatch.setattr(urllib.request, "urlopen", counted)
    with pytest.raises(DatasetError, match="the server refuses the connection"):
        fetch(collection(BODY, *(f"benchmarks/a/{n}" for n in range(200))), tmp_path, address)
    assert 0 < len(asked) < 50  # it does not go through all files


def test_a_changed_file_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "business_letters/ground_truths/letter01.json"
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    with serve() as server, pytest.raises(DatasetError, match=r"differs from the published file\. Move it away"):
        fetch(collection(), tmp_path, server.address)
    assert file.read_text() == "mine"


@pytest.mark.parametrize("path", ["../evil", "/etc/evil", "benchmarks/../../evil", "a\\..\\evil", "C:evil"])
def test_a_path_never_leaves_the_folder(tmp_path: Path, path: str) -> None:
    with serve() as server:
        with pytest.raises(DatasetError, match="leads out of its folder"):
            fetch(collection(BODY, path), tmp_path / "to", server.address)
        assert server.requests == []


def test_a_folder_that_may_not_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "to").write_text("a file")
    with serve() as server, pytest.raises(OutputError, match=r"the folder .* could not be made: something else stands"):
        fetch(collection(), tmp_path / "to", server.address)


def test_a_full_disk_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with serve() as server, pytest.raises(OutputError, match=r"letter01.json could not be written: the disk is full"):
        fetch(collection(), tmp_path, server.address)
    assert not (tmp_path / "business_letters/ground_truths/letter01.json").exists()


def test_a_folder_is_a_mirror_too(tmp_path: Path) -> None:
    for place in (PATH, "business_letters/ground_truths/letter01.json"):
        mirror = tmp_path / place.replace("/", "_")
        (mirror / place).parent.mkdir(parents=True)
        (mirror / place).write_bytes(BODY)
        to = mirror / "to"
        assert fetch(collection(), to, str(mirror)).fetched == 1
        assert (to / "business_letters/ground_truths/letter01.json").read_bytes() == BODY
    (mirror / place).write_bytes(b"other")
    with pytest.raises(DatasetError, match=r"differs from the published file\. Use another mirror"):
        fetch(collection(), tmp_path / "second", str(mirror))
    with pytest.raises(DatasetError, match="there is no such file in the mirror"):
        fetch(collection(BODY, "benchmarks/x"), tmp_path / "third", str(mirror))


@pytest.mark.parametrize(
    ("name", "source", "sentence"),
    [
        ("letters", None, "there is no published dataset 'letters'; there are business_letters"),
        ("business_letters", "ftp://host/", "a mirror is a folder or an http"),
        ("business_letters", "no/such/folder", "the mirror 'no/such/folder' is no folder"),
    ],
)
def test_wrong_use(tmp_path: Path, name: str, source: str | None, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        get(name, tmp_path, source)


def test_addresses_of_mirrors() -> None:
    found = collection()
    file = SourceFile("a b/ü.json", 1, "")
    assert found.address(file, None) == "http://unused/a%20b/%C3%BC.json"
    assert found.address(file, "https://mirror/x/") == "https://mirror/x/a%20b/%C3%BC.json"
    assert found.address(file, "https://mirror/{commit}/{path}?{x}") == "https://mirror/abc/a%20b/%C3%BC.json?{x}"


def test_the_published_datasets() -> None:
    assert [(c.name, c.task, len(c.files)) for c in collections()] == [
        ("business_letters", "letters", 161),
        ("medieval_manuscripts", "manuscripts", 26),
        ("trade_directories", "directories", 4),
    ]
    assert all(len(file.sha256) == 64 and file.size > 0 for c in collections() for file in c.files)


@needs_data
@pytest.mark.data
def test_what_is_fetched_is_read(tmp_path: Path) -> None:
    """The manuscripts and the directories are in the data whole; of the letters the later images are not."""
    pages = get("medieval_manuscripts", tmp_path / "pages", DATA / "rise")
    assert len(load_dataset(pages.task, pages.dataset).documents) == 12
    assert load_dataset("manuscripts", tmp_path / "pages").fingerprint
    entries = get("trade_directories", tmp_path / "entries", DATA / "directories")
    assert (entries.task, entries.dataset) == ("directories", tmp_path / "entries")
    assert len(load_dataset("directories", entries.dataset).documents) == 1685
    with pytest.raises(DatasetError, match=r"no such file in the mirror \(and 77 more of 161 files\)"):
        get("business_letters", tmp_path / "letters", DATA / "rise")
    assert len(load_dataset("letters", tmp_path / "letters").documents) == 57
