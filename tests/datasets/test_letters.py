"""Letters: the published folder, and a stranger's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from histeval.datasets import check, files, load_dataset
from histeval.errors import DatasetError
from support import DATA, needs_data

PUBLISHED = DATA / "rise" / "benchmarks" / "business_letters"


@needs_data
@pytest.mark.data
class TestPublished:
    def test_counts(self) -> None:
        dataset = load_dataset("letters", PUBLISHED)
        letters = list(dataset.documents.values())
        assert (dataset.name, len(letters), letters[0].id, letters[-1].id) == (
            "business_letters",
            57,
            "letter01",
            "letter65",
        )
        assert [sum(letter.truth.signed is value for letter in letters) for value in (True, False)] == [32, 25]
        persons = dataset.authorities["persons"]
        # 119 alternate names of 24 persons, one of them empty.
        assert (len(persons), sum(len(person.alternate_names) for person in persons)) == (24, 119)
        assert sum("" in person.alternate_names for person in persons) == 1
        assert [field.name for field in dataset.description.fields if field.headline] == [
            "send_date",
            "sender_persons",
            "receiver_persons",
        ]
        assert dataset.description.published == "2025-04-11"
        assert dataset.description.licence.startswith("CC BY 4.0")

    def test_markers_stay(self) -> None:
        """Senders 55 explicit, 14 <>, 8 <<>>, 2 None; receivers 27, 0, 26, 16."""

        def tally(field: str) -> tuple[int, ...]:
            values = [v for letter in dataset.documents.values() for v in letter.truth.fields[field]]
            twice = sum(value.startswith("<<") for value in values)
            once = sum(value.startswith("<") for value in values) - twice
            none = values.count("None")
            return len(values) - twice - once - none, once, twice, none

        dataset = load_dataset("letters", PUBLISHED)
        assert tally("sender_persons") == (55, 14, 8, 2)
        assert tally("receiver_persons") == (27, 0, 26, 16)
        assert sum(letter.truth.fields["letter_title"] != ("None",) for letter in dataset.documents.values()) == 9

    def test_what_is_left_out_is_said(self) -> None:
        notes = " ".join(load_dataset("letters", PUBLISHED).notes)
        assert "letterFALSE.json left out" in notes
        assert "28 bare NaN read as null" in notes

    def test_the_tables_say_the_same(self, make: Any) -> None:
        truth = PUBLISHED / "ground_truths"
        tables = {f"ground_truth/{name}": (truth / name).read_bytes() for name in ("letters.csv", "persons.csv")}
        dataset = load_dataset("letters", make(tables))
        assert dataset.fingerprint == load_dataset("letters", PUBLISHED).fingerprint
        assert "letters.csv: 16 spreadsheet leftovers (rows of FALSE) left out" in dataset.notes

    def test_pages_in_order(self) -> None:
        images = load_dataset("letters", PUBLISHED).documents["letter02"].images
        assert [path.name for path in images] == [f"letter02_p{page}.jpg" for page in (1, 2, 3, 4, 5)]

    def test_attributes_and_units(self) -> None:
        letter = load_dataset("metadata", PUBLISHED).documents["letter58"]
        assert letter.attributes == {"signed": "true", "year": "1932", "period": "1930s", "language": "de"}
        assert letter.unit == "letter58"

    @pytest.mark.parametrize("place", ["", "ground_truths", ".."])
    def test_the_folders_around_are_as_good(self, place: str) -> None:
        assert len(load_dataset("letters", PUBLISHED / place).documents) == 57

    def test_every_file_is_read_once_and_no_image(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Speed is no matter of a clock here: reading costs what the files of truth cost, each once."""
        read: list[str] = []
        read_bytes = files.read_bytes

        def counted(path: Any, **options: Any) -> bytes:
            read.append(Path(path).name)
            return read_bytes(path, **options)

        monkeypatch.setattr(files, "read_bytes", counted)
        load_dataset("letters", PUBLISHED)
        assert len(read) == len(set(read)) == 59  # 57 letters, a leftover, the persons
        assert {Path(name).suffix for name in read} == {".json"}


def test_json_and_tables_give_one_fingerprint(make: Any) -> None:
    first = load_dataset("letters", make("letters", name="json"))
    second = load_dataset("letters", make("letters_csv", name="csv"))
    assert first.fingerprint == second.fingerprint
    assert first.documents["letter01"].truth == second.documents["letter01"].truth


@pytest.mark.parametrize(
    ("file", "old", "new", "same"),
    [
        ("ground_truth/letters.csv", "\n02,", "\n03,", False),
        ("ground_truth/letters.csv", "1932-06-01", "1932-06-02", False),
        ("ground_truth/letters.csv", "<Brandt, Jakob>", "Brandt, Jakob", False),
        ("ground_truth/letters.csv", "TRUE", "FALSE", False),
        ("ground_truth/letters.csv", "None", "Offer", False),
        ("ground_truth/persons.csv", "Frau Amsler", "Frau R. Amsler", False),
        ("ground_truth/persons.csv", "R. Amsler, Frau Amsler", "Frau Amsler,R. Amsler", True),
        ("ground_truth/letters.csv", "\n", "\r\n", True),
        ("ground_truth/letters.csv", "None,", " None ,", True),
    ],
)
def test_what_changes_the_fingerprint(make: Any, file: str, old: str, new: str, same: bool) -> None:
    folder = make("letters_csv")
    first = load_dataset("letters", folder).fingerprint
    text = (folder / file).read_bytes().decode()
    assert old in text
    (folder / file).write_bytes(text.replace(old, new).encode())
    assert (load_dataset("letters", folder).fingerprint == first) is same


def test_neither_order_nor_place_nor_description_changes_it(make: Any) -> None:
    folder = make("letters", name="one")
    first = load_dataset("letters", folder)
    persons = json.loads((folder / "ground_truths/persons.json").read_text())
    other = make(
        "letters",
        {
            "ground_truths/persons.json": persons[::-1],
            "dataset.toml": 'task = "letters"\nname = "x"\n',
            "images/letter01_p1.jpg": None,
        },
        name="two",
    )
    second = load_dataset("letters", other)
    assert first.fingerprint == second.fingerprint
    assert (first.name, second.name) == ("one", "x")


def test_a_stranger_in_a_published_layout_is_not_the_publisher(make: Any) -> None:
    description = load_dataset("letters", make("letters")).description
    assert (description.licence, description.citation, description.published) == ("", "", "")


def test_optional_fields_are_read_where_they_are(make: Any, letter: dict[str, Any]) -> None:
    letter.update(
        {"mentioned_ships": ["Rhyblitz", "Rheinfelden"], "sender_persons_inscribed": "R. Amsler", "colour": ["red"]}
    )
    dataset = load_dataset("letters", make("letters", {"ground_truths/letter01.json": letter}))
    fields = dataset.documents["letter01"].truth.fields
    assert fields["mentioned_ships"] == ("Rhyblitz", "Rheinfelden")
    assert fields["sender_persons_inscribed"] == ("R. Amsler",)
    assert "mentioned_ships" not in dataset.documents["letter02"].truth.fields
    names = [field.name for field in dataset.description.fields]
    assert "mentioned_ships" in names
    assert "mentioned_places" not in names
    assert "key colour is not read (1 times); name it under [[fields]] or attributes in dataset.toml" in dataset.notes


def test_images_in_natural_order_and_only_of_the_letter(make: Any) -> None:
    extra = {f"images/letter01_p{page}.png": b"" for page in (2, 10, 9)} | {"images/letter011_p1.jpg": b""}
    images = load_dataset("letters", make("letters", extra)).documents["letter01"].images
    assert [path.name for path in images] == [
        "letter01_p1.jpg",
        "letter01_p2.png",
        "letter01_p9.png",
        "letter01_p10.png",
    ]


STRANGER = """
task = "letters"
name = "porto"
languages = ["pt", "fr"]
unit = "office"
attributes = ["office", "language"]
[truth]
file = "cartas.csv"
id = "cota"
separator = ";"
signed = "assinada"
[authorities]
pessoas = { file = "pessoas.csv", separator = "/" }
navios = "navios.json"
[[fields]]
name = "date"
kind = "date"
column = "data"
[[fields]]
name = "remetente"
kind = "person"
authority = "pessoas"
[[fields]]
name = "navio"
kind = "text"
authority = "navios"
[[fields]]
name = "valor"
kind = "number"
"""


def test_own_fields_authorities_and_attributes(make: Any) -> None:
    dataset = load_dataset(
        "letters",
        make(
            {
                "dataset.toml": STRANGER,
                "cartas.csv": "cota\tdata\tremetente\tremetente_inscribed\tnavio\tvalor\toffice\tlanguage\t"
                "assinada\tnota\n"
                "A-12\t1890-01-02\tSá, Inês; <<Cruz, Rui>>\tInês\tNone\t12,5\tPorto\tpt\tTRUE\tx\n"
                "A-2\t1891\tCruz, Rui\t\tGaivota\t\t\tfr\tFALSE\ty\n",
                "pessoas.csv": 'name,alternateName\n"Sá, Inês","I. Sá, filha/Inês"\n"Cruz, Rui",\n',
                "navios.json": {"@graph": [{"name": "Gaivota", "identifier": {"IMO": 7}}]},
                "images/A-12/b10.jpg": b"",
                "images/A-12/b9.jpg": b"",
                "images/A-3.tif": b"",
            }
        ),
    )
    first, second, third = (dataset.documents[name] for name in ("A-12", "A-2", "A-3"))
    assert list(dataset.documents) == ["A-2", "A-12", "A-3"]
    assert first.truth.fields == {
        "date": ("1890-01-02",),
        "remetente": ("Sá, Inês", "<<Cruz, Rui>>"),
        "navio": ("None",),
        "valor": ("12,5",),
        "remetente_inscribed": ("Inês",),
    }
    assert (first.truth.signed, first.unit, first.attributes["language"]) == (True, "Porto", "pt")
    assert (second.unit, second.attributes["year"]) == ("A-2", "1891")
    assert third.truth is None
    assert [path.name for path in first.images] == ["b9.jpg", "b10.jpg"]
    assert [person.name for person in dataset.authorities["pessoas"]] == ["Cruz, Rui", "Sá, Inês"]
    assert dataset.authorities["pessoas"][1].alternate_names == ("I. Sá, filha", "Inês")
    assert dataset.authorities["navios"][0].identifiers == {"IMO": "7"}
    assert all(field.headline for field in dataset.description.fields)
    notes = " ".join(dataset.notes)
    assert "column nota is not read (2 times)" in notes
    assert "1 documents have images and no ground truth yet" in notes
    assert "2 documents name no office; each of them is a sampling unit by itself" in notes


def test_a_dataset_may_begin_without_truth(make: Any) -> None:
    folder = make(
        {"dataset.toml": 'task = "letters"\n[[fields]]\nname = "send_date"\nkind = "date"\n', "images/b.jpg": b""}
    )
    assert load_dataset("letters", folder).documents["b"].truth is None


def test_the_wrong_task_is_said(make: Any) -> None:
    with pytest.raises(DatasetError, match="is a dataset for letters, not for manuscripts"):
        load_dataset("manuscripts", make("letters", {"dataset.toml": 'task = "letters"\n'}))


def test_a_table_of_attributes(make: Any) -> None:
    settings = 'task = "letters"\nattributes_file = "more.csv"\nunit = "hand"\n'
    folder = make(
        "letters", {"dataset.toml": settings, "more.csv": "document,hand\nletter01,A\nletter02,A\nletter9,B\n"}
    )
    dataset = load_dataset("letters", Path(folder) / "dataset.toml")
    assert {letter.unit for letter in dataset.documents.values()} == {"A"}
    assert "more.csv: 1 rows name documents that are not in the dataset (letter9)" in dataset.notes


@pytest.mark.parametrize("column", ["document", "id"])
def test_the_usual_columns_of_ids_need_no_setting(column: str, tmp_path: Path) -> None:
    (tmp_path / "dataset.toml").write_text('task = "letters"\n[truth]\nfile = "l.csv"\n', encoding="utf-8")
    (tmp_path / "l.csv").write_text(f"{column},send_date,sender_persons\nA 1,1900-01-01,x\n", encoding="utf-8")
    (tmp_path / "persons.csv").write_text("name\nx\n", encoding="utf-8")
    assert list(load_dataset("letters", tmp_path).documents) == ["A 1"]
    assert not [fault for fault in check("letters", tmp_path) if "column" in fault.what]


def test_a_table_without_ids_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "dataset.toml").write_text('task = "letters"\n[truth]\nfile = "l.csv"\n', encoding="utf-8")
    (tmp_path / "l.csv").write_text("Signatur,send_date\nA1,1900-01-01\n", encoding="utf-8")
    (fault,) = (fault for fault in check("letters", tmp_path) if "column" in fault.what)
    assert (fault.what, fault.line) == ("has no column document_number. Its columns are Signatur, send_date", 1)
    assert '[truth] id = "..."' in fault.remedy
