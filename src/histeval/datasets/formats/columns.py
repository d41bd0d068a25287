"""Files with a token a line and columns: blocks of rows, what their comments say, and the text they stand for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from histeval.datasets.files import decode
from histeval.datasets.formats.base import ImportReport, Source
from histeval.entities.tags import SCHEMES, runs, split_tag, strict_runs
from histeval.entities.tokens import Token
from histeval.errors import DatasetError

COMMENT = re.compile(r"#\s*([\w.:\- ]{1,60}?)\s*=\s*(.*)")
_PREFIXES = frozenset("BIESLU")
_OUTSIDE = frozenset(("O", "_", "-", "", "o"))


@dataclass
class Block:
    """Rows that belong together: the line each stands on and its cells; `facts` are comments `# key = value`."""

    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)

    @property
    def line(self) -> int | None:
        """The line of the first row."""
        return self.rows[0][0] if self.rows else None


def text_lines(source: Source) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 file with their numbers from 1; only a line feed ends a line."""
    text = decode(source.data, source.path)
    for number, line in enumerate(text.split("\n"), start=1):
        yield number, line.removesuffix("\r")


def head_lines(source: Source, limit: int = 200) -> list[str]:
    """The first whole lines of a file, for `sniff`; empty where it is no UTF-8 text."""
    head = source.head
    if b"\x00" in head:
        return []
    text = head.decode("utf-8", "replace").removeprefix("\ufeff")
    lines = text.split("\n")
    whole = lines if len(lines) < 2 or len(head) < 1 << 16 else lines[:-1]
    return [line.removesuffix("\r") for line in whole[:limit]]


def comment(line: str, facts: dict[str, str]) -> bool:
    """Whether a line is `# key = value`; then the value is put into `facts`."""
    match = COMMENT.fullmatch(line.strip())
    if match is None:
        return False
    facts[match[1].strip().lower()] = match[2].strip()
    return True


def join(tokens: Sequence[str], after: Sequence[str]) -> tuple[str, tuple[Token, ...]]:
    """The text of some tokens, with what stands after each, and the tokens with their offsets in it.

    >>> join(["r", ".", "du"], ["", " ", ""])
    ('r. du', (Token(text='r', start=0, end=1), Token(text='.', start=1, end=2), Token(text='du', start=3, end=5)))
    """
    parts: list[str] = []
    found: list[Token] = []
    place = 0
    for token, gap in zip(tokens, after, strict=True):
        found.append(Token(token, place, place + len(token)))
        parts += (token, gap)
        place += len(token) + len(gap)
    return "".join(parts), tuple(found)


def locate(text: str, tokens: Sequence[str]) -> tuple[Token, ...] | None:
    """The tokens with their offsets in a text that holds them one after another, only white space between; else None.

    >>> locate("Roux  fils", ["Roux", "fils"])
    (Token(text='Roux', start=0, end=4), Token(text='fils', start=6, end=10))
    """
    found: list[Token] = []
    place = 0
    for token in tokens:
        start = text.find(token, place)
        if start < 0 or text[place:start].strip():
            return None
        place = start + len(token)
        found.append(Token(token, start, place))
    return None if text[place:].strip() else tuple(found)


def stated_text(facts: Mapping[str, str], path: Path, line: int | None) -> str | None:
    """The text that a comment `# text = ...` or `# text_json = "..."` gives; None without one."""
    if "text_json" in facts:
        try:
            text = json.loads(facts["text_json"])
        except (ValueError, RecursionError):
            text = None
        if not isinstance(text, str):
            raise DatasetError(
                "has a comment text_json that is no JSON text",
                file=path,
                line=line,
                remedy="Mend it, or remove it: the text is then made of the tokens",
            )
        return text
    return facts.get("text")


def write_text(text: str) -> str:
    """The comment from which `stated_text` gives the text back."""
    plain = text and text == text.strip() and text.isprintable()
    return f"# text = {text}" if plain else f"# text_json = {json.dumps(text, ensure_ascii=True)}"


def clean_tags(tags: Sequence[str], prefixed: bool) -> list[str]:
    """Tags of one level in one spelling: `O`, or a prefix, a hyphen and a type that may hold hyphens itself."""
    found = []
    for tag in tags:
        if tag in _OUTSIDE:
            found.append("O")
        elif prefixed:
            prefix, kind = split_tag(tag)
            found.append("O" if prefix == "O" else f"{prefix}-{kind}")
        else:
            found.append(f"I-{tag}")
    return found


def has_prefixes(tags: set[str]) -> bool:
    """Whether the tags of a column have prefixes, so that the first hyphen after one parts it from the type.

    `E-mail` beside `place` is a type with a hyphen, `E-mail` beside `B-mail` the end of an entity.

    >>> [has_prefixes(tags) for tags in ({"O", "B-loc", "E-loc"}, {"O", "E-mail", "place"}, {"loc-adm", "B-loc"})]
    [True, False, True]
    """
    inside = [tag for tag in tags if tag not in _OUTSIDE]
    known = [tag for tag in inside if tag[1:2] == "-" and tag[:1].upper() in _PREFIXES and len(tag) > 2]
    return len(known) == len(inside) or any(tag[:1].upper() in "BI" for tag in known)


def report_bare(level: str, tags: set[str], report: ImportReport) -> None:
    """Names the tags without a prefix in a column whose tags have one; each is read as a type."""
    bare = sorted(t for t in tags if t not in _OUTSIDE and not (t[1:2] == "-" and t[:1].upper() in _PREFIXES and t[2:]))
    if bare and has_prefixes(tags):
        report.repair(
            "tags without a prefix such as B- or I-, read as a type of their own", f"{level}: {', '.join(bare)}"
        )


def looks_like_tags(values: Sequence[str]) -> bool:
    """Whether every value is outside or has a prefix, and some have one: a column of labels, whatever its name."""
    found = False
    for value in values:
        if value in ("O", "_", "-"):
            continue
        if not (len(value) > 2 and value[1] == "-" and value[0] in "BIESLU"):
            return False
        found = True
    return found or (bool(values) and all(value == "O" for value in values))


def scheme_of(rows: Sequence[Sequence[str]], asked: str) -> tuple[str, int]:
    """The scheme that fits some sequences of tags best, or the one asked for, and how many entities break it."""
    letters = {split_tag(tag)[0] for row in rows for tag in row} - {"O"}
    likely = ("IO",) if letters <= {"I"} else ("IOB2", "IOBES", "BILOU", "IOB1")
    schemes = likely if asked == "auto" else (asked,)
    broken = {scheme: sum(found[3] for row in rows for found in strict_runs(row, scheme)) for scheme in schemes}
    best = min(schemes, key=lambda scheme: broken[scheme])
    return best, broken[best]


def report_scheme(level: str, rows: Sequence[Sequence[str]], asked: str, places: Sequence[str],
                  report: ImportReport) -> None:  # fmt: skip
    """Says which scheme the tags of a level are in, and names the blocks in which they break it."""
    if not any(tag != "O" for row in rows for tag in row):
        return
    scheme, broken = scheme_of(rows, asked)
    report.note(f"{level}: tags read as {scheme}")
    if broken:
        for row, place in zip(rows, places, strict=True):
            wrong = sum(found[3] for found in strict_runs(row, scheme))
            report.repair(f"tags that {scheme} does not allow, read leniently", *([place] * wrong))


def triples(tokens: Sequence[Token], tags: Sequence[str]) -> list[tuple[str, int, int]]:
    """The entities of one level by offsets, tags read leniently."""
    return [(kind, tokens[start].start, tokens[end - 1].end) for kind, start, end in runs(tags)]


TAG_SCHEMES = ("auto", *SCHEMES)
