"""Every count of the published trade directories, out of the reader and the converters.

Expected values: Tual et al. 2023 and its repository, as recomputed from the published files.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from functools import cache

import pytest

from histeval.datasets.trade import TEXTS, read_rows
from histeval.entities import (
    Encoded,
    Entry,
    Grammar,
    combined_tags,
    encode,
    entry_from_tags,
    flat_tags,
    joint_classes,
    joint_tags,
    level_tags,
    losses,
    parse_markup,
    plain_tokens,
    published_tokens,
    score_tags,
)
from histeval.entities.tags import Scheme
from histeval.entities.tokens import tokens_of_nodes
from histeval.tasks.directories import PUBLISHED_TYPES
from support import DATA, needs_data

pytestmark = [pytest.mark.data, needs_data]

GRAMMAR = Grammar.of(PUBLISHED_TYPES)
ROWS = {"complete": 8772, "reference": 8445, "ocr": 8445}
ENTITIES = {  # level, parent, type: in file 10, in 41 and 31, in train, dev and test
    (1, None, "PER"): (8779, 8446, 6085, 676, 1685),
    (1, None, "ACT"): (6139, 5929, 4395, 503, 1031),
    (1, None, "DESC"): (392, 371, 262, 30, 79),
    (1, None, "SPAT"): (8992, 8655, 6214, 694, 1747),
    (1, None, "TITRE"): (14, 13, 11, 2, 0),
    (2, "PER", "TITREH"): (337, 301, 225, 33, 43),
    (2, "DESC", "ACT"): (266, 252, 173, 16, 63),
    (2, "DESC", "TITREP"): (104, 94, 54, 7, 33),
    (2, "SPAT", "LOC"): (9779, 9421, 6871, 762, 1788),
    (2, "SPAT", "CARDINAL"): (8757, 8420, 5991, 678, 1751),
    (2, "SPAT", "FT"): (76, 76, 55, 7, 14),
}
TOKENS = {
    "reference": {"all": 100593, "train": 73157, "dev": 8056, "test": 19380},
    "ocr": {"all": 99136, "train": 72077, "dev": 7902, "test": 19157},
}
CHUNKS = {  # gold chunks on test, by text and scheme
    ("reference", "IO"): {"L1": 4542, "L2": 3691, "All": 8233, "L1+L2": 8295, "P-L1+P-L2": 8295, "Flat": 6408},
    ("ocr", "IO"): {"L1": 4542, "L2": 3690, "All": 8232, "L1+L2": 8271, "P-L1+P-L2": 8271, "Flat": 6407},
    ("reference", "IOB2"): {"L1": 4542, "L2": 3692, "All": 8234, "L1+L2": 8296, "P-L1+P-L2": 10466, "Flat": 6408},
    ("ocr", "IOB2"): {"L1": 4542, "L2": 3692, "All": 8234, "L1+L2": 8273, "P-L1+P-L2": 10454, "Flat": 6407},
}
MERGED = {  # what IO loses in the whole set
    "reference": {(1, "SPAT"): 1, (2, "LOC"): 4, (2, "TITREP"): 9},
    "ocr": {(1, "SPAT"): 2, (2, "LOC"): 4, (2, "TITREP"): 9},
}
JOINT = {  # IO joint gold chunks on test
    "reference": (1686, 43, 1031, 95, 63, 33, 1792, 1787, 1751, 14, 0),
    "ocr": (1686, 43, 1031, 94, 63, 32, 1770, 1787, 1751, 14, 0),
}


@cache
def entries(name: str) -> list[Entry]:
    rows = read_rows(DATA / "directories" / "dataset" / TEXTS[name])
    return [parse_markup(row.markup, GRAMMAR) for row in rows]


@cache
def parts() -> dict[str, list[int]]:
    found: dict[str, list[int]] = json.loads((DATA / "directories" / "split_indices.json").read_text())
    return {**found, "all": list(range(8445))}


def of(name: str, part: str) -> list[Entry]:
    return [entries(name)[row] for row in parts()[part]]


def kinds(found: list[Entry]) -> Counter[tuple[int, str | None, str]]:
    return Counter(
        (entry.depth(index), None if span.parent is None else entry.spans[span.parent].type, span.type)
        for entry in found
        for index, span in enumerate(entry.spans)
    )


@pytest.mark.parametrize("name", ["complete", "reference", "ocr"])
def test_entries_and_entities_by_level_parent_type_and_split(name: str) -> None:
    assert len(entries(name)) == ROWS[name]
    place = 0 if name == "complete" else 1
    assert kinds(entries(name)) == {key: row[place] for key, row in ENTITIES.items()}
    if name != "complete":
        for part, column in (("train", 2), ("dev", 3), ("test", 4)):
            assert kinds(of(name, part)) == {key: row[column] for key, row in ENTITIES.items() if row[column]}


@pytest.mark.parametrize("name", ["reference", "ocr"])
def test_published_tokens_of_every_split(name: str) -> None:
    counts = {part: sum(len(published_tokens(entry)) for entry in of(name, part)) for part in TOKENS[name]}
    assert counts == TOKENS[name]


@pytest.mark.parametrize(
    ("name", "nodes", "digest"),
    [
        ("reference", 65844, "344a533e197d2951556e7b361772b381f60c5ca512e55ba63a8054197b305b8b"),
        ("ocr", 65322, "b274dd741f2dba77652ad6d5df71e7dcc982055719cf0dc376348adc33838e7e"),
    ],
)
def test_tokens_are_those_of_nltk(name: str, nodes: int, digest: str) -> None:
    """The digests were made with NLTK 3.6.7: for each text node its tokens joined by tabs, and a line end."""
    found, number = hashlib.sha256(), 0
    for entry in entries(name):
        for node in entry.nodes or ():
            words = [token.text for token in tokens_of_nodes(entry.text, [node])]
            found.update(("\t".join(words) + "\n").encode())
            number += 1
    assert (number, found.hexdigest()) == (nodes, digest)


def test_shape_of_the_reference() -> None:
    sizes = [len(published_tokens(entry)) for entry in entries("reference")]
    assert (min(sizes), max(sizes), round(sum(sizes) / len(sizes), 1)) == (4, 140, 11.9)
    outlines = [
        [(s.type, None if s.parent is None else entry.spans[s.parent].type) for s in entry.spans]
        for entry in entries("reference")
    ]
    usual = [("PER", None), ("ACT", None), ("SPAT", None), ("LOC", "SPAT"), ("CARDINAL", "SPAT")]
    spat = [outline.count(("SPAT", None)) for outline in outlines]
    assert outlines.count(usual) == 5111
    assert (sum(n > 1 for n in spat), spat.count(0)) == (220, 22)
    assert sum(("DESC", None) in outline for outline in outlines) == 368
    assert Counter(outline.count(("PER", None)) for outline in outlines) == {1: 8442, 2: 2, 0: 1}
    lost = [losses(entry, published_tokens(entry)) for entry in entries("reference")]
    assert sum(len(one.trimmed) for one in lost) == 28


@pytest.mark.parametrize(("name", "edges", "entities"), [("reference", 28, 28), ("ocr", 288, 286)])
def test_white_space_inside_a_tag(name: str, edges: int, entities: int) -> None:
    """Edges of entities with white space; two entities of the OCR text have it at both."""
    found = [
        (text[:1].isspace(), text[-1:].isspace())
        for entry in entries(name)
        for text in (entry.text[span.start : span.end] for span in entry.spans)
    ]
    assert sum(map(sum, found)) == edges
    assert sum(map(any, found)) == entities


def test_both_texts_carry_the_same_tags() -> None:
    for one, other in zip(entries("reference"), entries("ocr"), strict=True):
        assert [(s.type, s.parent) for s in one.spans] == [(s.type, s.parent) for s in other.spans]


@pytest.mark.parametrize("name", ["reference", "ocr"])
def test_plain_tokens_cut_no_text_but_lose_boundaries(name: str) -> None:
    differ = sum(
        [t.text for t in published_tokens(entry)]
        != [t.text for t in published_tokens(Entry(entry.text, (), ((0, len(entry.text)),)))]
        for entry in of(name, "test")
    )
    assert differ == {"reference": 366, "ocr": 377}[name]


@pytest.mark.parametrize("scheme", ["IO", "IOB2"])
@pytest.mark.parametrize("name", ["reference", "ocr"])
def test_gold_chunks_of_every_column(name: str, scheme: Scheme) -> None:
    columns: dict[str, list[list[str]]] = {"L1": [], "L2": [], "L1+L2": [], "P-L1+P-L2": [], "Flat": []}
    for entry in of(name, "test"):
        levels = level_tags(entry, published_tokens(entry), scheme, sibling_continues=True)
        joint = joint_tags(levels, scheme)
        assert set(joint) <= set(joint_classes(GRAMMAR, scheme))
        rows = (*levels, combined_tags(levels, scheme), joint, flat_tags(levels, GRAMMAR))
        for column, row in zip(columns.values(), rows, strict=True):
            column.append(row)
    columns["All"] = columns["L1"] + columns["L2"]
    encoded: dict[str, Encoded] = {column: encode(rows) for column, rows in columns.items()}
    assert {column: len(one.chunks().ends) for column, one in encoded.items()} == CHUNKS[name, scheme]
    for column, one in encoded.items():
        score = score_tags(one, columns[column])
        assert (score.tp, score.f1) == (CHUNKS[name, scheme][column], 1.0)
    if scheme == "IO":
        by_class = Counter(chunk.type for chunk in encoded["P-L1+P-L2"].listed())
        labels = [label.removeprefix("I-") for label in joint_classes(GRAMMAR, "IO")[1:]]
        assert tuple(by_class[label] for label in labels) == JOINT[name]
        flat = Counter(chunk.type for chunk in encoded["Flat"].listed())
        assert flat == {
            "PER": 1686, "ACT": 1094, "LOC": 1787, "CARDINAL": 1751, "FT": 14,
            "TITRE": 76 if name == "reference" else 75,
        }  # fmt: skip


@pytest.mark.parametrize("name", ["reference", "ocr"])
def test_what_each_scheme_loses(name: str) -> None:
    merged: Counter[tuple[int, str]] = Counter()
    continued = Counter[str]()
    for part in ("train", "dev", "test"):
        for entry in of(name, part):
            tokens = published_tokens(entry)
            merged.update(losses(entry, tokens, "IO").merged)
            continued[part] += len(losses(entry, tokens, "IOB2", sibling_continues=True).merged)
            assert not losses(entry, tokens, "IOB2").merged
    assert merged == MERGED[name]
    if name == "reference":
        assert continued == {"train": 4, "dev": 1, "test": 0}


@pytest.mark.parametrize("name", ["reference", "ocr"])
@pytest.mark.parametrize("scheme", ["IOB1", "IOB2", "IOBES", "BILOU"])
def test_spans_to_tags_to_spans(name: str, scheme: Scheme) -> None:
    """The identity on every entry, but for those with white space at an entity's edge, which are named as trimmed."""
    whole = 0
    for entry in of(name, "test"):
        tokens = published_tokens(entry)
        lost = losses(entry, tokens, scheme)
        back = entry_from_tags(entry.text, tokens, level_tags(entry, tokens, scheme), GRAMMAR)
        assert back.pairs == ()
        assert not lost.merged
        assert not lost.cut
        same = [(s.type, s.start, s.end, s.parent) for s in back.entry.spans] == [
            (s.type, s.start, s.end, s.parent) for s in entry.spans
        ]
        assert same == (not lost.trimmed)
        whole += same
    assert whole > 1600


def test_plain_tokens_report_the_tokens_that_a_tag_cuts() -> None:
    """12 entities of the reference have an edge inside a word or number."""
    cut = [len(losses(entry, plain_tokens(entry.text)).cut) for entry in entries("reference")]
    assert sum(cut) == 12
