"""A grid of trainings (system, backbone, approach, scheme, text, rows, seed): resumed, and beside what is published.

A grid file is TOML. Each key below may be a list; every combination is trained, tagged and scored:

    system = ["crf", "crf+bilstm"]      # default: the default tagger
    backbone = ["almanach/camembert-base"]  # for system "transformer"
    approach = ["independent", "joint"]
    scheme = ["IO", "IOB2"]
    text = ["reference,ocr"]            # texts trained on together; each is tagged and scored
    tokens = ["published", "plain"]     # default: published for the published dataset, else plain
    rows = [47, 760, 6084]              # left away: all
    noise = [0.0, 1.0]                  # left away: 1 for a network with several texts
    seed = [1, 2, 3, 4, 5]              # the table gives the mean over seeds

    [options]                           # other options of `train`, the same for all
    steps = 5000
"""

from __future__ import annotations

import hashlib
import inspect
import json
import shutil
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from histeval.datasets import load_dataset
from histeval.datasets.files import atomic_write, make_folder, read_json, read_text
from histeval.errors import InputError, UsageError
from histeval.runs.library import score
from histeval.systems.taggers.evaluate import tag_documents
from histeval.systems.taggers.examples import check_token_mode, default_tokens, grammar_of, sample
from histeval.systems.taggers.labels import Labelling
from histeval.systems.taggers.published import LEVELS, NOTE, TYPES, columns_of, metric_name, published_figures
from histeval.systems.taggers.tagger import load_tagger
from histeval.systems.taggers.train import (
    SYSTEMS,
    Report,
    check_combination,
    default_system,
    load_training,
    train,
)

AXES: dict[str, tuple[type, ...]] = {
    "system": (str,),
    "backbone": (str,),
    "approach": (str,),
    "scheme": (str,),
    "text": (str,),
    "tokens": (str,),
    "rows": (int,),
    "noise": (int, float),
    "seed": (int,),
}
TRAINED = ("system", "approach", "scheme", "tokens", "rows", "noise", "seed")
"""The axes that `train` has as options of the same name."""
LARGEST = 2000
"""Most combinations in one file: a list too many multiplies quickly."""

Cell = dict[str, Any]


@dataclass(frozen=True)
class Grid:
    """What a grid file asks for: the combinations, those left out with the reason, and options for all."""

    cells: tuple[Cell, ...]
    left_out: tuple[tuple[Cell, str], ...]
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class GridRow:
    """One combination as it was scored on one text: value and interval of each metric, entries and units."""

    cell: Cell
    text: str
    metrics: Mapping[str, Mapping[str, float | None]]
    documents: int
    units: int
    seconds: float
    signature: str


def read_grid(path: Path | str) -> Grid:
    """The combinations of a grid file; raises InputError where it is none, UsageError for values there are not."""
    try:
        table = tomllib.loads(read_text(path, error=InputError))
    except tomllib.TOMLDecodeError as fault:
        raise InputError(f"is not TOML: {fault}", file=path) from None
    options = table.pop("options", {})
    if not isinstance(options, dict):
        raise InputError("has options that are no table", file=path, remedy="Write [options] and NAME = VALUE lines")
    twice = sorted(set(options) & {*AXES, "texts", "report"})
    if twice:
        remedy = "Write them above [options]"
        raise InputError(f"has {', '.join(twice)} among the options, where they say nothing", file=path, remedy=remedy)
    lists: dict[str, list[Any]] = {}
    for key, value in table.items():
        values = value if isinstance(value, list) else [value]
        if key not in AXES:
            raise InputError(f"has an unknown key {key[:40]!r}", file=path, remedy=f"There are {', '.join(AXES)}")
        if not values or any(isinstance(item, bool) or not isinstance(item, AXES[key]) for item in values):
            raise InputError(f"has a value of another kind for {key}", file=path, remedy="See docs/taggers.md")
        lists[key] = values
    defaults: dict[str, list[Any]] = {
        "system": [default_system()],
        "backbone": [None],
        "approach": ["joint"],
        "scheme": ["IO"],
        "text": ["reference"],
        "tokens": [None],
        "rows": [None],
        "noise": [None],
        "seed": [1],
    }
    axes = [lists.get(key, defaults[key]) for key in AXES]
    count = 1
    for values in axes:
        count *= len(values)
    if count > LARGEST:
        raise InputError(f"asks for {count} trainings; at most {LARGEST} go into one file", file=path)
    cells: list[Cell] = []
    left_out: list[tuple[Cell, str]] = []
    for chosen in product(*axes):
        cell = dict(zip(AXES, chosen, strict=True))
        if cell["system"] not in SYSTEMS:
            raise UsageError(f"there is no tagger {cell['system']!r}; there are {', '.join(SYSTEMS)}")
        if cell["tokens"] is not None:
            check_token_mode(cell["tokens"])
        if cell["system"] != "transformer" and cell["backbone"] is not None:
            cell = cell | {"backbone": None}
            if cell in cells:
                continue
        if cell["approach"] == "flat" and cell["scheme"] != "IO":
            left_out.append((cell, "the flat approach has the scheme IO only"))
        elif cell["system"] == "transformer" and cell["backbone"] is None:
            left_out.append((cell, "a transformer needs a backbone"))
        else:
            cells.append(cell)
    if not cells:
        raise InputError("asks for no training that can be made", file=path)
    return Grid(tuple(cells), tuple(left_out), options)


def run_grid(
    dataset: Path | str,
    grid: Path | str,
    out: Path | str,
    *,
    protocol: str = "published",
    keep_models: bool = False,
    report: Report | None = None,
) -> list[GridRow]:
    """Train, tag and score every combination of a grid file; what stands in `out` already is not done again.

    Each combination has a file `NAME.json` there, with the fingerprints of what it was trained and scored on.
    """
    asked = read_grid(grid)
    say = report or (lambda _: None)
    out = Path(out)
    make_folder(out)
    for cell, why in asked.left_out:
        say(f"left out {describe(cell)}: {why}")
    read: dict[str, tuple[Any, Any]] = {}
    cells = []
    for cell in asked.cells:  # what cannot be is said before the first training, not after hours
        for text in _texts(cell):
            if text not in read:
                read[text] = (load_training(dataset, text, "train"), load_dataset("directories", dataset, text=text))
        cells.append(_checked(cell, _options(cell, asked), [read[text] for text in _texts(cell)]))
    rows = []
    for number, cell in enumerate(cells, start=1):
        training, tests = ([read[text][part] for text in _texts(cell)] for part in (0, 1))
        marks = [item.fingerprint for item in (*training, *tests)]
        name = _name(cell, asked.options, protocol, marks)
        path = out / f"{name}.json"
        if not path.is_file():
            say(f"{number} of {len(cells)}: {describe(cell)}")
            _perform(cell, _options(cell, asked), training, tests, out / name, path, protocol, keep_models, report)
        rows += _read(path, cell)
    return rows


def _options(cell: Cell, asked: Grid) -> dict[str, Any]:
    """The options of a combination: those of backbones go to transformers and weights to the hierarchical approach,
    where the grid has any."""
    given = dict(asked.options)
    if cell["system"] != "transformer" and any(other["system"] == "transformer" for other in asked.cells):
        own = inspect.signature(train).parameters
        given = {name: value for name, value in given.items() if name in own}
    if cell["approach"] != "hierarchical" and any(other["approach"] == "hierarchical" for other in asked.cells):
        given.pop("weights", None)
    return given


def _checked(cell: Cell, options: Mapping[str, Any], read: Sequence[tuple[Any, Any]]) -> Cell:
    """A combination with its tokens, once it is known that it can be trained and scored; raises UsageError."""
    if not read:
        raise UsageError('name at least one text to train on, such as text = "reference"')
    for training, test in read:
        if not set(training.documents).isdisjoint(test.documents):
            raise UsageError(
                f"{training.name} has no split into train and test, so that a grid would score the rows it was trained "
                "on; give the entries a split, or use `histeval evaluate --leave-out book`"
            )
    training = read[0][0]
    try:
        check_combination({**options, **{key: cell[key] for key in TRAINED}, "model": cell["backbone"]}, len(read))
    except TypeError:
        raise UsageError("the options of the grid have a value of another kind than `histeval train` takes") from None
    Labelling(grammar_of(training), cell["approach"], cell["scheme"])
    sample(training, cell["rows"], cell["seed"])
    return cell | {"tokens": cell["tokens"] or default_tokens(training)}


def _perform(
    cell: Cell,
    options: Mapping[str, Any],
    training: Sequence[Any],
    tests: Sequence[Any],
    model: Path,
    path: Path,
    protocol: str,
    keep: bool,
    report: Report | None,
) -> None:
    if model.exists():  # of a run that was stopped
        shutil.rmtree(model)
    chosen = {key: cell[key] for key in TRAINED}
    if cell["backbone"] is not None:
        chosen["model"] = cell["backbone"]
    trained = train(training, model, texts=_texts(cell), report=report, **{**options, **chosen})
    tagger = load_tagger(model)
    found = []
    for text, dataset in zip(_texts(cell), tests, strict=True):
        records = tag_documents(tagger, dataset, list(dataset.documents))
        result = score("directories", dataset, records, protocol=protocol, rules={"scheme": cell["scheme"]})
        wanted = {metric_name(column, cell["approach"]) for column in columns_of(cell["approach"])}
        metrics = {
            name: {"value": value, "low": result.intervals[name].low, "high": result.intervals[name].high}
            for name, value in result.values.items()
            if name in wanted
        }
        found.append(
            {
                "text": text,
                "metrics": metrics,
                "documents": result.documents,
                "units": result.units,
                "signature": str(result.signature),
            }
        )
    record = {"cell": cell, "seconds": round(trained.seconds, 1), "notes": list(trained.notes), "scores": found}
    atomic_write(path, json.dumps(record, ensure_ascii=False, indent=1) + "\n")
    if not keep:
        shutil.rmtree(model, ignore_errors=True)


def _read(path: Path, cell: Cell) -> list[GridRow]:
    value, _ = read_json(path, error=InputError)
    try:
        return [
            GridRow(
                cell,
                item["text"],
                item["metrics"],
                item["documents"],
                item["units"],
                value["seconds"],
                item["signature"],
            )
            for item in value["scores"]
        ]
    except (KeyError, TypeError):
        raise InputError("is no result of a grid", file=path, remedy="Remove it, so that it is made again") from None


def _texts(cell: Cell) -> tuple[str, ...]:
    return tuple(name.strip() for name in cell["text"].split(",") if name.strip())


def _name(cell: Cell, options: Mapping[str, Any], protocol: str, marks: Iterable[str]) -> str:
    text = json.dumps([cell, options, protocol, list(marks)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def describe(cell: Cell) -> str:
    """A combination in a few words."""
    return ", ".join(f"{key} {value}" for key, value in cell.items() if value not in (None, 0.0))


def grid_table(rows: Sequence[GridRow], *, types: bool = False, published: bool = True) -> list[list[str]]:
    """The table of a grid: a header, a row for each combination and text (mean over seeds), and the published systems.

    Values are F1 in percent with the 95 % interval over sampling units, for one seed; with several the mean over seeds
    and their number. `types` shows entity types instead of levels.
    """
    columns = TYPES if types else LEVELS
    axes = [axis for axis in AXES if axis not in ("seed", "text")]
    table = [["text", *axes, "seeds", "entries", *columns]]
    groups: dict[tuple[Any, ...], list[GridRow]] = {}
    for row in rows:
        key = (row.text, row.cell["text"], *(row.cell[axis] for axis in axes))
        groups.setdefault(key, []).append(row)
    for (text, trained_on, *values), members in groups.items():
        shown = ["" if value is None else str(value) for value in values]
        cells = [_cell([row.metrics.get(metric_name(c, row.cell["approach"])) for row in members]) for c in columns]
        name = text if trained_on == text else f"{text} (trained on {trained_on})"
        table.append([name, *shown, str(len(members)), str(members[0].documents), *cells])
    if published:
        seen = {row.text for row in rows}
        for (text, approach, backbone, scheme), figures in published_figures().items():
            if text in seen:
                first = {"system": "published", "backbone": backbone, "approach": approach, "scheme": scheme}
                shown = [first.get(axis, "published" if axis == "tokens" else "") for axis in axes]
                cells = [f"{figures[column]:.2f}" if column in figures else "" for column in columns]
                table.append([text, *shown, "5", "1685", *cells])
    return table


def table_notes() -> tuple[str, ...]:
    """What must be said under the table."""
    return (NOTE,)


def _cell(values: Sequence[Mapping[str, float | None] | None]) -> str:
    found = [item for item in values if item is not None and item["value"] is not None]
    if not found:
        return ""
    mean = 100 * sum(item["value"] or 0.0 for item in found) / len(found)
    low, high = found[0]["low"], found[0]["high"]
    if len(found) > 1 or low is None or high is None:
        return f"{mean:.2f}"
    return f"{mean:.2f} [{100 * low:.1f}, {100 * high:.1f}]"
