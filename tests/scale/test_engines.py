"""Engines: the same results wherever parts are scored, and a lost worker costs only the parts it held."""

from __future__ import annotations

import json
import math
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.cli.app import run
from histeval.datasets import load_dataset
from histeval.datasets.bundled import bundled
from histeval.errors import AnswersError, SystemFault
from histeval.runs import engine
from histeval.runs.engine import Engine
from histeval.runs.opening import open_answers
from histeval.runs.score import score_run
from histeval.tasks import get_task
from scale.corpora import TASKS, rows, write


class DiesOnce:
    """Kills its own process at part 2, unless a file says that it did before."""

    def __init__(self, mark: Path, always: bool = False) -> None:
        self.mark, self.always = mark, always

    def __call__(self, part: int) -> int:
        if part == 2 and (self.always or not self.mark.exists()):
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return part * part


def refuses(part: int) -> int:
    raise AnswersError("is no part", file="a file", line=part, remedy="x" * 900)


def test_a_lost_worker_costs_only_its_parts(tmp_path: Path) -> None:
    told: list[int] = []
    found = Engine("local", 2, tell=lambda _, done, total: told.append(done)).map(DiesOnce(tmp_path / "m"), range(9))
    assert sorted(found) == [(n, n * n) for n in range(9)]
    assert (tmp_path / "m").exists()
    assert told == list(range(1, 10))


def waits(part: int) -> int:
    print(os.getpid(), flush=True)
    time.sleep(0 if part else 3600)
    return part


def test_no_worker_outlives_a_command_that_is_killed(tmp_path: Path) -> None:
    """Neither one that works nor one that waits for its next part, which nobody will give it."""
    program = (
        "from histeval.runs.engine import Engine\nfrom scale.test_engines import waits\n"
        "if __name__ == '__main__': list(Engine('local', 2).map(waits, range(2)))\n"
    )
    (tmp_path / "main.py").write_text(program)
    paths = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    command = subprocess.Popen(
        [sys.executable, str(tmp_path / "main.py")], stdout=subprocess.PIPE, text=True, env=paths
    )
    assert command.stdout is not None
    workers = {int(command.stdout.readline()) for _ in range(2)}
    command.kill()
    command.wait()
    # the end of the pipe says that every process which held it is gone
    ready, _, _ = select.select([command.stdout], [], [], 60)
    assert ready, workers
    assert command.stdout.read() == ""


@settings(deadline=None)
@given(weights=st.lists(st.floats(0, 3), max_size=40), cores=st.integers(1, 8))
def test_every_part_is_in_one_task_and_no_task_is_too_large(weights: list[float], cores: int) -> None:
    groups = engine._grouped(weights, cores)
    assert [place for first, stop in groups for place in range(first, stop)] == list(range(len(weights)))
    for first, stop in groups:
        assert stop - first == 1 or sum(weights[first:stop]) <= engine.TOGETHER + 0.001


def test_a_part_that_kills_every_worker_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemFault, match=r"died 3 times while it held part .*3"):
        list(Engine("local", 1 + 1).map(DiesOnce(tmp_path / "m", always=True), range(4)))


def test_errors_come_back_whole() -> None:
    with pytest.raises(AnswersError) as caught:
        list(Engine("local", 2).map(refuses, [1, 2]))
    assert caught.value.line in (1, 2)
    assert str(caught.value).endswith("x" * 900)


@pytest.mark.parametrize("task", TASKS)
def test_outcomes_from_processes_are_those_of_one(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "PAIRS", 5)
    dataset = load_dataset(task, bundled(task))
    answers = open_answers(bundled(f"{task}/hasty"), dataset)[0]
    scorer = get_task(task).scorer(dataset.context, get_task(task).protocol("published"))
    alone = next(score_run(dataset, answers, scorer))
    spread = next(score_run(dataset, answers, scorer, outcomes_of=Engine("local", 2).outcomes))
    assert spread.as_json(True) == alone.as_json(True)


def score(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert run(["score", *words, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("protocol", ["documented", "published"])
def test_the_commands_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str], protocol: str) -> None:
    found = rows(load_dataset("manuscripts", bundled("manuscripts")), "hasty", 10)
    middle = len(found) // 2
    write(tmp_path / "parts/a.jsonl", found[:middle])
    write(tmp_path / "parts/b.parquet", found[middle:])
    words = ["manuscripts", str(bundled("manuscripts")), str(tmp_path / "parts"), "--protocol", protocol]
    alone = score(capsys, *words, "--workers", "1")
    assert score(capsys, *words, "--workers", "2") == alone
    for number in (1, 2):
        shard = ["--shard", f"{number}/2", "--out", str(tmp_path / f"shard{number}.jsonl")]
        assert run(["score", *words, *shard, "--workers", "1"]) == 0
    assert run(["merge", str(tmp_path / "shard2.jsonl"), str(tmp_path / "shard1.jsonl"), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == alone


@pytest.mark.cluster
def test_ray_agrees_and_survives_a_lost_worker(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[1]))  # workers import this module
    with Engine("ray", 2) as machines:
        assert sorted(machines.map(math.sqrt, [1, 4, 9])) == [(0, 1.0), (1, 2.0), (2, 3.0)]
        found = machines.map(DiesOnce(tmp_path / "m"), list(range(5)))
        assert sorted(found) == [(n, n * n) for n in range(5)]
        assert (tmp_path / "m").exists()
        with pytest.raises(AnswersError, match="is no part"):
            list(machines.map(refuses, [1, 2]))
        found_rows = rows(load_dataset("manuscripts", bundled("manuscripts")), "hasty", 10)
        write(tmp_path / "parts/a.jsonl", found_rows[:20])
        write(tmp_path / "parts/b.jsonl", found_rows[20:])
        words = ["manuscripts", str(bundled("manuscripts")), str(tmp_path / "parts"), "--protocol", "published"]
        capsys.readouterr()  # what Ray said so far
        alone = score(capsys, *words, "--workers", "1")
        assert score(capsys, *words, "--engine", "ray") == alone


def test_options_that_do_not_go_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["score", "letters", str(bundled("letters")), str(bundled("letters/careful"))]
    for more, sentence in (
        (["--address", "auto"], "--address belongs to --engine ray"),
        (["--shard", "1/2"], "--shard i/n and --out FILE go together"),
        (["--workers", "0"], "--workers takes a number from 1"),
        (["--shard", "3/2", "--out", str(tmp_path / "x")], "--shard takes i/n"),
    ):
        assert run([*words, *more]) == 2
        assert sentence in capsys.readouterr().err
