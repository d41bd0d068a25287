"""The network and the two taggers together; everything that needs torch."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from histeval.errors import ModelError, UsageError
from histeval.systems.taggers import default_system, load_tagger, train
from histeval.systems.taggers.folder import pack_arrays, unpack_arrays
from systems.tagger_data import dataset
from systems.test_taggers import f1

torch = pytest.importorskip("torch", reason="needs torch: pip install 'histeval[neural]'")
pytest.importorskip("pycrfsuite", reason="needs python-crfsuite: pip install 'histeval[taggers]'")
from histeval.systems.taggers import network  # noqa: E402 - torch decides whether it can be used

pytestmark = pytest.mark.neural
torch.set_num_threads(1)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("models") / "both"
    train([dataset(100)], out, tokens="plain", epochs=8)
    return out


def test_the_default_is_both_together(both: Path) -> None:
    assert default_system() == "crf+bilstm"
    tagger = load_tagger(both)
    assert tagger.settings["system"] == "crf+bilstm"
    assert f1(both, dataset(60, seed=2)) > 0.97


def test_its_parts_are_what_they_are_alone(both: Path, tmp_path: Path) -> None:
    texts = [document.text or "" for document in dataset(30, seed=4).documents.values()]
    for kind in ("crf", "bilstm"):
        train([dataset(100)], tmp_path / kind, system=kind, tokens="plain", epochs=8)
        assert load_tagger(tmp_path / kind).tag(texts) == load_tagger(both).only(kind).tag(texts)
    with pytest.raises(UsageError, match="has no part"):
        load_tagger(tmp_path / "crf").only("bilstm")


def small() -> tuple[list[list[list[str]]], list[list[int]]]:
    rows = [[[f"w={chr(97 + (row + place) % 5)}"] for place in range(3 + row % 2)] for row in range(24)]
    return rows, [[(row + place) % 5 % 3 for place in range(3 + row % 2)] for row in range(24)]


def weights_of(seed: int = 1, **options: object) -> dict[str, np.ndarray]:
    rows, labels = small()
    return network.fit(rows, labels, 3, seed=seed, epochs=1, **options)[1]  # type: ignore[arg-type]


def test_the_network_is_repeatable_and_the_seed_matters() -> None:
    first, same, other = weights_of(), weights_of(), weights_of(2)
    assert all((first[name] == same[name]).all() for name in first)
    assert any((first[name] != other[name]).any() for name in first)


def test_independent_levels_with_other_scheme(tmp_path: Path) -> None:
    train([dataset(100)], tmp_path / "model", approach="independent", scheme="IOB2", epochs=8)
    assert f1(tmp_path / "model", dataset(40, seed=2), scheme="IOB2") > 0.95


def chain_of(labels: int, seed: int) -> object:
    class Parameters:
        pass

    made = Parameters()
    generator = torch.Generator().manual_seed(seed)
    made.moves = torch.randn(labels, labels, generator=generator, dtype=torch.float64)  # type: ignore[attr-defined]
    made.first = torch.randn(labels, generator=generator, dtype=torch.float64)  # type: ignore[attr-defined]
    made.last = torch.randn(labels, generator=generator, dtype=torch.float64)  # type: ignore[attr-defined]
    return made


@pytest.mark.parametrize(("length", "labels"), [(1, 3), (2, 2), (4, 3), (5, 2)])
def test_the_partition_function_sums_over_all_paths(length: int, labels: int) -> None:
    chain = chain_of(labels, length)
    emissions = torch.randn(2, length, labels, dtype=torch.float64)
    wanted = []
    for text in emissions:
        paths = torch.tensor(list(product(range(labels), repeat=length)))
        repeated = text.unsqueeze(0).expand(len(paths), -1, -1)
        wanted.append(torch.logsumexp(network.path_score(repeated, paths, chain), dim=0))
    assert torch.allclose(network.log_partition(emissions, chain), torch.stack(wanted), atol=1e-9)


def test_hierarchical_chain_loss() -> None:
    chain, groups = chain_of(3, 7), [torch.tensor([0, 0, 1])]
    emissions = torch.randn(4, 3, 3, dtype=torch.float64)
    labels = torch.randint(0, 3, (4, 3))
    plain = network.chain_loss(emissions, labels, chain)
    assert torch.allclose(network.chain_loss(emissions, labels, chain, groups, (1.0, 1.0)), plain)
    # By hand: P(groups) sums over the paths with the same groups.
    weights, wanted = (2.0, 0.5), 0.0
    paths = list(product(range(3), repeat=3))
    for text, truth in zip(emissions, labels.tolist(), strict=True):
        scores = [float(network.path_score(text[None], torch.tensor([path]), chain)) for path in paths]
        top = max(scores)
        total = sum(math.exp(value - top) for value in scores)
        same = sum(
            math.exp(value - top)
            for value, path in zip(scores, paths, strict=True)
            if [groups[0][label] for label in path] == [groups[0][label] for label in truth]
        )
        own = math.exp(scores[paths.index(tuple(truth))] - top)
        wanted += weights[0] * -math.log(same / total) + weights[1] * -math.log(own / same)
    assert float(network.chain_loss(emissions, labels, chain, groups, weights)) == pytest.approx(wanted / 4, abs=1e-6)


def test_weights_of_the_levels_reach_the_network(tmp_path: Path) -> None:
    plain, ones = weights_of(), weights_of(groups=[[0, 0, 1]], weights=(1.0, 1.0))
    other = weights_of(groups=[[0, 0, 1]], weights=(2.0, 0.5))
    assert all((plain[name] == ones[name]).all() for name in plain)
    assert any((plain[name] != other[name]).any() for name in plain)
    with pytest.raises(UsageError, match="2 steps from its root"):
        train([dataset(8)], tmp_path / "no", system="bilstm", approach="hierarchical", weights=(1, 1, 1))


def test_arrays_with_objects_are_refused() -> None:
    import io

    buffer = io.BytesIO()
    np.savez(buffer, bad=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ModelError, match="its network cannot be read"):
        unpack_arrays(buffer.getvalue())
    with pytest.raises(ModelError, match="its network cannot be read"):
        unpack_arrays(b"PK nothing")
    packed = unpack_arrays(pack_arrays({"x": np.ones((2, 2), dtype=np.float32)}))
    assert packed["x"].tolist() == [[1, 1], [1, 1]]


def test_a_network_of_other_dimensions_is_refused() -> None:
    with pytest.raises(ModelError, match="other dimensions"):
        network.FittedNetwork(["a"], {"moves": np.zeros((2, 2), dtype=np.float32)}, 2)


def test_long_texts_and_unknown_characters(both: Path) -> None:
    tagger = load_tagger(both)
    records = tagger.tag(["Arnoux, boulanger, r. Neuve, 5. " * 1000, "\U0001f4d6", ""])
    assert len(records[0]["level1"]) == len(records[0]["tokens"]) == 10_000
    assert len(records[1]["level1"]) == 1
    assert records[2]["level1"] == []
