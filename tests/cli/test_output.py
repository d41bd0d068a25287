"""Where results go: a full disk, a closed output, a terminal, a pipe; and names however long they are."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from histeval.cli.app import INTERNAL, run
from histeval.datasets.bundled import bundled
from samples import write_answers, write_letters
from terminals import in_terminal

HISTEVAL = [sys.executable, "-m", "histeval"]
FORMATS = ("table", "json", "csv", "parquet")
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    return ["score", "letters", str(write_letters(tmp_path / "letters")), str(write_answers(tmp_path / "a.jsonl"))]


@needs_full
@pytest.mark.parametrize("form", FORMATS)
def test_a_full_disk_is_said_in_every_format(form: str, words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*HISTEVAL, *words, "--format", form], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (2, "histeval: the output: the disk is full\n")


@pytest.mark.parametrize("form", FORMATS)
def test_a_closed_output_is_said_in_every_format(form: str, words: list[str]) -> None:
    done = subprocess.run(
        ["bash", "-c", '"$@" >&-', "-", *HISTEVAL, *words, "--format", form], stderr=subprocess.PIPE, text=True
    )
    assert done.returncode == 2
    assert done.stderr == "histeval: there is nowhere to write to: standard output is closed\n"
    assert INTERNAL not in done.stderr


def test_bytes_are_not_written_to_a_terminal(words: list[str]) -> None:
    with pytest.raises(AssertionError, match="Parquet is for programs, not for a terminal"):
        in_terminal(120, *words, "--format", "parquet")


@pytest.mark.parametrize("command", ["score", "compare"])
def test_no_name_is_broken_in_a_pipe(
    command: str, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / f"{'Antworten des Modells ' * 9}{number}.jsonl" for number in range(3)]
    for file in files:
        shutil.copy(words[3], file)
    assert run([command, *words[1:3], *map(str, files)]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line for line in lines if line.startswith(str(files[1]))]
    assert len(rows) == (1 if command == "score" else 2)
    assert all(line.count("[") >= 1 for line in rows)


@pytest.mark.parametrize("columns", [60, 100, 130, 180])
def test_no_name_is_broken_in_a_comparison(columns: int, words: list[str], tmp_path: Path) -> None:
    names = [f"answers_{number}_{'x' * 12 * number}.jsonl" for number in range(3)]
    for name in names:
        shutil.copy(words[3], tmp_path / name)
    printed = in_terminal(columns, "compare", *words[1:3], *(str(tmp_path / name) for name in names))
    before = printed.split("letters|")[0]
    for name in names:
        assert name in before
    assert before.count("told apart") == 4


@pytest.mark.parametrize(
    ("asked", "near"), [("f1", "f1[All]"), ("f1[L1/per]", "f1[L1/PER]"), ("precision", "precision")]
)
@pytest.mark.parametrize("command", ["score", "compare"])
def test_of_many_metrics_the_nearest_are_named(
    command: str, asked: str, near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = [str(bundled(f"directories/{kind}")) for kind in ("careful", "hasty")]
    assert run([command, "directories", str(bundled("directories")), *answers, "--metrics", asked]) == 2
    said = capsys.readouterr().err
    assert near in said
    assert len(said) < 500
    assert "more, which `histeval score ... --format csv` lists" in said
