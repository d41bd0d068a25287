"""Ids that are the same for people: accents stored as one sign or as two, blanks and signs that file names cannot have.

A Mac stores file names decomposed (`o` and a combining diaeresis), nearly everything else composed (`ö`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\<>:"|?*\s\u2028\u2029]+|^[. ]+|[. ]+$')
"""What the id of a document that is made from a file's name does not have."""
ACCENTS = "differs only in how accents are stored"


def composed(text: str) -> str:
    """A text with accents as one sign (Unicode NFC), as people see it.

    >>> composed("Ko\\u0308ln") == "K\\u00f6ln"
    True
    """
    return unicodedata.normalize("NFC", text)


def without_blanks(name: str) -> str:
    """A name composed, with `_` for blanks and signs that a file name cannot have.

    >>> without_blanks("strana 1/2")
    'strana_1_2'
    """
    return UNSAFE.sub("_", composed(name)).strip("_")


def is_dataset_name(name: str) -> bool:
    """Whether a dataset can be called so: 1 to 80 letters of any script with their marks, digits, `.`, `_` and `-`,
    composed (NFC), a letter or digit first. It stands in signatures, between `|` and `@`, and in names of files.

    >>> [is_dataset_name(name) for name in ("pekárny", "ベーカリー", "a|b", "../a", "")]
    [True, True, False, False, False]
    """
    if not 0 < len(name) <= 80 or composed(name) != name or unicodedata.category(name[0])[0] not in "LN":
        return False
    return all(c in "._-" or unicodedata.category(c)[0] in "LMN" for c in name)


def dataset_name(text: str, default: str) -> str:
    """A name for a dataset, made of a folder's name or a title; `default` where nothing of it can be used.

    >>> dataset_name("Böse Briefe (2. Kiste)", "letters")
    'Böse_Briefe_2._Kiste'
    """
    signs = [c if unicodedata.category(c)[0] in "LMN" or c in "._-" else " " for c in composed(text)]
    name = "_".join("".join(signs).split())
    while name and (name[0] in "._-" or unicodedata.category(name[0])[0] == "M"):
        name = name[1:]
    return name[:80].rstrip("._-") or default


class DocumentIds:
    """The ids of a dataset, found by how other programs write them."""

    def __init__(self, ids: Iterable[str]) -> None:
        self.ids = frozenset(ids)
        self._alike: dict[str, dict[str, list[str]]] = {"composed": {}, "without_blanks": {}}
        for name in self.ids:
            self._alike["composed"].setdefault(composed(name), []).append(name)
            self._alike["without_blanks"].setdefault(without_blanks(name), []).append(name)

    def find_accents(self, name: str) -> str | None:
        """The id that is this name, else the only one that differs in how accents are stored."""
        found = self._alike["composed"].get(composed(name), [])
        return name if name in self.ids else found[0] if len(found) == 1 else None

    def find(self, name: str) -> str | None:
        """The id that is this name, else the only one that differs in accents, else the only one in blanks and signs;
        None where there is none, or more than one.

        >>> DocumentIds(["strana 1", "a b", "a_b"]).find("strana_1"), DocumentIds(["a b", "a/b"]).find("a_b")
        ('strana 1', None)
        """
        if name in self.ids:
            return name
        for key, table in ((composed(name), "composed"), (without_blanks(name), "without_blanks")):
            found = self._alike[table].get(key, [])
            if found:
                return found[0] if len(found) == 1 else None
        return None
