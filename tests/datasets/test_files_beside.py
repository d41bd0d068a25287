"""What lies beside the files of an import (a log, a README), and files whose content no format knows."""

from __future__ import annotations

import ast
import json
import zipfile
from pathlib import Path

import pytest

import histeval.datasets
from histeval.datasets.transfer import import_answers, import_dataset
from histeval.errors import DatasetError
from transcription_samples import JPEG, page_xml, region

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


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
def test_of_images_with_one_name_the_one_beside_the_page_is_its_image(packed: bool, tmp_path: Path) -> None:
    """An export of several documents, as Transkribus makes it: every document has its 0001.jpg."""
    image = {name: JPEG + name.encode() for name in ("A", "B")}
    files = {f"job/{name}/0001_harbour.jpg": data for name, data in image.items()}
    files |= {f"job/{name}/page/0001.xml": page_xml(region("r1", "paragraph", name)) for name in image}
    source = tmp_path / "source"
    for path, data in files.items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_bytes(data)
    if packed:
        with zipfile.ZipFile(tmp_path / "source.zip", "w") as archive:
            for path, data in files.items():
                archive.writestr(path, data)
        source = tmp_path / "source.zip"
    report = import_dataset("manuscripts", [source], tmp_path / "out")
    assert report.left_out == {}
    for name, data in image.items():
        assert (tmp_path / "out" / "images" / f"{name}_0001.jpg").read_bytes() == data


def test_of_images_equally_near_none_is_taken(tmp_path: Path) -> None:
    for path in ("a/0001_harbour.jpg", "b/0001_harbour.jpg"):
        (tmp_path / "x" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "x" / path).write_bytes(JPEG)
    (tmp_path / "x" / "0001.xml").write_bytes(page_xml(region("r1", "paragraph", "x")))
    report = import_dataset("manuscripts", [tmp_path / "x"], tmp_path / "out")
    assert "an image whose name two files have" in report.left_out


def test_every_fault_of_a_foreign_file_has_a_remedy() -> None:
    """In the code that reads what others wrote no DatasetError is raised without what to do about it."""
    rooms = Path(histeval.datasets.__file__).parent
    paths = [
        *(rooms / "formats").glob("*.py"),
        *(rooms / f"{name}.py" for name in ("transfer", "sources", "manifests")),
    ]
    raised = 0
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "DatasetError":
                raised += 1
                assert "remedy" in [keyword.arg for keyword in node.keywords], f"{path.name}, line {node.lineno}"
    assert raised > 80
