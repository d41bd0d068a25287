"""Answers as models send them, and the one reason each unreadable one gets."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.tasks import get_task
from histeval.tasks.base import FAILURES, Answer, Scorer
from histeval.tasks.description import Context
from histeval.tasks.lenient import LenientError, parse
from histeval.tasks.published_reading import fenced
from histeval.tasks.reading import MAX_CHARACTERS, refuses, repeats
from histeval.tasks.truth import LetterTruth, PageTruth
from support import examples

RECORD = {"send_date": ["1926-02-16"], "sender_persons": ["Herr Christ"], "receiver_persons": None}
WANTED = {"send_date": ("1926-02-16",), "sender_persons": ("Herr Christ",), "receiver_persons": ()}
FOLIOS = {"folios": [{"folio": "3", "text": "Vnd ein\n pferit", "addition1": ""}]}
ENTRY = ({"folio": "3", "text": "Vnd ein\n pferit", "addition1": ""},)


def scorer(task: str = "letters", protocol: str = "documented") -> Scorer:
    chosen = get_task(task)
    return chosen.scorer(Context(chosen.default_description()), chosen.protocol(protocol))


LETTERS = scorer()
PUBLISHED = scorer(protocol="published")
PAGES = scorer("manuscripts")
PUBLISHED_PAGES = scorer("manuscripts", "published")

FLAT = json.dumps(RECORD)
READABLE = {
    "flat": FLAT,
    "wrapped": json.dumps({"metadata": RECORD}),
    "wrapped twice": json.dumps({"document": {"metadata": RECORD}}),
    "schema echoed beside it": json.dumps({"$defs": {"M": {"properties": {}}}, "metadata": RECORD}),
    "fence": f"```json\n{FLAT}\n```",
    "fence without a language": f"```\n{FLAT}\n```",
    "fence not closed": f"```json\n{FLAT}",
    "prose, then fence": f"Looking at this letter, I see:\n\n```json\n{FLAT}\n```",
    "JSON, then prose": f"{FLAT}\n\nThe sender is [illegible] but {{probably}} Christ.",
    "prose, then JSON": f"Here is the JSON of the letter [page 1]: {FLAT}",
    "braces in the prose": f"{FLAT} The empty {{}} is not the record.",
    "trailing commas": '{"send_date": ["1926-02-16",], "sender_persons": ["Herr Christ",], "receiver_persons": null,}',
    "Python literal": str({"metadata": RECORD}),
    "metadata as text": json.dumps({"metadata": json.dumps(RECORD)}),
    "metadata as text, trailing comma": json.dumps({"metadata": str(RECORD)[:-1] + ",}"}),
    "all of it as text": json.dumps(FLAT),
    "escaped twice": FLAT.replace('"', '\\"'),
    "literal backslash-n between tokens": FLAT.replace(", ", ",\\n  "),
    "list of one": json.dumps([{"metadata": RECORD}]),
    "bare NaN": FLAT.replace("null", "NaN"),
    "scalars": '{"send_date": "1926-02-16", "sender_persons": "Herr Christ", "receiver_persons": []}',
    "objects with a name": '{"send_date": "1926-02-16", "sender_persons": [{"name": "Herr Christ", "role": "x"}], '
    '"receiver_persons": []}',
    "comments": FLAT.replace(", ", ", // as seen\n"),
    "byte order mark": "\ufeff" + FLAT,
    "keys in another style": '{"sendDate": "1926-02-16", "Sender Persons": ["Herr Christ"], "receiver-persons": null}',
    "a draft, then the record": f'<think>{{"send_date": "1900-01-01"}}</think>\n{FLAT}',
    "unknown keys": json.dumps({**RECORD, "document_number": "01", "confidence": {"a": 1}}),
}


@pytest.mark.parametrize("case", READABLE)
def test_what_models_really_send_is_read(case: str) -> None:
    text = READABLE[case]
    reading = LETTERS.read(Answer("d", text=text))
    assert reading.failure is None, reading
    assert reading.record == WANTED


@pytest.mark.parametrize(
    ("case", "repair"),
    [
        ("fence", "fence"),
        ("JSON, then prose", "text around the record left out"),
        ("trailing commas", "trailing comma"),
        ("Python literal", "Python literal"),
        ("metadata as text", "record given as text"),
        ("escaped twice", "escaped twice"),
        ("bare NaN", ""),
        ("wrapped twice", "record found under document/metadata"),
        ("keys in another style", "key 'sendDate' read as send_date"),
        ("a draft, then the record", "2 records in one answer, the last one read"),
        ("unknown keys", "left out what was not asked for: document_number, confidence"),
    ],
)
def test_repairs_are_named(case: str, repair: str) -> None:
    repairs = LETTERS.read(Answer("d", text=READABLE[case])).repairs
    assert (repair in repairs) if repair else not repairs


def test_plain_records_need_no_repair() -> None:
    for record in (RECORD, {"metadata": RECORD}):
        assert LETTERS.read(Answer("d", record=record)).repairs == ()
        assert LETTERS.read(Answer("d", text=json.dumps(record))).repairs == ()


FAILING = [
    (Answer("d", error="missing"), "missing"),
    (Answer("d", error="cut_off"), "cut_off"),
    (Answer("d", error="HTTP 500: overloaded"), "provider_error"),
    (Answer("d", error=""), "provider_error"),
    (Answer("d", text=""), "empty"),
    (Answer("d", text=" \n\ufeff "), "empty"),
    (Answer("d"), "empty"),
    (Answer("d", text="", finish="length"), "cut_off"),
    (Answer("d", text="", finish="content_filter"), "refused"),
    (Answer("d", text="I'm sorry, but I can't help with identifying people."), "refused"),
    (Answer("d", text="As an AI I do not read letters."), "refused"),
    (Answer("d", text="Es tut mir leid, das Bild ist nicht lesbar."), "refused"),
    (Answer("d", text="Je suis désolé, je ne peux pas lire cette image."), "refused"),
    (Answer("d", text="Mi dispiace, non posso aiutarti."), "refused"),
    (Answer("d", text="Lo siento, no puedo leerlo."), "refused"),
    (Answer("d", text='{"error": "I cannot process this image"}'), "refused"),
    (Answer("d", record={"refusal": "I can't read this"}), "refused"),
    (Answer("d", text='{"metadata": {"send_date": ["1926-02-16"], "sender_persons": ["Herr'), "cut_off"),
    (Answer("d", text='```json\n{"metadata": {"send_date": ["1926-02-16"]'), "cut_off"),
    (Answer("d", text='{"send_date": "1926-02-16"', finish="stop"), "cut_off"),
    (Answer("d", text="Looking at", finish="max_tokens"), "cut_off"),
    (Answer("d", text="Looking"), "not_json"),
    (Answer("d", text="The letter is dated 16 February 1926."), "not_json"),
    (Answer("d", text='{"send_date" "1926-02-16"}'), "not_json"),
    (Answer("d", text="[1, 2, 3]"), "wrong_shape"),
    (Answer("d", text='"1926-02-16"'), "wrong_shape"),
    (Answer("d", text="null"), "wrong_shape"),
    (Answer("d", text='{"title": "Document", "properties": {"send_date": {"type": "array"}}}'), "wrong_shape"),
    (Answer("d", record=[RECORD, RECORD]), "wrong_shape"),
    (Answer("d", record=7), "wrong_shape"),
    (Answer("d", text='{"sender_persons": ["' + "Item, " * 4000), "runaway"),
    (Answer("d", text="Item, " * 4000, finish="length"), "runaway"),
    (Answer("d", text="x" * (MAX_CHARACTERS + 1)), "runaway"),
]


@pytest.mark.parametrize(("answer", "reason"), FAILING)
def test_each_failure_has_one_reason(answer: Answer, reason: str) -> None:
    reading = LETTERS.read(answer)
    assert reading.failure == reason
    assert reading.failure in FAILURES
    assert reading.record is None
    assert reading.detail


def test_the_providers_words_are_kept() -> None:
    assert LETTERS.read(Answer("d", error="JSONDecodeError: line 3")).detail == "JSONDecodeError: line 3"


def test_a_complete_record_counts_even_where_the_provider_says_cut_off() -> None:
    reading = LETTERS.read(Answer("d", text=FLAT, finish="length"))
    assert reading.record == WANTED
    assert reading.repairs == ("finished for length, but the record is complete",)


@pytest.mark.parametrize(
    "text",
    [
        '{"text": "I am sorry, I cannot come"}',
        '```json\n{"text": "Ich kann leider nicht"}',
        "Dear Sir, the ship is late.",
        "Canal navigation on the Rhine",
    ],
)
def test_refusals_never_fire_on_content(text: str) -> None:
    assert not refuses(text)


def test_letters_that_speak_of_being_sorry_are_read() -> None:
    record = {"send_date": "1926-02-16", "letter_title": "I am sorry, I cannot come"}
    assert LETTERS.read(Answer("d", text=json.dumps(record))).failure is None


def test_an_empty_object_is_an_empty_record() -> None:
    for text in ("{}", '{"metadata": {}}'):
        reading = LETTERS.read(Answer("d", text=text))
        assert (reading.record, reading.repairs) == ({}, ("an empty record",))


PUBLISHED_CASES: list[tuple[str, dict[str, Any] | None]] = [
    (FLAT, {"send_date": ("1926-02-16",)}),
    (f"```json\n{FLAT}\n```", {"send_date": ("1926-02-16",)}),
    (f"So:\n```json\n{FLAT}\n``` and\n```json\n{{}}\n```", {"send_date": ("1926-02-16",)}),
    (f"{FLAT} and prose", None),
    (f"```\n{FLAT}\n```", None),
    (f"```json\n{FLAT}", None),
    (FLAT.replace("null", "null,"), None),
    (json.dumps({"metadata": str(RECORD)[:-1] + ",}"}), {"send_date": ("1926-02-16",)}),
    (json.dumps({"document": RECORD}), {"send_date": ()}),
    ('{"send_date": [null, "1926-02-16"]}', {"send_date": ()}),
    ('{"send_date": ""}', {"send_date": ("",)}),
    ('{"send_date": 1926}', {"send_date": ("1926",)}),
    ("[]", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "record"), PUBLISHED_CASES)
def test_published_reading_is_as_narrow_as_the_published_code(text: str, record: dict[str, Any] | None) -> None:
    reading = PUBLISHED.read(Answer("d", text=text))
    if record is None:
        assert reading.failure
    else:
        assert reading.failure is None
        assert reading.record["send_date"] == record["send_date"]


PAGE_CASES = {
    "plain": json.dumps(FOLIOS),
    "wrapped": json.dumps({"document": FOLIOS}),
    "under schema": json.dumps({"schema": FOLIOS}),
    "fence": f"```json\n{json.dumps(FOLIOS)}\n```",
    "a list alone": json.dumps(FOLIOS["folios"]),
    "an entry alone": json.dumps(FOLIOS["folios"][0]),
    "folios no list": json.dumps({"folios": FOLIOS["folios"][0]}),
    "as in the ground truth": json.dumps({"[3r]": FOLIOS["folios"]}),
    "number": json.dumps({"folios": [{"folio": 3, "text": "Vnd ein\n pferit", "addition1": None}]}),
    "lines as a list": json.dumps({"folios": [{"folio": "3", "text": ["Vnd ein", " pferit"], "addition1": ""}]}),
    "literal backslash-n": json.dumps({"folios": [{"folio": "3", "text": "Vnd ein\\n pferit", "addition1": ""}]}),
    "additions as a list": json.dumps({"folios": [{"folio": "3", "text": "Vnd ein\n pferit", "additions": [""]}]}),
    "raw line break": json.dumps(FOLIOS).replace("\\n", "\n"),
}


@pytest.mark.parametrize("case", PAGE_CASES)
def test_pages_as_models_really_send_them(case: str) -> None:
    reading = PAGES.read(Answer("d", text=PAGE_CASES[case]))
    assert reading.failure is None, reading
    assert reading.record == ENTRY


def test_several_bare_folios_are_one_page() -> None:
    text = '{"folio": "3", "text": "a"}\n{"folio": "4", "text": "b"}'
    assert [entry["text"] for entry in PAGES.read(Answer("d", text=text)).record] == ["a", "b"]
    several = json.dumps({"[3r]": [{"folio": "3", "text": "a"}], "[3v]": [{"folio": "", "text": "b"}]})
    assert [entry["text"] for entry in PAGES.read(Answer("d", text=several)).record] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"$defs": {"E": {"properties": {"folio": {"type": "string"}, "text": {"type": "string"}}}}, '
         '"properties": {"folios": {"type": "array"}}}', "wrong_shape"),
        ('{"folios": [{"folio": "3", "text": "Item, ' + "Item, " * 2000, "runaway"),
        ('{"folios": [{"folio": "3", "text": "a"}, {"folio": "4", "te', "cut_off"),
        ('{"folios": "none"}', "wrong_shape"),
        ("[]", "wrong_shape"),
    ],
)  # fmt: skip
def test_pages_that_fail(text: str, reason: str) -> None:
    assert PAGES.read(Answer("d", text=text)).failure == reason


def test_published_pages_need_the_list_folios() -> None:
    assert PUBLISHED_PAGES.read(Answer("d", text=json.dumps(FOLIOS))).record == tuple(FOLIOS["folios"])
    assert PUBLISHED_PAGES.read(Answer("d", text=json.dumps({"document": FOLIOS}))).failure == "wrong_shape"
    assert PUBLISHED_PAGES.read(Answer("d", record={"folios": ["text", None]})).record == (None, None)


# --- whatever comes -------------------------------------------------------------------------------------------------

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
KEYS = st.sampled_from(
    ["metadata", "send_date", "sender_persons", "receiver_persons", "folios", "folio", "text", "addition1", "name", "x"]
)
JSONS = st.recursive(
    SCALARS | st.sampled_from(["null", "None", "<<A>>", "{", '{"folios": [{"text": "a"}]}', "\ud800"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)
PIECES = st.sampled_from(
    ['{"', '":', "[", "]", "{", "}", ",", "'", '"', "\\", "\\n", "\\u", "```json", "```", "null", "NaN", "send_date",
     "folios", "metadata", "text", " ", "\n", "1", "-", "/*", "//", "a", "ä", "\u202e", "\x00", "\ud800", "🙂"]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=60)
SCORERS = [LETTERS, PUBLISHED, PAGES, PUBLISHED_PAGES, scorer(protocol="corrected"), scorer("manuscripts", "corrected")]


def truth_of(scorer: Scorer) -> Any:
    if scorer.task.name == "letters":
        return LetterTruth({"send_date": ("1926-02-16",), "sender_persons": ("A", "<<B>>"), "receiver_persons": ()})
    return PageTruth((("[3r]", {"folio": "3", "text": "abc", "addition1": ""}), ("[3v]", {"folio": "", "text": ""})))


@settings(max_examples=examples(150), deadline=None)
@given(JSONS)
def test_no_record_ever_raises(record: Any) -> None:
    for one in SCORERS:
        check(one, Answer("d", record=record))


@settings(max_examples=examples(150), deadline=None)
@given(TEXTS, st.sampled_from([None, "stop", "length", "content_filter"]))
def test_no_text_ever_raises(text: str, finish: str | None) -> None:
    for one in SCORERS:
        check(one, Answer("d", text=text, finish=finish))


def check(one: Scorer, answer: Answer) -> None:
    reading = one.read(answer)
    assert (reading.failure is None) == (reading.record is not None)
    assert reading.failure is None or reading.failure in FAILURES
    score = one.score(truth_of(one), reading)
    assert score is not None
    assert (score.counts >= 0).all()
    json.dumps({"fields": score.fields, "notes": score.notes}, allow_nan=False)


@settings(max_examples=examples(200), deadline=None)
@given(JSONS.filter(lambda value: isinstance(value, dict | list)))
def test_the_lenient_parser_reads_all_json(value: Any) -> None:
    text = json.dumps(value)
    found, end, _ = parse(text)
    assert end == len(text)
    assert json.dumps(found) == json.dumps(without_nan(json.loads(text)))


def without_nan(value: Any) -> Any:
    """Bare NaN reads as null."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, list):
        return [without_nan(item) for item in value]
    return {key: without_nan(item) for key, item in value.items()} if isinstance(value, dict) else value


@settings(max_examples=examples(200), deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=10),
                    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
                    max_leaves=15).filter(lambda value: isinstance(value, dict | list)))  # fmt: skip
def test_the_lenient_parser_reads_all_python_literals(value: Any) -> None:
    assert parse(repr(value))[0] == value


@pytest.mark.parametrize("text", ["", "{", "[1", '{"a"', '{"a":', '"a', "{1: 2}", "[" * 100, "nothing", '{"a" 1}'])
def test_the_lenient_parser_refuses(text: str) -> None:
    with pytest.raises(LenientError):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 1_000_000,
        '{"a":' * 300_000,
        '["' * 500_000,
        "{}" * 500_000,
        "[1]" * 300_000,
        "```json {" * 150_000,
        "```json } ``` " * 80_000,
        '{"' + "a" * 1_000_000,
        "{'" * 400_000,
        "\\n" * 500_000,
        "[illegible " * 100_000,
        "/*" * 400_000,
        "[/*" * 300_000,
        '{"sender_persons": [' + '"Christ", ' * 120_000 + '"x"]}',
        "i'm " * 250_000,
        "ich kann " * 100_000,
        " " * 1_000_000 + "x",
        '{"folios": [' + '{"text": "a"},' * 70_000 + "]}",
    ],
    ids=lambda text: text[:12].strip(),
)
def test_a_megabyte_takes_seconds_at_most(text: str) -> None:
    for one in (LETTERS, PUBLISHED, PAGES, PUBLISHED_PAGES):
        start = time.process_time()
        reading = one.read(Answer("d", text=text))
        assert time.process_time() - start < 5, one.task.name
        assert reading.failure or reading.record is not None


def test_a_hundred_megabytes_are_not_read() -> None:
    start = time.process_time()
    assert LETTERS.read(Answer("d", text="[" * 100_000_000)).failure == "runaway"
    assert time.process_time() - start < 2


def test_deep_records_are_read_to_their_first_levels() -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    assert LETTERS.read(Answer("d", record=deep)).failure == "wrong_shape"
    reading = LETTERS.read(Answer("d", record={"sender_persons": deep, "send_date": "1926-02-16"}))
    assert reading.record == {"sender_persons": (), "send_date": ("1926-02-16",)}
    assert reading.repairs == ("sender_persons: a list of 1 left out",)
    assert PUBLISHED.read(Answer("d", record={"send_date": deep})).record["send_date"] == ("a list of 1",)


def test_fences() -> None:
    assert fenced("``` {} ```") == "``` {} ```"
    assert fenced('```json\n{"a": "```"}\n```') == '{"a": "```"}'
    assert fenced("```json x ``` ```json [1] ```") == "[1]"


def test_repetition_needs_length_and_sameness() -> None:
    assert repeats("Item, " * 400)
    assert repeats('{"text": "' + " " * 5000)
    assert not repeats("Item, " * 100)
    assert not repeats("".join(chr(97 + (i * i * 7 + i) % 26) for i in range(5000)) + json.dumps(list(range(900))))
