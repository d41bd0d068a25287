"""`init`: what is in a folder is said, what is missing is written, nothing is overwritten, unfilled truth waits."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from histeval.cli.app import run
from histeval.datasets import check, load_dataset
from histeval.datasets.initialise import initialise, is_unfilled, look
from histeval.datasets.settings import read_settings
from histeval.datasets.transfer import import_dataset
from histeval.errors import DatasetError, UsageError
from histeval.tasks import get_task
from transcription_samples import JPEG, transkribus_export

TASKS = ("letters", "manuscripts", "directories")


def scans(folder: Path, where: str = "images") -> Path:
    (folder / where).mkdir(parents=True)
    for name in ("box_1_p1.jpg", "box_1_p2.jpg", "box_2_p1.jpg"):
        (folder / where / name).write_bytes(JPEG)
    return folder


def everything(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("where", ["images", "."])
def test_scans_become_a_dataset_whose_documents_wait(task: str, where: str, tmp_path: Path) -> None:
    folder = scans(tmp_path / "my scans", where) if where != "." else tmp_path / "my scans"
    if where == ".":
        folder.mkdir()
        for name in ("box_1_p1.jpg", "box_1_p2.jpg", "box_2_p1.jpg"):
            (folder / name).write_bytes(JPEG)
    (folder / "texts").mkdir()
    (folder / "texts" / "leaf.txt").write_text("Roux, r. Noire\n\nBlanc, r. Verte\n", "utf-8")
    before = everything(folder)
    report = initialise(task, folder)
    assert "3 images of 2 documents (1 to 2 pages each)" in str(report)
    assert "1 texts, 0 files of truth" in str(report)
    assert len(report.next) == 3
    assert everything(folder).items() >= before.items()
    assert [fault for fault in check(task, folder) if fault.error] == []
    dataset = load_dataset(task, folder)
    assert dataset.name == "my_scans"
    assert all(document.truth is None for document in dataset.documents.values())
    if task == "directories":
        assert {key: document.text for key, document in dataset.documents.items()} == {
            "leaf_1": "Roux, r. Noire",
            "leaf_3": "Blanc, r. Verte",
        }
    else:
        assert {key: len(document.images) for key, document in dataset.documents.items()} == {"box_1": 2, "box_2": 1}
    # A second time nothing changes, and it is said.
    again, now = initialise(task, folder), everything(folder)
    assert now == everything(folder)
    assert again.written == ()
    assert "dataset.toml" in again.kept


def test_every_line_of_the_description_is_a_setting_that_is_known(tmp_path: Path) -> None:
    for task in TASKS:
        folder = scans(tmp_path / task)
        initialise(task, folder)
        text = (folder / "dataset.toml").read_text("utf-8")
        # The lines that are commented out are settings too: with them taken in, the file is still right.
        plain, found = re.subn(r"(?m)^# (?=\[|[\w-]+ = )", "", text)
        assert found >= 5
        (folder / "dataset.toml").write_text(plain, "utf-8")
        assert read_settings(folder) is not None


def test_what_exists_is_kept(tmp_path: Path) -> None:
    folder = scans(tmp_path / "scans")
    (folder / "dataset.toml").write_text('task = "letters"\nname = "mine"\n', "utf-8")
    (folder / "ground_truths").mkdir()
    (folder / "ground_truths" / "box_1.json").write_text('{"send_date": ["1890-01-02"]}', "utf-8")
    report = initialise("letters", folder)
    assert report.written == ()
    assert report.kept == ("dataset.toml",)
    assert report.notes == ("truth is there (box_1.json); nothing is added to it",)
    assert (folder / "dataset.toml").read_text("utf-8") == 'task = "letters"\nname = "mine"\n'


def test_filling_in_truth_makes_documents_count(tmp_path: Path) -> None:
    folder = scans(tmp_path / "scans")
    initialise("letters", folder)
    table = folder / "ground_truths" / "letters.csv"
    lines = table.read_text("utf-8").splitlines()
    assert lines[0] == "document,send_date,sender_persons,receiver_persons,has_signatures"
    lines[1] = "box_1,1890-01-02,Elder,None,TRUE"
    table.write_text("\n".join(lines), "utf-8")
    (folder / "ground_truths" / "persons.csv").write_text("name,alternateName\nElder,Mrs Elder\n", "utf-8")
    dataset = load_dataset("letters", folder)
    assert dataset.documents["box_1"].truth.fields["sender_persons"] == ("Elder",)
    assert dataset.documents["box_2"].truth is None
    assert any("1 letters have nothing filled in" in note for note in dataset.notes)
    assert [fault for fault in check("letters", folder) if fault.error] == []


def test_pages_that_are_filled_in_count_and_blank_ones_are_no_truth(tmp_path: Path) -> None:
    folder = scans(tmp_path / "scans")
    initialise("manuscripts", folder)
    page = folder / "ground_truths" / "box_1.json"
    page.write_text('{"folios": [{"folio": "", "text": ""}]}', "utf-8")  # a page that is really blank
    dataset = load_dataset("manuscripts", folder)
    assert dataset.documents["box_1"].truth is not None
    assert dataset.documents["box_2"].truth is None
    scorer = get_task("manuscripts").scorer(dataset.context, get_task("manuscripts").protocol())
    assert scorer.selects(dataset.documents["box_1"].truth)


def test_an_import_fills_what_waits(tmp_path: Path) -> None:
    folder = tmp_path / "scans"
    (folder / "images").mkdir(parents=True)
    for name in ("0001_harbour", "0002_harbour", "0003_harbour"):
        (folder / "images" / f"{name}.jpg").write_bytes(JPEG)
    initialise("manuscripts", folder)
    import_dataset("manuscripts", [transkribus_export(tmp_path)], folder)
    dataset = load_dataset("manuscripts", folder)
    assert [key for key, document in dataset.documents.items() if document.truth is not None] == [
        "0001_harbour",
        "0002_harbour",
    ]
    assert dataset.documents["0003_harbour"].truth is None


def test_letters_that_are_imported_count_before_the_table_to_fill_in(tmp_path: Path) -> None:
    folder = scans(tmp_path / "scans")
    initialise("letters", folder)
    table = tmp_path / "letters.csv"
    table.write_text("document,send_date,sender_persons\nbox_1,1890-01-02,None\n", "utf-8")
    import_dataset("letters", [table], folder)
    dataset = load_dataset("letters", folder)
    assert {key: document.truth is None for key, document in dataset.documents.items()} == {
        "box_1": False,
        "box_2": True,
    }
    assert [fault.file for fault in check("letters", folder) if "letters.csv" in fault.what] == []


@pytest.mark.parametrize("inner", [".", "texts"])
def test_texts_of_pages_become_the_truth(inner: str, tmp_path: Path) -> None:
    """Whoever has only transcriptions is led to import them; what comes out has no fault."""
    folder = tmp_path / "my pages"
    (folder / inner).mkdir(parents=True)
    for number in (1, 2):
        (folder / inner / f"page{number}.txt").write_text("Vnd ein pferit\n", encoding="utf-8")
    report = initialise("manuscripts", folder)
    assert not [note for note in report.notes if "image" in note]
    source, checked = (shlex.split(line) for line in report.next[:2])
    assert run(source[1:]) == 0
    assert run(checked[1:]) == 0
    assert len(load_dataset("manuscripts", folder).documents) == 2


def test_an_export_beside_the_images_is_pointed_out(tmp_path: Path) -> None:
    folder = scans(tmp_path / "scans")
    (folder / "page").mkdir()
    (folder / "page" / "a.xml").write_text("<x/>")
    report = initialise("manuscripts", folder)
    assert report.next[0].startswith("histeval import manuscripts ")
    assert report.next[0].endswith("page/a.xml --out " + str(folder))


@pytest.mark.parametrize(
    ("text", "unfilled"),
    [
        ("", True),
        ('{"folios": [{"folio": null, "text": null}]}', True),
        ('{"folios": [{"folio": null, "text": ""}]}', False),
        ('{"[3r]": [{"folio": "3", "text": "x"}]}', False),
        ("document,send_date\na,\nb,\n", True),
        ("document,send_date\na,1890\n", False),
        ("name,x\na,\n", False),
        ('{"id": "1", "text": "x", "spans": null}\n', True),
        ('{"id": "1", "text": "x", "spans": null}\n{"id": "2", "text": "x", "spans": []}\n', False),
        ("{broken", False),
        ("[" * 100_000, False),
    ],
)
def test_what_counts_as_not_filled_in(text: str, unfilled: bool) -> None:
    assert is_unfilled(text.encode()) == unfilled


def test_what_cannot_be_done_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no task 'letter'"):
        initialise("letter", tmp_path)
    with pytest.raises(DatasetError, match="there is no such folder"):
        initialise("letters", tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    with pytest.raises(DatasetError, match="is a file, not a folder"):
        initialise("letters", tmp_path / "file")


def test_a_manifest_beside_the_images_fills_the_description(tmp_path: Path) -> None:
    folder = scans(tmp_path / "scans")
    facts = {"manifest": "https://x.example/m.json", "label": 'A "book"', "rights": "https://x.example/by"}
    (folder / "iiif.json").write_text(json.dumps(facts), "utf-8")
    (folder / "canvases.csv").write_text("document,label\nbox_1,3r\n", "utf-8")
    initialise("manuscripts", folder)
    dataset = load_dataset("manuscripts", folder)
    description = dataset.description
    assert (description.title, description.source) == ('A "book"', "https://x.example/m.json")
    assert description.licence == "https://x.example/by"
    assert dataset.documents["box_1"].attributes["label"] == "3r"


def test_what_nothing_reads_is_named(tmp_path: Path) -> None:
    for name in ("solo.TIF", "scan.pdf", "notes.docx", "Thumbs.db", ".hidden", "Band 1/1.jpg", "Band 1/1.txt",
                 "Band 1/Desktop.ini", "Kasten 3/Band 2/1.jpg", "answers/run.json", "canvases.csv"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(JPEG)
    done = initialise("manuscripts", tmp_path)
    assert sorted(done.found.unread) == ["Band 1/1.txt", "Kasten 3/Band 2/", "notes.docx", "scan.pdf"]
    assert sorted(done.found.images) == ["Band 1", "solo"]
    assert "left alone, since nothing reads it: " in str(done)
    assert "save the pages of a PDF as images" in str(done)
    assert not look(tmp_path / "Band 1").unread


def test_a_folder_in_images_is_looked_into_alike(tmp_path: Path) -> None:
    for name in ("images/a_p1.jpg", "images/notes.rtf", "images/b/1.jpg", "images/b/more/2.jpg", "texts/a.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(JPEG)
    assert sorted(look(tmp_path).unread) == ["images/b/more/", "images/notes.rtf"]


@pytest.mark.parametrize("task", ["letters", "manuscripts", "directories"])
def test_an_empty_folder_says_what_to_put_into_it(task: str, tmp_path: Path) -> None:
    done = initialise(task, tmp_path)
    assert any("is there yet: put" in note for note in done.notes)


def test_check_says_that_entries_wait(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("Roux, r. Noire\nBayle, quai\n", encoding="utf-8")
    initialise("directories", tmp_path)
    (note,) = (fault for fault in check("directories", tmp_path) if "wait for their truth" in fault.what)
    assert not note.error
    assert note.what == "2 of 2 entries wait for their truth: spans is null (a_1, a_2)"
