"""Tokens are the published ones however their quotation marks are written: their tags are taken one by one."""

from __future__ import annotations

import random

import pytest

from histeval.entities.markup import parse_markup
from histeval.entities.tokens import published_tokens
from histeval.tasks import get_task
from histeval.tasks.base import Answer
from histeval.tasks.description import Context

XML = '<PER>Vigier "baronne"</PER>, <ACT>"modes"</ACT> <SPAT><LOC>r. "Rivoli"</LOC>, <CARDINAL>30</CARDINAL></SPAT>'
TAGS = (("O", "B-PER", "I-PER", "B-SPAT", "I-SPAT", "B-ACT", "I-ACT"), ("O", "B-LOC", "I-LOC", "B-CARDINAL"))


@pytest.mark.parametrize("scheme", ["IO", "IOB2", "IOBES"])
def test_a_quotation_mark_is_one_token_in_any_writing(scheme: str) -> None:
    task = get_task("directories")
    scorer = task.scorer(Context(task.default_description()), task.protocol("published", {"scheme": scheme}))
    truth = parse_markup(XML)
    tokens = published_tokens(truth)
    published = [token.text for token in tokens]
    written = [truth.text[token.start : token.end] for token in tokens]
    assert published != written
    rng = random.Random(3)
    for _ in range(200):
        levels = [[rng.choice(tags) for _ in tokens] for tags in TAGS]
        counts = []
        for words in (published, written):
            record = {"tokens": words, "level1": levels[0], "level2": levels[1]}
            score = scorer.score(truth, scorer.read(Answer("1", record=record)))
            assert score is not None
            counts.append(score.counts.tolist())
        assert counts[0] == counts[1]
