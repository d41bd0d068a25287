"""A backbone of Hugging Face: its subwords, the scores at first subwords, and a fine-tuned one as a column.

No code that comes with a backbone is run, and nothing is unpickled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from histeval.errors import MissingExtraError, ModelError, UsageError
from histeval.systems.taggers.examples import Tokens
from histeval.systems.taggers.labels import Tags
from histeval.systems.taggers.network import library as torch_library

WEIGHTS, CONFIG, TOKENIZER = "weights.safetensors", "config.json", "tokenizer.json"
_OFFSET_POSITIONS = ("camembert", "roberta", "xlm-roberta", "xlm-roberta-xl", "longformer", "flaubert", "mpnet")
"""Backbones whose positions begin after the padding token, so that they read that many tokens fewer."""


def library() -> Any:
    """The module transformers; raises MissingExtraError where it or torch is not installed."""
    torch_library()
    try:
        import transformers
    except ImportError:
        raise MissingExtraError(
            "transformer taggers need transformers; install it with `pip install 'histeval[neural]'`"
        ) from None
    transformers.logging.set_verbosity_error()
    return transformers


@dataclass
class Backbone:
    """A backbone with its tokenizer (of the library tokenizers) and how many subwords it can read."""

    model: Any
    tokenizer: Any
    limit: int
    padding: int

    def encode(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """Subword numbers, and for each word the place of its first subword or -1 where there is none to read."""
        found = self.tokenizer.encode([word or " " for word in words], is_pretokenized=True)
        numbers, owners, special = found.ids, found.word_ids, found.special_tokens_mask
        if len(numbers) > self.limit:
            # Keep what closes a text (such as </s>) behind the last subword that can be read.
            closing = 0
            while closing < len(special) and special[len(special) - 1 - closing]:
                closing += 1
            kept = self.limit - closing
            numbers = numbers[:kept] + numbers[len(numbers) - closing :]
            owners = owners[:kept]
        firsts = [-1] * len(words)
        for place, owner in enumerate(owners):
            if owner is not None and firsts[owner] < 0:
                firsts[owner] = place
        return list(numbers), firsts


def open_backbone(name: str, labels: Sequence[str]) -> Backbone:
    """A backbone from a folder or the hub, with a new head for the labels; raises UsageError with one sentence."""
    hub = library()
    try:
        tokenizer = hub.AutoTokenizer.from_pretrained(name, use_fast=True, add_prefix_space=True)
        model = hub.AutoModelForTokenClassification.from_pretrained(
            name,
            num_labels=len(labels),
            id2label=dict(enumerate(labels)),
            label2id={label: number for number, label in enumerate(labels)},
            ignore_mismatched_sizes=True,
            use_safetensors=True,
        )
        core = tokenizer.backend_tokenizer
        # What a folder says of cutting and filling up texts is not wanted: both are done here, and counted.
        core.no_truncation()
        core.no_padding()
    except (OSError, ValueError, KeyError, AttributeError, ImportError, RuntimeError) as fault:
        reason = " ".join(str(fault).split())[:300]
        raise UsageError(f"the backbone {name} cannot be opened: {reason}") from None
    return Backbone(model.float(), core, _limit(model.config, tokenizer.model_max_length), _padding(model.config))


def _limit(config: Any, longest: int) -> int:
    positions = getattr(config, "max_position_embeddings", None) or longest
    if getattr(config, "model_type", "") in _OFFSET_POSITIONS:
        positions -= _padding(config) + 1
    return int(max(8, min(positions, longest)))


def _padding(config: Any) -> int:
    found = getattr(config, "pad_token_id", None)
    return found if isinstance(found, int) else 0


def first_subword_scores(model: Any, backbone: Backbone, rows: Sequence[Any], device: Any) -> Any:
    """Scores of the labels at the first subword of each token that can be read, in order, shape (tokens, labels)."""
    torch = torch_library()
    longest = max(len(ids) for ids, _ in rows)
    numbers = torch.full((len(rows), longest), backbone.padding, dtype=torch.long)
    mask = torch.zeros((len(rows), longest), dtype=torch.long)
    for row, (ids, _) in enumerate(rows):
        numbers[row, : len(ids)] = torch.tensor(ids, dtype=torch.long)
        mask[row, : len(ids)] = 1
    lines = [row for row, (_, firsts) in enumerate(rows) for first in firsts if first >= 0]
    places = [first for _, firsts in rows for first in firsts if first >= 0]
    logits = model(input_ids=numbers.to(device), attention_mask=mask.to(device)).logits
    return logits[torch.tensor(lines, dtype=torch.long), torch.tensor(places, dtype=torch.long)]


def best_labels(model: Any, backbone: Backbone, rows: Sequence[Any], device: Any, labels: Sequence[str]) -> list[Tags]:
    """The best label of each token; the outside one, also where training never had it, where a token cannot be read."""
    torch = torch_library()
    with torch.no_grad():
        best = first_subword_scores(model, backbone, rows, device).argmax(dim=1).tolist()
    outside = "+".join("O" for _ in labels[0].split("+"))
    found, place = [], 0
    for _, firsts in rows:
        tags = []
        for first in firsts:
            if first < 0:
                tags.append(outside)
            else:
                tags.append(labels[best[place]])
                place += 1
        found.append(tags)
    return found


class TransformerColumn:
    """A fine-tuned backbone that predicts one label sequence a text."""

    def __init__(self, backbone: Backbone, labels: Tags, device: Any) -> None:
        self._backbone, self._labels, self._device = backbone, labels, device
        self._backbone.model.to(device).eval()
        self.truncated = 0

    @classmethod
    def load(
        cls, number: int, labels: Tags, files: Mapping[str, bytes], settings: Mapping[str, Any]
    ) -> TransformerColumn:
        """A column from the files of a model; raises ModelError where they do not fit together."""
        hub, torch = library(), torch_library()
        try:
            from safetensors.torch import load
            from tokenizers import Tokenizer

            config = json.loads(files[f"{number}-{CONFIG}"])
            kind = config.pop("model_type")
            made = hub.AutoConfig.for_model(kind, **config)
            model = hub.AutoModelForTokenClassification.from_config(made)
            model.load_state_dict(load(files[f"{number}-{WEIGHTS}"]))
            tokenizer = Tokenizer.from_str(files[f"{number}-{TOKENIZER}"].decode())
            facts = settings["columns"][number]
            limit, padding = int(facts["limit"]), int(facts["padding"])
        except Exception as fault:
            # What tokenizers and safetensors raise has no common base; the hashes were right, so it is the version.
            reason = " ".join(str(fault).split())[:200]
            raise ModelError(f"its backbone cannot be opened: {reason}", remedy="Train it again") from None
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return cls(Backbone(model.float(), tokenizer, limit, padding), labels, device)

    def predict(self, texts: Sequence[Tokens]) -> list[Tags]:
        """Labels of each text, one a token; tokens that the backbone cannot read get the outside label."""
        rows = [self._backbone.encode(text.words) for text in texts]
        self.truncated += sum(first < 0 for _, firsts in rows for first in firsts)
        order = sorted(range(len(rows)), key=lambda place: len(rows[place][0]))
        found: list[Tags] = [[] for _ in rows]
        for start in range(0, len(order), 32):
            part = [place for place in order[start : start + 32] if rows[place][1]]
            if part:
                tags = best_labels(
                    self._backbone.model, self._backbone, [rows[place] for place in part], self._device, self._labels
                )
                for place, labels in zip(part, tags, strict=True):
                    found[place] = labels
        return found
