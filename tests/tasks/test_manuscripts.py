"""Manuscripts: every rule, and the published page against a slow twin."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.errors import UsageError
from histeval.stats.counts import FRACTION
from histeval.tasks import get_task
from histeval.tasks.base import Answer, DocumentScore
from histeval.tasks.description import Context, Description
from histeval.tasks.manuscripts import COLUMNS, ManuscriptsScorer, ManuscriptsTask, published_value
from histeval.tasks.truth import PageTruth
from support import examples

TASK = ManuscriptsTask()


def scorer(protocol: str = "published", rules: dict[str, Any] | None = None, profile: str = "") -> ManuscriptsScorer:
    return TASK.scorer(Context(Description("manuscripts", "invented", profile=profile)), TASK.protocol(protocol, rules))


def page(*folios: tuple[str, dict[str, str]]) -> PageTruth:
    return PageTruth(folios)


def score(one: ManuscriptsScorer, truth: PageTruth, *entries: Any) -> DocumentScore:
    return one.score(truth, one.read(Answer("d", record={"folios": list(entries)})))


def fields(one: ManuscriptsScorer, truth: PageTruth, *entries: Any) -> dict[str, tuple[float, float]]:
    return {
        name: (round(text["fuzzy"], 4), round(text["cer"], 4))
        for name, text in score(one, truth, *entries).fields.items()
    }


ONE = page(("[3r]", {"folio": "3", "text": "Vnd ein pferit", "addition1": "", "addition2": "nota"}))


def test_protocols_are_those_of_the_design() -> None:
    shown = {name: TASK.protocol(name).rules for name in ("documented", "published", "corrected")}
    rules = ("average", "cer_cap", "both_empty_text", "only_in_answer", "pairing", "rounding", "reading")
    assert [shown["documented"][rule] for rule in rules] == [
        "texts", 1, "excluded", "keys", "position", None, "tolerant",
    ]  # fmt: skip
    assert [shown["published"][rule] for rule in rules] == ["pages", 1, "scored", "keys", "position", 3, "published"]
    assert [shown["corrected"][rule] for rule in rules] == ["texts", None, "excluded", "all", "folio", None, "tolerant"]
    for name in shown:
        assert TASK.parse_protocol(TASK.protocol(name).long) == TASK.protocol(name)
    with pytest.raises(UsageError, match="cer_cap"):
        TASK.protocol("documented", {"cer_cap": "0"})
    with pytest.raises(UsageError, match="no text profile or step 'tidy'"):
        scorer("documented", {"cer_text": "tidy"})


def test_the_worked_example_of_the_documentation() -> None:
    truth = page(("[1r]", {"folio": "", "text": "Vnd ein pferit die mir vnd", "addition1": ""}))
    entry = {"folio": "", "text": "und ein pferit die mir vnd"}
    row = score(scorer("documented"), truth, entry)
    assert row.fields == {"[1r]/text": {"fuzzy": 50 / 52, "cer": 1 / 26, "edits": 1, "length": 26}}
    assert fields(scorer("published"), truth, entry) == {"[1r]/text": (0.962, 0.038)}


def test_a_page_as_published() -> None:
    entry = {"folio": 3, "text": "VND  EIN\nPFERIT", "addition1": "x", "addition2": None, "addition3": "not looked at"}
    row = score(scorer("published"), ONE, entry)
    assert {name: (text["fuzzy"], text["cer"]) for name, text in row.fields.items()} == {
        "[3r]/folio": (1.0, 0.0),
        "[3r]/text": (0.207, 0.0),
        "[3r]/addition1": (0.0, 1.0),
        "[3r]/addition2": (0.0, 1.0),
    }
    counts = dict(zip(COLUMNS, row.counts.tolist(), strict=True))
    assert counts["text_fuzzy"] == 2_070_000_000
    assert counts["page_fuzzy"] == 3_020_000_000
    assert (counts["additions_texts"], counts["additions_edits"], counts["additions_characters"]) == (2, 5, 4)
    assert (counts["text_words"], counts["text_word_edits"]) == (3, 0)
    assert row.notes == ("[3r]/+addition3 is only in the answer and not scored",)
    assert scorer().report([ONE], [("d", row)]) == [
        "1 texts that only the answers have are not scored (only_in_answer=keys)"
    ]


def test_a_failed_answer_counts_as_no_entry() -> None:
    for protocol in ("published", "documented", "corrected"):
        one = scorer(protocol)
        row = one.score(ONE, one.read(Answer("d", error="missing")))
        assert row.failure == "missing"
        assert {name: (text["fuzzy"], text["cer"]) for name, text in row.fields.items()} == {
            "[3r]/folio": (0.0, 1.0),
            "[3r]/text": (0.0, 1.0),
            "[3r]/addition2": (0.0, 1.0),
        }


def test_a_text_that_is_empty_on_both_sides() -> None:
    blank = page(("[1r]", {"folio": "", "text": " \n", "addition1": ""}))
    assert fields(scorer("published"), blank, {"text": ""}) == {"[1r]/text": (1.0, 0.0)}
    assert fields(scorer("published"), blank) == {"[1r]/text": (0.0, 1.0)}
    for protocol in ("documented", "corrected"):
        row = score(scorer(protocol), blank, {"text": ""})
        assert row.fields == {}
        assert not row.counts.any()  # neither a point nor an error


def test_what_only_the_answer_has() -> None:
    truth = page(("[1r]", {"folio": "", "text": "abc"}))
    entries = ({"folio": "1", "text": "abc", "addition1": "x"}, {"text": "more", "addition1": ""}, None)
    keys = {"[1r]/folio": (0.0, 1.0), "[1r]/text": (1.0, 0.0)}
    assert fields(scorer("documented"), truth, *entries) == keys
    all_of_it = {**keys, "[1r]/+addition1": (0.0, 1.0), "+2/text": (0.0, 1.0)}
    assert fields(scorer("documented", {"only_in_answer": "all"}), truth, *entries) == all_of_it
    row = score(scorer("corrected"), truth, *entries)
    counts = dict(zip(COLUMNS, row.counts.tolist(), strict=True))
    assert {name: text["cer"] for name, text in row.fields.items()} == {
        name: cer for name, (_, cer) in all_of_it.items()
    }
    assert (counts["text_edits"], counts["text_characters"]) == (4, 3)  # the surplus counts in cer_corpus


def test_additions_stop_at_the_first_gap_and_at_nine_as_published() -> None:
    gap = page(("[1r]", {"folio": "", "text": "a", "addition1": "b", "addition3": "c"}))
    assert "[1r]/addition3" not in fields(scorer("published"), gap, {"text": "a"})
    assert "[1r]/addition3" in fields(scorer("corrected"), gap, {"text": "a"})
    many = page(("[1r]", {"text": "a", **{f"addition{number}": "b" for number in range(1, 12)}}))
    assert len(fields(scorer("published"), many)) == 10
    assert len(fields(scorer("corrected"), many)) == 12


def test_the_cap() -> None:
    truth = page(("[1r]", {"folio": "", "text": "ab"}))
    long = {"text": "x" * 20}
    assert fields(scorer("documented"), truth, long)["[1r]/text"] == (0.0, 1.0)
    assert fields(scorer("documented", {"cer_cap": "none"}), truth, long)["[1r]/text"] == (0.0, 10.0)
    one = scorer("corrected")
    row = score(one, truth, long)
    assert one.values([("d", row)], row.counts)["cer_corpus"] == 10.0


def test_texts_are_compared_raw_by_grapheme_when_corrected() -> None:
    truth = page(("[1r]", {"folio": "", "text": "Zürich"}))
    for text, documented, corrected in [
        ("Zu\u0308rich", (0.7692, 0.3333), (1.0, 0.0)),
        ("zürich", (0.8333, 0.0), (0.8333, 0.1667)),
        ("Zürich\n", (0.9231, 0.0), (0.9231, 0.1667)),
    ]:
        assert fields(scorer("documented"), truth, {"text": text})["[1r]/text"] == documented
        assert fields(scorer("corrected"), truth, {"text": text})["[1r]/text"] == corrected


def test_a_dataset_may_name_its_profile() -> None:
    one = scorer("documented", profile="NFC+folded")
    assert one.protocol.short == "documented,cer_text=NFC+folded,fuzzy_text=NFC+folded"
    assert scorer("published", profile="NFC+folded").protocol.short == "published"
    assert scorer("documented", {"cer_text": "raw"}, profile="NFC").protocol["cer_text"] == ("raw",)


# --- pairing ------------------------------------------------------------------------------------------------------

TWO = page(("[9v]", {"folio": "", "text": "neun verso"}), ("[10r]", {"folio": "10", "text": "zehn recto"}))


def test_pairing_by_position_sorts_references_as_text() -> None:
    entries = ({"folio": "10", "text": "zehn recto"}, {"folio": "", "text": "neun verso"})
    assert fields(scorer("documented"), TWO, *entries) == {
        "[10r]/folio": (1.0, 0.0),
        "[10r]/text": (1.0, 0.0),
        "[9v]/text": (1.0, 0.0),
    }
    natural = entries[::-1]
    assert fields(scorer("documented"), TWO, *natural)["[10r]/text"][0] < 1
    assert fields(scorer("corrected"), TWO, *natural) == {
        "[9v]/text": (1.0, 0.0),
        "[10r]/folio": (1.0, 0.0),
        "[10r]/text": (1.0, 0.0),
    }


def test_pairing_by_folio_survives_a_surplus_entry_in_front() -> None:
    entries = ({"text": "Kopfzeile"}, {"folio": "10", "text": "zehn"}, {"folio": "", "text": "neun verso"})
    found = fields(scorer("corrected"), TWO, *entries)
    assert found["[9v]/text"] == (1.0, 0.0)
    assert found["[10r]/folio"] == (1.0, 0.0)
    assert found["+1/text"] == (0.0, 1.0)


def test_pairing_by_folio_and_then_by_content() -> None:
    truth = page(("[3r]", {"folio": "3", "text": "alpha"}), ("[4r]", {"folio": "4", "text": "beta"}))
    swapped = ({"folio": "4", "text": "alpha"}, {"folio": "3", "text": "beta"})
    assert fields(scorer("corrected"), truth, *swapped)["[3r]/folio"] == (1.0, 0.0)
    unnumbered = ({"folio": "", "text": "betta"}, {"folio": "", "text": "alpha"})
    assert fields(scorer("corrected"), truth, *unnumbered)["[3r]/text"] == (1.0, 0.0)


def test_a_reference_that_stands_twice() -> None:
    truth = page(("[3r]", {"folio": "3", "text": "alpha"}), ("[3r]", {"folio": "", "text": "beta"}))
    entries = ({"folio": "3", "text": "alpha"}, {"text": "beta"})
    assert list(fields(scorer("documented"), truth, *entries)) == ["[3r]/folio", "[3r]/text"]
    assert fields(scorer("corrected"), truth, *entries)["[3r]#2/text"] == (1.0, 0.0)


def test_additions_as_a_set() -> None:
    truth = page(("[1r]", {"folio": "", "text": "t", "addition1": "eins", "addition2": "zwei"}))
    entry = {"text": "t", "addition1": "zwei", "addition2": "drei", "addition3": "eins"}
    assert fields(scorer("documented"), truth, entry)["[1r]/addition1"] == (0.5, 1.0)
    assert fields(scorer("corrected"), truth, entry) == {
        "[1r]/text": (1.0, 0.0),
        "[1r]/addition1": (1.0, 0.0),
        "[1r]/addition2": (1.0, 0.0),
        "[1r]/+addition2": (0.0, 1.0),
    }


def test_a_thousand_entries_are_paired_in_order() -> None:
    truth = PageTruth(tuple((f"[{number}r]", {"folio": "", "text": f"text {number}"}) for number in range(1, 101)))
    entries = [{"text": f"text {number}"} for number in range(1, 1001)]
    row = score(scorer("corrected"), truth, *entries)
    assert sum(text["fuzzy"] == 1.0 for text in row.fields.values()) == 100
    assert len(row.fields) == 1000


# --- values -------------------------------------------------------------------------------------------------------


def test_published_value_adds_pages_in_text_order_of_their_ids() -> None:
    def row(value: float) -> DocumentScore:
        counts = np.zeros(len(COLUMNS), dtype=np.int64)
        counts[-3:] = 1, round(value * FRACTION), 0
        return DocumentScore(counts)

    # (0.1 + 0.2) + 0.3 is not 0.1 + (0.2 + 0.3) in binary: unrounded means differ in the last place
    rows = [("image_2", row(0.3)), ("image_10", row(0.2)), ("image_1", row(0.1))]
    assert published_value(rows, "page_fuzzy", 17) == (0.1 + 0.2 + 0.3) / 3
    assert published_value(rows, "page_fuzzy", 17) != (0.3 + 0.2 + 0.1) / 3
    assert published_value([], "page_cer", 3, empty=1.0) == 1.0


def test_nothing_at_all() -> None:
    zeros = np.zeros(len(COLUMNS), dtype=np.int64)
    assert {name: scorer("published").values([], zeros)[name] for name in ("fuzzy", "cer")} == {"fuzzy": 0, "cer": 1}
    assert {name: scorer("documented").values([], zeros)[name] for name in ("fuzzy", "cer")} == {"fuzzy": 0, "cer": 1}
    assert set(scorer("corrected").values([], zeros).values()) == {None}


def test_a_scorer_travels() -> None:
    for protocol in ("documented", "published", "corrected"):
        one = scorer(protocol)
        again = pickle.loads(pickle.dumps(one))
        entry = {"folio": "3", "text": "Vnd ein"}
        assert (score(again, ONE, entry).counts == score(one, ONE, entry).counts).all()


def test_registered() -> None:
    assert isinstance(get_task("transcription"), ManuscriptsTask)


# --- the slow twin ------------------------------------------------------------------------------------------------

WORDS = st.text(alphabet="aAbV \nüꝰ3", max_size=12)
VALUES = WORDS | st.none() | st.integers(0, 30) | st.sampled_from([[], ["a"], {"x": 1}, "3", True, 2.5])
KEYS = ["folio", "text", "addition1", "addition2", "addition3"]
ENTRIES = st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, VALUES)) | st.sampled_from([None, "text", 3])
FOLIOS = st.fixed_dictionaries({"folio": WORDS, "text": WORDS}, optional=dict.fromkeys(KEYS[2:], WORDS))
PAGES = st.lists(st.tuples(st.sampled_from(["[3r]", "[9v]", "[10r]"]), FOLIOS), max_size=3).map(
    lambda folios: PageTruth(tuple(folios))
)


def lcs(a: str, b: str) -> int:
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


def levenshtein(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, start=1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


def twin(truth: PageTruth, entries: list[Any]) -> tuple[dict[str, tuple[float, float]], float, float]:
    """Section 5 of the specification, step by step, without any of the code under test."""
    by_ref: dict[str, dict[str, str]] = {}
    for ref, folio in truth.folios:
        if ref not in by_ref:
            by_ref[ref] = dict(folio)
    result: dict[str, tuple[float, float]] = {}
    for place, ref in enumerate(sorted(by_ref)):
        folio = by_ref[ref]
        entry = entries[place] if place < len(entries) else None
        if not isinstance(entry, dict):
            entry = None
        names = ["folio", "text"]
        for number in range(1, 10):
            if f"addition{number}" not in folio:
                break
            names.append(f"addition{number}")
        for name in names:
            gold, given = folio[name], None if entry is None else entry.get(name)
            if gold.strip() == "":
                gold = ""
            if given is None or (isinstance(given, str) and given.strip() == ""):
                given = ""
            if name != "text" and gold == "" and given == "":
                continue
            if entry is None:
                result[f"{ref}/{name}"] = (0.0, 1.0)
                continue
            if isinstance(given, bool) or not isinstance(given, str | int | float):
                result[f"{ref}/{name}"] = (0.0, 1.0)
                continue
            given = str(given)
            if gold == given:
                fuzzy = 1.0
            elif gold == "" or given == "":
                fuzzy = 0.0
            else:
                fuzzy = 2 * lcs(gold, given) / (len(gold) + len(given))
            if gold == "" and given == "":
                cer = 0.0
            elif gold == "" or given == "":
                cer = 1.0
            else:
                a, b = " ".join(gold.lower().split()), " ".join(given.lower().split())
                cer = min(1.0, levenshtein(a, b) / len(a))
            result[f"{ref}/{name}"] = (round(fuzzy, 3), round(cer, 3))
    if not result:
        return result, 0.0, 1.0
    fuzzy = sum(pair[0] for pair in result.values()) / len(result)
    cer = sum(pair[1] for pair in result.values()) / len(result)
    return result, round(fuzzy, 3), round(cer, 3)


@settings(max_examples=examples(300), deadline=None)
@given(PAGES, st.lists(ENTRIES, max_size=4))
def test_the_published_page_equals_the_slow_twin(truth: PageTruth, entries: list[Any]) -> None:
    row = score(scorer("published"), truth, *entries)
    texts, page_fuzzy, page_cer = twin(truth, entries)
    assert {name: (text["fuzzy"], text["cer"]) for name, text in row.fields.items()} == texts
    assert row.counts[-3:].tolist() == [1, round(page_fuzzy * FRACTION), round(page_cer * FRACTION)]


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.tuples(PAGES, st.lists(ENTRIES, max_size=3)), min_size=1, max_size=6), st.integers(0, 6), st.randoms()
)
def test_parts_add_up_to_the_whole_in_any_order(pairs: list[Any], cut: int, random: Any) -> None:
    for protocol in ("documented", "published", "corrected"):
        one = scorer(protocol)
        rows = [(f"image_{i}", score(one, truth, *entries)) for i, (truth, entries) in enumerate(pairs)]
        whole = np.sum([row.counts for _, row in rows], axis=0)
        parts = [np.sum([row.counts for _, row in part], axis=0) for part in (rows[:cut], rows[cut:]) if part]
        assert (sum(parts) == whole).all()
        values = one.values(rows, whole)
        random.shuffle(rows)
        assert one.values(rows, whole) == values
        texts = [text for _, row in rows for text in row.fields.values()]
        counts = dict(zip(COLUMNS, whole.tolist(), strict=True))
        assert sum(counts[f"{kind}_texts"] for kind in ("folio", "text", "additions")) == len(texts)
        assert sum(counts[f"{kind}_edits"] for kind in ("folio", "text", "additions")) == sum(t["edits"] for t in texts)
        if protocol == "documented" and texts:
            assert values["fuzzy"] == pytest.approx(sum(text["fuzzy"] for text in texts) / len(texts), abs=1e-9)
            assert values["cer"] == pytest.approx(sum(text["cer"] for text in texts) / len(texts), abs=1e-9)


@settings(max_examples=examples(60), deadline=None)
@given(PAGES)
def test_the_truth_itself_is_perfect(truth: PageTruth) -> None:
    for protocol in ("documented", "published", "corrected"):
        one = scorer(protocol)
        first: dict[str, dict[str, str]] = {}
        for ref, entry in truth.folios:
            first.setdefault(ref, dict(entry))
        in_text_order = [entry for _, entry in sorted(first.items())]
        row = score(one, truth, *([entry for _, entry in truth.folios] if protocol == "corrected" else in_text_order))
        assert all(text["fuzzy"] == 1.0 and text["cer"] == 0.0 for text in row.fields.values())
