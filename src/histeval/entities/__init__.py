"""Entities: spans, tags, tokens, inline markup, chunk counting, projection."""

from histeval.entities.grammar import Grammar
from histeval.entities.markup import MarkupFault, parse_markup, read_markup, write_markup
from histeval.entities.nesting import nest
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
    "Decoded",
    "Entry",
    "Grammar",
    "Losses",
    "MarkupFault",
    "Pair",
    "Span",
    "Token",
    "combined_tags",
    "convert_tags",
    "entry_from_tags",
    "flat_classes",
    "flat_tags",
    "inconsistent_pairs",
    "joint_classes",
    "joint_tags",
    "level_classes",
    "level_tags",
    "losses",
    "nest",
    "parse_markup",
    "plain_tokens",
    "published_tokens",
    "read_markup",
    "split_joint",
    "write_markup",
]
