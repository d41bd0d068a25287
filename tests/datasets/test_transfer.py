"""Import and export of pages: foreign exports become datasets and answers; hostile ones leave nothing behind."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.datasets import check, load_dataset
from histeval.datasets.transfer import export_dataset, import_answers, import_dataset
from histeval.errors import DatasetError, HistevalError, OutputError, UsageError
from histeval.runs.score import score_paths
from histeval.tasks import get_task
from support import DATA, examples, needs_data
from transcription_samples import (
    JPEG,
    alto_xml,
    block,
    edition,
    escriptorium_export,
    hocr,
    hocr_block,
    hocr_line,
    page_xml,
    region,
    tei,
    transkribus_export,
)


def everything(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def truths(folder: Path) -> dict[str, Any]:
    return {path.stem: json.loads(path.read_text("utf-8")) for path in (folder / "ground_truths").glob("*.json")}


FOREIGN: dict[str, tuple[Callable[[Path], Path], dict[str, str], int]] = {
    "Transkribus": (
        transkribus_export,
        {
            "0001_harbour": "Item der schiffman sol\ndas ſeil bewaren\n",
            "0002_harbour": "vnd ſol es nit\nverderben laſſen",
        },
        2,
    ),
    "eScriptorium": (
        escriptorium_export,
        {"leaf_12": "שלום לכל\nקורא זה", "leaf_13": "benedicite\nꝓ omnibus ⁊ singulis"},
        2,
    ),
    "TEI": (
        edition,
        {
            "rope_3r": "Von dem ſeil\nItem dz ſeil\nſol sin sin lang ſtark\nvnd [...] guot",
            "rope_3v": "wer es nimet\nder ſol es geben",
        },
        0,
    ),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_from_a_foreign_export_to_scores_without_code(name: str, tmp_path: Path) -> None:
    make, texts, images = FOREIGN[name]
    export = make(tmp_path)
    report = import_dataset("transcription", [export], tmp_path / "mine")
    assert report.counts["pages"] == 2
    assert [fault for fault in check("manuscripts", tmp_path / "mine") if fault.error] == []
    dataset = load_dataset("manuscripts", tmp_path / "mine")
    found = {key: doc.truth.folios[0][1]["text"] for key, doc in dataset.documents.items()}
    assert found == texts
    assert sum(len(document.images) for document in dataset.documents.values()) == images
    # The same files as answers are without fault; one letter changed is seen.
    import_answers("manuscripts", [export], tmp_path / "same.jsonl", dataset=dataset)
    lines = (tmp_path / "same.jsonl").read_text("utf-8").splitlines()
    first = json.loads(lines[0])
    first["record"]["folios"][0]["text"] = "?" + first["record"]["folios"][0]["text"][1:]
    (tmp_path / "other.jsonl").write_text("\n".join([json.dumps(first), *lines[1:]]), "utf-8")
    same, other = score_paths(
        get_task("manuscripts"), dataset, [tmp_path / "same.jsonl", tmp_path / "other.jsonl"], "documented"
    )
    assert (same.values["fuzzy"], same.values["cer"], same.failed) == (1.0, 0.0, 0)
    assert other.values["cer"] is not None
    assert other.values["cer"] > 0


def test_the_report_names_what_was_repaired_and_left_out(tmp_path: Path) -> None:
    report = import_dataset("manuscripts", [transkribus_export(tmp_path)], tmp_path / "mine")
    assert str(report).splitlines()[1:] == [
        "repaired: a line without text kept as an empty line (0001_harbour: r2l2)",
        "repaired: a region outside the reading order, put after the others by position (0002_harbour: r2)",
        "left out: 2 x a file that is no PAGE XML (export_harbour/4711/harbour_book/metadata.xml, "
        "export_harbour/4711/harbour_book/mets.xml)",
    ]
    assert report.counts == {"pages": 2, "regions": 5, "lines": 8, "images": 2}
    assert truths(tmp_path / "mine")["0001_harbour"] == {
        "folios": [
            {"folio": "17", "text": "Item der schiffman sol\ndas ſeil bewaren\n", "addition1": "nota bene"},
        ]
    }


def test_rules_in_dataset_toml_say_where_regions_go(tmp_path: Path) -> None:
    export, mine = transkribus_export(tmp_path), tmp_path / "mine"
    mine.mkdir()
    settings = 'task = "manuscripts"\n[import]\nlevel = "line"\n[import.regions]\nmarginalia = "text"\n'
    (mine / "dataset.toml").write_text(settings, "utf-8")
    report = import_dataset("manuscripts", [export], mine, options={"regions.page-number": "leave_out"})
    assert "dataset.toml was there and is kept as it is" in report.notes
    assert (mine / "dataset.toml").read_text("utf-8") == settings
    folio = truths(mine)["0001_harbour"]["folios"][0]
    assert folio == {"folio": "", "text": "Item der schiffman sol\ndas ſeil bewaren\n\nnota bene"}


def test_images_that_are_missing_or_not_named_are_said(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "a.xml").write_bytes(page_xml(region("r", "", "x"), image="gone.jpg"))
    (folder / "stray.jpg").write_bytes(JPEG)
    report = import_dataset("manuscripts", [folder], tmp_path / "mine")
    assert report.left_out == {
        "an image that a page names and that is not there": ["a: gone.jpg"],
        "an image that no page names": ["export/stray.jpg"],
    }
    # --no-images looks at none
    report = import_dataset("manuscripts", [folder], tmp_path / "other", with_images=False)
    assert not report.left_out
    assert not (tmp_path / "other" / "images").exists()


def test_answers_for_documents_that_are_not_there_are_named(tmp_path: Path) -> None:
    export = escriptorium_export(tmp_path)
    import_dataset("manuscripts", [export / "leaf_12.xml"], tmp_path / "mine")
    dataset = load_dataset("manuscripts", tmp_path / "mine")
    report = import_answers("manuscripts", [export], tmp_path / "a.jsonl", dataset=dataset)
    assert report.repaired == {"an answer for a document that mine does not have": ["leaf_13"]}
    with pytest.raises(OutputError, match="is there already"):
        import_answers("manuscripts", [export], tmp_path / "a.jsonl")


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    for book in ("a", "b"):
        (tmp_path / "all" / book / "page").mkdir(parents=True)
        (tmp_path / "all" / book / "page" / "0001.xml").write_bytes(page_xml(region("r", "", book)))
    import_dataset("manuscripts", [tmp_path / "all"], tmp_path / "mine")
    assert {key: value["folios"][0]["text"] for key, value in truths(tmp_path / "mine").items()} == {
        "a_0001": "a",
        "b_0001": "b",
    }


def test_truth_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    export, mine = transkribus_export(tmp_path), tmp_path / "mine"
    import_dataset("manuscripts", [export], mine)
    before = everything(mine)
    import_dataset("manuscripts", [export], mine)  # the same once more changes nothing
    assert everything(mine) == before
    (mine / "ground_truths" / "0002_harbour.json").write_text('{"folios": [{"folio": "", "text": "mine"}]}', "utf-8")
    (mine / "ground_truths" / "0001_harbour.json").unlink()
    before = everything(mine)
    with pytest.raises(OutputError, match=r"0002_harbour\.json is there already"):
        import_dataset("manuscripts", [export], mine)
    assert everything(mine) == before


PAGE = page_xml(region("r", "", "x"))


def zipped(*members: tuple[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return stream.getvalue()


def twice_zip() -> bytes:
    return zipped(("a.xml", PAGE), ("b.xml", PAGE)).replace(b"b.xml", b"a.xml")


def lying_zip() -> bytes:
    """An archive whose directory says that a file is smaller than it is."""
    data = bytearray(zipped(("a.xml", page_xml(region("r", "", "x" * 500)))))
    entry = data.index(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (100).to_bytes(4, "little")
    return bytes(data)


def encrypted_zip() -> bytes:
    data = bytearray(zipped(("a.xml", page_xml(""))))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


HOSTILE: dict[str, tuple[dict[str, bytes], str]] = {
    "a zip bomb": ({"a.zip": zipped(("a.xml", b"<a>" + bytes(80_000_000)))}, "unpacks from"),
    "a path out of the archive": ({"a.zip": zipped(("../../a.xml", PAGE))}, "leads out of its folder"),
    "an absolute path": ({"a.zip": zipped(("/etc/a.xml", PAGE))}, "leads out of its folder"),
    "a file twice": ({"a.zip": twice_zip()}, "stands twice in the archive"),
    "a damaged archive": ({"a.zip": zipped(("a.xml", PAGE))[:-40]}, "it is damaged or no zip archive"),
    "no archive at all": ({"a.zip": b"hello"}, "it is damaged or no zip archive"),
    "an archive that lies": ({"a.zip": lying_zip()}, "than the archive says|is damaged"),
    "an encrypted archive": ({"a.zip": encrypted_zip()}, "is encrypted"),
    "an empty archive": ({"a.zip": zipped()}, "holds no file to import"),
    "files of two formats": ({"a.xml": PAGE, "b.xml": alto_xml("")}, r"is alto, and source/a\.xml is page"),
    "a page that is empty": ({"a.xml": PAGE, "b.xml": b""}, "b.xml: is empty"),
    "a page that is no XML": ({"a.xml": PAGE, "b.xml": b"Item ein hus"}, "b.xml.*is not well-formed XML"),
    "only binary files": ({"a.bin": bytes(100)}, "in no format that manuscripts can be read from"),
    "a good page and a bad one": ({"a.xml": PAGE, "b.xml": PAGE[:-9]}, "b.xml.*is not well-formed XML"),
    "two pages of an edition with one name": (
        {"a.xml": tei('<pb n="1"/><p>x</p><pb n="1"/><p>y</p>')},
        "has a second page '1'",
    ),
    "a text in Latin-1": ({"a.txt": "Grüße".encode("latin-1")}, "is not UTF-8"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_and_damaged_files_leave_nothing_behind(name: str, tmp_path: Path) -> None:
    files, words = HOSTILE[name]
    folder = tmp_path / "source"
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    sources = [folder / path for path in files] if any(path.endswith(".zip") for path in files) else [folder]
    before = everything(tmp_path)
    for kind in (import_dataset, import_answers):
        with pytest.raises(DatasetError, match=words) as caught:
            kind("manuscripts", sources, tmp_path / "out.jsonl")
        assert "\n" not in str(caught.value)
        assert str(tmp_path) in str(caught.value)
        assert everything(tmp_path) == before
        assert not (tmp_path / "out.jsonl").exists()


def test_two_documents_with_one_id(tmp_path: Path) -> None:
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.xml").write_bytes(PAGE)
    with pytest.raises(DatasetError, match=r"is a second page a \(the first is in .*a\.xml\)"):
        import_dataset("manuscripts", [tmp_path / "x" / "a.xml", tmp_path / "y" / "a.xml"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("no format 'docx'", {"format": "docx"}),
        ("has no option 'colour'", {"options": {"colour": "red"}}),
        ("level of page takes region or line or word", {"options": {"level": "book"}}),
        ("regions.header takes text or folio", {"options": {"regions.header": "top"}}),
    ],
)
def test_wrong_options_are_one_sentence(words: str, call: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(page_xml(region("r", "header", "x")))
    with pytest.raises(UsageError, match=words):
        import_dataset("manuscripts", [tmp_path / "a.xml"], tmp_path / "out", **call)
    assert not (tmp_path / "out").exists()


def test_a_format_that_the_files_are_not(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(PAGE)
    with pytest.raises(DatasetError, match="is not ALTO XML 2 to 4"):
        import_dataset("manuscripts", [tmp_path / "a.xml"], tmp_path / "out", "alto")


def test_a_folder_that_cannot_be_written_is_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    export, mine = transkribus_export(tmp_path), tmp_path / "mine"
    mine.mkdir()
    (mine / "keep.txt").write_text("x")
    import os

    real, calls = os.replace, []

    def replace(source: Any, target: Any) -> None:
        calls.append(target)
        if str(target).endswith("0002_harbour.json"):
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr("histeval.datasets.transfer.os.replace", replace)
    with pytest.raises(OutputError, match="the disk is full"):
        import_dataset("manuscripts", [export], mine)
    assert calls
    assert everything(mine) == {"keep.txt": b"x"}
    assert sorted(path.name for path in mine.iterdir()) == ["keep.txt"]


TEXT = st.text(st.sampled_from("ab \n\t<&\"'éſ\u0301\ue5b4א"), max_size=30)
FOLIOS = st.fixed_dictionaries({"folio": st.text(st.sampled_from("12rv "), max_size=4), "text": TEXT})
DATASETS = st.dictionaries(
    st.sampled_from(("a", "b1", "c-2", "Ä")), st.tuples(FOLIOS, st.lists(TEXT, max_size=3)), min_size=1, max_size=3
)


@settings(max_examples=examples(25), deadline=None)
@given(DATASETS)
def test_a_dataset_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, pages: dict[str, Any]) -> None:
    folder = tmp_path_factory.mktemp("round")
    mine = folder / "mine"
    (mine / "ground_truths").mkdir(parents=True)
    (mine / "dataset.toml").write_text('task = "manuscripts"\n', "utf-8")
    for name, (fields, additions) in pages.items():
        record = {**fields, **{f"addition{n}": text for n, text in enumerate(additions, 1)}}
        (mine / "ground_truths" / f"{name}.json").write_text(json.dumps({"folios": [record]}), "utf-8")
    dataset = load_dataset("manuscripts", mine)
    for format in ("page", "alto"):
        report = export_dataset(dataset, format, folder / format)
        assert list(report.lost) == ["positions of regions and lines: made up"]
        import_dataset("manuscripts", [folder / format], folder / f"{format}_back")
        back = load_dataset("manuscripts", folder / f"{format}_back")
        assert {key: doc.truth for key, doc in back.documents.items()} == {
            key: doc.truth for key, doc in dataset.documents.items()
        }
        assert back.fingerprint == dataset.fingerprint
    report = export_dataset(dataset, "plain", folder / "plain")
    told = {place for ids in report.lost.values() for place in ids}
    for name, (fields, additions) in pages.items():
        assert (folder / "plain" / f"{name}.txt").read_text("utf-8").removesuffix("\n") == fields["text"].removesuffix(
            "" if fields["text"] else "\n"
        )
        assert (f"{name}: folio" in told) == bool(fields["folio"])
        assert all(f"{name}: addition{n}" in told for n, _ in enumerate(additions, 1))


def test_what_an_edition_calls_a_page_survives_page_xml(tmp_path: Path) -> None:
    import_dataset("manuscripts", [edition(tmp_path)], tmp_path / "mine")
    dataset = load_dataset("manuscripts", tmp_path / "mine")
    export_dataset(dataset, "page", tmp_path / "page")
    import_dataset("manuscripts", [tmp_path / "page"], tmp_path / "back")
    assert truths(tmp_path / "back") == truths(tmp_path / "mine")
    report = export_dataset(dataset, "alto", tmp_path / "alto")
    assert report.lost["what the edition calls the page"] == ["rope_3r", "rope_3v"]


def test_answers_are_exported_as_they_are_read(tmp_path: Path) -> None:
    import_dataset("manuscripts", [escriptorium_export(tmp_path)], tmp_path / "mine")
    dataset = load_dataset("manuscripts", tmp_path / "mine")
    records = {"leaf_12": ({"folio": "12", "text": "eins\nzwei", "addition1": "x"},), "leaf_13": (None,)}
    report = export_dataset(dataset, "page", tmp_path / "out", answers=records)
    assert report.counts["pages"] == 2
    import_answers("manuscripts", [tmp_path / "out"], tmp_path / "back.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "back.jsonl").read_text("utf-8").splitlines()]
    assert lines == [
        {"document": "leaf_12", "record": {"folios": [records["leaf_12"][0]]}},
        {"document": "leaf_13", "record": {"folios": [{"folio": "", "text": ""}]}},
    ]


def test_exports_never_overwrite(tmp_path: Path) -> None:
    import_dataset("manuscripts", [edition(tmp_path)], tmp_path / "mine")
    dataset = load_dataset("manuscripts", tmp_path / "mine")
    with pytest.raises(OutputError, match="is there already and not empty"):
        export_dataset(dataset, "page", tmp_path / "mine")
    with pytest.raises(UsageError, match="the format tei is only read; written are page, alto, plain"):
        export_dataset(dataset, "tei", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_output_of_tesseract_is_an_answer(tmp_path: Path) -> None:
    (tmp_path / "street.hocr").write_bytes(hocr(hocr_block("b", hocr_line("l", "Roux,", "3"))))
    import_answers("transcription", [tmp_path / "street.hocr"], tmp_path / "a.jsonl")
    assert json.loads((tmp_path / "a.jsonl").read_text("utf-8")) == {
        "document": "street",
        "record": {"folios": [{"folio": "", "text": "Roux, 3"}]},
    }


@settings(max_examples=examples(60), deadline=None)
@given(st.sampled_from(("page", "alto", "tei", "hocr")), st.data())
def test_damaged_bytes_are_read_or_refused_in_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, kind: str, data: st.DataObject
) -> None:
    samples = {
        "page": PAGE,
        "alto": alto_xml(block("b", "BT1", "x")),
        "tei": tei('<pb n="1"/><p>x</p>'),
        "hocr": hocr(hocr_block("b", hocr_line("l", "x"))),
    }
    damaged = bytearray(samples[kind])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(damaged) - 1))
        damaged[place : place + data.draw(st.integers(0, 5))] = data.draw(st.binary(max_size=4))
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "a.xml").write_bytes(bytes(damaged))
    said = ""
    try:
        import_dataset("manuscripts", [folder / "a.xml"], folder / "out")
    except HistevalError as fault:
        said = str(fault)
    assert "\n" not in said
    assert (folder / "out").exists() == (not said)
    if not said:
        load_dataset("manuscripts", folder / "out")


@needs_data
@pytest.mark.data
def test_the_published_pages_come_back_from_page_xml(tmp_path: Path) -> None:
    dataset = load_dataset("manuscripts", DATA / "rise" / "benchmarks" / "medieval_manuscripts")
    report = export_dataset(dataset, "page", tmp_path / "page")
    import_dataset("manuscripts", [tmp_path / "page"], tmp_path / "back")
    back = load_dataset("manuscripts", tmp_path / "back")
    assert list(report.lost) == ["positions of regions and lines: made up"]
    # By reference and fields: a page keeps what the edition calls it, and its empty additions.
    assert {key: document.truth for key, document in back.documents.items()} == {
        key: document.truth for key, document in dataset.documents.items()
    }
