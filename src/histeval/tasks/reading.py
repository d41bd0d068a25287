"""Reading what came back from a model: to a decoded value, or to a failure with one named reason.

Two readings: `published` does what the published benchmarks did (the first fenced object, else the whole text; see
`published_reading`); `tolerant` accepts what models really send. Neither raises for anything an answer can hold,
neither changes the raw text, both are bounded in size and depth and linear in the length.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from histeval.tasks.base import FAILURES, Answer, Reading, Rule
from histeval.tasks.lenient import TYPOGRAPHIC, LenientError, parse
from histeval.tasks.pasted import NoList, listed, restored

READING = Rule(
    "reading",
    "choice",
    "tolerant",
    "published",
    "tolerant",
    choices=("tolerant", "published"),
    help="how an answer is decoded: whatever models really send, or exactly as the published benchmarks did",
)

MAX_CHARACTERS = 4_000_000
"""Longer answers are not read: no page of a manuscript holds a thousandth of that."""
MAX_ATTEMPTS = 200
MAX_VALUES = 5000
MAX_NESTING = 4
MAX_VISITS = 400

CUT_OFF = {"length", "max_tokens", "max_output_tokens", "length_limit_exceeded", "model_length", "incomplete"}
REFUSED = {"content_filter", "safety", "refusal", "recitation", "blocklist", "prohibited_content", "spii"}

REFUSAL = re.compile(
    r"""\b(?:
      i(?:(?:'|’)?m|\s+am)\s+(?:really\s+|very\s+)?(?:sorry|unable|not\s+able|afraid)
    | i\s+(?:cannot|can\s*not|can(?:'|’)t|won(?:'|’)t|must\s+decline|apologi[sz]e) | sorry,\s+(?:but\s+)?i
    | as\s+an\s+ai | unable\s+to\s+(?:process|assist|help|comply|read|transcribe)
    | tut\s+mir\s+(?:sehr\s+)?leid | ich\s+(?:kann|darf)\b[^.]{0,80}\bnicht | ich\s+bin\s+nicht\s+in\s+der\s+lage
    | je\s+suis\s+(?:vraiment\s+)?d[ée]sol[ée]e? | d[ée]sol[ée]e?,\s+(?:mais\s+)?je | je\s+ne\s+(?:peux|puis)\s+pas
    | mi\s+dispiace | non\s+(?:posso|sono\s+in\s+grado) | lo\s+siento | no\s+puedo | desculpe | n[ãa]o\s+posso
    | het\s+spijt\s+me | ik\s+kan\b[^.]{0,80}\bniet | przepraszam | nie\s+mog[ęe] | jag\s+kan\s+(?:tyvärr\s+)?inte
    )\b | 申し訳 | 抱歉 | 对不起 | к\s+сожалению""",
    re.IGNORECASE | re.VERBOSE,
)

_BRACKET = re.compile(r"[{\[]")
_ANY_BRACKET = re.compile(r"[{}\[\]]")
_OPENS = re.compile(rf"[{{\[]\s*[\"'{{\[{''.join(TYPOGRAPHIC)}]")
_FENCE_BEFORE = re.compile(r"```\w*\s*")
_FENCE_AFTER = re.compile(r"\s*```\s*")

Find = Callable[[Any, list[str]], Any]
"""A task's search for its record in a decoded value: the record or None; it appends repairs to the list."""


Merge = Callable[[list[tuple[Any, list[str]]]], "tuple[Any, list[str]] | None"]
"""A task's way to make one record of several, each with its repairs; None where they are not parts of one."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a task's record looks like, for answers that hold none: its `keys`, whether a list or table with these keys
    is one too (`lists`), and what to say of a text without JSON (`advice`)."""

    keys: tuple[str, ...]
    lists: bool = False
    advice: str = ""


def read_tolerant(answer: Answer, find: Find, merge: Merge | None = None, wanted: Wanted | None = None) -> Reading:
    """The record of an answer, in whatever wrapping it came.

    Where several records stand in one text (a draft, then the final one), the last counts, unless `merge` says that
    they are parts of one. With `wanted`, a text without a record is read once more as one that was pasted from a chat
    window.

    >>> find = lambda value, repairs: value if isinstance(value, dict) and "a" in value else None
    >>> read_tolerant(Answer("d", text='Here it is: {"a": 1,} as asked.'), find)  # doctest: +ELLIPSIS
    Reading(record={'a': 1}, failure=None, detail='', repairs=('trailing comma', 'text around the record left out'))
    >>> read_tolerant(Answer("d", text="I am sorry, I cannot read this."), find).failure
    'refused'
    """
    failed = failed_before_reading(answer)
    if failed:
        return failed
    text = answer.text if answer.record is None else answer.record
    repairs: list[str] = []
    if not isinstance(text, str):
        found = _finish([(text, repairs)], find, merge, answer)
        return found or unreadable(answer, "", [text], at_end=False, wanted=wanted)
    if answer.record is not None:
        repairs.append("record given as text")
    if len(text) > MAX_CHARACTERS:
        return too_long(text)
    values, at_end = decode_all(text, repairs)
    found = _finish(values, find, merge, answer)
    if not (found and found.record) and wanted is not None and not repeats(text):
        # where all that was found are braces with nothing in them, or a bracket without end, these may stand inside a
        # text of a pasted record
        pasted, more, cut = _read_pasted(answer, text, find, merge, wanted, lists=not at_end)
        found = pasted or found
        if more or cut:
            values, at_end = more, cut
    return found or unreadable(answer, text, [value for value, _ in values], at_end, wanted)


def _read_pasted(
    answer: Answer, text: str, find: Find, merge: Merge | None, wanted: Wanted, lists: bool
) -> tuple[Reading | None, list[tuple[Any, list[str]]], bool]:
    """The reading of a text that was pasted from a chat window, None where it holds no record; and the values it
    holds, and whether one was cut off."""
    said = ["record given as text"] if answer.record is not None else []
    values: list[tuple[Any, list[str]]] = []
    cut = False
    texts = [(text, list[str]())]
    for candidate, undone in restored(text):
        if undone:
            texts.append((candidate, undone))
        more, at_end = _scan(candidate.strip(), [*said, *undone], typographic=True)
        found = _finish(more, find, merge, answer)
        if found is not None:
            return found, more, at_end
        values, cut = more or values, cut or at_end
    finish = by_finish(answer)
    for candidate, undone in texts if wanted.lists and lists and not cut and finish is None else ():
        try:
            spelled = listed(candidate, wanted.keys)
        except NoList as fault:
            return Reading(failure="wrong_shape", detail=f"{fault}; {_wanted(wanted)}"), values, cut
        if spelled is not None:
            found = _finish([(spelled[0], [*said, *undone, *spelled[1]])], find, merge, answer)
            if found is not None:
                return found, values, cut
    return None, values, cut


def decode_all(text: str, repairs: list[str]) -> tuple[list[tuple[Any, list[str]]], bool]:
    """Every JSON or almost-JSON value in a text, in order, each with its repairs; and whether one was cut off."""
    stripped = text.strip().lstrip("\ufeff")
    try:
        value = json.loads(stripped, object_pairs_hook=_Pairs(repairs))
    except (ValueError, RecursionError):
        pass
    else:
        return [(value, repairs)], False
    values, at_end = _scan(stripped, repairs)
    if not values and re.search(r'[{\[,:]\s*\\"', stripped[:2000]):
        try:
            unescaped = json.loads(f'"{stripped}"', strict=False)
        except (ValueError, RecursionError):
            return values, at_end
        values, _ = _scan(unescaped, [*repairs, "escaped twice"])
    return values, at_end


class _Pairs:
    """Members of a decoded object; keys that stand there twice are reported."""

    def __init__(self, repairs: list[str]) -> None:
        self.repairs = repairs

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    self.repairs.append(f"key {key[:60]!r} given twice, the last one read")
                seen.add(key)
        return members


def _scan(text: str, repairs: list[str], typographic: bool = False) -> tuple[list[tuple[Any, list[str]]], bool]:
    """Values that begin at a bracket. Failing attempts may together cost a few times the length of the text.

    With `typographic` nothing is taken out of the inside of a value that cannot be read: what is guessed at is read
    whole or not at all.
    """
    values: list[tuple[Any, list[str]]] = []
    budget, attempts = 3 * len(text) + 10_000, 0
    bracket = _BRACKET
    match = bracket.search(text)
    while match and attempts < MAX_ATTEMPTS and budget > 0:
        start = match.start()
        mended: list[str] = list(repairs)
        try:
            value, end = json.JSONDecoder(object_pairs_hook=_Pairs(mended)).raw_decode(text, start)
        except (ValueError, RecursionError):
            mended = list(repairs)
            try:
                value, end, lenient = parse(text, start, typographic)
                mended += lenient
            except LenientError as error:
                attempts += 1
                budget -= error.position - start
                # What an open bracket holds is part of a value that was cut off, not a value of its own; a bracket in
                # prose ("[illegible") is not, so it must open a member or an element.
                if _OPENS.match(text, start) and (error.at_end or typographic):
                    return ([] if typographic else values), error.at_end
                match = bracket.search(text, start + 1)
                continue
        following = _ANY_BRACKET.search(text, end) if typographic else None
        if following and following.group() in "}]":
            return [], False  # the value seems to go on: a quote inside it was taken for its end
        if start > 0 or end < len(text):
            alone = _FENCE_BEFORE.fullmatch(text[: min(start, 40)]) and _FENCE_AFTER.fullmatch(text[end : end + 40])
            mended.append(
                "fence" if alone and start <= 40 and len(text) - end <= 40 else "text around the record left out"
            )
        values.append((value, mended))
        match = bracket.search(text, end)
        if match and len(values) == MAX_VALUES:
            mended.append(f"what follows the first {MAX_VALUES} values left out")
            break
    return values, False


def _finish(values: list[tuple[Any, list[str]]], find: Find, merge: Merge | None, answer: Answer) -> Reading | None:
    found = []
    for value, repairs in values:
        record = find(value, repairs)
        if record is not None:
            found.append((record, repairs))
    if not found:
        return None
    together = merge(found) if merge and len(found) > 1 else None
    record, repairs = together or found[-1]
    if len(found) > 1 and together is None:
        repairs.append(f"{len(found)} records in one answer, the last one read")
    if str(answer.finish or "").lower() in CUT_OFF:
        repairs.append("finished for length, but the record is complete")
    return Reading(record=record, repairs=tuple(dict.fromkeys(repairs)))


def failed_before_reading(answer: Answer) -> Reading | None:
    """The failure of an answer that is an error or holds nothing."""
    if answer.error is not None:
        error = str(answer.error)
        if error in FAILURES:
            return Reading(failure=error, detail=FAILURES[error])
        return Reading(failure="provider_error", detail=error[:400] or FAILURES["provider_error"])
    text = answer.text if answer.record is None else answer.record
    if text is None or (isinstance(text, str) and not text.strip().strip("\ufeff")):
        return by_finish(answer) or Reading(failure="empty", detail=FAILURES["empty"])
    return None


def by_finish(answer: Answer) -> Reading | None:
    """The failure that the provider's finish reason tells, if it tells one."""
    finish = str(answer.finish or "").lower()
    if finish in CUT_OFF:
        return Reading(failure="cut_off", detail=f"the provider says it finished for {finish}")
    if finish in REFUSED:
        return Reading(failure="refused", detail=f"the provider says it finished for {finish}")
    return None


def too_long(text: str) -> Reading:
    """The failure of a text of more than MAX_CHARACTERS."""
    return Reading(failure="runaway", detail=f"{len(text)} characters; more than {MAX_CHARACTERS} are not read")


def unreadable(answer: Answer, text: str, values: list[Any], at_end: bool, wanted: Wanted | None = None) -> Reading:
    """Why no record was found, as one reason."""
    finish = by_finish(answer)
    if text and repeats(text):
        return Reading(failure="runaway", detail=f"{len(text)} characters that repeat themselves")
    if finish:
        return finish
    if at_end:
        return Reading(failure="cut_off", detail="the text ends inside a JSON value")
    if refuses(text) or any(refuses(words) for value in values for words in _own_words(value)):
        return Reading(failure="refused", detail=FAILURES["refused"])
    if values:
        objects = [value for value in values if isinstance(value, Mapping) and value]
        detail = f"the answer holds {shape((objects or values)[-1])}"
        return Reading(failure="wrong_shape", detail=f"{detail}; {_wanted(wanted)}" if wanted else detail)
    advice = f"; {wanted.advice}" if wanted and wanted.advice else ""
    return Reading(failure="not_json", detail=FAILURES["not_json"] + advice)


def _wanted(wanted: Wanted) -> str:
    more = " ..." if len(wanted.keys) > 6 else ""
    return f"wanted: {', '.join(map(repr, wanted.keys[:6]))}{more}"


def refuses(text: str) -> bool:
    """Whether a text, which holds no record, begins as a refusal does. What looks like JSON never is one."""
    start = text.lstrip()[:400]
    return not start.startswith(("{", "[", "```")) and REFUSAL.search(start) is not None


def _own_words(value: Any) -> Iterator[str]:
    """What a model says in an object that is no record: `{"error": "I cannot ..."}`."""
    if isinstance(value, str):
        yield value
    if isinstance(value, Mapping) and len(value) <= 4:
        for key, words in value.items():
            if isinstance(words, str) and str(key).lower() in ("error", "refusal", "message", "reason", "response"):
                yield words


def repeats(text: str) -> bool:
    """Whether the end of a text says the same thing over and over: it compresses to under a twentieth.

    >>> repeats("Item, " * 1000), repeats("Item, " * 10)
    (True, False)
    """
    tail = text[-8000:].encode("utf-8", "replace")
    return len(tail) >= 2000 and len(zlib.compress(tail)) < len(tail) / 20


def shape(value: Any) -> str:
    """What a decoded value is, in words.

    >>> shape({"a": 1}), shape([1, 2]), shape(None)
    ("an object with 'a'", 'a list of 2', 'null')
    """
    if isinstance(value, Mapping):
        keys = ", ".join(repr(str(key)[:40]) for key in list(value)[:5])
        return f"an object with {keys}" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if value is None:
        return "null"
    return {bool: "true or false", int: "a number", float: "a number", str: "a text"}.get(type(value), "no JSON")


def search_record(
    value: Any, accept: Callable[[Any], bool], repairs: list[str], expected: tuple[str, ...] = ("",)
) -> Any:
    """The first value that `accept` takes, looked for in breadth through wrappers, lists of one and records given as
    text, at most `MAX_NESTING` levels down; None if there is none. `expected` are the paths where it belongs."""
    level = [(value, "")]
    visits = 0
    for _ in range(MAX_NESTING + 1):
        below: list[tuple[Any, str]] = []
        for item, path in level:
            visits += 1
            if visits > MAX_VISITS:
                return None
            if isinstance(item, str):
                item = _inner(item, repairs)
            if accept(item):
                if path not in expected:
                    repairs.append(f"record found under {path}")
                return item
            if isinstance(item, Mapping):
                for key, member in list(item.items())[:50]:
                    inside = isinstance(member, Mapping | list) or (
                        isinstance(member, str) and _looks_decodable(member)
                    )
                    if inside:
                        below.append((member, f"{path}/{str(key)[:40]}" if path else str(key)[:40]))
            elif isinstance(item, list) and len(item) == 1:
                below.append((item[0], f"{path}[0]"))
        level = below
    return None


def _looks_decodable(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[")


def _inner(text: str, repairs: list[str]) -> Any:
    if not _looks_decodable(text):
        return text
    try:
        value, _, mended = parse(text)
    except LenientError:
        return text
    repairs.extend(["record given as text", *mended])
    return value


def is_missing(value: Any) -> bool:
    """Null or the bare NaN that some writers put for it."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def as_text(value: Any) -> str:
    """A scalar as text; what Python refuses to print (thousands of digits or levels) as what it is."""
    try:
        return str(value)
    except (ValueError, RecursionError):
        return shape(value)
