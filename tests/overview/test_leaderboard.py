"""Every number of a leaderboard and of its exports is that of the scores, made anew from the same answers."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from histeval.datasets import load_dataset
from histeval.overview.build import Input
from histeval.overview.slugs import slug
from histeval.runs.compare import compare_scores
from histeval.runs.score import Score, score_paths
from histeval.tasks import get_task
from overview_sites import PROTOCOLS, TASKS, MadeSite, make_site, table_rows, words
from samples import RIGHT, write_answers, write_letters

NUMBER = re.compile(r"^(–|\d+\.\d{3})")
INTERVAL = re.compile(r"\[(?:(\d\.\d{3}), (\d\.\d{3})|–)\]")
LEVEL = 0.05


def scores_of(site: MadeSite, task: str, protocol: str) -> dict[str, Score]:
    """The scores of all runs, each with its own intervals, by the slug of its page."""
    one = site.input(task)
    found = score_paths(one.task, one.dataset, list(one.answers), protocol, selection=one.selection)
    return {slug(score.run.rsplit("/", 1)[-1]): score for score in found}


@pytest.fixture(scope="module")
def scored(demo_site: MadeSite) -> dict[tuple[str, str], dict[str, Score]]:
    return {(task, protocol): scores_of(demo_site, task, protocol) for task in TASKS for protocol in PROTOCOLS}


Scored = Mapping[tuple[str, str], Mapping[str, Score]]
CASES = [(task, protocol) for task in TASKS for protocol in PROTOCOLS]


def fields_of(scores: Sequence[Score]) -> list[tuple[str, Mapping[str, Any]]]:
    """What each score row says of each of its fields, texts or types."""
    return [(name, value) for score in scores for row in score.rows[0].values() for name, value in row.fields.items()]


def by_hand(task: str, protocol: str, score: Score) -> float | None:
    """The first number of a leaderboard, added up here from the rows, as its definition says."""
    rows = score.rows[0]
    if task == "letters":
        values = []
        for field in ("send_date", "sender_persons", "receiver_persons"):
            tp, fp, fn = (sum(row.fields[field][kind] for row in rows.values()) for kind in ("tp", "fp", "fn"))
            if tp + fp + fn or protocol != "corrected":
                values.append(2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0)
        value = sum(values) / len(values)
        return round(value, 2) if protocol == "published" else value
    if task == "manuscripts" and protocol == "published":
        pages = []
        for name in sorted(rows):
            fuzzy = [field["fuzzy"] for field in rows[name].fields.values()]
            pages.append(round(sum(fuzzy) / len(fuzzy), 3) if fuzzy else 0.0)
        return round(sum(pages) / len(pages), 3)
    if task == "manuscripts":
        fuzzy = [field["fuzzy"] for row in rows.values() for field in row.fields.values() if field["fuzzy"] is not None]
        return float(sum(fuzzy) / len(fuzzy))
    columns = list(score.scorer.columns)
    totals = dict.fromkeys(("tp", "fp", "fn"), 0)
    for row in rows.values():
        for column, count in zip(columns, row.counts.tolist(), strict=True):
            if column.startswith("All/"):
                totals[column[-2:]] += count
    return float(2 * totals["tp"] / (2 * totals["tp"] + totals["fp"] + totals["fn"]))


def plain(name: str) -> str:
    """A metric's name without the signs that only style it."""
    return re.sub(r"[ _]", "", name).lower()


def answered(score: Score) -> int:
    """Answers that say what they took: those that the provider turned down do not."""
    return sum(row.failure not in ("missing", "provider_error") for row in score.rows[0].values())


def run_of(row: Sequence[Any]) -> str:
    """The run of a row, from the page it leads to."""
    (link,) = [link for cell in row for link in cell.iter("a")]
    href = str(link.get("href"))
    assert href.startswith("runs/")
    assert href.endswith(".html")
    return href[len("runs/") : -len(".html")]


def check_row(titles: Sequence[str], row: Sequence[Any], score: Score) -> None:
    """Every number in a row of a leaderboard."""
    headline = {plain(name): name for name in score.scorer.headline}
    seen = set()
    for title, cell in zip(titles, row, strict=True):
        text = words(cell)
        name = headline.get(plain(title))
        if name is not None:
            seen.add(name)
            value, interval = score.values[name], score.intervals[name]
            assert cell.get("data-v") == (None if value is None else repr(float(value)))
            assert NUMBER.match(text)[1] == ("–" if value is None else f"{value:.3f}")  # type: ignore[index]
            shown = INTERVAL.search(text)
            assert shown is not None
            known = interval.low is not None and interval.high is not None
            assert shown.groups() == ((f"{interval.low:.3f}", f"{interval.high:.3f}") if known else (None, None))
        elif title == "Documents":
            assert text == str(score.documents)
            assert score.documents == len(score.rows[0])
        elif title == "Failed":
            assert text == str(score.failed)
            assert score.failed == sum(bool(row.failure) for row in score.rows[0].values())
        elif title == "Cost":
            cost = score.facts["totals"]["cost"]
            assert cell.get("data-v") == (None if cost is None else repr(cost))
        elif title == "s / document":
            seconds = score.facts["totals"]["seconds"]
            assert cell.get("data-v") == (None if seconds is None else repr(seconds / answered(score)))
        elif title == "Run on":
            assert text == (score.facts.get("date") or score.facts.get("start") or "–")[:10]
    assert len(seen) == len(score.scorer.headline[:6])


def boards(site: MadeSite, task: str, protocol: str) -> dict[str, Any]:
    """The tables of a leaderboard's page, by name; what is not ranked is called "apart"."""
    tree = site.pages[site.leaderboard(task, protocol)]
    return {table.get("data-board") or "apart": table for table in tree.xpath("//table[@data-sortable]")}


@pytest.mark.parametrize(("task", "protocol"), CASES)
def test_every_number_of_every_row_is_recomputed(demo_site: MadeSite, scored: Scored, task: str, protocol: str) -> None:
    found = scored[task, protocol]
    seen: list[str] = []
    for table in boards(demo_site, task, protocol).values():
        titles, rows = table_rows(table)
        for row in rows:
            run = run_of(row)
            check_row(titles, row, found[run])
            seen.append(run)
    assert sorted(seen) == sorted(found)  # every run once, none dropped


@pytest.mark.parametrize(("task", "protocol"), CASES)
def test_the_first_number_is_the_sum_by_hand(scored: Scored, task: str, protocol: str) -> None:
    for run, score in scored[task, protocol].items():
        value = score.values[score.scorer.headline[0]]
        expected = by_hand(task, protocol, score)
        assert value is not None
        assert expected is not None
        assert math.isclose(value, expected, abs_tol=5e-10), run


@pytest.mark.parametrize(("task", "protocol"), CASES)
def test_order_ranks_and_marks_are_those_of_the_tests(
    demo_site: MadeSite, scored: Scored, task: str, protocol: str
) -> None:
    titles, rows = table_rows(boards(demo_site, task, protocol)["main"])
    runs = [run_of(row) for row in rows]
    found = scored[task, protocol]
    metric = found[runs[0]].scorer.headline[0]
    values = [found[run].values[metric] or 0.0 for run in runs]
    assert values == sorted(values, reverse=True)
    together = [found[run] for run in runs]
    against = compare_scores(together, baseline=together[0].run, metrics=[metric])
    p = {pair.a: pair.p_corrected for pair in against.pairs}
    pairs = compare_scores(together, all_pairs=True, metrics=[metric]).pairs
    for row, score in zip(rows, together, strict=True):
        better = worse = 0
        for pair in pairs:
            if score.run not in (pair.a, pair.b) or pair.p_corrected is None or pair.p_corrected > LEVEL:
                continue
            assert pair.difference is not None
            wins = (pair.difference > 0) == (pair.a == score.run)
            better, worse = better + (not wins), worse + wins
        low, high = 1 + better, len(rows) - worse
        rank = words(row[titles.index("Rank")])
        assert rank == (str(low) if low == high else f"{low}–{high}")
        mark = [words(badge) for badge in row[titles.index("System")].find_class("badge")]
        told = p.get(score.run)
        assert mark == (["best"] if score is together[0] else [] if told is not None and told <= LEVEL else ["≈ best"])


def test_the_demo_has_systems_that_are_and_are_not_told_apart(demo_site: MadeSite) -> None:
    """Else the marks would be tested by nothing."""
    marks = {
        words(badge)
        for task in TASKS
        for badge in boards(demo_site, task, "documented")["main"].find_class("badge")
        if "warn" not in badge.get("class")
    }
    rows = [row for task in TASKS for row in table_rows(boards(demo_site, task, "documented")["main"])[1]]
    assert marks == {"best", "≈ best"}
    assert any(not row[1].find_class("badge") for row in rows)


def test_subsets_other_truth_and_own_rules_are_never_ranked_with_the_others(demo_site: MadeSite) -> None:
    for protocol in PROTOCOLS:
        found = {
            name: sorted(run_of(row) for row in table_rows(table)[1])
            for name, table in boards(demo_site, "letters", protocol).items()
        }
        main = sorted(slug(f"T0{number}") for number in range(1, 7))
        assert found.pop("main") == main
        assert found.pop("apart") == ["older-truth"]
        assert sorted(found.values()) == [["subset"], [slug("T07")]]
    apart = words(boards(demo_site, "letters", "documented")["apart"])
    assert "another ground truth" in apart


def test_models_later_than_the_public_truth_are_marked(demo_site: MadeSite) -> None:
    for task in TASKS:
        titles, rows = table_rows(boards(demo_site, task, "documented")["main"])
        marked = {run_of(row) for row in rows if "after truth" in words(row[titles.index("Model dated")])}
        assert marked == {slug("T05")}  # dated 2027-01-01; the truth is of 2026-11-30
        tree = demo_site.pages[demo_site.leaderboard(task)]
        assert "2026-11-30" in words(tree)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("task", TASKS)
def test_the_signature_stands_under_the_table(demo_site: MadeSite, scored: Scored, task: str, protocol: str) -> None:
    tree = demo_site.pages[demo_site.leaderboard(task, protocol)]
    shown = [words(line) for line in tree.find_class("signature")]
    assert shown[0] == str(scored[task, protocol][slug("T01")].signature)
    assert f"|{protocol}|" in shown[0]


def exported(site: MadeSite, task: str, ending: str, protocol: str = "documented") -> str:
    name = "leaderboard" if protocol == "documented" else f"leaderboard-{protocol}"
    return (site.out / site.folder(task) / "exports" / f"{name}.{ending}").read_bytes().decode("utf-8")


@pytest.mark.parametrize(("task", "protocol"), CASES)
def test_exports_for_machines_hold_the_scores(demo_site: MadeSite, scored: Scored, task: str, protocol: str) -> None:
    found = scored[task, protocol]
    data = json.loads(exported(demo_site, task, "json", protocol))
    table = list(csv.DictReader(io.StringIO(exported(demo_site, task, "csv", protocol), newline="")))
    order = [run_of(row) for row in table_rows(boards(demo_site, task, protocol)["main"])[1]]
    assert [slug(system["run"]) for system in data["systems"]] == order
    assert [slug(row["run"]) for row in table] == order
    together = [found[run] for run in order]
    metric = together[0].scorer.headline[0]
    against = compare_scores(together, baseline=together[0].run, metrics=[metric])
    p = {pair.a: pair.p_corrected for pair in against.pairs}
    for system, row, score in zip(data["systems"], table, together, strict=True):
        for name in score.scorer.headline:
            expected = (score.values[name], score.intervals[name].low, score.intervals[name].high)
            names = (name, f"{name}_low", f"{name}_high")
            assert tuple(system[column] for column in names) == expected
            assert tuple(float(row[column]) if row[column] else None for column in names) == expected
        expected_counts = (score.documents, score.units, score.failed)
        assert (system["documents"], system["units"], system["failed"]) == expected_counts
        assert (int(row["documents"]), int(row["units"]), int(row["failed"])) == expected_counts
        assert system["cost"] == score.facts["totals"]["cost"]
        assert system["signature"] == row["signature"] == str(score.signature)
        assert system["p_against_best"] == p.get(score.run)
        assert system["like_best"] == (p.get(score.run) is None or p[score.run] > LEVEL)  # type: ignore[operator]
        assert row["like_best"] == str(system["like_best"]).lower()
        assert [row["rank_best"], row["rank_worst"]] == [str(system["rank_best"]), str(system["rank_worst"])]
    assert data["signature"] == str(together[0].signature)


@pytest.mark.parametrize(("task", "protocol"), CASES)
def test_exports_for_papers_hold_the_scores(demo_site: MadeSite, scored: Scored, task: str, protocol: str) -> None:
    found = scored[task, protocol]
    order = [run_of(row) for row in table_rows(boards(demo_site, task, protocol)["main"])[1]]
    systems = json.loads(exported(demo_site, task, "json", protocol))["systems"]
    markdown = [line for line in exported(demo_site, task, "md", protocol).splitlines() if line.startswith("| ")][2:]
    latex = [line for line in exported(demo_site, task, "tex", protocol).splitlines() if line.endswith(r"\\")][1:]
    assert len(markdown) == len(latex) == len(order)
    for run, system, line, row in zip(order, systems, markdown, latex, strict=True):
        score = found[run]
        cells = []
        for name in score.scorer.headline:
            value, interval = score.values[name], score.intervals[name]
            assert value is not None
            known = interval.low is not None and interval.high is not None
            cells.append(f"{value:.3f}" + (f" [{interval.low:.3f}, {interval.high:.3f}]" if known else ""))
        low, high = system["rank_best"], system["rank_worst"]
        rank = str(low) if low == high else f"{low}–{high}"
        cost = "–" if system["cost"] is None else f"${system['cost']:.4f}"
        shown = [cell.strip() for cell in line.strip("|").split("|")]
        assert [shown[0], *shown[2:]] == [rank, *cells, str(score.failed), cost]
        assert shown[1].endswith("\\*") == system["like_best"]
        drawn = [cell.strip() for cell in row[:-2].split(" & ")]
        assert [drawn[0], *drawn[2:]] == [rank.replace("–", "--"), *cells, str(score.failed), cost.replace("$", r"\$")]
        assert drawn[1].endswith("$^{*}$") == system["like_best"]
    assert "\\toprule" in exported(demo_site, task, "tex")


@pytest.mark.parametrize("task", TASKS)
def test_the_methods_sentence_says_how_it_was_made(demo_site: MadeSite, scored: Scored, task: str) -> None:
    score = scored[task, "documented"][slug("T01")]
    methods = json.loads(exported(demo_site, task, "json"))["methods"]
    assert f"{score.documents} documents" in methods
    assert f"{score.units} sampling units" in methods
    assert score.dataset.fingerprint[:6] in methods
    assert "6 systems" in methods
    assert "5 comparisons" in methods
    assert words(demo_site.pages[demo_site.leaderboard(task)]).count(" ".join(methods.split())) == 1


def test_columns_in_which_no_run_says_anything_are_left_out(tmp_path: Path, demo_site: MadeSite) -> None:
    full, _ = table_rows(boards(demo_site, "letters", "documented")["main"])
    assert {"Cost", "s / document", "Model dated"} <= set(full)
    truth = write_letters(tmp_path / "data")
    file = write_answers(tmp_path / "one.jsonl")
    built = make_site(tmp_path / "site", Input(get_task("letters"), load_dataset("letters", truth), [file]))
    titles, rows = table_rows(boards(built, "letters", "documented")["main"])
    assert not {"Cost", "s / document", "Model dated"} & set(titles)
    assert "Run on" in titles
    assert [len(row) for row in rows] == [len(titles)]
    assert "The answers carry no costs." in words(built.pages[built.leaderboard("letters")])


def test_what_was_not_answered_is_not_paid_for(tmp_path: Path) -> None:
    """One of three answers at a dollar is no cheaper than three: by answer, and said so."""
    truth = write_letters(tmp_path / "data")
    lines = [json.dumps({"document": name, "record": RIGHT[name], "cost": 1.0, "seconds": 6.0}) for name in RIGHT]
    (tmp_path / "whole.jsonl").write_text("\n".join([*lines[:-1], lines[-1].replace("1.0", "0.9")]))
    (tmp_path / "part.jsonl").write_text("\n".join(lines[:2]))
    (tmp_path / "cheap.jsonl").write_text("\n".join(line.replace("1.0", "0.5") for line in lines[:2]))
    data = load_dataset("letters", truth)
    for other, said in (("part", "$2.90 for all documents"), ("cheap", "$1.00 for 2 of 3 answers")):
        files = [tmp_path / "whole.jsonl", tmp_path / f"{other}.jsonl"]
        built = make_site(tmp_path / f"site_{other}", Input(get_task("letters"), data, files))
        assert said in words(built.pages[built.leaderboard("letters")])
        titles, rows = table_rows(boards(built, "letters", "documented")["main"])
        place = titles.index("s / document")
        assert {row[place].get("data-v") for row in rows} == {"6.0"}


def test_a_mean_is_taken_over_the_answers_that_carry_a_value_and_paid_failures_are_paid(tmp_path: Path) -> None:
    """A refusal that names no cost makes no system cheaper, an answer that was cut off costs what it says, and seconds
    of one answer are no third of them."""
    data = load_dataset("letters", write_letters(tmp_path / "data"))
    first, second, third = ({"document": name, "record": RIGHT[name]} for name in list(RIGHT)[:3])
    assert len(RIGHT) == 3
    plain = {"cost": 0.5, "seconds": 6.0}
    cases: dict[str, tuple[list[dict[str, Any]], float | None, float | None]] = {
        "refusing": ([{**first, **plain}, {**second, **plain}, {"document": "letter03", "error": "refused"}], 0.5, 6.0),
        "cut_off": (
            [{**first, **plain}, {**second, **plain}, {"document": "letter03", "error": "truncated", "cost": 5.0}],
            2.0,
            6.0,
        ),
        "timed_once": ([{**first, **plain}, {**second, "cost": 0.5}, {**third, "cost": 2.0}], 1.0, 6.0),
        "priced_twice": ([{**first, **plain}, {**second, **plain}, {**third, "seconds": 3.0}], None, 5.0),
    }
    files = []
    for name, (answers, _, _) in cases.items():
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    found = {Path(score.run).stem: score for score in score_paths(get_task("letters"), data, files)}
    for name, (_, cost, seconds) in cases.items():
        assert found[name].spent_each("cost") == cost
        assert found[name].spent_each("seconds") == seconds
    assert found["cut_off"].spent("cost") == 6.0
    built = make_site(tmp_path / "site", Input(get_task("letters"), data, files))
    page = words(built.pages[built.leaderboard("letters")])
    assert "$1.00 for 2 of 3 answers, since the others carry no cost, $0.5 each." in page
    assert "Cheapest of the 3 whose cost is known, of 4 at the top." in page


def test_what_all_cost_alike_is_not_the_cheapest(tmp_path: Path) -> None:
    data = load_dataset("letters", write_letters(tmp_path / "data"))
    lines = "".join(json.dumps({"document": name, "record": RIGHT[name], "cost": 0.5}) + "\n" for name in RIGHT)
    files = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    for file in files:
        file.write_text(lines)
    built = make_site(tmp_path / "site", Input(get_task("letters"), data, files))
    assert "$0.5 each. As cheap as any of the 2 at the top." in words(built.pages[built.leaderboard("letters")])
