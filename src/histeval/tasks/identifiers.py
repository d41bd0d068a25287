"""Identifiers of authority files (GND, VIAF, Wikidata, GeoNames, ORCID, ISNI) as people and programs write them."""

from __future__ import annotations

import re
from functools import lru_cache

_FORMS = (
    ("GND", re.compile(r"(?:https?://)?(?:www\.)?d-nb\.info/gnd/([0-9X][0-9X-]{2,15})/?(?:about.*)?", re.IGNORECASE)),
    ("GND", re.compile(r"(?:GND|PND|\(DE-588\))\s*[:=#-]?\s*([0-9X][0-9X-]{2,15})", re.IGNORECASE)),
    ("VIAF", re.compile(r"(?:https?://)?(?:www\.)?viaf\.org/(?:viaf|[a-z]{2}/viaf)/(\d{1,22})/?.*", re.IGNORECASE)),
    ("VIAF", re.compile(r"VIAF\s*[:=#]?\s*(\d{1,22})", re.IGNORECASE)),
    ("Wikidata", re.compile(r"(?:https?://)?(?:www\.)?wikidata\.org/(?:wiki|entity)/(Q\d{1,12})/?", re.IGNORECASE)),
    ("Wikidata", re.compile(r"(?:wikidata|wd)\s*[:=#]?\s*(Q\d{1,12})", re.IGNORECASE)),
    ("GeoNames", re.compile(r"(?:https?://)?(?:www\.|sws\.)?geonames\.org/(\d{1,12})(?:/.*)?", re.IGNORECASE)),
    ("GeoNames", re.compile(r"geonames\s*[:=#]?\s*(\d{1,12})", re.IGNORECASE)),
    ("ORCID", re.compile(r"(?:https?://)?orcid\.org/(\d{4}-\d{4}-\d{4}-\d{3}[0-9X])", re.IGNORECASE)),
    ("ISNI", re.compile(r"(?:https?://)?(?:www\.)?isni\.org/(?:isni/)?(\d{15}[0-9X])", re.IGNORECASE)),
)
_BARE = {
    "GND": r"[0-9][0-9X-]{3,14}",
    "VIAF": r"\d{1,22}",
    "Wikidata": r"Q\d{1,12}",
    "GeoNames": r"\d{1,12}",
    "ORCID": r"\d{4}-\d{4}-\d{4}-\d{3}[0-9X]",
    "ISNI": r"\d{15}[0-9X]",
}
SCHEMES = tuple(dict.fromkeys(scheme for scheme, _ in _FORMS))
"""The schemes that are known by their addresses."""
LONGEST = 200


@lru_cache(maxsize=1 << 16)
def identifier(text: str, scheme: str = "") -> tuple[str, str] | None:
    """Scheme and value of an identifier; None for what is none. `scheme` says what a bare value is.

    >>> identifier("https://d-nb.info/gnd/118540238"), identifier("VIAF: 24602065"), identifier("Goethe")
    (('GND', '118540238'), ('VIAF', '24602065'), None)
    >>> identifier("118540238", "gnd")
    ('GND', '118540238')
    """
    word = text.strip()
    if not word or len(word) > LONGEST:
        return None
    for name, form in _FORMS:
        match = form.fullmatch(word)
        if match is not None:
            return name, match[1].upper()
    for name in SCHEMES:
        if scheme.casefold() == name.casefold() and re.fullmatch(_BARE[name], word, re.IGNORECASE):
            return name, word.upper()
    return None
