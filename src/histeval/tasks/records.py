"""The records an answer must give, as pydantic models and their JSON schemas, for structured output."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from histeval.tasks.description import Description

ADDITIONS = 3
"""How many marginal additions a folio may have, unless the description's `extra` says otherwise as `additions`."""


class Record(BaseModel):
    """The base of all records: nothing may stand there that was not asked for."""

    model_config = ConfigDict(extra="forbid", populate_by_name=False)


def letter_model(description: Description) -> type[Record]:
    """`{metadata: {field: [text, ...] or null, ...}}` with the fields of the description."""
    # names of fields come from a file and may be no identifiers, so they are aliases
    fields: dict[str, Any] = {
        f"field_{place}": (
            list[str] | None,
            Field(alias=field.name, description=field.title or field.name.replace("_", " ")),
        )
        for place, field in enumerate(description.fields)
    }
    metadata = create_model("Metadata", __base__=Record, **fields)
    return create_model("Document", __base__=Record, metadata=(metadata, ...))


def manuscript_model(description: Description) -> type[Record]:
    """`{folios: [{folio, text, addition1, ...}]}`; texts that are absent are empty."""
    asked = description.extra.get("additions", ADDITIONS)
    number = min(max(asked, 0), 99) if isinstance(asked, int) else ADDITIONS
    fields: dict[str, Any] = dict.fromkeys(("folio", "text"), (str, ...))
    fields |= {f"addition{place}": (str, ...) for place in range(1, number + 1)}
    entry = create_model("FolioEntry", __base__=Record, **fields)
    return create_model("Document", __base__=Record, folios=(list[entry], ...))  # type: ignore[valid-type]


def letter_schema(description: Description) -> dict[str, Any]:
    """The JSON schema of `letter_model`."""
    return letter_model(description).model_json_schema(by_alias=True)


def manuscript_schema(description: Description) -> dict[str, Any]:
    """The JSON schema of `manuscript_model`."""
    return manuscript_model(description).model_json_schema(by_alias=True)
