"""Ctrl-C at any moment ends a command with status 130 and, once it works, one sentence; never with a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from histeval.cli.app import run
from samples import write_answers, write_letters

SLOW = """
import sys, time
import histeval.runs
score = sys.modules["histeval.runs.score"]
def wait(*words, **options):
    print("at work", flush=True)
    time.sleep(60)
score.score_run = wait
from histeval.cli import main
sys.argv = ["histeval", *sys.argv[1:]]
main()
"""


def test_ctrl_c_at_work_is_one_sentence(tmp_path: Path) -> None:
    words = ["score", "letters", str(write_letters(tmp_path / "data")), str(write_answers(tmp_path / "a.jsonl"))]
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "at work\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said == "histeval: stopped; the same command begins anew\n"


@pytest.mark.parametrize(
    ("line", "ahead"),
    [
        ("run letters data --system x/y", "goes on where it was"),
        ("get letters", "goes on where it was"),
        ("overview data", "goes on where it was"),
        ("train directories data --grid grid.toml --out grid", "goes on where it was"),
        ("train directories data --out model", "begins anew"),
        ("score letters data a.jsonl", "begins anew"),
        ("compare letters data a.jsonl b.jsonl", "begins anew"),
    ],
)
def test_what_the_same_command_does_again_is_said_truly(
    line: str, ahead: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("histeval.cli.app.build", stopped)
    assert run(line.split()) == 130
    assert capsys.readouterr().err == f"histeval: stopped; the same command {ahead}\n"


@pytest.mark.parametrize("moment", [0.08, 0.14, 0.2, 0.3])
def test_ctrl_c_at_the_start_makes_no_traceback(tmp_path: Path, moment: float) -> None:
    words = ["score", "letters", str(write_letters(tmp_path / "data")), str(write_answers(tmp_path / "a.jsonl"))]
    command = [sys.executable, "-c", "from histeval.cli import main; print(1, flush=True); main()", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "1\n"
        time.sleep(moment)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode in (0, 130, -signal.SIGINT)  # the last where it had ended its work already
    assert "Traceback" not in said
