"""Answers to directory entries: the right markup, spoilt by rules that imitate what taggers and models get wrong."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

LINE_BREAK = "\u2029"


@dataclass
class Node:
    """A piece of an entry: text, or an entity with its pieces."""

    tag: str = ""
    text: str = ""
    inside: list[Node] = field(default_factory=list)

    @property
    def plain(self) -> str:
        return self.text + "".join(node.plain for node in self.inside)

    def markup(self) -> str:
        body = html.escape(self.text, quote=False) + "".join(node.markup() for node in self.inside)
        return f"<{self.tag}>{body}</{self.tag}>" if self.tag else body


def parse(markup: str) -> Node:
    root = Node()
    stack = [root]
    for piece in re.findall(r"<[^>]*>|[^<]+", markup):
        if piece.startswith("</"):
            stack.pop()
        elif piece.startswith("<"):
            node = Node(piece[1:-1])
            stack[-1].inside.append(node)
            stack.append(node)
        else:
            stack[-1].inside.append(Node(text=html.unescape(piece)))
    return root


Spoiler = Callable[[random.Random, Node], None]


def entities(root: Node, tag: str) -> list[Node]:
    return [node for node in root.inside if node.tag == tag]


def unwrap(parent: Node, node: Node) -> None:
    place = parent.inside.index(node)
    parent.inside[place : place + 1] = node.inside or [Node(text=node.text)]


def merge_siblings(parent: Node, tag: str) -> None:
    """Entities of one type with only a blank between become one, as in IO."""
    place = 0
    while place + 2 < len(parent.inside):
        first, gap, second = parent.inside[place : place + 3]
        if first.tag == second.tag == tag and not gap.tag and not gap.text.strip():
            first.inside += [gap, *second.inside]
            del parent.inside[place + 1 : place + 3]
        else:
            place += 1


def merge_everything(draw: random.Random, root: Node) -> None:
    for node in root.inside:
        merge_siblings(node, "LOC")
        merge_siblings(node, "TITRE-P")
    merge_siblings(root, "SPAT")


def describe_as_activity(draw: random.Random, root: Node) -> None:
    for node in entities(root, "DESC"):
        node.tag = "ACT"
        node.inside = [Node(text=node.plain)]


def drop_description(draw: random.Random, root: Node) -> None:
    for node in entities(root, "DESC"):
        unwrap(root, node)


def activity_as_description(draw: random.Random, root: Node) -> None:
    for node in entities(root, "ACT"):
        node.tag = "DESC"


def only_first_activity(draw: random.Random, root: Node) -> None:
    """`brossier et relieur`: the second trade is left out."""
    for node in entities(root, "ACT"):
        first, joint, rest = node.plain.partition(" et ")
        if joint:
            place = root.inside.index(node)
            node.inside = [Node(text=first)]
            root.inside.insert(place + 1, Node(text=joint + rest))


def lose_brackets(draw: random.Random, root: Node) -> None:
    """`Drouhard (Victor)`: what stands in brackets falls out of the name."""
    for node in entities(root, "PER"):
        text = node.plain
        if " (" in text and not any(inner.tag for inner in node.inside):
            cut = text.index(" (")
            place = root.inside.index(node)
            node.inside = [Node(text=text[:cut])]
            root.inside.insert(place + 1, Node(text=text[cut:]))


def split_partners(draw: random.Random, root: Node) -> None:
    """`A et B`: two persons in place of one firm."""
    for node in entities(root, "PER"):
        first, joint, second = node.plain.partition(" et ")
        if joint and second[:1].isupper():
            place = root.inside.index(node)
            parts = [Node("PER", inside=[Node(text=first)]), Node(text=joint), Node("PER", inside=[Node(text=second)])]
            root.inside[place : place + 1] = parts


def drop_honour(draw: random.Random, root: Node) -> None:
    for node in entities(root, "PER"):
        for inner in entities(node, "TITRE-H"):
            unwrap(node, inner)


def honour_outside(draw: random.Random, root: Node) -> None:
    for node in entities(root, "PER"):
        for inner in entities(node, "TITRE-H"):
            cut = node.inside.index(inner)
            rest = node.inside[cut:]
            del node.inside[cut:]
            inner.tag = "TITRE"
            place = root.inside.index(node)
            root.inside[place + 1 : place + 1] = rest


def drop_kind_of_place(draw: random.Random, root: Node) -> None:
    for node in entities(root, "SPAT"):
        for inner in entities(node, "FT"):
            unwrap(node, inner)


def number_with_full_stop(draw: random.Random, root: Node) -> None:
    """The full stop after the house number inside the entities."""
    spots = entities(root, "SPAT")
    if not spots or not entities(spots[-1], "CARDINAL") or spots[-1].inside[-1].tag != "CARDINAL":
        return
    place = root.inside.index(spots[-1])
    after = root.inside[place + 1 : place + 2]
    if after and not after[0].tag and after[0].text.startswith("."):
        after[0].text = after[0].text[1:]
        spots[-1].inside[-1].inside.append(Node(text="."))


def split_address(draw: random.Random, root: Node) -> None:
    """Street and number as addresses of their own."""
    for node in entities(root, "SPAT"):
        place = root.inside.index(node)
        parts = [Node("SPAT", inside=[inner]) if inner.tag else inner for inner in node.inside]
        root.inside[place : place + 1] = parts


def street_without_word(draw: random.Random, root: Node) -> None:
    """`r. du Sabot`: the word for street falls out of the name."""
    for node in entities(root, "SPAT"):
        for inner in entities(node, "LOC"):
            match = re.match(r"(r\.|rue|quai|pl\.|pass\.|boul\.|cour|impasse)\s", inner.plain)
            if match:
                place = node.inside.index(inner)
                inner.inside = [Node(text=inner.plain[match.end() :])]
                node.inside.insert(place, Node(text=match.group()))


def page_as_number(draw: random.Random, root: Node) -> None:
    """The reference to another page, taken for a house number."""
    last = root.inside[-1]
    match = None if last.tag else re.search(r"\d+$", last.text)
    if match:
        number = Node("SPAT", inside=[Node("CARDINAL", inside=[Node(text=match.group())])])
        last.text = last.text[: match.start()]
        root.inside.append(number)


def year_as_date(draw: random.Random, root: Node) -> None:
    """A type that nobody asked for."""
    for node in root.inside:
        for inner in node.inside:
            if inner.tag == "TITRE-P":
                inner.tag = "DATE"


SPOILERS: dict[str, list[tuple[Spoiler, float]]] = {
    "careful": [
        (merge_everything, 0.6),
        (describe_as_activity, 0.3),
        (drop_honour, 0.15),
        (drop_kind_of_place, 0.12),
        (number_with_full_stop, 0.06),
        (split_partners, 0.12),
        (street_without_word, 0.05),
        (page_as_number, 0.04),
        (lose_brackets, 0.08),
        (activity_as_description, 0.03),
    ],
    "hasty": [
        (year_as_date, 0.4),
        (merge_everything, 0.9),
        (describe_as_activity, 0.55),
        (drop_description, 0.4),
        (honour_outside, 0.5),
        (drop_honour, 0.7),
        (drop_kind_of_place, 0.7),
        (lose_brackets, 0.6),
        (split_partners, 0.7),
        (number_with_full_stop, 0.16),
        (split_address, 0.14),
        (street_without_word, 0.16),
        (only_first_activity, 0.5),
        (activity_as_description, 0.12),
        (page_as_number, 0.22),
    ],
}


def spans(root: Node) -> list[dict[str, Any]]:
    """The entities by character offsets, a parent before its children."""
    found: list[dict[str, Any]] = []

    def walk(node: Node, start: int, parent: int | None) -> None:
        if node.tag:
            found.append({"type": node.tag, "start": start, "end": start + len(node.plain), "parent": parent})
            parent = len(found) - 1
        at = start + len(node.text)
        for inner in node.inside:
            walk(inner, at, parent)
            at += len(inner.plain)

    walk(root, 0, None)
    return found


def columns(root: Node) -> dict[str, list[str]]:
    """The entry as tokens with a label on each of two levels (IOB2)."""
    text = root.plain
    levels: list[list[str]] = []
    tokens = [(match.start(), match.group()) for match in re.finditer(r"\w+|[^\w\s]", text)]
    listed = spans(root)
    for level in (1, 2):
        labels = ["O"] * len(tokens)
        for span in listed:
            if (span["parent"] is None) != (level == 1):
                continue
            prefix = "B"
            for index, (start, _) in enumerate(tokens):
                if span["start"] <= start < span["end"]:
                    labels[index] = f"{prefix}-{span['type'].replace('-', '')}"
                    prefix = "I"
        levels.append(labels)
    return {"tokens": [token for _, token in tokens], "level1": levels[0], "level2": levels[1]}


HASTY_FAILURES: dict[int, Callable[[str], dict[str, Any]]] = {
    5: lambda body: {"text": body[: len(body) // 2], "finish": "length"},
    16: lambda body: {"text": "I'm sorry, but I can't help with extracting personal information about individuals."},
    27: lambda body: {"error": "429 Too Many Requests"},
}
"""Answers that are none, by row number modulo 44."""


def answer(kind: str, index: int, reference: str) -> dict[str, Any]:
    """The answer of a set to one entry: mostly markup as JSON, in the forms that come back."""
    draw = random.Random(f"{kind} {index}")
    root = parse(reference)
    for spoil, chance in SPOILERS[kind]:
        if draw.random() < chance:
            spoil(draw, root)
    body = json.dumps({"xml": root.markup()}, ensure_ascii=False)
    form = draw.random()
    if kind == "careful":
        if form < 0.10:
            return {"record": {"spans": spans(root)}}
        return {"record": columns(root)} if form < 0.18 else {"text": body}
    if index % 44 in HASTY_FAILURES:
        return HASTY_FAILURES[index % 44](body)
    if form < 0.5:
        return {"text": f"```json\n{body}\n```"}
    if form < 0.56:
        return {"text": f"Here are the entities of the entry:\n\n{body}"}
    if form < 0.60:
        # The text is set right on the way, which nobody asked for.
        return {"text": body.replace(f"-{LINE_BREAK}", "").replace(" r. ", " rue ")}
    return {"text": body}
