"""HIPE TSV: what is kept, and scores of nested entities against the definition worked out by hand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from histeval import load_dataset, score
from histeval.cli.app import run
from histeval.datasets import check
from histeval.datasets.transfer import export_dataset, import_answers, import_dataset
from histeval.errors import DatasetError, UsageError

COLUMNS = (
    *("TOKEN", "NE-COARSE-LIT", "NE-COARSE-METO", "NE-FINE-LIT", "NE-FINE-METO", "NE-FINE-COMP", "NE-NESTED"),
    *("NEL-LIT", "NEL-METO", "MISC"),
)


def tsv(*lines: str) -> str:
    """A HIPE file from lines of `token coarse fine component nested misc`; comments and empty lines as they are."""
    rows = ["\t".join(COLUMNS)]
    for line in lines:
        cells = line.split()
        if "=" in line or not cells:
            rows.append(line)
            continue
        token, coarse, fine, component, nested, misc = cells
        rows.append("\t".join((token, coarse, "O", fine, "O", component, nested, "_", "_", misc)))
    return "\n".join(rows) + "\n"


TRUTH = tsv(
    "# hipe2022:document_id = harbour-1902-03-04-a-p0001",
    "# hipe2022:language = de",
    "# hipe2022:date = 1902-03-04",
    "# segment_iiif_link = _",
    "Prof B-pers B-pers.ind B-comp.title O NoSpaceAfter",
    ". I-pers I-pers.ind I-comp.title O _",
    "Anna I-pers I-pers.ind B-comp.name O _",
    "von I-pers I-pers.ind I-comp.name O _",
    "Basel I-pers I-pers.ind I-comp.name B-loc.adm-town EndOfLine",
    "# O O O O _",
    "7 O O O O NoSpaceAfter",
    ", O O O O _",
    "Basel B-loc B-loc.adm-town O O EndOfSentence",
    "",
    "# hipe2022:document_id = harbour-1902-03-04-a-p0002",
    "# hipe2022:language = fr",
    "Quai B-loc B-loc.adm-quay O O _",
    "de I-loc I-loc.adm-quay O O _",
    "Lyon I-loc I-loc.adm-quay O B-loc.adm-town NoSpaceAfter",
    ". O O O O _",
)
# Other tokens (`Prof.` in one, `7,` in one), one entity missed, one of the wrong type, one too short.
ANSWER = tsv(
    "# hipe2022:document_id = harbour-1902-03-04-a-p0001",
    "Prof. B-pers B-pers.ind B-comp.title O _",
    "Anna I-pers I-pers.ind B-comp.name O _",
    "von I-pers I-pers.ind I-comp.name O _",
    "Basel I-pers I-pers.ind O B-loc.adm-town _",
    "# O O O O _",
    "7, O O O O _",
    "Basel B-org B-org O O _",
    "",
    "# hipe2022:document_id = harbour-1902-03-04-a-p0002",
    "Quai B-loc B-loc.adm-quay O O _",
    "de I-loc I-loc.adm-quay O O _",
    "Lyon I-loc I-loc.adm-quay O B-loc.adm-town _",
    ". O O O O _",
)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    (tmp_path / "truth.tsv").write_text(TRUTH, encoding="utf-8")
    import_dataset("directories", [tmp_path / "truth.tsv"], tmp_path / "harbour")
    return tmp_path / "harbour"


def test_text_types_and_tokens_are_kept(dataset: Path) -> None:
    found = load_dataset("directories", dataset)
    first, second = found.documents.values()
    assert first.text == "Prof. Anna von Basel\n# 7, Basel"
    assert second.text == "Quai de Lyon."
    assert [(s.type, s.start, s.end, s.parent) for s in first.truth.spans] == [
        ("pers.ind", 0, 20, None),
        ("comp.title", 0, 5, 0),
        ("comp.name", 6, 20, 0),
        ("loc.adm-town", 15, 20, 2),
        ("loc.adm-town", 26, 31, None),
    ]
    assert first.attributes["date"] == "1902-03-04"
    assert second.attributes["language"] == "fr"
    types = {kind.name: (kind.children, kind.root) for kind in found.description.types}
    assert types == {
        "pers.ind": (("comp.title", "comp.name"), True),
        "comp.title": ((), False),
        "comp.name": (("loc.adm-town",), False),
        "loc.adm-town": ((), True),
        "loc.adm-quay": (("loc.adm-town",), True),
    }
    assert not [fault for fault in check("directories", dataset) if fault.error]


def by_hand(truth: list[tuple[int, str, int, int]], answer: list[tuple[int, str, int, int]]) -> tuple[int, int, int]:
    """TP, FP and FN of entities that must agree in level, type, first and last character."""
    expected, found = Counter(truth), Counter(answer)
    hits = sum((expected & found).values())
    return hits, sum(found.values()) - hits, sum(expected.values()) - hits


def test_scores_equal_the_definition_by_hand(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "answer.tsv").write_text(ANSWER, encoding="utf-8")
    import_answers("directories", [tmp_path / "answer.tsv"], tmp_path / "answers.jsonl")
    result = score("directories", dataset, tmp_path / "answers.jsonl", protocol="corrected").as_json()
    assert result["failed"] == 0
    # Level, type, first character and the one after the last, in the text of the truth, read off the files above.
    truth = [
        [
            (1, "pers.ind", 0, 20), (2, "comp.title", 0, 5), (2, "comp.name", 6, 20), (3, "loc.adm-town", 15, 20),
            (1, "loc.adm-town", 26, 31),
        ],
        [(1, "loc.adm-quay", 0, 12), (2, "loc.adm-town", 8, 12)],
    ]  # fmt: skip
    answer = [
        [
            (1, "pers.ind", 0, 20), (2, "comp.title", 0, 5), (2, "comp.name", 6, 14), (2, "loc.adm-town", 15, 20),
            (1, "org", 26, 31),
        ],
        [(1, "loc.adm-quay", 0, 12), (2, "loc.adm-town", 8, 12)],
    ]  # fmt: skip
    for level in (1, 2, 3):
        sums = [0, 0, 0]
        for expected, found in zip(truth, answer, strict=True):
            chosen = by_hand([e for e in expected if e[0] == level], [e for e in found if e[0] == level])
            sums = [a + b for a, b in zip(sums, chosen, strict=True)]
        for kind, number in zip(("tp", "fp", "fn"), sums, strict=True):
            columns = {k: v for k, v in result["counts"].items() if k.startswith(f"L{level}/") and k.endswith(kind)}
            assert sum(columns.values()) == number, (level, kind, columns)
    tp, fp, fn = (sum(by_hand(*pair)[i] for pair in zip(truth, answer, strict=True)) for i in range(3))
    assert (tp, fp, fn) == (4, 3, 3)
    assert result["metrics"]["f1[All]"]["value"] == pytest.approx(2 * tp / (2 * tp + fp + fn))
    assert result["counts"]["L1/pers.ind_tp"] == 1
    assert result["counts"]["L1/other_fp"] == 1  # org, which the truth does not have


def test_another_tokenisation_of_the_truth_itself_scores_one(dataset: Path, tmp_path: Path) -> None:
    other = TRUTH.replace("Prof\tB-pers\tO\tB-pers.ind\tO\tB-comp.title\tO\t_\t_\tNoSpaceAfter\n.\t", "Prof.\t")
    other = other.replace("I-pers\tO\tI-pers.ind\tO\tI-comp.title", "B-pers\tO\tB-pers.ind\tO\tB-comp.title")
    assert other != TRUTH
    (tmp_path / "same.tsv").write_text(other, encoding="utf-8")
    import_answers("directories", [tmp_path / "same.tsv"], tmp_path / "same.jsonl")
    for protocol in ("documented", "corrected"):
        result = score("directories", dataset, tmp_path / "same.jsonl", protocol=protocol).as_json()
        assert result["metrics"]["f1[All]"]["value"] == 1.0


def test_layers_and_what_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "truth.tsv").write_text(TRUTH, encoding="utf-8")
    report = import_dataset("directories", [tmp_path / "truth.tsv"], tmp_path / "out", options={"layers": "coarse"})
    layers = [f"entities of the layer {x}" for x in ("components", "fine", "nested")]
    assert sorted(report.left_out) == [*layers, "flags EndOfSentence of MISC"]
    found = load_dataset("directories", tmp_path / "out")
    assert [kind.name for kind in found.description.types] == ["pers", "loc"]
    both = import_dataset("directories", [tmp_path / "truth.tsv"], tmp_path / "two", options={"layers": "coarse+fine"})
    assert "entities of the layer coarse" not in both.left_out
    spans = next(iter(load_dataset("directories", tmp_path / "two").documents.values())).truth.spans
    assert [(s.type, s.parent) for s in spans[:2]] == [("pers", None), ("pers.ind", 0)]
    with pytest.raises(UsageError, match="the option layers takes"):
        import_dataset("directories", [tmp_path / "truth.tsv"], tmp_path / "no", options={"layers": "middle"})


def test_export_gives_the_file_back(dataset: Path, tmp_path: Path) -> None:
    report = export_dataset(load_dataset("directories", dataset), "hipe", tmp_path / "back.tsv")
    assert report.lost == {}
    written = (tmp_path / "back.tsv").read_text(encoding="utf-8")
    entities = [line.split("\t")[:7] for line in TRUTH.split("\n") if "\t" in line]
    tokens = [cells[0] for cells in entities]
    assert [line.split("\t")[0] for line in written.split("\n") if "\t" in line] == tokens
    assert [line.split("\t")[:7] for line in written.split("\n") if "\t" in line] == entities
    import_dataset("directories", [tmp_path / "back.tsv"], tmp_path / "again")
    assert (
        load_dataset("directories", tmp_path / "again").fingerprint == load_dataset("directories", dataset).fingerprint
    )


def test_by_the_command_line(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "truth.tsv").write_text(TRUTH, encoding="utf-8")
    (tmp_path / "answer.tsv").write_text(ANSWER, encoding="utf-8")
    data, answers = str(tmp_path / "d"), str(tmp_path / "a.jsonl")
    for command in (
        ["import", "directories", str(tmp_path / "truth.tsv"), "--out", data],
        ["check", "directories", data],
        ["import", "directories", str(tmp_path / "answer.tsv"), "--answers", answers, "--dataset", data],
        ["score", "entities", data, answers, "--format", "json"],
    ):
        assert run(command) == 0
    assert json.loads(capsys.readouterr().out.strip().split("\n")[-1])["documents"] == 2


def test_older_files_name_documents_without_a_prefix(tmp_path: Path) -> None:
    (tmp_path / "old.tsv").write_text(TRUTH.replace("# hipe2022:", "# "), encoding="utf-8")
    import_dataset("directories", [tmp_path / "old.tsv"], tmp_path / "out")
    assert list(load_dataset("directories", tmp_path / "out").documents) == [
        "harbour-1902-03-04-a-p0001",
        "harbour-1902-03-04-a-p0002",
    ]


def test_a_row_with_a_column_too_few(tmp_path: Path) -> None:
    (tmp_path / "bad.tsv").write_text(TRUTH.replace("Quai\tB-loc\t", "Quai\t"), encoding="utf-8")
    with pytest.raises(DatasetError, match="line 18: has 9 columns where the first line names 10"):
        import_dataset("directories", [tmp_path / "bad.tsv"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_flags_and_comments_that_a_dataset_does_not_keep_are_named(tmp_path: Path) -> None:
    facts = ("# hipe2022:document_id = a", "# hipe2022:dataset = own", "# segment_iiif_link = https://x.example/1")
    text = tsv(
        *facts, "Basel B-loc B-loc.adm O O LED0.20|EndOfLine", ". O O O O EndOfSentence", "x O O O O Partial-0:1"
    )
    (tmp_path / "a.tsv").write_text(text, encoding="utf-8")
    report = import_dataset("directories", [tmp_path / "a.tsv"], tmp_path / "out")
    for flag in ("LED", "EndOfSentence", "Partial"):
        assert report.left_out[f"flags {flag} of MISC"] == ["a.tsv: 1"]
    assert report.left_out["comments segment_iiif_link"] == ["a"]
    back = export_dataset(load_dataset("directories", tmp_path / "out"), "hipe", tmp_path / "back.tsv")
    assert back.lost == {}
    assert "# hipe2022:dataset = own\n" in (tmp_path / "back.tsv").read_text(encoding="utf-8")
