"""Inline markup: `<PER>Dufay</PER>, <SPAT><LOC>r. du Pont</LOC></SPAT>` to an entry and back.

The grammar is small (start tags, end tags, the five predefined entities and numeric references), so that a scanner of
our own reads it in linear time, with nothing to expand or to fetch. Lenient reading mends every fault and names it:
for `check`, and for the answers of language models. Strict reading raises on the first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from histeval.entities.grammar import Grammar
from histeval.entities.spans import Entry, Span
from histeval.errors import InputError

FAULTS = {
    "unknown": "a tag that the grammar does not have",
    "spelling": "a tag that the grammar has in another spelling",
    "nesting": "an element where the grammar does not allow it",
    "crossing": "an element that ends while one inside it is still open",
    "unclosed": "an element that is never closed",
    "unopened": "an end tag without its start tag",
    "empty": "an element without text or with white space only",
    "attributes": "a tag with attributes",
    "stray": "a '<' or '&' that is neither a tag nor a character reference",
    "instruction": "a comment, declaration or processing instruction",
}
"""The kinds of fault in inline markup, and what each means."""


@dataclass(frozen=True, slots=True)
class MarkupFault:
    """A fault: its kind (a key of `FAULTS`), its place in the markup (code points), and a sentence on what was done."""

    kind: str
    offset: int
    what: str


_MARK = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z_][\w.\-:]*)(?P<rest>(?:\s[^<>]*)?)(?P<single>/?)>"
    r"|(?P<instruction><[!?][^<>]*>)"
    r"|&(?:#(?P<decimal>[0-9]{1,7})|#[xX](?P<hexadecimal>[0-9A-Fa-f]{1,6})|(?P<entity>lt|gt|amp|quot|apos));"
    r"|(?P<stray>[<&])"
)
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


def read_markup(markup: str, grammar: Grammar | None = None) -> tuple[Entry, tuple[MarkupFault, ...]]:
    """An entry from inline markup, and the faults that were mended on the way.

    Without a grammar every tag is taken and loses its hyphens (TITRE-H is TITREH, as published). With one, a tag that
    it knows as spelled is kept; else one without hyphens or in other case is used; else the tag is kept as spelled and
    named as unknown. Never raises.

    >>> entry, faults = read_markup("<PER>Dufay <TITRE-H>fils</PER> & C")
    >>> entry.text, [(span.type, span.start, span.end, span.parent) for span in entry.spans]
    ('Dufay fils & C', [('PER', 0, 10, None), ('TITREH', 6, 10, 0)])
    >>> [fault.kind for fault in faults]
    ['crossing', 'stray']
    """
    return _Scanner(markup, grammar).read()


def parse_markup(
    markup: str, grammar: Grammar | None = None, *, file: str | None = None, line: int | None = None
) -> Entry:
    """An entry from inline markup without a fault; raises InputError on the first fault."""
    entry, faults = read_markup(markup, grammar)
    if faults:
        first = faults[0]
        raise InputError(
            first.what,
            file=file,
            line=line,
            item=f"character {first.offset + 1}",
            remedy="Mend the markup; `histeval check` lists every fault at once",
        )
    return entry


def write_markup(entry: Entry, names: Mapping[str, str] | None = None, *, quotes: bool = False) -> str:
    """The entry as inline markup, text escaped; `names` gives the tag of a type where it is spelled in another way.

    With `quotes` quotation marks and apostrophes are escaped too, as in the published OCR texts.

    Raises InputError where spans cross or a type cannot be a tag, since markup cannot say that.

    >>> write_markup(Entry("A & B", (Span("TITREH", 0, 1),)), {"TITREH": "TITRE-H"})
    '<TITRE-H>A</TITRE-H> &amp; B'
    """
    parts: list[str] = []
    open_spans: list[int] = []
    place = 0
    names = names or {}

    def text_until(offset: int) -> None:
        nonlocal place
        text = escape(entry.text[place:offset])
        parts.append(text.replace('"', "&quot;").replace("'", "&apos;") if quotes else text)
        place = offset

    def tag(index: int) -> str:
        kind = entry.spans[index].type
        name = names.get(kind, kind)
        if not re.fullmatch(r"[A-Za-z_][\w.\-]*", name):
            raise InputError(f"the entity type {name!r} cannot be written as a tag", remedy="Export to another format")
        return name

    def close() -> None:
        index = open_spans.pop()
        text_until(entry.spans[index].end)
        parts.append(f"</{tag(index)}>")

    for index, span in enumerate(entry.spans):
        while open_spans and open_spans[-1] != span.parent:
            close()
        outer = entry.spans[open_spans[-1]] if open_spans else None
        inside = outer is None or (outer.start <= span.start and span.end <= outer.end)
        if (span.parent is not None and outer is None) or not place <= span.start <= span.end or not inside:
            raise InputError(
                f"the entity {span.type} at characters {span.start} to {span.end} crosses another, which inline markup "
                "cannot say",
                remedy="Export to a format with offsets",
            )
        text_until(span.start)
        parts.append(f"<{tag(index)}>")
        open_spans.append(index)
    while open_spans:
        close()
    text_until(len(entry.text))
    return "".join(parts)


def escape(text: str) -> str:
    """Text with `&`, `<` and `>` as entities, as inline markup needs it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


class _Scanner:
    """One reading of one markup; spans are collected as lists [type, start, end, parent] while they are open."""

    def __init__(self, markup: str, grammar: Grammar | None) -> None:
        self.markup, self.grammar = markup, grammar
        self.faults: list[MarkupFault] = []
        self.text: list[str] = []
        self.length = 0
        self.spans: list[tuple[str, int, int, int | None]] = []
        self.open: list[int] = []
        self.open_names: Counter[str] = Counter()
        self.nodes: list[tuple[int, int]] = []
        self.node_start = 0
        self.spelled: dict[str, tuple[str, str | None]] = {}

    def read(self) -> tuple[Entry, tuple[MarkupFault, ...]]:
        markup, place = self.markup, 0
        for match in _MARK.finditer(markup):
            start = match.start()
            if start > place:
                self.add(markup[place:start])
            place = match.end()
            if match["name"] is not None:
                self.tag(match)
            elif match["stray"]:
                self.add(match["stray"])
                self.fault("stray", start, f"the sign {match['stray']} stands alone; it is read as text")
            elif match["instruction"]:
                self.fault("instruction", start, f"{_short(match['instruction'])} is no markup of an entry; left out")
            else:
                self.reference(match)
        if place < len(markup):
            self.add(markup[place:])
        for index in self.open[::-1]:
            self.fault("unclosed", len(markup), f"the element {self.spans[index][0]} is not closed; it ends here")
        while self.open:
            self.pop(len(markup))
        self.end_node()
        text = "".join(self.text)
        self.check_nesting()
        spans = tuple(Span(*span) for span in self.spans)
        return Entry(text, spans, tuple(self.nodes)), tuple(self.faults)

    def fault(self, kind: str, offset: int, what: str) -> None:
        self.faults.append(MarkupFault(kind, offset, what))

    def add(self, text: str) -> None:
        self.text.append(text)
        self.length += len(text)

    def end_node(self) -> None:
        if self.length > self.node_start:
            self.nodes.append((self.node_start, self.length))
            self.node_start = self.length

    def reference(self, match: re.Match[str]) -> None:
        if match["entity"]:
            self.add(_ENTITIES[match["entity"]])
            return
        code = int(match["decimal"]) if match["decimal"] else int(match["hexadecimal"], 16)
        if code in (9, 10, 13) or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code <= 0x10FFFF:
            self.add(chr(code))
        else:
            self.add(match[0])
            self.fault("stray", match.start(), f"{match[0]} is no character; it is read as text")

    def tag(self, match: re.Match[str]) -> None:
        offset = match.start()
        name, fault = self.name(match["name"])
        if not match["close"]:
            if fault:
                self.fault(fault, offset, _spelling(fault, match["name"], name))
            rest = match["rest"].strip()
            single = bool(match["single"]) or rest.endswith("/")
            if rest.rstrip("/"):
                self.fault("attributes", offset, f"the tag {match['name']} has attributes; they are left out")
            self.end_node()
            self.spans.append((name, self.length, -1, self.open[-1] if self.open else None))
            self.open.append(len(self.spans) - 1)
            self.open_names[name] += 1
            if single:
                self.pop(offset)
            return
        if not self.open_names[name]:
            self.fault("unopened", offset, f"the end tag {match['name']} has no start tag; left out")
            return
        self.end_node()
        while (inner := self.spans[self.open[-1]][0]) != name:
            self.fault("crossing", offset, f"the element {inner} is still open where {name} ends; it ends there too")
            self.pop(offset)
        self.pop(offset)

    def pop(self, offset: int) -> None:
        self.end_node()
        index = self.open.pop()
        kind, start, _, parent = self.spans[index]
        self.open_names[kind] -= 1
        self.spans[index] = (kind, start, self.length, parent)
        if self.length == start:
            self.fault("empty", offset, f"the element {kind} is empty")

    def name(self, spelled: str) -> tuple[str, str | None]:
        """The type a tag stands for, and the kind of fault in its spelling."""
        found = self.spelled.get(spelled)
        if found is None:
            found = self.spelled[spelled] = known_type(spelled, self.grammar)
        return found

    def check_nesting(self) -> None:
        """Name the elements of white space only, and those that the grammar does not allow where they stand."""
        text = "".join(self.text)
        for kind, start, end, parent in self.spans:
            if start < end and _BLANK.match(text, start, end):
                self.fault("empty", start, f"the element {kind} holds nothing but white space")
            above = self.spans[parent][0] if parent is not None else None
            grammar = self.grammar
            if grammar and kind in grammar.children and not grammar.allows(above, kind):
                place = f"inside {above}" if above is not None else "at the root"
                self.fault("nesting", start, f"the element {kind} may not stand {place}")


_BLANK = re.compile(r"\s++\Z")


def known_type(spelled: str, grammar: Grammar | None) -> tuple[str, str | None]:
    """The type that a spelled name stands for, and the kind of fault: None, `spelling` or `unknown`."""
    if grammar is None:
        return spelled.replace("-", ""), None
    if spelled in grammar.children:
        return spelled, None
    if (joined := spelled.replace("-", "")) in grammar.children:
        return joined, None
    folded = joined.replace("_", "").casefold()
    for kind in grammar.types:
        if kind.replace("-", "").replace("_", "").casefold() == folded:
            return kind, "spelling"
    return spelled, "unknown"


def _spelling(fault: str, spelled: str, name: str) -> str:
    if fault == "spelling":
        return f"the tag {spelled} is read as {name}"
    return f"the tag {_short(spelled)} is not among the entity types"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def describe(faults: Iterable[MarkupFault]) -> tuple[str, ...]:
    """One sentence for each kind of fault, the first of its kind with how often it occurred."""
    first: dict[str, MarkupFault] = {}
    often: Counter[str] = Counter()
    for fault in faults:
        first.setdefault(fault.kind, fault)
        often[fault.kind] += 1
    return tuple(
        fault.what if often[kind] == 1 else f"{fault.what} ({often[kind]} of this kind)"
        for kind, fault in first.items()
    )
