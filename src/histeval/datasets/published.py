"""What is known of the three published datasets, for folders that carry no dataset.toml.

Facts from the repositories RISE-UNIBAS/humanities_data_benchmark and soduco/paper-nestedner-icdar23-code and from
the publications cited below.
"""

from __future__ import annotations

from dataclasses import replace

from histeval.tasks.description import Description, EntityType, Field

AUTHORITIES = ("persons", "organizations", "places", "ships")
"""Authority lists that may stand beside published letters, as `NAME.json` or `NAME.csv`."""


def published_fields() -> tuple[Field, ...]:
    """The fields of the published letters benchmark."""
    from histeval.tasks.letters import PUBLISHED_FIELDS

    return PUBLISHED_FIELDS


def optional_fields() -> tuple[Field, ...]:
    """Fields the published benchmark names for later; each is scored by itself where a ground truth records it."""
    from histeval.tasks.letters import OPTIONAL_FIELDS

    return OPTIONAL_FIELDS


ENTITY_TYPES = (
    EntityType("PER", ("TITREH",), flat="PER", title="person or firm"),
    EntityType("ACT", flat="ACT", flat_in={"DESC": "ACT"}, title="activity"),
    EntityType("DESC", ("ACT", "TITREP"), flat=None, title="description"),
    EntityType("SPAT", ("LOC", "CARDINAL", "FT"), flat=None, title="address"),
    EntityType("TITRE", flat="TITRE", title="title"),
    EntityType("TITREH", root=False, flat="TITRE", flat_in={"PER": "TITRE"}, title="title of a person"),
    EntityType("TITREP", root=False, flat="TITRE", flat_in={"DESC": "TITRE"}, title="professional title"),
    EntityType("LOC", root=False, flat="LOC", flat_in={"SPAT": "LOC"}, title="street name"),
    EntityType("CARDINAL", root=False, flat="CARDINAL", flat_in={"SPAT": "CARDINAL"}, title="street number"),
    EntityType("FT", root=False, flat="FT", flat_in={"SPAT": "FT"}, title="kind of place"),
)
"""The nested types of the published trade directories and what each becomes where nesting is dropped. The tags
TITRE-H and TITRE-P lose their hyphen, as in the published experiments."""

_RISE = "https://github.com/RISE-UNIBAS/humanities_data_benchmark"
_RISE_LICENCE = "CC BY 4.0 (ground truth); the repository is GPL-3.0"
_RISE_CITATION = "doi:10.5334/johd.481; doi:10.5281/zenodo.16941752"

LETTERS = Description(
    task="letters",
    name="business_letters",
    title="Business Letters",
    text="Letters of the Basler Rheinschiffahrt-Aktiengesellschaft: date, senders and receivers of 57 letters.",
    languages=("de",),
    period="1926-1935",
    unit="document",
    licence=_RISE_LICENCE,
    citation=f"{_RISE_CITATION}; scans doi:10.7891/e-manuscripta-54917",
    published="2025-04-11",
    source=_RISE,
)
MANUSCRIPTS = Description(
    task="manuscripts",
    name="medieval_manuscripts",
    title="Medieval Manuscripts",
    text="Twelve pages of a Basel manuscript of the 15th century: folio number, text and marginal additions.",
    languages=("gmh",),
    period="15th century",
    unit="page",
    licence=_RISE_LICENCE,
    citation=f"{_RISE_CITATION}; scans Universitaetsbibliothek Basel, H V 15, e-codices",
    published="2025-10-24",
    source=_RISE,
)
DIRECTORIES = Description(
    task="directories",
    name="trade_directories",
    title="Paris Trade Directories",
    text="Entries of 18 Paris trade directories with nested named entities on two levels.",
    languages=("fr",),
    period="1798-1861",
    unit="page",
    licence="CC BY 4.0",
    citation="Tual et al. 2023, arXiv:2302.10204; doi:10.5281/zenodo.7864174; page images: gallica.bnf.fr / "
    "Bibliotheque nationale de France",
    published="2023-02",
    source="https://github.com/soduco/paper-nestedner-icdar23-code",
    types=ENTITY_TYPES,
)

DESCRIPTIONS = {"letters": LETTERS, "manuscripts": MANUSCRIPTS, "directories": DIRECTORIES}

KNOWN_FOLDERS = {"business_letters": LETTERS, "metadata_extraction": LETTERS, "medieval_manuscripts": MANUSCRIPTS}


def description_of(task: str, folder_name: str) -> Description:
    """The description of a folder in a published layout that has no dataset.toml.

    Licence, citation and day of publication are those of the published dataset only where the folder bears its
    name: a stranger's letters in the same layout are the stranger's.
    """
    known = KNOWN_FOLDERS.get(folder_name)
    fields = published_fields() if task == "letters" else ()
    if known is not None and known.task == task:
        return replace(known, fields=fields)
    plain = DESCRIPTIONS[task]
    return Description(task=task, name=folder_name, unit=plain.unit, fields=fields, types=plain.types)
