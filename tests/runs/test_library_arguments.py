"""Calls from Python with arguments of the wrong kind: one sentence, never a result and never a raw TypeError."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import histeval
from histeval.errors import HistevalError
from samples import RIGHT, write_letters

PAIR = [["B-PER", "O"]]
SPANS = [("PER", 0, 3)]


@pytest.mark.parametrize("wrong", [None, 3, b"a.jsonl", [3], [None], [b"x"], object()])
def test_answers_of_another_kind(wrong: Any, tmp_path: Path) -> None:
    with pytest.raises(HistevalError, match="Give a path, a mapping of document ids"):
        histeval.score("letters", write_letters(tmp_path / "letters"), wrong)


@pytest.mark.parametrize("name", ["rules", "where"])
@pytest.mark.parametrize("wrong", [["signed=true"], "signed=true", 3])
def test_rules_and_attributes_are_mappings(name: str, wrong: Any, tmp_path: Path) -> None:
    with pytest.raises(HistevalError, match=f"{name} is a mapping of names to values"):
        histeval.score("letters", write_letters(tmp_path / "letters"), RIGHT, **{name: wrong})


def test_one_id_and_a_truth_value_mean_what_they_say(tmp_path: Path) -> None:
    data = write_letters(tmp_path / "letters")
    assert list(histeval.score("letters", data, RIGHT, documents="letter02").rows[0]) == ["letter02"]
    assert list(histeval.score("letters", data, RIGHT, where={"signed": True}).rows[0]) == ["letter01", "letter03"]  # type: ignore[dict-item]


@pytest.mark.parametrize("wrong", [None, 5, b"abc", ["abc", None], [3]])
def test_texts_are_texts(wrong: Any) -> None:
    several = ["abc"] * (len(wrong) if isinstance(wrong, list) else 1)
    for function in (histeval.cer, histeval.wer, histeval.error_rate):
        with pytest.raises(HistevalError, match="a text must be a str, not"):
            function(wrong, several)
        with pytest.raises(HistevalError, match="a text must be a str, not"):
            function(several, wrong)
    for pair in ((wrong, "abc"), ("abc", wrong)):
        with pytest.raises(HistevalError, match="a text must be a str, not"):
            histeval.fuzzy_ratio(*pair)


@pytest.mark.parametrize("wrong", ["B-PER", b"B-PER", 3, None])
def test_tags_are_lists_of_labels(wrong: Any) -> None:
    for pair in ((wrong, PAIR), (PAIR, wrong), (wrong, wrong)):
        with pytest.raises(HistevalError, match="tags are a list of sequences"):
            histeval.score_tags(*pair)


@pytest.mark.parametrize(
    "wrong", [None, 3, "PER", [("PER", 3, 0)], [("PER", -1, 2)], [("PER", "0", "3")], [("PER", 0.0, 3.0)], [(3, 0, 1)]]
)
def test_gold_spans_are_spans(wrong: Any) -> None:
    with pytest.raises(HistevalError, match=r"a document is an Entry|a gold span is"):
        histeval.score_entities(wrong, SPANS)


def test_a_predicted_span_that_holds_nothing_is_a_false_positive() -> None:
    found = histeval.score_entities(SPANS, [("PER", 3, 0), ("PER", 0, 3)])
    assert (found.tp, found.fp, found.fn) == (1, 1, 0)


def test_white_space_at_the_ends_is_where_jiwer_differs() -> None:
    """jiwer 4.0.0: cer(" ab ", "ab") is 0.0, cer("ab", "abc") 0.5, cer("a b", "ab") 1/3."""
    assert histeval.cer(" ab ", "ab") == 0.5
    assert histeval.cer(" ab ", "ab", profile="collapsed") == 0.0
    assert histeval.cer("ab", "abc") == 0.5
    assert histeval.cer("a b", "ab") == pytest.approx(1 / 3)
