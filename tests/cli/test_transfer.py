"""`histeval init`, `import`, `export` and `get --from` as a person types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from histeval.cli.app import run
from transcription_samples import edition, escriptorium_export


def test_formats_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", "transcription"]) == 0
    printed = capsys.readouterr().out
    for word in ("page  PAGE XML", "tei  TEI", "--option choice=", ": read and written"):
        assert word in printed
    assert "conll" not in printed


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["import", "manuscripts", "x.xml"], "name either --out DIR for a dataset or --answers FILE.jsonl"),
        (["import", "manuscripts", "x.xml", "--out", "a", "--answers", "b"], "name either --out DIR"),
        (["import", "manuscripts", "x.xml", "--out", "a", "--dataset", "b"], "--dataset belongs to --answers"),
        (["import", "manuscripts", "gone.xml", "--out", "a"], "gone.xml: cannot be read: there is no such file"),
        (["import", "manuscripts", "x", "--out", "a", "--option", "level"], "--option takes NAME=VALUE"),
        (["init", "manuscripts", "gone"], "gone: there is no such folder"),
        (["get", "--from", "https://x.example/m.json"], "name the folder for the images with --to"),
        (["get", "--from", "m.json", "--to", "a"], "a manifest has an http(s) address"),
    ],
)
def test_wrong_use_is_one_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(words) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_report_has_every_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    edition(tmp_path)
    assert run(["import", "manuscripts", "rope.xml", "--out", "rope", "--report", "r.json"]) == 0
    report = json.loads(Path("r.json").read_text("utf-8"))
    assert report["read"] == {"pages": 2, "regions": 6, "lines": 10}
    assert report["left_out"]["what the editor supplied (supplied)"] == ["rope, page 3v, line 12"]


def test_a_dataset_says_itself_what_it_is_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    edition(tmp_path)
    assert run(["import", "manuscripts", "rope.xml", "--out", "rope"]) == 0
    assert run(["check", "rope"]) == 0
    assert run(["export", "rope", "--format", "page", "--out", "pages"]) == 0
    assert sorted(path.name for path in Path("pages/page").iterdir()) == ["rope_3r.xml", "rope_3v.xml"]
    assert run(["check", "manuscripts"]) == 2
    assert "name the folder of the dataset after manuscripts" in capsys.readouterr().err


def test_failures_among_answers_are_not_exported_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    export = escriptorium_export(tmp_path)
    assert run(["import", "manuscripts", str(export), "--out", "psalter"]) == 0
    answers = [
        {"document": "leaf_12", "text": '{"folios": [{"folio": "12", "text": "x"}]}'},
        {"document": "leaf_13", "error": "refused"},
    ]
    Path("a.jsonl").write_text("\n".join(map(json.dumps, answers)), "utf-8")
    capsys.readouterr()
    assert run(["export", "manuscripts", "psalter", "--answers", "a.jsonl", "--format", "plain", "--out", "out"]) == 0
    printed = capsys.readouterr().out
    assert "left out: an answer that is a failure (leaf_13: refused)" in printed
    assert sorted(path.name for path in Path("out").iterdir()) == ["leaf_12.txt"]
    assert Path("out/leaf_12.txt").read_text("utf-8") == "x\n"
