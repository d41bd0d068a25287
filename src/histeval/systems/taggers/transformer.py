"""Transformer taggers: any token-classification backbone of Hugging Face, fine-tuned on first subwords.

As published by Tual et al. 2023: labels, loss and decoding use the first subword of each token alone, decoding takes
the best label token by token, and training stops early on held-out rows. Nothing is unpickled, and no code that comes
with a backbone is run.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from histeval.entities.tags import runs
from histeval.errors import UsageError
from histeval.systems.taggers.backbone import (
    CONFIG,
    TOKENIZER,
    WEIGHTS,
    Backbone,
    best_labels,
    first_subword_scores,
    library,
    open_backbone,
)
from histeval.systems.taggers.checkpoint import Checkpoint
from histeval.systems.taggers.examples import Example, Tokens
from histeval.systems.taggers.hierarchy import hierarchical_loss
from histeval.systems.taggers.labels import Labelling, Tags
from histeval.systems.taggers.network import library as torch_library

Report = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """How a backbone is fine-tuned; defaults as published, where the publication has the option.

    `model` is a folder or a name on the hub; `held_out` the share of rows kept for early stopping (0: none, and all
    steps are made); `checkpoint` a folder from which an interrupted training goes on.
    """

    model: str = ""
    batch: int = 16
    accumulate: int = 1
    learning_rate: float = 1e-4
    weight_decay: float = 1e-5
    steps: int = 5000
    evaluate_every: int = 100
    patience: int = 5
    held_out: float = 0.1
    device: str = "auto"
    mixed_precision: bool = True
    checkpoint: Path | str | None = None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Options:
        """Options by name; raises UsageError for unknown ones and impossible values."""
        known = {item.name for item in fields(cls)}
        if set(options) - known:
            raise UsageError(f"a transformer has no option {', '.join(sorted(set(options) - known))}")
        for item in fields(cls):
            value, kind = options.get(item.name, item.default), type(item.default)
            fits = isinstance(value, (int, float) if kind is float else kind)
            fits = fits and (kind is bool or not isinstance(value, bool))
            if item.name != "checkpoint" and not fits:
                words = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}[kind]
                raise UsageError(f"{item.name} is {words}, not {value!r}")
        made = cls(**options)
        if made.checkpoint is not None and not isinstance(made.checkpoint, (str, Path)):
            raise UsageError(f"checkpoint names a folder; {made.checkpoint!r} is none")
        if not made.model:
            raise UsageError("name the backbone, such as --backbone almanach/camembert-base or a folder")
        if min(made.batch, made.accumulate, made.steps, made.evaluate_every, made.patience) < 1:
            raise UsageError("batch, accumulate, steps, evaluate_every and patience are whole numbers from 1 upwards")
        if not 0 <= made.held_out < 1 or made.learning_rate <= 0 or made.weight_decay < 0:
            raise UsageError("held_out is a share below 1, the learning rate above 0, the weight decay not below 0")
        return made


def fit_columns(
    examples: Sequence[Example],
    columns: Sequence[Sequence[Tags]],
    label_sets: Sequence[Tags],
    labelling: Labelling,
    *,
    seed: int,
    epochs: int | None = None,
    weights: Sequence[float] = (),
    report: Report | None = None,
    **options: Any,
) -> tuple[dict[str, bytes], dict[str, Any], list[str]]:
    """Fine-tune one backbone a column; gives the files of the model, what belongs in its settings, and notes."""
    from safetensors.torch import save

    given = Options.of(options)
    library()
    files: dict[str, bytes] = {}
    facts: list[dict[str, Any]] = []
    notes: list[str] = []
    for number, (column, labels) in enumerate(zip(columns, label_sets, strict=True)):
        if len(labels) < 2:
            facts.append({})
            continue
        torch = torch_library()
        torch.manual_seed(seed)  # before the head is made
        backbone = open_backbone(given.model, labels)
        fitting = Fitting(backbone, labels, labelling, given, seed, weights, epochs, report, number)
        best = fitting.run([item.tokens for item in examples], column)
        notes += fitting.notes
        files[f"{number}-{WEIGHTS}"] = save({name: value.contiguous() for name, value in best.items()})
        files[f"{number}-{CONFIG}"] = backbone.model.config.to_json_string(use_diff=False).encode()
        files[f"{number}-{TOKENIZER}"] = backbone.tokenizer.to_str().encode()
        facts.append({"limit": backbone.limit, "padding": backbone.padding, **fitting.facts})
    shown = {item.name: getattr(given, item.name) for item in fields(given) if item.name != "checkpoint"}
    shown["model"] = Path(given.model).name if Path(given.model).exists() else given.model
    return files, {"backbone": shown, "columns": facts}, notes


class Fitting:
    """The fine-tuning of one column."""

    def __init__(
        self,
        backbone: Backbone,
        labels: Tags,
        labelling: Labelling,
        options: Options,
        seed: int,
        weights: Sequence[float],
        epochs: int | None,
        report: Report | None,
        number: int,
    ) -> None:
        torch = torch_library()
        self.backbone, self.labels, self.labelling, self.options = backbone, labels, labelling, options
        self.seed, self.epochs, self.report, self.number = seed, epochs, report or (lambda _: None), number
        groups = labelling.groups(labels) if labelling.approach == "hierarchical" else []
        self.weights = tuple(weights) or (1.0,) * (len(groups) + 1)
        if len(self.weights) != len(groups) + 1:
            raise UsageError(
                f"the class tree has {len(groups) + 1} steps from its root to a label; give as many weights"
            )
        automatic = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            self.device = torch.device(automatic if options.device == "auto" else options.device)
            torch.zeros(1, device=self.device)
        except (RuntimeError, AssertionError, NotImplementedError) as fault:
            reason = " ".join(str(fault).split())[:120]
            raise UsageError(f"there is no device {options.device!r} here: {reason}") from None
        self.groups = [torch.tensor(group, device=self.device) for group in groups]
        self.notes: list[str] = []
        self.facts: dict[str, Any] = {}

    def run(self, texts: Sequence[Tokens], column: Sequence[Tags]) -> dict[str, Any]:
        """Train and give back the best weights by name, on the CPU."""
        torch = torch_library()
        numbers = {label: number for number, label in enumerate(self.labels)}
        encoded = [self.backbone.encode(text.words) for text in texts]
        lost = sum(first < 0 for _, firsts in encoded for first in firsts)
        if lost:
            self.notes.append(f"{lost} training tokens lie beyond what the backbone can read and were not learnt")
        data = [
            (ids, firsts, [numbers[label] for label in tags])
            for (ids, firsts), tags in zip(encoded, column, strict=True)
        ]
        order = list(range(len(data)))
        random.Random(self.seed).shuffle(order)
        held = order[: int(len(order) * self.options.held_out)]
        rows = sorted(order[len(held) :])
        model = self.backbone.model.to(self.device).train()
        decayed = [value for value in model.parameters() if value.ndim > 1]
        others = [value for value in model.parameters() if value.ndim <= 1]
        optimizer = torch.optim.AdamW(
            [{"params": decayed, "weight_decay": self.options.weight_decay}, {"params": others, "weight_decay": 0.0}],
            lr=self.options.learning_rate,
        )
        steps = self.options.steps
        a_round = max(1, -(-len(rows) // (self.options.batch * self.options.accumulate)))
        if self.epochs is not None:
            steps = min(steps, self.epochs * a_round)
        saved = Checkpoint(self.options.checkpoint, self._name(data, steps)) if self.options.checkpoint else None
        state: dict[str, Any] = {"step": 0, "best": -1.0, "best_step": 0, "waited": 0}
        best: dict[str, Any] = {}
        if saved is not None and saved.exists():
            state, best = saved.load(model, optimizer)
            self.report(f"goes on at step {state['step']}")
        scaler = self._scaler()
        while state["step"] < steps and state["waited"] < self.options.patience:
            turn, place = divmod(state["step"], a_round)
            shuffled = list(rows)
            random.Random(f"{self.seed}|{turn}").shuffle(shuffled)
            size = self.options.batch * self.options.accumulate
            loss = self._step(
                model, optimizer, scaler, [data[row] for row in shuffled[place * size : (place + 1) * size]]
            )
            state["step"] += 1
            if state["step"] % self.options.evaluate_every == 0 or state["step"] == steps:
                if held:
                    value = self._f1(model, [data[row] for row in held])
                    better = value > state["best"]
                    state["waited"] = 0 if better else state["waited"] + 1
                    if better:
                        state["best"], state["best_step"] = value, state["step"]
                        best = {name: tensor.detach().cpu().clone() for name, tensor in model.state_dict().items()}
                    self.report(f"step {state['step']}: loss {loss:.4f}, F1 on held-out rows {value:.4f}")
                else:
                    self.report(f"step {state['step']}: loss {loss:.4f}")
                if saved is not None:
                    saved.save(model, optimizer, state, best)
        self.facts = {"steps": state["step"], "held_out_rows": len(held)}
        if held:
            self.facts |= {"held_out_f1": state["best"], "best_step": state["best_step"]}
        if not best:
            best = {name: tensor.detach().cpu().clone() for name, tensor in model.state_dict().items()}
        if saved is not None:
            saved.remove()
        return best

    def _name(self, data: Sequence[Any], steps: int) -> str:
        """What a checkpoint must agree in to be gone on from."""
        import hashlib

        options = {
            item.name: getattr(self.options, item.name) for item in fields(self.options) if item.name != "checkpoint"
        }
        text = json.dumps([data, options, steps, self.seed, self.weights, self.labels], sort_keys=True)
        return f"{self.number}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"

    def _scaler(self) -> Any:
        torch = torch_library()
        half = self.options.mixed_precision and self.device.type == "cuda" and not torch.cuda.is_bf16_supported()
        return torch.amp.GradScaler("cuda", enabled=half)

    def _precision(self) -> Any:
        torch = torch_library()
        on = self.options.mixed_precision and self.device.type == "cuda"
        kind = torch.bfloat16 if not on or torch.cuda.is_bf16_supported() else torch.float16
        return torch.autocast(self.device.type, dtype=kind, enabled=on)

    def _step(self, model: Any, optimizer: Any, scaler: Any, rows: Sequence[Any]) -> float:
        """One update of the weights from `batch * accumulate` rows; gives the mean loss a token."""
        torch = torch_library()
        optimizer.zero_grad(set_to_none=True)
        learnt = sum(first >= 0 for _, firsts, _ in rows for first in firsts)
        total = 0.0
        for start in range(0, len(rows), self.options.batch):
            part = rows[start : start + self.options.batch]
            with self._precision():
                scores, targets = self._scores(model, part)
            loss = hierarchical_loss(scores.float(), targets, self.groups, self.weights, reduction="sum") / max(
                learnt, 1
            )
            scaler.scale(loss).backward()
            total += float(loss.detach())
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        return total

    def _scores(self, model: Any, rows: Sequence[Any]) -> tuple[Any, Any]:
        """Scores of the first subwords of the tokens that can be read, (tokens, labels), and their labels."""
        torch = torch_library()
        scores = first_subword_scores(model, self.backbone, [(ids, firsts) for ids, firsts, _ in rows], self.device)
        targets = [
            label for _, firsts, labels in rows for first, label in zip(firsts, labels, strict=True) if first >= 0
        ]
        return scores, torch.tensor(targets, dtype=torch.long, device=self.device)

    def _f1(self, model: Any, rows: Sequence[Any]) -> float:
        """Chunk F1 over the levels of the column, on held-out rows."""
        model.eval()
        right = found = wanted = 0
        for start in range(0, len(rows), 64):
            part = rows[start : start + 64]
            predicted = best_labels(model, self.backbone, [row[:2] for row in part], self.device, self.labels)
            for (_, _, labels), guess in zip(part, predicted, strict=True):
                truth = [self.labels[number] for number in labels]
                for gold, given in zip(self._levels(truth), self._levels(guess), strict=True):
                    gold_runs, given_runs = set(runs(gold)), set(runs(given))
                    right, found, wanted = (
                        right + len(gold_runs & given_runs),
                        found + len(given_runs),
                        wanted + len(gold_runs),
                    )
        model.train()
        return 2 * right / (found + wanted) if found + wanted else 0.0

    def _levels(self, labels: Tags) -> list[Tags]:
        joined = self.labelling.approach in ("joint", "hierarchical")
        return self.labelling.decode([labels]) if joined else [labels]
