"""brat, inline XML, Label Studio, doccano, JSON Lines: files as the programs write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from format_sources import entities, read
from histeval import load_dataset
from histeval.datasets import check
from histeval.datasets.transfer import import_dataset
from histeval.errors import DatasetError

TEXT = "Aubin fils,\nr. Noire 5 😀 Quai"


def test_brat_nested_and_discontinuous() -> None:
    notes = (
        "T1\tPER 0 10\tAubin fils\nT2\tTITLE-H 6 10\tfils\nT3\tLOC 12 14;15 20\tr. Noire\n"
        "R1\tlives Arg1:T1 Arg2:T3\nA1\tOld T1\n#1\tAnnotatorNotes T1\tsic\nN1\tReference T3 Wikidata:Q1\tx\n"
        "T4\tLOC 25 29\tQuai\n"
    )
    (document,), report = read("brat", {"e/a.txt": TEXT, "e/a.ann": notes, "e/b.txt": "no annotation"})
    assert entities(document) == [("PER", "Aubin fils"), ("TITLE-H", "fils"), ("LOC", "r. Noire"), ("LOC", "Quai")]
    assert report.repaired == {"discontinuous entities, read from their first to their last character": ["e/a.ann: T3"]}
    assert set(report.left_out) == {
        "relations", "attributes of entities", "notes", "links to knowledge bases", "texts without annotations"
    }  # fmt: skip
    left, report = read("brat", {"a.txt": TEXT, "a.ann": notes}, discontinuous="leave_out")
    assert report.left_out["discontinuous entities"] == ["a.ann: T3"]
    assert len(left[0].spans) == 3


@pytest.mark.parametrize(
    ("notes", "sentence"),
    [
        ("T1\tPER 0 99\tAubin\n", "line 1, T1: has an entity PER from 0 to 99 in a text of 29 characters"),
        ("T1\tPER 5 5\t\n", "line 1, T1: has an entity PER that is empty"),
        ("T1\tPER 1 6\tAubin\n", "line 1, T1: says 'Aubin' where the text has 'ubin '"),
        ("T1\tPER 0 5\tAubin\nT1\tPER 0 5\tAubin\n", "line 2, T1: stands a second time"),
        ("T1 PER 0 5 Aubin\n", "line 1: is no annotation of brat"),
        ("T1\tPER five 5\tAubin\n", "line 1: is no annotation of brat"),
    ],
)
def test_brat_faults(notes: str, sentence: str) -> None:
    with pytest.raises(DatasetError, match=sentence):
        read("brat", {"a.txt": TEXT, "a.ann": notes})


def test_brat_without_its_text() -> None:
    with pytest.raises(DatasetError, match=r"a\.ann: has no text file of the same name beside it"):
        read("brat", {"a.ann": "T1\tPER 0 5\tAubin\n"})


def test_inline_lines_keep_hyphens_and_name_faults() -> None:
    documents, report = read("inline", {"a.txt": "<PER>Aubin <TITRE-H>fils</TITRE-H></PER> &amp; C<br/>\n\nrien\n"})
    assert entities(documents[0]) == [("PER", "Aubin fils"), ("TITRE-H", "fils")]
    assert [d.text for d in documents] == ["Aubin fils & C", "rien"]
    assert report.left_out == {"elements without text": ["a.txt, line 1: br"]}
    with pytest.raises(DatasetError, match="line 2, character 9: the element B is still open where A ends"):
        read("inline", {"a.txt": "x\n<A>a<B>b</A></B>\n"})


def test_inline_document_with_entries_and_editorial_elements() -> None:
    xml = (
        '<?xml version="1.0"?>\n<directory><entry xml:id="p3-1" page="3"><PER>Aubin <hi>fils</hi></PER>, '
        '<rs type="trade">drapier</rs><lb/> <SPAT><LOC>r. Noire</LOC> <n>5</n></SPAT></entry><entry>rien</entry>'
        "</directory>"
    )
    documents, report = read("inline", {"a.xml": xml})
    assert [d.id for d in documents] == ["p3-1", "1"]
    assert documents[0].attributes == {"page": "3"}
    assert entities(documents[0]) == [
        ("PER", "Aubin fils"), ("trade", "drapier"), ("SPAT", "r. Noire 5"), ("LOC", "r. Noire"), ("n", "5")
    ]  # fmt: skip
    assert report.left_out == {f"elements {name} (their text is kept)": ["a.xml: p3-1"] for name in ("hi", "lb")}
    skipped, _ = read("inline", {"a.xml": xml}, skip="hi lb n")
    assert ("n", "5") not in entities(skipped[0])


def label_studio(**changes: Any) -> str:
    region = {"start": 0, "end": 10, "text": "Aubin fils", "labels": ["PER"]}
    results = [
        {"from_name": "label", "to_name": "text", "type": "labels", "value": region},
        {"from_name": "label", "to_name": "text", "type": "labels",
         "value": {"start": 26, "end": 30, "text": "Quai", "labels": ["LOC", "Old name"]}},
        {"from_name": "c", "to_name": "text", "type": "choices", "value": {"choices": ["ok"]}},
    ]  # fmt: skip
    task = {
        "id": 17,
        "data": {"text": TEXT, "page": 3, "ref": "x"},
        "annotations": [
            {"was_cancelled": True, "result": []},
            {"was_cancelled": False, "result": results},
            {"was_cancelled": False, "result": []},
        ],
        "predictions": [{"result": results[:1]}],
    }
    return json.dumps([{**task, **changes}])


def test_label_studio_takes_one_annotation_and_says_what_it_left() -> None:
    (document,), report = read("label_studio", {"project-1.json": label_studio()})
    # Label Studio counted the sign 😀 as two.
    assert entities(document) == [("PER", "Aubin fils"), ("LOC", "Quai"), ("Old name", "Quai")]
    assert (document.id, document.attributes) == ("17", {"page": "3", "ref": "x"})
    assert report.repaired == {"offsets in UTF-16 units, read as such": ["17"]}
    assert report.left_out == {
        "skipped annotations": ["17"], "further annotations of a task": ["17: 1"], "results of type choices": ["17"]
    }  # fmt: skip
    (last,), _ = read("label_studio", {"a.json": label_studio()}, annotation="last")
    (machine,), _ = read("label_studio", {"a.json": label_studio()}, annotation="prediction")
    assert (last.spans, entities(machine)) == ([], [("PER", "Aubin fils")])


def test_label_studio_minimal_export() -> None:
    task = {"id": 1, "text": "Aubin", "label": [{"start": 0, "end": 5, "text": "Aubin", "labels": ["PER"]}],
            "annotator": 1}  # fmt: skip
    (document,), _ = read("label_studio", {"a.json": json.dumps([task])})
    assert entities(document) == [("PER", "Aubin")]
    with pytest.raises(DatasetError, match=r"task 17: has no text under body\. Name the key of the text"):
        read("label_studio", {"a.json": label_studio()}, text="body")


def test_doccano_of_both_kinds() -> None:
    lines = [
        {"id": 7, "text": "Aubin fils", "label": [[0, 5, "PER"]], "Comments": ["?"], "page": "3"},
        {"id": 8, "text": "Aubin fils", "entities": [{"id": 1, "label": "PER", "start_offset": 0, "end_offset": 5}],
         "relations": [{"id": 2}]},
        {"id": 9, "text": "😀 Quai", "labels": [[3, 7, "LOC"]]},
    ]  # fmt: skip
    text = "\n".join(json.dumps(line) for line in lines)
    documents, report = read("doccano", {"all.jsonl": text}, offsets="utf16")
    assert [entities(d) for d in documents] == [[("PER", "Aubin")], [("PER", "Aubin")], [("LOC", "Quai")]]
    assert documents[0].attributes == {"page": "3"}
    assert report.left_out == {"comments": ["7: 1"], "relations": ["8: 1"]}
    with pytest.raises(DatasetError, match="line 3, 9: has an entity LOC from 3 to 7 in a text of 6 characters"):
        read("doccano", {"all.jsonl": text})


def test_json_lines_of_our_own() -> None:
    text = (
        '{"id": "a", "xml": "<PER>Aubin</PER>"}\n{"id": 2, "text": "r. Noire", "spans": [{"type": "LOC", "start": 0,'
        ' "end": 8}], "attributes": {"page": 3}}\n'
    )
    documents, _ = read("jsonl", {"a.jsonl": text})
    assert [(d.id, entities(d)) for d in documents] == [("a", [("PER", "Aubin")]), ("2", [("LOC", "r. Noire")])]


def test_types_of_other_programs_get_names_that_a_dataset_can_have(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        json.dumps({"id": 1, "text": "ab", "label": [[0, 1, "Person name"], [1, 2, "2nd/x"], [0, 2, "O"]]}), "utf-8"
    )
    report = import_dataset("directories", [tmp_path / "a.jsonl"], tmp_path / "d")
    assert [kind.name for kind in load_dataset("directories", tmp_path / "d").description.types] == [
        "O_", "Person_name", "_2nd_x"
    ]  # fmt: skip
    assert len(next(iter(report.repaired.values()))) == 3
    assert not [fault for fault in check("directories", tmp_path / "d") if fault.error]
    (tmp_path / "b.jsonl").write_text(
        json.dumps({"id": 1, "text": "ab", "label": [[0, 1, "a b"], [1, 2, "a_b"]]}), "utf-8"
    )
    with pytest.raises(DatasetError, match="has the entity types 'a b' and 'a_b', which would both be called a_b"):
        import_dataset("directories", [tmp_path / "b.jsonl"], tmp_path / "e")


def test_nesting_is_learnt_to_any_depth(tmp_path: Path) -> None:
    """Nine levels, a type inside itself: what is described is what is scored."""
    text = "abcdefghi"
    spans = [[level, 9, "ABA"[level % 3] + ("" if level < 5 else str(level))] for level in range(9)]
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": 1, "text": text, "label": spans}), "utf-8")
    import_dataset("directories", [tmp_path / "a.jsonl"], tmp_path / "d")
    from histeval import score

    answer = {"1": {"spans": [{"type": t, "start": s, "end": e} for s, e, t in spans]}}
    result = score("directories", tmp_path / "d", answer, protocol="corrected").as_json()
    assert result["metrics"]["f1[All]"]["value"] == 1.0
    assert sum(v for k, v in result["counts"].items() if k.startswith("All/") and k.endswith("_tp")) == 9
    assert not [fault for fault in check("directories", tmp_path / "d") if fault.error]


def test_crossing_entities_are_refused_or_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("abcdef", "utf-8")
    (tmp_path / "a.ann").write_text("T1\tX 0 4\tabcd\nT2\tY 2 6\tcdef\nT3\tZ 4 6\tef\n", "utf-8")
    sources = [tmp_path / "a.txt", tmp_path / "a.ann"]
    with pytest.raises(DatasetError, match="a: has an entity Y from 2 to 6 that crosses another"):
        import_dataset("directories", sources, tmp_path / "d")
    assert not (tmp_path / "d").exists()
    report = import_dataset("directories", sources, tmp_path / "d", options={"overlaps": "drop"})
    assert report.left_out == {"entities that cross another": ["a: Y 2 to 6"]}
    (document,) = load_dataset("directories", tmp_path / "d").documents.values()
    assert [span.type for span in document.truth.spans] == ["X", "Z"]


def test_regions_that_say_nothing_are_named_or_refused(tmp_path: Path) -> None:
    region = {"type": "labels", "value": {"start": 0, "end": 1, "labels": []}}
    task = {"id": 1, "data": {"text": "ab"}, "annotations": [{"result": [region]}]}
    (tmp_path / "a.json").write_text(json.dumps([task]), encoding="utf-8")
    report = import_dataset("directories", [tmp_path / "a.json"], tmp_path / "out")
    assert report.left_out["regions without a label"] == ["1"]
    (tmp_path / "b.jsonl").write_text('{"id": 1, "text": "ab", "entities": ["PER"], "relations": []}', encoding="utf-8")
    with pytest.raises(DatasetError, match="has an entity without"):
        import_dataset("directories", [tmp_path / "b.jsonl"], tmp_path / "two")
