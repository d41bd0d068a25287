"""Corpora in parts: every row is read once whatever the cut, and sums of parts are those of the whole."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.datasets import load_dataset
from histeval.datasets.base import Dataset, Document
from histeval.datasets.bundled import bundled
from histeval.errors import AnswersError, HistevalError
from histeval.runs import parts
from histeval.runs.answers import AnswerSet
from histeval.runs.parts import Piece, is_corpus, open_corpus, pieces, rows_of
from histeval.runs.score import score_run
from histeval.runs.selection import Selection
from histeval.runs.summary import PieceScorer, Units, conclude_corpus, empty
from histeval.stats.counts import CountTable
from histeval.stats.draws import MOST_UNITS, unit_counts
from histeval.tasks import get_task
from scale.corpora import TASKS, rows, write
from support import examples


@cache
def sample(task: str) -> Dataset:
    return (
        load_dataset(task, bundled(task), split="all") if task == "directories" else load_dataset(task, bundled(task))
    )


def parts_of(task: str, path: Path, size: int, order: int | None = None, protocol: str = "documented") -> Any:
    """The score of a corpus made piece by piece, in any order."""
    corpus = open_corpus(task, bundled(task))
    found = get_task(task)
    scorer = found.scorer(corpus.dataset.context, found.protocol(protocol))
    score = PieceScorer(corpus, scorer, Selection())
    cut = pieces(path, size=size, rows=max(1, size // 1000))
    if order is not None:
        random.Random(order).shuffle(cut)
    total = empty(scorer)
    for piece in cut:
        total.add(score(piece))
    return conclude_corpus("run", corpus, scorer, Selection(), total, {}), corpus


def whole(task: str, path: Path, protocol: str) -> dict[str, Any]:
    """The same rows as an ordinary dataset in memory, scored the ordinary way: the slow twin."""
    corpus = open_corpus(task, bundled(task))
    both = [pair for piece in pieces(path, size=1 << 40, rows=1 << 40) for pair in corpus.documents(piece)]
    documents = {document.id: document for document, _ in both}
    dataset = Dataset(
        task, corpus.dataset.name, path, corpus.dataset.description, documents, corpus.dataset.authorities, "0" * 64
    )
    found = get_task(task)
    scorer = found.scorer(dataset.context, found.protocol(protocol))
    answers = AnswerSet("run", {(answer.document, 0): answer for _, answer in both})
    return next(score_run(dataset, answers, scorer)).as_json()


@settings(max_examples=examples(40), deadline=None)
@given(
    lines=st.lists(st.text(alphabet="aä€\U0001f600\u2028\r x", max_size=12), min_size=1, max_size=12),
    size=st.integers(1, 60),
    ends=st.sampled_from(["\n", "\r\n", "\n\n"]),
    last=st.booleans(),
)
def test_every_row_is_read_once_whatever_the_cut(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], size: int, ends: str, last: bool
) -> None:
    path = tmp_path_factory.mktemp("cut") / "part.jsonl"
    text = ends.join(json.dumps({"a": line}, ensure_ascii=False) for line in lines) + (ends if last else "")
    path.write_bytes(text.encode())
    found = [value["a"] for piece in pieces(path, size=size) for _, value in rows_of(piece)]
    assert found == lines


@pytest.mark.parametrize("protocol", ["documented", "published", "corrected"])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_sums_of_parts_are_those_of_the_whole(tmp_path: Path, task: str, protocol: str, ending: str) -> None:
    path = write(tmp_path / f"part{ending}", rows(sample(task), "hasty", 2 if task == "directories" else 12))
    assert is_corpus(path)
    found = parts_of(task, path, 20_000, protocol=protocol)[0].as_json()
    twin = whole(task, path, protocol)
    for key in ("documents", "failed", "failures", "units", "suspect", "metrics", "counts", "cost", "seconds", "usage"):
        assert found[key] == twin[key], key
    assert parts_of(task, path, 20_000, order=1, protocol=protocol)[0].as_json() == found
    finer = parts_of(task, path, 5_000, order=2, protocol=protocol)[0].as_json()
    assert {**finer, "notes": []} == {**found, "notes": []}
    if task != "directories":  # whose sentences name examples, which differ by part
        assert sorted(found["notes"]) == sorted(twin["notes"])


def test_the_sample_that_is_tested_does_not_depend_on_parts(tmp_path: Path) -> None:
    """More answers than are tested, all from other pages: suspect, with the same p."""
    found = rows(sample("manuscripts"), "careful", 60)
    random.Random(1).shuffle(texts := [row.pop("text", None) or row.pop("record") for row in found])
    for row, text in zip(found, texts, strict=True):
        row["text" if isinstance(text, str) else "record"] = text
    path = write(tmp_path / "part.jsonl", found)
    twin = whole("manuscripts", path, "documented")
    assert twin["suspect"] is not None
    for size in (3_000, 50_000):
        assert parts_of("manuscripts", path, size, order=size)[0].as_json()["suspect"] == twin["suspect"]


@pytest.mark.parametrize("number", [30, MOST_UNITS, MOST_UNITS + 1, 2 * MOST_UNITS])
def test_units_add_up_to_the_blocks_of_one_machine(number: int) -> None:
    source = np.random.default_rng(number)
    names = [f"unit {source.integers(number)}" if number < 100 else f"unit {place}" for place in range(number)]
    values = source.integers(0, 9, (number, 3))
    total = Units.of([], np.zeros((0, 3), dtype=np.int64))
    for start in range(0, number, 7_000):
        total.add(Units.of(names[start : start + 7_000], values[start : start + 7_000]))
    table = CountTable(("a", "b", "c"), tuple(map(str, range(number))), tuple(names), values)
    assert np.array_equal(unit_counts(total.table(("a", "b", "c")))[1], unit_counts(table)[1])
    assert len(total.seen) == len(set(names))


def test_units_are_not_sorted_anew_with_every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the cost of a corpus would grow with the square of its parts: a million pages took 100 s for it alone."""
    lengths: list[int] = []
    unique = np.unique

    def counting(values: Any, *rest: Any, **more: Any) -> Any:
        lengths.append(len(values))
        return unique(values, *rest, **more)

    parts = [Units.of([f"unit {n}" for n in range(k, k + 500)], np.ones((500, 2), dtype=np.int64)) for k in
             range(0, 100_000, 500)]  # fmt: skip
    monkeypatch.setattr(np, "unique", counting)
    total = Units.of([], np.zeros((0, 2), dtype=np.int64))
    for part in parts:
        total.add(part)
    assert len(total.seen) == 100_000
    assert sum(lengths) < 6 * 100_000


def test_a_fingerprint_does_not_depend_on_order_or_parts(tmp_path: Path) -> None:
    found = rows(sample("letters"), "careful", 3)
    first = parts_of("letters", write(tmp_path / "a.jsonl", found), 1000)[0]
    other = parts_of("letters", write(tmp_path / "b" / "a.jsonl", found[::-1]), 70_000)[0]
    assert first.signature.dataset.fingerprint == other.signature.dataset.fingerprint
    found[0]["truth"]["send_date"] = ["1900-01-01"]
    changed = parts_of("letters", write(tmp_path / "c.jsonl", found), 1000)[0]
    assert changed.signature.dataset.fingerprint != first.signature.dataset.fingerprint


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"document": ""}, 'line 3: has no "document"'),
        ({"truth": "text"}, "line 3, letter03_0: has a truth that is no object"),
        ({"truth": {"send_date": [{}]}}, "is not a list of texts"),
        ({"repeat": 1}, "holds a repeat"),
        ({"document": "letter01_0"}, "holds 1 documents a second time"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    found = rows(sample("letters"), "careful")
    found[2] |= change
    path = write(tmp_path / "part.jsonl", found)
    with pytest.raises(HistevalError, match=r"part\.jsonl|run") as caught:
        parts_of("letters", path, 2000)
    assert words in str(caught.value)


def test_a_torn_parquet_file_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "part.parquet", rows(sample("letters"), "careful"))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(AnswersError, match="is not Parquet"):
        pieces(path)


def test_an_answer_without_text_is_missing(tmp_path: Path) -> None:
    found = rows(sample("letters"), "careful")
    for key in ("text", "record", "error"):
        found[0].pop(key, None)
    result = parts_of("letters", write(tmp_path / "a.jsonl", found), 2000)[0]
    assert result.failures["missing"] >= 1
    assert result.documents == len(found)


def test_pieces_know_nothing_but_sizes(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * 25)
    assert pieces(path, size=10) == [Piece(n, path, 10 * n, min(25, 10 * n + 10)) for n in range(3)]
    assert Document  # the rows are read later, by whoever scores the piece


def lay(folder: Path, found: list[dict[str, Any]], kind: str) -> Path:
    """Rows as three parts of a kind; nested Parquet keeps truth and record as columns of their own."""
    import polars

    folder.mkdir()
    for number in range(3):
        some = found[number::3]
        if kind == "nested":
            polars.DataFrame(some, infer_schema_length=None).write_parquet(folder / f"{number}.parquet")
        elif kind == "bytes":
            held = [{key: json.dumps(v) if isinstance(v, dict) else v for key, v in row.items()} for row in some]
            table = polars.DataFrame(held, infer_schema_length=None)
            table.with_columns(polars.col(polars.String).cast(polars.Binary)).write_parquet(
                folder / f"{number}.parquet"
            )
        else:
            write(folder / f"{number}.{kind}", some)
    return folder


@pytest.mark.parametrize("protocol", ["documented", "published", "corrected"])
@pytest.mark.parametrize("task", TASKS)
def test_whatever_a_part_is_kept_as_the_numbers_are_the_same(task: str, protocol: str, tmp_path: Path) -> None:
    """In nested Parquet each row names the fields and folios of all, which count for none that lacks them."""
    pytest.importorskip("polars")
    found = rows(sample(task), "hasty", 3)
    for row in found[::4]:  # a folio, a field, an addition more than others have
        if task == "manuscripts":
            next(iter(row["truth"].values()))[0]["addition9"] = "nota"
        elif task == "letters":
            row["truth"]["letter_title"] = ["Mahnung"]
    expected = parts_of(task, lay(tmp_path / "jsonl", found, "jsonl"), 10_000, protocol=protocol)[0].as_json()
    for kind in ("parquet", "nested", "bytes"):
        got = parts_of(task, lay(tmp_path / kind, found, kind), 10_000, protocol=protocol)[0].as_json()
        assert got == expected, kind


def test_a_corpus_is_known_by_any_of_its_first_rows(tmp_path: Path) -> None:
    """An empty part, blank lines, a torn row or rows without truth at its beginning change nothing."""
    row = {"document": "a", "truth": {}, "text": ""}
    write(tmp_path / "b.jsonl", [{"document": "b", "text": ""}, row])
    for content in (b"", b"\n\r\n", b"\xef\xbb\xbf", b'{"document": "torn"\n' + json.dumps(row).encode()):
        (tmp_path / "a.jsonl").write_bytes(content)
        assert is_corpus(tmp_path), content
    (tmp_path / "b.jsonl").unlink()
    (tmp_path / "a.jsonl").write_text('{"document": "a", "text": "\\"truth\\""}\n')
    assert not is_corpus(tmp_path)
    assert not is_corpus(tmp_path / "a.jsonl")


@pytest.mark.parametrize("other", ["b.jsonl.gz", "b.PARQUET.zst", "year=1890/b.parquet", "b.parquet/0.parquet", "link"])
def test_no_part_is_left_out_in_silence(tmp_path: Path, other: str) -> None:
    write(tmp_path / "a.jsonl", [{"document": "a", "truth": {}, "text": ""}])
    assert len(pieces(tmp_path)) == 1
    if other == "link":
        (tmp_path / "b.jsonl").symlink_to(tmp_path / "nowhere")
    else:
        (tmp_path / other).parent.mkdir(exist_ok=True)
        (tmp_path / other).write_bytes(b"x")
    assert is_corpus(tmp_path)
    with pytest.raises(AnswersError, match=r"compressed|inside another|no file"):
        pieces(tmp_path)
    for name in ("_SUCCESS", ".a.jsonl.crc", "notes.txt", "licence.txt.gz"):
        (tmp_path / name).write_bytes(b"x")


def test_a_unit_may_be_a_number_and_nothing_else(tmp_path: Path) -> None:
    corpus = open_corpus("letters", bundled("letters"))
    write(tmp_path / "a.jsonl", [{"document": f"{n}", "truth": {}, "text": "", "unit": n // 2} for n in range(4)])
    read = [document.unit for piece in pieces(tmp_path) for document, _ in corpus.documents(piece)]
    assert read == ["0", "0", "1", "1"]
    for wrong in (True, 1.5, ["a"], {}):
        write(tmp_path / "a.jsonl", [{"document": "a", "truth": {}, "text": "", "unit": wrong}])
        with pytest.raises(AnswersError, match=r"line 1: has a unit that is neither"):
            list(corpus.documents(pieces(tmp_path)[0]))


def test_a_damaged_part_in_parquet_is_refused_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it is damaged: polars may panic, which is no Exception, and a footer may promise any number of rows."""
    polars = pytest.importorskip("polars")
    corpus = open_corpus("letters", bundled("letters"))
    path = write(tmp_path / "a.parquet", [{"document": f"d{n}", "truth": {}, "text": "", "unit": 1} for n in range(50)])
    (piece,) = pieces(path)
    whole = path.read_bytes()
    for length in (0, 3, 100, len(whole) - 9, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(AnswersError, match="is not Parquet"):
            pieces(path)
        with pytest.raises(AnswersError, match="is not Parquet"):
            list(corpus.documents(piece))
    path.write_bytes(whole)
    with monkeypatch.context() as patch:
        patch.setattr(parts, "MOST_ROWS", 49)
        with pytest.raises(AnswersError, match="says that it holds 50 rows"):
            pieces(path)

    def panics(*_: Any, **__: Any) -> Any:
        raise polars.exceptions.PanicException("assertion failed\n\x1b[31m left: 0")

    monkeypatch.setattr(polars.LazyFrame, "collect", panics)
    for read in (lambda: pieces(path), lambda: list(corpus.documents(piece))):
        with pytest.raises(AnswersError, match=r"is not Parquet: assertion failed") as caught:
            read()
        assert str(caught.value).isprintable()
