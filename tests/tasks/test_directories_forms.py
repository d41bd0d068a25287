"""The forms in which an answer may give its entities, alone and together."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from histeval.entities.grammar import Grammar
from histeval.tasks import get_task
from histeval.tasks.base import Answer
from histeval.tasks.directories_reading import read_answer

GRAMMAR = Grammar.of(get_task("directories").default_description().types)
FORMS: dict[str, Any] = {
    "xml": "<PER>Aubin</PER>, r. Neuve",
    "spans": [{"type": "PER", "start": 0, "end": 5}],
    "tokens": ["Aubin", ",", "r.", "Neuve"],
    "level1": ["I-PER", "O", "O", "O"],
    "joint": ["I-PER+O", "O+O", "O+O", "O+O"],
}


@pytest.mark.parametrize("given", [names for size in range(1, 6) for names in combinations(FORMS, size)], ids="+".join)
def test_any_forms_together_are_read_or_fail_by_name(given: tuple[str, ...]) -> None:
    reading = read_answer(Answer("1", record={name: FORMS[name] for name in given}), GRAMMAR)
    readable = {"xml", "spans"} & set(given) or ("tokens" in given and {"level1", "joint"} & set(given))
    assert (reading.failure is None) == bool(readable)
    if not readable:
        assert reading.failure == "wrong_shape"


SPANS = [{"type": "SPAT", "start": 0, "end": 12}, {"type": "LOC", "start": 0, "end": 8}]


@pytest.mark.parametrize("parent", [0, "0", "SPAT", "spat"])
def test_a_parent_is_a_place_in_the_list_or_a_type(parent: Any) -> None:
    spans = [{**SPANS[0], "parent": None}, {**SPANS[1], "parent": parent}]
    reading = read_answer(Answer("1", record={"spans": spans}), GRAMMAR)
    assert [entity.parent for entity in reading.record.entities] == [None, 0]
    assert reading.repairs == ()


@pytest.mark.parametrize("parent", ["DESC", "7", 7, -1, 0.5, ["SPAT"]])
def test_a_parent_that_is_not_there_is_named(parent: Any) -> None:
    spans = [{**SPANS[0], "parent": None}, {**SPANS[1], "parent": parent}]
    reading = read_answer(Answer("1", record={"spans": spans}), GRAMMAR)
    assert [entity.parent for entity in reading.record.entities] == [None, None]
    assert len(reading.repairs) == 1
