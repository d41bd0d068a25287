"""What happens to what is being written when things go wrong: the next command repairs it or says how."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from histeval.datasets.bundled import bundled
from histeval.errors import InputError, OutputError, UsageError
from histeval.runs.folder import RunFolder, read_answers
from histeval.runs.library import score
from histeval.runs.scores_file import SCORES, write_scores
from histeval.runs.sharding import merge
from scale.test_shards import split

RUN = {"task": "letters", "system": "recorded/a"}
WRITER = """
import sys
from pathlib import Path
from histeval.runs.folder import RunFolder
with RunFolder(Path(sys.argv[1]), {"task": "letters", "system": "recorded/a"}) as run:
    print("open", flush=True)
    number = 0
    while True:
        run.append({"document": f"d{number}", "text": "x" * 20000})
        number += 1
"""


def test_two_processes_on_one_run_folder(tmp_path: Path) -> None:
    """The second is refused in a sentence; killing the first frees the folder, and what it wrote is there."""
    first = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / "run")], stdout=subprocess.PIPE, text=True)
    try:
        assert first.stdout is not None
        assert first.stdout.readline() == "open\n"
        with pytest.raises(UsageError, match="another process is writing to the run folder"):
            RunFolder(tmp_path / "run", RUN)
        list(read_answers(tmp_path / "run"))  # reading is free meanwhile
    finally:
        first.kill()
        first.wait()
    with RunFolder(tmp_path / "run", RUN) as folder:
        assert folder.resumed
        assert {name for name, _ in folder.done} == {f"d{number}" for number in range(len(folder.done))}


def test_killed_while_writing_scores(tmp_path: Path) -> None:
    """At any moment scores.json is an old one, a new one or none, never half of one."""
    program = (
        "import sys\nfrom pathlib import Path\nfrom histeval.datasets.bundled import bundled\n"
        "from histeval.runs.library import score\nfrom histeval.runs.scores_file import write_scores\n"
        "found = score('letters', bundled('letters'), bundled('letters/careful'))\nprint('ready', flush=True)\n"
        "while True: write_scores(Path(sys.argv[1]), found)\n"
    )
    for seed in range(3):
        process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(random.Random(seed).uniform(0.01, 0.2))
        process.send_signal(signal.SIGKILL)
        process.wait()
        if (tmp_path / SCORES).exists():
            assert json.loads((tmp_path / SCORES).read_text())["documents"] == 8
    write_scores(tmp_path, score("letters", bundled("letters"), bundled("letters/careful")))
    assert json.loads((tmp_path / SCORES).read_text())["documents"] == 8


def test_a_full_disk_leaves_the_old_scores_and_the_old_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = score("letters", bundled("letters"), bundled("letters/careful"))
    write_scores(tmp_path, found)
    before = (tmp_path / SCORES).read_bytes()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OutputError, match="disk is full"):
        write_scores(tmp_path, found)
    monkeypatch.undo()
    assert (tmp_path / SCORES).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [SCORES]


def test_a_torn_shard_is_refused_and_made_again(tmp_path: Path) -> None:
    files = split("letters", bundled("letters"), bundled("letters/careful"), tmp_path, 2, "documented")
    whole = files[1].read_bytes()
    for share in (0.2, 0.6, 0.98):
        files[1].write_bytes(whole[: int(share * len(whole))])
        with pytest.raises((InputError, UsageError)):
            list(merge(files))
    files[1].write_bytes(whole)
    assert list(merge(files))


@pytest.mark.parametrize(
    "name", ["../../escape", "/etc/passwd", "a/../../b", "C:\\x", "\x00", "..", "\u202e/x", "a" * 500]
)
def test_ids_never_become_paths(tmp_path: Path, name: str) -> None:
    """A document's id in a row, an answer or a run is a name and nothing else: nothing outside is written or read."""
    place = tmp_path / "deep" / "down"
    place.mkdir(parents=True)
    answers = place / "answers.jsonl.txt"
    known = {"document": "letter01", "text": "{}"}
    answers.write_text("".join(json.dumps(line) + "\n" for line in ({"document": name, "text": "{}"}, known)))
    found = score("letters", bundled("letters"), answers)
    assert any("does not have were left out" in note for note in found.notes)
    with RunFolder(place / "run", RUN) as folder:
        folder.append({"document": name, "text": "{}"}, known)
    write_scores(place / "run", score("letters", bundled("letters"), place / "run"))
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()) == [
        "deep/down/answers.jsonl.txt",
        *(f"deep/down/run/{file}" for file in (".lock", "answers.jsonl", "run.json", "scores.json")),
    ]


def test_killed_while_writing_the_site(tmp_path: Path) -> None:
    """The next build ends with the site that an undisturbed one gives, and every page is whole."""
    pytest.importorskip("altair")
    source = f"{bundled('letters')}={bundled('letters/careful')}"
    words = [sys.executable, "-m", "histeval", "overview", source, "--out"]
    subprocess.run([*words, str(tmp_path / "whole")], check=True, capture_output=True)
    for seed in range(2):
        process = subprocess.Popen(
            [*words, str(tmp_path / "site")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + 60
        while not any((tmp_path / "site").rglob("*.html")) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(random.Random(seed).uniform(0, 0.3))
        process.kill()
        process.wait()
        for page in (tmp_path / "site").rglob("*.html"):
            assert page.read_text(encoding="utf-8").rstrip().endswith("</html>")
    subprocess.run([*words, str(tmp_path / "site")], check=True, capture_output=True)
    files = {path.relative_to(tmp_path / "whole") for path in (tmp_path / "whole").rglob("*.html")}
    assert files
    assert {path.relative_to(tmp_path / "site") for path in (tmp_path / "site").rglob("*.html")} == files


def test_a_client_that_goes_away_is_no_fault(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A browser that is closed, a run that is stopped: the server of the pages or of recorded answers says nothing."""
    from histeval.datasets import load_dataset
    from histeval.overview.view import serve
    from histeval.runs.opening import open_answers
    from histeval.systems.replay import ReplayServer

    (tmp_path / "index.html").write_text("x" * 50_000_000)
    dataset = load_dataset("letters", bundled("letters"))
    answers = {name: one for (name, _), one in open_answers(bundled("letters/careful"), dataset)[0].answers.items()}
    for server in (serve(tmp_path), ReplayServer(dataset, answers)):
        with server as running:
            port = int(running.url.split(":")[2].split("/")[0])
            for request in (
                b"GET / HTTP/1.0\r\n\r\n",
                b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 99\r\n\r\n",
            ):
                with socket.create_connection(("127.0.0.1", port)) as client:
                    client.sendall(request)
                    time.sleep(0.1)
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # gone at once
            time.sleep(0.3)
    said = capfd.readouterr()
    assert "Traceback" not in said.err + said.out
