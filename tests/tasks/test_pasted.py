"""Answers pasted from a chat window: what the pasting did to them is undone where there is nothing to choose."""

from __future__ import annotations

import html
import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.tasks import get_task
from histeval.tasks.base import FAILURES, Answer, Reading, Scorer
from histeval.tasks.description import Context
from histeval.tasks.lenient import TYPOGRAPHIC, LenientError, parse
from histeval.tasks.pasted import ENTITIES, LIST, NUMBERED, QUOTED, TABLE
from support import examples


def scorer(task: str = "letters", protocol: str = "documented") -> Scorer:
    chosen = get_task(task)
    return chosen.scorer(Context(chosen.default_description()), chosen.protocol(protocol))


LETTERS, PAGES = scorer(), scorer("manuscripts")
PUBLISHED = scorer(protocol="published")
NAMES = tuple(field.name for field in LETTERS.fields)  # type: ignore[attr-defined]


def read(text: str, one: Scorer = LETTERS, finish: str | None = None) -> Reading:
    return one.read(Answer("d", text=text, finish=finish))


# --- what pasting does ----------------------------------------------------------------------------------------------

STYLES = ["„“", "„”", "“”", "»«", "«»", "””", "‘’", "‚‘", "›‹", "＂＂"]


def with_quotes(text: str, style: str) -> str:
    """Straight quotes of a JSON text turned into typographic ones; those after a backslash keep it."""
    pieces, inside, place = [], False, 0
    while place < len(text):
        character = text[place]
        if character == "\\":
            pieces.append("\\" + (style[0] if text[place + 1] == '"' else text[place + 1]))
            place += 1
        elif character == '"':
            pieces.append(style[inside])
            inside = not inside
        else:
            pieces.append(character)
        place += 1
    return "".join(pieces)


def numbered(text: str, first: int = 1, form: str = "{:>3}: ") -> str:
    return "\n".join(form.format(first + place) + line for place, line in enumerate(text.split("\n")))


def quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.split("\n"))


def pretty(record: Any) -> str:
    return json.dumps(record, ensure_ascii=False, indent=2)


DAMAGES: dict[str, tuple[Callable[[str], str], str]] = {
    **{f"quotes {two}": (partial(with_quotes, style=two), "typographic quotes") for two in STYLES},
    "line numbers": (numbered, NUMBERED),
    "line numbers without a mark": (lambda text: numbered(text, form="{} "), NUMBERED),
    "line numbers from 17": (lambda text: numbered(text, 17, "{}\t"), NUMBERED),
    "line numbers with bars": (lambda text: numbered(text, form="{:>4} | ").replace(" | ", "| "), NUMBERED),
    "quoting": (quoted, QUOTED),
    "quoting, Windows": (lambda text: quoted(text).replace("\n", "\r\n"), QUOTED),
    "quoting of numbered lines": (lambda text: quoted(numbered(text)), QUOTED),
    "numbers before quoted lines": (lambda text: numbered(quoted(text)), NUMBERED),
    "entities": (html.escape, ENTITIES),
    "numeric entities": (lambda text: "".join(f"&#{ord(c)};" if c in "\"&'<>{" else c for c in text), ENTITIES),
    "entities in quoted lines": (lambda text: quoted(html.escape(text)), ENTITIES),
    "typographic entities": (lambda text: html.escape(with_quotes(text, "“”")).replace("“", "&ldquo;"), ENTITIES),
    "curly quotes in numbered lines": (lambda text: numbered(with_quotes(text, "“”")), NUMBERED),
    "prose around quoted lines": (lambda text: f"Here it is:\n\n{quoted(text)}\n\nAnything else?", QUOTED),
    "a fence in quoted lines": (lambda text: quoted(f"```json\n{text}\n```"), QUOTED),
}  # fmt: skip

LETTER = {
    "send_date": ["1931-05-04"],
    "sender_persons": ['Karin "Kari" Holm & Söhne', "O'Neill"],
    "receiver_persons": None,
}
READ = {
    "send_date": ("1931-05-04",),
    "sender_persons": ('Karin "Kari" Holm & Söhne', "O'Neill"),
    "receiver_persons": (),
}


@pytest.mark.parametrize("case", DAMAGES)
def test_a_pasted_record_is_read_and_the_repair_named(case: str) -> None:
    damage, repair = DAMAGES[case]
    for record in (LETTER, {"metadata": LETTER}):
        reading = read(damage(pretty(record)))
        assert (reading.failure, reading.record) == (None, READ)
        assert repair in reading.repairs
    assert read(damage(pretty(LETTER)), PUBLISHED).failure is not None


@pytest.mark.parametrize("case", DAMAGES)
def test_a_pasted_page_is_read(case: str) -> None:
    damage, repair = DAMAGES[case]
    page = {"folios": [{"folio": "3", "text": 'Vnd ein\n pferit & "x"', "addition1": ""}]}
    reading = read(damage(pretty(page)), PAGES)
    assert (reading.failure, reading.record) == (None, tuple(page["folios"]))
    assert repair in reading.repairs


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["1931-05-04", "Holm, Karin", "er sagte „ja“, dann", "“A”, “B”", "5” Rohr", "d’Alembert", "> 3", "1 2", "&amp;",
     '"x"', "send_date: x", "a\n2 b", "```", "{}", "[", "”", "“}", "”,", "’]", "«»", "\\"]
)  # fmt: skip
RECORDS = st.fixed_dictionaries(
    {}, optional={name: st.none() | WORDS | st.lists(WORDS, max_size=3) for name in NAMES}
).filter(bool)


@settings(max_examples=examples(150), deadline=None)
@given(RECORDS, st.sampled_from(list(DAMAGES)))
def test_what_is_read_of_a_pasted_record_is_the_record(record: dict[str, Any], case: str) -> None:
    """Or, where quotes inside a text leave a choice, it is a failure; never another record."""
    damage, _ = DAMAGES[case]
    whole = read(pretty(record))
    reading = read(damage(pretty(record)))
    if reading.failure is None and whole.record and not reading.record:
        assert "{}" in pretty(record)  # the ordinary reading takes braces in prose for an empty record
    elif reading.failure is None:
        assert reading.record == whole.record
    else:
        assert any(mark in pretty(record) for mark in TYPOGRAPHIC), reading


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(["folio", "text", "addition1"]), WORDS, min_size=2), max_size=3),
       st.sampled_from(list(DAMAGES)))  # fmt: skip
def test_what_is_read_of_a_pasted_page_is_the_page(entries: list[dict[str, str]], case: str) -> None:
    damage, _ = DAMAGES[case]
    whole = read(pretty({"folios": entries}), PAGES)
    reading = read(damage(pretty({"folios": entries})), PAGES)
    if reading.failure is None:
        assert reading.record == whole.record
    else:
        assert any(mark in pretty(entries) for mark in TYPOGRAPHIC), reading


# --- lists and tables -----------------------------------------------------------------------------------------------

PLAIN = {"send_date": "1931-05-04", "sender_persons": ["Karin Holm", "Otto Brandt"], "receiver_persons": None}
PLAIN_READ = {
    "send_date": ("1931-05-04",), "sender_persons": ("Karin Holm", "Otto Brandt"), "receiver_persons": (),
}  # fmt: skip


def bold(key: str) -> str:
    return f"- **{key}:**"


def as_list(record: dict[str, Any], head: Callable[[str], str], bullet: str = "  - ") -> str:
    lines = []
    for key, value in record.items():
        several = isinstance(value, list)
        lines.append(head(key) if several or value is None else f"{head(key)} {value}")
        lines += [f"{bullet}{element}" for element in value] if several else []
    return "\n".join(lines)


def as_table(record: dict[str, Any]) -> str:
    rows = []
    for key, value in record.items():
        cell = " \\| ".join(value) if isinstance(value, list) else (value or "").replace("|", "\\|")
        rows.append(f"| {key} | {cell} |")
    return "\n".join(["| field | value |", "|:--|---|", *rows])


LISTS = {
    "bold, colon inside": as_list(PLAIN, bold),
    "bold, colon outside": as_list(PLAIN, lambda key: f"* **{key}**:"),
    "bold code": as_list(PLAIN, lambda key: f"- **`{key}`**:"),
    "code": as_list(PLAIN, lambda key: f"+ `{key}`:"),
    "numbered": as_list(PLAIN, lambda key: f"{1 + list(PLAIN).index(key)}. **{key}:**", "   * "),
    "plain lines": as_list(PLAIN, lambda key: f"{key}:"),
    "YAML in a fence": "```yaml\n" + as_list(PLAIN, lambda key: f"{key}:", "- ") + "\n```",
    "blank lines between": as_list(PLAIN, bold).replace("\n- ", "\n\n- "),
    "prose around": f"Here is what I see:\n{as_list(PLAIN, bold)}\n\nTell me if you need more.",
    "rules around": f"Here is what I see:\n---\n{as_list(PLAIN, bold)}\n---\nTell me if you need more.",
    "JSON without braces": '"send_date": ["1931-05-04"],\n"sender_persons": ["Karin Holm", "Otto Brandt"],\n'
    '"receiver_persons": null',
    "quoted lines": quoted(as_list(PLAIN, bold)),
    "line numbers": numbered(as_list(PLAIN, bold)),
    "table": as_table(PLAIN),
    "table with bold keys": as_table({f"**{key}**": value for key, value in PLAIN.items()}),
    "table without a head": as_table(PLAIN).split("\n", 2)[2],
    "table with a field as its head": "| send_date | 1931-05-04 |\n|---|---|\n"
    "| sender_persons | Karin Holm \\| Otto Brandt |",
    "table, a column a field": "| send_date | sender_persons |\n|---|---|\n| 1931-05-04 | Karin Holm \\| Otto Brandt |",
    "prose around a table": f"Here it is:\n\n{as_table(PLAIN)}\n\nTell me if you need more.",
}  # fmt: skip


@pytest.mark.parametrize("case", LISTS)
def test_lists_with_the_names_of_the_fields_are_records(case: str) -> None:
    reading = read(LISTS[case])
    assert reading.failure is None, reading
    assert reading.record == {key: value for key, value in PLAIN_READ.items() if key in reading.record}
    assert {"send_date", "sender_persons"} <= reading.record.keys()
    assert {LIST, TABLE} & set(reading.repairs)
    assert ("text around the record left out" in reading.repairs) == ("around" in case)


LINES = st.text(st.characters(categories=["L", "N", "Zs", "Po", "Pd"]), max_size=15).map(
    lambda text: " ".join(text.replace("|", "").split())
).filter(lambda text: text[:1].isalnum() and text not in ("null", "null,"))  # fmt: skip
SIMPLE = st.fixed_dictionaries(
    {name: st.none() | LINES | st.lists(LINES, min_size=1, max_size=3) for name in NAMES[:2]},
    optional=dict.fromkeys(NAMES[2:], LINES),
)


@settings(max_examples=examples(150), deadline=None)
@given(SIMPLE, st.sampled_from(["bold", "lines", "table", "quoted table"]))
def test_a_record_written_as_a_list_is_the_record(record: dict[str, Any], form: str) -> None:
    if form == "bold":
        text = as_list(record, bold)
    elif form == "lines":
        text = as_list(record, lambda key: f"{key}:", "- ")
    else:
        record = {key: " | ".join(value) if isinstance(value, list) else value for key, value in record.items()}
        text = quoted(as_table(record)) if form == "quoted table" else as_table(record)
    reading = read(text)
    assert reading.failure is None, reading
    assert reading.record == read(json.dumps(record)).record


NOT_LISTS = {
    "one field only": ("send_date: 1931-05-04", "not_json"),
    "other keys": ("- **date:** 1931-05-04\n- **senders:** Karin Holm", "not_json"),
    "keys in another style": ("Send Date: 1931-05-04\nSender Persons: Karin Holm", "not_json"),
    "a key that is none": ("send_date: 1931\nconfidence: high\nsender_persons: Karin Holm", "wrong_shape"),
    "a field twice": ("send_date: 1931\nsender_persons: A\n\nsend_date: 1932", "wrong_shape"),
    "a value over two lines": ("send_date: 1931\nsender_persons: Karin\nHolm", "wrong_shape"),
    "half JSON": ('"send_date": ["1931"],\n"sender_persons": ["Kar', "cut_off"),
    "JSON and more": ('send_date: 1931\nsender_persons: ["A"] and ["B"]', "wrong_shape"),
    "the inside of a broken object": ('{\n"send_date": "1931"\n"sender_persons": ["A"]\n}', "wrong_shape"),
    "a table of three columns": ("|a|b|c|\n|-|-|-|\n|send_date|1931|1|\n|sender_persons|A|2|", "wrong_shape"),
    "two rows": ("|send_date|sender_persons|\n|-|-|\n|1931|A|\n|1932|B|", "not_json"),
    "a letter": ("Karin Holm\n1931\n\nDear Sir,\n- one: two\n- three: four\n\nYours", "not_json"),
    "names in running text": ("The send_date: 1931, and\nthe sender_persons: unknown.", "not_json"),
}


@pytest.mark.parametrize("case", NOT_LISTS)
def test_what_is_no_list_beyond_doubt_is_a_named_failure(case: str) -> None:
    text, reason = NOT_LISTS[case]
    reading = read(text)
    assert (reading.failure, reading.record) == (reason, None)


def test_a_list_that_was_cut_off_is_not_read() -> None:
    text = LISTS["bold, colon inside"]
    assert read(text, finish="length").failure == "cut_off"
    assert read(text, finish="stop").failure is None


SENTENCES = st.lists(
    st.sampled_from([*NAMES, "the", "letter", "“folios”", "„send_date“:", "is:", "1931-05-04", "Herr", "Holm,", "[...]",
                     "&amp;", "> so", "1", "**bold**", "I", "see", "|", "-", "»nichts«", "{", "}", "\n", "\n\n",
                     "&quot;", ":", "\""]),
    max_size=40,
)  # fmt: skip


@settings(max_examples=examples(300), deadline=None)
@given(SENTENCES)
def test_prose_is_never_read_as_a_record(words: list[str]) -> None:
    """Every line begins with a word that is no field's name; braces with nothing between them were a record before."""
    text = "\n".join(f"So {line}" for line in " ".join(words).split("\n"))
    if not any(text.replace(" ", "").count(braces) for braces in ("{}", "{\n}")) and "{" in words:
        text = text.replace("}", "")
    for one in (LETTERS, PAGES):
        reading = read(text.replace("{", ""), one)
        assert reading.failure in FAILURES, (text, reading)


# --- never an exception, and no long waits ---------------------------------------------------------------------------

PIECES = st.sampled_from(
    ["{", "}", "[", "]", ":", ",", "“", "”", "„", "»", "«", "‘", "’", '"', "\\", "\\“", "> ", "\n", "\n\n", "1 ", "2: ",
     "3|", "&quot;", "&#34;", "&#99999999;", "&amp;", "&#0;", "&#xD800;", "- ", "* ", "**", "`", "|", "|---|---|",
     "```", "---", "send_date", "sender_persons", "receiver_persons", "folios", "text", "folio", " ", "  ", "x", "null",
     "\r", "\x00", "\ud800"]
)  # fmt: skip


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join), st.sampled_from([None, "length"]))
def test_no_text_ever_raises(text: str, finish: str | None) -> None:
    for one in (LETTERS, PAGES):
        reading = read(text, one, finish)
        assert (reading.failure is None) == (reading.record is not None)
        assert reading.failure is None or reading.failure in FAILURES


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_the_typographic_parser_raises_only_its_own_error(text: str) -> None:
    try:
        _, end, _ = parse(text, 0, typographic=True)
    except LenientError:
        return
    assert end <= len(text)


@pytest.mark.parametrize(
    "text",
    [
        "{“" * 300_000,
        "{“a”:" * 200_000,
        "[“" + "“x” " * 200_000 + "”]",
        "{“a”: “" + "x”,  " * 200_000,
        "[“a”," + " " * 900_000 + "x",
        "> {\n" * 200_000 + "“",
        "\n".join(f"{number} [“" for number in range(120_000)),
        "&quot;{" * 130_000,
        "&" * 900_000 + "“",
        "> 1 > 2 > 3 " * 80_000,
        "send_date: x\n" * 70_000,
        "- **send_date:**\n" + "  - x\n" * 25_000 + "sender_persons: y",
        "| send_date | x |\n" * 10_000,
        "| sender_persons | x |\n|" + "\\|" * 90_000,
        "*" * 190_000 + "\nsend_date: x\nsender_persons: y\n“",
        "- " * 95_000 + "\nsend_date: x\nsender_persons: y",
    ],
    ids=lambda text: text[:12].strip(),
)
def test_a_megabyte_takes_seconds_at_most(text: str) -> None:
    text += "".join(chr(97 + (i * i * 7 + i * (i // 11)) % 26) for i in range(9000))  # so that it is no mere repetition
    for one in (LETTERS, PAGES):
        start = time.process_time()
        reading = read(text, one)
        assert time.process_time() - start < 5, one.task.name
        assert reading.failure or reading.record is not None


# --- what failures say ----------------------------------------------------------------------------------------------


def test_a_wrong_shape_names_the_keys_that_are_there_and_those_that_are_wanted() -> None:
    for text in (
        '{"date": "1931", "senders": [], "receivers": []}',
        "{“date”: “1931”, “senders”: [], “receivers”: []}",
    ):
        reading = read(text)
        assert reading.failure == "wrong_shape"
        assert reading.detail == (
            "the answer holds an object with 'date', 'senders', 'receivers'; "
            "wanted: 'letter_title', 'send_date', 'sender_persons', 'receiver_persons'"
        )
    assert "'pages'; wanted: 'folios'" in read('{"pages": []}', PAGES).detail


def test_a_pasted_answer_that_was_cut_off_is_cut_off() -> None:
    for text in ("{“send_date”: “19", "> {\n>   “send_date”: [", "{&quot;send_date&quot;: [&quot;19"):
        assert read(text).failure == "cut_off"


def test_a_plain_transcription_says_how_it_becomes_an_answer() -> None:
    reading = read("Vnd ein\npferit\n", PAGES)
    assert reading.failure == "not_json"
    assert "histeval import transcription FILE --answers" in reading.detail


@pytest.mark.parametrize(
    "text",
    [
        "{“send_date”: “5” Rohr”}",
        "{“send_date”: “a ”, “b”}",
        "{“sender_persons”: [“A “B”, “C””]}",
        "{“send_date: “1931”}",
        "{“send_date”: ”1931”}",
        "{„letter_title“: „“}“}",
        "{„letter_title“: „“,”}",
        "1 {\n3 “send_date”: “1931”\n4 }",
    ],
)
def test_what_leaves_a_choice_is_not_read(text: str) -> None:
    assert read(text).failure in ("not_json", "wrong_shape", "cut_off")
