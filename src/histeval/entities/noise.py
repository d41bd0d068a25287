"""Realistic OCR noise, learnt from pairs of a clean text and its OCR, put on other texts with their entities kept."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import overload

from histeval.entities.projection import align, text_nodes
from histeval.entities.spans import Entry, Span

LONGEST_EDIT = 3
"""Longest run of characters that is learnt as one edit; longer ones are lines that OCR put elsewhere or lost."""
_BREAK = "\u2029"
HIGHEST_RATE = 0.9
"""No character is edited with a higher probability, whatever the strength."""


@dataclass(frozen=True, slots=True)
class NoiseModel:
    """How OCR changed each character of the texts it was learnt from.

    `rates` has, for each character, the share of its occurrences that were changed; `edits` what they became, with
    counts (nothing where the character was lost, several characters where some were put in). `levels` has the share
    of changed characters of each text, since a few texts have most of the errors.
    """

    rates: dict[str, float]
    edits: dict[str, tuple[tuple[str, int], ...]]
    levels: tuple[float, ...]

    @classmethod
    def fit(cls, pairs: Iterable[tuple[str, str]]) -> NoiseModel:
        """The model of (clean text, OCR text) pairs. Line feeds count as U+2029, as in published data.

        >>> model = NoiseModel.fit([("Dufay, r. Denis", "Dufay, r. Dcnis"), ("Dulay, place", "Dulay, placc")])
        >>> model.edits["e"], model.rates["e"]
        ((('c', 2),), 1.0)
        """
        seen: Counter[str] = Counter()
        changed: defaultdict[str, Counter[str]] = defaultdict(Counter)
        levels = []
        for clean, noisy in pairs:
            clean, noisy = clean.replace("\n", _BREAK), noisy.replace("\n", _BREAK)
            errors = 0
            for character, result in _edits(clean, noisy):
                seen[character] += 1
                if result != character:
                    errors += 1
                    changed[character][result] += 1
            levels.append(errors / len(clean) if clean else 0.0)
        rates = {character: sum(results.values()) / seen[character] for character, results in changed.items()}
        edits = {character: tuple(sorted(results.items())) for character, results in changed.items()}
        return cls(rates, edits, tuple(levels))

    @overload
    def apply(self, text: str, seed: int, strength: float = 1.0) -> str: ...
    @overload
    def apply(self, text: Entry, seed: int, strength: float = 1.0) -> Entry: ...
    def apply(self, text: str | Entry, seed: int, strength: float = 1.0) -> str | Entry:
        """`text` with noise: the same for the same text, seed and strength.

        `strength` multiplies the learnt rates: 1 is the noise of the texts it was learnt from, 0 none. How noisy this
        text gets is drawn from `levels`. An entity that would vanish keeps its characters.
        """
        entry = text if isinstance(text, Entry) else Entry(text, ())
        mean = sum(self.levels) / len(self.levels) if self.levels else 0.0
        # A text as seed: random.Random hashes it the same way in every process.
        chance = random.Random(f"{seed}|{strength}|{entry.text}")
        scale = strength * chance.choice(self.levels) / mean if mean else 0.0
        pieces = [self._draw(character, scale, chance) for character in entry.text]
        for span in entry.spans:
            inside = range(span.start, span.end)
            if not "".join(pieces[place] for place in inside).strip():
                for place in inside:
                    pieces[place] = entry.text[place]
        noisy = "".join(pieces)
        if not isinstance(text, Entry):
            return noisy
        places = [0]
        for piece in pieces:
            places.append(places[-1] + len(piece))
        spans = tuple(Span(span.type, places[span.start], places[span.end], span.parent) for span in entry.spans)
        return Entry(noisy, spans, text_nodes(len(noisy), spans))

    def _draw(self, character: str, scale: float, chance: random.Random) -> str:
        known = _BREAK if character == "\n" else character
        if chance.random() >= min(HIGHEST_RATE, scale * self.rates.get(known, 0.0)):
            return character
        results = self.edits[known]
        return chance.choices([result for result, _ in results], [count for _, count in results])[0]


def _edits(clean: str, noisy: str) -> Iterable[tuple[str, str]]:
    """Each character of `clean` with what it became; long runs without any agreement are left out."""
    alignment = align(clean, noisy)
    rows, row = len(clean), 0
    while row < rows:
        if alignment.equal[row]:
            # What was put in after a character belongs to it, where the next one stands again.
            end = alignment.ends[row]
            after = alignment.starts[row + 1] if row + 1 < rows and alignment.equal[row + 1] else end
            stop = after if after - end <= LONGEST_EDIT else end
            yield clean[row], noisy[alignment.starts[row] : stop]
            row += 1
            continue
        stop = row
        while stop < rows and not alignment.equal[stop]:
            stop += 1
        first, last = alignment.starts[row], alignment.starts[stop] if stop < rows else alignment.ends[stop - 1]
        if stop - row <= LONGEST_EDIT and last - first <= LONGEST_EDIT:
            for place in range(row, stop):  # the last character of a block takes what is left over
                yield (
                    clean[place],
                    noisy[alignment.starts[place] : last if place == stop - 1 else alignment.ends[place]],
                )
        row = stop
