"""Matching of names: predicted against those of the ground truth, through an authority list.

Two ways. `alias`: literal, as published: a prediction counts as a person of this letter and role if it equals the
canonical name or stands literally among the alternates. `profile`: the same question asked of the whole authority
list and of names brought to one form (case, blanks, hyphens, order of first and last name); there an identifier of the
entry (GND, VIAF, Wikidata ...) counts as a form of the name too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from histeval.tasks.description import AuthorityEntry
from histeval.tasks.identifiers import identifier

_WORD = re.compile(r"[^\s.,\-‐‑‒–—−]+\.?")
LONGEST_CACHED = 200
_MARKERS = (("<<", ">>", "correspondence"), ("<", ">", "function"))


def name_key(name: str) -> tuple[str, ...]:
    """A name in the form in which `profile` compares: its words, folded, in alphabetical order.

    Blanks, hyphens and commas only separate words; a full stop ends one and stays with it.

    >>> name_key("SPEICH, Rudolf") == name_key("Rudolf  Speich"), name_key("Dr.R. Speich") == name_key("Dr. R. Speich")
    (True, True)
    """
    return _cached_key(name) if len(name) <= LONGEST_CACHED else _key(name)


def _key(name: str) -> tuple[str, ...]:
    return tuple(sorted(_WORD.findall(unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold()))))


_cached_key = lru_cache(maxsize=1 << 16)(_key)


def bare_name(value: str) -> tuple[str, str]:
    """A value without its marker, and how it was inferred: `correspondence`, `function` or not at all (empty).

    >>> bare_name("<<Ritter, Fritz>>"), bare_name("<Christ, Paul>"), bare_name(" Krasting ")
    (('Ritter, Fritz', 'correspondence'), ('Christ, Paul', 'function'), ('Krasting', ''))
    """
    text = value.strip()
    if text[:1] == "<":
        for opening, closing, how in _MARKERS:
            if text.startswith(opening) and text.endswith(closing) and len(text) >= len(opening) * 2:
                return text[len(opening) : -len(closing)].strip(), how
    return text, ""


@dataclass(frozen=True, slots=True)
class Match:
    """What became of one predicted name: the identity it counts as, a code, and a remark in words.

    Codes: `canonical`, `alias`, `profile` (hits); `inferred` (right, but only inferred in the ground truth);
    `elsewhere` (in the authority list, but not in this letter and role); `unknown` (in no list).
    """

    identity: str
    code: str
    why: str

    @property
    def hit(self) -> bool:
        """Whether the name is one that the ground truth selects."""
        return self.code in ("canonical", "alias", "profile")


class NameMatcher:
    """Names of one field, with its authority list (which may be empty)."""

    def __init__(self, entries: Sequence[AuthorityEntry], profile: bool) -> None:
        self.profile = profile
        alternates: dict[str, set[str]] = {}
        for entry in entries:
            alternates.setdefault(entry.name, set()).update(entry.alternate_names)
        owners: dict[str, list[str]] = {}
        keys: dict[tuple[str, ...], list[str]] = {}
        for name, forms in alternates.items():
            for form in {name, *forms}:
                owners.setdefault(form, []).append(name)
            for key in {name_key(form) for form in (name, *forms)} - {()}:
                keys.setdefault(key, []).append(name)
        if profile:
            for entry in entries:
                for scheme, value in entry.identifiers.items():
                    known = identifier(value, scheme)
                    if known is not None and entry.name not in keys.setdefault(known, []):
                        keys[known].append(entry.name)
        self.alternates = {name: frozenset(forms) for name, forms in alternates.items()}
        self.owners = {form: tuple(names) for form, names in owners.items()}
        self.keys = {key: tuple(names) for key, names in keys.items()}

    def identities(self, names: Iterable[str]) -> dict[str, str]:
        """The identity each name of the ground truth stands for: itself, or under `profile` the entry it names."""
        return {name: self._own(name) if self.profile else name for name in names}

    def match(self, predicted: str, selected: dict[str, str], inferred: dict[str, str]) -> Match:
        """What a predicted name counts as, against the selected names of the ground truth and those only inferred.

        Both map names to identities, as `identities` gives them.
        """
        return (self._by_profile if self.profile else self._by_alias)(predicted, selected, inferred)

    def _by_alias(self, predicted: str, selected: dict[str, str], inferred: dict[str, str]) -> Match:
        for name in selected:
            if predicted == name:
                return Match(name, "canonical", "")
            if predicted in self.alternates.get(name, ()):
                return Match(name, "alias", f"listed as a form of {name}")
        for name in inferred:
            if predicted == name or predicted in self.alternates.get(name, ()):
                return Match(predicted, "inferred", f"{name}, whom the ground truth only infers")
        return Match(predicted, *self._elsewhere(self.owners.get(predicted, ())))

    def _by_profile(self, predicted: str, selected: dict[str, str], inferred: dict[str, str]) -> Match:
        key = identifier(predicted) or name_key(predicted)
        if not key:  # a form that says nothing is nobody's, whatever the list holds
            return Match(predicted, *self._elsewhere(()))
        owners = self.keys.get(key, ())
        for name, identity in selected.items():
            if predicted == name:
                return Match(identity, "canonical", "")
            if predicted in self.alternates.get(identity, ()):
                return Match(identity, "alias", f"listed as a form of {identity}{_doubt(owners, identity)}")
        for name, identity in selected.items():
            if identity in owners or key == name_key(name):
                why = f"a form of {identity} but for how it is written{_doubt(owners, identity)}"
                return Match(identity, "profile", why)
        for name, identity in inferred.items():
            if predicted == name or identity in owners or key == name_key(name):
                return Match(
                    identity, "inferred", f"{identity}, whom the ground truth only infers{_doubt(owners, identity)}"
                )
        identity = owners[0] if len(owners) == 1 else " ".join(key) or predicted
        return Match(identity, *self._elsewhere(owners))

    def _own(self, name: str) -> str:
        if name in self.alternates:
            return name
        owners = self.keys.get(identifier(name) or name_key(name), ())
        return owners[0] if len(owners) == 1 else name

    def _elsewhere(self, owners: tuple[str, ...]) -> tuple[str, str]:
        if len(owners) > 1:
            return "elsewhere", f"a form of {_others(owners)}, none of them in this letter and role"
        if owners:
            return "elsewhere", f"{owners[0]}, who is not in this letter and role"
        return "unknown", "in no entry of the authority list" if self.owners else "not in the ground truth"


def _doubt(owners: tuple[str, ...], identity: str) -> str:
    others = tuple(name for name in owners if name != identity)
    return f"; the form could also be {_others(others)}" if others else ""


def _others(names: tuple[str, ...]) -> str:
    return " or ".join(names[:3]) + (f" or {len(names) - 3} more" if len(names) > 3 else "")
