"""Text: normalisation profiles, distances and error rates, alignments, causes of error."""

from histeval.text.align import Alignment, Block, Piece, align, diff
from histeval.text.causes import CAUSES, Explained, confusions, count_causes, explain, groups
from histeval.text.clusters import graphemes
from histeval.text.distance import ErrorRate, cer, edits, edits_many, error_rate, fuzzy_ratio, wer
from histeval.text.normalise import COMMON, STEPS, Profile, Step, Unit, profile

__all__ = [
    "CAUSES",
    "COMMON",
    "STEPS",
    "Alignment",
    "Block",
    "ErrorRate",
    "Explained",
    "Piece",
    "Profile",
    "Step",
    "Unit",
    "align",
    "cer",
    "confusions",
    "count_causes",
    "diff",
    "edits",
    "edits_many",
    "error_rate",
    "explain",
    "fuzzy_ratio",
    "graphemes",
    "groups",
    "profile",
    "wer",
]
