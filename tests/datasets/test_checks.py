"""`check` finds what is known to be wrong with the published data, and each fault planted here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dataset_samples import ENTRIES, JPEG, LETTER, LETTERS_CSV, PERSONS, TRADE, WHOLE
from histeval.datasets import Fault, check
from histeval.datasets.fetch import collections
from histeval.errors import DatasetError
from support import DATA, needs_data

TASKS = {"letters": "letters", "letters_csv": "letters", "manuscripts": "manuscripts", "directories": "directories"}
TASKS["trade"] = "directories"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(8) + b"IEND\xaeB`\x82"


def faults_in(task: str, folder: Path) -> list[Fault]:
    return [fault for fault in check(task, folder) if fault.error]


@pytest.mark.parametrize("base", WHOLE)
def test_sound_data_has_no_fault(make: Any, base: str) -> None:
    assert faults_in(TASKS[base], make(base)) == []


def letter(**changes: Any) -> dict[str, Any]:
    return {**LETTER, **changes}


def person(number: int, **changes: Any) -> list[dict[str, Any]]:
    return [{**PERSONS[index], **(changes if index == number else {})} for index in range(2)]


def csv(old: str, new: str, file: str = "ground_truth/letters.csv") -> dict[str, Any]:
    assert old in LETTERS_CSV[file]
    return {file: LETTERS_CSV[file].replace(old, new, 1)}


def folio(**changes: Any) -> dict[str, Any]:
    return {"ground_truths/image_1.json": {"[1r]": [{"folio": "1", "text": "x", "addition1": "", **changes}]}}


def entry(xml: str) -> dict[str, Any]:
    return {"entries.jsonl": f'{{"id": "a", "xml": "{xml}"}}\n'}


def spans(*items: str) -> dict[str, Any]:
    return {"entries.jsonl": f'{{"id": "a", "text": "abc def", "spans": [{", ".join(items)}]}}\n'}


def trade(old: str, new: str, file: str = "41-ner_ref_from_pero") -> dict[str, Any]:
    name = f"dataset/{file}/gold.csv"
    assert old in TRADE[name]
    return {name: TRADE[name].replace(old, new, 1)}


ONE, TWO, FOLK = "ground_truths/letter01.json", "ground_truths/letter02.json", "ground_truths/persons.json"
TABLE, FOLK_TABLE = "ground_truth/letters.csv", "ground_truth/persons.csv"
PAGE = "ground_truths/image_1.json"
LINES = "entries.jsonl"
GOLD = "dataset/41-ner_ref_from_pero/gold.csv"

# base, changed files, then of the one fault that is wanted: file, line, item, what it says.
PLANTED: list[tuple[str, dict[str, Any], str, int | None, str, str]] = [
    (
        "letters",
        {"ground_truths/letterFALSE.json": LETTER},
        "ground_truths/letterFALSE.json",
        None,
        "letterFALSE",
        "leftover",
    ),
    (
        "letters_csv",
        csv("02,", "#VALUE!,FALSE,FALSE,FALSE,FALSE,FALSE\n02,"),
        TABLE,
        3,
        "",
        "is a spreadsheet leftover",
    ),
    (
        "letters",
        {FOLK: '[{"name": "Amsler, Rosa",\n "birthDate": NaN}, {"name": "Brandt, Jakob"}]'},
        FOLK,
        2,
        "",
        "1 bare NaN",
    ),
    (
        "letters",
        {FOLK: person(1, name="Brandt, Jakob ")},
        FOLK,
        1,
        "Brandt, Jakob",
        "has an outer blank, so none of its",
    ),
    ("letters", {FOLK: person(0, alternateName=["R.  Amsler"])}, FOLK, 1, "Amsler, Rosa", "'R.  Amsler' has blanks"),
    ("letters", {FOLK: person(0, alternateName=[" Amsler"])}, FOLK, 1, "Amsler, Rosa", "' Amsler' has blanks"),
    ("letters", {FOLK: person(0, alternateName=["Rosa- Amsler"])}, FOLK, 1, "Amsler, Rosa", "a blank after a hyphen"),
    (
        "letters",
        {FOLK: person(0, alternateName=["Herr Brandt"])},
        FOLK,
        1,
        "Herr Brandt",
        "belongs to Amsler, Rosa and Brandt",
    ),
    (
        "letters",
        {FOLK: person(0, alternateName=["Amsler", ""])},
        FOLK,
        1,
        "Amsler, Rosa",
        "has an empty alternate name",
    ),
    (
        "letters_csv",
        csv("Frau Amsler", "Frau Amsler,", FOLK_TABLE),
        FOLK_TABLE,
        2,
        "Amsler, Rosa",
        "empty alternate name",
    ),
    ("letters", {FOLK: person(0, name="")}, FOLK, None, "entry 1", "has no name"),
    ("letters", {FOLK: person(0, alternateName=[3])}, FOLK, 1, "Amsler, Rosa", "is not a list of texts"),
    ("letters", {FOLK: [*PERSONS, PERSONS[0] | {"alternateName": []}]}, FOLK, 1, "Amsler, Rosa", "stands twice"),
    (
        "letters",
        {FOLK: [*person(1, identifier=[{"value": 7}]), {"name": "X", "identifier": [{"value": 7}]}]},
        FOLK,
        1,
        "X",
        "the identifier of Brandt",
    ),
    (
        "letters",
        {ONE: letter(sender_persons=["Amsler, Rosi"])},
        ONE,
        1,
        "letter01, sender_persons",
        "'Amsler, Rosi' is not in the list of persons",
    ),
    (
        "letters_csv",
        csv('"Amsler, Rosa"', '"Amsler, R."'),
        TABLE,
        2,
        "letter01, sender_persons",
        "'Amsler, R.' is not in the list",
    ),
    (
        "letters",
        {ONE: letter(sender_persons=["<Amsler, Rosa"])},
        ONE,
        1,
        "letter01, sender_persons",
        "the marker in '<Amsler, Rosa' is malformed",
    ),
    ("letters", {ONE: letter(sender_persons=["<<Amsler, Rosa>"])}, ONE, 1, "letter01, sender_persons", "is malformed"),
    (
        "letters",
        {ONE: letter(sender_persons=["None", "Amsler, Rosa"])},
        ONE,
        1,
        "letter01, sender_persons",
        "None beside other values",
    ),
    (
        "letters",
        {ONE: letter(send_date=["4. Mai 1931"])},
        ONE,
        1,
        "letter01, send_date",
        "'4. Mai 1931' is not of the form",
    ),
    ("letters", {ONE: letter(send_date=["1931-02-30"])}, ONE, 1, "letter01, send_date", "is in no calendar"),
    ("letters", {ONE: letter(send_date={"a": 1})}, ONE, None, "letter01, send_date", "is not a list of texts"),
    (
        "letters",
        {ONE: {k: v for k, v in LETTER.items() if k != "send_date"}},
        ONE,
        None,
        "letter01, send_date",
        "is not there",
    ),
    (
        "letters",
        {ONE: letter(has_signatures="yes")},
        ONE,
        1,
        "letter01, has_signatures",
        "'yes' is neither TRUE nor FALSE",
    ),
    (
        "letters",
        {ONE: '{"send_date": ["1931-05-04"], "send_date": []}'},
        ONE,
        None,
        "",
        "the key 'send_date' stands twice",
    ),
    ("letters", {ONE: "[1]"}, ONE, None, "letter01", "is not a JSON object"),
    ("letters", {ONE: ""}, ONE, None, "", "is empty"),
    ("letters", {ONE: '{"a":\n'}, ONE, 2, "", "is not JSON"),
    ("letters", {ONE: "{}".encode("utf-16")}, ONE, None, "", "is UTF-16, not UTF-8"),
    ("letters", {ONE: b'{"a":\n "\xe9"}'}, ONE, 2, "", "is not UTF-8 (byte 0xe9)"),
    (
        "letters",
        {"ground_truths/letterX.json": LETTER, "images/letterX_p1.jpg": JPEG},
        "ground_truths/letterX.json",
        None,
        "letterX",
        "'X' is no number",
    ),
    ("letters_csv", csv("02,", "2a,"), TABLE, 3, "", "the document number '2a' is no number"),
    ("letters_csv", csv("02,", "01,"), TABLE, 3, "letter01", "stands a second time (first in line 2)"),
    ("letters_csv", csv("\n02,", "\n,"), TABLE, 3, "", "has an empty document_number"),
    ("letters_csv", csv(",FALSE\n", ",FALSE,x\n"), TABLE, 3, "", "has 7 cells where the first row names 6"),
    ("letters_csv", {FOLK_TABLE: None}, "ground_truth", None, "", "holds neither persons.json nor persons.csv"),
    (
        "letters",
        {"ground_truths/letters.csv": LETTERS_CSV[TABLE].replace("1932-06-01", "1932-06-02")},
        TWO,
        1,
        "letter02, send_date",
        "'1932-06-01' here and '1932-06-02' in letters.csv, line 3",
    ),
    (
        "letters",
        {"ground_truths/letters.csv": LETTERS_CSV[TABLE].replace("\n02", "\n03")},
        TWO,
        None,
        "letter02",
        "is not in letters.csv",
    ),
    (
        "letters",
        {"ground_truths/persons.csv": LETTERS_CSV[FOLK_TABLE].replace("Frau Amsler", "Frau A")},
        FOLK,
        1,
        "Amsler, Rosa",
        "'Frau Amsler' only here, 'Frau A' only in ground_truths/persons.csv",
    ),
    ("letters", {"images/letter01_p3.jpg": JPEG}, "images", None, "letter01", "page p2 is missing"),
    ("letters", {"images/letter01_p1.jpg": None}, "images", None, "letter01", "has no image"),
    ("letters", {"images/letter1_p1.jpg": JPEG}, "images/letter1_p1.jpg", None, "", "there is no document letter1"),
    ("letters", {"images/letter01_p1.jpg": PNG}, "images/letter01_p1.jpg", None, "", "is PNG, not what .jpg says"),
    ("letters", {"images/letter01_p1.jpg": JPEG[:-2]}, "images/letter01_p1.jpg", None, "", "is cut off"),
    (
        "letters",
        {"images/letter01_p1.jpg": b"<html>"},
        "images/letter01_p1.jpg",
        None,
        "",
        "is no image of a known format",
    ),
    ("letters", {"images/letter01_p1.jpg": b""}, "images/letter01_p1.jpg", None, "", "is empty"),
    (
        "letters",
        {"images/letter01_p1.png": PNG},
        "images/letter01_p1.png",
        None,
        "letter01",
        "is the same page as letter01_p1.jpg",
    ),
    (
        "letters",
        {"images/letter01.jpg": JPEG},
        "images/letter01.jpg",
        None,
        "letter01",
        "without page number beside numbered",
    ),
    (
        "letters",
        {"dataset.toml": 'task = "letters"\nnmae = "x"\n'},
        "dataset.toml",
        2,
        "nmae",
        "there is no setting 'nmae'",
    ),
    ("letters", {"dataset.toml": "task = \n"}, "dataset.toml", None, "", "is not TOML"),
    ("manuscripts", folio(addition3="x"), PAGE, 1, "[1r]", "has addition3 and no addition2"),
    ("manuscripts", folio(**{"addition" + "9" * 5000: "x"}), PAGE, 1, "[1r]", "has the unknown key"),
    ("manuscripts", folio(addition999999999="x"), PAGE, 1, "[1r]", "has the unknown key"),
    ("manuscripts", folio(text=["x"]), PAGE, 1, "[1r]", "text is not a text"),
    ("manuscripts", folio(note="x"), PAGE, 1, "[1r]", "has the unknown key 'note'"),
    ("manuscripts", folio(folio="2"), PAGE, 1, "[1r]", "has the folio number '2'"),
    ("manuscripts", {PAGE: {"[1r]": [{"folio": "1"}]}}, PAGE, 1, "[1r]", "has no text"),
    ("manuscripts", {PAGE: {"[1r]": ["x"]}}, PAGE, 1, "[1r]", "is not an object with folio and text"),
    (
        "manuscripts",
        {PAGE: {"[1v]": [{"folio": "1", "text": "x"}]}},
        "ground_truths/image_2.json",
        1,
        "[1v]",
        "is the folio of image_1 too",
    ),
    ("manuscripts", {PAGE: {}}, PAGE, None, "", "holds no folio"),
    (
        "directories",
        entry("<PER>a <LOC>b</PER></LOC>"),
        LINES,
        1,
        "entry a, character 14",
        "the element LOC is still open where PER ends",
    ),
    (
        "directories",
        entry("<PERS>a</PERS>"),
        LINES,
        1,
        "entry a, character 1",
        "the tag PERS is not among the entity types",
    ),
    ("directories", entry("a <PER></PER>"), LINES, 1, "entry a", "the element PER is empty"),
    ("directories", entry("<PER> </PER>a"), LINES, 1, "entry a", "nothing but white space"),
    ("directories", entry("<PER>a"), LINES, 1, "entry a, character 7", "the element PER is not closed"),
    ("directories", entry("a</PER>"), LINES, 1, "entry a, character 2", "the end tag PER has no start tag"),
    ("directories", entry("<LOC>a</LOC>"), LINES, 1, "entry a", "the element LOC may not stand at the root"),
    (
        "directories",
        spans('{"type": "PER", "start": 0, "end": 5}', '{"type": "PER", "start": 3, "end": 7}'),
        LINES,
        1,
        "entry a",
        "span 1 (PER, 3 to 7) crosses another",
    ),
    (
        "directories",
        spans('{"type": "PER", "start": 0, "end": 50}'),
        LINES,
        1,
        "entry a",
        "does not lie in the text of 7 characters",
    ),
    (
        "directories",
        spans('{"type": "X", "start": 0, "end": 5}'),
        LINES,
        1,
        "entry a",
        "the type 'X' is not among the entity types",
    ),
    (
        "directories",
        {LINES: ENTRIES[LINES].replace('"b"', '"a"')},
        LINES,
        2,
        "a",
        "stands a second time (first in line 1)",
    ),
    ("directories", {LINES: ENTRIES[LINES] + "{\n"}, LINES, 3, "", "is not JSON"),
    ("directories", {LINES: ENTRIES[LINES] + '{"xml": "a"}\n'}, LINES, 3, "", "names no document"),
    ("directories", {LINES: ENTRIES[LINES] + '{"id": "c"}\n'}, LINES, 3, "c", "holds no entry"),
    ("directories", {LINES: None}, ".", None, "", "holds no entries"),
    ("trade", trade("</PER>, 3", "</PER>, <LOC>3</LOC>"), GOLD, 1, "entry 0", "LOC may not stand at the root"),
    ("trade", trade(', "Bon_1801"', ' "Bon_1801"'), GOLD, 1, "", "is not CSV"),
    ("trade", trade('\n"', "\n"), GOLD, 2, "", 'is not of the form "XML", "BOOK"'),
    (
        "trade",
        trade("Bon_1801", "Bon_1802", "31-ner_align_pero"),
        "dataset/31-ner_align_pero/gold.csv",
        1,
        "entry 0",
        "is of book 'Bon_1802', and of 'Bon_1801'",
    ),
    (
        "trade",
        trade("PER>Le Vii</PER", "ACT>Le Vii</ACT", "31-ner_align_pero"),
        "dataset/31-ner_align_pero/gold.csv",
        2,
        "entry 1",
        "has other entities than the reference",
    ),
    (
        "trade",
        trade("Vii", "Vij", "31-ner_align_pero"),
        "dataset/31-ner_align_pero/all.json",
        None,
        "entry 1",
        "differs from 31-ner_align_pero/gold.csv",
    ),
    (
        "trade",
        {"split_indices.json": {"train": [0], "test": [0]}},
        "split_indices.json",
        None,
        "test",
        "names row 0, which train has too",
    ),
]


@pytest.mark.parametrize(("base", "changes", "file", "line", "item", "what"), PLANTED)
def test_each_fault_is_found(
    make: Any, base: str, changes: dict[str, Any], file: str, line: int | None, item: str, what: str
) -> None:
    found = faults_in(TASKS[base], make(base, changes))
    hits = [
        fault for fault in found if what in fault.what and (fault.file, fault.line, fault.item) == (file, line, item)
    ]
    assert len(hits) == 1, found
    assert all(fault.what and not fault.what.endswith(".") for fault in found)


def test_every_fault_at_once(make: Any) -> None:
    """All the faults of letters that do not hide each other, in one folder."""
    changes: dict[str, Any] = {
        ONE: letter(sender_persons=["<Amsler, Rosa", "None"], send_date=["May"], has_signatures="x"),
        TWO: "{",
        "ground_truths/letterFALSE.json": LETTER,
        FOLK: person(0, name="Amsler, Rosa ", alternateName=["", "Herr Brandt"]),
        "images/letter01_p3.jpg": PNG,
        "images/other.jpg": b"",
        "dataset.toml": 'task = "letters"\nnmae = "x"\n',
    }
    found = faults_in("letters", make("letters", changes))
    wanted = [
        "there is no setting 'nmae'", "is malformed", "None beside", "is not of the form", "neither TRUE nor FALSE",
        "is not JSON", "is a spreadsheet leftover", "has an outer blank", "has an empty alternate name",
        "belongs to Amsler", "page p2 is missing", "is PNG", "is empty",
    ]  # fmt: skip
    assert [what for what in wanted if not any(what in fault.what for fault in found)] == []


def test_inscribed_forms_with_the_cell_to_paste(make: Any) -> None:
    head = "document_number,send_date,sender_persons,sender_persons_inscribed,receiver_persons,"
    head += "receiver_persons_inscribed\n"
    rows = (
        '1,1931-05-04,"Amsler, Rosa | Brandt, Jakob",R. Amsler | Jakob Brandt,"<Brandt, Jakob>",None\n'
        '2,1931-05-04,"Amsler, Rosa",Rosa Amsler,"Brandt, Jakob","Brandt, J."\n'
        '3,1931-05-04,"Amsler, Rosa",Rosa Amsler,"Amsler, Rosa | Brandt, Jakob",Firma\n'
    )
    folder = make("letters_csv", {TABLE: head + rows})
    found = [(f.file, f.line, f.item, f.what, f.remedy) for f in faults_in("letters", folder)]
    missing = "which is missing from alternateName"
    assert found == [
        (TABLE, 4, "letter3, receiver_persons_inscribed", "'Firma' belongs to none of the persons in receiver_persons",
         "Write as many forms as persons, in their order"),
        (FOLK_TABLE, 2, "Amsler, Rosa", f"the letters write 'Rosa Amsler' (letter2, letter3), {missing}",
         "The cell to paste: R. Amsler, Frau Amsler, Rosa Amsler"),
        (FOLK_TABLE, 3, "Brandt, Jakob", f"the letters write 'Brandt, J.' (letter2), {missing}",
         "A cell cannot hold it, since it has a ','; add it in persons.json"),
        (FOLK_TABLE, 3, "Brandt, Jakob", f"the letters write 'Jakob Brandt' (letter1), {missing}",
         "The cell to paste: Herr Brandt, Jakob Brandt"),
    ]  # fmt: skip


def test_what_is_only_worth_knowing(make: Any) -> None:
    changes = {
        ONE: letter(send_date=["1931", "1931-05"], sender_persons="Amsler, Rosa"),
        FOLK: [*PERSONS, {"name": "Christen, Max"}],
        "images/notes.txt": "x",
        "dataset.toml": 'task = "letters"\n',
    }
    found = check("letters", make("letters", changes))
    assert [fault for fault in found if fault.error] == []
    assert {fault.what for fault in found} >= {
        "the date 1931 has no day",
        "has several dates; only the first counts",
        "is not a list; it is read as one value",
        "occurs in no letter",
        "is no image by its name",
        "names no licence",
        "names no languages",
    }


def test_what_is_no_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="there is no such folder"):
        check("letters", tmp_path / "none")
    with pytest.raises(DatasetError, match="holds no directory entries in the published layout"):
        check("directories", tmp_path)


def test_many_faults_of_one_kind_are_counted(make: Any) -> None:
    lines = "".join(f'{{"id": "{number}", "xml": "<X>a</X>"}}\n' for number in range(300))
    found = [fault.what for fault in faults_in("directories", make("directories", {LINES: lines}))]
    assert len(found) == 21
    assert sum("300 faults of this kind, 20 of them listed" in what for what in found) == 1


@needs_data
@pytest.mark.data
class TestPublished:
    @pytest.fixture(scope="class")
    def letters(self) -> list[Fault]:
        return check("letters", DATA / "rise" / "benchmarks" / "business_letters")

    def find(self, faults: list[Fault], what: str) -> list[tuple[str, int | None, str]]:
        return [(fault.file, fault.line, fault.item) for fault in faults if what in fault.what]

    def test_leftovers(self, letters: list[Fault]) -> None:
        rows = self.find(letters, "is a spreadsheet leftover: FALSE")
        assert [line for _, line, _ in rows] == [35, 37, 41, 46, 53, 55, *range(65, 75)]
        assert self.find(letters, "that was converted")[0][0] == "ground_truths/letterFALSE.json"

    def test_not_a_number(self, letters: list[Fault]) -> None:
        assert self.find(letters, "holds 28 bare NaN") == [("ground_truths/persons.json", 39, "")]

    def test_names_that_cannot_match(self, letters: list[Fault]) -> None:
        names = [item for _, _, item in self.find(letters, "has an outer blank")]
        assert names == ["Ryniker-Trabold, Adolf Jakob", "Kachelhofer-Gerber, Frederick Charles"]
        assert [item for _, _, item in self.find(letters, "'Herr Vice- präsident Christ'")] == [
            "Christ-Wackernagel, Paul"
        ]
        assert [item for _, _, item in self.find(letters, "has an empty alternate name")] == ["Ritter-Wehrle, Oskar"]

    def test_nothing_else_is_an_error(self, letters: list[Fault]) -> None:
        """Tables and JSON agree, every person is listed, every date is one; images 11 to 65 are not in the data."""
        missing = self.find(letters, "has no image")
        assert len(missing) == 47
        assert sum(fault.error for fault in letters) == 16 + 1 + 1 + 2 + 1 + 1 + 47
        assert len(self.find(letters, "occurs in no letter")) == 9

    def test_the_missing_page(self, make: Any) -> None:
        """letter22 has no p2: shown with the published names of all images, since the data holds only the first."""
        names = [file.local for file in collections()[0].files if file.path.endswith(".jpg")]
        truth = DATA / "rise" / "benchmarks" / "business_letters" / "ground_truths"
        files = {f"business_letters/ground_truths/{path.name}": path.read_bytes() for path in truth.iterdir()}
        found = check("letters", make({**files, **dict.fromkeys(names, JPEG)}))
        assert len(names) == 98
        assert self.find(found, "page p") == [("images", None, "letter22")]
        assert self.find(found, "image") == []

    def test_manuscripts(self) -> None:
        assert check("manuscripts", DATA / "rise" / "benchmarks" / "medieval_manuscripts") == []

    def test_directories(self) -> None:
        found = check("directories", DATA / "directories")
        assert [fault for fault in found if fault.error] == []
        gold = "dataset/41-ner_ref_from_pero/gold.csv"
        assert self.find(found, "has quotes that are not doubled") == [
            (gold, line, "") for line in (4533, 4542, 4563, 4655)
        ]
        assert len(self.find(found, "a CSV reader breaks it")) == 3
        assert (
            len(self.find(found, "320 of 8765 entries are marked invalid and left out (320 with an empty element)"))
            == 1
        )
        assert (
            len(self.find(found, "has 8772 entries, and 31-ner_align_pero/all.json 8765 (more here: Bottin1_1820: 7)"))
            == 1
        )
        assert len(self.find(found, "7 test entries stand word for word")) == 1
        assert len(self.find(found, "33 replacement characters")) == 1
