"""What a dataset says of itself. What varies between datasets stands here, not in code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

KINDS = ("text", "date", "person", "organisation", "place", "number", "list")
"""What a field of the letters task can hold."""


@dataclass(frozen=True)
class Field:
    """A field of a metadata record. `authority` names the authority list whose entries its values are (or None)."""

    name: str
    kind: str = "text"
    authority: str | None = None
    headline: bool = False
    title: str = ""


@dataclass(frozen=True)
class EntityType:
    """An entity type: the types that may stand directly inside it, whether it may stand at the root, and the type
    it becomes where nesting is dropped, alone (`flat`) and as seen by each parent (`flat_in`, parent to type)."""

    name: str
    children: tuple[str, ...] = ()
    root: bool = True
    flat: str | None = None
    flat_in: Mapping[str, str | None] = field(default_factory=dict)
    title: str = ""


@dataclass(frozen=True)
class Description:
    """The description of a dataset, from its `dataset.toml` or known for a published layout."""

    task: str
    name: str
    title: str = ""
    text: str = ""
    languages: tuple[str, ...] = ()
    period: str = ""
    unit: str = "document"
    licence: str = ""
    citation: str = ""
    published: str = ""
    """The day the ground truth became public (ISO date), since public truth may be in training data."""
    source: str = ""
    fields: tuple[Field, ...] = ()
    types: tuple[EntityType, ...] = ()
    profile: str = ""
    """Name of a text profile, where the dataset asks for another than the protocol's."""
    prompt: str = ""
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class AuthorityEntry:
    """A person (organisation, place ...) of an authority list, with every form of the name that counts as it."""

    name: str
    alternate_names: tuple[str, ...] = ()
    identifiers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Context:
    """What scoring needs to know beside a document: the description and the authority lists by name."""

    description: Description
    authorities: Mapping[str, tuple[AuthorityEntry, ...]] = field(default_factory=dict)
