"""Entities: spans, tags, tokens, inline markup, chunk counting, projection."""

from histeval.entities.chunk_scores import Counts, EntityScore, count_table, match_chunks, score_tags
from histeval.entities.chunks import Chunk, Chunks, Encoded, Vocabulary, encode
from histeval.entities.columns import encode_column, encode_parquet
from histeval.entities.errors import EntityError, classify, count_errors
from histeval.entities.grammar import Grammar
from histeval.entities.markup import MarkupFault, parse_markup, read_markup, write_markup
from histeval.entities.matching import Placed, score_entities
from histeval.entities.nesting import nest
from histeval.entities.partial import PartialCounts, PartialScore, score_partial
from histeval.entities.spans import Entry, Span
from histeval.entities.tags import (
    Decoded,
    Losses,
    Pair,
    combined_tags,
    convert_tags,
    entry_from_tags,
    flat_classes,
    flat_tags,
    inconsistent_pairs,
    joint_classes,
    joint_tags,
    level_classes,
    level_tags,
    losses,
    split_joint,
)
from histeval.entities.tokens import Token, plain_tokens, published_tokens

__all__ = [
    "Chunk",
    "Chunks",
    "Counts",
    "Decoded",
    "Encoded",
    "EntityError",
    "EntityScore",
    "Entry",
    "Grammar",
    "Losses",
    "MarkupFault",
    "Pair",
    "PartialCounts",
    "PartialScore",
    "Placed",
    "Span",
    "Token",
    "Vocabulary",
    "classify",
    "combined_tags",
    "convert_tags",
    "count_errors",
    "count_table",
    "encode",
    "encode_column",
    "encode_parquet",
    "entry_from_tags",
    "flat_classes",
    "flat_tags",
    "inconsistent_pairs",
    "joint_classes",
    "joint_tags",
    "level_classes",
    "level_tags",
    "losses",
    "match_chunks",
    "nest",
    "parse_markup",
    "plain_tokens",
    "published_tokens",
    "read_markup",
    "score_entities",
    "score_partial",
    "score_tags",
    "split_joint",
    "write_markup",
]
