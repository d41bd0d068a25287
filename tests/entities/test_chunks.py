"""Chunk counting on arrays: equal to seqeval 1.2.2, to a slow twin, and to itself however it is cut up."""

from __future__ import annotations

import math
import pickle
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities, precision_recall_fscore_support
from seqeval.scheme import BILOU, IOB1, IOB2, IOBES, IOE2, Entities

from histeval.entities import Encoded, Vocabulary, count_table, encode, score_tags
from histeval.entities.chunks import Chunk
from histeval.entities.tags import runs, strict_runs
from histeval.errors import UsageError
from support import examples

SEQEVAL = {"IOB1": IOB1, "IOB2": IOB2, "IOE2": IOE2, "IOBES": IOBES, "BILOU": BILOU}
PREFIXES = {"IO": "I", "IOB1": "BI", "IOB2": "BI", "IOE2": "IE", "IOBES": "BIES", "BILOU": "BILU"}

soups = st.lists(
    st.lists(
        st.one_of(
            st.sampled_from(["O", "O+O", "O+i_LOC"]),
            st.builds("-".join, st.tuples(st.sampled_from("BIES"), st.sampled_from(["A", "B", "A-B", "_", "b_A+O"]))),
            st.builds("-".join, st.tuples(st.sampled_from("BIESULX."), st.text(min_size=1, max_size=3))),
        ),
        max_size=8,
    ),
    max_size=4,
)  # fmt: skip


def of_scheme(scheme: str) -> st.SearchStrategy[list[list[str]]]:
    label = st.one_of(st.just("O"), st.builds("{}-{}".format, st.sampled_from(PREFIXES[scheme]), st.sampled_from("AB")))
    return st.lists(st.lists(label, max_size=8), max_size=4)


def paired(draw: st.DrawFn, gold: list[list[str]], labels: st.SearchStrategy[str]) -> list[list[str]]:
    return [[tag if draw(st.booleans()) else draw(labels) for tag in row] for row in gold]


@settings(max_examples=examples(400), deadline=None)
@given(soups)
def test_lenient_chunks_are_those_of_seqeval(rows: list[list[str]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sequence, row in enumerate(rows):
            want = [(kind, start, end + 1) for kind, start, end in get_entities(row)]
            have = [(c.type, c.start, c.end) for c in encode([[], row]).listed()]
            # Prefixes that seqeval does not know can end a chunk that never began; it then counts from a place that
            # an earlier chunk left behind, in another sequence perhaps. Joined, both do the same.
            if all(label[0] in "OBIES" for label in row):
                assert have == want, (sequence, row)
        joined = get_entities([list(row) for row in rows]) if rows else []
    chunks = encode(rows).chunks()
    assert list(zip(chunks.starts.tolist(), (chunks.ends - 1).tolist(), strict=True)) == [c[1:] for c in joined]


@settings(max_examples=examples(200), deadline=None)
@given(soups, st.data())
def test_scores_are_those_of_seqeval(gold: list[list[str]], data: st.DataObject) -> None:
    rows = [list(row) for row in gold]
    labels = st.sampled_from(["O", "B-A", "I-A", "E-B", "S-B", "I-B"])
    predicted = [[tag if data.draw(st.booleans()) else data.draw(labels) for tag in row] for row in rows]
    score = score_tags(rows, predicted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        p, r, f, n = (
            precision_recall_fscore_support(rows, predicted, average="micro", zero_division=0) if rows else (0,) * 4
        )
        one = precision_recall_fscore_support(rows, predicted, average=None, zero_division=0) if rows else ([],) * 4
    assert (score.precision, score.recall, score.f1, score.tp + score.fn) == (p, r, f, n)
    assert [counts.f1 for counts in score.by_type.values()] == list(one[2])
    assert [counts.tp + counts.fn for counts in score.by_type.values()] == list(one[3])


@pytest.mark.parametrize("scheme", ["IOB1", "IOB2", "IOE2", "IOBES", "BILOU"])
def test_strict_chunks_are_those_of_seqeval_where_it_drops_none(scheme: str) -> None:
    seen = Counter[str]()

    @settings(max_examples=examples(200), deadline=None)
    @given(of_scheme(scheme))
    def check(rows: list[list[str]]) -> None:
        for row in rows:
            found = encode([row]).listed(scheme, strict=True)
            theirs = {(e.tag, e.start, e.end) for e in Entities([row], SEQEVAL[scheme]).entities[0]}
            whole = {(c.type, c.start, c.end) for c in found if not c.malformed}
            if scheme != "IOB1" or len(whole) == len(found):  # seqeval's IOB1 also drops what stands beside a fault
                assert whole == theirs
            seen["malformed" if len(whole) < len(found) else "whole"] += 1

    check()
    assert min(seen["malformed"], seen["whole"]) > 0


@pytest.mark.parametrize("scheme", list(PREFIXES))
def test_no_label_is_outside_every_chunk(scheme: str) -> None:
    @settings(max_examples=examples(100), deadline=None)
    @given(st.one_of(of_scheme(scheme), soups), st.booleans())
    def check(rows: list[list[str]], strict: bool) -> None:
        rows = [[tag for tag in row if not tag.startswith(".")] for row in rows]
        if not strict and any(tag[0] not in "OBIES" for row in rows for tag in row):
            return  # lenient reading follows seqeval, which does not know other prefixes
        found = encode(rows).listed(scheme, strict)
        covered = Counter((c.sequence, place) for c in found for place in range(c.start, c.end))
        inside = {(i, place) for i, row in enumerate(rows) for place, tag in enumerate(row) if tag[0] != "O"}
        assert set(covered) == inside
        assert set(covered.values()) <= {1}

    check()


def slow_chunks(tags: list[str], scheme: str, strict: bool) -> list[tuple[str, int, int, bool]]:
    """From the definition: try every chunk of every position."""
    if not strict:
        return [(*chunk, False) for chunk in runs(tags)]
    inside = {"IO": ["II"], "IOB2": ["BI", "II"], "IOBES": ["BI", "BE", "II", "IE"]}[scheme]
    first = {"IO": "I", "IOB2": "B", "IOBES": "BS"}[scheme]
    last = {"IO": "I", "IOB2": "BI", "IOBES": "ES"}[scheme]
    found, place = [], 0
    while place < len(tags):
        if tags[place] == "O":
            place += 1
            continue
        end = place + 1
        while end < len(tags) and tags[end][1:] == tags[place][1:] and tags[end - 1][0] + tags[end][0] in inside:
            end += 1
        bad = tags[place][0] not in first or tags[end - 1][0] not in last
        found.append((tags[place][2:], place, end, bad))
        place = end
    return found


@settings(max_examples=examples(300), deadline=None)
@given(of_scheme("IOBES"), st.sampled_from(["IO", "IOB2", "IOBES"]), st.booleans(), st.data())
def test_slow_twin(gold: list[list[str]], scheme: str, strict: bool, data: st.DataObject) -> None:
    labels = st.sampled_from(["O", "B-A", "I-A", "E-A", "S-A", "I-B"])
    predicted = [[tag if data.draw(st.booleans()) else data.draw(labels) for tag in row] for row in gold]
    counts: Counter[tuple[str, str]] = Counter()
    table = []
    for ours, theirs in zip(gold, predicted, strict=True):
        g, p = slow_chunks(ours, scheme, strict), slow_chunks(theirs, scheme, strict)
        hits = {chunk for chunk in g if chunk in p and not chunk[3]}
        row: Counter[tuple[str, str]] = Counter()
        row.update(("tp", chunk[0]) for chunk in hits)
        row.update(("fn", chunk[0]) for chunk in g if chunk not in hits)
        row.update(("fp", chunk[0]) for chunk in p if chunk not in hits)
        counts.update(row)
        table.append(row)
    score = score_tags(gold, predicted, scheme, strict)
    for kind, one in score.by_type.items():
        assert (one.tp, one.fp, one.fn) == (counts["tp", kind], counts["fp", kind], counts["fn", kind])
    assert score.tp + score.fp + score.fn == sum(counts.values())
    types, array = count_table(encode(gold), encode(predicted), scheme, strict)
    assert array.shape == (len(gold), len(types), 3)
    for sequence, row in enumerate(table):
        for place, kind in enumerate(types):
            assert array[sequence, place].tolist() == [row["tp", kind], row["fp", kind], row["fn", kind]]
    if strict:
        bad = Counter(kind for row in predicted for kind, _, _, wrong in slow_chunks(row, scheme, True) if wrong)
        assert dict(score.malformed_predicted) == dict(bad)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(of_scheme("IOB2"), min_size=1, max_size=3), st.randoms())
def test_parts_sum_to_the_whole_in_any_order(parts: list[list[list[str]]], random: object) -> None:
    rows = [row for part in parts for row in part]
    other = [row[::-1] for row in rows]
    whole = score_tags(rows, other)
    pieces = [score_tags(part, [row[::-1] for row in part]) for part in parts]
    assert [sum(getattr(piece, name) for piece in pieces) for name in ("tp", "fp", "fn")] == [
        whole.tp, whole.fp, whole.fn,
    ]  # fmt: skip
    order = list(range(len(rows)))
    random.shuffle(order)  # type: ignore[attr-defined]
    assert score_tags([rows[i] for i in order], [other[i] for i in order]) == whole


@settings(max_examples=examples(100), deadline=None)
@given(of_scheme("IOBES"))
def test_codes_vocabularies_and_pickles_change_nothing(rows: list[list[str]]) -> None:
    other = [row[::-1] for row in rows]
    want = score_tags(rows, other)
    labels = ["S-B", "B-A", "O", "I-A", "E-A", "S-A", "B-B", "I-B", "E-B"]
    codes = np.array([labels.index(tag) for row in rows for tag in row], dtype=np.uint8)
    packed = Encoded.of_codes(codes, np.array([len(row) for row in rows], dtype=np.int64), labels)
    assert score_tags(packed, encode(other)) == want
    assert score_tags(packed, other) == want
    assert score_tags(rows, encode(other)) == want
    assert score_tags(pickle.loads(pickle.dumps(packed)), other) == want
    shared = Vocabulary()
    assert score_tags(encode(rows, shared), encode(other, shared)) == want


@pytest.mark.parametrize("many", [300, 1500, 70_000])
def test_many_labels(many: int) -> None:
    gold = [[f"B-{number}", f"I-{number}"] for number in range(many)]
    predicted = [[f"B-{number}", f"I-{number}" if number % 2 else "O"] for number in range(many)]
    score = score_tags(gold, predicted)
    assert (score.tp, score.fp, score.fn) == (many // 2, many - many // 2, many - many // 2)


def test_strict_and_lenient_on_the_worked_example() -> None:
    gold, predicted = [["B-LOC", "I-LOC", "I-LOC"]], [["I-LOC", "I-LOC", "I-LOC"]]
    assert score_tags(gold, predicted).f1 == 1.0
    strict = score_tags(gold, predicted, strict=True)
    assert (strict.tp, strict.fp, strict.fn, strict.f1) == (0, 1, 1, 0.0)
    assert encode(predicted).listed(strict=True) == [Chunk(0, "LOC", 0, 3, True)]
    twice = score_tags(predicted, predicted, strict=True)
    assert (twice.tp, twice.fp, twice.fn) == (0, 1, 1)
    assert dict(twice.malformed_gold) == {"LOC": 1}


def test_zero_division() -> None:
    nothing = [["O", "O"]]
    assert score_tags(nothing, nothing).f1 == 0.0
    assert score_tags(nothing, nothing, zero_division=1.0).f1 == 1.0
    undefined = score_tags(nothing, nothing, zero_division=math.nan)
    assert (undefined.precision, undefined.recall, undefined.f1) == (None, None, None)
    missed = score_tags([["B-A"]], [["O"]], zero_division=None)
    assert (missed.precision, missed.recall, missed.f1) == (None, 0.0, 0.0)
    assert score_tags([], []).f1 == 0.0


def test_a_single_sequence_and_empty_ones() -> None:
    assert score_tags(["B-A", "O"], ["B-A", "O"]).tp == 1
    assert score_tags([[], ["B-A"], []], [[], ["B-A"], []]).tp == 1


@pytest.mark.parametrize(
    ("gold", "predicted", "words"),
    [
        ([["O"]], [["O"], ["O"]], "1 gold sequences and 2 predicted"),
        ([["O"], ["O"]], [["O"], ["O", "O"]], r"sequence 1 \(from 0\) has 1 gold labels and 2"),
        ([[1]], [["O"]], "a label must be text"),
        ([None], [["O"]], "tags are a list of sequences"),
        ([[["O"]]], [["O"]], "tags are a list of sequences"),
    ],
)
def test_wrong_use_is_one_sentence(gold: object, predicted: object, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        score_tags(gold, predicted)  # type: ignore[arg-type]


def test_unknown_scheme() -> None:
    for strict in (False, True):
        with pytest.raises(UsageError, match="no tag scheme 'BIO'"):
            score_tags([["O"]], [["O"]], "BIO", strict)


@settings(max_examples=examples(150), deadline=None)
@given(of_scheme("IOBES"), st.sampled_from(["IO", "IOB1", "IOB2", "IOBES", "BILOU"]))
def test_single_sequences_are_read_as_many_are(rows: list[list[str]], scheme: str) -> None:
    for row in rows:
        assert runs(row) == [(c.type, c.start, c.end) for c in encode([row]).listed()]
        assert strict_runs(row, scheme) == [
            (c.type, c.start, c.end, c.malformed) for c in encode([row]).listed(scheme, strict=True)
        ]
