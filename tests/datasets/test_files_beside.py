"""What lies beside the files of an import (a log, a README), and files whose content no format knows."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from histeval.datasets.transfer import import_answers, import_dataset
from histeval.errors import DatasetError
from transcription_samples import page_xml, region

CONLL = "Hans B-PER\nKern I-PER\n, O\nBasel B-LOC\n"
LETTERS = "Signatur,Datum,Absender\nA1,1890-01-01,Kern\n"
ENTRY = json.dumps({"id": "a", "text": "Roux", "spans": [{"type": "PER", "start": 0, "end": 4}]})
BESIDE = {
    "the log of a Transkribus export": (
        "manuscripts",
        {
            "export_job_1/1/book/page/0001.xml": page_xml(region("r1", "paragraph", "eins")),
            "export_job_1/log.txt": b"ok",
        },
        "a file that is no PAGE XML",
    ),
    "a README beside columns": (
        "directories",
        {"x/a.conll": CONLL.encode(), "x/README.txt": b"My corpus, made by me.\n", "x/LICENSE": b"MIT\n"},
        "a file that is no conll",
    ),
    "a README beside lines of JSON": (
        "directories",
        {"x/a.jsonl": ENTRY.encode(), "x/README.md": b"# My corpus\n"},
        "a file that is no jsonl",
    ),
    "a PDF beside a table": (
        "letters",
        {"x/letters.csv": LETTERS.encode(), "x/notes.pdf": b"%PDF-1.7"},
        "a file that is no spreadsheet",
    ),
}


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
@pytest.mark.parametrize("name", BESIDE)
def test_files_of_nothing_beside_those_of_a_format_are_left_out_and_named(
    name: str, packed: bool, tmp_path: Path
) -> None:
    task, files, words = BESIDE[name]
    source = tmp_path / "source"
    for path, data in files.items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_bytes(data)
    if packed:
        with zipfile.ZipFile(tmp_path / "source.zip", "w") as archive:
            for path, data in files.items():
                archive.writestr(path, data)
        source = tmp_path / "source.zip"
    for report in (
        import_dataset(task, [source], tmp_path / "out"),
        import_answers(task, [source], tmp_path / "answers.jsonl"),
    ):
        left_out = [Path(item).name for item in report.left_out[words]]
        assert left_out == sorted(Path(path).name for path in list(files)[1:])


def test_a_damaged_file_called_as_the_others_is_no_companion(tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text(CONLL, encoding="utf-8")
    (tmp_path / "b.conll").write_text("nothing of the kind\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"b\.conll.*has no column of labels"):
        import_dataset("directories", [tmp_path], tmp_path / "out")


def test_texts_of_brat_with_angle_brackets_are_brat(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "5.txt").write_text("a <b>&amp;</b>", encoding="utf-8")
    (tmp_path / "source" / "5.ann").write_text("T1\tA 0 1\ta\n", encoding="utf-8")
    report = import_dataset("directories", [tmp_path / "source"], tmp_path / "out")
    assert (report.format, report.counts["entities"]) == ("brat", 1)


def test_two_formats_of_pages_are_still_a_question(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(page_xml(region("r1", "paragraph", "eins")))
    (tmp_path / "b.xml").write_bytes(b'<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout/></alto>')
    with pytest.raises(DatasetError, match="Import them one after the other"):
        import_dataset("manuscripts", [tmp_path], tmp_path / "out")


UNKNOWN = {
    "brat with a malformed line": (
        "directories",
        "a.ann",
        b"T1\tPER 0 4\tHans\nT2 kaputt\n",
        "line 2: is no annotation",
    ),
    "half a line of JSON": ("directories", "a.jsonl", b'{"text": "x", "spans": [{"type": "P', "line 1: is not JSON"),
    "half a JSON file": ("directories", "a.json", b'[{"data": {"text": "x"}, "annot', "is not JSON"),
    "a workbook that is none": ("letters", "a.xlsx", b"\x00\x01 nothing", "is no workbook"),
    "a table with NUL": ("letters", "a.csv", b"Signatur,Datum\nA\x001,1890\n", "is a binary file"),
    "TEI P4": ("manuscripts", "a.xml", b"<TEI.2><text/></TEI.2>", "its first element is TEI.2 without a namespace"),
    "HTML": (
        "letters",
        "a.xml",
        b'<html xmlns="http://w.example/"/>',
        "its first element is html of http://w.example/",
    ),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_no_format_knows_is_told_by_what_is_wrong_with_it(name: str, tmp_path: Path) -> None:
    task, file, data, words = UNKNOWN[name]
    (tmp_path / file).write_bytes(data)
    (tmp_path / "a.txt").write_text("Hans", encoding="utf-8")
    for format in (None, "brat") if file.endswith(".ann") else (None,):
        with pytest.raises(DatasetError, match=words):
            import_dataset(task, [tmp_path / file, *([tmp_path / "a.txt"] if format or file.endswith("ann") else [])],
                           tmp_path / "out", format)  # fmt: skip
        assert not (tmp_path / "out").exists()
