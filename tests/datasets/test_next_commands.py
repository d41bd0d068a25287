"""The commands that come next can be pasted into a shell, whatever the folders are called."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from histeval.cli.app import run
from histeval.datasets import initialise, load_dataset
from histeval.errors import DatasetError

NAMES = ("Böse Briefe", "l'été", "a;b", "plain", "$HOME [1]")


@pytest.mark.parametrize("name", NAMES)
def test_import_and_init_quote_paths(tmp_path: Path, capsys: Any, name: str) -> None:
    source, out, answers = tmp_path / f"{name}.csv", tmp_path / name, tmp_path / f"{name}.jsonl"
    source.write_text("Nr;Absender\n1;Sá\n", encoding="utf-8")

    def said() -> list[list[str]]:
        lines = capsys.readouterr().out.splitlines()
        commands = [line.removeprefix("next: ").strip() for line in lines]
        return [shlex.split(command) for command in commands if command.startswith("histeval")]

    assert run(["import", "letters", str(source), "--out", str(out)]) == 0
    assert said() == [["histeval", "check", "letters", str(out)]]
    assert run(["import", "letters", str(source), "--answers", str(answers), "--dataset", str(out)]) == 0
    assert said() == [["histeval", "score", "letters", str(out), str(answers)]]
    assert run(["init", "letters", str(out)]) == 0
    assert all(str(out) in words for words in said())


def test_files_to_import_are_quoted(tmp_path: Path) -> None:
    (tmp_path / "Meine Seiten.xml").write_text("<a/>", encoding="utf-8")
    first = shlex.split(initialise("manuscripts", tmp_path).next[0])
    assert first == ["histeval", "import", "manuscripts", str(tmp_path / "Meine Seiten.xml"), "--out", str(tmp_path)]


@pytest.mark.parametrize("task", ["letters", "manuscripts", "directories"])
@pytest.mark.parametrize("other", ["letters", "manuscripts", "directories"])
def test_init_refuses_a_dataset_for_another_task(tmp_path: Path, task: str, other: str) -> None:
    initialise(other, tmp_path)
    before = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*"))
    if task == other:
        assert initialise(task, tmp_path).written == ()
    else:
        with pytest.raises(DatasetError, match=f"is a dataset for {other}, not for {task}. Name that task, `histeval"):
            initialise(task, tmp_path)
    assert sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*")) == before


@pytest.mark.parametrize("task", ["letters", "manuscripts"])
def test_init_refuses_a_published_layout_for_another_task(make: Any, task: str) -> None:
    other = {"letters": "manuscripts", "manuscripts": "letters"}[task]
    folder = make(other)
    with pytest.raises(DatasetError, match=f"is a dataset for {other}"):
        initialise(task, folder)
    assert not (folder / "dataset.toml").exists()
    assert load_dataset(other, folder).documents
