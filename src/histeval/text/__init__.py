"""Text: normalisation profiles, distances and error rates, alignments."""

from histeval.text.distance import ErrorRate, cer, edits, error_rate, fuzzy_ratio, wer
from histeval.text.graphemes import graphemes
from histeval.text.normalise import Profile, profile

__all__ = [
    "ErrorRate",
    "Profile",
    "cer",
    "edits",
    "error_rate",
    "fuzzy_ratio",
    "graphemes",
    "profile",
    "wer",
]
