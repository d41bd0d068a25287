"""Letters: metadata extraction. Dates, senders, receivers and further fields, scored by counts of hits and errors.

Definition of the published score: the benchmark "Business Letters" of RISE (doi:10.5334/johd.481). Counts of a letter
are TP, FP and FN of each field; F1 = 2PR/(P+R) of their sums; the macro mean is over the headline fields.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from histeval.errors import UsageError
from histeval.stats.metrics import Metric
from histeval.tasks import letters_reading as reading
from histeval.tasks.base import (
    FAILURES,
    Answer,
    DocumentScore,
    Protocol,
    Reading,
    RuleValue,
    Scorer,
    Task,
    check_rounding,
)
from histeval.tasks.dates import century_of, date_value
from histeval.tasks.description import Context, Description, Field
from histeval.tasks.letters_metrics import f1_macro, f1_macro_exact, f1_micro, f1_micro_exact, ratio
from histeval.tasks.letters_rules import HEADLINE, OPTIONAL_FIELDS, PUBLISHED_FIELDS, RULES
from histeval.tasks.names import NameMatcher, bare_name
from histeval.tasks.truth import LetterTruth

__all__ = ["OPTIONAL_FIELDS", "PUBLISHED_FIELDS", "LettersScorer", "LettersTask"]

_DECIMAL_COMMA = re.compile(r"[-+]?\d{1,30},(\d{1,2}|\d{4,30})")
_NAMES = ("person", "organisation", "place", "list")
RARELY = 0.005
"""The share of resamples without a field from which on it is said that they lower the interval."""


class LettersTask(Task):
    """Metadata extraction from letters."""

    name = "letters"
    alias = "metadata"
    title = "Metadata of letters"
    summary = "date, senders, receivers and further fields of a letter, from its page images"
    rules = RULES

    def scorer(self, context: Context, protocol: Protocol) -> LettersScorer:
        """A scorer for a dataset; raises UsageError where `fields` names one that the dataset does not have."""
        return LettersScorer(self, context, protocol)

    def default_description(self) -> Description:
        """The description of the published benchmark."""
        return Description(
            task="letters",
            name="business_letters",
            title="Business Letters",
            text="Typewritten letters of and to a Basel shipping company, with some handwritten additions.",
            languages=("de",),
            period="1926-1935",
            unit="document",
            licence="CC BY 4.0",
            citation="doi:10.5334/johd.481, doi:10.5281/zenodo.16941752; scans: doi:10.7891/e-manuscripta-54917",
            published="2025-02-26",
            source="RISE Humanities Data Benchmark, Business Letters",
            fields=PUBLISHED_FIELDS,
        )

    def record_schema(self, context: Context) -> dict[str, Any]:
        """The JSON schema of `{metadata: {field: [text, ...] or null}}` with the fields of the description."""
        from histeval.tasks.records import letter_schema

        return letter_schema(context.description)

    def check_rules(self, rules: Mapping[str, RuleValue]) -> None:
        """Raises UsageError where rounding is not to a whole number of decimals."""
        check_rounding(rules["rounding"])

    def protocol(self, name: str = "documented", overrides: Mapping[str, str | RuleValue] | None = None) -> Protocol:
        """The protocol `name`, with single rules overridden.

        Leaving out signed and unsigned letters at once leaves nothing, so it is refused; under `published` it acts as
        `skip_signatures` alone, as the published code does.
        """
        protocol = super().protocol(name, overrides)
        if name != "published" and protocol["skip_signatures"] and protocol["skip_non_signatures"]:
            raise UsageError("skip_signatures and skip_non_signatures together leave no letter: set only one of them")
        return protocol


class LettersScorer(Scorer):
    """Letters under one protocol for one dataset."""

    def __init__(self, task: LettersTask, context: Context, protocol: Protocol) -> None:
        self.task, self.context, self.protocol = task, context, protocol
        description = context.description
        self.fields = description.fields or PUBLISHED_FIELDS
        known = {field.name: field for field in self.fields}
        asked = protocol["fields"]
        if asked == HEADLINE:
            headline = tuple(field.name for field in self.fields if field.headline) or tuple(known)
        else:
            headline = tuple(dict.fromkeys(asked))
        for name in headline:
            if name not in known:
                raise UsageError(f"the dataset {description.name} has no field {name!r}; it has {', '.join(known)}")
        if not headline:
            raise UsageError("the rule fields names no field")
        self.headline_fields = headline
        self.columns = tuple(f"{field.name}_{kind}" for field in self.fields for kind in ("tp", "fp", "fn"))
        self._fast = _Settings(protocol)
        self._century = century_of(description.period)
        self._matchers: dict[str, NameMatcher] = {}
        for field in self.fields:
            if field.kind in _NAMES or (field.authority and field.kind != "date"):
                entries = context.authorities.get(field.authority, ()) if field.authority else ()
                self._matchers[field.name] = NameMatcher(entries, self._fast.profile)
        self._no_match = NameMatcher((), False)
        self.headline = ("f1_macro", "f1_micro")
        self.metrics = self._make_metrics(headline)

    def _make_metrics(self, macro: Sequence[str]) -> tuple[Metric, ...]:
        groups = {field.name: (3 * i, 3 * i + 1, 3 * i + 2) for i, field in enumerate(self.fields)}
        zero = 0.0 if self.protocol["zero_division"] == "0" else math.nan
        digits = self.protocol["rounding"]
        micro_groups = tuple(groups[name] for name in self.headline_fields)
        macro_groups = tuple(groups[name] for name in macro)
        metrics = [
            Metric(
                "f1_macro",
                partial(f1_macro, macro_groups, zero),
                help=f"mean F1 of {', '.join(macro)}",
                exact=partial(f1_macro_exact, macro_groups, zero, digits),
            ),
            Metric(
                "f1_micro",
                partial(f1_micro, micro_groups, zero),
                help=f"F1 of the summed counts of {', '.join(self.headline_fields)}",
                exact=partial(f1_micro_exact, micro_groups, zero, digits),
            ),
        ]
        for name, (tp, fp, fn) in groups.items():
            metrics += [
                Metric(f"{name}_precision", partial(ratio, (tp,), (tp, fp), zero), help=f"TP / (TP + FP) of {name}"),
                Metric(f"{name}_recall", partial(ratio, (tp,), (tp, fn), zero), help=f"TP / (TP + FN) of {name}"),
                Metric(f"{name}_f1", partial(f1_micro, ((tp, fp, fn),), zero), help=f"F1 of {name}"),
            ]
        return tuple(metrics)

    def metrics_on(self, sums: NDArray[np.int64]) -> tuple[Metric, ...]:
        """The metrics on documents with these sums: with `zero_division=missing` a field that never occurs in their
        ground truth leaves the macro mean."""
        if self.protocol["zero_division"] == "0":
            return self.metrics
        place = {field.name: 3 * i for i, field in enumerate(self.fields)}
        occurring = [name for name in self.headline_fields if sums[place[name]] + sums[place[name] + 2] > 0]
        return self._make_metrics(occurring)

    def selects(self, truth: LetterTruth) -> bool:
        """Whether the letter is scored under the signature rules."""
        if self._fast.skip_signatures:
            return truth.signed is not True
        return truth.signed is True if self._fast.skip_non_signatures else True

    def read(self, answer: Answer) -> Reading:
        """The record `{field: (value, ...)}`, values as the model wrote them, or a failure."""
        return reading.read(answer, self.fields, self._fast.tolerant)

    def score(self, truth: LetterTruth, reading: Reading) -> DocumentScore | None:
        """Counts of TP, FP and FN of each field; None where a failed answer is left out."""
        failure = reading.failure
        if failure and self._fast.left_out:
            return None
        record: Mapping[str, tuple[str, ...]] = {} if failure else reading.record
        counts: list[int] = []
        fields: dict[str, Any] = {}
        for field in self.fields:
            values = truth.fields.get(field.name)
            if values is None:
                counts += (0, 0, 0)
                continue
            score_field = self._score_date if field.kind == "date" else self._score_names
            shown = score_field(field, values, record.get(field.name, ()), failure)
            counts += (shown["tp"], shown["fp"], shown["fn"])
            fields[field.name] = shown
        return DocumentScore(np.array(counts, dtype=np.int64), failure, fields, reading.repairs, reading.detail)

    def report(self, truths: Sequence[LetterTruth], rows: Sequence[tuple[str, DocumentScore]]) -> list[str]:
        """What the numbers hide."""
        lines = []
        if self._fast.skip_signatures or self._fast.skip_non_signatures:
            silent = sum(truth.signed is None for truth in truths)
            if silent:
                lines.append(f"{silent} letters do not say whether they are signed and were taken as unsigned")
        for field in self.fields:
            if field.authority and field.authority not in self.context.authorities:
                lines.append(f"there is no authority list {field.authority}: {field.name} is compared without one")
        codes: dict[str, int] = {}
        for _, row in rows:
            for shown in row.fields.values():
                for reason in shown["reasons"]:
                    codes[reason["code"]] = codes.get(reason["code"], 0) + 1
        if codes.get("inferred"):
            how = "count as neither right nor wrong" if self._fast.neutral else "count as wrong"
            lines.append(f"{codes['inferred']} names of persons that the ground truth only infers {how}")
        doubtful = sum(
            "could also be" in reason["why"]
            for _, row in rows
            for shown in row.fields.values()
            for reason in shown["reasons"]
        )
        if doubtful:
            lines.append(f"{doubtful} names counted as right are forms of more than one entry of the authority list")
        return lines

    def report_of_counts(self, counts: NDArray[np.int64]) -> list[str]:
        """Fields of so few letters that resamples lack them: their F1 counts as 0 there, which moves the interval."""
        if self.protocol["zero_division"] != "0":
            return []
        lines = []
        for number, field in enumerate(self.fields):
            there = int(np.count_nonzero(counts[:, 3 * number : 3 * number + 3].any(axis=1)))
            if field.name in self.headline_fields and there and (1 - there / len(counts)) ** len(counts) > RARELY:
                lines.append(
                    f"{field.name} occurs in {there} of {len(counts)} letters: resamples without it count its F1 as 0 "
                    "(zero_division=0), which lowers the low end of the macro interval"
                )
        return lines

    def _score_date(
        self, field: Field, values: tuple[str, ...], predicted: tuple[str, ...], failure: str | None
    ) -> dict[str, Any]:
        """One date: match 1/0/0, wrong 0/1/1, missing 0/0/1; both absent 0/0/0."""
        truth = values[0] if values and values[0] not in ("None", "") else None
        found = predicted[0] if predicted and not self._fast.is_null_date(predicted[0]) else None
        reasons: list[dict[str, str]] = []
        if len(predicted) > 1:
            reasons += [
                _reason(value, "found", "", "left_out", "only the first date counts") for value in predicted[1:]
            ]
        tp = fp = fn = 0
        if found is None:
            if truth is not None:
                fn = 1
                reasons.append(_missed(truth, failure))
        elif truth is None:
            # the published code knows no letter without a date and counts any wrong date as missed too
            fp, fn = 1, 0 if self._fast.date_values else 1
            reasons.append(_reason(found, "found", "fp", "invented", "the ground truth has no date"))
        elif found == truth:
            tp = 1
            reasons.append(_reason(found, "found", "tp", "canonical", ""))
        elif self._fast.date_values and self._same_day(found, truth):
            tp = 1
            reasons.append(_reason(found, "found", "tp", "profile", f"the same day as {truth}"))
        else:
            fp = fn = 1
            reasons.append(_reason(found, "found", "fp", "wrong", f"not {truth}"))
            reasons.append(_missed(truth, failure))
        return {
            "expected": [] if truth is None else [truth],
            "found": [] if found is None else [found],
            "tp": tp,
            "fp": fp,
            "fn": fn,
            "reasons": reasons,
        }

    def _same_day(self, found: str, truth: str) -> bool:
        day = date_value(truth, self._century)
        return day is not None and date_value(found, self._century) == day

    def _score_names(
        self, field: Field, values: tuple[str, ...], predicted: tuple[str, ...], failure: str | None
    ) -> dict[str, Any]:
        """Names of one role as sets: TP = in both, FP = only predicted, FN = only in the ground truth."""
        fast = self._fast
        matcher = self._matchers.get(field.name, self._no_match)
        expected: list[str] = []
        dropped: list[str] = []
        reasons: list[dict[str, str]] = []
        bare = _BARE.get(field.kind, bare_name)
        for value in values:
            name, how = bare(value)
            if name == "None" or not name:
                continue
            if how and how not in fast.inferred:
                dropped.append(name)
                reasons.append(_reason(name, "expected", "", "not_asked", f"only inferred from {how}"))
            else:
                expected.append(name)
        selected, inferred = matcher.identities(expected), matcher.identities(dropped)
        wanted = set(selected.values())
        hits: dict[str, str] = {}
        wrong: dict[str, str] = {}
        found: list[str] = []
        for value in predicted:
            name, _ = bare(value)
            match = matcher.match(name, selected, inferred)
            found.append(name)
            if match.hit:
                if fast.is_empty(match.identity):
                    pass
                elif match.identity in hits:
                    why = f"names {match.identity} again, after {hits[match.identity]}"
                    reasons.append(_reason(name, "found", "", "duplicate", why))
                    continue
                else:
                    hits[match.identity] = name
                    reasons.append(_reason(name, "found", "tp", match.code, match.why))
                    continue
            if fast.is_empty(match.identity if match.hit else name):
                found.pop()
                reasons.append(_reason(name, "found", "", "empty", "stands for no name"))
            elif match.code == "inferred" and fast.neutral:
                reasons.append(_reason(name, "found", "", "inferred", match.why))
            elif match.identity in wrong:
                reasons.append(_reason(name, "found", "", "duplicate", f"given again, after {wrong[match.identity]}"))
            else:
                wrong[match.identity] = name
                reasons.append(_reason(name, "found", "fp", match.code, match.why))
        missed = wanted - hits.keys()
        for identity, name in {identity: name for name, identity in reversed(selected.items())}.items():
            if identity in missed:
                reasons.append(_missed(name, failure))
        return {
            "expected": expected,
            "found": found,
            "tp": len(hits),
            "fp": len(wrong),
            "fn": len(missed),
            "reasons": reasons,
        }


class _Settings:
    """The rules of a protocol as plain attributes, since each is asked for every name."""

    def __init__(self, protocol: Protocol) -> None:
        self.tolerant = protocol["reading"] == "tolerant"
        self.left_out = protocol["failed_answers"] == "left_out"
        self.skip_signatures = bool(protocol["skip_signatures"])
        self.skip_non_signatures = bool(protocol["skip_non_signatures"])
        self.profile = protocol["names"] == "profile"
        self.neutral = protocol["inferred_hit"] == "neutral"
        self.date_values = protocol["dates"] == "value"
        self.drop = protocol["empty_names"] == "drop"
        rules = {"function": "inferred_from_function", "correspondence": "inferred_from_correspondence"}
        self.inferred = frozenset(how for how, rule in rules.items() if protocol[rule])

    def is_empty(self, name: str) -> bool:
        """Whether a predicted name is dropped, since it says that there is none."""
        if len(name) > reading.LONGEST_NULL:
            return False
        if self.tolerant:
            word = name.strip().casefold()
            return word in reading.NULLS or (self.drop and word in reading.EMPTY)
        return name == "null" or (self.drop and name in ("None", ""))

    def is_null_date(self, text: str) -> bool:
        """Whether a predicted date says that there is none; as published only `null` does."""
        if self.tolerant:
            return len(text) <= reading.LONGEST_NULL and text.strip().casefold() in reading.NULLS | reading.EMPTY
        return text == "null"


def _bare_text(value: str) -> tuple[str, str]:
    return value.strip(), ""


def _bare_number(value: str) -> tuple[str, str]:
    """A number in one form, so that 12, 12.0, +12 and 012 are the same; what is no number stays as it is, and so does
    1,200, which is one number in English and another in German.

    >>> [_bare_number(text)[0] for text in ("12.0", " 012", "12,5", "1,200", "-0", "12 pages", "1e999999", "NaN")]
    ['12', '12', '12.5', '1,200', '0', '12 pages', '1e999999', 'NaN']
    """
    text = value.strip()
    try:
        number = Decimal(text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text) else text)
    except InvalidOperation:
        return text, ""
    # A number with a vast exponent would become a text of as many digits.
    if len(text) > 40 or not number.is_finite() or abs(number.adjusted()) > 60:
        return text, ""
    return "0" if number == 0 else format(number.normalize(), "f"), ""


_BARE = {"text": _bare_text, "number": _bare_number}


def _reason(name: str, side: str, counts: str, code: str, why: str) -> dict[str, str]:
    return {"name": name, "side": side, "counts": counts, "code": code, "why": why}


def _missed(name: str, failure: str | None) -> dict[str, str]:
    why = f"the answer failed: {FAILURES.get(failure, failure)}" if failure else "not named"
    return _reason(name, "expected", "fn", "missed", why)
