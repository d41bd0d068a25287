"""The grid: what a file asks for, resuming, and the table beside the published figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from histeval.datasets.bundled import bundled
from histeval.errors import HistevalError, InputError, UsageError
from histeval.systems.taggers.grid import _options as options_of
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


LATE = {
    "rows": ("system = 'crf'\nrows = [20, 100000]", "between 1 and"),
    "scheme": ("system = 'crf'\nscheme = ['IO', 'IO2']", "cannot learn the scheme 'IO2'"),
    "approach": ("system = 'crf'\napproach = ['joint', 'deep']", "no approach 'deep'"),
    "text": ("system = 'crf'\ntext = ['reference', 'latin']", "no text 'latin'"),
    "no text": ("system = 'crf'\ntext = ['reference', ',']", "name at least one text"),
    "noise of one": ("system = 'crf'\nnoise = [0, 1]", "two texts of the same rows"),
    "noise": ("system = 'crf'\nnoise = [0, -1]\ntext = 'reference,ocr'", "from 0 to 20"),
    "weights": ("system = 'crf'\napproach = ['joint']\n[options]\nweights = [1, 2]", "belong to the hierarchical"),
    "backbone": ("system = 'crf'\n[options]\nsteps = 3", "belong to --system transformer"),
    "kind": ("system = 'crf'\n[options]\nworkers = '2'", "another kind"),
    "twice": ("system = 'crf'\n[options]\nseed = 3", "has seed among the options"),
}


def test_options_go_where_they_belong(tmp_path: Path) -> None:
    text = """
        system = ["crf", "transformer"]
        backbone = "a"
        approach = ["joint", "hierarchical"]
        [options]
        steps = 3
        epochs = 2
        weights = [1, 1]
        """
    asked = read_grid(grid_file(tmp_path, text))
    given = {(cell["system"], cell["approach"]): set(options_of(cell, asked)) for cell in asked.cells}
    assert given == {
        ("crf", "joint"): {"epochs"},
        ("crf", "hierarchical"): {"epochs", "weights"},
        ("transformer", "joint"): {"steps", "epochs"},
        ("transformer", "hierarchical"): {"steps", "epochs", "weights"},
    }


@pytest.mark.parametrize("kind", LATE)
def test_what_cannot_be_is_said_before_the_first_training(kind: str, tmp_path: Path) -> None:
    text, words = LATE[kind]
    lines: list[str] = []
    with pytest.raises(HistevalError, match=words) as fault:
        run_grid(bundled("directories"), grid_file(tmp_path, text), tmp_path / "out", report=lines.append)
    assert "\n" not in str(fault.value)
    assert not any(line.startswith("1 of") for line in lines)


def test_a_grid_never_scores_the_rows_it_was_trained_on(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "dataset.toml").write_text('task = "directories"\nname = "own"\n[truth]\nfile = "entries.jsonl"\n')
    line = '{"id": "%d", "text": "Blanc, %d", "spans": [{"type": "PER", "start": 0, "end": 5}]%s}\n'
    path = grid_file(tmp_path, 'system = "crf"')
    (data / "entries.jsonl").write_text("".join(line % (row, row, "") for row in range(9)))
    with pytest.raises(UsageError, match="own has no split into train and test"):
        run_grid(data, path, tmp_path / "out")
    part = ', "attributes": {"split": "%s"}'
    rows = [line % (row, row, part % ("test" if row > 5 else "train")) for row in range(9)]
    (data / "entries.jsonl").write_text("".join(rows))
    (row,) = run_grid(data, path, tmp_path / "out")
    assert row.documents == 3
    assert row.cell["tokens"] == "plain"  # published tokens of own entries would tell where their entities end
