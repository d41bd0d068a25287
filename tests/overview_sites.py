"""Whole overview sites made on the spot: invented systems over the demo data, for tests that read or open the pages."""

from __future__ import annotations

import dataclasses
import json
import posixpath
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from histeval.datasets import Dataset, load_dataset
from histeval.datasets.bundled import bundled
from histeval.overview.build import Built, Input, overview
from histeval.runs.selection import Selection
from histeval.tasks import get_task
from histeval.tasks.base import Task

TASKS = ("letters", "manuscripts", "directories")
PROTOCOLS = ("documented", "published", "corrected")
SHOWN_ENTRIES = 30
"""So many directory entries a test site has: every fourth of the test part, so that several pages have some."""

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
CHROMIUM_ARGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


def answers_of(task: str, kind: str) -> dict[str, dict[str, Any]]:
    """The bundled answers of a task by document, as a recorded run holds them."""
    lines = bundled(f"{task}/{kind}").read_text(encoding="utf-8").split("\n")
    found = {}
    for line in lines:
        if line.strip():
            value = json.loads(line)
            found[value.pop("document")] = value
    return found


def recorded(
    name: str, provider: str, model: str, date: str, answers: Mapping[str, Any], **more: Any
) -> dict[str, Any]:
    """A line of a file of recorded runs."""
    return {"run_id": name, "provider": provider, "model": model, "date": date, "answers": answers, **more}


def invented_runs(task: str) -> list[dict[str, Any]]:
    """Six systems: the bundled two, a mixture, one that often fails, one that answers half, one without costs."""
    careful, hasty = answers_of(task, "careful"), answers_of(task, "hasty")
    names = list(careful)
    free = {name: {k: v for k, v in answer.items() if k not in ("cost", "seconds")} for name, answer in hasty.items()}
    mixed = {name: (careful if place % 3 else hasty)[name] for place, name in enumerate(names)}
    failing = {n: ({"error": "provider_error"} if place % 3 == 1 else careful[n]) for place, n in enumerate(names)}
    half = {name: hasty[name] for name in names[: len(names) // 2]}
    return [
        recorded("T01", "acme", "careful-2024-08-06", "2025-01-10", careful),
        recorded("T02", "bolt", "hasty-1", "2025-03-02", hasty),
        recorded("T03", "acme", "mixed-mini", "2025-06-15", mixed),
        recorded("T04", "zeta", "failing-large", "2025-06-20", failing),
        recorded("T05", "bolt", "hasty-2027-01-01", "2026-02-01", half),
        recorded("T06", "free & <open>", "hasty-free", "2025-03-02", free),
    ]


def write_runs(file: Path, runs: Sequence[Mapping[str, Any]]) -> Path:
    """Recorded runs as a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(run) + "\n" for run in runs), encoding="utf-8")
    return file


def run_folder(folder: Path, description: Mapping[str, Any], answers: Mapping[str, Mapping[str, Any]]) -> Path:
    """A run as `histeval run` leaves it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps(description), encoding="utf-8")
    lines = [
        json.dumps({"document": name, "repeat": 0, "state": "answered", "cost": answer.get("cost"), **answer})
        for name, answer in answers.items()
    ]
    (folder / "answers.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def selection_of(task: str, dataset: Dataset) -> Selection:
    """What a test site shows of the demo data."""
    if task != "directories":
        return Selection()
    # by entry, since the six pages of the test part are too few for any test to tell systems apart
    return Selection(documents=tuple(list(dataset.documents)[::4][:SHOWN_ENTRIES]), unit="document")


def demo_input(task: str, folder: Path) -> Input:
    """The demo data of a task with its invented systems, and three runs that may not be ranked with them."""
    dataset = load_dataset(task, bundled(task))
    paths = [write_runs(folder / f"{task}.jsonl", invented_runs(task))]
    if task == "letters":
        careful = answers_of(task, "careful")
        facts = {"task": task, "system": "acme/late", "model": "late", "start": "2025-08-01T10:00:00+00:00"}
        told = {"settings": {"temperature": 0.25, "max_tokens": 4096}, "prompt": {"sha256": "feedbeef" * 8}}
        other = {"dataset": {"name": dataset.name, "fingerprint": "0" * 64}}
        few = {"documents": list(careful)[:5], "dataset": {"name": dataset.name, "fingerprint": dataset.fingerprint}}
        paths.append(run_folder(folder / "older-truth", {**facts, **told, **other}, careful))
        paths.append(run_folder(folder / "subset", {**facts, **told, **few, "model": "few"}, careful))
        rules = [recorded("T07", "acme", "ruled", "2025-09-01", careful, rules={"inferred_from_function": True})]
        paths.append(write_runs(folder / "ruled.jsonl", rules))
    return Input(get_task(task), dataset, paths, selection_of(task, dataset))


class Pages(Mapping[str, Any]):
    """The HTML pages of a site as lxml trees, each read when it is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.paths = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*.html"))
        self.read: dict[str, Any] = {}

    def __getitem__(self, path: str) -> Any:
        from lxml import html

        if path not in self.read:
            if path not in self.paths:
                raise KeyError(path)
            self.read[path] = html.parse(str(self.folder / path), html.HTMLParser(encoding="utf-8")).getroot()
        return self.read[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)


@dataclass(frozen=True)
class MadeSite:
    """A site on disk with what it was made from."""

    out: Path
    inputs: tuple[Input, ...]
    built: Built

    @cached_property
    def pages(self) -> Mapping[str, Any]:
        """Every HTML page as an lxml tree, by its path in the site."""
        return Pages(self.out)

    def input(self, task: str) -> Input:
        """The dataset of a task with its answers."""
        return next(one for one in self.inputs if one.task.name == task)

    def folder(self, task: str) -> str:
        """Where the pages of a task's dataset lie: "" or "datasets/NAME/"."""
        from histeval.overview.slugs import slug

        return "" if len(self.inputs) == 1 else f"datasets/{slug(self.input(task).dataset.name)}/"

    def leaderboard(self, task: str, protocol: str = "documented") -> str:
        """The page of a leaderboard, found by following the protocol switch of the first."""
        first = f"{self.folder(task)}index.html"
        if protocol == "documented":
            return first
        (href,) = [link.get("href") for link in self.pages[first].iter("a") if link.text_content().strip() == protocol]
        return posixpath.normpath(posixpath.join(posixpath.dirname(first), unquote(urlsplit(href).path)))


def make_site(out: Path, *inputs: Input, **options: Any) -> MadeSite:
    """Builds a site."""
    return MadeSite(out, tuple(inputs), overview(inputs, out, **options))


def addresses(tree: Any) -> Iterator[tuple[str, str]]:
    """Every address of a page, with the attribute that holds it."""
    for element in tree.iter():
        if not isinstance(element.tag, str):
            continue
        for attribute in ("href", "src", "data-thumb", "data-href", "srcset", "poster", "action"):
            value = element.get(attribute)
            if value is not None:
                yield attribute, value


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Content and time of change of every file."""
    return {
        file.relative_to(folder).as_posix(): (file.read_bytes(), file.stat().st_mtime_ns)
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def task_of(one: Input) -> Task:
    """The task of an input."""
    return one.task


def table_rows(table: Any) -> tuple[list[str], list[list[Any]]]:
    """Column titles and rows of cells of a table."""
    titles = [" ".join(head.text_content().split()) for head in table.xpath("./thead/tr[1]/*")]
    return titles, [list(row.xpath("./td|./th")) for row in table.xpath("./tbody/tr")]


def words(element: Any) -> str:
    """The text of an element, blanks as one."""
    return " ".join(element.text_content().split())


ATTACKS = (
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=2>",
    "'\"><svg/onload=window.hacked=3>",
    "javascript:window.hacked=4",
    "{{ 7*7 }}{% raw %}{# x #}${7*7}",
    "]]><!--<iframe srcdoc='<script>parent.hacked=5</script>'>",
    "\u202egnp.exe\u2066 \x00\x07\x1b[31m\x7f\x9b \u2028\u2029\u200b\ufeff\U000e0041",
    "../../../../outside",
    "&lt;script&gt;window.hacked=6&lt;/script&gt;",
    "</title></style></textarea><script>window.hacked=7</script>",
    '" autofocus onfocus="window.hacked=8',
    "\\u003cscript\\u003ewindow.hacked=9\\u003c/script\\u003e",
    "=cmd|' /C calc'!A0",
    "https://outside.example/?<b>",
)
ATTACK = " ".join(ATTACKS)
LONG_LINE = "<b>x</b>" * 125_000
"""One line of a million characters."""


def hostile_names(name: str) -> list[str]:
    """Names that lead out of a folder, into another page, or into a script."""
    return [
        f"../../../{name}",
        f"..\\..\\{name}",
        f"{name}</script><img src=x onerror=window.hacked=10>",
        f"javascript:{name}",
    ]


def hostile_inputs(folder: Path) -> list[Input]:
    """Datasets, descriptions, names and answers of all three tasks that attack the pages."""
    found = []
    for task in TASKS:
        dataset = load_dataset(task, bundled(task))
        kept = list(dataset.documents)[:5]
        renamed = dict(zip(kept, [*hostile_names("document"), "index"], strict=False))
        documents = {
            new: dataclasses.replace(
                dataset.documents[old],
                id=new,
                attributes={
                    **dataset.documents[old].attributes,
                    ATTACKS[0]: ATTACKS[place % 3],
                    "kind": ATTACK[: place + 9],
                },
            )
            for place, (old, new) in enumerate(renamed.items())
        }
        description = dataclasses.replace(
            dataset.description,
            title=ATTACK,
            text=ATTACK,
            citation=ATTACK,
            licence=ATTACK,
            period=ATTACK,
            published=ATTACK,
        )
        evil = dataclasses.replace(
            dataset, name=f"../{ATTACKS[0]}\u202e\x07{task}", documents=documents, description=description
        )
        careful = answers_of(task, "careful")
        sound = {new: careful[old] for old, new in renamed.items()}
        runs = [
            recorded(
                name,
                ATTACK,
                f"{ATTACKS[place]} {ATTACK}",
                ATTACKS[place],
                hostile_answers(task, list(renamed.values()), place),
            )
            for place, name in enumerate(hostile_names("run"))
        ]
        runs += [recorded("CON", "a", "sound", "2025-01-01", sound), recorded("con", "a", "SOUND", "2025-01-01", sound)]
        found.append(Input(get_task(task), evil, [write_runs(folder / task / "runs.jsonl", runs)]))
    return found


def hostile_answers(task: str, documents: Sequence[str], kind: int) -> dict[str, dict[str, Any]]:
    """Answers of every form that try to become part of the page; and for documents that there are not."""
    records: dict[str, dict[str, Any]] = {
        "letters": {"send_date": ATTACK, "sender_persons": [*ATTACKS, LONG_LINE], "receiver_persons": [ATTACK]},
        "manuscripts": {
            "folios": [{"folio": ATTACK, "text": f"{ATTACK}\n{LONG_LINE}", "addition1": "\u05d0\u202e\u0627"}]
        },
        "directories": {"spans": [{"type": ATTACK, "start": 0, "end": 4}, {"type": "PER", "start": -1, "end": 10**9}]},
    }
    record = records[task]
    answers: list[dict[str, Any]] = [
        {"json": record},
        {"text": ATTACK + LONG_LINE},
        {"error": ATTACK},
        {"text": json.dumps(record)[: len(LONG_LINE) // 2]},
        {"text": f"<PER>{ATTACK}</PER>{json.dumps(record)}"},
    ]
    found = {name: answers[(place + kind) % len(answers)] for place, name in enumerate(documents)}
    return {**found, "../../nowhere": answers[0], ATTACK: answers[1]}
