"""A trained tagger, loaded from its folder: tokens to tags, texts to records of the directories task."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from histeval.entities.grammar import Grammar
from histeval.entities.spans import Entry
from histeval.entities.tags import entry_from_tags
from histeval.entities.tokens import Token
from histeval.errors import ModelError, UsageError
from histeval.systems.taggers import crf, network
from histeval.systems.taggers.decode import Chain, Scores, viterbi
from histeval.systems.taggers.examples import TOKEN_MODES, Tokens, tokens_of
from histeval.systems.taggers.features import crf_features, network_features
from histeval.systems.taggers.folder import (
    SETTINGS,
    TEXTS,
    read_files,
    read_settings,
    take,
    text_mark,
    unpack_arrays,
    unpack_grammar,
    unpack_texts,
)
from histeval.systems.taggers.labels import Labelling, Tags
from histeval.systems.taggers.train import SYSTEMS
from histeval.systems.taggers.worker import LEXICON, NETWORK, VOCABULARY, member_file


class Column(Protocol):
    """What predicts one label sequence a text."""

    def predict(self, texts: Sequence[Tokens]) -> list[Tags]:
        """Labels of each text, one a token."""
        ...


class Constant:
    """A column that had one label only in training."""

    def __init__(self, label: str) -> None:
        self._label = label

    def predict(self, texts: Sequence[Tokens]) -> list[Tags]:
        """The label, for every token."""
        return [[self._label] * len(text.words) for text in texts]


class ChainColumn:
    """Feature CRFs, a network, or both: then the mean of their log potentials, decoded by one Viterbi."""

    def __init__(
        self,
        labels: Tags,
        words_of: Mapping[str, tuple[str, ...]],
        feature_crf: crf.FeatureCrf | None,
        fitted_network: network.FittedNetwork | None,
    ) -> None:
        self._labels, self._lexicon = labels, words_of
        self._crf, self._network = feature_crf, fitted_network
        chains = [part.chain for part in (feature_crf, fitted_network) if part is not None]
        self._share = 1 / len(chains)
        self._chain = Chain(
            sum((chain.moves for chain in chains), start=0 * chains[0].moves) * self._share,
            sum((chain.first for chain in chains), start=0 * chains[0].first) * self._share,
            sum((chain.last for chain in chains), start=0 * chains[0].last) * self._share,
        )

    def only(self, kind: str) -> ChainColumn:
        """The column with one of its two parts alone."""
        kept = (self._crf, None) if kind == "crf" else (None, self._network)
        return ChainColumn(self._labels, self._lexicon, *kept)

    def predict(self, texts: Sequence[Tokens]) -> list[Tags]:
        """Labels of each text, one a token."""
        if not texts:
            return []
        parts: list[Sequence[Scores]] = []
        if self._network is not None:
            parts.append(self._network.emissions([network_features(text.words, text.breaks) for text in texts]))
        if self._crf is not None:
            # The CRF scores each token by itself, so that those of all texts are scored in one call.
            rows = [row for text in texts for row in crf_features(text.words, text.breaks, self._lexicon)]
            ends = list(accumulate(len(text.words) for text in texts))
            parts.append(np.split(self._crf.emissions(rows), ends[:-1]))
        found = []
        for scores in zip(*parts, strict=True):
            best = viterbi(sum(scores[1:], start=scores[0]) * self._share, self._chain)
            found.append([self._labels[number] for number in best])
        return found


class Tagger:
    """A trained tagger. `settings` are those of its folder, `types` the grammar it was trained for."""

    def __init__(
        self, folder: Path, settings: Mapping[str, Any], columns: Sequence[Column], trained_on: frozenset[bytes]
    ) -> None:
        self.folder, self.settings, self._trained_on = folder, settings, trained_on
        self.types = unpack_grammar(settings["grammar"], folder)
        self.labelling = Labelling(Grammar.of(self.types), settings["approach"], settings["scheme"])
        self._columns = columns

    @property
    def tokens(self) -> str:
        """The tokens it was trained on: published or plain."""
        return str(self.settings["tokens"])

    @property
    def truncated(self) -> int:
        """How many tokens so far lay beyond what a backbone can read, and were left outside every entity."""
        return sum(getattr(column, "truncated", 0) for column in self._columns)

    def only(self, kind: str) -> Tagger:
        """The feature CRF (`crf`) or the network (`bilstm`) of a `crf+bilstm` model alone.

        It is what training that part alone would have given, since the two fits know nothing of each other.
        """
        if self.settings["system"] != "crf+bilstm" or kind not in SYSTEMS["crf+bilstm"]:
            raise UsageError(f"a {self.settings['system']} model has no part {kind!r}")
        columns = [column.only(kind) if isinstance(column, ChainColumn) else column for column in self._columns]
        return Tagger(self.folder, {**self.settings, "system": kind}, columns, self._trained_on)

    def was_trained_on(self, text: str) -> bool:
        """Whether a text, character by character, was among those it was trained on."""
        return text_mark(text) in self._trained_on

    def tag_tokens(self, texts: Sequence[Tokens]) -> list[list[Tags]]:
        """Tags at each level of each text, shape (texts, levels, tokens)."""
        columns = [column.predict(texts) for column in self._columns]
        return [self.labelling.decode([column[place] for column in columns]) for place in range(len(texts))]

    def tag(self, items: Sequence[str | Entry], tokens: str | None = None) -> list[dict[str, Any]]:
        """A record of the directories task for each text, with the tokens it was trained on or others.

        Published tokens of an entry end at the tags of its ground truth, which is what the published benchmark asks
        for; a plain text has no such tags. The record holds tokens, their offsets and the tags of each level; tags
        stay as predicted, an inner entity without an outer one included.
        """
        texts = [tokens_of(item, tokens or self.tokens) for item in items]
        records = []
        for text, levels in zip(texts, self.tag_tokens(texts), strict=True):
            record: dict[str, Any] = {"tokens": list(text.words), "offsets": [list(pair) for pair in text.offsets]}
            record["scheme"] = self.settings["scheme"]
            record |= {f"level{number}": tags for number, tags in enumerate(levels, start=1)}
            records.append(record)
        return records

    def entities(self, items: Sequence[str], tokens: str = "plain") -> list[Entry]:
        """Nested entities of plain texts; what does not nest stands at the root."""
        found = []
        texts = [tokens_of(item, tokens) for item in items]
        for item, text, levels in zip(items, texts, self.tag_tokens(texts), strict=True):
            spread = [Token(word, *offsets) for word, offsets in zip(text.words, text.offsets, strict=True)]
            found.append(entry_from_tags(item, spread, levels, self.labelling.grammar).entry)
        return found


def load_tagger(folder: Path | str) -> Tagger:
    """The tagger in a model folder.

    Raises ModelError where the folder is no model, damaged, edited, or of another version; MissingExtraError where
    the library it needs is not installed.
    """
    folder = Path(folder)
    settings = read_settings(folder)
    system, label_sets = take(settings, "system", str, folder), take(settings, "labels", list, folder)
    types = unpack_grammar(take(settings, "grammar", list, folder), folder)
    approach, scheme = take(settings, "approach", str, folder), take(settings, "scheme", str, folder)
    try:
        labelling = Labelling(Grammar.of(types), approach, scheme)
    except UsageError as fault:
        raise _strange(folder, str(fault)) from None
    names = all(
        isinstance(labels, list) and labels and all(isinstance(x, str) for x in labels) for labels in label_sets
    )
    if system not in SYSTEMS or take(settings, "tokens", str, folder) not in TOKEN_MODES or not names:
        raise _strange(folder, "it names a system, tokens or labels that there are not")
    if len(label_sets) != labelling.columns:
        raise _strange(folder, "it has another number of label sets than its approach")
    if take(settings, "members", int, folder) < ("crf" in SYSTEMS[system]):
        raise _strange(folder, "it has no CRF")
    if system == "transformer" or "bilstm" in SYSTEMS[system]:
        network.library()  # raises where PyTorch is absent
    files = read_files(folder, settings)
    try:
        columns = [_column(number, labels, system, files, settings) for number, labels in enumerate(label_sets)]
    except ModelError as fault:
        raise fault if fault.file else ModelError(fault.what, file=folder, remedy=fault.remedy) from None
    return Tagger(folder, settings, columns, unpack_texts(files.get(TEXTS, b"")))


def _strange(folder: Path, what: str) -> ModelError:
    return ModelError(f"holds strange settings: {what}", file=folder / SETTINGS, remedy="Train it again")


def _column(number: int, labels: Tags, system: str, files: Mapping[str, bytes], settings: Mapping[str, Any]) -> Column:
    if len(labels) < 2:
        return Constant(labels[0])
    if system == "transformer":
        from histeval.systems.taggers.backbone import TransformerColumn

        return TransformerColumn.load(number, labels, files, settings)
    words_of: dict[str, tuple[str, ...]] = {}
    feature_crf = fitted = None
    try:
        if "crf" in SYSTEMS[system]:
            loaded = json.loads(files[f"{number}-{LEXICON}"])
            words_of = {word: tuple(map(str, found)) for word, found in loaded.items()}
            members = range(1, settings["members"] + 1)
            feature_crf = crf.FeatureCrf([files[f"{number}-{member_file(member)}"] for member in members], labels)
        if "bilstm" in SYSTEMS[system]:
            vocabulary = [str(feature) for feature in json.loads(files[f"{number}-{VOCABULARY}"])]
            weights = unpack_arrays(files[f"{number}-{NETWORK}"])
            fitted = network.FittedNetwork(vocabulary, weights, len(labels))
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as fault:
        raise ModelError(f"lacks a part: {fault}", remedy="Train it again") from None
    return ChainColumn(labels, words_of, feature_crf, fitted)
