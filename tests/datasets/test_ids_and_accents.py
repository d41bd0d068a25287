"""Ids and names that look the same are the same: accents stored as two signs (a Mac), blanks in file names."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataset_samples import LETTER, PERSONS, WHOLE
from histeval.datasets import check, initialise, load_dataset
from histeval.datasets.identity import DocumentIds, composed, without_blanks
from histeval.datasets.transfer import import_answers, import_dataset
from support import examples

TOML = 'task = "manuscripts"\nname = "x"\nlicence = "CC0"\nlanguages = ["cs"]\n'
PAGE = {"folios": [{"folio": "", "text": "Ahoj"}]}
JPEG = b"\xff\xd8\xff\xe0 a page \xff\xd9"
FORMS = ("NFC", "NFD")


def stored(text: str, form: str) -> str:
    return unicodedata.normalize(form, text)  # type: ignore[arg-type]


@pytest.mark.parametrize("truth", FORMS)
@pytest.mark.parametrize("image", FORMS)
def test_images_belong_to_their_documents_however_accents_are_stored(make: Any, truth: str, image: str) -> None:
    names = [stored(name, image) for name in ("images/Köln 2.jpg", "images/Žďár_p1.jpg", "images/Žďár_p2.jpg")]
    truths = [stored(name, truth) for name in ("Köln 2", "Žďár")]
    folder = make({"dataset.toml": TOML, **dict.fromkeys(names, JPEG),
                   **{f"ground_truths/{name}.json": PAGE for name in truths}})  # fmt: skip
    found = load_dataset("manuscripts", folder)
    assert {name: len(document.images) for name, document in found.documents.items()} == dict(
        zip(truths, (1, 2), strict=True)
    )
    faults = check("manuscripts", folder)
    assert [fault for fault in faults if fault.error] == []
    differ = [fault for fault in faults if "differs only in how accents are stored" in fault.what]
    assert len(differ) == (3 if truth != image else 0)
    assert all("Rename" in fault.remedy for fault in differ)


def test_pages_stored_in_both_ways_are_one_document(make: Any) -> None:
    files = {stored("images/Köln_p1.jpg", "NFC"): JPEG, stored("images/Köln_p2.jpg", "NFD"): JPEG}
    found = load_dataset("manuscripts", make({"dataset.toml": TOML, **files}))
    assert {name: len(document.images) for name, document in found.documents.items()} == {"Köln": 2}


def test_two_documents_that_look_the_same_are_a_fault(make: Any) -> None:
    names = [f"ground_truths/{stored('Köln', form)}.json" for form in FORMS]
    faults = check("manuscripts", make({"dataset.toml": TOML, **dict.fromkeys(names, PAGE)}))
    assert sum("stands a second time" in fault.what for fault in faults if fault.error) == 1


def test_a_person_stored_otherwise_is_named_as_such(make: Any) -> None:
    persons = json.loads(json.dumps(PERSONS))
    name = "Müller, Änne"
    persons.append({"name": stored(name, "NFD"), "alternateName": [], "identifier": []})
    letter = {**LETTER, "sender_persons": [name]}
    paths = [path for path in WHOLE["letters"] if path.endswith(("letter01.json", "persons.json"))]
    one, people = sorted(paths)
    faults = check("letters", make("letters", {one: letter, people: persons}))
    about = [fault for fault in faults if "Müller" in composed(fault.what + fault.item)]
    (fault,) = [fault for fault in about if fault.error]
    assert "differs only in how accents are stored" in fault.what
    assert "Copy the name" in fault.remedy
    assert not any("occurs in no letter" in fault.what for fault in about)


@pytest.mark.parametrize(("letters", "persons"), [("NFD", "NFC"), ("NFC", "NFD")])
def test_an_import_stores_accents_in_one_way(tmp_path: Path, letters: str, persons: str) -> None:
    (tmp_path / "briefe.csv").write_text(
        stored("Nr;Absender;Empfänger\nKöln 1;Müller, Änne;Sá, Inês\n", letters), encoding="utf-8"
    )
    (tmp_path / "personen.csv").write_text(
        stored("Name;Namensvarianten\nMüller, Änne;Ä. Müller\nSá, Inês;\n", persons), encoding="utf-8"
    )
    report = import_dataset("letters", [tmp_path / "briefe.csv", tmp_path / "personen.csv"], tmp_path / "d")
    assert [fault for fault in check("letters", tmp_path / "d") if fault.error] == []
    assert list(load_dataset("letters", tmp_path / "d").documents) == ["Köln 1"]
    assert report.repaired["accents stored as two signs (as on a Mac), now as one"]


NAMES = ("strana č 1", "strana č 2", "Köln: 3")


def transcriptions(folder: Path, name: str) -> list[Path]:
    folder.mkdir(exist_ok=True)
    for text in ("strana č 1", "strana č 2"):
        (folder / f"{stored(text, name)}.txt").write_text("Ahoj\n", encoding="utf-8")
    return [folder]


@pytest.mark.parametrize("image", FORMS)
@pytest.mark.parametrize("text", FORMS)
def test_answers_and_truth_find_the_ids_that_init_made(make: Any, tmp_path: Path, image: str, text: str) -> None:
    folder = make({f"images/{stored(name, image)}.jpg": JPEG for name in NAMES[:2]})
    initialise("manuscripts", folder)
    data = load_dataset("manuscripts", folder)
    report = import_answers("manuscripts", transcriptions(tmp_path / "t", text), tmp_path / "a.jsonl", dataset=data)
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text("utf-8").splitlines()]
    assert [line["document"] for line in lines] == list(data.documents)
    assert not any("does not have" in what for what in report.repaired)
    import_dataset("manuscripts", transcriptions(tmp_path / "t", text), folder)
    again = load_dataset("manuscripts", folder)
    found = {name: (document.truth is not None, len(document.images)) for name, document in again.documents.items()}
    assert found == dict.fromkeys(NAMES[:2], (True, 1))


def test_answers_that_fit_two_documents_fit_none(make: Any, tmp_path: Path) -> None:
    names = ("a b", "a  b")
    data = load_dataset("manuscripts", make({"dataset.toml": TOML, **{f"images/{name}.jpg": JPEG for name in names}}))
    (tmp_path / "a_b.txt").write_text("x", encoding="utf-8")
    report = import_answers("manuscripts", [tmp_path / "a_b.txt"], tmp_path / "a.jsonl", dataset=data)
    assert report.repaired == {"an answer for a document that x does not have": ["a_b"]}


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.text("aäç /:", min_size=1, max_size=4), max_size=6, unique=True), st.text("aäç _/:", max_size=4))
def test_a_found_id_is_the_only_one_alike(ids: list[str], name: str) -> None:
    found = DocumentIds(ids).find(name)
    if name in ids:
        assert found == name
    else:
        alike = [one for one in ids if composed(one) == composed(name)]
        alike = alike or [one for one in ids if without_blanks(one) == without_blanks(name)]
        assert found == (alike[0] if len(alike) == 1 else None)


def test_a_semicolon_in_a_form_of_a_name(make: Any, tmp_path: Path) -> None:
    head = "identifier_propertyID;identifier_value;name;alternateName\n"
    table = head + 'GND;1;Müller, Änne;"Ä. Müller; Frau Müller"\nGND;2;"Sá, I.";"Inês; Sá, a;b"\n'
    (tmp_path / "l.csv").write_text("document_number;sender_persons\n1;Müller, Änne\n", encoding="utf-8")
    (tmp_path / "persons.csv").write_text(table, encoding="utf-8")
    report = import_dataset("letters", [tmp_path / "l.csv", tmp_path / "persons.csv"], tmp_path / "d")
    first, second = load_dataset("letters", tmp_path / "d").authorities["persons"]
    assert first.alternate_names == ("Ä. Müller", "Frau Müller")
    assert second.alternate_names == ("Inês; Sá", "a;b")
    assert report.repaired["forms in alternateName parted at ;"] == ["persons.csv: row 2"]
    assert any("row 3: alternateName holds both ; and commas" in note for note in report.notes)
    remedies = [fault.remedy for fault in check("letters", tmp_path / "d") if "holds a ;" in fault.what and fault.error]
    assert remedies == ['Write ["Inês", "Sá"]', 'Write ["a", "b"]']

    plain = make("letters_csv", {"ground_truth/persons.csv": table})
    found = [fault for fault in check("letters", plain) if "holds a ;" in fault.what]
    assert [fault.line for fault in found] == [2, 3, 3]
    assert "Write Ä. Müller, Frau Müller, with ',' between the forms" in found[0].remedy
    assert all(fault.error for fault in found)
