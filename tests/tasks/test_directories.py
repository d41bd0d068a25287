"""The directories task: worked examples, forms of answers, protocols, failures and the report."""

from __future__ import annotations

import math
import pickle
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.entities import (
    Entry,
    Grammar,
    Span,
    joint_tags,
    level_tags,
    parse_markup,
    plain_tokens,
    published_tokens,
    write_markup,
)
from histeval.errors import UsageError
from histeval.tasks.base import FAILURES, Answer, DocumentScore
from histeval.tasks.description import Context, Description, EntityType
from histeval.tasks.directories import PUBLISHED_TYPES, DirectoriesScorer, DirectoriesTask
from support import examples

TASK = DirectoriesTask()
CONTEXT = Context(TASK.default_description())
GRAMMAR = Grammar.of(PUBLISHED_TYPES)
LEVELS = ("All", "L1", "L2", "L1+L2", "P-L1+P-L2", "Flat")


def scorer(protocol: str = "published", **rules: str) -> DirectoriesScorer:
    return TASK.scorer(CONTEXT, TASK.protocol(protocol, rules))


def total(one: DirectoriesScorer, row: DocumentScore, level: str) -> tuple[int, int, int]:
    places = list(one.levels.places[level].values())
    return tuple(int(sum(row.counts[place + offset] for place in places)) for offset in range(3))  # type: ignore[return-value]


def scored(one: DirectoriesScorer, truth: Entry, record: Any) -> DocumentScore:
    return one.score(truth, one.read(Answer("1", record=record)))


def tags(words: str, level1: str, level2: str) -> dict[str, list[str]]:
    return {"tokens": words.split(), "level1": level1.split(), "level2": level2.split()}


# Worked examples: expected values run with seqeval 1.2.2.

EXAMPLE_A = parse_markup(
    "<PER>Dufay</PER> , <DESC><ACT>essayeur</ACT> du commerce</DESC> , "
    "<SPAT><LOC>place Dauphine</LOC> , <CARDINAL>5</CARDINAL></SPAT> ."
)
EXAMPLE_B = parse_markup(
    "<PER>Dulay</PER> , <ACT>chandronnier</ACT> , <SPAT><LOC>r. du Pont</LOC> , <CARDINAL>15</CARDINAL></SPAT> ."
)
EXAMPLE_C = parse_markup(
    "<PER>Union</PER> , <SPAT><CARDINAL>24</CARDINAL> <LOC>Rivoli</LOC></SPAT> <SPAT><CARDINAL>30</CARDINAL></SPAT>"
)
EXAMPLE_D = parse_markup("<PER>Aubin</PER> , <SPAT><LOC>Petits Augustins</LOC></SPAT>")


def test_example_a_activity_instead_of_description() -> None:
    answer = tags(
        "Dufay , essayeur du commerce , place Dauphine , 5 .",
        "I-PER O I-ACT I-ACT I-ACT O I-SPAT I-SPAT I-SPAT I-SPAT O",
        "O O O O O O I-LOC I-LOC O I-CARDINAL O",
    )
    one = scorer()
    row = scored(one, EXAMPLE_A, answer)
    assert [total(one, row, level) for level in ("L1", "L2", "All", "L1+L2", "Flat")] == [
        (2, 1, 1), (2, 0, 1), (4, 1, 2), (4, 1, 2), (3, 1, 1),
    ]  # fmt: skip
    values = one.values([("1", row)], row.counts)
    assert [round(values[f"f1[{level}]"] or 0, 4) for level in ("L1", "L2", "All", "L1+L2", "Flat")] == [
        0.6667, 0.8, 0.7273, 0.7273, 0.75,
    ]  # fmt: skip


def test_example_b_the_joint_level_hides_a_broken_outer_span() -> None:
    answer = tags(
        "Dulay , chandronnier , r. du Pont , 15 .",
        "I-PER O I-ACT O I-SPAT I-SPAT I-SPAT O I-SPAT O",
        "O O O O I-LOC I-LOC I-LOC O I-CARDINAL O",
    )
    one = scorer()
    row = scored(one, EXAMPLE_B, answer)
    assert [total(one, row, level) for level in ("L1", "L2", "All", "L1+L2", "Flat")] == [
        (2, 2, 1), (2, 0, 0), (4, 2, 1), (4, 0, 1), (4, 0, 0),
    ]  # fmt: skip
    # The corrected protocol demands that what is around an entity is right too.
    corrected = scorer("corrected", scheme="IO")
    row = scored(corrected, EXAMPLE_B, answer)
    assert [total(corrected, row, level) for level in ("L1", "L2", "L1+L2", "Flat")] == [
        (2, 2, 1), (2, 0, 0), (2, 4, 3), (4, 0, 0),
    ]  # fmt: skip


def test_example_c_two_neighbours_predicted_as_one() -> None:
    truth = parse_markup("Union , <SPAT>24 Rivoli ,</SPAT> <SPAT>30</SPAT>")
    answer = tags("Union , 24 Rivoli , 30", "O O B-SPAT I-SPAT I-SPAT I-SPAT", "O O O O O O")
    for one, counts in ((scorer(), (1, 0, 0)), (scorer(scheme="IOB2"), (0, 1, 2)), (scorer("corrected"), (0, 1, 2))):
        assert total(one, scored(one, truth, answer), "L1") == counts


def test_example_d_orphans() -> None:
    answer = tags("Aubin , Petits Augustins", "B-PER O O O", "O O B-LOC I-LOC")
    in_io, in_iob2 = scorer(), scorer(scheme="IOB2")
    row = scored(in_io, EXAMPLE_D, answer)
    assert [total(in_io, row, level) for level in ("L1", "L2", "All", "L1+L2", "P-L1+P-L2", "Flat")] == [
        (1, 0, 1), (1, 0, 0), (2, 0, 1), (1, 0, 1), (1, 0, 1), (1, 1, 1),
    ]  # fmt: skip
    row = scored(in_iob2, EXAMPLE_D, answer)
    # Jointly in IOB2 the gold standard has PER, and LOC cut after its first token; the orphan is outside.
    assert [total(in_iob2, row, level) for level in ("L1", "L2", "All", "L1+L2", "P-L1+P-L2", "Flat")] == [
        (1, 0, 1), (1, 0, 0), (2, 0, 1), (1, 1, 1), (1, 0, 2), (1, 1, 1),
    ]  # fmt: skip
    assert row.fields["orphan"] == 1
    assert dict(zip(in_iob2.columns, row.counts.tolist(), strict=True))["L1+L2/other_fp"] == 1


def test_example_e_prefixes_are_types_in_the_last_level() -> None:
    truth = Entry(
        "a b c d e f",
        (Span("PER", 0, 3), Span("SPAT", 6, 11), Span("LOC", 6, 7, 1), Span("CARDINAL", 10, 11, 1)),
    )
    answer = tags("a b c d e f", "I-PER I-PER O B-SPAT I-SPAT I-SPAT", "O O O B-LOC O B-CARDINAL")
    one = scorer(scheme="IOB2")
    row = scored(one, truth, answer)
    assert [total(one, row, level) for level in ("L1", "L1+L2", "P-L1+P-L2")] == [(2, 0, 0), (4, 0, 0), (3, 1, 2)]


def test_example_f_strict_and_lenient() -> None:
    truth = Entry("r. du Pont", (Span("SPAT", 0, 10), Span("LOC", 0, 10, 0)))
    answer = tags("r. du Pont", "I-SPAT I-SPAT I-SPAT", "I-LOC I-LOC I-LOC")
    lenient = scorer(scheme="IOB2")
    assert total(lenient, scored(lenient, truth, answer), "All") == (2, 0, 0)
    for strict in (scorer(scheme="IOB2", chunks="strict"), scorer("corrected")):
        row = scored(strict, truth, answer)
        assert total(strict, row, "All") == (0, 2, 2)
        assert len(row.fields["malformed"]) == 2
        report = strict.report([truth], [("1", row)])
        assert any("2 malformed chunks in 1 answers" in line and "document 1" in line for line in report)
        assert any("--set scheme=IO" in line for line in report)


# Forms of answers


def forms(truth: Entry) -> dict[str, Any]:
    tokens, plain = published_tokens(truth), plain_tokens(truth.text)
    levels = level_tags(truth, tokens, "IOB2")
    words = [token.text for token in tokens]
    parents = [{"type": s.type, "start": s.start, "end": s.end, "parent": s.parent} for s in truth.spans]
    plain_levels = level_tags(truth, plain, "IOB2")
    return {
        "xml": {"xml": write_markup(truth)},
        "xml in its published spelling": {"xml": write_markup(truth, {"TITREH": "TITRE-H", "TITREP": "TITRE-P"})},
        "spans": {"spans": parents},
        "spans without parents": {"spans": [{k: v for k, v in row.items() if k != "parent"} for row in parents]},
        "a bare list of spans": parents,
        "wrapped": {"result": {"spans": parents}},
        "levels": {"tokens": words, "level1": levels[0], "level2": levels[1]},
        "levels in IOBES": {
            "tokens": words,
            **{f"level{n}": row for n, row in enumerate(level_tags(truth, tokens, "IOBES"), start=1)},
        },
        "levels in BILOU": {
            "tokens": words,
            **{f"level{n}": row for n, row in enumerate(level_tags(truth, tokens, "BILOU"), start=1)},
        },
        "levels in IO, said so": {
            "tokens": words,
            "scheme": "IO",
            **{f"level{n}": row for n, row in enumerate(level_tags(truth, tokens, "IO"), start=1)},
        },
        "joint": {"tokens": words, "joint": joint_tags(levels, "IOB2")},
        "plain tokens": {"tokens": [t.text for t in plain], "level1": plain_levels[0], "level2": plain_levels[1]},
    }


@pytest.mark.parametrize("protocol", ["documented", "published", "corrected"])
@pytest.mark.parametrize("form", sorted(forms(EXAMPLE_A)))
def test_every_form_of_a_right_answer_is_right_at_every_level(protocol: str, form: str) -> None:
    for rules in ({}, {"scheme": "IOB2"}, {"scheme": "IOBES", "chunks": "strict"}, {"span_unit": "characters"}):
        one = scorer(protocol, **rules)
        for truth in (EXAMPLE_A, EXAMPLE_B, EXAMPLE_D):
            record = forms(truth)[form]
            row = scored(one, truth, record)
            for level in LEVELS:
                tp, fp, fn = total(one, row, level)
                in_other_scheme = form == "levels in IO, said so" or (
                    one.scheme == "IOBES" and form in ("levels", "joint", "plain tokens")
                )
                if not (in_other_scheme and one.strict):
                    assert (fp, fn) == (0, 0), (rules, form, level)
                    assert tp > 0


def test_answers_that_change_the_text_are_aligned() -> None:
    one = scorer("corrected")
    changed = write_markup(EXAMPLE_A).replace("essayeur", "essayer").replace(" , ", ", ")
    row = scored(one, EXAMPLE_A, {"xml": f"  {changed}\n"})
    assert total(one, row, "All") == (6, 0, 0)
    assert 0.9 < row.fields["anchored"] < 1
    assert any("repeat the text with changes" in line for line in one.report([EXAMPLE_A], [("1", row)]))
    other_tokens = tags("Dufay essayer du commerce Dauphine", "B-PER B-ACT I-ACT I-ACT B-SPAT", "O O O O B-LOC")
    row = scored(one, EXAMPLE_A, other_tokens)
    assert total(one, row, "L1") == (1, 2, 2)


def test_an_entity_of_another_text_is_a_false_positive() -> None:
    for one in (scorer(), scorer("corrected")):
        row = scored(one, EXAMPLE_D, {"xml": write_markup(EXAMPLE_D) + " <PER>ZZZ</PER>"})
        assert total(one, row, "L1") == (2, 1, 0)
        assert row.fields["unplaced"] == 1
        assert any("no place in the document" in line for line in one.report([EXAMPLE_D], [("1", row)]))
        far = scored(one, EXAMPLE_D, {"spans": [{"type": "PER", "start": 900, "end": 905}]})
        assert total(one, far, "L1") == (0, 1, 2)


def test_unknown_and_misplaced_types() -> None:
    for one in (scorer(), scorer("corrected")):
        record = {"xml": "<PER>Aubin</PER> , <ORG>Petits</ORG> <LOC>Augustins</LOC>"}
        counts = dict(zip(one.columns, scored(one, EXAMPLE_D, record).counts.tolist(), strict=True))
        assert (counts["L1/other_fp"], counts["L1/LOC_fp"], counts["L1/PER_tp"]) == (1, 1, 1)
        assert (counts["All/other_fp"], counts["All/LOC_fp"]) == (1, 1)
        assert counts["L2/LOC_fn"] == 1
        assert counts["Flat/other_fp"] >= 1


def test_parents_that_run_in_a_circle() -> None:
    rows = [{"type": "PER", "start": 0, "end": 5, "parent": (place + 1) % 40} for place in range(40)]
    reading = scorer().read(Answer("1", record={"spans": rows}))
    assert reading.failure is None
    assert any("circle" in repair for repair in reading.repairs)
    assert len(reading.record.entities) == 40


def test_a_flat_tagger_sends_one_level() -> None:
    words = ["Aubin", ",", "Petits", "Augustins"]
    for one in (scorer(), scorer(scheme="IOB2"), scorer("corrected")):
        flat = {"tokens": words, "level1": ["B-PER", "O", "B-LOC", "I-LOC"]}
        row = scored(one, EXAMPLE_D, flat)
        assert total(one, row, "Flat") == (2, 0, 0)
        assert total(one, row, "L1") == (1, 1, 1)
        # With a second level the same tag is a wrong pair, as the published code has it.
        row = scored(one, EXAMPLE_D, flat | {"level2": ["O"] * 4})
        assert total(one, row, "Flat") == (1, 1, 1)
        row = scored(one, EXAMPLE_D, {"tokens": words, "level1": ["B-PER", "O", "B-SPAT", "I-SPAT"]})
        assert total(one, row, "Flat") == (1, 0, 1)


def test_siblings_that_continue() -> None:
    truth = parse_markup("<DESC><TITRE-P>a</TITRE-P><TITRE-P>b</TITRE-P></DESC>")
    record = {"xml": write_markup(truth)}
    for rules, n_gold in (({"scheme": "IOB2"}, 1), ({"scheme": "IOB2", "sibling_continues": "false"}, 2)):
        one = scorer("published", **rules)
        row = scored(one, truth, record)
        assert total(one, row, "L2") == (n_gold, 0, 0)
        merged = [line for line in one.report([truth], [("1", row)]) if "merges" in line]
        assert bool(merged) == (n_gold == 1)


# Text answers


@pytest.mark.parametrize(
    "text",
    [
        "<PER>Aubin</PER> , <SPAT><LOC>Petits Augustins</LOC></SPAT>",
        "```xml\n<PER>Aubin</PER> , <SPAT><LOC>Petits Augustins</LOC></SPAT>\n```",
        "Here is the entry:\n\n```\n<PER>Aubin</PER> , <SPAT><LOC>Petits Augustins</LOC></SPAT>\n```\nI hope it helps.",
        "<entry><PER>Aubin</PER> , <SPAT><LOC>Petits Augustins</LOC></SPAT></entry>",
        '{"xml": "<PER>Aubin</PER> , <SPAT><LOC>Petits Augustins</LOC></SPAT>"}',
        '```json\n{"xml": "<PER>Aubin</PER> , <SPAT><LOC>Petits Augustins</LOC></SPAT>",}\n```',
        '{"spans": [{"type": "PER", "start": 0, "end": 5}, {"type": "spat", "start": 8, "end": 24}, '
        '{"type": "LOC", "start": 8, "end": 24}]}',
        '\ufeff<per>Aubin</per> , <SPAT id="2"><LOC>Petits Augustins</LOC></SPAT>',
        "Answer: <PER>Aubin</PER> , <SPAT><LOC>Petits Augustins</LOC></SPAT>",
    ],
)
def test_what_models_send(text: str) -> None:
    one = scorer("corrected")
    row = one.score(EXAMPLE_D, one.read(Answer("1", text=text)))
    assert (row.failure, total(one, row, "All")) == (None, (3, 0, 0))


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (Answer("1", error="missing"), "missing"),
        (Answer("1", error="HTTP 500"), "provider_error"),
        (Answer("1", text=""), "empty"),
        (Answer("1"), "empty"),
        (Answer("1", text="I'm sorry, I cannot help with that."), "refused"),
        (Answer("1", text="<PER>Aubin</PER> , <SPAT><LOC>Petits", finish="length"), "cut_off"),
        (Answer("1", text='{"xml": "<PER>Aub', finish="max_tokens"), "cut_off"),
        (Answer("1", text='{"entities": ["Aubin"]}'), "wrong_shape"),
        (Answer("1", text="Une ville entière au bord de la mer, sans nom ni numéro."), "wrong_shape"),
        (Answer("1", record=7), "wrong_shape"),
        (Answer("1", record={"tokens": ["a"], "level1": ["O", "O"]}), "wrong_shape"),
        (Answer("1", record={"tokens": [1], "level1": ["O"]}), "wrong_shape"),
        (Answer("1", record={"tokens": ["a"], "level1": [{}]}), "wrong_shape"),
        (Answer("1", record={"tokens": ["a"], "level1": "O"}), "wrong_shape"),
        (Answer("1", record={"tokens": ["a"], "level99": ["O"]}), "wrong_shape"),
        (Answer("1", record={"tokens": ["a"], "joint": ["O"], "scheme": "BIO"}), "wrong_shape"),
        (Answer("1", record={"spans": [{"type": "PER", "start": 0}]}), "wrong_shape"),
        (Answer("1", record={"spans": [{"type": "PER", "start": 0.5, "end": 2}]}), "wrong_shape"),
        (Answer("1", record={"spans": [{"type": "PER", "start": math.inf, "end": math.nan}]}), "wrong_shape"),
        (Answer("1", record={"spans": ["PER"]}), "wrong_shape"),
        (Answer("1", text="<PER>Aubin</PER> " * 2000), "runaway"),
        (Answer("1", text="x" * 1_000_001), "runaway"),
    ],
)
def test_failures_are_named_and_cost_every_entity(answer: Answer, failure: str) -> None:
    one = scorer("documented")
    row = one.score(EXAMPLE_D, one.read(answer))
    assert row.failure == failure
    assert failure in FAILURES
    assert total(one, row, "All") == (0, 0, 3)
    assert row.counts.sum() == sum(total(one, row, level)[2] for level in LEVELS)


KEYS = ["xml", "spans", "tokens", "level1", "level2", "joint", "type", "start", "end", "parent", "text", "scheme"]

values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 40) | st.floats() | st.text(max_size=6) | st.sampled_from(
        ["PER", "B-PER", "I-LOC", "O", "I-b_SPAT+i_LOC", "<PER>Aubin</PER>", "Aubin", ","]
    ),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(KEYS),
        inner,
        max_size=5,
    ),
    max_leaves=14,
)  # fmt: skip


@settings(max_examples=examples(300), deadline=None)
@given(st.one_of(st.builds(lambda v: Answer("1", record=v), values), st.builds(
    lambda t: Answer("1", text=t), st.text(alphabet="<>/PERLOC {}[]\"':,xmlspan0123456789`\n", max_size=60)
)))  # fmt: skip
def test_nothing_an_answer_can_hold_raises(answer: Answer) -> None:
    for one in (SCORERS[0], SCORERS[1], SCORERS[2]):
        reading = one.read(answer)
        assert (reading.failure is None) != (reading.record is None)
        row = one.score(EXAMPLE_D, reading)
        assert row.counts.dtype == np.int64
        assert (row.counts >= 0).all()
        for level, gold in (("L1", 2), ("L2", 1)):
            tp, _, fn = total(one, row, level)
            assert tp + fn == gold
        summed = [total(one, row, "L1")[n] + total(one, row, "L2")[n] for n in range(3)]
        assert list(total(one, row, "All")) == summed


SCORERS = (scorer("documented"), scorer("corrected"), scorer(scheme="IOB2", chunks="strict"))


@pytest.mark.parametrize("unit", ["<PER>", "</PER>", "<LOC>a", "<", "<a><b></a></b>", "[", "<PER>a</PER>", "&#1;"])
def test_hostile_answers_take_bounded_time(unit: str) -> None:
    long = Entry("x " * 10_000, ())
    text = unit * (120_000 // len(unit))
    begin = time.process_time()
    for one in SCORERS:
        row = one.score(long, one.read(Answer("1", text=text)))
        assert row.counts.min() >= 0
    assert time.process_time() - begin < 12


def test_a_thousand_times_more_entities_than_words_are_a_runaway() -> None:
    one = scorer()
    assert one.read(Answer("1", text="<PER>a</PER>" * 20_001)).failure == "runaway"
    assert (
        one.read(Answer("1", record={"spans": [{"type": "PER", "start": 0, "end": 1}] * 20_001})).failure == "runaway"
    )


# Protocols, columns, metrics


def test_rules_of_the_three_protocols() -> None:
    rules = {name: dict(TASK.protocol(name).rules) for name in ("documented", "published", "corrected")}
    assert rules["documented"] == rules["published"] == {
        "scheme": "IO", "chunks": "lenient", "span_unit": "published tokens", "sibling_continues": True,
    }  # fmt: skip
    assert rules["corrected"] == {
        "scheme": "IOB2", "chunks": "strict", "span_unit": "characters", "sibling_continues": False,
    }  # fmt: skip
    assert TASK.protocol("corrected", {"span_unit": "tokens"}).rules["span_unit"] == "published tokens"
    for name in rules:
        for changes in ({}, {"scheme": "IOBES", "span_unit": "tokens"}):
            protocol = TASK.protocol(name, changes)
            assert TASK.parse_protocol(protocol.long).rules == protocol.rules
            assert TASK.parse_protocol(protocol.short).rules == protocol.rules
    with pytest.raises(UsageError, match="scheme takes IO or IOB2 or IOBES"):
        TASK.protocol("published", {"scheme": "BIO"})


def test_columns_metrics_and_headline() -> None:
    one = scorer()
    assert one.headline == tuple(f"f1[{level}]" for level in LEVELS)
    names = [metric.name for metric in one.metrics]
    assert names[:6] == list(one.headline)
    assert {"precision[All]", "recall[Flat]", "f1[L1/PER]", "f1[L2/LOC]", "f1[L1+L2/LOC+SPAT]"} <= set(names)
    assert "f1[L1/LOC]" not in names
    assert len(set(names)) == len(names)
    assert {"L1/PER_tp", "L2/ACT_fn", "L1+L2/LOC+SPAT_fp", "L1+L2/O+SPAT_tp", "Flat/TITRE_fn", "All/other_fp"} <= set(
        one.columns
    )


def test_undefined_values() -> None:
    nothing = Entry("rien", ())
    for protocol, value in (("documented", 0.0), ("published", 0.0), ("corrected", None)):
        one = scorer(protocol)
        row = scored(one, nothing, {"spans": []})
        assert set(one.values([("1", row)], row.counts).values()) == {value}


def test_metrics_work_on_matrices_of_replicates() -> None:
    one = scorer()
    rows = np.stack(
        [scored(one, EXAMPLE_D, forms(EXAMPLE_D)["xml"]).counts, scored(one, EXAMPLE_D, {"spans": []}).counts]
    )
    sums = np.stack([rows.sum(axis=0), rows[0] * 2, rows[1] * 2]).astype(np.float64)
    for metric in one.metrics:
        assert metric.compute(sums).shape == (3,)
    assert one.metrics[0].compute(sums).tolist() == pytest.approx([2 / 3, 1, 0])


def test_scorers_travel() -> None:
    one = scorer("corrected")
    scored(one, EXAMPLE_A, forms(EXAMPLE_A)["xml"])
    again = pickle.loads(pickle.dumps(one))
    reading = pickle.loads(pickle.dumps(again.read(Answer("1", record=forms(EXAMPLE_A)["levels"]))))
    assert (again.score(EXAMPLE_A, reading).counts == one.score(EXAMPLE_A, reading).counts).all()
    assert again.protocol == one.protocol


def test_report_warns_when_a_nested_set_is_scored_flat() -> None:
    one = scorer()
    flat = scored(one, EXAMPLE_D, {"spans": [{"type": "PER", "start": 0, "end": 5}]})
    assert any("scored flat" in line for line in one.report([EXAMPLE_D], [("1", flat)]))
    nested = scored(one, EXAMPLE_D, forms(EXAMPLE_D)["xml"])
    assert not any("scored flat" in line for line in one.report([EXAMPLE_D] * 2, [("1", flat), ("2", nested)]))


def test_report_names_what_io_merges_and_wrong_parents() -> None:
    one = scorer()
    truth = parse_markup("<PER>a</PER> <SPAT><LOC>b</LOC> <LOC>c</LOC></SPAT>")
    row = scored(one, truth, {"xml": "<PER>a <LOC>b</LOC></PER> c"})
    lines = one.report([truth], [("1", row)])
    assert any("IO merges" in line and "1 L2 LOC" in line for line in lines)
    assert any("wrong parent" in line for line in lines)


def test_the_published_description() -> None:
    own = TASK.default_description()
    assert (own.unit, own.name, own.languages) == ("page", "trade_directories", ("fr",))
    # The tags that lost their hyphen can be written with it again.
    assert write_markup(Entry("x", (Span("TITREH", 0, 1),)), own.extra["tags"]) == "<TITRE-H>x</TITRE-H>"  # type: ignore[arg-type]
    assert TASK.record_schema(CONTEXT)["required"] == ["xml"]


def test_located_entities_for_display() -> None:
    one = scorer()
    for record in forms(EXAMPLE_A).values():
        found = one.located(EXAMPLE_A, one.read(Answer("1", record=record)))
        assert sorted((p.level, p.type, p.start, p.end) for p in found) == sorted(
            (EXAMPLE_A.depth(i), s.type, s.start, s.end) for i, s in enumerate(EXAMPLE_A.spans)
        )
    assert one.located(EXAMPLE_A, one.read(Answer("1", text=""))) == []


# Other grammars


def test_types_of_a_stranger_at_three_levels() -> None:
    types = (
        EntityType("work", ("person", "loc-adm")),
        EntityType("person", ("loc-adm",)),
        EntityType("loc-adm", root=False),
    )
    context = Context(Description("directories", "strange", types=types))
    truth = Entry(
        "Prince of Wales Theatre", (Span("work", 0, 23), Span("person", 0, 15, 0), Span("loc-adm", 10, 15, 1))
    )
    one = TASK.scorer(context, TASK.protocol("documented"))
    assert one.headline == ("f1[All]", "f1[L1]", "f1[L2]", "f1[L3]", "f1[L1+L2+L3]", "f1[P-L1+P-L2+P-L3]", "f1[Flat]")
    for record in (
        {"xml": "<work><person>Prince of <loc-adm>Wales</loc-adm></person> Theatre</work>"},
        {
            "tokens": truth.text.split(),
            "level1": ["B-work", "I-work", "I-work", "I-work"],
            "level2": ["B-person", "I-person", "I-person", "O"],
            "level3": ["O", "O", "B-loc-adm", "O"],
        },
    ):
        for protocol in ("documented", "corrected"):
            one = TASK.scorer(context, TASK.protocol(protocol))
            row = scored(one, truth, record)
            values = one.values([("1", row)], row.counts)
            assert {values[name] for name in one.headline} == {1.0}
    assert "L1+L2+L3/loc-adm+person+work_tp" in one.columns


def test_a_grammar_of_one_level() -> None:
    context = Context(Description("directories", "plain", types=(EntityType("PER"), EntityType("LOC"))))
    one = TASK.scorer(context, TASK.protocol("documented"))
    assert one.headline == ("f1[All]", "f1[L1]", "f1[Flat]")
    truth = Entry("Ann in Ulm", (Span("PER", 0, 3), Span("LOC", 7, 10)))
    row = scored(one, truth, {"tokens": ["Ann", "in", "Ulm"], "level1": ["B-PER", "O", "B-LOC"]})
    assert total(one, row, "Flat") == total(one, row, "All") == (2, 0, 0)
    deeper = scored(one, truth, {"xml": "<PER>Ann <LOC>in</LOC></PER> Ulm"})
    assert dict(zip(one.columns, deeper.counts.tolist(), strict=True))["L1/other_fp"] == 1


def test_a_dataset_without_types_is_refused() -> None:
    with pytest.raises(UsageError, match="describes no entity types"):
        TASK.scorer(Context(Description("directories", "bare")), TASK.protocol("documented"))
