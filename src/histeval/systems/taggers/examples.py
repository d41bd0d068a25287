"""Training examples: tokens, line breaks and tags of entries, from datasets."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from histeval.datasets.base import Dataset
from histeval.datasets.layout import trade_folder
from histeval.entities.grammar import Grammar
from histeval.entities.noise import NoiseModel
from histeval.entities.spans import Entry
from histeval.entities.tags import level_tags, losses
from histeval.entities.tokens import Token, plain_tokens, published_tokens
from histeval.errors import UsageError

TokenMode = Literal["published", "plain"]

TOKEN_MODES: dict[str, str] = {
    "published": "tokens of the published benchmark, which end at the tags of the ground truth",
    "plain": "tokens of the plain text, which know nothing of the ground truth",
}
NOISE_OF_ONE = "noise is learnt from two texts of the same rows; train with --text reference,ocr"
_HALF = re.compile("[\ud800-\udfff]")
LINE_BREAKS = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")


@dataclass(frozen=True)
class Tokens:
    """The tokens of a text: surface forms, whether the line breaks before each, and their offsets."""

    words: tuple[str, ...]
    breaks: tuple[bool, ...]
    offsets: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Example:
    """A training text: its tokens and their tags at each level."""

    tokens: Tokens
    levels: tuple[tuple[str, ...], ...]


def tokens_of(item: str | Entry, mode: str) -> Tokens:
    """Tokens of a text or entry. A text under the published tokens is one text node, since it has no markup.

    >>> tokens = tokens_of("r. Denis,\\n34", "plain")
    >>> tokens.words, tokens.breaks
    (('r', '.', 'Denis', ',', '34'), (False, False, False, False, True))
    """
    check_token_mode(mode)
    entry = item if isinstance(item, Entry) else Entry(item, ())
    found: Sequence[Token] = published_tokens(entry) if mode == "published" else plain_tokens(entry.text)
    breaks, place = [], 0
    for token in found:
        gap = entry.text[place : token.start]
        breaks.append(bool(gap) and not LINE_BREAKS.isdisjoint(gap))
        place = token.end
    # Half a character (a lone surrogate) cannot be written as UTF-8, which all three libraries do.
    words = tuple(_HALF.sub("\ufffd", token.text) for token in found)
    return Tokens(words, tuple(breaks), tuple((token.start, token.end) for token in found))


def check_token_mode(mode: str) -> None:
    """Raise UsageError unless there are tokens of this name."""
    if mode not in TOKEN_MODES:
        raise UsageError(f"there are no tokens called {mode!r}; there are {', '.join(TOKEN_MODES)}")


def default_tokens(dataset: Dataset) -> str:
    """`published` for the published trade directories, so that scores compare with the published ones; else `plain`.

    Published tokens end at the tags of the ground truth: on one's own entries they would tell part of the answer.
    """
    return "plain" if trade_folder(dataset.path) is None else "published"


def example(entry: Entry, mode: str, scheme: str, depth: int) -> Example:
    """An entry as a training example."""
    tokens = tokens_of(entry, mode)
    spread = [Token(word, *offsets) for word, offsets in zip(tokens.words, tokens.offsets, strict=True)]
    levels = level_tags(entry, spread, scheme, depth=depth, sibling_continues=mode == "published")
    return Example(tokens, tuple(tuple(tags) for tags in levels))


def examples_of(entries: Iterable[Entry], mode: str, scheme: str, grammar: Grammar) -> list[Example]:
    """Examples of entries in their order; entries without tokens are left out."""
    found = (example(entry, mode, scheme, grammar.depth) for entry in entries)
    return [item for item in found if item.tokens.words]


def unlearnable(entries: Iterable[Entry], mode: str, scheme: str, grammar: Grammar) -> str:
    """What tokens and tags cannot say of the entities of entries, in words; empty where they say all."""
    total, cut, unheld, merged = 0, 0, 0, 0
    for entry in entries:
        words = tokens_of(entry, mode)
        spread = [Token(word, *offsets) for word, offsets in zip(words.words, words.offsets, strict=True)]
        lost = losses(entry, spread, scheme, depth=grammar.depth, sibling_continues=mode == "published")
        total += len(entry.spans)
        cut, unheld, merged = cut + len(lost.cut), unheld + len(lost.unheld), merged + len(lost.merged)
    parts = [
        f"{count} {words}"
        for count, words in (
            (cut, "begin or end inside a token"),
            (unheld, "hold the beginning of no token"),
            (merged, f"follow one of their type and are one with it in {scheme}"),
        )
        if count
    ]
    return f"of {total} entities {', '.join(parts)}" if parts else ""


def grammar_of(dataset: Dataset) -> Grammar:
    """The grammar of a dataset of directories; raises UsageError for another task."""
    if dataset.task != "directories":
        raise UsageError(f"a tagger learns from a dataset of directories, not of {dataset.task}")
    return Grammar.of(dataset.description.types)


def sample(dataset: Dataset, rows: int | None, seed: int) -> list[str]:
    """Ids of `rows` documents, each group of the dataset (its books) in proportion; all where `rows` is None.

    Smaller samples of one seed lie inside larger ones. Raises UsageError where there are fewer documents.
    """
    ids = list(dataset.documents)
    if rows is None:
        return ids
    if not 0 < rows <= len(ids):
        raise UsageError(f"there are {len(ids)} training entries; choose --rows between 1 and {len(ids)}")
    groups: dict[str, list[str]] = {}
    for key in ids:
        document = dataset.documents[key]
        groups.setdefault(document.attributes.get("book", ""), []).append(key)
    ranked: list[tuple[float, str]] = []
    for name, members in groups.items():
        chance = random.Random(f"{seed}|{name}")
        chance.shuffle(members)
        # The k-th of a group of n comes at (k + 1/2) / n, so that a beginning of the list holds a like share of each.
        ranked += [((place + 0.5) / len(members), key) for place, key in enumerate(members)]
    chosen = {key for _, key in sorted(ranked)[:rows]}
    return [key for key in ids if key in chosen]


def noise_model(datasets: Sequence[Dataset], ids: Sequence[str]) -> NoiseModel:
    """OCR noise learnt from the first text of the training rows against the other ones; raises UsageError for one."""
    pairs = [
        (datasets[0].documents[key].truth.text, other.documents[key].truth.text)
        for other in datasets[1:]
        for key in ids
        if key in other.documents
    ]
    if not pairs:
        raise UsageError(NOISE_OF_ONE)
    return NoiseModel.fit(pairs)


def fingerprint(examples: Iterable[Example]) -> str:
    """SHA-256 (hexadecimal) of tokens, line breaks and tags, in order."""
    digest = hashlib.sha256()
    for item in examples:
        line = json.dumps([item.tokens.words, item.tokens.breaks, item.levels], ensure_ascii=False)
        digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def truths(dataset: Dataset, ids: Iterable[str]) -> Iterator[Entry]:
    """The annotated entries of a dataset; raises UsageError for a document without ground truth."""
    for key in ids:
        truth = dataset.documents[key].truth
        if not isinstance(truth, Entry):
            raise UsageError(f"document {key} of {dataset.name} has no ground truth to learn from")
        yield truth


def by_attribute(dataset: Dataset, key: str) -> Mapping[str, list[str]]:
    """Ids of documents by an attribute (`book`, say), in order of first appearance; raises UsageError without it."""
    groups: dict[str, list[str]] = {}
    for identifier, document in dataset.documents.items():
        if key == "unit":
            value = document.unit
        elif key in document.attributes:
            value = document.attributes[key]
        else:
            known = sorted({name for item in dataset.documents.values() for name in item.attributes})
            raise UsageError(
                f"document {identifier} of {dataset.name} has no attribute {key!r}; "
                f"there are {', '.join(known) or 'none'}"
            )
        groups.setdefault(value, []).append(identifier)
    return groups
