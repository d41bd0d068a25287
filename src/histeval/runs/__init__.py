"""Runs: answers on disk, their scores, their signatures."""

from histeval.runs.answers import AnswerSet
from histeval.runs.compare import Comparison, compare_scores
from histeval.runs.library import score
from histeval.runs.opening import open_answers
from histeval.runs.score import Score, score_paths, score_run
from histeval.runs.selection import Selection
from histeval.runs.signature import Signature

__all__ = [
    "AnswerSet",
    "Comparison",
    "Score",
    "Selection",
    "Signature",
    "compare_scores",
    "open_answers",
    "score",
    "score_paths",
    "score_run",
]
