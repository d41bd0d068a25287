"""What every task is: rules and protocols, the reading of an answer, counts and metrics.

A task is registered by name in `histeval.tasks` or, from outside, through the entry point group `histeval.tasks`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from histeval.errors import UsageError
from histeval.stats.metrics import Metric
from histeval.tasks.description import Context, Description

PROTOCOLS = ("documented", "published", "corrected")

FAILURES = {
    "missing": "no answer for this document",
    "provider_error": "the provider answered with an error",
    "refused": "the model refused",
    "cut_off": "the answer was cut off before its end",
    "empty": "the answer is empty",
    "not_json": "the answer is not JSON and holds none",
    "wrong_shape": "the answer is JSON but not the record that was asked for",
    "runaway": "the answer repeats itself without end",
}
"""The reasons a failed answer can have, and what each means."""

RuleValue = bool | int | float | str | tuple[str, ...] | None


@dataclass(frozen=True)
class Rule:
    """A scoring rule: its value in each protocol and, for `choice`, the values it can take.

    Kinds: `switch` (true, false), `choice`, `number` (or the word in `choices`, such as none), `names` (a+b+c).
    """

    name: str
    kind: Literal["switch", "choice", "number", "names"]
    documented: RuleValue
    published: RuleValue
    corrected: RuleValue
    choices: tuple[str, ...] = ()
    help: str = ""

    def parse(self, text: str) -> RuleValue:
        """The value written as `text` (as on the command line).

        >>> Rule("cer_cap", "number", 1, 1, None, ("none",)).parse("none") is None
        True
        """
        word = text.strip()
        if self.kind == "switch":
            if word.lower() in ("true", "false"):
                return word.lower() == "true"
            raise UsageError(f"rule {self.name} takes true or false, not {text!r}")
        if self.kind == "names":
            names = tuple(name.strip() for name in word.replace("+", ",").split(",") if name.strip())
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise UsageError(f"rule {self.name} names {twice!r} twice")
            return names
        if word.lower() == "none" and "none" in self.choices:
            return None if self.kind == "number" else "none"
        if self.kind == "number":
            try:
                number = float(word)
            except ValueError:
                number = float("nan")
            if not 0 <= number < float("inf"):
                raise UsageError(f"rule {self.name} takes a number{' or none' if self.choices else ''}, not {text!r}")
            return int(number) if number == int(number) else number
        if word in self.choices:
            return word
        raise UsageError(f"rule {self.name} takes {' or '.join(self.choices)}, not {text!r}")

    @staticmethod
    def write(value: RuleValue) -> str:
        """The text form of a value; `parse` reads it back."""
        if value is None:
            return "none"
        if isinstance(value, bool):
            return "true" if value else "false"
        return "+".join(value) if isinstance(value, tuple) else str(value)


@dataclass(frozen=True)
class Protocol:
    """A frozen, named set of scoring rules of one task; `overridden` names the rules that differ from the name's."""

    task: str
    name: str
    rules: Mapping[str, RuleValue]
    overridden: tuple[str, ...] = ()

    def __getitem__(self, rule: str) -> Any:
        return self.rules[rule]

    @property
    def short(self) -> str:
        """The name and the overridden rules: `published,rounding=none`."""
        return ",".join([self.name, *(f"{rule}={Rule.write(self.rules[rule])}" for rule in self.overridden)])

    @property
    def long(self) -> str:
        """Every rule: `letters|published[dates=text,...]`; `Task.parse_protocol` reads it back."""
        rules = ",".join(f"{rule}={Rule.write(value)}" for rule, value in self.rules.items())
        return f"{self.task}|{self.name}[{rules}]"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one document: raw text, or a record (decoded JSON), or an error (a reason from `FAILURES`,
    or the provider's words), with what it took."""

    document: str
    text: str | None = None
    record: Any = None
    error: str | None = None
    repeat: int = 0
    finish: str | None = None
    seconds: float | None = None
    cost: float | None = None
    usage: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer as read: a record of the task, or a failure with its reason (a key of `FAILURES`) and a detail.

    `repairs` names what had to be mended or left out to read it, in words.
    """

    record: Any = None
    failure: str | None = None
    detail: str = ""
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentScore:
    """The score of one document: its counts (int64, one a column) and, for people, what happened in each field.

    `notes` names what was mended or left out to read the answer; `detail` says why a failed one could not be read.
    """

    counts: NDArray[np.int64]
    failure: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    detail: str = ""


class Scorer(ABC):
    """A task under one protocol for one dataset: frozen, picklable, and a pure function of truth and answer."""

    task: Task
    protocol: Protocol
    context: Context
    columns: tuple[str, ...]
    metrics: tuple[Metric, ...]
    """All metrics, the most important first."""
    headline: tuple[str, ...]
    """Names of the metrics a table shows first; the first ranks."""

    @abstractmethod
    def selects(self, truth: Any) -> bool:
        """Whether the protocol's rules score this document at all (skip_signatures, say)."""

    @abstractmethod
    def read(self, answer: Answer) -> Reading:
        """The answer as a record or a failure; never raises for anything an answer can hold."""

    @abstractmethod
    def score(self, truth: Any, reading: Reading) -> DocumentScore | None:
        """Counts of one document; None where the protocol leaves failed answers out."""

    def metrics_on(self, sums: NDArray[np.int64]) -> tuple[Metric, ...]:
        """The metrics for a set of documents with these sums, shape (columns,), names and order as in `metrics`.

        Intervals and tests use them: what a mean covers (fields, types) is fixed here on the full set, not for each
        replicate.
        """
        return self.metrics

    @property
    def needs_rows(self) -> bool:
        """Whether `values` reads the rows and not their sums alone, so that parts of a corpus hand theirs over."""
        return type(self).values is not Scorer.values

    def values(self, rows: Sequence[tuple[str, DocumentScore]], sums: NDArray[np.int64]) -> dict[str, float | None]:
        """Point values of all metrics, from the sums or, where a protocol rounds on the way, from the rows."""
        return {metric.name: metric.value(sums) for metric in self.metrics_on(sums)}

    def report(self, truths: Sequence[Any], rows: Sequence[tuple[str, DocumentScore]]) -> list[str]:
        """What the numbers hide, one sentence each."""
        return []

    def report_of_counts(self, counts: NDArray[np.int64]) -> list[str]:
        """What the counts of all documents, shape (documents, columns), say about the numbers made from them."""
        return []


def check_rounding(digits: RuleValue) -> None:
    """Raises UsageError where `digits` is no whole number from 0 to 10, nor None."""
    if digits is not None and not (isinstance(digits, int) and 0 <= digits <= 10):
        raise UsageError(f"rule rounding takes a whole number from 0 to 10 or none, not {digits}")


class Task(ABC):
    """A task: its rules, and a scorer for each dataset and protocol."""

    name: str
    alias: str
    title: str
    summary: str
    rules: tuple[Rule, ...]

    @abstractmethod
    def scorer(self, context: Context, protocol: Protocol) -> Scorer:
        """A scorer; raises UsageError where a rule names a field or type that the dataset does not have."""

    @abstractmethod
    def default_description(self) -> Description:
        """The description of the published benchmark, which a dataset without a dataset.toml gets."""

    def record_schema(self, context: Context) -> dict[str, Any]:
        """The JSON schema of the record an answer must give, for structured output."""
        return {
            "type": "object",
            "properties": {"xml": {"type": "string"}},
            "required": ["xml"],
            "additionalProperties": False,
        }

    def check_rules(self, rules: Mapping[str, RuleValue]) -> None:  # noqa: B027 (nothing to check by default)
        """Raises UsageError where rules contradict each other."""

    def protocol(self, name: str = "documented", overrides: Mapping[str, str | RuleValue] | None = None) -> Protocol:
        """The protocol `name` with single rules overridden; text is read as on the command line."""
        if name not in PROTOCOLS:
            raise UsageError(f"there is no protocol {name!r}; there are {', '.join(PROTOCOLS)}")
        known = {rule.name: rule for rule in self.rules}
        base: dict[str, RuleValue] = {rule.name: getattr(rule, name) for rule in self.rules}
        rules = dict(base)
        for key, value in (overrides or {}).items():
            if key not in known:
                raise UsageError(f"the task {self.name} has no rule {key!r}; it has {', '.join(sorted(known))}")
            rules[key] = known[key].parse(value if isinstance(value, str) else Rule.write(value))
        self.check_rules(rules)
        changed = tuple(key for key in rules if rules[key] != base[key] or type(rules[key]) is not type(base[key]))
        return Protocol(self.name, name, rules, changed)

    def parse_protocol(self, text: str) -> Protocol:
        """The protocol written as `text`, in its long form or in its short one.

        The first part may also carry the task's name, as a signature does.
        """
        words = text.split("|", 1)[1] if text.startswith(f"{self.name}|") else text
        if words.endswith("]") and "[" in words:
            name, rules = words[:-1].split("[", 1)
        else:
            name, _, rules = words.partition(",")
        pairs = [rule.partition("=") for rule in rules.split(",") if rule]
        return self.protocol(name, {key: value for key, _, value in pairs})
