"""A file where the folder of a dataset is wanted: the message names the folder, or the command that makes one."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from histeval.cli.app import run
from histeval.datasets import check, load_dataset
from histeval.errors import DatasetError


@pytest.mark.parametrize("name", ["base.zip", "Böse Briefe.csv", "briefe.xlsx", "a"])
@pytest.mark.parametrize("what", [check, load_dataset])
def test_a_file_is_to_be_imported(tmp_path: Path, name: str, what: Any) -> None:
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(DatasetError) as fault:
        what("letters", tmp_path / name)
    words = shlex.split(fault.value.remedy.split("`")[1])
    assert words == ["histeval", "import", "letters", str(tmp_path / name), "--out", Path(name).stem]


@pytest.mark.parametrize("layout", ["letters", "letters_csv"])
def test_a_file_inside_a_dataset_names_its_folder(make: Any, layout: str) -> None:
    folder = make(layout)
    for path in sorted(folder.rglob("*.*")):
        if path.name != "dataset.toml" and path.is_file():
            with pytest.raises(DatasetError) as fault:
                check("letters", path)
            assert fault.value.remedy == f"Name the folder of the dataset, {folder}"


def test_without_a_task(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "base.zip").write_bytes(b"x")
    assert run(["check", str(tmp_path / "base.zip")]) == 2
    assert "`histeval import TASK" in capsys.readouterr().err
