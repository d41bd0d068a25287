"""Transformer taggers on a tiny random backbone; the hierarchical loss by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from histeval.entities.spans import Entry, Span
from histeval.entities.tags import flat_tags, level_tags
from histeval.entities.tokens import plain_tokens
from histeval.errors import ModelError, UsageError
from histeval.runs.library import score
from histeval.systems.taggers import load_tagger, train
from histeval.systems.taggers.backbone import best_labels, open_backbone
from histeval.systems.taggers.hierarchy import hierarchical_loss
from systems.tagger_data import dataset, of_entries, tiny_backbone

torch = pytest.importorskip("torch", reason="needs torch: pip install 'histeval[neural]'")
pytest.importorskip("transformers", reason="needs transformers: pip install 'histeval[neural]'")
pytestmark = pytest.mark.neural
torch.set_num_threads(1)

FIT = {"system": "transformer", "tokens": "plain", "learning_rate": 3e-3, "batch": 25, "evaluate_every": 1000}


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_backbone(tmp_path_factory.mktemp("backbone"))


@pytest.mark.parametrize("approach", ["joint", "hierarchical", "independent", "flat"])
def test_a_tiny_model_learns_fifty_entries_by_heart(approach: str, backbone: Path, tmp_path: Path) -> None:
    data = dataset(50)
    train([data], tmp_path / "model", approach=approach, model=str(backbone), steps=160, held_out=0.0, **FIT)
    tagger = load_tagger(tmp_path / "model")
    entries = [document.truth for document in data.documents.values()]
    records = tagger.tag([entry.text for entry in entries])
    wrong = 0
    for entry, record in zip(entries, records, strict=True):
        gold = level_tags(entry, plain_tokens(entry.text), "IO")
        found = [tags for key, tags in record.items() if key.startswith("level")]
        if approach == "flat":
            gold = [flat_tags(gold, tagger.labelling.grammar)]
        wrong += gold != found
    assert wrong == 0  # every tag of every entry is right, so that every F1 is 1


def test_hierarchical_loss_with_unit_weights_is_the_joint_loss() -> None:
    torch.manual_seed(1)
    scores = torch.randn(40, 6, dtype=torch.float64, requires_grad=True)
    targets = torch.randint(0, 6, (40,))
    groups = [torch.tensor([0, 0, 1, 1, 1, 2]), torch.tensor([0, 1, 2, 2, 3, 4])]
    loss = hierarchical_loss(scores, targets, groups, (1.0, 1.0, 1.0))
    plain = torch.nn.functional.cross_entropy(scores, targets)
    assert abs(float(loss - plain)) < 1e-12
    (ours,) = torch.autograd.grad(loss, scores)
    (theirs,) = torch.autograd.grad(plain, scores)
    assert torch.allclose(ours, theirs, atol=1e-12)


def test_hierarchical_loss_with_other_weights_by_hand() -> None:
    """Three labels a, b | c with logits log 1, log 2, log 5: p = 1/8, 2/8, 5/8; truth a, in group {a, b} of 3/8.

    Loss with weights 2 and 0.5: 2 * -log(3/8) + 0.5 * -log((1/8) / (3/8)) = 2 log(8/3) + 0.5 log 3.
    Gradient by a logit z of label k: 2 (p_k - q_k) + 0.5 (q_k - t_k), where q is the distribution inside the group
    (1/3, 2/3, 0) and t the truth (1, 0, 0):
    a: 2 (1/8 - 1/3) + 0.5 (1/3 - 1) = -5/12 - 1/3 = -3/4; b: 2 (1/4 - 2/3) + 0.5 (2/3) = -5/6 + 1/3 = -1/2;
    c: 2 (5/8) = 5/4. They sum to 0.
    """
    scores = torch.tensor([[math.log(1), math.log(2), math.log(5)]], dtype=torch.float64, requires_grad=True)
    loss = hierarchical_loss(scores, torch.tensor([0]), [torch.tensor([0, 0, 1])], (2.0, 0.5))
    assert float(loss.detach()) == pytest.approx(2 * math.log(8 / 3) + 0.5 * math.log(3), abs=1e-12)
    (gradient,) = torch.autograd.grad(loss, scores)
    assert gradient[0].tolist() == pytest.approx([-3 / 4, -1 / 2, 5 / 4], abs=1e-12)


def test_a_model_scores_through_the_task(backbone: Path, tmp_path: Path) -> None:
    data = dataset(50)
    train([data], tmp_path / "model", model=str(backbone), steps=120, held_out=0.0, **FIT)
    tagger = load_tagger(tmp_path / "model")
    records = tagger.tag([document.text or "" for document in data.documents.values()])
    result = score("directories", data, dict(zip(data.documents, records, strict=True)))
    assert result.values["f1[All]"] == 1.0


class StoppedError(Exception):
    """Stands for the person who stops a training."""


def test_an_interrupted_training_goes_on_where_it_was(backbone: Path, tmp_path: Path) -> None:
    options = {
        **FIT,
        "evaluate_every": 4,
        "steps": 12,
        "model": str(backbone),
        "held_out": 0.2,
        "batch": 8,
        "patience": 9,
    }
    data = dataset(40)
    train([data], tmp_path / "whole", **options)

    def stop(line: str) -> None:
        if line.startswith("step 8"):
            raise StoppedError

    with pytest.raises(StoppedError):
        train([data], tmp_path / "stopped", checkpoint=tmp_path / "checkpoints", report=stop, **options)
    assert not (tmp_path / "stopped").exists()
    lines: list[str] = []
    train([data], tmp_path / "stopped", checkpoint=tmp_path / "checkpoints", report=lines.append, **options)
    assert lines[0] == "goes on at step 4"
    name = "0-weights.safetensors"
    assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "stopped" / name).read_bytes()
    assert not list((tmp_path / "checkpoints").iterdir())


def test_early_stopping_keeps_the_best_weights(backbone: Path, tmp_path: Path) -> None:
    options = {**FIT, "learning_rate": 1e-9, "evaluate_every": 2, "steps": 100, "patience": 2, "model": str(backbone)}
    trained = train([dataset(40)], tmp_path / "model", held_out=0.25, **options)
    facts = trained.settings["columns"][0]
    # Nothing is learnt at this rate: the first evaluation is the best, and two more are waited for.
    assert (facts["steps"], facts["best_step"], facts["held_out_rows"]) == (6, 2, 10)


def test_accumulated_steps_equal_large_batches(backbone: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    options = {**FIT, "steps": 3, "model": str(backbone), "held_out": 0.0}
    data = dataset(32)
    train([data], tmp_path / "large", **{**options, "batch": 16})
    train([data], tmp_path / "small", **{**options, "batch": 4, "accumulate": 4})
    large, small = (load_file(tmp_path / name / "0-weights.safetensors") for name in ("large", "small"))
    assert all(torch.allclose(large[name], small[name], atol=2e-4) for name in large)


def test_what_a_backbone_cannot_read_is_reported(backbone: Path, tmp_path: Path) -> None:
    long = Entry("Arnoux, " + "r. Neuve " * 40, (Span("PER", 0, 6),))
    trained = train(
        [of_entries([long, *(d.truth for d in dataset(10).documents.values())])],
        tmp_path / "model",
        model=str(backbone),
        steps=2,
        held_out=0.0,
        **FIT,
    )
    assert any("lie beyond what the backbone can read" in note for note in trained.notes)
    tagger = load_tagger(tmp_path / "model")
    record = tagger.tag([long.text + "\U0001f4d6"])[0]
    assert len(record["tokens"]) == len(record["level1"])
    assert record["level1"][-1] == "O"
    assert tagger.truncated > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": ""}, "name the backbone"),
        ({"model": "no/such-folder-here/at/all"}, "cannot be opened"),
        ({"model": "x", "batch": 0}, "whole numbers from 1"),
        ({"model": "x", "held_out": 1.0}, "share below 1"),
        ({"model": "x", "colour": "red"}, "no option colour"),
    ],
)
def test_wrong_options_are_one_sentence(options: dict[str, object], words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=words):
        train([dataset(8)], tmp_path / "model", system="transformer", **options)
    assert not (tmp_path / "model").exists()


def test_wrong_number_of_weights(backbone: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="2 steps from its root"):
        train(
            [dataset(8)],
            tmp_path / "model",
            system="transformer",
            approach="hierarchical",
            weights=(1, 1, 1, 1),
            model=str(backbone),
            steps=1,
        )


def test_weights_change_what_is_learnt(backbone: Path, tmp_path: Path) -> None:
    options = {**FIT, "model": str(backbone), "steps": 3, "held_out": 0.0}
    for name, approach, weights in (
        ("joint", "joint", ()),
        ("one", "hierarchical", (1.0, 1.0)),
        ("other", "hierarchical", (3.0, 0.5)),
    ):
        train([dataset(16)], tmp_path / name, approach=approach, weights=weights, **options)
    read = {name: (tmp_path / name / "0-weights.safetensors").read_bytes() for name in ("joint", "one", "other")}
    assert read["other"] != read["one"]


def test_a_damaged_backbone_is_refused(backbone: Path, tmp_path: Path) -> None:
    train([dataset(16)], tmp_path / "model", model=str(backbone), steps=1, held_out=0.0, **FIT)
    path = tmp_path / "model" / "0-weights.safetensors"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(ModelError, match="incomplete"):
        load_tagger(tmp_path / "model")


def test_a_tokenizer_that_cuts_and_fills_up_is_kept_from_it(backbone: Path, tmp_path: Path) -> None:
    """Tokenizers for sentences come with a length to cut to and to fill up to; the backbone itself reads more."""
    import json
    import shutil

    folder = Path(shutil.copytree(backbone, tmp_path / "backbone"))
    record = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    record["truncation"] = {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0}
    record["padding"] = {
        "strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0,
        "pad_token": "[PAD]",
    }  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(record), encoding="utf-8")
    words = ["Arnoux", ",", "5"]
    plain, cutting = (open_backbone(str(place), ["O", "I-PER"]).encode(words) for place in (backbone, folder))
    assert plain == cutting
    assert len(plain[0]) == 2 + sum(map(len, words))


@pytest.mark.parametrize(("labels", "outside"), [(["I-PER", "I-ACT"], "O"), (["I-PER+O", "I-ACT+O"], "O+O")])
def test_what_cannot_be_read_is_outside_also_where_training_never_had_it(
    labels: list[str], outside: str, backbone: Path
) -> None:
    opened = open_backbone(str(backbone), labels)
    row = opened.encode(["Arnoux"] * 40)
    (tags,) = best_labels(opened.model.eval(), opened, [row], "cpu", labels)
    assert tags[-1] == outside
    assert tags[0] in labels
