"""Shards merge to what one machine gives; what is missing, doubled or edited is refused in a sentence."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from histeval.cli.app import run
from histeval.datasets import load_dataset
from histeval.datasets.bundled import bundled
from histeval.errors import HistevalError, UsageError
from histeval.runs.opening import open_answers
from histeval.runs.score import score_paths
from histeval.runs.selection import Selection
from histeval.runs.sharding import merge, parse_shard, shard_lines, write_lines
from histeval.tasks import get_task
from scale.corpora import TASKS, rows, write
from support import DATA, needs_data


def split(
    task: str, place: Any, answers: Path, folder: Path, of: int, protocol: str, by: str | None = None, **rules: Any
) -> list[Path]:
    dataset = load_dataset(task, place)
    files = []
    for number in range(1, of + 1):
        runs = open_answers(answers, dataset)
        lines = shard_lines(get_task(task), dataset, runs, (number, of), protocol, rules, None, by)
        files.append(folder / f"{number}.jsonl")
        write_lines(files[-1], lines)
    return files


@pytest.mark.parametrize("protocol", ["documented", "published", "corrected"])
@pytest.mark.parametrize("task", TASKS)
def test_merged_shards_are_the_whole(tmp_path: Path, task: str, protocol: str) -> None:
    answers = bundled(f"{task}/hasty")
    files = split(task, bundled(task), answers, tmp_path, 3, protocol)
    random.Random(1).shuffle(files)
    whole = list(score_paths(get_task(task), load_dataset(task, bundled(task)), [answers], protocol))
    assert [score.as_json(True) for score in merge(files)] == [score.as_json(True) for score in whole]


def test_groups_repeats_and_overridden_rules_survive(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in bundled("letters/careful").read_text().splitlines()]
    answers = tmp_path / "answers.jsonl"
    twice = [{**line, "repeat": repeat, "cost": 0.1} for line in lines for repeat in (0, 1) if repeat or len(line) % 2]
    answers.write_text("".join(json.dumps(line) + "\n" for line in twice))
    files = split("letters", bundled("letters"), answers, tmp_path, 2, "corrected", "signed", dates="text")
    data = load_dataset("letters", bundled("letters"))
    whole = score_paths(get_task("letters"), data, [answers], "corrected", {"dates": "text"}, Selection(), "signed")
    assert [score.as_json() for score in merge(files)] == [score.as_json() for score in whole]


@pytest.mark.data
@needs_data
@pytest.mark.parametrize(
    ("task", "dataset", "answers"),
    [("letters", "business_letters", "letters"), ("manuscripts", "medieval_manuscripts", "medieval")],
)
def test_every_recorded_run_merges_to_the_published_number(
    tmp_path: Path, task: str, dataset: str, answers: str
) -> None:
    place = DATA / "rise/benchmarks" / dataset
    recorded = DATA / "recorded_answers" / answers / "runs.jsonl"
    files = split(task, place, recorded, tmp_path, 4, "published")
    whole = score_paths(get_task(task), load_dataset(task, place), [recorded], "published")
    assert [score.as_json() for score in merge(files)] == [score.as_json() for score in whole]


def test_shards_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    answers = bundled("letters/careful")
    files = split("letters", bundled("letters"), answers, tmp_path, 3, "documented")
    with pytest.raises(UsageError, match=r"of the 3 shards of .* these are missing: 2"):
        list(merge([files[0], files[2]]))
    with pytest.raises(UsageError, match=r"shard 1/3 of .* comes twice"):
        list(merge([*files, files[0]]))
    (tmp_path / "other").mkdir()
    others = split("letters", bundled("letters"), answers, tmp_path / "other", 3, "published")
    with pytest.raises(HistevalError, match="has another protocol"):
        list(merge([files[0], files[1], others[2]]))


@pytest.mark.parametrize("seed", range(60))
def test_an_edited_shard_is_refused_or_read(tmp_path: Path, seed: int) -> None:
    """Whatever is done to a file, it gives scores or one sentence."""
    source = random.Random(seed)
    files = split("manuscripts", bundled("manuscripts"), bundled("manuscripts/hasty"), tmp_path, 2, "documented")
    lines = [json.loads(line) for line in files[0].read_text().splitlines()]
    line = source.choice(lines)
    while True:  # some way down, and there a value is another
        key: Any = source.choice(list(line) if isinstance(line, dict) else range(len(line)))
        if isinstance(line[key], (dict, list)) and line[key] and source.random() < 0.7:
            line = line[key]
            continue
        if source.random() < 0.3 and isinstance(line, dict):
            del line[key]
        else:
            line[key] = source.choice([None, -1, 10**30, "../../etc", [], {}, [[1]], 0.5, "\udc80", True])
        break
    files[0].write_text("".join(json.dumps(line) + "\n" for line in lines))
    said = words(lambda: [score.as_json() for score in merge(files)])
    assert not any("\n" in sentence for sentence in said)


def words(call: Callable[[], Any]) -> list[str]:
    """The sentence a call ends with, if it does."""
    try:
        assert call()
    except HistevalError as fault:
        return [str(fault)]
    return []


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0", "-1/3", "1/3/5", "²/3", "1/100001"])
def test_wrong_shards(text: str) -> None:
    with pytest.raises(UsageError, match="--shard takes i/n"):
        parse_shard(text)


def test_shards_that_saw_other_parts_are_not_merged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A part that came, went, grew or has another name between two shards would leave documents out in silence."""
    found = rows(load_dataset("letters", bundled("letters")), "hasty", 2)
    parts = tmp_path / "parts"
    for number in range(4):
        write(parts / f"{number}.jsonl", found[number::4])

    def shard(number: int) -> Path:
        out = tmp_path / f"shard{number}.jsonl"
        words = ["score", "letters", str(bundled("letters")), str(parts), "--workers", "1"]
        assert run([*words, "--shard", f"{number}/2", "--out", str(out)]) == 0
        return out

    first = shard(1)
    assert [score.documents for score in merge([first, shard(2)])] == [len(found)]
    kept = (parts / "3.jsonl").read_bytes()
    for change in (b"", kept + b"\n"):
        (parts / "3.jsonl").write_bytes(change)
        with pytest.raises(HistevalError, match="saw other parts"):
            list(merge([first, shard(2)]))
    (parts / "3.jsonl").rename(parts / "4.jsonl")
    (parts / "4.jsonl").write_bytes(kept)
    with pytest.raises(HistevalError, match="saw other parts"):
        list(merge([first, shard(2)]))
