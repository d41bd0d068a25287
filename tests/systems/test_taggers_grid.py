"""The grid: what a file asks for, resuming, and the table beside the published figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from histeval.datasets.bundled import bundled
from histeval.errors import InputError, UsageError
from histeval.systems.taggers.grid import grid_table, read_grid, run_grid
from histeval.systems.taggers.published import COLUMNS, metric_name, published_figures
from support import DATA, needs_data

pytest.importorskip("pycrfsuite", reason="needs python-crfsuite: pip install 'histeval[taggers]'")


def grid_file(folder: Path, text: str) -> Path:
    path = folder / "grid.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_combination_is_asked_for_once(tmp_path: Path) -> None:
    asked = read_grid(
        grid_file(
            tmp_path,
            """
            system = ["crf", "transformer"]
            backbone = ["a", "b"]
            approach = ["flat", "joint"]
            scheme = ["IO", "IOB2"]
            seed = [1, 2]
            """,
        )
    )
    # 3 backbones (none for the CRF) x 3 pairs of approach and scheme x 2 seeds; flat IOB2 cannot be.
    assert len(asked.cells) == 3 * 3 * 2
    assert {why for _, why in asked.left_out} == {"the flat approach has the scheme IO only"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("system = [", "is not TOML"),
        ("colour = 1", "unknown key 'colour'"),
        ("rows = ['many']", "another kind for rows"),
        ("rows = []", "another kind for rows"),
        ("seed = true", "another kind for seed"),
        ("options = 1", "options that are no table"),
        ("system = 'transformer'", "no training that can be made"),
        (f"seed = {list(range(60))}\nrows = {list(range(1, 60))}", "at most 2000"),
    ],
)
def test_a_wrong_grid_is_one_sentence(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        read_grid(grid_file(tmp_path, text))


def test_a_system_that_there_is_not(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no tagger 'svm'"):
        read_grid(grid_file(tmp_path, "system = 'svm'"))


def test_a_grid_resumes_and_prints_one_table(tmp_path: Path) -> None:
    path = grid_file(tmp_path, 'system = "crf"\napproach = ["joint", "flat"]\nrows = 60')
    lines: list[str] = []
    rows = run_grid(bundled("directories"), path, tmp_path / "out", report=lines.append)
    assert [row.text for row in rows] == ["reference", "reference"]
    assert sum("of 2:" in line for line in lines) == 2
    lines.clear()
    assert run_grid(bundled("directories"), path, tmp_path / "out", report=lines.append) == rows
    assert lines == []
    table = grid_table(rows)
    assert len({len(row) for row in table}) == 1
    ours = [row for row in table[1:] if row[1] == "crf"]
    assert len(ours) == 2
    joint = next(row for row in ours if "joint" in row)
    assert "[" in joint[table[0].index("All")]
    assert float(joint[table[0].index("All")].split()[0]) > 50
    flat = next(row for row in ours if "flat" in row)
    assert flat[table[0].index("All")] == ""
    assert len(table) - 1 - len(ours) == 14  # the published systems on this text
    types = grid_table(rows, types=True)
    assert types[0][-12:] == list(COLUMNS[6:])
    # A second seed makes one row of two: the mean, without an interval.
    metric = rows[0].metrics["f1[All]"]
    other = replace(
        rows[0],
        cell={**rows[0].cell, "seed": 2},
        metrics={"f1[All]": {**metric, "value": (metric["value"] or 0) - 0.02}},
    )
    mean = grid_table([rows[0], other], published=False)
    assert len(mean) == 2
    assert mean[1][mean[0].index("seeds")] == "2"
    assert mean[1][mean[0].index("All")] == f"{100 * (metric['value'] or 0) - 1:.2f}"


def test_published_figures_have_corrected_columns() -> None:
    figures = published_figures()
    assert len(figures) == 28
    # Under the names of the published table, PER of this system would have stood under SPAT.
    assert figures["reference", "hierarchical", "CmBERT", "IOB2"]["PER"] == 97.35
    assert figures["reference", "hierarchical", "CmBERT", "IOB2"]["TITREH"] == 95.77
    assert metric_name("ACT_L2", "joint") == "f1[L2/ACT]"


@pytest.mark.data
@needs_data
def test_published_figures_are_those_of_the_data() -> None:
    import csv

    names = {"M0": "flat", "M1": "independent", "M2": "joint", "M3": "hierarchical"}
    with open(DATA / "directories" / "published_results.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 436
    for row in rows:
        key = (row["dataset"].lower(), names[row["approach"]], row["model"], row["tags"])
        assert published_figures()[key][row["metric"]] == pytest.approx(float(row["f1_pct_mean"]), abs=0.005001)
    assert sum(len(found) for found in published_figures().values()) == 436
