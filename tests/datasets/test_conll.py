"""CoNLL columns as programs write them: which columns are read, schemes, odd tokens and types."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from format_sources import entities, read, sources
from histeval import load_dataset, score
from histeval.datasets.formats import FORMATS, find_format
from histeval.datasets.transfer import export_dataset, import_answers, import_dataset
from histeval.entities import convert_tags
from histeval.errors import DatasetError, UsageError
from support import examples

CONLL_2003 = """-DOCSTART- -X- -X- O

Hafenamt NNP B-NP B-ORG
# NN I-NP O
Basler JJ I-NP B-MISC
Fahrt NN I-NP I-MISC

Petr NNP B-NP B-PER
Novák NNP I-NP I-PER

-DOCSTART- -X- -X- O

Lyon NNP B-NP B-LOC
"""


def test_conll_2003_with_its_chunks() -> None:
    documents, report = read("conll", {"eng.testb": CONLL_2003})
    assert [entities(d) for d in documents] == [
        [("ORG", "Hafenamt"), ("MISC", "Basler Fahrt")], [("PER", "Petr Novák")], [("LOC", "Lyon")]
    ]  # fmt: skip
    assert documents[0].text == "Hafenamt # Basler Fahrt"
    assert [d.attributes["source"] for d in documents] == ["eng-1", "eng-1", "eng-2"]
    assert report.left_out == {"columns": ["eng.testb: column 2", "eng.testb: column 3"]}
    assert "eng.testb, level 1: tags read as IOB2" in report.notes


def test_a_document_may_be_what_docstart_begins_or_a_file() -> None:
    whole, _ = read("conll", {"eng.testb": CONLL_2003}, document="docstart")
    assert [d.text for d in whole] == ["Hafenamt # Basler Fahrt\nPetr Novák", "Lyon"]
    assert entities(whole[0])[-1] == ("PER", "Petr Novák")
    (one,), _ = read("conll", {"eng.testb": CONLL_2003}, document="file")
    assert (one.id, entities(one)[-1]) == ("eng", ("LOC", "Lyon"))


def test_germeval_with_numbers_and_two_levels() -> None:
    text = (
        "#\thttp://example.org/a [2012-01-01]\n1\tAmt\tB-ORG\tO\n2\tBasel\tI-ORG\tB-LOC\n3\t#\tO\tO\n\n"
        "#\thttp://example.org/b\n1\tbasler\tB-LOCderiv\tO\n"
    )
    documents, _ = read("conll", {"train.tsv": text})
    assert [entities(d) for d in documents] == [[("ORG", "Amt Basel"), ("LOC", "Basel")], [("LOCderiv", "basler")]]
    assert documents[0].text == "Amt Basel #"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "# global.columns = ID FORM NER MISC\n1 r. O SpaceAfter=No\n2 Noire B-LOC _\n"),
        ({}, "token\tlemma\tNE-type\nr.\tr\tO\nNoire\tnoir\tB-LOC\n"),
        ({"columns": "token _ level1"}, "r.\tr\tO\nNoire\tnoir\tB-LOC\n"),
        ({"columns": ["_", "level1", "token"]}, "r\tO\tr.\nnoir\tB-LOC\tNoire\n"),
        ({"columns": {"token": 1, "level1": "3"}}, "r. r O x\nNoire noir B-LOC x\n"),
        ({"columns": {"token": "w", "level1": "t"}}, "# global.columns = w t\nr. O\nNoire B-LOC\n"),
    ],
)
def test_roles_of_columns(options: dict[str, object], text: str) -> None:
    (document,), _ = read("conll", {"a.conll": text}, **options)
    assert entities(document) == [("LOC", "Noire")]
    assert document.text == ("r.Noire" if "SpaceAfter" in text else "r. Noire")


@pytest.mark.parametrize("scheme", ["IO", "IOB1", "IOB2", "IOBES", "BILOU"])
def test_every_scheme_is_read_and_named(scheme: str) -> None:
    tags = convert_tags(["B-A", "B-A", "I-A", "O", "I-B-c", "I-B-c"], "IOB2" if scheme == "IO" else scheme)
    if scheme == "IO":
        tags = convert_tags(tags, "IO")
    text = "\n".join(f"w{i}\t{tag}" for i, tag in enumerate(tags))
    (document,), report = read("conll", {"a.conll": text})
    expected = [("A", "w0 w1 w2")] if scheme == "IO" else [("A", "w0"), ("A", "w1 w2")]
    assert entities(document) == [*expected, ("B-c", "w4 w5")]
    assert report.notes == [f"a.conll, level 1: tags read as {scheme}"]
    assert not report.repaired


def test_tags_that_break_their_scheme_are_read_and_named() -> None:
    (document,), report = read("conll", {"a.conll": "a\tB-X\nb\tO\nc\tI-X\n"})
    assert entities(document) == [("X", "a"), ("X", "c")]
    assert report.repaired == {"tags that IOB2 does not allow, read leniently": ["a.conll, line 1"]}


def test_a_hyphen_parts_only_a_known_prefix() -> None:
    plain, _ = read("conll", {"a.conll": "a\tE-mail\nb\tplace-name\nc\tO\n"})
    assert entities(plain[0]) == [("E-mail", "a"), ("place-name", "b")]
    prefixed, _ = read("conll", {"a.conll": "a\tB-E-mail\nb\tI-E-mail\nc\tloc-adm\n"})
    assert entities(prefixed[0]) == [("E-mail", "a b"), ("loc-adm", "c")]


@pytest.mark.parametrize("first", ["#", "#Basel", "#͛", "##"])
def test_a_token_may_begin_with_a_number_sign_wherever_it_stands(first: str) -> None:
    (document,), _ = read("conll", {"a.conll": f"# a remark\n{first}\tB-X\nb\tO\n{first}\tB-X\n"})
    assert entities(document) == [("X", first), ("X", first)]
    if first != "#":
        (document,), _ = read("conll", {"a.conll": f"{first}\tplace\nb\tO\n"})
        assert entities(document) == [("place", first)]


def test_parts_of_a_split() -> None:
    files: dict[str, str | bytes] = {"x.train.conll": "a\tB-X\n", "x.dev.conll": "b\tO\n", "x.test.conll": "c\tB-X\n"}
    documents, _ = read("conll", files)
    assert [(d.id, d.attributes["split"]) for d in documents] == [
        ("x.train-0", "train"), ("x.dev-0", "dev"), ("x.test-0", "test")
    ]  # fmt: skip


def test_answers_in_other_tokens_are_scored_by_characters(tmp_path: Path) -> None:
    (tmp_path / "truth.conll").write_text("Dr.\tB-PER\nAubin\tI-PER\n,\tO\nr.Noire\tB-LOC\n", encoding="utf-8")
    (tmp_path / "answer.conll").write_text(
        "Dr\tB-PER\n.\tI-PER\nAubin\tI-PER\n,\tO\nr\tO\n.\tO\nNoire\tB-LOC\n", encoding="utf-8"
    )
    import_dataset("directories", [tmp_path / "truth.conll"], tmp_path / "d")
    import_answers("directories", [tmp_path / "answer.conll"], tmp_path / "a.jsonl")
    counts = score("directories", tmp_path / "d", tmp_path / "a.jsonl", protocol="corrected").as_json()["counts"]
    assert (counts["All/PER_tp"], counts["All/LOC_tp"], counts["All/LOC_fp"], counts["All/LOC_fn"]) == (1, 0, 1, 1)


def test_exported_truth_is_a_perfect_answer_without_an_import(tmp_path: Path) -> None:
    """`score` reads what `export` writes, comments and all."""
    (tmp_path / "truth.conll").write_text("a\tB-X\tO\nb\tI-X\tB-Y\n#\tO\tO\n\nc\tB-Y\tO\n", encoding="utf-8")
    import_dataset("directories", [tmp_path / "truth.conll"], tmp_path / "d")
    data = load_dataset("directories", tmp_path / "d")
    export_dataset(data, "conll", tmp_path / "e.conll", {"scheme": "IOBES"})
    result = score("directories", data, tmp_path / "e.conll", protocol="corrected").as_json()
    assert result["metrics"]["f1[All]"]["value"] == 1.0
    assert "S-Y" in (tmp_path / "e.conll").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a\tB-X\nb\tO\tO\n", "line 2: has 3 columns where the lines before have 2"),
        ("a\tx\nb\ty\n", "line 1: has no column of labels"),
        ("# text = other words\na\tB-X\n", "line 2: has tokens that its text does not have"),
        ("# text_json = [1]\na\tB-X\n", "has a comment text_json that is no JSON text"),
        ("\ta\tB-X\n \tb\tO\n", "line 1: has an empty token"),
        ("# id = 1\n\n", "holds no token"),
    ],
)
def test_faults_name_their_line(text: str, sentence: str) -> None:
    with pytest.raises(DatasetError, match=sentence):
        read("conll", {"a.conll": text})


@pytest.mark.parametrize(
    "options",
    [{"columns": "token"}, {"columns": "token level1 lemma"}, {"columns": 3}, {"scheme": "XYZ"}, {"document": "page"}],
)
def test_options_that_make_no_sense(options: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=r"^the option"):
        read("conll", {"a.conll": "a\tB-X\tO\n"}, **options)


def test_formats_are_told_apart() -> None:
    files: dict[str, dict[str, str | bytes]] = {
        "conll": {"a.txt": CONLL_2003},
        "hipe": {"a.tsv": "# a = b\nTOKEN\tNE-COARSE-LIT\nx\tO\n"},
        "brat": {"a.ann": "T1\tX 0 1\ta\n", "a.txt": "a b, c d\n"},
        "jsonl": {"a.jsonl": '{"id": "1", "text": "a", "spans": []}\n'},
        "doccano": {"a.jsonl": '{"id": 1, "text": "a", "label": [[0, 1, "X"]]}\n'},
        "label_studio": {"a.json": '[{"id": 1, "data": {"text": "a"}, "annotations": []}]'},
        "inline": {"a.txt": "<PER>Aubin</PER>, r. Noire\n"},
        "spacy": {"a.spacy": b"\x78\x9c\x00"},
    }
    for name, content in files.items():
        assert find_format("directories", sources(content)).name == name
    with pytest.raises(DatasetError, match="is in no format that directories can be read from"):
        find_format("directories", sources({"a.txt": "Some words, and more.\n"}))


@settings(max_examples=examples(60), deadline=None)
@given(st.text(alphabet="a#BIO-X \t\n=_E,", max_size=60))
def test_whatever_stands_in_a_file_is_read_or_refused(text: str) -> None:
    FORMATS["conll"].sniff(sources({"a.conll": text})[0])
    with contextlib.suppress(DatasetError):
        read("conll", {"a.conll": text})


@pytest.mark.parametrize(
    ("second", "bare"), [("B_PER", "B_PER"), ("XYZ", "XYZ"), ("B-", "B-"), ("I-PER", ""), ("O", ""), ("_", "")]
)
def test_tags_without_a_prefix_among_those_with_one_are_named(second: str, bare: str, tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text(f"Hans B-PER\nKern {second}\n, O\nBasel I-LOC\n", encoding="utf-8")
    report = import_dataset("directories", [tmp_path / "a.conll"], tmp_path / "out")
    named = report.repaired.get("tags without a prefix such as B- or I-, read as a type of their own", [])
    assert named == ([f"a.conll, level 1: {bare}"] if bare else [])
