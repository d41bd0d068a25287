"""The view of a manuscript page: folio, text and additions beside the ground truth, each change with its causes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from histeval.datasets.base import Document
from histeval.overview.documents.differences import LONGEST, differences
from histeval.overview.documents.views import View
from histeval.overview.page import clean
from histeval.tasks.base import Answer, DocumentScore, Reading, Scorer
from histeval.tasks.description import Context
from histeval.tasks.manuscripts_pairing import Text, addition_keys, content, texts_of
from histeval.text import CAUSES, align, confusions, count_causes
from histeval.text.causes import Elsewhere, Side

LEGEND = (
    ("recognition", "recognition", "other characters were read"),
    ("normalisation", "normalisation", "case, u and v, i and j, long s, punctuation, abbreviations, line breaks"),
    ("layout", "layout", "the text stands in another field"),
    ("missing", "missing", "words that the answer does not have"),
    ("invented", "invented", "words that the ground truth does not have"),
)
SHORTEST_ELSEWHERE = 4
"""So many letters a text must have to be looked for in other fields."""


def shared(scorer: Scorer) -> dict[str, Any]:
    """What all views refer to: the causes as [name, group, meaning], and what the numbers are counted on."""
    profile: Any = getattr(scorer, "cer_text", None)
    steps = " and ".join(profile.steps) if profile is not None and profile.steps else "raw"
    about = f"Marks compare the texts as written; CER and its edits are those of the score, on {steps} text."
    return {
        "about": about,
        "causes": [[cause, group, meaning] for cause, (group, meaning) in CAUSES.items()],
    }


def truth(document: Document, context: Context) -> list[dict[str, Any]]:
    """The ground truth by folio, for the page without script."""
    folios = []
    for ref, fields in document.truth.folios:
        keys = ["folio", "text", *addition_keys(fields)]
        parts = [{"title": _title(key), "text": clean(fields[key])} for key in keys if content(fields.get(key))]
        folios.append({"name": clean(ref), "parts": parts})
    return folios


def view(scorer: Scorer, document: Document, row: DocumentScore, reading: Reading) -> View:
    """Every text of the page: its numbers as scored, and both sides with their differences."""
    texts = []
    for compared in compare(scorer, document.truth, reading):
        scored = row.fields.get(compared.text.name)
        notes = []
        if scored is None:
            notes.append("Only the answer has this text; it is not scored.")
        shown: dict[str, Any] = {"name": compared.text.name, "title": _heading(compared.text.name)}
        if scored is not None:
            shown["numbers"] = [
                ["fuzzy", f"{scored['fuzzy']:.3f}"],
                ["CER", f"{scored['cer']:.3f}"],
                ["edits", f"{scored['edits']} of {scored['length']}"],
            ]
        for side, text in (("ground truth", compared.reference), ("answer", compared.hypothesis)):
            if len(text) > LONGEST:
                notes.append(f"The {side} is cut after {LONGEST:,} of {len(text):,} characters.")
        if notes:
            shown["notes"] = notes
        shown |= differences(compared.reference[:LONGEST], compared.hypothesis[:LONGEST], compared.elsewhere)
        texts.append(shown)
    return {"texts": texts}


@dataclass(frozen=True)
class Compared:
    """A text of a page, both sides as written, and whether its words stand in another field."""

    text: Text
    reference: str
    hypothesis: str
    elsewhere: Elsewhere


def compare(scorer: Scorer, page: Any, reading: Reading) -> Iterator[Compared]:
    """Every text of a page that either side has, paired as it is scored; those only the answer has come last."""
    entries = () if reading.failure else reading.record
    paired = texts_of(page, entries, bool(getattr(scorer, "by_folio", False)), True)[0]
    texts = [text for text in paired if text.truth or text.answer]
    truths = {text.name: text.truth for text in texts}
    answers = {text.name: text.answer if isinstance(text.answer, str) else str(text.answer) for text in texts}
    for text in texts:
        yield Compared(text, text.truth, answers[text.name], _elsewhere(text.name, truths, answers))


def page_causes(scorer: Scorer, page: Any, answer: Answer) -> tuple[dict[str, int], Counter[tuple[str, str]]]:
    """Edits of a page by cause, and its confusions, by grapheme cluster on the texts as written.

    Only texts that are scored count. The causes sum to the edits of the alignments; texts are cut after `LONGEST`
    characters as on the page.
    """
    causes = dict.fromkeys(CAUSES, 0)
    table: Counter[tuple[str, str]] = Counter()
    reading = scorer.read(answer)
    scored = scorer.score(page, reading)
    for compared in compare(scorer, page, reading):
        if scored is None or compared.text.name not in scored.fields:
            continue
        alignment = align(compared.reference[:LONGEST], compared.hypothesis[:LONGEST], "grapheme")
        for cause, number in count_causes(alignment, compared.elsewhere).items():
            causes[cause] += number
        table.update(confusions(alignment))
    return causes, table


def _elsewhere(name: str, truths: Mapping[str, str], answers: Mapping[str, str]) -> Elsewhere:
    """Whether words missing in one text stand in another of the answer, or words invented in another of the truth.

    They are looked for without case, white space and punctuation, as a whole.
    """

    def asked(side: Side, text: str) -> bool:
        words = _bare(text)
        if len(words) < SHORTEST_ELSEWHERE:
            return False
        others = answers if side == "missing" else truths
        own = truths if side == "missing" else answers
        for other, written in others.items():
            # Words that the other field has on both sides belong there and were not moved.
            if other != name and words in _bare(written) and words not in _bare(own[other]):
                return True
        return False

    return asked


def _bare(text: str) -> str:
    return "".join(c for c in text[:LONGEST].casefold() if c.isalnum())


def _title(key: str) -> str:
    return f"Addition {key[8:]}" if key.startswith("addition") else key.capitalize()


def _heading(name: str) -> str:
    """`[3r]/addition1` as a title; `+` marks what only the answer has."""
    ref, _, key = name.rpartition("/")
    extra = " (only in the answer)" if key.startswith("+") or ref.startswith("+") else ""
    where = f"entry {ref[1:]} of the answer" if ref.startswith("+") else ref
    return f"{_title(key.lstrip('+'))}, {clean(where)}{extra}"
