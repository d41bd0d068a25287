"""Names that lead elsewhere, as document ids, files or members of archives: nothing outside is read or written."""

from __future__ import annotations

import io
import json
import stat
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from histeval.cli.app import run
from histeval.datasets import load_dataset
from histeval.datasets.fetch import Collection, SourceFile, fetch
from histeval.errors import DatasetError, HistevalError

NAMES = [
    "../../escape",
    "/tmp/escape",
    "a/../../../escape",
    "..",
    "C:\\escape",
    "..\\..\\escape",
    "a\x00b",
    "\u202e",
    "~",
]
MEMBERS = ["../../escape.txt", "/escape.txt", "a/../../../escape.txt", "C:/escape.txt", "..\\escape.txt"]
SECRET = "the secret of another folder"


def outside(tmp_path: Path, inside: str) -> set[str]:
    """All files that do not lie in the folder where a command was told to write."""
    return {
        item.relative_to(tmp_path).as_posix()
        for item in tmp_path.rglob("*")
        if item.is_file() and tmp_path / inside not in item.parents
    }


@pytest.fixture
def deep(tmp_path: Path) -> Path:
    """A folder far enough down that `..` stays in the folder of the test."""
    place = tmp_path / "a" / "b" / "c"
    place.mkdir(parents=True)
    (tmp_path / "secret.txt").write_text(SECRET)
    return place


def archive(path: Path, member: str | zipfile.ZipInfo, text: str = "ein hus\n") -> Path:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("page.txt", "vnd hof\n")
        file.writestr(member, text)
    return path


@pytest.mark.parametrize("member", MEMBERS)
def test_members_of_an_archive(tmp_path: Path, deep: Path, capsys: pytest.CaptureFixture[str], member: str) -> None:
    path = archive(deep / "pages.zip", member)
    before = outside(tmp_path, "a/b/c/out")
    assert run(["import", "manuscripts", str(path), "--out", str(deep / "out")]) == 2
    assert "leads out of its folder" in capsys.readouterr().err
    assert outside(tmp_path, "a/b/c/out") == before
    assert not (deep / "out").exists()


def test_a_link_in_an_archive(deep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    link = zipfile.ZipInfo("link.txt")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    path = archive(deep / "pages.zip", link, "../../../secret.txt")
    assert run(["import", "manuscripts", str(path), "--out", str(deep / "out")]) == 2
    assert "is a link" in capsys.readouterr().err


@pytest.mark.parametrize("member", MEMBERS)
def test_members_of_a_workbook(tmp_path: Path, deep: Path, member: str) -> None:
    """A workbook is read in memory: what else lies in it is not unpacked."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["Nr", "Datum", "Absender"])
    book.active.append(["1", "1890-04-03", "Amsler, Rosa"])
    book.save(deep / "letters.xlsx")
    with zipfile.ZipFile(deep / "letters.xlsx", "a") as file:
        file.writestr(member, SECRET)
    before = outside(tmp_path, "a/b/c/out")
    run(["import", "letters", str(deep / "letters.xlsx"), "--out", str(deep / "out")])
    assert outside(tmp_path, "a/b/c/out") == before


@pytest.mark.parametrize("member", MEMBERS)
def test_members_of_a_model(tmp_path: Path, deep: Path, member: str) -> None:
    from histeval.systems.taggers.folder import unpack_arrays

    packed = io.BytesIO()
    np.savez(packed, a=np.arange(3))
    with zipfile.ZipFile(packed, "a") as file:
        file.writestr(member, SECRET)
    before = outside(tmp_path, "nowhere")
    with suppress(HistevalError):
        unpack_arrays(packed.getvalue())
    assert outside(tmp_path, "nowhere") == before


@pytest.mark.parametrize("name", ["../../escape", "/escape", "benchmarks/../../escape", "a\\..\\escape", "C:/escape"])
def test_files_that_are_fetched(tmp_path: Path, deep: Path, name: str) -> None:
    collection = Collection("x", "r", "c", "http://127.0.0.1:1/{path}", (SourceFile(name, 1, "0" * 64),))
    before = outside(tmp_path, "a/b/c/out")
    with pytest.raises(DatasetError, match="leads out of its folder"):
        fetch(collection, deep / "out", str(tmp_path))
    assert outside(tmp_path, "a/b/c/out") == before


def conll(name: str) -> str:
    return f"# id = {name}\na\tB-X\tO\n"


IMPORTED: dict[str, tuple[str, str, Callable[[str], str]]] = {
    "entries by id": ("directories", "a.conll", conll),
    "entries as JSON": ("directories", "a.jsonl", lambda name: json.dumps({"id": name, "text": "ab", "spans": []})),
    "rows of a table": ("letters", "a.csv", lambda name: f"Nr;Datum;Absender\n{name};1890-04-03;Amsler\n"),
    "letters of an edition": ("letters", "a.xml", lambda name: (
        f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><correspDesc key="{name}"><correspAction type="sent">'
        "<persName>S</persName></correspAction></correspDesc></teiHeader></TEI>"
    )),
    "pages of an edition": ("manuscripts", "a.xml", lambda name: (
        f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/><text><body><pb n="{name}" facs="{name}"/><p>ein hus</p>'
        "</body></text></TEI>"
    )),
    "an image name": ("manuscripts", "a.xml", lambda name: (
        '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"><Page imageFilename='
        f'"{name}"><TextRegion id="r"><TextEquiv><Unicode>hus</Unicode></TextEquiv></TextRegion></Page></PcGts>'
    )),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", IMPORTED)
def test_ids_of_what_is_imported(
    tmp_path: Path, deep: Path, capsys: pytest.CaptureFixture[str], kind: str, name: str
) -> None:
    """The dataset lies in its folder, is read again, and is written in another format into its folder."""
    task, file, text = IMPORTED[kind]
    (deep / file).write_text(text(name), encoding="utf-8")
    before = outside(tmp_path, "a/b/c/out")
    status = run(["import", task, str(deep / file), "--out", str(deep / "out")])
    said = capsys.readouterr().err
    assert status in (0, 2)
    assert said.count("histeval: ") == (1 if status else 0)
    assert "a fault of Histeval" not in said
    assert outside(tmp_path, "a/b/c/out") == before
    if status:
        return
    found = load_dataset(task, deep / "out")
    for document in found.documents.values():
        assert all(deep / "out" in image.resolve().parents for image in document.images)
    form = {"directories": "brat", "manuscripts": "page", "letters": "spreadsheet"}[task]
    before = outside(tmp_path, "a/b/c/more")
    assert run(["export", task, str(deep / "out"), "--format", form, "--out", str(deep / "more" / "x")]) in (0, 2)
    assert "a fault of Histeval" not in capsys.readouterr().err
    assert outside(tmp_path, "a/b/c/more") == before
