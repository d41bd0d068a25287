"""Directory entries: the published files with their counts, and a stranger's entries in four forms."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.datasets import load_dataset, trade
from histeval.datasets.base import Dataset
from histeval.datasets.directories import EntryReader
from histeval.datasets.files import read_json
from histeval.datasets.spans import entry_from_offsets
from histeval.errors import DatasetError, UsageError
from support import DATA, examples, needs_data

PUBLISHED = DATA / "directories"

# Entities of files 10 and 41 (31 has the same), and of the parts of the split, by parent and type.
ENTITIES = {
    (None, "PER"): (8779, 8446, 6085, 676, 1685),
    (None, "ACT"): (6139, 5929, 4395, 503, 1031),
    (None, "DESC"): (392, 371, 262, 30, 79),
    (None, "SPAT"): (8992, 8655, 6214, 694, 1747),
    (None, "TITRE"): (14, 13, 11, 2, 0),
    ("PER", "TITREH"): (337, 301, 225, 33, 43),
    ("DESC", "ACT"): (266, 252, 173, 16, 63),
    ("DESC", "TITREP"): (104, 94, 54, 7, 33),
    ("SPAT", "LOC"): (9779, 9421, 6871, 762, 1788),
    ("SPAT", "CARDINAL"): (8757, 8420, 5991, 678, 1751),
    ("SPAT", "FT"): (76, 76, 55, 7, 14),
}


def entities(dataset: Dataset) -> Counter[tuple[str | None, str]]:
    found: Counter[tuple[str | None, str]] = Counter()
    for document in dataset.documents.values():
        spans = document.truth.spans
        found.update((spans[span.parent].type if span.parent is not None else None, span.type) for span in spans)
    return found


@needs_data
@pytest.mark.data
class TestPublished:
    @pytest.mark.parametrize(
        ("column", "split", "text", "entries"),
        [
            (0, "all", "complete", 8772),
            (1, "all", "reference", 8445),
            (1, "all", "ocr", 8445),
            (2, "train", "reference", 6084),
            (3, "dev", "ocr", 676),
            (4, "test", "reference", 1685),
            (4, "test", "ocr", 1685),
        ],
    )
    def test_entities(self, column: int, split: str, text: str, entries: int) -> None:
        dataset = load_dataset("directories", PUBLISHED, text=text, split=split)
        assert len(dataset.documents) == entries
        assert entities(dataset) == Counter({key: counts[column] for key, counts in ENTITIES.items() if counts[column]})

    def test_pages_are_the_units(self) -> None:
        dataset = load_dataset("directories", PUBLISHED / "dataset")
        assert len({document.unit for document in dataset.documents.values()}) == 13
        first = next(iter(dataset.documents.values()))
        assert (first.id, first.unit, first.attributes["book"]) == ("4655", "Didot_1851a/92", "Didot_1851a")
        assert dataset.description.unit == "page"
        assert (dataset.name, dataset.description.published) == ("trade_directories", "2023-02")

    def test_the_split_is_the_published_one(self) -> None:
        """The parts come from the package: the file beside the data is the witness."""
        rows = trade.read_rows(PUBLISHED / "dataset" / trade.TEXTS["reference"])
        parts = trade.read_split(Path("nowhere/at/all"), rows)
        published = read_json(PUBLISHED / "split_indices.json")[0]
        assert parts == {str(row): part for part, numbers in published.items() for row in numbers}

    def test_what_was_dropped_is_said(self) -> None:
        notes = load_dataset("directories", PUBLISHED).notes
        assert notes[0] == "8445 of 8765 entries: 320 were dropped where OCR lost an entity"
        assert "split test: 1685 of 8445 entries" in notes

    def test_texts(self) -> None:
        """Line breaks are U+2029 (5343 in OCR); entities of XML are resolved; quotes stay in rows that CSV breaks."""
        ocr = load_dataset("directories", PUBLISHED, text="ocr", split="all")
        texts = [document.text or "" for document in ocr.documents.values()]
        assert sum(text.count("\u2029") for text in texts) == 5343
        assert not any("&apos;" in text or "&quot;" in text or "&amp;" in text for text in texts)
        rows = trade.read_rows(PUBLISHED / "dataset" / trade.TEXTS["reference"])
        assert sum('"' in row.markup for row in rows) == 4
        assert len({row.book for row in rows}) == 18

    def test_only_the_entries_of_the_split_are_parsed_each_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Speed is no matter of a clock here: parsing is what costs, and only what was asked for is parsed."""
        parsed: list[str] = []
        read = EntryReader.read

        def counted(self: EntryReader, raw: Any) -> Any:
            parsed.append(raw.id)
            return read(self, raw)

        monkeypatch.setattr(EntryReader, "read", counted)
        load_dataset("directories", PUBLISHED)
        assert len(parsed) == len(set(parsed)) == 1685

    def test_without_pages_the_book_is_the_unit(self, make: Any) -> None:
        path = f"dataset/{trade.TEXTS['reference']}"
        dataset = load_dataset("directories", make({path: (PUBLISHED / path).read_bytes()}))
        assert (len(dataset.documents), dataset.description.unit) == (1685, "book")
        assert len({document.unit for document in dataset.documents.values()}) == 3
        with pytest.raises(DatasetError, match=r"31-ner_align_pero/gold.csv: there is no such file"):
            load_dataset("directories", dataset.path, text="ocr")


def test_the_line_pattern(make: Any) -> None:
    dataset = load_dataset("directories", make("trade"))
    assert [document.text for document in dataset.documents.values()] == ["Roux, 3", 'Le "Vif"']
    assert [document.unit for document in dataset.documents.values()] == ["Bon_1801/1", "Bon_1801/2"]
    assert "no split is known: all 2 entries are read" in dataset.notes
    ocr = load_dataset("directories", dataset.path, text="ocr")
    assert [document.text for document in ocr.documents.values()] == ["Rou'x, 3", "Le Vii"]
    assert ocr.name == "trade_directories-ocr"


def test_a_split_of_ones_own(make: Any) -> None:
    folder = make("trade", {"split_indices.json": {"train": [0], "test": [1]}})
    assert list(load_dataset("directories", folder).documents) == ["1"]
    assert list(load_dataset("directories", folder, split="train").documents) == ["0"]
    assert list(load_dataset("directories", folder, split="all").documents) == ["0", "1"]
    with pytest.raises(DatasetError, match=r"has no entries of split dev\. Use --split all"):
        load_dataset("directories", folder, split="dev")
    with pytest.raises(UsageError, match="there is no split 'tset'; there are test, train"):
        load_dataset("directories", folder, split="tset")
    with pytest.raises(UsageError, match="there is no text 'orc'; there are reference, ocr, complete"):
        load_dataset("directories", folder, text="orc")


def test_entries_in_four_forms_are_the_same(make: Any) -> None:
    """JSON Lines of markup and of offsets, a CSV table, and lines of markup give one truth."""
    lines = make("directories", name="lines")
    first = load_dataset("directories", lines)
    markup = [
        "<PER>Roux</PER>, <SPAT><LOC>r. Noire</LOC>, 3</SPAT>.",
        "<PER>Blanc</PER>, <SPAT><LOC>r. Verte</LOC></SPAT>",
    ]
    base = {"dataset.toml": (lines / "dataset.toml").read_text()}
    table = "\n".join(["id,xml,page", *(f'{name},"{text}",1' for name, text in zip("ab", markup, strict=True))])
    second = load_dataset("directories", make({**base, "entries.csv": table}, name="table"))
    assert first.fingerprint == second.fingerprint
    assert first.documents["b"].attributes == second.documents["b"].attributes == {"page": "1", "language": "fr"}
    assert first.documents["a"].unit == "1"
    third = load_dataset("directories", make({**base, "entries.txt": "\n".join(["", *markup])}, name="plain"))
    assert list(third.documents) == ["0", "1"]
    for name, number in (("a", "0"), ("b", "1")):
        assert third.documents[number].truth.spans == first.documents[name].truth.spans


def test_types_are_taken_from_the_truth_where_none_are_named(make: Any) -> None:
    dataset = load_dataset("directories", make("directories", {"dataset.toml": 'task = "directories"\nname = "x"\n'}))
    assert [(t.name, t.children, t.root) for t in dataset.description.types] == [
        ("LOC", (), False),
        ("PER", (), True),
        ("SPAT", ("LOC",), True),
    ]
    assert "dataset.toml names no types; the truth has LOC, PER, SPAT" in dataset.notes


def test_another_text_and_split_of_ones_own_entries(make: Any) -> None:
    settings = 'task = "directories"\nname = "x"\n[truth]\nfile = "t.csv"\n[truth.texts]\nocr = "o.csv"\n'
    table = "id,xml,split\na,<PER>A</PER>,train\nb,<PER>B</PER>,test\n"
    folder = make({"dataset.toml": settings, "t.csv": table, "o.csv": table.replace(">B<", ">8<")})
    assert [d.text for d in load_dataset("directories", folder, text="ocr").documents.values()] == ["8"]
    with pytest.raises(UsageError, match="the dataset x has no text 'old'; it has reference, ocr"):
        load_dataset("directories", folder, text="old")


trees = st.recursive(
    st.builds(lambda text: text, st.text("ab ", min_size=1, max_size=3)),
    lambda inner: st.tuples(st.sampled_from("XYZ"), st.lists(inner, min_size=1, max_size=3)),
    max_leaves=8,
)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(trees, max_size=4), st.randoms(use_true_random=False))
def test_offsets_in_any_order_give_the_tree_back(forest: list[Any], random: Any) -> None:
    """A forest of elements, flattened to offsets with parents and shuffled, is nested again as it was."""
    text, spans, expected = [], list[dict[str, Any]](), list[tuple[Any, ...]]()

    def walk(node: Any, parent: int | None) -> None:
        if isinstance(node, str):
            text.append(node)
            return
        index = len(spans)
        start = sum(map(len, text))
        spans.append({"type": node[0], "start": start, "parent": parent})
        for child in node[1]:
            walk(child, index)
        spans[index]["end"] = sum(map(len, text))

    for tree in forest:
        walk(tree, None)
    expected = [(span["type"], span["start"], span["end"], span["parent"]) for span in spans]
    order = list(range(len(spans)))
    random.shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    shuffled = [{**spans[old], "parent": place.get(spans[old]["parent"])} for old in order]
    entry = entry_from_offsets("".join(text), shuffled)
    assert [(span.type, span.start, span.end, span.parent) for span in entry.spans] == expected


@pytest.mark.parametrize(
    ("spans", "sentence"),
    [
        ([{"type": "X", "start": 0, "end": 0}], r"span 0 \(X, 0 to 0\) is empty"),
        ([{"type": "X", "start": 1, "end": 99}], r"span 0 \(X, 1 to 99\) does not lie in the text of 6"),
        ([{"type": "X", "start": -1, "end": 2}], "does not lie in the text"),
        ([{"type": "X", "start": 0}], "span 0 is not an object with type, start and end"),
        ([{"type": "X", "start": 0, "end": 2.0}], "span 0 is not an object with type, start and end"),
        ([{"type": "X", "start": 0, "end": True}], "span 0 is not an object with type, start and end"),
        (["X"], "span 0 is not an object"),
        (
            [{"type": "X", "start": 0, "end": 4}, {"type": "Y", "start": 2, "end": 6}],
            r"span 1 \(Y, 2 to 6\) crosses another",
        ),
        ([{"type": "X", "start": 0, "end": 4, "parent": 5}], "span 0 names a parent that there is not"),
        ([{"type": "X", "start": 0, "end": 4, "parent": 0}], "span 0 has parents that run in a circle"),
    ],
)
def test_malformed_spans(spans: list[Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        entry_from_offsets("abcdef", spans)
