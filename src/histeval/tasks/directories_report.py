"""What the numbers of the directories task hide, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from histeval.entities.grammar import Grammar
from histeval.entities.spans import Entry
from histeval.entities.tags import losses
from histeval.entities.tokens import published_tokens
from histeval.tasks.base import DocumentScore
from histeval.tasks.directories_levels import OTHER


def report_gold(truths: Sequence[Entry], grammar: Grammar, scheme: str | None, sibling_continues: bool) -> list[str]:
    """What the gold standard loses; `scheme` is None where entities are counted by characters."""
    merged: Counter[tuple[int, str]] = Counter()
    outside: Counter[str] = Counter()
    unheld = 0
    for truth in truths:
        if scheme == "IO" or (scheme is not None and sibling_continues):
            tokens = published_tokens(truth)
            lost = losses(truth, tokens, scheme, depth=grammar.depth, sibling_continues=sibling_continues)
            merged.update(lost.merged)
            unheld += len(lost.unheld)
        outside.update(span.type for span in truth.spans if span.type not in grammar.children)
    lines = []
    if merged:
        named = ", ".join(f"{number} L{level} {kind}" for (level, kind), number in sorted(merged.items()))
        cause = "IO" if scheme == "IO" else f"{scheme} with sibling_continues"
        lines.append(f"{cause} merges gold entities with a neighbour of the same type: {named}")
    if unheld:
        lines.append(f"{unheld} gold entities hold the first character of no token; they count by their offsets")
    if outside:
        named = ", ".join(f"{number} {kind}" for kind, number in sorted(outside.items()))
        lines.append(f"gold entities of types that the dataset does not describe count as {OTHER}: {named}")
    return lines


def report_answers(rows: Sequence[tuple[str, DocumentScore]], truths: Sequence[Entry]) -> list[str]:
    """What happened to the answers, from the fields that the scorer left."""
    found = [(document, row.fields) for document, row in rows if row.fields]
    lines = []
    malformed = [(document, fields["malformed"]) for document, fields in found if "malformed" in fields]
    if malformed:
        document, names = malformed[0]
        lines.append(
            f"{sum(len(kinds) for _, kinds in malformed)} malformed chunks in {len(malformed)} answers match nothing "
            f"and count as false positives; the first: {names[0]} of document {document}"
        )
    inside = sum(bool(fields.get("only_inside")) for _, fields in found)
    if inside:
        lines.append(
            f"{inside} answers with malformed chunks carry no other prefix than I-; if they are in IO, score them with "
            "--set scheme=IO"
        )
    for kind, words in (
        ("orphan", "entities of an inner level stand in none of the outer one"),
        ("wrong_parent", "entities stand inside a type that may not hold them"),
    ):
        number = sum(fields.get(kind, 0) for _, fields in found)
        if number:
            answers = sum(kind in fields for _, fields in found)
            lines.append(f"{number} {words} ({kind.replace('_', ' ')}), in {answers} answers")
    unplaced = sum(fields.get("unplaced", 0) for _, fields in found)
    if unplaced:
        lines.append(f"{unplaced} predicted entities have no place in the document's text; they are false positives")
    unheld = sum(fields.get("unheld", 0) for _, fields in found)
    if unheld > unplaced:
        lines.append(f"{unheld - unplaced} predicted entities hold the first character of no token")
    shares = [fields["anchored"] for _, fields in found if "anchored" in fields]
    if shares:
        lines.append(
            f"{len(shares)} answers repeat the text with changes; {100 * sum(shares) / len(shares):.1f} % of its "
            "characters were found in them on average"
        )
    answered = [row for _, row in rows if row.failure is None]
    nested = sum(any(span.parent is not None for span in truth.spans) for truth in truths)
    if answered and nested and not any(row.fields.get("nested") for row in answered):
        lines.append(
            f"no answer holds a nested entity, but {nested} documents do: a nested set is scored flat; compare f1[Flat]"
        )
    return lines
