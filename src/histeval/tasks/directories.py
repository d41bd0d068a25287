"""Directories: nested named entities in the entries of a directory, at each level and with what is around them.

Source of the measures and of the protocols `documented` and `published`: Tual et al. 2023 and its code
(soduco/paper-nestedner-icdar23-code), which scores with seqeval 1.2.2. `docs/directories.md` says what each level means.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from histeval.entities.grammar import Grammar
from histeval.entities.matching import Item, Placed, flat_items, level_items, path_items, placed, trimmed
from histeval.entities.spans import Entry
from histeval.entities.tags import (
    Tags,
    combined_tags,
    convert_tags,
    flat_tags,
    inconsistent_pairs,
    joint_tags,
    losses,
    runs,
    split_tag,
    strict_runs,
)
from histeval.entities.tokens import Token, published_tokens
from histeval.errors import UsageError
from histeval.stats.metrics import Floats, Metric, divide, f_score
from histeval.tasks.base import Answer, DocumentScore, Protocol, Reading, Rule, RuleValue, Scorer, Task
from histeval.tasks.description import Context, Description, EntityType
from histeval.tasks.directories_places import (
    NOWHERE,
    align_tokens,
    anchor,
    find_tokens,
    place_spans,
    place_tags,
    tag_rows,
)
from histeval.tasks.directories_reading import Prediction, SpanAnswer, TagAnswer, read_answer, with_known_types

OTHER = "other"
"""The column of every type that the level does not have; a prediction there is always a false positive."""
TOKENS, CHARACTERS = "published tokens", "characters"

PUBLISHED_TYPES = (
    EntityType("PER", ("TITREH",), flat="PER", title="person or firm"),
    EntityType("ACT", flat="ACT", flat_in={"DESC": "ACT"}, title="activity"),
    EntityType("DESC", ("ACT", "TITREP"), flat=None, title="description"),
    EntityType("SPAT", ("LOC", "CARDINAL", "FT"), flat=None, title="address"),
    EntityType("TITRE", flat="TITRE", title="title"),
    EntityType("TITREH", root=False, flat="TITRE", flat_in={"PER": "TITRE"}, title="title of a person"),
    EntityType("TITREP", root=False, flat="TITRE", flat_in={"DESC": "TITRE"}, title="professional title"),
    EntityType("LOC", root=False, flat="LOC", flat_in={"SPAT": "LOC"}, title="street name"),
    EntityType("CARDINAL", root=False, flat="CARDINAL", flat_in={"SPAT": "CARDINAL"}, title="street number"),
    EntityType("FT", root=False, flat="FT", flat_in={"SPAT": "FT"}, title="kind of place"),
)
"""The types of the published trade directories. TITREH and TITREP are the tags TITRE-H and TITRE-P."""

_LONGEST = 20  # an answer so many times longer than its entry repeats itself or is not about it
_REMEMBERED = 200_000  # gold standards kept ready in one scorer


class DirectoriesTask(Task):
    """Nested named entities in directory entries."""

    name = "directories"
    alias = "entities"
    title = "Nested named entities in directories"
    summary = "Mark persons, activities, addresses and what is inside them in the text of a directory entry."
    rules = (
        Rule("scheme", "choice", "IO", "IO", "IOB2", ("IO", "IOB2", "IOBES"), "tags that gold and answer are put into"),
        Rule(
            "chunks",
            "choice",
            "lenient",
            "lenient",
            "strict",
            ("lenient", "strict"),
            "how tags are read: as conlleval does, or so that what the scheme does not allow is wrong",
        ),
        Rule(
            "span_unit",
            "choice",
            TOKENS,
            TOKENS,
            CHARACTERS,
            (TOKENS, CHARACTERS),
            "what an entity's edges are counted in",
        ),
        Rule(
            "sibling_continues",
            "switch",
            True,
            True,
            False,
            help="an entity that follows one of its type without a character between continues it",
        ),
    )

    def protocol(self, name: str = "documented", overrides: Mapping[str, str | RuleValue] | None = None) -> Protocol:
        """The protocol `name` with single rules overridden; `tokens` is short for `published tokens`."""
        chosen = dict(overrides or {})
        if chosen.get("span_unit") in ("tokens", "published_tokens", "published-tokens"):
            chosen["span_unit"] = TOKENS
        return super().protocol(name, chosen)

    def scorer(self, context: Context, protocol: Protocol) -> DirectoriesScorer:
        """A scorer; raises UsageError where the dataset describes no entity types."""
        return DirectoriesScorer(self, context, protocol)

    def default_description(self) -> Description:
        """The description of the published benchmark."""
        return Description(
            task="directories",
            name="trade_directories",
            title="Paris Trade Directories",
            text="Entries of 18 Paris trade directories with nested named entities on two levels.",
            languages=("fr",),
            period="1798-1861",
            unit="page",
            licence="CC BY 4.0",
            citation="Tual et al. 2023, arXiv:2302.10204; doi:10.5281/zenodo.7864174; page images: gallica.bnf.fr / "
            "Bibliotheque nationale de France",
            published="2023-02",
            source="https://github.com/soduco/paper-nestedner-icdar23-code",
            types=PUBLISHED_TYPES,
            extra={"tags": {"TITREH": "TITRE-H", "TITREP": "TITRE-P"}},
        )

    def record_schema(self, context: Context) -> dict[str, Any]:
        """The JSON schema of `{xml: text}`, the record that language models are asked for."""
        return {
            "type": "object",
            "properties": {"xml": {"type": "string", "description": "the whole text with inline tags"}},
            "required": ["xml"],
            "additionalProperties": False,
        }


@dataclass(frozen=True, slots=True)
class _Gold:
    """The gold standard of one entry under one protocol, ready to be compared with.

    `keys` hold, for each level, what a prediction must equal; `missed` are the counts of an answer with nothing right.
    """

    tokens: tuple[Token, ...]
    surfaces: tuple[str, ...]
    keys: Mapping[str, Counter[Any]]
    missed: tuple[int, ...]


class DirectoriesScorer(Scorer):
    """Directories under one protocol for one dataset."""

    task: DirectoriesTask

    def __init__(self, task: DirectoriesTask, context: Context, protocol: Protocol) -> None:
        self.task, self.context, self.protocol = task, context, protocol
        description = context.description
        if not description.types:
            raise UsageError(
                f"the dataset {description.name} describes no entity types; add them to its dataset.toml as `types`"
            )
        asked = description.extra.get("depth")
        self.grammar = Grammar.of(description.types, asked if isinstance(asked, int) and 1 <= asked <= 16 else None)
        self.depth = self.grammar.depth
        self.scheme: str = protocol["scheme"]
        self.strict: bool = protocol["chunks"] == "strict"
        self.by_tokens: bool = protocol["span_unit"] == TOKENS
        self.sibling_continues: bool = protocol["sibling_continues"]
        levels = [f"L{number}" for number in range(1, self.depth + 1)]
        self.joined = "+".join(levels) if self.depth > 1 else None
        self.with_prefixes = "+".join(f"P-{level}" for level in levels) if self.depth > 1 else None
        joint = [name for name in (self.joined, self.with_prefixes) if name is not None]
        self.types = {level: self._types(level) for level in ("All", *levels, *joint, "Flat")}
        self.columns = tuple(
            f"{level}/{kind}_{count}"
            for level, kinds in self.types.items()
            for kind in (*kinds, OTHER)
            for count in ("tp", "fp", "fn")
        )
        place = {name: index for index, name in enumerate(self.columns)}
        self._place = {
            level: {kind: place[f"{level}/{kind}_tp"] for kind in (*kinds, OTHER)}
            for level, kinds in self.types.items()
        }
        self.metrics = self._make_metrics()
        self.headline = tuple(f"f1[{level}]" for level in self._order())
        self._gold: dict[Entry, _Gold] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_gold": {}}

    # what is counted

    def _order(self) -> tuple[str, ...]:
        """Levels in the order of tables."""
        return tuple(self.types)

    def _types(self, level: str) -> tuple[str, ...]:
        if level == "Flat":
            return self.grammar.flat_types
        if level in (self.joined, self.with_prefixes):
            return tuple(self._path_name(path) for path in self.grammar.paths())
        return self.grammar.types

    def _path_name(self, path: Sequence[str]) -> str:
        return "+".join(reversed([*path, *["O"] * (self.depth - len(path))]))

    def _make_metrics(self) -> tuple[Metric, ...]:
        zero = math.nan if self.protocol.name == "corrected" else 0.0
        total = {level: np.array(list(places.values())) for level, places in self._place.items()}
        paths = list(self.grammar.paths())
        at_level = {
            f"L{number}": {path[-1] for path in paths if len(path) == number} for number in range(1, self.depth + 1)
        }
        metrics = [
            Metric(f"f1[{level}]", partial(_f1, total[level], zero), help=f"F1 of entities, {_meaning(level)}")
            for level in self._order()
        ]
        for level in self._order():
            for name, compute in (("precision", _precision), ("recall", _recall)):
                metrics.append(
                    Metric(
                        f"{name}[{level}]",
                        partial(compute, total[level], zero),
                        help=f"{name} of entities, {_meaning(level)}",
                    )
                )
        for level, kinds in self.types.items():
            for kind in kinds:
                if kind in at_level.get(level, (kind,)):
                    place = np.array([self._place[level][kind]])
                    what = f"F1 of {kind}, {_meaning(level)}"
                    metrics.append(Metric(f"f1[{level}/{kind}]", partial(_f1, place, zero), help=what))
        return tuple(metrics)

    # one document

    def selects(self, truth: Any) -> bool:
        """Every entry is scored."""
        return True

    def read(self, answer: Answer) -> Reading:
        """The entities of an answer or a failure; never raises."""
        return read_answer(answer, self.grammar)

    def score(self, truth: Entry, reading: Reading) -> DocumentScore:
        """Counts of one entry; a failed answer has missed every entity."""
        gold = self._gold_of(truth)
        prediction: Prediction | None = reading.record
        if reading.failure is not None or prediction is None:
            return DocumentScore(np.array(gold.missed, dtype=np.int64), reading.failure or "empty")
        failure = _too_long(prediction, truth)
        if failure is None:
            items, fields = self._items_of(prediction, truth, gold)
            if fields.get("anchored", 1.0) < 0.5 and not any(items.values()):
                failure = "wrong_shape"
        if failure is not None:
            return DocumentScore(np.array(gold.missed, dtype=np.int64), failure)
        return DocumentScore(self._count(gold, items), None, fields)

    def located(self, truth: Entry, reading: Reading) -> list[Placed]:
        """The predicted entities at their offsets in the text of the document, for display."""
        if reading.record is None:
            return []
        return self._placed(reading.record, truth, self._gold_of(truth), strict=False)[0]

    def _gold_of(self, truth: Entry) -> _Gold:
        found = self._gold.get(truth)
        if found is None:
            if len(self._gold) >= _REMEMBERED:
                self._gold.clear()
            found = self._gold[truth] = self._make_gold(truth)
        return found

    def _make_gold(self, truth: Entry) -> _Gold:
        tokens = published_tokens(truth)
        if self.by_tokens:
            rows, unheld = tag_rows(
                entities := placed(truth, trim=False), tokens, self.depth, self.scheme, self.sibling_continues
            )
            items = self._token_items(rows, entities, unheld)
        else:
            items = self._character_items(placed(truth), truth.text)
        missed = [0] * len(self.columns)
        for level, rows_of_level in items.items():
            for name, _ in rows_of_level:
                missed[self._column(level, name) + 2] += 1
                if level in self._summed:
                    missed[self._column("All", name) + 2] += 1
        keys = {level: Counter(key for _, key in found if key is not None) for level, found in items.items()}
        return _Gold(tokens, tuple(token.text for token in tokens), keys, tuple(missed))

    @property
    def _summed(self) -> tuple[str, ...]:
        """The levels that All sums up."""
        return tuple(f"L{number}" for number in range(1, self.depth + 1))

    def _column(self, level: str, name: str) -> int:
        places = self._place[level]
        return places.get(name, places[OTHER])

    def _count(self, gold: _Gold, items: Mapping[str, Sequence[Item]]) -> NDArray[np.int64]:
        counts = list(gold.missed)
        summed, all_places = set(self._summed), self._place["All"]
        for level, found in items.items():
            keys, places = gold.keys[level], self._place[level]
            used: Counter[Any] = Counter()
            for name, key in found:
                hit = key is not None and used[key] < keys.get(key, 0)
                columns = [places.get(name, places[OTHER])]
                if level in summed:
                    columns.append(all_places.get(name, all_places[OTHER]))
                for column in columns:
                    if hit:
                        counts[column] += 1
                        counts[column + 2] -= 1
                    else:
                        counts[column + 1] += 1
                if hit:
                    used[key] += 1
        return np.array(counts, dtype=np.int64)

    # the entities of an answer

    def _items_of(
        self, prediction: Prediction, truth: Entry, gold: _Gold
    ) -> tuple[dict[str, list[Item]], dict[str, Any]]:
        """What is counted of an answer, by level, and what the report needs to know of it."""
        fields: dict[str, Any] = {}
        if self.by_tokens:
            rows, entities, unheld, share = self._rows(prediction, truth, gold)
            items = self._token_items(rows, entities, unheld)
            malformed = [
                f"L{level} {kind} at token {start}"
                for level, row in enumerate(rows, start=1)
                for kind, start, _, bad in (strict_runs(row, self.scheme) if self.strict else ())
                if bad
            ]
            pairs = Counter(pair.kind for pair in inconsistent_pairs(rows, self.grammar))
        else:
            entities, share = self._placed(prediction, truth, gold, strict=self.strict)
            entities = [
                one._replace(**dict(zip(("start", "end"), trimmed(truth.text, one.start, one.end), strict=True)))
                if 0 <= one.start < one.end
                else one
                for one in entities
            ]
            items = self._character_items(entities, truth.text)
            malformed = [
                f"L{one.level} {one.type} at {one.start}" for one in entities if one.malformed and one.start >= 0
            ]
            pairs = Counter()
            for one in entities:
                above = entities[one.parent].type if one.parent is not None else None
                if one.level > 1 and above is None:
                    pairs["orphan"] += 1
                elif not self.grammar.allows(above, one.type) and one.type in self.grammar.children:
                    pairs["wrong_parent"] += 1
            unheld = []
        if share < 1.0:
            fields["anchored"] = share
        if malformed:
            fields["malformed"] = malformed
        for kind, number in pairs.items():
            fields[kind] = number
        lost = sum(one.start == NOWHERE for one in entities)
        if lost:
            fields["unplaced"] = lost
        if unheld:
            fields["unheld"] = len(unheld)
        if any(items[level] for level in self._summed[1:]):
            fields["nested"] = True
        if isinstance(prediction, TagAnswer) and self.strict and self.scheme != "IO" and malformed:
            fields["only_inside"] = not any(split_tag(tag)[0] not in "OI" for row in prediction.levels for tag in row)
        return items, fields

    def _placed(self, prediction: Prediction, truth: Entry, gold: _Gold, strict: bool) -> tuple[list[Placed], float]:
        """The entities of an answer at their offsets in the document, and the share of its text that was found."""
        if isinstance(prediction, SpanAnswer):
            if prediction.text is None:
                return place_spans(prediction.entities, range(len(truth.text))), 1.0
            anchors = anchor(prediction.text, truth.text)
            return place_spans(prediction.entities, anchors.places), anchors.share
        tags = with_known_types(prediction, self.grammar)
        share = 1.0
        offsets: Sequence[tuple[int, int]]
        if tags.tokens == gold.surfaces:
            offsets = [token[1:] for token in gold.tokens]
        else:
            found = find_tokens(tags.tokens, truth.text)
            if found is not None:
                offsets = found
            elif len(tags.tokens) == len(gold.tokens):
                offsets = [token[1:] for token in gold.tokens]
            else:
                offsets, share = align_tokens(tags.tokens, truth.text)
        scheme = self._scheme_of(tags)
        return place_tags(tags.levels, offsets, scheme, strict and scheme != "IO"), share

    def _scheme_of(self, tags: TagAnswer) -> str:
        """The scheme of an answer's tags: what it says, else what its prefixes tell, else that of the protocol."""
        if tags.scheme is not None:
            return tags.scheme
        prefixes = {split_tag(tag)[0] for row in tags.levels for tag in row}
        if prefixes & {"L", "U"}:
            return "BILOU"
        if prefixes & {"E", "S"}:
            return "IOBES"
        return self.scheme

    def _rows(
        self, prediction: Prediction, truth: Entry, gold: _Gold
    ) -> tuple[list[Tags], list[Placed], list[int], float]:
        """Tags of the published tokens at each level, the entities they come from, and those that hold no token."""
        if isinstance(prediction, TagAnswer) and len(prediction.tokens) == len(gold.tokens):
            same = prediction.tokens == gold.surfaces or find_tokens(prediction.tokens, truth.text) is None
            tags = with_known_types(prediction, self.grammar) if same else prediction
            if same and len(tags.levels) <= self.depth and (not self.strict or self._scheme_of(tags) == self.scheme):
                rows = [self._row(row) for row in tags.levels]
                rows.extend(["O"] * len(gold.tokens) for _ in range(self.depth - len(rows)))
                return rows, [], [], 1.0
        entities, share = self._placed(prediction, truth, gold, strict=self.strict)
        rows, unheld = tag_rows(entities, gold.tokens, self.depth, self.scheme, self.sibling_continues)
        return rows, entities, unheld, share

    def _row(self, tags: Sequence[str]) -> Tags:
        """Tags of the published tokens in the scheme of the protocol; B- and I- are left as they are where they can."""
        prefixes = {tag[0] for tag in tags}
        if self.scheme == "IO":
            return [tag if tag == "O" else f"I{tag[1:]}" for tag in tags]
        if prefixes <= {"B", "I", "O"} if self.scheme == "IOB2" else self.strict:
            return list(tags)
        return convert_tags(tags, self.scheme)

    def _token_items(
        self, rows: Sequence[Tags], entities: Sequence[Placed], unheld: Iterable[int]
    ) -> dict[str, list[Item]]:
        items: dict[str, list[Item]] = {}
        for number, row in enumerate(rows, start=1):
            if self.strict:
                items[f"L{number}"] = [
                    Item(kind, None if malformed else (kind, start, end))
                    for kind, start, end, malformed in strict_runs(row, self.scheme)
                ]
            else:
                items[f"L{number}"] = [Item(chunk[0], chunk) for chunk in runs(row)]
        if self.joined and self.with_prefixes:
            joined = [Item(chunk[0], chunk) for chunk in runs(combined_tags(rows, self.scheme))]
            items[self.joined] = joined
            if self.scheme == "IO":
                items[self.with_prefixes] = list(joined)
            else:
                labels = ["O" if label[0] == "O" else label for label in joint_tags(rows, self.scheme)]
                items[self.with_prefixes] = [Item(_without_prefixes(chunk[0]), chunk) for chunk in runs(labels)]
        items["Flat"] = [Item(chunk[0], chunk) for chunk in runs(flat_tags(rows, self.grammar))]
        unheld = list(unheld)
        if unheld:
            self._add_unheld(items, entities, unheld)
        return items

    def _add_unheld(self, items: dict[str, list[Item]], entities: Sequence[Placed], unheld: Sequence[int]) -> None:
        """Entities that hold no token are counted all the same; they match where gold has the very same."""
        paths = path_items(entities, self.depth)
        for index in unheld:
            one, (name, path) = entities[index], paths[index]
            key = None if one.malformed or one.start == NOWHERE else ("no token", one.type, one.start, one.end)
            level = f"L{min(one.level, self.depth)}"
            items[level].append(Item(one.type if one.level <= self.depth else OTHER, key))
            for joint in (self.joined, self.with_prefixes):
                if joint:
                    items[joint].append(Item(name, None if key is None or path is None else ("no token", path)))
            types = [kind for kind in reversed(name.split("+")) if kind != "O"]
            flat = self.grammar.flat_type(tuple(types))
            if flat is not None:
                items["Flat"].append(Item(flat, key))

    def _character_items(self, entities: Sequence[Placed], text: str) -> dict[str, list[Item]]:
        items = {f"L{number}": level_items(entities, number) for number in range(1, self.depth + 1)}
        items[f"L{self.depth}"].extend(Item(OTHER, None) for one in entities if one.level > self.depth)
        if self.joined and self.with_prefixes:
            items[self.joined] = path_items(entities, self.depth)
            items[self.with_prefixes] = list(items[self.joined])
        items["Flat"] = flat_items(entities, text, self.grammar)
        return items

    # what the numbers hide

    def report(self, truths: Sequence[Any], rows: Sequence[tuple[str, DocumentScore]]) -> list[str]:
        """What the numbers hide, one sentence each."""
        lines = self._report_gold(truths)
        return lines + _report_answers(rows, truths)

    def _report_gold(self, truths: Sequence[Entry]) -> list[str]:
        merged: Counter[tuple[int, str]] = Counter()
        outside: Counter[str] = Counter()
        unheld = 0
        for truth in truths:
            if self.by_tokens and (self.scheme == "IO" or self.sibling_continues):
                lost = losses(
                    truth,
                    self._gold_of(truth).tokens,
                    self.scheme,
                    depth=self.depth,
                    sibling_continues=self.sibling_continues,
                )
                merged.update(lost.merged)
                unheld += len(lost.unheld)
            outside.update(span.type for span in truth.spans if span.type not in self.grammar.children)
        lines = []
        if merged:
            named = ", ".join(f"{number} L{level} {kind}" for (level, kind), number in sorted(merged.items()))
            cause = "IO" if self.scheme == "IO" else f"{self.scheme} with sibling_continues"
            lines.append(
                f"{cause} merges {sum(merged.values())} gold entities with their neighbour of the same type: {named}"
            )
        if unheld:
            lines.append(f"{unheld} gold entities hold the first character of no token; they count by their offsets")
        if outside:
            named = ", ".join(f"{number} {kind}" for kind, number in sorted(outside.items()))
            lines.append(f"gold entities of types that the dataset does not describe count as {OTHER}: {named}")
        return lines


def _report_answers(rows: Sequence[tuple[str, DocumentScore]], truths: Sequence[Entry]) -> list[str]:
    found = [(document, row.fields) for document, row in rows if row.fields]
    lines = []
    malformed = [(document, fields["malformed"]) for document, fields in found if "malformed" in fields]
    if malformed:
        document, names = malformed[0]
        lines.append(
            f"{sum(len(names) for _, names in malformed)} malformed chunks in {len(malformed)} answers match nothing and "
            f"count as false positives; the first: {names[0]} of document {document}"
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
            f"no answer holds a nested entity, but {nested} documents do: a flat system is to be compared in f1[Flat] only"
        )
    return lines


def _too_long(prediction: Prediction, truth: Entry) -> str | None:
    limit = _LONGEST * len(truth.text) + 2000
    if isinstance(prediction, SpanAnswer):
        size = len(prediction.text) if prediction.text is not None else 0
    else:
        size = sum(map(len, prediction.tokens))
    return "runaway" if size > limit else None


def _without_prefixes(kind: str) -> str:
    """The path of a joint label's type: `b_SPAT+i_LOC` is LOC+SPAT."""
    return "+".join(part if part == "O" else part[2:] for part in reversed(kind.split("+")))


def _meaning(level: str) -> str:
    if level == "All":
        return "all levels together"
    if level == "Flat":
        return "nesting dropped"
    if level.startswith("P-"):
        return "with their parents' types and the prefixes of all levels"
    return f"level {level[1:]}" if "+" not in level else "with what is around them"


def _sum(places: NDArray[np.intp], offset: int, sums: Floats) -> Floats:
    total: Floats = sums[..., places + offset].sum(axis=-1)
    return total


def _f1(places: NDArray[np.intp], zero: float, sums: Floats) -> Floats:
    value: Floats = f_score(_sum(places, 0, sums), _sum(places, 1, sums), _sum(places, 2, sums), zero)
    return value


def _precision(places: NDArray[np.intp], zero: float, sums: Floats) -> Floats:
    tp = _sum(places, 0, sums)
    value: Floats = divide(tp, tp + _sum(places, 1, sums), zero)
    return value


def _recall(places: NDArray[np.intp], zero: float, sums: Floats) -> Floats:
    tp = _sum(places, 0, sums)
    value: Floats = divide(tp, tp + _sum(places, 2, sums), zero)
    return value
