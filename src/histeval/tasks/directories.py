"""Directories: nested named entities in the entries of a directory, at each level and with what is around them.

Source of the measures and of the protocols `documented` and `published`: Tual et al. 2023 and its code
(soduco/paper-nestedner-icdar23-code), which scores with seqeval 1.2.2; `docs/directories.md` explains each level.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from histeval.entities.grammar import Grammar
from histeval.entities.matching import Placed, placed
from histeval.entities.spans import Entry
from histeval.entities.tags import split_tag
from histeval.entities.tokens import Token, published_tokens
from histeval.errors import UsageError
from histeval.tasks.base import FAILURES, Answer, DocumentScore, Protocol, Reading, Rule, RuleValue, Scorer, Task
from histeval.tasks.description import Context, Description, EntityType
from histeval.tasks.directories_items import Items, character_items, odd_entities, odd_tags, token_items
from histeval.tasks.directories_levels import OTHER, Levels
from histeval.tasks.directories_places import NOWHERE, Reader, tag_rows, trim_all
from histeval.tasks.directories_reading import Prediction, SpanAnswer, TagAnswer, read_answer
from histeval.tasks.directories_report import report_answers, report_gold

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


_LONGEST = 20  # an answer so many times longer than its entry repeats itself or is not about it
_REMEMBERED = 200_000  # gold standards kept ready in one scorer


@dataclass(frozen=True, slots=True)
class _Gold:
    """The gold standard of one entry under one protocol, ready to be compared with.

    `keys` hold, for each level, what a prediction must equal and how often; `missed` are the counts of an answer that
    has nothing.
    """

    tokens: tuple[Token, ...]
    keys: Mapping[str, Mapping[Hashable, int]]
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
        self.scheme: str = protocol["scheme"]
        self.strict: bool = protocol["chunks"] == "strict"
        self.by_tokens: bool = protocol["span_unit"] == TOKENS
        self.sibling_continues: bool = protocol["sibling_continues"]
        self.levels = Levels(self.grammar)
        self.columns, self.headline = self.levels.columns, self.levels.headline
        self.metrics = self.levels.metrics(math.nan if protocol.name == "corrected" else 0.0)
        self._reader = Reader(self.grammar, self.scheme, self.strict, self.sibling_continues)
        self._gold: dict[Entry, _Gold] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_gold": {}}

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
        failure = reading.failure or ("empty" if prediction is None else _too_long(prediction, truth))
        detail = reading.detail
        if failure is None and prediction is not None:
            items, fields = self._items_of(prediction, truth, gold)
            if fields.get("anchored", 1.0) >= 0.5 or any(items.values()):
                return DocumentScore(self._count(gold, items), None, fields, reading.repairs)
            failure, detail = "wrong_shape", "a text without entities that is not the text of the entry"
        missed = np.array(gold.missed, dtype=np.int64)
        return DocumentScore(missed, failure, {}, reading.repairs, detail or FAILURES.get(str(failure), ""))

    def located(self, truth: Entry, reading: Reading) -> list[Placed]:
        """The predicted entities at their offsets in the text of the document, for display."""
        if reading.record is None:
            return []
        return self._reader.entities(reading.record, truth, self._gold_of(truth).tokens, strict=False)[0]

    def report(self, truths: Sequence[Any], rows: Sequence[tuple[str, DocumentScore]]) -> list[str]:
        """What the numbers hide, one sentence each."""
        scheme = self.scheme if self.by_tokens else None
        lines = report_gold(truths, self.grammar, scheme, self.sibling_continues)
        return lines + report_answers(rows, truths)

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
            entities = placed(truth, trim=False)
            rows, unheld = tag_rows(entities, tokens, self.levels.depth, self.scheme, self.sibling_continues)
            items = token_items(rows, self.levels, self.scheme, self.strict, entities, unheld)
        else:
            items = character_items(placed(truth), truth.text, self.levels)
        missed = [0] * len(self.columns)
        for column in self._columns_of(items):
            missed[column + 2] += 1
        keys = {level: Counter(key for _, key in found if key is not None) for level, found in items.items()}
        return _Gold(tokens, {level: dict(found) for level, found in keys.items()}, tuple(missed))

    def _columns_of(self, items: Items) -> list[int]:
        """The tp columns that each item counts in: that of its level, and of All where its level is a single one."""
        columns: list[int] = []
        for level, found in items.items():
            for within in (level, "All") if level in self.levels.single else (level,):
                places = self.levels.places[within]
                columns.extend(places.get(name, places[OTHER]) for name, _ in found)
        return columns

    def _count(self, gold: _Gold, items: Items) -> NDArray[np.int64]:
        counts = list(gold.missed)
        all_places = self.levels.places["All"]
        other = all_places[OTHER]
        for level, found in items.items():
            places = self.levels.places[level]
            keys = dict(gold.keys[level])
            summed = level in self.levels.single
            for name, key in found:
                left = keys.get(key, 0) if key is not None else 0
                if left:
                    keys[key] = left - 1
                columns = [places.get(name, places[OTHER])]
                if summed:
                    columns.append(all_places.get(name, other))
                for column in columns:
                    if left:
                        counts[column] += 1
                        counts[column + 2] -= 1
                    else:
                        counts[column + 1] += 1
        return np.array(counts, dtype=np.int64)

    def _items_of(self, prediction: Prediction, truth: Entry, gold: _Gold) -> tuple[Items, dict[str, Any]]:
        """What is counted of an answer, by level, and what the report needs to know of it."""
        fields: dict[str, Any] = {}
        unheld: list[int] = []
        flat = isinstance(prediction, TagAnswer) and len(prediction.levels) == 1 < self.levels.depth
        if self.by_tokens:
            rows, entities, unheld, share = self._reader.rows(prediction, truth, gold.tokens)
            items = token_items(rows, self.levels, self.scheme, self.strict, entities, unheld, flat=flat)
            fields |= odd_tags(rows, self.grammar, self.scheme, self.strict)
        else:
            entities, share = self._reader.entities(prediction, truth, gold.tokens, strict=self.strict)
            entities = trim_all(entities, truth.text)
            items = character_items(entities, truth.text, self.levels, flat=flat)
            fields |= odd_entities(entities, self.grammar)
        if share < 1.0:
            fields["anchored"] = share
        if lost := sum(one.start == NOWHERE for one in entities):
            fields["unplaced"] = lost
        if len(unheld) > lost:
            fields["unheld"] = len(unheld) - lost
        if any(items[level] for level in self.levels.single[1:]):
            fields["nested"] = True
        if isinstance(prediction, TagAnswer) and "malformed" in fields:
            fields["only_inside"] = all(split_tag(tag)[0] in "OI" for row in prediction.levels for tag in row)
        return items, fields


def _too_long(prediction: Prediction, truth: Entry) -> str | None:
    limit = _LONGEST * len(truth.text) + 2000
    if isinstance(prediction, SpanAnswer):
        size = len(prediction.text) if prediction.text is not None else 0
    else:
        size = sum(map(len, prediction.tokens))
    return "runaway" if size > limit else None
