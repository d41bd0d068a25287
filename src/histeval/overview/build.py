"""`overview`: builds the whole site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from histeval.datasets.base import Dataset
from histeval.errors import UsageError
from histeval.overview import leaderboard as board_pages
from histeval.overview.board import Board, Collected, Tell
from histeval.overview.breakdown import Breakdowns, attribute_board
from histeval.overview.collect import collect
from histeval.overview.exports import ENDINGS, exports, methods
from histeval.overview.figures import FigureView, write_figures
from histeval.overview.frame import Place, Ways, digest_of_score, page_of, ways_of
from histeval.overview.page import Crumb, Page, clean, counted, footer, render
from histeval.overview.pages_of_documents import hardest, write_documents
from histeval.overview.pages_of_doubts import write_doubts
from histeval.overview.pages_of_runs import write_runs
from histeval.overview.parts import attributes
from histeval.overview.site import Site
from histeval.overview.slugs import slug
from histeval.runs.opening import open_answers
from histeval.runs.selection import Selection, known_attribute
from histeval.tasks.base import RuleValue, Task

ASSETS = ("site.css", "tables.js", "document.js", "document.css")


@dataclass(frozen=True)
class Input:
    """A dataset and the answers to show of it: whatever `histeval score` takes."""

    task: Task
    dataset: Dataset
    answers: Sequence[Path | str]
    selection: Selection = field(default_factory=Selection)


@dataclass(frozen=True)
class Built:
    """What a build did: the page to open, and files by what became of them."""

    index: Path
    written: tuple[str, ...]
    kept: tuple[str, ...]
    removed: tuple[str, ...]


def overview(
    inputs: Sequence[Input],
    out: Path | str,
    *,
    protocol: str = "documented",
    rules: Mapping[str, RuleValue] | None = None,
    by: Sequence[str] | None = None,
    title: str = "",
    tell: Tell | None = None,
) -> Built:
    """Builds (or brings up to date) the static site in `out`.

    `protocol` is the one pages open with; the others are one click away. `by` names attributes to break scores down
    by (default: those with two to twelve values). Raises UsageError for a folder that is no overview, for a dataset
    without answers or given twice, and OutputError where the folder cannot be written.
    """
    if not inputs:
        raise UsageError("an overview needs at least one dataset: DATASET=ANSWERS")
    names = [one.dataset.name for one in inputs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"the dataset {twice!r} is given twice; name all its answers after one DATASET=")
    for one in inputs:
        for path in one.answers:
            if not Path(path).exists():  # said before anything is written
                open_answers(path, one.dataset)
    with Site(out) as site:
        _assets(site)
        found: list[tuple[Place, Collected]] = []
        for one in inputs:
            single = len(inputs) == 1
            folder = "" if single else f"datasets/{slug(one.dataset.name)}/"
            heading = clean(one.dataset.description.title or one.dataset.name)
            place = Place(folder, "../" * folder.count("/"), heading, "" if single else clean(title or "All datasets"))
            collected = collect(
                one.task,
                one.dataset,
                one.answers,
                protocol=protocol,
                rules=rules,
                selection=one.selection,
                remember=site.value,
                tell=tell,
            )
            _dataset(site, place, collected, by, tell)
            found.append((place, collected))
        if len(found) > 1:
            _front(site, found, title)
        site.finish()
    return Built(site.out / "index.html", tuple(site.written), tuple(site.kept), tuple(site.removed))


def _assets(site: Site) -> None:
    folder = files("histeval.overview") / "assets"
    for name in ASSETS:
        asset = folder / name
        if asset.is_file():
            site.write(f"assets/{name}", asset.read_bytes())


def _dataset(site: Site, place: Place, collected: Collected, by: Sequence[str] | None, tell: Tell | None) -> None:
    ways = ways_of(collected)
    for key in by or ():
        known_attribute(collected.dataset, key)
    broken = Breakdowns(collected, tuple(by) if by else tuple(attributes(collected.dataset, list(ways.documents))))
    write_documents(site, place, collected, ways, tell)
    if tell:
        tell("runs, doubts, plots", 0, 1)
    write_runs(site, place, collected, ways, broken)
    found = write_doubts(site, place, collected, ways)
    for name in collected.protocols:
        boards = collected.boards[name]
        if tell:
            tell(f"{name}: plots and views", 0, 1)
        figures = write_figures(site, place, collected, ways, name)
        views = _views(site, place, collected, boards[0], ways, broken) if boards else []
        _leaderboard(site, place, collected, name, ways, figures, views, found)
        for ending, text in exports(boards[0]).items() if boards else ():
            site.write(place.folder + export_file(collected, name, ending), text)


def view_file(collected: Collected, protocol: str, key: str) -> str:
    """The page of all systems by the values of an attribute under a protocol."""
    return f"{'' if protocol == collected.protocol else f'{protocol}-'}by-{slug(key)}.html"


def _views(site: Site, place: Place, collected: Collected, board: Board, ways: Ways, broken: Breakdowns) -> list[Crumb]:
    """The pages that show the systems of a board by the values of an attribute; returns the links to them."""
    name = board.protocol
    links = [Crumb(clean(key.replace("_", " ")), view_file(collected, name, key)) for key in broken.keys]
    digests = [digest_of_score(one.run, one.score) for one in board.standings]
    for key, link in zip(broken.keys, links, strict=True):
        shown = [Crumb(one.label, one.href, current=one.href == link.href) for one in links]
        switch = [
            Crumb(one, view_file(collected, one, key), current=one == name)
            for one in collected.protocols
            if collected.boards[one]
        ]

        def make(key: str = key, link: Crumb = link, shown: list[Crumb] = shown, switch: list[Crumb] = switch) -> str:
            label = f"By {link.label}" + ("" if name == collected.protocol else f", {name}")
            return render(
                "by.html",
                page_of(place, link.href, label),
                title=place.title,
                label=label,
                table=attribute_board(board, key, broken, ways.runs),
                views=shown,
                protocols=switch,
                protocol_words=board_pages.PROTOCOL_WORDS.get(name, ""),
                apart=len(collected.runs) - len(board.standings),
                signature=clean(board.first.signature),
            )

        inputs = [digests, key, list(broken.keys), place.title, place.site, len(collected.runs), name, repr(switch)]
        site.page(place.folder + link.href, inputs, make)
    return links


def protocol_file(collected: Collected, name: str) -> str:
    """The page of the leaderboard under a protocol."""
    return "index.html" if name == collected.protocol else f"{name}.html"


def _leaderboard(
    site: Site,
    place: Place,
    collected: Collected,
    name: str,
    ways: Ways,
    figures: list[FigureView],
    views: list[Crumb],
    doubted: int,
) -> None:
    hrefs = ways.runs
    boards = collected.boards[name]
    main = boards[0] if boards else None
    file = protocol_file(collected, name)
    description = collected.dataset.description
    links = [Crumb(one, protocol_file(collected, one), current=one == name) for one in collected.protocols]
    notes = [clean(note) for note in (*collected.dataset.notes, *collected.left_out)]
    if main is not None:
        notes += board_pages.notes_of([standing.score for standing in main.standings])
    higher = main is None or main.metric.higher_is_better
    apart_columns, apart = board_pages.apart_view(collected, name, hrefs)
    text = render(
        "leaderboard.html",
        page_of(place, file, "" if file == "index.html" else name),
        title=place.title,
        protocol="" if file == "index.html" else name,
        text=clean(description.text),
        verdict=board_pages.verdict(collected, main, hrefs) if main else None,
        why=_why(name, collected, ways, doubted),
        protocols=links,
        protocol_words=board_pages.PROTOCOL_WORDS.get(name, ""),
        main=board_pages.board_view(collected, main, hrefs, "Leaderboard", _caption(main)) if main else None,
        order="descending" if higher else "ascending",
        providers=sorted({clean(s.run.provider) for s in main.standings if s.run.provider} if main else ()),
        comparisons=len(main.standings) - 1 if main else 0,
        published=clean(description.published),
        figures=figures,
        hardest=hardest(collected, ways, name),
        views=views,
        boards=[
            board_pages.board_view(collected, board, hrefs, board_pages.board_title(board), _caption(board))
            for board in boards[1:]
        ],
        apart=apart,
        apart_columns=apart_columns,
        facts=board_pages.facts_of(collected),
        methods=methods(main) if main else "",
        exports=[Crumb(ending.upper(), export_file(collected, name, ending)) for ending in ENDINGS],
        notes=notes,
    )
    site.write(place.folder + file, text)


def export_file(collected: Collected, name: str, ending: str) -> str:
    """The leaderboard under a protocol as a file for papers."""
    return f"exports/leaderboard{'' if name == collected.protocol else f'-{name}'}.{ending}"


def _caption(board: Board) -> str:
    score = board.first
    return f"{counted(len(board.standings), 'system')} on {board_pages.documents_words(score).split(',')[0]}"


def _why(name: str, collected: Collected, ways: Ways, doubted: int) -> list[Crumb]:
    """Further ways from the answer to its reasons."""
    return [
        Crumb("Which documents are hard", "documents.html"),
        Crumb(f"{counted(doubted, 'doubt') if doubted else 'No doubts'} about the ground truth", "doubts.html"),
    ]


def _front(site: Site, found: Sequence[tuple[Place, Collected]], title: str) -> None:
    """The page that leads to the datasets."""
    shown = []
    for place, collected in found:
        main = collected.main
        hrefs = {run.key: f"{place.folder}runs/{run.slug}.html" for run in collected.runs}
        verdict = board_pages.verdict(collected, main, hrefs) if main else None
        documents = counted(main.first.documents if main else len(collected.dataset.documents), "document")
        shown.append(
            {
                "href": f"{place.folder}index.html",
                "title": place.title,
                "task": collected.task.title,
                "words": f"{documents}, {counted(len(collected.runs), 'run')}",
                "verdict": verdict,
                "best_href": verdict.best_href if verdict else "",
                "documents": f"{place.folder}documents.html",
                "doubts": f"{place.folder}doubts.html",
            }
        )
    name = clean(title or "All datasets")
    page = Page("", (Crumb(name),), (), footer())
    site.write("index.html", render("front.html", page, title=name, datasets=shown))
