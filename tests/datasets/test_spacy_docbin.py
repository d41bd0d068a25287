"""DocBin: refused in one sentence where it cannot be read; its entities where spaCy is installed."""

from __future__ import annotations

import sys
import zlib
from pathlib import Path

import pytest

from format_sources import entities, read
from histeval.datasets.formats import spacy_docbin
from histeval.datasets.transfer import import_dataset
from histeval.errors import DatasetError, MissingExtraError


def test_without_spacy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtraError, match=r"a\.spacy is a DocBin, and spaCy is not installed: install it with"):
        read("spacy", {"a.spacy": zlib.compress(b"\x80")})


def test_a_bomb_is_never_unpacked_whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(spacy_docbin, "UNPACKED_LIMIT", 8 << 20)
    bomb = zlib.compress(bytes(64 << 20), 9)
    assert len(bomb) < 100_000
    (tmp_path / "a.spacy").write_bytes(bomb)
    with pytest.raises(DatasetError, match=r"a\.spacy: unpacks to more than 8 MB"):
        import_dataset("directories", [tmp_path / "a.spacy"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [(b"\x78\x9c\xff\xff", "cannot be unpacked"), (zlib.compress(b"x" * 99)[:-6], "is cut off")],
)
def test_damaged_files(data: bytes, sentence: str) -> None:
    with pytest.raises(DatasetError, match=sentence):
        read("spacy", {"a.spacy": data})


def test_docs_become_documents() -> None:
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed; `pip install spacy` brings it")
    from spacy.tokens import Doc, DocBin, Span

    language = spacy.blank("xx")
    doc = Doc(language.vocab, ["Aubin", "fils", ",", "#", "Quai"], [True, False, True, True, False])
    doc.ents = [Span(doc, 0, 2, label="PER-x"), Span(doc, 4, 5, label="LOC")]
    doc.spans["nested"] = [Span(doc, 0, 2, label="PER"), Span(doc, 1, 2, label="TITLE")]
    data = DocBin(docs=[doc, Doc(language.vocab, ["rien"])]).to_bytes()
    documents, report = read("spacy", {"a.spacy": data})
    assert [(d.id, d.text, entities(d)) for d in documents] == [
        ("0", "Aubin fils, # Quai", [("PER-x", "Aubin fils"), ("LOC", "Quai")]), ("1", "rien ", [])
    ]  # fmt: skip
    assert report.left_out == {"span groups 'nested'": ["0: 2"]}
    with pytest.raises(DatasetError, match="document 1: has no span group 'nested'"):
        read("spacy", {"a.spacy": data}, spans="nested")
    with pytest.raises(DatasetError, match="is no DocBin that spaCy can read"):
        read("spacy", {"a.spacy": zlib.compress(b"\xc1 nothing of msgpack")})
