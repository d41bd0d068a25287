"""A folder or file in the wrong place is named for what it is, with what to do: the mistakes of a tired day."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from histeval.datasets import check, load_dataset
from histeval.errors import AnswersError, DatasetError, UsageError
from histeval.runs import score
from histeval.runs.opening import open_answers
from samples import RIGHT, write_answers, write_letters

PAGE = {"[3r]": [{"folio": "3", "text": "Vnd ein pferit", "addition1": ""}]}


def letters(place: Path) -> Path:
    return write_letters(place / "letters")


def pages(place: Path) -> Path:
    (place / "pages" / "ground_truths").mkdir(parents=True)
    (place / "pages" / "ground_truths" / "image_1.json").write_text(json.dumps(PAGE))
    return place / "pages"


def trade(place: Path) -> Path:
    file = place / "trade" / "dataset" / "41-ner_ref_from_pero" / "gold.csv"
    file.parent.mkdir(parents=True)
    file.write_text('"<PER>Roux</PER>, 7.", "Didot_1851a"\n')
    return place / "trade"


MADE: dict[str, Callable[[Path], Path]] = {"letters": letters, "manuscripts": pages, "directories": trade}


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("asked", MADE)
def test_a_published_dataset_of_another_task_is_named_as_such(asked: str, kind: str, tmp_path: Path) -> None:
    folder = MADE[kind](tmp_path)
    if asked == kind:
        assert load_dataset(asked, folder, split="all").documents
        return
    with pytest.raises(DatasetError, match=f"^{folder}: is a dataset for {kind}, not for {asked}$"):
        load_dataset(asked, folder)


@pytest.mark.parametrize("task", ["letters", "manuscripts"])
@pytest.mark.parametrize("content", ["[1]", '"a"', "7", "{"])
def test_a_folder_that_is_no_dataset_is_doubted(task: str, content: str, tmp_path: Path) -> None:
    (tmp_path / "sources.json").write_text(content)
    with pytest.raises(DatasetError) as fault:
        load_dataset(task, tmp_path)
    assert f"Is {tmp_path} the folder of a dataset? It has neither dataset.toml nor ground_truths/" in str(fault.value)


def test_a_broken_letter_of_a_dataset_is_not_doubted(tmp_path: Path) -> None:
    folder = letters(tmp_path)
    (folder / "ground_truths" / "letter01.json").write_text("[]")
    with pytest.raises(DatasetError, match=r"letter01\.json: is not a JSON object\. Write an object") as fault:
        load_dataset("letters", folder)
    assert "Is " not in str(fault.value)


@pytest.mark.parametrize("task", ["letters", "manuscripts"])
@pytest.mark.parametrize("content", ["[]", '"a"', "7"])
def test_no_fault_of_shape_is_without_a_remedy(task: str, content: str, tmp_path: Path) -> None:
    folder = MADE[task](tmp_path)
    name = "letter01.json" if task == "letters" else "image_1.json"
    (folder / "ground_truths" / name).write_text(content)
    found = [fault for fault in check(task, folder) if fault.file.endswith(name)]
    assert found
    assert all(fault.remedy for fault in found)


@pytest.mark.parametrize("depth", [1, 2])
def test_a_folder_above_runs_names_the_runs_in_it(depth: int, tmp_path: Path) -> None:
    dataset = load_dataset("letters", letters(tmp_path))
    above = tmp_path / "runs"
    for number in range(4):
        folder = above / ("2026-01-01" if depth == 2 else "") / f"run{number}"
        folder.mkdir(parents=True)
        (folder / "run.json").write_text("{}")
    (above / "empty").mkdir()
    with pytest.raises(AnswersError, match=r"holds no answers itself\. Name the runs that lie in it: ") as fault:
        open_answers(above, dataset)
    assert str(fault.value).count("run") >= 3
    assert str(fault.value).endswith(", ...")
    (tmp_path / "nothing" / "below").mkdir(parents=True)
    with pytest.raises(AnswersError, match=r"holds no answers\. Answers are"):
        open_answers(tmp_path / "nothing", dataset)


@pytest.mark.parametrize(
    "content", ["document,text\nletter01,x\n", "letter01;1931-05-04\n", "<TEI/>\n", "plain words\n"]
)
def test_a_file_that_is_no_json_at_all_is_told_what_answers_are(content: str, tmp_path: Path) -> None:
    dataset = load_dataset("letters", letters(tmp_path))
    (tmp_path / "answers.csv").write_text(content)
    with pytest.raises(AnswersError, match=r"line 1: is not JSON\. Answers are a run folder"):
        open_answers(tmp_path / "answers.csv", dataset)


def test_truth_not_yet_written_is_not_called_a_selection(tmp_path: Path) -> None:
    folder = tmp_path / "scans"
    (folder / "ground_truths").mkdir(parents=True)
    (folder / "dataset.toml").write_text('task = "manuscripts"\n')
    for name in ("a", "b"):
        waiting = {"folios": [{"folio": None, "text": None, "addition1": None}]}
        (folder / "ground_truths" / f"{name}.json").write_text(json.dumps(waiting))
    with pytest.raises(UsageError, match=r"has ground truth yet \(2 wait for it\).*`histeval check` says where"):
        score("manuscripts", folder, {"a": {"folios": []}})
    dataset = load_dataset("letters", letters(tmp_path))
    with pytest.raises(UsageError, match="is selected, so there is nothing to score"):
        score("letters", dataset, write_answers(tmp_path / "a.jsonl", RIGHT), where={"signed": "perhaps"})
