"""Every command that writes, sent where it cannot: one sentence, nothing half written; with room the same command ends
as if nothing had happened."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from histeval.datasets import load_dataset
from histeval.datasets.bundled import bundled
from histeval.runs.folder import RunFolder, read_answers
from support import DATA, needs_data

LETTERS, CAREFUL, ENTRIES = bundled("letters"), bundled("letters/careful"), bundled("directories")
ROOM = "size=64m"
Words = Callable[[Path, Path], list[object]]

COMMANDS: dict[str, Words] = {
    "score": lambda out, _: ["score", "letters", LETTERS, CAREFUL, "--shard", "1/1", "--out", out / "shard.jsonl"],
    "run": lambda out, _: ["run", "letters", LETTERS, "--system", f"recorded/{CAREFUL}", "--out", out / "run"],
    "overview": lambda out, _: ["overview", f"{LETTERS}={CAREFUL}", "--out", out / "site"],
    "import": lambda out, given: ["import", "manuscripts", given / "page.txt", "--out", out / "dataset"],
    "import answers": lambda out, given: ["import", "directories", given / "a.conll", "--answers", out / "a.jsonl"],
    "init": lambda out, _: ["init", "manuscripts", out / "folder"],
    "train": lambda out, _: ["train", "directories", ENTRIES, "--system", "crf", "--approach", "flat", "--split", "all",
                             "--rows", "8", "--out", out / "model"],
    "evaluate": lambda out, _: ["evaluate", ENTRIES, "--system", "crf", "--approach", "flat", "--rows", "8",
                                "--workers", "1", "--out", out / "answers"],
    "project": lambda out, given: ["project", ENTRIES, given / "noisy.jsonl", "--out", out / "projected"],
    "export": lambda out, _: ["export", "manuscripts", bundled("manuscripts"), "--format", "page", "--out", out / "x"],
    "export file": lambda out, _: ["export", "directories", ENTRIES, "--format", "conll", "--out", out / "x.conll"],
}  # fmt: skip
NEEDS = {"overview": "altair", "train": "pycrfsuite", "evaluate": "pycrfsuite"}


def command(*words: object, under: Path | None = None) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "histeval", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, cwd=under, timeout=120)


def refused(done: subprocess.CompletedProcess[str], place: Path) -> str:
    """The sentence of a command that could not write below `place`."""
    said = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 2, done.stderr
    assert sum(line.startswith("histeval: ") for line in done.stderr.splitlines()) == 1, done.stderr
    assert said.startswith("histeval: ")
    assert "Traceback" not in done.stderr
    assert "a fault of Histeval" not in said
    assert str(place) in said
    return said


def needs(name: str) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is imported and projected."""
    place = tmp_path_factory.mktemp("given")
    (place / "page.txt").write_text("ein hus vnd hof\n" * 2000)
    (place / "a.conll").write_text("# id = 1\n" + "a\tB-X\tO\nbc\tI-X\tB-Y\n" * 700)
    entries = load_dataset("directories", ENTRIES, split="all").documents
    lines = [json.dumps({"id": key, "text": entry.truth.text}) for key, entry in entries.items()]
    (place / "noisy.jsonl").write_text("\n".join(lines) + "\n")
    return place


def prepare(name: str, place: Path) -> None:
    if name == "init":  # works in a folder that is there
        (place / "folder").mkdir(parents=True)
        (place / "folder" / "page.txt").write_text("a\n")


def tree(place: Path) -> set[str]:
    return {item.relative_to(place).as_posix() for item in place.rglob("*")}


def used(place: Path) -> int:
    return sum(item.stat().st_blocks * 512 for item in place.rglob("*"))


def mounting(*words: str) -> bool:
    tool = shutil.which("mount" if words[0] != "umount" else "umount")
    if tool is None or os.name != "posix":
        return False
    return subprocess.run([tool, *words[1:]], capture_output=True).returncode == 0


class Disk:
    """A disk in memory, whose size and whether it may be written change."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def new(self, options: str) -> None:
        self.away()
        if not mounting("mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.place)):
            pytest.skip("this needs the right to mount a disk in memory (root)")

    def change(self, options: str) -> None:
        assert mounting("mount", "-o", f"remount,{options}", str(self.place))

    def away(self) -> None:
        if os.path.ismount(self.place):
            assert mounting("umount", str(self.place))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    (tmp_path / "disk").mkdir()
    found = Disk(tmp_path / "disk")
    yield found
    found.away()


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "evaluate"])
def test_a_file_in_the_place_of_a_folder(name: str, tmp_path: Path, given: Path) -> None:
    needs(name)
    (tmp_path / "place").write_text("x")
    refused(command(*COMMANDS[name](tmp_path / "place", given), under=tmp_path), tmp_path / "place")
    assert tree(tmp_path) == {"place"}
    assert (tmp_path / "place").read_text() == "x"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_that_may_only_be_read(name: str, disk: Disk, given: Path) -> None:
    needs(name)
    disk.new(ROOM)
    prepare(name, disk.place)
    before = tree(disk.place)
    disk.change("ro")
    begin = time.monotonic()
    said = refused(command(*COMMANDS[name](disk.place, given)), disk.place)
    assert "ead-only file system" in said
    if name in ("train", "evaluate"):
        assert "fitted" not in said, f"hours of work were lost after {time.monotonic() - begin:.0f} s"
    assert tree(disk.place) == before


@pytest.mark.parametrize("name", ["score", "run", "import", "export file"])
def test_as_a_person_without_the_right_to_write(name: str, tmp_path: Path, given: Path) -> None:
    """Permission bits do not bind root, so root lends itself another name."""
    if os.getuid() == 0:
        lent = shutil.which("setpriv")
        if lent is None:
            pytest.skip("setpriv is not here")
        change = [lent, "--reuid=65534", "--regid=65534", "--clear-groups"]
        if subprocess.run([*change, sys.executable, "-c", "import histeval"], capture_output=True).returncode:
            pytest.skip("the installation cannot be read by others")
    else:
        change = []
    place = tmp_path / "place"
    prepare(name, place)
    place.mkdir(exist_ok=True)
    inputs = tmp_path / "given"
    shutil.copytree(given, inputs)
    inputs.chmod(0o755)
    for file in inputs.iterdir():
        file.chmod(0o644)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid() and folder.name.startswith(("pytest-", "popen-", "test_")):
            folder.chmod(0o755)
    place.chmod(0o555)
    line = [*change, sys.executable, "-m", "histeval", *map(str, COMMANDS[name](place, inputs))]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, cwd="/")
    said = refused(done, place)
    assert "permission is missing" in said or "Permission denied" in said
    assert not tree(place)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_disk_that_fills_up_and_has_room_again(name: str, disk: Disk, given: Path) -> None:
    """Wherever in its work the command is stopped, the same command then ends with the files of an undisturbed one."""
    needs(name)
    disk.new(ROOM)
    prepare(name, disk.place)
    start = used(disk.place)
    assert command(*COMMANDS[name](disk.place, given)).returncode == 0
    whole, need = tree(disk.place), used(disk.place) - start
    disk.new(f"size={max((start + need // 2) // 4096 * 4, 4)}k")
    prepare(name, disk.place)
    done = command(*COMMANDS[name](disk.place, given))
    if need > 4096 or name == "init":  # what fits into one page of the smallest disk is written
        said = refused(done, disk.place)
        assert "disk is full" in said or "No space left" in said
    odd = {item for item in tree(disk.place) - whole if "/." not in item and not item.endswith(".part")}
    assert not odd, "half a file under a name of its own"
    disk.change(ROOM)
    again = command(*COMMANDS[name](disk.place, given))
    if name != "import answers" or need > 4096:
        assert again.returncode == 0, again.stderr
    assert tree(disk.place) == whole


def test_answers_on_a_disk_that_fills_up_are_whole_lines(disk: Disk) -> None:
    """Nothing of a refused line is left, not even when the file is closed after there is room again."""
    from histeval.errors import OutputError

    disk.new("size=256k")
    folder = RunFolder(disk.place / "run", {"task": "letters", "system": "recorded/a"})
    written = 0
    try:
        for number in range(100):
            folder.append({"document": f"d{number}", "text": "x" * 10_000})
            written += 1
    except OutputError as fault:
        assert "cannot be written" in str(fault)  # noqa: PT017 (the last of many writes is refused)
    assert 0 < written < 100
    disk.change(ROOM)
    folder.close()
    assert (disk.place / "run" / "answers.jsonl").read_bytes().count(b"\n") == written
    assert (disk.place / "run" / "answers.jsonl").read_bytes().endswith(b"\n")
    with RunFolder(disk.place / "run", {"task": "letters", "system": "recorded/a"}) as resumed:
        assert (len(resumed.done), resumed.dropped) == (written, 0)
        resumed.append({"document": "last", "text": "y"})
    assert len(list(read_answers(disk.place / "run"))) == written + 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_what_is_printed_to_a_full_disk(tmp_path: Path) -> None:
    shard = tmp_path / "shard.jsonl"
    assert command("score", "letters", LETTERS, CAREFUL, "--shard", "1/1", "--out", shard).returncode == 0
    for words in (["score", "letters", LETTERS, CAREFUL], ["merge", shard, "--format", "json"]):
        line = [sys.executable, "-m", "histeval", *map(str, words)]
        with open("/dev/full", "w") as full:
            done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 2
        assert done.stderr == "histeval: the output: the disk is full\n"


@pytest.mark.data
@needs_data
def test_a_fetch_goes_on_after_a_full_disk(disk: Disk) -> None:
    """The files that came in are kept; no half one has a name of its own."""
    from histeval.datasets.fetch import Collection, collections, fetch
    from histeval.errors import OutputError

    every = next(item for item in collections() if item.name == "business_letters")
    files = tuple(file for file in every.files if file.path.endswith(".json") and (DATA / "rise" / file.path).is_file())
    small = Collection(every.name, every.repository, every.commit, every.url, files)
    source, size = str(DATA / "rise"), sum(-(-file.size // 4096) * 4096 for file in files)
    disk.new(f"size={size // 2 // 4096 * 4}k")
    with pytest.raises(OutputError, match="disk is full"):
        fetch(small, disk.place / "to", source)
    kept = [file for file in files if (disk.place / "to" / file.local).exists()]
    assert kept
    disk.change(ROOM)
    done = fetch(small, disk.place / "to", source)
    assert (done.kept, done.fetched) == (len(kept), len(files) - len(kept))
    assert not list(disk.place.rglob("*.part"))
    disk.change("ro")
    assert fetch(small, disk.place / "to", source).kept == len(files)
    with pytest.raises(OutputError, match="read-only"):
        fetch(small, disk.place / "other", source)
