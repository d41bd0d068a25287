"""Manuscripts: transcription of a page into folio number, main text and marginal additions.

Definition of the published score: the benchmark "Medieval Manuscripts" of RISE (doi:10.5281/zenodo.16941752). Each
text gets a fuzzy score (normalised Indel similarity, 2 LCS / (|a|+|b|)) and a character error rate; the collection is
their mean over texts (as documented) or over pages (as published, rounded on the way).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from histeval.errors import UsageError
from histeval.stats.counts import FRACTION
from histeval.stats.metrics import Floats, Metric, divide
from histeval.tasks import manuscripts_reading as reading
from histeval.tasks.base import (
    Answer,
    DocumentScore,
    Protocol,
    Reading,
    Rule,
    RuleValue,
    Scorer,
    Task,
    check_rounding,
)
from histeval.tasks.description import Context, Description
from histeval.tasks.manuscripts_pairing import Text, texts_of
from histeval.tasks.reading import READING, as_text
from histeval.tasks.truth import PageTruth
from histeval.text import error_rate, fuzzy_ratio
from histeval.text.normalise import profile

KINDS = ("folio", "text", "additions")
PARTS = ("texts", "fuzzy", "cer", "edits", "characters", "word_edits", "words")
COLUMNS = (*(f"{kind}_{part}" for kind in KINDS for part in PARTS), "pages", "page_fuzzy", "page_cer")
_AT = {column: place for place, column in enumerate(COLUMNS)}

RULES = (
    Rule(
        "average",
        "choice",
        "texts",
        "pages",
        "texts",
        choices=("texts", "pages"),
        help="the mean over all texts, or over pages of the mean of each page's texts",
    ),
    Rule(
        "cer_text",
        "names",
        ("folded", "collapsed"),
        ("folded", "collapsed"),
        ("NFC", "graphemes"),
        help="text profile under which edits are counted",
    ),
    Rule("fuzzy_text", "names", ("raw",), ("raw",), ("NFC",), help="text profile under which similarity is measured"),
    Rule("cer_cap", "number", 1, 1, None, choices=("none",), help="the highest CER one text can have"),
    Rule(
        "both_empty_text",
        "choice",
        "excluded",
        "scored",
        "excluded",
        choices=("excluded", "scored"),
        help="a main text that is empty on both sides: left out, or scored as fully right",
    ),
    Rule(
        "only_in_answer",
        "choice",
        "keys",
        "keys",
        "all",
        choices=("keys", "all"),
        help="what only the answer has: scored where the ground truth has the key (folio, addition1 ...), or all of it",
    ),
    Rule(
        "pairing",
        "choice",
        "position",
        "position",
        "folio",
        choices=("position", "folio"),
        help="entries paired by position, or by folio number and then by content, additions as a set",
    ),
    Rule(
        "rounding",
        "number",
        None,
        3,
        None,
        choices=("none",),
        help="decimals to which text, page and collection are rounded",
    ),
    READING,
)


class ManuscriptsTask(Task):
    """Transcription of manuscript pages."""

    name = "manuscripts"
    alias = "transcription"
    title = "Transcription of manuscripts"
    summary = "folio number, main text and marginal additions of a page image"
    rules = RULES

    def scorer(self, context: Context, protocol: Protocol) -> ManuscriptsScorer:
        """A scorer for a dataset. Where its description names a text profile, that one takes the place of the
        protocol's, except under `published` and where the rule was set; raises UsageError for an unknown profile."""
        asked = context.description.profile
        if asked and protocol.name != "published":
            changed = {name: protocol[name] for name in protocol.overridden}
            profiles = {name: asked for name in ("cer_text", "fuzzy_text") if name not in changed}
            protocol = self.protocol(protocol.name, {**profiles, **changed})
        return ManuscriptsScorer(self, context, protocol)

    def default_description(self) -> Description:
        """The description of the published benchmark."""
        return Description(
            task="manuscripts",
            name="medieval_manuscripts",
            title="Medieval Manuscripts",
            text="Pages of one manuscript of the 15th century in German, written by two scribes in Basel.",
            languages=("gmh", "de"),
            period="1401-1500",
            unit="page",
            licence="CC BY 4.0",
            citation="doi:10.5334/johd.481, doi:10.5281/zenodo.16941752; scans: e-codices, Basel UB, H V 15",
            published="2025-10-24",
            source="RISE Humanities Data Benchmark, Medieval Manuscripts",
        )

    def check_rules(self, rules: Mapping[str, RuleValue]) -> None:
        """Raises UsageError where rounding is not to whole decimals, or where a cap leaves no error rate."""
        check_rounding(rules["rounding"])
        if rules["cer_cap"] is not None and not rules["cer_cap"]:
            raise UsageError("rule cer_cap takes a number above 0 or none, not 0")

    def record_schema(self, context: Context) -> dict[str, Any]:
        """The JSON schema of `{folios: [{folio, text, addition1, ...}]}`."""
        from histeval.tasks.records import manuscript_schema

        return manuscript_schema(context.description)


class ManuscriptsScorer(Scorer):
    """Manuscripts under one protocol for one dataset."""

    columns = COLUMNS
    headline = ("fuzzy", "cer")

    def __init__(self, task: ManuscriptsTask, context: Context, protocol: Protocol) -> None:
        self.task, self.context, self.protocol = task, context, protocol
        self.cer_text, self.fuzzy_text = profile(protocol["cer_text"]), profile(protocol["fuzzy_text"])
        self.cap: float = math.inf if protocol["cer_cap"] is None else float(protocol["cer_cap"])
        self.digits: int | None = protocol["rounding"]
        self.by_page = protocol["average"] == "pages"
        self.all_of_answer = protocol["only_in_answer"] == "all"
        self.by_folio = protocol["pairing"] == "folio"
        self.score_both_empty = protocol["both_empty_text"] == "scored"
        self._tolerant = protocol["reading"] == "tolerant"
        self.metrics = self._make_metrics()

    def _make_metrics(self) -> tuple[Metric, ...]:
        # of nothing the published code makes a similarity of 0 and a CER of 1, so 0/0 is the worst value
        lowest, highest = (math.nan, math.nan) if self.protocol.name == "corrected" else (0.0, 1.0)
        of_texts = "page" if self.by_page else "text"
        over = {part: _places([f"{kind}_{part}" for kind in KINDS]) for part in PARTS}

        def mean(name: str, part: str, texts: Sequence[int], count: Sequence[int], help: str) -> Metric:
            higher = part == "fuzzy"
            zero = lowest if higher else highest
            digits = self.digits if name in self.headline else None
            return Metric(
                name,
                partial(mean_fraction, texts, count, zero),
                higher_is_better=higher,
                help=help,
                exact=partial(mean_fraction_exact, texts, count, zero, digits),
            )

        metrics = []
        for part, words in (("fuzzy", "similarity"), ("cer", "character error rate")):
            texts, count = (
                (_places([f"page_{part}"]), _places(["pages"])) if self.by_page else (over[part], over["texts"])
            )
            metrics.append(mean(part, part, texts, count, f"mean {words} of a {of_texts}"))
        metrics += [
            Metric(
                "cer_corpus",
                partial(rate, over["edits"], over["characters"], highest),
                higher_is_better=False,
                help="edits divided by characters, both summed",
            ),
            Metric(
                "wer",
                partial(rate, over["word_edits"], over["words"], highest),
                higher_is_better=False,
                help="word edits divided by words, both summed",
            ),
        ]
        for kind in KINDS:
            for part, words in (("fuzzy", "similarity"), ("cer", "character error rate")):
                places = _places([f"{kind}_{part}"]), _places([f"{kind}_texts"])
                metrics.append(mean(f"{kind}_{part}", part, *places, f"mean {words} of {kind}"))
        return tuple(metrics)

    def selects(self, truth: PageTruth) -> bool:
        """Every page is scored."""
        return True

    def read(self, answer: Answer) -> Reading:
        """The entries of the page, or a failure."""
        return reading.read(answer, self._tolerant)

    def score(self, truth: PageTruth, reading: Reading) -> DocumentScore:
        """Counts of one page; a failed answer counts as one without entries."""
        entries = () if reading.failure else reading.record
        texts, ignored = texts_of(truth, entries, self.by_folio, self.all_of_answer)
        counts = [0] * len(COLUMNS)
        fields: dict[str, dict[str, float]] = {}
        fuzzies: list[float] = []
        rates: list[float] = []
        for text in texts:
            scored = self.score_text(text)
            if scored is None:
                continue
            fuzzy, cer, edits, length, word_edits, words = scored
            if self.digits is not None:
                fuzzy, cer = round(fuzzy, self.digits), round(cer, self.digits)
            fuzzies.append(fuzzy)
            rates.append(cer)
            fields[text.name] = {"fuzzy": fuzzy, "cer": cer, "edits": edits, "length": length}
            place = _AT[f"{text.kind}_texts"]
            added = (1, round(fuzzy * FRACTION), round(cer * FRACTION), edits, length, word_edits, words)
            for offset, number in enumerate(added):
                counts[place + offset] += number
        if fuzzies or self.score_both_empty:
            page_fuzzy = sum(fuzzies) / len(fuzzies) if fuzzies else 0.0
            page_cer = sum(rates) / len(rates) if rates else 1.0
            if self.digits is not None:
                page_fuzzy, page_cer = round(page_fuzzy, self.digits), round(page_cer, self.digits)
            counts[-3:] = 1, round(page_fuzzy * FRACTION), round(page_cer * FRACTION)
        notes = (*reading.repairs, *(f"{name} is only in the answer and not scored" for name in ignored))
        return DocumentScore(np.array(counts, dtype=np.int64), reading.failure, fields, notes, reading.detail)

    def score_text(self, text: Text) -> tuple[float, float, int, int, int, int] | None:
        """Fuzzy score, CER, edits, length, word edits and words of one text; None where it is not scored."""
        truth, answer = text.truth, text.answer
        if not truth and answer == "":
            if text.kind != "text" or not self.score_both_empty:
                return None
            return (1.0, 0.0, 0, 0, 0, 0) if text.matched else (0.0, 1.0, 0, 0, 0, 0)
        readable = isinstance(answer, str)
        if not readable:  # only the published reading leaves such values: a number is compared as text
            readable = isinstance(answer, int | float) and not isinstance(answer, bool)
            answer = as_text(answer) if readable else ""
        if truth and answer:
            fuzzy = 1.0 if truth == answer else fuzzy_ratio(self.fuzzy_text.apply(truth), self.fuzzy_text.apply(answer))
        else:
            fuzzy = 0.0
        reference, hypothesis = self.cer_text.apply(truth), self.cer_text.apply(answer)
        characters = error_rate(reference, hypothesis, unit=self.cer_text.unit)
        words = error_rate(reference, hypothesis, unit="word")
        if not truth or not answer or not characters.length:
            cer = 0.0 if readable and reference == hypothesis else 1.0
        else:
            cer = min(self.cap, characters.edits / characters.length)
        return fuzzy, cer, characters.edits, characters.length, words.edits, words.length

    @property
    def needs_rows(self) -> bool:
        """Only where pages are rounded on the way."""
        return self.digits is not None and self.by_page

    def values(self, rows: Sequence[tuple[str, DocumentScore]], sums: NDArray[np.int64]) -> dict[str, float | None]:
        """Point values; where pages are rounded, the two headline values are made from the rows as published."""
        values = super().values(rows, sums)
        if self.digits is not None and self.by_page:  # as in `needs_rows`
            values["fuzzy"] = published_value(rows, "page_fuzzy", self.digits, empty=0.0)
            values["cer"] = published_value(rows, "page_cer", self.digits, empty=1.0)
        return values

    def report(self, truths: Sequence[PageTruth], rows: Sequence[tuple[str, DocumentScore]]) -> list[str]:
        """What the numbers hide."""
        lines = []
        ignored = sum(note.endswith("only in the answer and not scored") for _, row in rows for note in row.notes)
        if ignored:
            lines.append(f"{ignored} texts that only the answers have are not scored (only_in_answer=keys)")
        if not self.by_folio:
            several = sum(len(truth.folios) > 1 for truth in truths)
            if several:
                lines.append(f"{several} pages have several folios, which are paired with the answers by position")
        return lines


def published_value(
    rows: Sequence[tuple[str, DocumentScore]], column: str, digits: int = 3, empty: float = 0.0
) -> float:
    """The collection's score as published: page scores in text order of the documents' ids (image_1, image_10, ...),
    added up from left to right in plain double arithmetic, divided, rounded as Python rounds.

    `column` is `page_fuzzy` or `page_cer`; each page's score was rounded before.
    """
    place = _AT[column]
    total, pages = 0.0, 0
    for _, row in sorted(rows, key=lambda item: item[0]):
        if row.counts[_AT["pages"]]:
            total += int(row.counts[place]) / FRACTION
            pages += 1
    return round(total / pages, digits) if pages else empty


def _places(columns: Sequence[str]) -> tuple[int, ...]:
    return tuple(_AT[column] for column in columns)


def mean_fraction(parts: Sequence[int], counts: Sequence[int], zero: float, sums: Floats) -> Floats:
    """The mean of fractions that are stored in units of 1e-10; sums have the shape (..., columns)."""
    numerator = sum(sums[..., place] for place in parts)
    denominator = sum(sums[..., place] for place in counts)
    result: Floats = divide(numerator, denominator * float(FRACTION), zero)
    return result


def mean_fraction_exact(
    parts: Sequence[int], counts: Sequence[int], zero: float, digits: int | None, sums: NDArray[np.int64]
) -> float:
    """The same of one vector of int64 sums, exact in whole numbers before the one division."""
    numerator = sum(int(sums[place]) for place in parts)
    denominator = sum(int(sums[place]) for place in counts)
    value = numerator / (denominator * FRACTION) if denominator else zero
    return value if digits is None or math.isnan(value) else round(value, digits)


def rate(edits: Sequence[int], lengths: Sequence[int], zero: float, sums: Floats) -> Floats:
    """Edits divided by length, both summed; sums have the shape (..., columns)."""
    result: Floats = divide(sum(sums[..., place] for place in edits), sum(sums[..., place] for place in lengths), zero)
    return result
