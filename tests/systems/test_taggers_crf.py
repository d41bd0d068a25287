"""The feature CRFs by themselves: potentials against crfsuite, members, and the features that training drops."""

from __future__ import annotations

import json
import math
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.errors import ModelError, UsageError
from histeval.systems.taggers import crf, load_tagger, train
from histeval.systems.taggers.decode import Chain, viterbi
from histeval.systems.taggers.examples import Tokens, tokens_of
from histeval.systems.taggers.features import crf_features
from histeval.systems.taggers.folder import checksum
from support import examples
from systems.tagger_data import dataset

pycrfsuite = pytest.importorskip("pycrfsuite", reason="needs python-crfsuite: pip install 'histeval[taggers]'")

MEMBERS = ("0-model.crfsuite", "0-model-2.crfsuite")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("models") / "crf"
    return train([dataset(120)], out, system="crf", tokens="plain", members=2).folder


def rows_of(model: Path) -> list[tuple[Tokens, list[list[str]]]]:
    """Unseen texts: their tokens, and the features of each token."""
    words_of = {word: tuple(found) for word, found in json.loads((model / "0-lexicon.json").read_text()).items()}
    texts = [tokens_of(document.text or "", "plain") for document in dataset(40, seed=5).documents.values()]
    return [(text, crf_features(text.words, text.breaks, words_of)) for text in texts]


@pytest.mark.parametrize("name", MEMBERS)
def test_unscaled_potentials_decode_as_crfsuite_does(name: str, model: Path) -> None:
    labels = json.loads((model / "settings.json").read_text(encoding="utf-8"))["labels"][0]
    peer = pycrfsuite.Tagger()
    peer.open(str(model / name))
    plain = crf.FeatureCrf([(model / name).read_bytes()], labels, scale=1.0)
    for _, rows in rows_of(model):
        found = viterbi(plain.emissions(rows), plain.chain)
        assert [labels[number] for number in found] == peer.tag(rows)


def test_a_tagger_decodes_the_mean_of_its_members(model: Path) -> None:
    """The slow twin adds what each file says alone."""
    tagger = load_tagger(model)
    labels = tagger.settings["labels"][0]
    parts = [crf.FeatureCrf([(model / name).read_bytes()], labels, scale=1.0) for name in MEMBERS]
    chain = Chain((parts[0].chain.moves + parts[1].chain.moves) / 2, np.zeros(len(labels)), np.zeros(len(labels)))
    both = crf.FeatureCrf([(model / name).read_bytes() for name in MEMBERS], labels)
    for text, rows in rows_of(model):
        mean = crf.KEPT_SCALE * (parts[0].emissions(rows) + parts[1].emissions(rows)) / 2
        assert np.allclose(both.emissions(rows), mean)
        found = [labels[number] for number in viterbi(mean, chain)]
        assert tagger.tag_tokens([text])[0] == tagger.labelling.decode([found])


def test_members_differ_and_are_repeatable(model: Path, tmp_path: Path) -> None:
    read = [(model / name).read_bytes() for name in MEMBERS]
    assert read[0] != read[1]
    again = train([dataset(120)], tmp_path / "again", system="crf", tokens="plain", members=2, workers=1).folder
    assert [(again / name).read_bytes() for name in MEMBERS] == read
    one = train([dataset(120)], tmp_path / "one", system="crf", tokens="plain", members=1).folder
    assert (one / MEMBERS[0]).read_bytes() == read[0]
    assert not (one / MEMBERS[1]).exists()
    other = train([dataset(120)], tmp_path / "other", system="crf", tokens="plain", members=1, seed=2).folder
    assert (other / MEMBERS[0]).read_bytes() not in read


def test_members_of_independent_levels(tmp_path: Path) -> None:
    out = train([dataset(40)], tmp_path / "model", system="crf", approach="independent", members=3).folder
    names = {path.name for path in out.glob("*.crfsuite")}
    assert names == {f"{level}-model{member}.crfsuite" for level in (0, 1) for member in ("", "-2", "-3")}
    assert load_tagger(out).tag(["Arnoux, boulanger, r. Neuve, 5."])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"system": "crf", "members": 0}, "members is a whole number"),
        ({"system": "bilstm", "members": 2}, "members are feature CRFs"),
    ],
)
def test_members_that_cannot_be(options: dict[str, Any], words: str, tmp_path: Path) -> None:
    if options["system"] == "bilstm":
        pytest.importorskip("torch", reason="torch absent is said first")
    with pytest.raises(UsageError, match=words):
        train([dataset(8)], tmp_path / "model", **options)


def set_members(folder: Path, count: object) -> None:
    path = folder / "settings.json"
    record = json.loads(path.read_text(encoding="utf-8")) | {"members": count}
    path.write_text(json.dumps(record | {"checksum": checksum(record)}), encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda folder: (folder / MEMBERS[1]).write_bytes((folder / MEMBERS[1]).read_bytes()[:-100]), "incomplete"),
        (lambda folder: (folder / MEMBERS[1]).unlink(), f"lacks its file {MEMBERS[1]}"),
        (lambda folder: shutil.copy(folder / MEMBERS[0], folder / MEMBERS[1]), "incomplete|was edited"),
        (lambda folder: set_members(folder, 3), "lacks a part"),
        (lambda folder: set_members(folder, 0), "it has no CRF"),
        (lambda folder: set_members(folder, "2"), "its settings lack members"),
        (lambda folder: set_members(folder, True), "its settings lack members"),
    ],
)
def test_a_folder_with_other_members_is_refused(
    damage: Callable[[Path], object], words: str, model: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(model, tmp_path / "copy"))
    damage(copy)
    with pytest.raises(ModelError, match=words) as fault:
        load_tagger(copy)
    assert "\n" not in str(fault.value)


@given(st.integers(0, 400), st.floats(0, 0.9), st.integers(0, 10**6))
@settings(max_examples=examples(60), deadline=None)
def test_dropping_keeps_the_bias_the_order_and_about_the_share(count: int, share: float, seed: int) -> None:
    features = ["b", *(f"x{number}" for number in range(count))]
    kept = crf.thinned(features, share, random.Random(seed))
    assert kept[0] == "b"
    assert kept == [feature for feature in features if feature in set(kept)]
    assert kept == crf.thinned(features, share, random.Random(seed))
    # Eight standard deviations, and what rounding to 1/256 moves the share by.
    spread = 8 * math.sqrt(count * share * (1 - share)) + count / 512 + 1
    assert abs(len(kept) - 1 - count * (1 - share)) < spread
    assert crf.thinned(features, 0, random.Random(seed)) == features


def test_each_text_and_seed_has_features_dropped_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = ["b", *(f"x{number}" for number in range(100))]
    seen: list[list[list[list[str]]]] = []

    def trainer(**_: object) -> SimpleNamespace:
        texts: list[list[list[str]]] = []
        seen.append(texts)
        return SimpleNamespace(
            append=lambda rows, labels: texts.append(rows), set_params=lambda _: None, train=lambda _: None
        )

    monkeypatch.setattr(crf, "library", lambda: SimpleNamespace(Trainer=trainer))
    for seed, member in ((1, 1), (1, 1), (2, 1), (1, 2)):
        crf.fit(lambda _: [row, row], [["O", "O"]] * 3, tmp_path / "none", seed=seed, member=member)
    assert seen[0] == seen[1]
    assert all(seen[a] != seen[b] for a, b in ((0, 2), (0, 3), (2, 3)))
    assert len({tuple(found) for text in seen[0] for found in text}) == 6
