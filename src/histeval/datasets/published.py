"""What is known of the three published datasets, for folders that carry no dataset.toml.

Fields, entity types and titles come from the tasks; here stands what is true of the data as it was published, by the
repositories RISE-UNIBAS/humanities_data_benchmark and soduco/paper-nestedner-icdar23-code.
"""

from __future__ import annotations

from dataclasses import replace

from histeval.tasks.description import Description, EntityType, Field
from histeval.tasks.registry import get_task

AUTHORITIES = ("persons", "organizations", "places", "ships")
"""Authority lists that may stand beside published letters, as `NAME.json` or `NAME.csv`."""

KNOWN_FOLDERS = {"business_letters": "letters", "metadata_extraction": "letters", "medieval_manuscripts": "manuscripts"}
"""Names that the published folders bear or bore, and their task."""

UNITS = {"letters": "document", "manuscripts": "page", "directories": "page"}
"""The sampling unit of each task's documents, where a dataset does not say otherwise."""

_RISE_LICENCE = "CC BY 4.0 (ground truth); the repository is GPL-3.0"


def published_description(task: str) -> Description:
    """The description of the published dataset of a task."""
    found = get_task(task).default_description()
    if task == "letters":
        # The day of revision r4, the ground truth that the published folder holds; the first became public in February.
        return replace(found, published="2025-04-11", licence=_RISE_LICENCE)
    if task == "manuscripts":
        return replace(found, languages=("gmh",), published="2025-10-24", licence=_RISE_LICENCE)
    return found


def published_fields() -> tuple[Field, ...]:
    """The fields of the published letters benchmark."""
    from histeval.tasks.letters import PUBLISHED_FIELDS

    return PUBLISHED_FIELDS


def optional_fields() -> tuple[Field, ...]:
    """Fields the published benchmark names for later; each is scored by itself where a ground truth records it."""
    from histeval.tasks.letters import OPTIONAL_FIELDS

    return OPTIONAL_FIELDS


def entity_types() -> tuple[EntityType, ...]:
    """The nested types of the published trade directories; their tags lose the hyphen, as in the experiments."""
    return published_description("directories").types


def description_of(task: str, folder_name: str) -> Description:
    """The description of a folder in a published layout that has no dataset.toml.

    Licence, citation and day of publication are those of the published dataset only where the folder bears its
    name: a stranger's letters in the same layout are the stranger's.
    """
    known = published_description(task)
    if KNOWN_FOLDERS.get(folder_name) == task:
        return known
    return Description(task=task, name=folder_name, unit=UNITS[task], fields=known.fields, types=known.types)
