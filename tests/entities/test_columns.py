"""Columns of Parquet files: read as lists would be, whatever the type of the labels; wrong ones refused."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.entities import chunk_scores, encode, encode_column, encode_parquet, score_tags
from histeval.errors import UsageError
from support import examples

LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "E-LOC", "S-é", ""]
ROWS = st.lists(st.none() | st.lists(st.none() | st.sampled_from(LABELS), max_size=6), max_size=6)
KINDS = {"text": pl.String, "categories": pl.Categorical, "numbered": pl.Enum(LABELS)}


def as_lists(rows: list[list[str | None] | None]) -> list[list[str]]:
    """Null is an empty list, or the label `O`."""
    return [["O" if label is None else label for label in row or ()] for row in rows]


@settings(max_examples=examples(200), deadline=None)
@given(ROWS, st.sampled_from(sorted(KINDS)))
def test_a_column_says_what_its_lists_say(rows: list[list[str | None] | None], kind: str) -> None:
    column = pl.Series("tags", rows, dtype=pl.List(KINDS[kind]))
    found, expected = encode_column(column), encode(as_lists(rows))
    assert found.lengths.tolist() == expected.lengths.tolist()
    assert found.listed() == expected.listed()


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_a_file_score_as_lists(kind: str, tmp_path: Path) -> None:
    gold = [["B-PER", "I-PER", "O"], [], ["B-LOC"]] * 40
    predicted = [["B-PER", "O", "O"], [], ["B-LOC"]] * 40
    inner = pl.List(KINDS[kind])
    file = tmp_path / "tags.parquet"
    schema = {"gold": inner, "predicted": inner, "number": pl.Int64}
    table = {"gold": gold, "predicted": predicted, "number": list(range(120))}
    pl.DataFrame(table, schema=schema).write_parquet(file)
    assert score_tags(*encode_parquet(file, "gold", "predicted")) == score_tags(gold, predicted)
    (alone,) = encode_parquet(str(file), "predicted")
    assert alone.listed() == encode(predicted).listed()
    assert encode_parquet(file) == []


def test_what_is_no_column_of_labels_is_refused_in_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "tags.parquet"
    pl.DataFrame({"gold": [["O"]], "number": [1], "deep": [[["O"]]]}).write_parquet(file)
    (tmp_path / "other.parquet").write_text("no table", encoding="utf-8")
    for name, columns, said in (
        (file, ("gold", "missing"), "has no column 'missing'"),
        (file, ("number",), "does not hold lists of labels"),
        (file, ("deep",), "does not hold lists of labels"),
        (tmp_path / "other.parquet", ("gold",), "cannot be read as Parquet"),
        (tmp_path / "none.parquet", ("gold",), "cannot be read as Parquet"),
        (tmp_path, ("gold",), "cannot be read as Parquet"),
    ):
        with pytest.raises(UsageError, match=said) as caught:
            encode_parquet(name, *columns)
        assert "\n" not in str(caught.value)


def test_a_file_that_was_cut_off_is_refused_wherever_it_was(tmp_path: Path) -> None:
    file = tmp_path / "tags.parquet"
    pl.DataFrame({"gold": [["B-PER", "O"]] * 50}).write_parquet(file)
    whole = file.read_bytes()
    for size in range(0, len(whole), 7):
        file.write_bytes(whole[:size])
        with pytest.raises(UsageError, match="cannot be read as Parquet") as caught:
            encode_parquet(file, "gold")
        assert "\n" not in str(caught.value)


def test_where_polars_panics_it_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it raises on some damaged files is no Exception."""

    def panics(*_: object, **__: object) -> None:
        raise pl.exceptions.PanicException("called `unwrap()`\non a damaged page")

    monkeypatch.setattr(pl, "read_parquet", panics)
    with pytest.raises(UsageError, match="cannot be read as Parquet") as caught:
        encode_parquet(tmp_path / "tags.parquet", "gold")
    assert "\n" not in str(caught.value)


@settings(max_examples=examples(100), deadline=None)
@given(st.data(), st.booleans())
def test_two_threads_find_what_one_finds(data: st.DataObject, strict: bool) -> None:
    gold = data.draw(st.lists(st.lists(st.sampled_from(LABELS[:5]), max_size=6), max_size=6))
    predicted = [[data.draw(st.sampled_from(LABELS[:5])) for _ in row] for row in gold]
    one = score_tags(gold, predicted, strict=strict)
    before = chunk_scores._MANY
    try:
        chunk_scores._MANY = 0
        assert score_tags(gold, predicted, strict=strict) == one
    finally:
        chunk_scores._MANY = before
