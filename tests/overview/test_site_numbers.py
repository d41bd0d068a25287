"""Numbers on pages of runs, documents, parts and doubts, and in data of plots, made anew from the same answers."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest

from histeval.overview.slugs import slug
from histeval.runs.score import Score, score_paths
from overview_sites import PROTOCOLS, TASKS, MadeSite, table_rows, words

CASES = [(task, protocol) for task in TASKS for protocol in PROTOCOLS]
DOCUMENTS = "documents.html"
Scored = Mapping[tuple[str, str], Mapping[str, Score]]
INTERVAL = re.compile(r"\[(?:(-?\d\.\d{3}), (\d\.\d{3})|–)\]")


def scores(site: MadeSite, task: str, protocol: str, by: str | None = None) -> list[Score]:
    one = site.input(task)
    return list(score_paths(one.task, one.dataset, list(one.answers), protocol, selection=one.selection, by=by))


def run_slug(score: Score) -> str:
    return slug(score.run.rsplit("/", 1)[-1])


@pytest.fixture(scope="module")
def scored(demo_site: MadeSite) -> dict[tuple[str, str], dict[str, Score]]:
    return {
        (task, protocol): {run_slug(score): score for score in scores(demo_site, task, protocol)}
        for task in TASKS
        for protocol in PROTOCOLS
    }


def tables_of(tree: Any) -> dict[str, Any]:
    """The tables of a page by the heading before each."""
    found = {}
    for table in tree.xpath("//main//table"):
        heading = table.xpath("preceding::*[self::h1 or self::h2 or self::h3][1]")[0]
        found[words(heading)] = table
    return found


def plain(name: str) -> str:
    return re.sub(r"[ _]", "", name).lower()


def check_cell(cell: Any, score: Score, metric: str) -> None:
    """A number with its interval."""
    value, interval = score.values[metric], score.intervals[metric]
    assert cell.get("data-v") == (None if value is None else repr(float(value))), metric
    text = words(cell)
    assert text.startswith("–" if value is None else f"{value:.3f}"), metric
    shown = INTERVAL.search(text)
    assert shown is not None, metric
    known = interval.low is not None and interval.high is not None
    assert shown.groups() == ((f"{interval.low:.3f}", f"{interval.high:.3f}") if known else (None, None)), metric


def metric_of(score: Score, heading: str, row: str, column: str) -> str | None:
    """The metric that a cell of the page of a run shows, from its titles."""
    titles = {
        (field.title or field.name.replace("_", " ")): field.name for field in score.scorer.context.description.fields
    }
    wanted = {
        "By field": f"{titles.get(row, row)}_{column}",
        "By level": f"{column}[{row}]",
        "By type (F1)": f"f1[{column}/{row}]",
        "By joint label of both levels (F1)": f"f1[{column}/{row}]",
        "Further metrics": row,
    }[heading]
    return next((name for name in score.values if plain(name) == plain(wanted)), None)


def runs(site: MadeSite, task: str, found: Mapping[str, Score]) -> list[tuple[Score, Any]]:
    return [(score, site.pages[f"{site.folder(task)}runs/{name}.html"]) for name, score in found.items()]


@pytest.mark.parametrize("task", TASKS)
def test_every_metric_of_a_run_stands_on_its_page(demo_site: MadeSite, scored: Scored, task: str) -> None:
    for score, tree in runs(demo_site, task, scored[task, "documented"]):
        seen = set()
        for heading, table in tables_of(tree).items():
            if heading not in (
                "By field",
                "By level",
                "By type (F1)",
                "By joint label of both levels (F1)",
                "Further metrics",
            ):
                continue
            titles, rows = table_rows(table)
            for row in rows:
                for title, cell in zip(titles[1:], row[1:], strict=True):
                    column = "" if heading == "Further metrics" else title
                    metric = metric_of(score, heading, words(row[0]), column)
                    if metric is None:
                        assert words(cell) == "–", (heading, words(row[0]), title)
                        continue
                    check_cell(cell, score, metric)
                    seen.add(metric)
        assert seen | set(score.scorer.headline) == set(score.values)
        panels = tree.find_class("panel")
        for name, panel in zip(score.scorer.headline[:2], panels, strict=False):
            value, interval = score.values[name], score.intervals[name]
            assert words(panel.find_class("big")[0]) == f"{value:.3f}"
            assert interval.low is None or f"[{interval.low:.3f}, {interval.high:.3f}]" in words(panel)
        sure = words(panels[len(score.scorer.headline[:2])])
        assert f"{score.documents} document" in sure
        assert f"{score.units} sampling unit" in sure
        assert f"{score.failed} failed" in sure
        assert str(score.signature) in words(tree)


@pytest.mark.parametrize("task", TASKS)
def test_a_run_under_each_protocol_and_its_failures(demo_site: MadeSite, scored: Scored, task: str) -> None:
    for name, score in scored[task, "documented"].items():
        tables = tables_of(demo_site.pages[f"{demo_site.folder(task)}runs/{name}.html"])
        titles, rows = table_rows(tables["Under each protocol"])
        assert {words(row[0]) for row in rows} == set(PROTOCOLS)
        for row in rows:
            there = scored[task, words(row[0])][name]
            for title, cell in zip(titles[1:], row[1:], strict=True):
                metric = next((one for one in there.scorer.headline if plain(one) == plain(title)), None)
                if metric is not None:
                    check_cell(cell, there, metric)
                else:
                    assert words(cell) == str({"Documents": there.documents, "Failed": there.failed}[title])
        reasons = Counter(row.failure for row in score.rows[0].values() if row.failure)
        shown = tables.get("Failures by reason")
        assert (shown is None) == (not reasons)
        if shown is not None:
            assert {words(row[0]): int(words(row[1])) for row in table_rows(shown)[1]} == {
                reason.replace("_", " "): count for reason, count in reasons.items()
            }


def numbers_by_hand(score: Score, document: str) -> tuple[float | None, list[float]]:
    """The one number of a document, and what it is made of."""
    row = score.rows[0][document]
    task = score.scorer.task.name
    if task == "manuscripts":
        fuzzy = [field["fuzzy"] for field in row.fields.values() if field["fuzzy"] is not None]
        mean = sum(fuzzy) / len(fuzzy) if fuzzy else None
        if mean is not None and score.scorer.protocol.name == "published":  # which rounds pages on the way
            mean = round(mean, 3)
        return mean, [sum(field["edits"] for field in row.fields.values())]
    if task == "letters":
        fields = [row.fields[name] for name in ("send_date", "sender_persons", "receiver_persons")]
        tp, fp, fn = (sum(field[kind] for field in fields) for kind in ("tp", "fp", "fn"))
    else:
        counts = dict(zip(score.scorer.columns, row.counts.tolist(), strict=True))
        tp, fp, fn = (
            sum(n for name, n in counts.items() if name.startswith("All/") and name.endswith(f"_{kind}"))
            for kind in ("tp", "fp", "fn")
        )
    return (2 * tp / (2 * tp + fp + fn) if tp + fp + fn else None), [tp, fp, fn]


def shown_number(cell: Any) -> float | None:
    text = words(cell)
    return None if text == "–" else float(text.replace(",", ""))


def close(found: float | None, expected: float | None, digits: int = 3) -> bool:
    if found is None or expected is None:
        return found is expected
    return math.isclose(found, expected, rel_tol=0, abs_tol=0.5 / 10**digits + 1e-9)


@pytest.mark.parametrize("task", TASKS)
def test_documents_on_the_page_of_a_run_and_runs_on_the_page_of_a_document(
    demo_site: MadeSite, scored: Scored, task: str
) -> None:
    folder, found = demo_site.folder(task), scored[task, "documented"]
    parts = ["Edits"] if task == "manuscripts" else ["TP", "FP", "FN"]
    for name, score in found.items():
        titles, rows = table_rows(tables_of(demo_site.pages[f"{folder}runs/{name}.html"])["Documents"])
        assert sorted(words(row[0]) for row in rows) == sorted(score.rows[0])
        for row in rows:
            document = words(row[0])
            value, counts = numbers_by_hand(score, document)
            assert close(shown_number(row[1]), value), (name, document)
            assert [shown_number(row[titles.index(part)]) for part in parts] == counts, (name, document)
            assert words(row[-1]) == (score.rows[0][document].failure or "").replace("_", " ")
    for document in next(iter(found.values())).rows[0]:
        tree = demo_site.pages[f"{folder}documents/{slug(document)}.html"]
        (table,) = tree.xpath("//table[contains(@class, 'systems')]")
        titles, rows = table_rows(table)
        shown = {row[0].getparent().get("data-row"): row for row in rows}
        assert set(shown) == {name for name, score in found.items() if document in score.rows[0]}
        for name, row in shown.items():
            value, counts = numbers_by_hand(found[name], document)
            assert close(shown_number(row[1]), value), (name, document)
            assert [shown_number(row[titles.index(part)]) for part in parts] == counts, (name, document)


def ranked(found: Mapping[str, Score]) -> list[Score]:
    """The runs that stand on a board: all of the test sites but one."""
    return [score for name, score in found.items() if name != "older-truth"]


APART = ("older-truth", "subset", slug("T07"))
"""Runs of the test sites that do not stand on the main board."""


def on_main_board(found: Mapping[str, Score]) -> list[Score]:
    return [score for name, score in found.items() if name not in APART]


def mean_by_hand(found: Mapping[str, Score], document: str) -> float | None:
    """The mean of a document over the systems of the main board."""
    values = [numbers_by_hand(score, document)[0] for score in on_main_board(found)]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


@pytest.mark.parametrize("task", TASKS)
def test_the_list_of_documents(demo_site: MadeSite, scored: Scored, task: str) -> None:
    tree = demo_site.pages[f"{demo_site.folder(task)}documents.html"]
    titles, rows = table_rows(tree.xpath("//main//table")[0])
    together = on_main_board(scored[task, "documented"])
    assert len(together) == 6
    means = []
    for place, row in enumerate(rows, start=1):
        document = words(row[0])
        there = [score for score in together if document in score.rows[0]]
        values = [value for value in (numbers_by_hand(score, document)[0] for score in there) if value is not None]
        mean = sum(values) / len(values) if values else None
        cells = dict(zip(titles, row, strict=True))
        assert words(cells["Place"]) == str(place)
        assert close(shown_number(cells["Mean"]), mean)
        assert close(shown_number(cells["Worst system"]), min(values, default=None))
        assert close(shown_number(cells["Best system"]), max(values, default=None))
        assert words(cells["Systems"]) == str(len(there))
        assert words(cells["Failed"]) == str(sum(bool(score.rows[0][document].failure) for score in there))
        means.append(math.inf if mean is None else mean)
    assert all(before <= after + 1e-9 for before, after in pairwise(means))
    assert len(rows) == len(next(iter(scored[task, "documented"].values())).rows[0])


@pytest.mark.parametrize(("task", "protocol"), CASES)
def test_hard_documents_are_as_hard_on_every_page(
    demo_site: MadeSite, scored: Scored, task: str, protocol: str
) -> None:
    """The list, the line below the plots, the heat map and the text that stands for it say one mean of a document."""
    found = scored[task, protocol]
    names = list(next(iter(found.values())).rows[0])
    means = {name: mean for name in names if (mean := mean_by_hand(found, name)) is not None}
    hardest = sorted(means.values())
    page = demo_site.pages[demo_site.leaderboard(task, protocol)]
    (line,) = [one for one in page.iter("p") if words(one).startswith("The hardest documents:")]
    shown = [(words(link), float(words(link.getnext()))) for link in line.iter("a") if link.get("href") != DOCUMENTS]
    assert [value for _, value in shown] == pytest.approx(hardest[: len(shown)], abs=5e-4)
    assert len(shown) == min(8, len(means))
    assert all(close(value, means[name]) for name, value in shown)
    (alt,) = [image.get("alt") for image in page.iter("img") if "heatmap" in image.get("src")]
    said = re.findall(r"([^,:.]+) \((\d\.\d{3})\)", alt.split("Hardest by their mean:")[1])
    assert said
    assert all(close(float(value), means[name.strip()]) for name, value in said)
    if protocol == "documented":
        titles, rows = table_rows(demo_site.pages[f"{demo_site.folder(task)}{DOCUMENTS}"].xpath("//main//table")[0])
        listed = {words(row[0]): shown_number(row[titles.index("Mean")]) for row in rows}
        assert [listed[name] for name, _ in shown] == [value for _, value in shown]
    for row in plot_data(demo_site, task, "heatmap", protocol):
        values = [float(value) for model, value in row.items() if model != "document" and value]
        assert means.get(row["document"]) == pytest.approx(sum(values) / len(values) if values else None)


@pytest.mark.parametrize(("task", "protocol"), CASES)
def test_views_by_attribute(demo_site: MadeSite, task: str, protocol: str) -> None:
    folder = demo_site.folder(task)
    before = f"{folder}{'' if protocol == 'documented' else f'{protocol}-'}by-"
    pages = [path for path in demo_site.pages if path.startswith(before)]
    assert pages or task == "manuscripts"
    links = {link.get("href") for link in demo_site.pages[demo_site.leaderboard(task, protocol)].iter("a")}
    assert {path[len(folder) :] for path in pages} <= links
    for path in pages:
        key = path[len(before) : -len(".html")]
        parts: dict[str, dict[str, Score]] = {}
        for score in scores(demo_site, task, protocol, by=key):
            (value,) = score.group.values()
            parts.setdefault(run_slug(score), {})[str(value)] = score
        titles, rows = table_rows(demo_site.pages[path].xpath("//main//table")[0])
        assert len(rows) == 6
        assert f"|{protocol}|" in words(demo_site.pages[path].find_class("signature")[0])
        for row in rows:
            name = row[0].xpath(".//a/@href")[0].split("/")[-1][: -len(".html")]
            for title, cell in zip(titles[2:], row[2:], strict=True):
                match = re.fullmatch(r"(.*) \((\d+)\)", title)
                assert match is not None
                part = parts[name][match[1]]
                check_cell(cell, part, part.scorer.headline[0])
                assert part.documents == int(match[2])
        for name, found in parts.items() if protocol == "documented" else ():
            heading = f"By {key.replace('_', ' ')}"
            tables = tables_of(demo_site.pages[f"{folder}runs/{name}.html"])
            if heading not in tables:
                assert len(found) < 2
                continue
            titles, rows = table_rows(tables[heading])
            assert {words(row[0]) for row in rows} == set(found)
            for row in rows:
                part = found[words(row[0])]
                for title, cell in zip(titles[1:], row[1:], strict=True):
                    metric = next((one for one in part.scorer.headline if plain(one) == plain(title)), None)
                    if metric is not None:
                        check_cell(cell, part, metric)
                    else:
                        counts = {"Documents": part.documents, "Units": part.units, "Failed": part.failed}
                        assert words(cell) == str(counts[title])


def foot_of(table: Any) -> list[list[str]]:
    return [[words(cell) for cell in row.xpath("./td|./th")] for row in table.xpath("./tfoot/tr")]


def test_reasons_of_letters_add_up_to_the_counts(demo_site: MadeSite, scored: Scored) -> None:
    for score, tree in runs(demo_site, "letters", scored["letters", "documented"]):
        table = tables_of(tree)["Why names and dates counted or not"]
        counted = Counter(
            (field, reason["counts"])
            for row in score.rows[0].values()
            for field in ("send_date", "sender_persons", "receiver_persons")
            for reason in row.fields[field]["reasons"]
        )
        by_kind: Counter[str] = Counter()
        for row in table_rows(table)[1]:
            cells = [words(cell) for cell in row]
            assert sum(map(int, cells[2:-1])) == int(cells[-1])
            by_kind[cells[1]] += int(cells[-1])
        for kind, cells in zip(("tp", "fp", "fn"), foot_of(table), strict=True):
            sums = [counted[field, kind] for field in ("send_date", "sender_persons", "receiver_persons")]
            rows = score.rows[0].values()
            assert sums == [
                sum(row.fields[field][kind] for row in rows)
                for field in ("send_date", "sender_persons", "receiver_persons")
            ]
            assert [int(cell) for cell in cells[2:]] == [*sums, sum(sums)]
            assert by_kind[kind.upper()] == sum(sums)


def data_of(site: MadeSite, task: str, document: str) -> tuple[dict[str, Any], dict[str, int]]:
    """The data of a document's page, and the place of each run in it."""
    base = site.out / site.folder(task) / "documents" / slug(document)
    text = base.with_name(f"{base.name}.js").read_text(encoding="ascii")
    tree = site.pages[f"{site.folder(task)}documents/{slug(document)}.html"]
    places = {option.get("value"): int(option.get("data-place")) for option in tree.xpath("//option[@data-place]")}
    return json.loads(text.split("window.histeval.document = ", 1)[1].rstrip().rstrip(";")), places


@pytest.mark.parametrize(("task", "heading"), [("manuscripts", "Causes of error"), ("directories", "Classes of error")])
def test_causes_and_classes_add_up_over_the_documents(
    demo_site: MadeSite, scored: Scored, task: str, heading: str
) -> None:
    """The sum over the pages of documents is that of the page of the run, and so is the sum of its rows."""
    for name, score in scored[task, "documented"].items():
        table = tables_of(demo_site.pages[f"{demo_site.folder(task)}runs/{name}.html"])[heading]
        titles, rows = table_rows(table)
        (foot,) = foot_of(table)
        total: Counter[str] = Counter()
        for document in score.rows[0]:
            data, places = data_of(demo_site, task, document)
            view = data["views"][data["of"][places[name]]]
            if task == "manuscripts":
                for text in view["texts"]:
                    shown = text.get("characters")
                    if shown and text.get("numbers"):  # what only the answer has is shown, but not scored
                        assert sum(count for _, count in shown["causes"]) == shown["edits"]
                        total["Edits"] += shown["edits"]
            else:
                total.update(entity[0] for entity in view["entities"])
        for column in range(1, len(titles)):
            title = titles[column]
            if title not in ("Edits",) and task == "manuscripts":
                continue
            assert sum(int(words(row[column])) for row in rows) == int(foot[column]) == total[title], (name, title)


def plot_data(site: MadeSite, task: str, name: str, protocol: str = "documented") -> list[dict[str, str]]:
    before = "" if protocol == "documented" else f"{protocol}-"
    text = (site.out / site.folder(task) / "plots" / f"{before}{name}.csv").read_bytes().decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def number_or_none(text: str) -> float | None:
    return float(text) if text else None


def by_model(found: Mapping[str, Score]) -> dict[str, Score]:
    return {str(score.facts["model"]): score for score in found.values()}


@pytest.mark.parametrize(("task", "protocol"), CASES)
def test_data_of_plots_are_the_scores(demo_site: MadeSite, scored: Scored, task: str, protocol: str) -> None:
    found = by_model(scored[task, protocol])
    metric = next(iter(found.values())).scorer.headline[0]
    for kind in ("intervals", "cost-frontier", "seconds", "time"):
        rows = plot_data(demo_site, task, kind, protocol)
        assert rows
        for row in rows:
            score = found[row["name"]]
            interval = score.intervals[metric]
            shown = tuple(number_or_none(row[column]) for column in ("value", "low", "high"))
            assert shown == (score.values[metric], interval.low, interval.high)
            for column in ("cost", "seconds"):
                if column in row:
                    total = score.facts["totals"][column]
                    there = sum(  # an answer that the provider turned down says nothing of what it took
                        row.failure not in ("missing", "provider_error") for row in score.rows[0].values()
                    )
                    expected = None if total is None else total / there
                    assert number_or_none(row[column]) == pytest.approx(expected)
            if "date" in row:
                assert row["date"] == score.facts["date"]
            if kind == "intervals":
                assert (int(row["documents"]), int(row["failed"])) == (score.documents, score.failed)
    assert len(plot_data(demo_site, task, "intervals", protocol)) == 6
    for row in plot_data(demo_site, task, "heatmap", protocol):
        for model, value in row.items():
            if model != "document":
                expected = numbers_by_hand(found[model], row["document"])[0]
                given = number_or_none(value)
                assert (given is None) == (expected is None)
                assert expected is None or given == pytest.approx(expected, abs=1e-9)


def grouped_metrics(task: str, score: Score) -> dict[str, dict[str, str]]:
    """The metrics that the plots by field, type and level show, by plot and title."""
    if task == "letters":
        fields = [f for f in score.scorer.context.description.fields if f"{f.name}_f1" in score.values]
        return {
            "fields-or-types": {field.title or field.name.replace("_", " "): f"{field.name}_f1" for field in fields}
        }
    if task == "manuscripts":
        return {"fields-or-types": {kind: f"{kind}_fuzzy" for kind in ("folio", "text", "additions")}}
    inside = [name[3:-1] for name in score.values if name.startswith("f1[")]
    types = {name.removeprefix("All/"): f"f1[{name}]" for name in inside if name.startswith("All/")}
    return {"fields-or-types": types, "levels": {name: f"f1[{name}]" for name in inside if "/" not in name}}


@pytest.mark.parametrize(("task", "protocol"), CASES)
def test_data_of_plots_by_field_type_and_level(demo_site: MadeSite, scored: Scored, task: str, protocol: str) -> None:
    found = {str(score.facts["model"]): score for score in on_main_board(scored[task, protocol])}
    for kind, metrics in grouped_metrics(task, next(iter(found.values()))).items():
        rows = plot_data(demo_site, task, kind, protocol)
        assert {(row["system"], row["group"]) for row in rows} == {(name, title) for name in found for title in metrics}
        assert len(rows) == len(found) * len(metrics)
        for row in rows:
            score, metric = found[row["system"]], metrics[row["group"]]
            interval = score.intervals[metric]
            shown = tuple(number_or_none(row[column]) for column in ("value", "low", "high"))
            assert shown == (score.values[metric], interval.low, interval.high), (kind, row)


def doubts_of(site: MadeSite, task: str) -> list[dict[str, str]]:
    """The table of doubts, whose rows are those of the page."""
    folder = site.out / site.folder(task)
    text = (folder / "doubts.csv").read_bytes().decode("utf-8-sig")
    doubts = list(csv.DictReader(io.StringIO(text, newline="")))
    _, rows = table_rows(site.pages[f"{site.folder(task)}doubts.html"].xpath("//table")[0])
    assert [words(row[0]) for row in rows] == [doubt["document"] for doubt in doubts]
    for row, doubt in zip(rows, doubts, strict=True):
        assert words(row[4]).startswith(f"{doubt['agree']} of {doubt['of']}")
        assert len(doubt["systems"].split("; ")) == int(doubt["agree"])
        assert words(row[2]) == (" ".join(doubt["ground_truth"].split()) or "nothing")
        assert words(row[3]) == (" ".join(doubt["proposal"].split()) or "nothing")
    assert doubts
    return doubts


def said_by(site: MadeSite, task: str) -> dict[str, dict[str, Any]]:
    """The record in each answer as recorded, by model and document; None where there is none to be read."""
    found: dict[str, dict[str, Any]] = {}
    for line in site.input(task).answers[0].read_text(encoding="utf-8").splitlines():  # type: ignore[union-attr]
        run = json.loads(line)
        found[run["model"]] = {}
        for name, answer in run["answers"].items():
            record, text = answer.get("record"), answer.get("text", "")
            if record is None and "{" in text:
                try:
                    record = json.loads(text[text.index("{") : text.rindex("}") + 1])
                except ValueError:
                    record = None
            found[run["model"]][name] = record
    return found


def test_doubts_of_manuscripts_are_in_the_answers(demo_site: MadeSite, scored: Scored) -> None:
    """Each system that is named has the proposal in its answer, and the ground truth what is doubted."""

    def letters(text: str) -> str:
        return "".join(re.findall(r"\w", text)).casefold()

    given = said_by(demo_site, "manuscripts")
    documents = demo_site.input("manuscripts").dataset.documents
    for doubt in doubts_of(demo_site, "manuscripts"):
        name = doubt["document"]
        assert letters(doubt["ground_truth"]) in letters(repr(documents[name].truth).replace("\\n", "\n"))
        for system in doubt["systems"].split("; "):
            said = "".join(str(value) for folio in given[system][name]["folios"] for value in folio.values())
            # a system may write the same words in another way, only its letters count
            assert alike(letters(doubt["proposal"]), letters(said)), (system, doubt)
        asked = [s for s in ranked(scored["manuscripts", "documented"]) if name in s.rows[0]]
        assert int(doubt["of"]) == sum(not score.rows[0][name].failure for score in asked)


def alike(one: str, other: str) -> bool:
    """Whether a text is in another but for u and v, i and j, long s."""
    table = str.maketrans({"v": "u", "j": "i", "ſ": "s", "ꝛ": "r", "y": "i", "ÿ": "i"})
    return one.translate(table) in other.translate(table)


Place = tuple[str, int, int, int]
"""Type, start, end and level of an entity."""


def places_of(record: Mapping[str, Any] | None, entry: str) -> set[Place]:
    """The entities of an answer in any of its forms, read by hand."""
    if record is None:
        return set()
    if "xml" in record:
        return places_of_xml(record["xml"])
    if "spans" in record:
        return {(s["type"], s["start"], s["end"], 1 if s.get("parent") is None else 2) for s in record["spans"]}
    found, at, places = set(), 0, []
    for token in record["tokens"]:
        at = entry.index(token, at)
        places.append((at, at := at + len(token)))
    for level in (1, 2):
        opened: tuple[str, int, int] | None = None
        for (start, end), tag in zip([*places, (0, 0)], [*record[f"level{level}"], "O"], strict=True):
            if opened and tag != f"I-{opened[0]}":
                found.add((*opened, level))
                opened = None
            if opened:
                opened = (opened[0], opened[1], end)
            elif tag != "O":
                opened = (tag[2:], start, end)
    return found


def places_of_xml(xml: str) -> set[Place]:
    found: set[Place] = set()
    opened: list[tuple[str, int]] = []
    at = 0
    for tag, closing, kind, text in re.findall(r"(<(/?)([\w-]+)>|)([^<]*)", xml):
        if tag and not closing:
            opened.append((kind.replace("-", ""), at))
        elif tag:
            begun, start = opened.pop()
            found.add((begun, start, at, len(opened) + 1))
        at += len(text)
    return found


def test_doubts_of_directories_are_counted_again(demo_site: MadeSite) -> None:
    """As many systems as the page says have exactly this entity, which the ground truth has not."""
    given = said_by(demo_site, "directories")
    documents = demo_site.input("directories").dataset.documents
    for doubt in doubts_of(demo_site, "directories"):
        place = re.fullmatch(r"characters (\d+) to (\d+)", doubt["where"])
        said = re.fullmatch(r"(\w+) “(.*)” \(level (\d)\)", doubt["proposal"], re.DOTALL)
        assert place is not None
        assert said is not None
        start, end, level = int(place[1]), int(place[2]), int(said[3])
        name = doubt["document"]
        truth = documents[name].truth
        assert truth.text[start:end] == said[2].replace("\\u2029", "\u2029")  # shown as what it is
        assert not any(
            (span.type, span.start, span.end) == (said[1], start, end) and (span.parent is None) == (level == 1)
            for span in truth.spans
        )
        place_of_it = (said[1], start, end, level)
        agree = [model for model, answers in given.items() if place_of_it in places_of(answers.get(name), truth.text)]
        assert sorted(agree) == sorted(doubt["systems"].split("; ")), doubt


def test_doubts_of_letters_are_counted_again(demo_site: MadeSite, scored: Scored) -> None:
    """As many systems as the page says gave the proposal, as a name or date that counts as wrong."""
    found = scored["letters", "documented"]
    together = ranked(found)
    file = demo_site.out / demo_site.folder("letters") / "doubts.csv"
    doubts = list(csv.DictReader(io.StringIO(file.read_bytes().decode("utf-8-sig"), newline="")))
    assert doubts
    for doubt in doubts:
        asked = [s for s in together if doubt["document"] in s.rows[0] and not s.rows[0][doubt["document"]].failure]
        assert int(doubt["of"]) == len(asked)
        assert float(doubt["share"]) == pytest.approx(int(doubt["agree"]) / len(asked), abs=1e-3)
        assert int(doubt["agree"]) >= max(3, len(asked) / 2)
        if doubt["proposal"]:
            agree = [
                score
                for score in asked
                for field in ("send_date", "sender_persons", "receiver_persons")
                for reason in score.rows[0][doubt["document"]].fields[field]["reasons"]
                if reason["counts"] == "fp" and same_name(reason["name"], doubt["proposal"])
            ]
            assert int(doubt["agree"]) == len(agree)
    shares = [float(doubt["share"]) for doubt in doubts]
    assert shares == sorted(shares, reverse=True)
    tree = demo_site.pages[f"{demo_site.folder('letters')}doubts.html"]
    _, rows = table_rows(tree.xpath("//table")[0])
    assert [words(row[0]) for row in rows] == [doubt["document"] for doubt in doubts]
    shown = [words(row[4]) for row in rows]
    assert all(text.startswith(f"{d['agree']} of {d['of']}") for text, d in zip(shown, doubts, strict=True))


def same_name(one: Any, other: str) -> bool:
    def key(name: str) -> Sequence[str]:
        return sorted(re.findall(r"\w+", name.casefold()))

    return key(str(one)) == key(other)
