"""Training: from datasets to a model folder."""

from __future__ import annotations

import inspect
import platform
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from histeval._version import version
from histeval.datasets import Dataset, load_dataset
from histeval.entities.spans import Entry
from histeval.errors import ModelError, UsageError
from histeval.systems.taggers import crf
from histeval.systems.taggers.examples import (
    NOISE_OF_ONE,
    Example,
    check_token_mode,
    default_tokens,
    examples_of,
    fingerprint,
    grammar_of,
    noise_model,
    sample,
    truths,
    unlearnable,
)
from histeval.systems.taggers.folder import TEXTS, check_free, check_grammar, pack_grammar, pack_texts, write_model
from histeval.systems.taggers.labels import Labelling, Tags
from histeval.systems.taggers.network import passes
from histeval.systems.taggers.worker import LEXICON, NETWORK, VOCABULARY, Job, member_file, run_jobs

SYSTEMS: dict[str, tuple[str, ...]] = {
    "crf": ("crf",),
    "bilstm": ("bilstm",),
    "crf+bilstm": ("crf", "bilstm"),
    "transformer": ("transformer",),
}
"""Taggers by name and the fits each consists of."""

Report = Callable[[str], None]


@dataclass(frozen=True)
class Trained:
    """A model as it was written: its folder and settings, the seconds it took, and what should be known of it."""

    folder: Path
    settings: Mapping[str, Any]
    seconds: float
    notes: tuple[str, ...] = field(default=())


def default_system() -> str:
    """`crf+bilstm` where PyTorch is installed, else `crf`."""
    return "crf+bilstm" if find_spec("torch") is not None else "crf"


def train_directories(
    path: Path | str, out: Path | str, *, text: Sequence[str] = ("reference",), split: str = "train", **options: Any
) -> Trained:
    """Train a tagger on a dataset folder, on one or several readings (`text`) of the same rows; see `train`.

    A dataset without a split is used whole.
    """
    if not text:
        raise UsageError("name at least one text to train on, such as --text reference")
    return train([load_training(path, name, split) for name in text], Path(out), texts=tuple(text), **options)


def load_training(path: Path | str, text: str, split: str) -> Dataset:
    """One reading of a dataset's part; the whole of it where the dataset has no split."""
    whole = load_dataset("directories", path, text=text, split="all")
    if split == "all" or not any("split" in document.attributes for document in whole.documents.values()):
        return whole
    return load_dataset("directories", path, text=text, split=split)


def train(
    datasets: Sequence[Dataset],
    out: Path,
    *,
    system: str | None = None,
    approach: str = "joint",
    scheme: str = "IO",
    tokens: str | None = None,
    texts: Sequence[str] = (),
    rows: int | None = None,
    noise: float | None = None,
    noise_copies: int = 1,
    seed: int = 1,
    weights: Sequence[float] = (),
    workers: int = 2,
    epochs: int | None = None,
    members: int | None = None,
    report: Report | None = None,
    **backbone: Any,
) -> Trained:
    """Train a tagger and write its model folder `out`, which must not exist.

    `datasets` are readings of the same rows: all are trained on, and one model serves them all. `rows` takes a sample
    in proportion to books. `tokens` are published or plain; None means those of `default_tokens`. `noise` adds
    `noise_copies` copies of the first reading with OCR noise of that strength, learnt from the others; None means 1
    where there are several readings to learn it from (none for `transformer`). `weights` are those of the hierarchical
    loss, one for each step from the root of the class tree to the label, outermost first. `members` is how many feature
    CRFs are fitted and averaged (None: `crf.MEMBERS`). `backbone` are options of `transformer.fit_columns` (model,
    batch, ...).

    The result depends on the seed, the data and the versions of the libraries alone. Raises UsageError for options
    that cannot be, an empty training set or one without entities; MissingExtraError; OutputError.
    """
    begin = time.monotonic()
    system = system or default_system()
    if noise is None:
        noise = default_noise(system, len(datasets))
    check_options(system, approach, weights, noise, noise_copies, workers, epochs, backbone, members)
    if "crf" in SYSTEMS[system]:
        members = members or crf.MEMBERS
    if tokens is not None:
        check_token_mode(tokens)
    check_free(Path(out))
    if not datasets:
        raise UsageError("there is no dataset to train on")
    tokens = tokens or default_tokens(datasets[0])
    labelling = Labelling(grammar_of(datasets[0]), approach, scheme)
    for other in datasets[1:]:
        try:
            check_grammar(datasets[0].description.types, other.description.types, other.path)
        except ModelError as fault:
            raise UsageError(f"two texts of one model have different grammars: {fault}") from None
    ids = sample(datasets[0], rows, seed)
    entries, notes = gather(datasets, ids, noise, noise_copies, seed)
    examples = examples_of(entries, tokens, scheme, labelling.grammar)
    columns = encode(labelling, examples)
    label_sets = [used_labels(labelling, number, column) for number, column in enumerate(columns)]
    readings = [truth for item in datasets for truth in truths(item, (key for key in ids if key in item.documents))]
    lost = unlearnable(readings, tokens, scheme, labelling.grammar)
    check_learnable(examples, label_sets, lost)
    if lost:
        notes.append(f"{lost}, so the model cannot say them exactly")
    seen = {kind for column in label_sets for label in labelling.kinds(column) for kind in label.split("+")}
    wanted = labelling.grammar.flat_types if approach == "flat" else labelling.grammar.types
    unseen = [kind for kind in wanted if kind not in seen]
    if unseen:
        notes.append(f"no training entry has {', '.join(unseen)}, so the model never predicts it")
    record: dict[str, Any] = {
        "system": system,
        "approach": approach,
        "scheme": scheme,
        "tokens": tokens,
        "texts": list(texts),
        "rows": len(ids),
        "noise": noise,
        "noise_copies": noise_copies if noise else 0,
        "seed": seed,
        "members": members or 0,
        "weights": list(weights),
        "grammar": pack_grammar(datasets[0].description.types),
        "labels": label_sets,
        "training": {
            "fingerprint": fingerprint(examples),
            "entries": len(examples),
            "tokens": sum(len(item.tokens.words) for item in examples),
            "datasets": [{"name": item.name, "fingerprint": item.fingerprint} for item in datasets],
        },
        "versions": versions(),
    }
    if system == "transformer":
        from histeval.systems.taggers import transformer

        files, extra, found = transformer.fit_columns(
            examples,
            columns,
            label_sets,
            labelling,
            seed=seed,
            epochs=epochs,
            weights=weights,
            report=report,
            **backbone,
        )
        record |= extra
        notes += found
    else:
        rounds = {"crf": epochs, "bilstm": epochs or passes(len(datasets), noise_copies if noise else 0)}
        files = fit_chains(
            SYSTEMS[system],
            examples,
            columns,
            label_sets,
            labelling,
            seed,
            weights,
            rounds,
            members or 0,
            workers,
            report,
        )
    files[TEXTS] = pack_texts(truth.text for truth in readings)
    record["seconds"] = round(time.monotonic() - begin, 1)
    record["notes"] = notes
    write_model(Path(out), record, files)
    return Trained(Path(out), record, time.monotonic() - begin, tuple(notes))


def default_noise(system: str, readings: int) -> float:
    """The strength of the noisy copies where none is asked for: 1 where there are readings to learn noise from."""
    return 1.0 if system != "transformer" and readings > 1 else 0.0


def check_combination(options: Mapping[str, Any], readings: int) -> None:
    """Raise what `train` would raise for its options before it reads its `readings`."""
    own = inspect.signature(train).parameters
    given = {name: item.default for name, item in own.items() if item.default is not item.empty} | dict(options)
    system = given["system"] or default_system()
    noise = default_noise(system, readings) if given["noise"] is None else given["noise"]
    backbone = {name: value for name, value in options.items() if name not in own and value is not None}
    check_options(
        system, given["approach"], given["weights"], noise, given["noise_copies"], given["workers"], given["epochs"],
        backbone, given["members"],
    )  # fmt: skip
    if noise and readings < 2:
        raise UsageError(NOISE_OF_ONE)


def check_options(
    system: str,
    approach: str,
    weights: Sequence[float],
    noise: float,
    noise_copies: int,
    workers: int,
    epochs: int | None,
    backbone: Mapping[str, Any],
    members: int | None = None,
) -> None:
    """Raise UsageError, or MissingExtraError, for options that no training can have."""
    if system not in SYSTEMS:
        raise UsageError(f"there is no tagger {system!r}; there are {', '.join(SYSTEMS)}")
    if system == "crf" or "crf" in SYSTEMS[system]:
        from histeval.systems.taggers.crf import library as crf_library

        crf_library()
    if system != "crf" and find_spec("torch") is None:
        from histeval.systems.taggers.network import library

        library()
    if weights and approach != "hierarchical":
        raise UsageError("weights belong to the hierarchical approach; add --approach hierarchical")
    if any(not 0 <= weight < float("inf") for weight in weights) or (weights and not any(weights)):
        raise UsageError("the weights of the hierarchical loss are numbers from 0 upwards, one of them above 0")
    if "crf" in SYSTEMS[system] and any(weight != 1 for weight in weights):
        raise UsageError("crfsuite knows the plain loss only; weights other than 1 need --system bilstm or transformer")
    if not 0 <= noise <= 20:
        raise UsageError("the strength of noise is a number from 0 to 20; 1 is that of the OCR it is learnt from")
    if noise_copies < 1 or workers < 1 or (epochs is not None and epochs < 1):
        raise UsageError("copies, workers and epochs are whole numbers from 1 upwards")
    if members is not None and members < 1:
        raise UsageError("members is a whole number from 1 upwards")
    if members is not None and "crf" not in SYSTEMS[system]:
        raise UsageError(f"members are feature CRFs, which {system} has not; choose --system crf or crf+bilstm")
    if system == "transformer":
        from histeval.systems.taggers.transformer import Options

        Options.of(backbone)
    elif backbone:
        raise UsageError(f"{', '.join(sorted(backbone))} belong to --system transformer")


def gather(
    datasets: Sequence[Dataset], ids: Sequence[str], noise: float, copies: int, seed: int
) -> tuple[list[Entry], list[str]]:
    """The entries to train on: each reading of the rows, then the noisy copies; and what is to be known of them."""
    entries: list[Entry] = []
    notes = []
    for item in datasets:
        present = [key for key in ids if key in item.documents]
        if len(present) < len(ids):
            notes.append(f"{item.name} lacks {len(ids) - len(present)} of the {len(ids)} training rows")
        entries += truths(item, present)
    if noise:
        model = noise_model(datasets, ids)
        for copy in range(copies):
            entries += [model.apply(entry, seed + copy, noise) for entry in truths(datasets[0], ids)]
    return entries, notes


def encode(labelling: Labelling, examples: Sequence[Example]) -> list[list[Tags]]:
    """The label sequences of each column, by text."""
    encoded = [labelling.encode([list(tags) for tags in item.levels]) for item in examples]
    return [[columns[number] for columns in encoded] for number in range(labelling.columns)]


def used_labels(labelling: Labelling, number: int, column: Sequence[Tags]) -> Tags:
    """The labels of a column that occur, those that the grammar allows in its order, others after them."""
    found = {label for labels in column for label in labels}
    known = [label for label in labelling.classes()[number] if label in found]
    return known + sorted(found.difference(known))


def check_learnable(examples: Sequence[Example], label_sets: Sequence[Tags], lost: str = "") -> None:
    """Raise UsageError where there is nothing to learn from; `lost` is what tokens and tags cannot say."""
    if not examples:
        raise UsageError("the training set is empty: no entry has a token; give entries with text")
    if all(len(labels) < 2 for labels in label_sets):
        label = label_sets[0][0]
        outside = not set(label) - set("O+")
        advice = "annotate some entities" if outside else "add entries with text outside of it, or with other entities"
        raise UsageError(
            f"every token of the training set has the label {label}, so there is nothing to learn; {lost or advice}"
        )


def fit_chains(
    kinds: Sequence[str],
    examples: Sequence[Example],
    columns: Sequence[Sequence[Tags]],
    label_sets: Sequence[Tags],
    labelling: Labelling,
    seed: int,
    weights: Sequence[float],
    epochs: Mapping[str, int | None],
    members: int,
    workers: int,
    report: Report | None,
) -> dict[str, bytes]:
    """The files of a model of chains, `NUMBER-NAME` for each column that has two labels or more.

    `epochs` are the passes of each kind of fit, None for its own default; `members` is the number of feature CRFs.
    """
    words = [item.tokens.words for item in examples]
    breaks = [item.tokens.breaks for item in examples]
    with tempfile.TemporaryDirectory(prefix="histeval-") as place:
        jobs = []
        for number, (column, labels) in enumerate(zip(columns, label_sets, strict=True)):
            if len(labels) < 2:
                continue
            plain = [labelling.kinds(tags) for tags in column]
            groups = labelling.groups(labels) if weights else []
            if weights and len(weights) != len(groups) + 1:
                raise UsageError(
                    f"the class tree has {len(groups) + 1} steps from its root to a label; give as many weights"
                )
            for kind in reversed(kinds):  # the network first, since it takes longer
                for member in range(1, (members if kind == "crf" else 1) + 1):
                    folder = Path(place) / f"{number}-{kind}-{member}"
                    folder.mkdir()
                    options = (seed, epochs[kind], groups, list(weights), member)
                    jobs.append((Job(kind, words, breaks, column, plain, labels, *options), folder))
        run_jobs(jobs, workers, report)
        return {
            f"{folder.name.split('-')[0]}-{name}": (folder / name).read_bytes()
            for job, folder in jobs
            for name in results(job.kind, job.member)
        }


def results(kind: str, member: int) -> tuple[str, ...]:
    """The files that a fit leaves for the model. The lexicon is the same for all CRFs, so that one suffices."""
    if kind == "bilstm":
        return (NETWORK, VOCABULARY)
    return (member_file(member), LEXICON) if member == 1 else (member_file(member),)


def versions() -> dict[str, str]:
    """Versions of what a model depends on; what is not installed is left out."""
    found = {"histeval": version(), "python": platform.python_version()}
    for name in ("numpy", "python-crfsuite", "torch", "transformers"):
        try:
            found[name] = version_of(name)
        except PackageNotFoundError:
            continue
    return found
