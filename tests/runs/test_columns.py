"""Answers of directories in columns, as taggers write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from histeval.datasets import Dataset, load_dataset
from histeval.datasets.bundled import bundled
from histeval.entities import level_tags, published_tokens
from histeval.errors import AnswersError
from histeval.runs import open_answers, score


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_dataset("directories", bundled("directories"))


def gold_columns(dataset: Dataset, named: bool, levels: int = 2, scheme: str = "IOB2") -> str:
    """The ground truth as columns."""
    blocks = []
    for document in dataset.documents.values():
        tokens = published_tokens(document.truth)
        tags = [level_tags(document.truth, tokens, scheme)[level] for level in range(levels)]
        lines = ["\t".join((token.text, *labels)) for token, *labels in zip(tokens, *tags, strict=True)]
        blocks.append("\n".join(([f"# document = {document.id}"] if named else []) + lines))
    return "\n\n".join(blocks) + "\n"


@pytest.mark.parametrize("named", [True, False])
def test_the_ground_truth_in_columns_is_perfect(named: bool, dataset: Dataset, tmp_path: Path) -> None:
    file = tmp_path / "gold.conll"
    file.write_text(gold_columns(dataset, named), encoding="utf-8")
    values = score("directories", dataset, file, rules={"scheme": "IOB2"}).values
    assert {values[f"f1[{level}]"] for level in ("All", "L1", "L2", "L1+L2", "P-L1+P-L2", "Flat")} == {1.0}


def test_two_columns_are_a_flat_tagger(dataset: Dataset, tmp_path: Path) -> None:
    file = tmp_path / "flat.tsv"
    file.write_text(gold_columns(dataset, True, levels=1), encoding="utf-8")
    (run,) = open_answers(file, dataset)
    assert all("level2" not in answer.record for answer in run.answers.values())


def test_a_hash_that_is_a_token_is_kept(dataset: Dataset, tmp_path: Path) -> None:
    name = next(iter(dataset.documents))
    file = tmp_path / "hash.tsv"
    file.write_text(f"# document = {name}\n#\tO\tO\n#12\tO\tO\n", encoding="utf-8")
    (run,) = open_answers(file, dataset)
    assert run.answers[name, 0].record["tokens"] == ["#", "#12"]


BROKEN = {
    "a column alone": ("a\tO\tO\nb\n", "line 2: has 1 columns"),
    "columns that change": ("a\tO\tO\nb\tO\n", "line 2: has 2 columns, the lines before it 3"),
    "four columns": ("a\tO\tO\tO\n", "has 4 columns"),
    "too few documents": ("a\tO\tO\n", "has 1 documents, the dataset has 132"),
    "named twice": ("# document = 1\na\tO\tO\n\n# document = 1\na\tO\tO\n", "answers the document '1' a second time"),
    "with and without a name": ("# document = 1\na\tO\tO\n\na\tO\tO\n", "with and without a name"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_columns_are_named(case: str, dataset: Dataset, tmp_path: Path) -> None:
    content, words = BROKEN[case]
    file = tmp_path / "broken.conll"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(AnswersError) as fault:
        open_answers(file, dataset)
    assert words in str(fault.value)
