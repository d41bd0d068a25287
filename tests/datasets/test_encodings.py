"""Files that are not what their name says, or not UTF-8: the message says what they are and what to do."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from histeval.datasets.transfer import import_dataset
from histeval.errors import DatasetError

TABLE = "Nr;Datum;Absender\n1;1931;Müller, Änne\n"


def packed(*names: str, first: bytes = b"") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        if first:
            archive.writestr("mimetype", first)
        for name in names:
            archive.writestr(name, "<x/>" * 100)
    return out.getvalue()


FILES: dict[str, tuple[str, str, bytes, tuple[str, ...]]] = {
    "windows-1252": ("letters", "a.csv", TABLE.encode("windows-1252"),
                     ("line 2: is not UTF-8", "--option encoding=windows-1252", "CSV UTF-8", "LibreOffice")),
    "UTF-16 of Excel": ("letters", "a.csv", TABLE.encode("utf-16"),
                        ("is UTF-16, not UTF-8", "--option encoding=utf-16", "CSV UTF-8")),
    "UTF-16 without a mark": ("letters", "a.txt", TABLE.encode("utf-16-le"), ("is UTF-16", "encoding=utf-16")),
    "a Word document": ("letters", "a.csv", packed("[Content_Types].xml", "word/document.xml"),
                        ("is a Word document (.docx)",)),
    "a workbook": ("letters", "a.csv", packed("[Content_Types].xml", "xl/workbook.xml"),
                   ("is an Excel workbook (.xlsx)", "Name it .xlsx")),
    "a Word document, named nothing": ("letters", "briefe", packed("word/document.xml"), ("is a Word document",)),
    "LibreOffice": ("letters", "a.csv", packed("c.xml", first=b"application/vnd.oasis.opendocument.spreadsheet"),
                    ("is an OpenDocument spreadsheet",)),
    "a PDF": ("manuscripts", "a.txt", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", ("is a PDF",)),
    "old Word": ("letters", "a.tsv", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(200), ("is a file of old Word",)),
    "RTF": ("directories", "a.txt", b"{\\rtf1\\ansi Hallo}", ("is a text with formats (.rtf)",)),
    "UTF-16 entries": ("directories", "a.txt", "Müller B-PER\n".encode("utf-16"), ("is UTF-16, not UTF-8",)),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_a_file_that_is_no_text_is_named(case: str, tmp_path: Path) -> None:
    task, name, data, sentences = FILES[case]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DatasetError) as fault:
        import_dataset(task, [tmp_path / name], tmp_path / "d")
    for sentence in sentences:
        assert sentence in str(fault.value)
    assert not (tmp_path / "d").exists()


def test_the_remedies_work(tmp_path: Path) -> None:
    for encoding in ("windows-1252", "utf-16", "utf-16-le"):
        (tmp_path / "a.csv").write_bytes(TABLE.encode(encoding))
        report = import_dataset("letters", [tmp_path / "a.csv"], tmp_path / encoding, options={"encoding": encoding})
        assert report.counts["letters"] == 1
