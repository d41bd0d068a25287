"""Why a run is as good as it is: its edits by cause, its reasons, its classes of errors, as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from histeval.datasets.base import Document
from histeval.overview.board import Collected, Run
from histeval.overview.cells import Cell, Table, count_cell, text_cell
from histeval.overview.page import clean, percent
from histeval.tasks.base import Answer, DocumentScore

MOST_CONFUSIONS = 25
_NAMES = {"u_v": "u/v", "i_j": "i/j"}


def findings(collected: Collected, run: Run) -> list[Table]:
    """The tables of causes of a run under the first protocol; none for a task from outside."""
    makers = {"letters": _letters, "manuscripts": _manuscripts, "directories": _directories}
    make = makers.get(collected.task.name)
    return make(collected, run) if make else []


def _rows(collected: Collected, run: Run) -> Iterator[tuple[Document, Answer, DocumentScore]]:
    """Documents of the run's first repeat with its answer and their score."""
    repeat = run.answers.repeats[0]
    for name, row in run.scores[collected.protocol].rows[0].items():
        answer = run.answers.answers.get((name, repeat)) or Answer(name, error="missing")
        yield collected.dataset.documents[name], answer, row


def _manuscripts(collected: Collected, run: Run) -> list[Table]:
    """Edits by cause, with their sum, and the characters that were read as others."""
    from histeval.overview.documents.manuscripts import page_causes

    scorer = run.scores[collected.protocol].scorer
    causes: Counter[str] = Counter()
    confusions: Counter[tuple[str, str]] = Counter()
    for document, answer, _ in _rows(collected, run):
        found, pairs = page_causes(scorer, document.truth, answer)
        causes.update(found)
        confusions.update(pairs)
    total = sum(causes.values())
    rows = [_cause(cause, number, total) for cause, number in causes.most_common() if number]
    foot = [[text_cell("all edits"), text_cell(""), *_share(total, total), text_cell("sum of the causes")]]
    listed = [
        [text_cell(_sign(one)), text_cell(_sign(other)), count_cell(number)]
        for (one, other), number in sorted(confusions.items(), key=lambda item: (-item[1], item[0]))[:MOST_CONFUSIONS]
    ]
    left = len(confusions) - len(listed)
    return [
        Table(
            "Causes of error",
            ("Cause", "Group", "#Edits", "#Share", "Meaning"),
            rows,
            "Every edit, by grapheme cluster on the texts as written, has one cause.",
            ("CER and its edits elsewhere are those of the protocol's text profile, so they may be fewer.",),
            foot,
        ),
        Table(
            "Confusions",
            ("Ground truth", "Answer", "#Times"),
            listed,
            "Characters that were read as others; ∅ stands for none.",
            (f"{left} rarer confusions are left out.",) if left > 0 else (),
        ),
    ]


def _cause(cause: str, number: int, total: int) -> list[Cell]:
    from histeval.text import CAUSES

    group, meaning = CAUSES[cause]
    return [
        text_cell(_NAMES.get(cause, cause.replace("_", " "))),
        text_cell(group),
        *_share(number, total),
        text_cell(meaning),
    ]


def _sign(text: str) -> str:
    shown = clean(text).replace("\n", "↵")
    return "∅" if not text else "␣" if shown == " " else shown


def _share(number: int, total: int) -> list[Cell]:
    share = number / total if total else None
    return [count_cell(number), Cell(percent(share), share, kind="number")]


def _letters(collected: Collected, run: Run) -> list[Table]:
    """What became of every name and date, by reason and field."""
    from histeval.overview.documents.letters import WORDS

    scorer = run.scores[collected.protocol].scorer
    fields = list(getattr(scorer, "headline_fields", ()))
    titles = {field.name: field.title or field.name.replace("_", " ") for field in scorer.context.description.fields}
    counted: dict[tuple[str, str], Counter[str]] = {}
    for _, _, row in _rows(collected, run):
        for name in fields:
            for reason in row.fields.get(name, {}).get("reasons", ()):
                counted.setdefault((reason["counts"], reason["code"]), Counter())[name] += 1
    order = {"tp": 0, "fp": 1, "fn": 2, "": 3}
    rows = []
    for (counts, code), by_field in sorted(counted.items(), key=lambda item: (order[item[0][0]], -item[1].total())):
        rows.append(_reasons(WORDS.get(code, code), counts.upper() or "–", by_field, fields))
    foot = []
    for counts, word in (("tp", "all that is right"), ("fp", "all that is wrong"), ("fn", "all that is missed")):
        total: Counter[str] = Counter()
        for (kind, _), by_field in counted.items():
            if kind == counts:
                total.update(by_field)
        foot.append(_reasons(word, f"{counts.upper()} in all", total, fields))
    return [
        Table(
            "Why names and dates counted or not",
            ("Reason", "Counts as", *(f"#{titles.get(name, name)}" for name in fields), "#All"),
            rows,
            "Every name and date of the answers and of the ground truth, by what became of it.",
            foot=foot,
        )
    ]


def _reasons(word: str, counts: str, by_field: Counter[str], fields: list[str]) -> list[Cell]:
    numbers = [count_cell(by_field[name]) for name in fields]
    return [text_cell(word), text_cell(counts), *numbers, count_cell(by_field.total())]


def _directories(collected: Collected, run: Run) -> list[Table]:
    """Entities by class of error and type, and which types were taken for which."""
    from histeval.entities.errors import KINDS, classify
    from histeval.entities.matching import placed

    scorer = run.scores[collected.protocol].scorer
    kinds: dict[str, Counter[str]] = {}
    types: Counter[tuple[str, str]] = Counter()
    for document, answer, row in _rows(collected, run):
        gold = placed(document.truth)
        reading = scorer.read(answer)
        found = [] if row.failure else scorer.located(document.truth, reading)  # type: ignore[attr-defined]
        for error in classify(gold, found):
            one = gold[error.gold].type if error.gold is not None else None
            other = found[error.predicted].type if error.predicted is not None else None
            kinds.setdefault(clean(one or other), Counter())[error.kind] += 1
            if error.kind == "type":
                types[clean(one), clean(other)] += 1
    names = list(KINDS)
    order = sorted(kinds, key=lambda name: (-kinds[name].total(), name))
    rows = [[text_cell(name), *(count_cell(kinds[name][kind]) for kind in names)] for name in order]
    total: Counter[str] = sum(kinds.values(), Counter())
    foot = [[text_cell("all types"), *(count_cell(total[kind]) for kind in names)]]
    tables = [
        Table(
            "Classes of error",
            ("Type", *(f"#{kind}" for kind in names)),
            rows,
            "Every gold entity and every invented one has one class; compared by characters.",
            ("; ".join(f"{kind}: {words}" for kind, words in KINDS.items()) + ".",),
            foot,
        )
    ]
    if types:
        pairs = sorted(types.items(), key=lambda item: (-item[1], item[0]))[:MOST_CONFUSIONS]
        listed = [[text_cell(one), text_cell(other), count_cell(number)] for (one, other), number in pairs]
        tables.append(
            Table("Types taken for others", ("Ground truth", "Answer", "#Times"), listed, "The place was right.")
        )
    return tables
