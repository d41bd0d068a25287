"""Values of letters as people write them into cells: markers, None, several in one, names that are nearly known."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from histeval.datasets.formats.headings import folded
from histeval.tasks.description import Field

NO_VALUE = "None"
"""What stands for a letter without the value."""
MANY = ("person", "organisation", "place", "list")
"""Kinds of fields that may have several values."""
SWAPPED = 0.5
"""With more than this share of unknown names, a column is asked about as a whole."""
FEWEST = 4
"""With fewer names in a column, no share says anything."""
MOST_GUESSES = 1000
"""So many unknown names of a list are looked up: where there are more, the list is the wrong one."""
_MARKED = re.compile(r"<<[^<>]+>>|<[^<>]+>|[^<>]+")


def bare(value: str) -> str:
    """A value without marker and outer blanks.

    >>> bare(" <<Vischer, Max>>")
    'Vischer, Max'
    """
    return value.strip().strip("<>").strip()


def is_malformed(value: str) -> bool:
    """Whether the marker of a value is not `<Name>` or `<<Name>>`.

    >>> is_malformed("<Vischer, Max>"), is_malformed("<Vischer, Max")
    (False, True)
    """
    return not _MARKED.fullmatch(value.strip())


def is_several(value: str, kind: str) -> bool:
    """Whether a value of a field that may have several is nearly surely more than one.

    >>> is_several("Roth, A.; Vischer, M.", "person"), is_several("a; b", "text")
    (True, False)
    """
    return kind in MANY and bool(re.search(r"[^;\s]\s*;\s*[^;\s]", value))


class Nearest:
    """The known name that is most like another, whatever accents, case and signs."""

    def __init__(self, names: Collection[str]) -> None:
        self.names = {folded(name): name for name in names}
        self.choices = list(self.names)
        self.found: dict[str, str | None] = {}

    def find(self, name: str) -> str | None:
        """The nearest name, None where none is near.

        >>> Nearest(["Kovács, Ágnes", "Nagy, Pál"]).find("Kovács, Agnes"), Nearest(["Nagy, Pál"]).find("Roth, Emil")
        ('Kovács, Ágnes', None)
        """
        from rapidfuzz import fuzz, process

        word = folded(name)
        if word not in self.found:
            if not word or len(self.found) >= MOST_GUESSES:
                return None
            found = process.extractOne(word, self.choices, scorer=fuzz.ratio, score_cutoff=80)
            self.found[word] = self.names[found[0]] if found else None
        return self.found[word]


def doubts(letters: Sequence[tuple[str, Mapping[str, Sequence[str]]]], fields: Sequence[Field],
           known: Mapping[str, Collection[str]]) -> dict[str, list[str]]:  # fmt: skip
    """What in the values of some letters (id and values by field) is doubtful, with the places; `known` gives the names
    of each authority list."""
    found: dict[str, list[str]] = {}
    for field in fields:
        names = known.get(field.authority or "", ())
        total, unknown = 0, list[str]()
        for identifier, values in letters:
            given = values.get(field.name, ())
            place = f"{identifier}, {field.name}"
            if NO_VALUE in given and len(given) > 1:
                found.setdefault(f"cells with {NO_VALUE} beside other values", []).append(place)
            for value in given:
                if is_malformed(value):
                    found.setdefault("values whose marker is not <Name> or <<Name>>", []).append(place)
                if is_several(value, field.kind) and value not in names:
                    found.setdefault("cells of names with a ; in them, read as one name", []).append(place)
                if bare(value) != NO_VALUE:
                    total += 1
                    if names and bare(value) not in names:
                        unknown.append(place)
        if unknown:
            found[f"names in {field.name} that are not in the list of {field.authority}"] = unknown
        if is_foreign(len(unknown), total):
            found[f"most names in {field.name} are unknown: are the columns swapped?"] = []
    return found


def is_foreign(unknown: int, total: int) -> bool:
    """Whether so many of a column's names are unknown that the column itself is doubtful.

    >>> is_foreign(3, 4), is_foreign(1, 1), is_foreign(2, 40)
    (True, False, False)
    """
    return total >= FEWEST and unknown > total * SWAPPED
