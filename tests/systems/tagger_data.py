"""A small invented dataset of directory entries for the taggers' tests, and a tiny random backbone."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from histeval.datasets.base import Dataset, Document
from histeval.entities.spans import Entry, Span
from histeval.tasks.description import Description, EntityType

TYPES = (
    EntityType("PER", ("TITREH",), True, "PER"),
    EntityType("ACT", (), True, "ACT"),
    EntityType("SPAT", ("LOC", "CARDINAL"), True, None),
    EntityType("TITREH", (), False, "TITRE"),
    EntityType("LOC", (), False, "LOC"),
    EntityType("CARDINAL", (), False, "CARDINAL"),
)

_NAMES = "Arnoux Belin Cassard Delmas Esnault Fauvel Garnot Hardouin Imbert Jolivet Lorrain Maillet Nolin Ozanne"
_TRADES = "boulanger;mercier;horloger;fab. de plumes;march. de bois;graveur;tailleur d'habits;nég. en vins"
_STREETS = "r. du Moulin;r. Neuve;quai des Ormes;pl. du Puits;boul. de l'Est;pass. Vert;faub. du Nord"
NAMES, TRADES, STREETS = _NAMES.split(), _TRADES.split(";"), _STREETS.split(";")


def entry(chance: random.Random) -> Entry:
    """One entry: a name, sometimes a title, a trade, a street and a number."""
    text, spans = chance.choice(NAMES), []
    spans.append(["PER", 0, len(text), None])
    if chance.random() < 0.25:
        start = len(text) + 1
        text += " élig."
        spans[0][2] = len(text)
        spans.append(["TITREH", start, len(text), 0])
    text += ", "
    start = len(text)
    text += chance.choice(TRADES)
    spans.append(["ACT", start, len(text), None])
    text += ", "
    start, place = len(text), len(spans)
    text += chance.choice(STREETS)
    spans.append(["SPAT", start, 0, None])
    spans.append(["LOC", start, len(text), place])
    text += ",\u2029" if chance.random() < 0.2 else ", "
    number = len(text)
    text += str(chance.randint(1, 99))
    spans.append(["CARDINAL", number, len(text), place])
    spans[place][2] = len(text)
    return Entry(text + ".", tuple(Span(*span) for span in spans))


def dataset(rows: int = 60, seed: int = 1, types: tuple[EntityType, ...] = TYPES, name: str = "invented") -> Dataset:
    """A dataset of `rows` entries in four books."""
    chance = random.Random(seed)
    documents: dict[str, Document] = {}
    for row in range(rows):
        truth = entry(chance)
        book = f"book {row % 4}"
        documents[str(row)] = Document(str(row), truth, f"{book}/{row % 8}", {"book": book}, text=truth.text)
    description = Description("directories", name, unit="page", types=types)
    return Dataset("directories", name, Path("invented"), description, documents, {}, f"{seed:064d}")


def of_entries(entries: list[Entry], types: tuple[EntityType, ...] = TYPES) -> Dataset:
    """A dataset of given entries."""
    documents = {
        str(row): Document(str(row), truth, str(row), {"book": str(row % 2)}, text=truth.text)
        for row, truth in enumerate(entries)
    }
    return Dataset(
        "directories", "given", Path("given"), Description("directories", "given", types=types), documents, {}, "0" * 64
    )


def tiny_backbone(folder: Path, *, positions: int = 64, seed: int = 1) -> Path:
    """A random BERT of two small layers with a WordPiece tokenizer made on the spot, as a folder."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    pieces: dict[str, int] = {}
    for piece in ("[PAD]", "[UNK]", "[CLS]", "[SEP]"):
        pieces[piece] = len(pieces)
    letters = sorted({letter for row in range(200) for letter in entry(random.Random(row)).text if letter.strip()})
    for letter in letters:
        pieces.setdefault(letter, len(pieces))
        pieces.setdefault("##" + letter, len(pieces))
    core: Any = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]", max_input_chars_per_word=200))
    core.normalizer = normalizers.NFC()
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    core.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", pieces["[CLS]"]), ("[SEP]", pieces["[SEP]"])]
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )
    torch.manual_seed(seed)
    config = transformers.BertConfig(
        vocab_size=len(pieces),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=positions,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    transformers.BertForTokenClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
