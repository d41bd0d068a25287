"""Whatever is done to a file, a reader reads it or refuses it in one sentence."""

from __future__ import annotations

import io
import json

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from format_sources import sources
from histeval.datasets.formats import FORMATS, MODELS, ImportReport
from histeval.datasets.formats import entries as entry_model
from histeval.datasets.formats import records as letter_model
from histeval.errors import DatasetError, MissingExtraError, UsageError
from support import examples


def _workbook() -> bytes:
    book = openpyxl.Workbook()
    for row in (["Nr", "Datum", "Absender"], [1, "3.4.1890", "Sá, Inês; Braga"], [2, 1890, None]):
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


TEI = (
    '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><correspDesc key="1"><correspAction type="sent"><persName '
    'ref="https://d-nb.info/gnd/118540238">Sá</persName><date when="1890"/></correspAction></correspDesc></teiHeader>'
    "</TEI>"
)
TASK = {"id": 1, "data": {"text": "ab cd"}, "annotations": [{"result": [
    {"type": "labels", "value": {"start": 0, "end": 2, "text": "ab", "labels": ["X"]}}]}]}  # fmt: skip
SAMPLES: dict[str, dict[str, bytes]] = {
    "conll": {"a.conll": b"# id = 1\n# text = a bc\na\tB-X\tO\nbc\tI-X\tB-Y\n\nd\tO\tO\n"},
    "hipe": {"a.tsv": b"TOKEN\tNE-COARSE-LIT\tNE-FINE-LIT\tMISC\n# document_id = 1\nab\tB-x\tB-x.y\tNoSpaceAfter\n"},
    "brat": {"a.ann": b"T1\tX 0 2;3 4\tab c\n#1\tNote T1\tx\nT2\tY 0 1\ta\n", "a.txt": b"ab cd"},
    "inline": {"a.txt": b"<A>a <B-C>b</B-C> &amp; c</A>\nd\n",
               "b.xml": b"<?xml version='1.0'?><x><entry id='1'><A>a</A> b</entry></x>"},
    "jsonl": {"a.jsonl": b'{"id": "1", "text": "ab", "spans": [{"type": "X", "start": 0, "end": 1}]}\n'
              b'{"xml": "<A>b</A>"}\n'},
    "doccano": {"a.jsonl": b'{"id": 1, "text": "ab", "label": [[0, 1, "X"]], "meta": {"p": 1}}\n'},
    "label_studio": {"a.json": json.dumps([TASK]).encode()},
    "spreadsheet": {"a.csv": "Nr;Datum;Absender\n1;3.4.1890;Sá\n".encode(), "b.xlsx": _workbook(),
                    "persons.csv": b"name,gnd,alternateName\nA,118540238,B;C\n"},
    "correspdesc": {"a.xml": TEI.encode()},
}  # fmt: skip
PIECES = (
    b"\t",
    b"\n",
    b"<",
    b'"',
    b"\x00",
    b"[",
    b"}",
    b"99999999999",
    b"-1",
    b"\xff",
    b"null",
    b"#",
    b"O",
    b"B-",
    b";",
)


def mutated(data: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for place, length, piece in edits:
        start = place % (len(data) + 1)
        data = data[:start] + piece + data[start + length :]
    return data


@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_read_or_refused(name: str, data: st.DataObject) -> None:
    chosen = data.draw(st.sampled_from(sorted(SAMPLES[name])))
    piece = st.sampled_from(PIECES) | st.binary(max_size=3)
    edits = data.draw(st.lists(st.tuples(st.integers(0, 1 << 14), st.integers(0, 6), piece), max_size=4))
    files: dict[str, str | bytes] = {**SAMPLES[name], chosen: mutated(SAMPLES[name][chosen], edits)}
    format = FORMATS[name]
    given = sources(files)
    for source in given:
        assert format.sniff(source) in (True, False)
    report = ImportReport(format.tasks[0], name)
    model = entry_model if MODELS[format.tasks[0]].endswith("entries") else letter_model
    try:
        documents = list(format.read(given, {}, report))
        assert isinstance(str(report), str)
        written = model.dataset_files(documents, "x", {}, report)
        assert "dataset.toml" in written
        assert all(isinstance(line["record"], dict) for line in model.answers(documents, {}, report))
    except (DatasetError, UsageError, MissingExtraError) as fault:
        if len(str(fault).splitlines()) != 1:
            raise AssertionError(f"not one line: {fault!r}") from fault
