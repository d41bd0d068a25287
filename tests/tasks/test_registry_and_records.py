"""Tasks by name, and the schemas of their records."""

from __future__ import annotations

import json
import sys
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import Any

import pytest
from pydantic import ValidationError

from histeval.errors import UsageError
from histeval.tasks import get_task, registry, task_names
from histeval.tasks.base import Answer
from histeval.tasks.description import Context, Description, Field
from histeval.tasks.letters import LettersTask
from histeval.tasks.records import letter_model, manuscript_model


def test_names_and_aliases() -> None:
    assert task_names()[:3] == ("letters", "manuscripts", "directories")
    assert get_task("letters") is get_task("letters")
    assert get_task("metadata").name == "letters"
    assert get_task("transcription").name == "manuscripts"
    with pytest.raises(UsageError, match="no task 'letter'; there are letters, manuscripts, directories"):
        get_task("letter")


class Foreign(LettersTask):
    name, alias = "charters", "deeds"


FOREIGN = Foreign()


def points(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    found = [EntryPoint(name, value, registry.ENTRY_POINTS) for name, value in values.items()]
    monkeypatch.setattr(registry, "entry_points", lambda group: found if group == registry.ENTRY_POINTS else [])
    get_task.cache_clear()


def test_a_task_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("foreign_task")
    module.__dict__.update(Foreign=Foreign, FOREIGN=FOREIGN)
    monkeypatch.setitem(sys.modules, "foreign_task", module)
    points(monkeypatch, charters="foreign_task:FOREIGN", broken="no_such_module:Task", wrong="json:dumps")
    try:
        assert task_names() == ("letters", "manuscripts", "directories", "broken", "charters", "wrong")
        assert get_task("charters") is FOREIGN
        with pytest.raises(UsageError, match="'broken' from no_such_module:Task cannot be loaded"):
            get_task("broken")
        with pytest.raises(UsageError, match="gives no task"):
            get_task("wrong")
        points(monkeypatch, charters="foreign_task:Foreign")
        assert get_task("deeds").name == "charters"
    finally:
        get_task.cache_clear()


def test_the_schema_of_a_letter_has_the_fields_of_its_dataset() -> None:
    description = Description(
        "letters",
        "x",
        fields=(Field("send_date", "date"), Field("model_config", "text"), Field("Absender Ort", "place")),
    )
    schema = get_task("letters").record_schema(Context(description))
    metadata = schema["$defs"]["Metadata"]
    assert list(metadata["properties"]) == ["send_date", "model_config", "Absender Ort"]
    assert metadata["required"] == ["send_date", "model_config", "Absender Ort"]
    assert metadata["additionalProperties"] is schema["additionalProperties"] is False
    record: dict[str, Any] = {"metadata": {"send_date": ["1926-02-16"], "model_config": None, "Absender Ort": []}}
    made = letter_model(description).model_validate(record)
    assert json.loads(made.model_dump_json(by_alias=True)) == record
    with pytest.raises(ValidationError):
        letter_model(description).model_validate({"metadata": {"send_date": "1926-02-16"}})


def test_the_schema_of_a_page() -> None:
    task = get_task("manuscripts")
    entry = task.record_schema(Context(task.default_description()))["$defs"]["FolioEntry"]
    assert list(entry["properties"]) == ["folio", "text", "addition1", "addition2", "addition3"]
    none = Description("manuscripts", "x", extra={"additions": 0})
    assert list(manuscript_model(none).model_json_schema()["$defs"]["FolioEntry"]["properties"]) == ["folio", "text"]


def test_what_the_schema_asks_for_is_read() -> None:
    for name, record in (
        ("letters", {"metadata": {"send_date": ["1926-02-16"], "sender_persons": None}}),
        ("manuscripts", {"folios": [{"folio": "", "text": "a", "addition1": ""}]}),
    ):
        task = get_task(name)
        for protocol in ("documented", "published"):
            scorer = task.scorer(Context(task.default_description()), task.protocol(protocol))
            assert scorer.read(Answer("d", record=record)).failure is None
