"""Eight invented business letters of a river port: persons, firms, ships and town never were."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from demo import letter_pages as pages
from demo.drawing import Colour, Sheet, picture, save, scan

WIDTH, HEIGHT = 1000, 1414


@dataclass(frozen=True)
class Person:
    number: str
    name: str
    alternates: str
    """Every other form of the name, parted by commas as in persons.csv."""
    born: str
    died: str
    description: str
    jobs: tuple[tuple[str, str, str, str], ...]
    """Title, first year, last year, employer."""


PORT = "Hafen- und Lagerhaus-Gesellschaft Lauterwörth A.-G."
PERSONS = (
    Person(
        "L01",
        "Halbwachs, Theodor",
        "Theodor Halbwachs, Th. Halbwachs, Herrn Direktor Halbwachs, "
        "Herr Direktor Halbwachs, Direktor Halbwachs, Halbwachs",
        "1874",
        "1946-11-02",
        "Direktor des Rheinhafens von Lauterwörth",
        (("Prokurist", "1909", "1919", PORT), ("Direktor", "1919", "1934", PORT)),
    ),
    Person(
        "L02",
        "Terhoeven, Wilhelm",
        "Wilhelm Terhoeven, W. Terhoeven, Wilh. Terhoeven, "
        "Herrn Wilhelm Terhoeven, Herr Terhoeven, Herrn Terhoeven, Terhoeven",
        "1869-04-30",
        "",
        "Reeder in Ruhrmünde",
        (("Inhaber", "1898", "", "Gebr. Terhoeven, Reederei"),),
    ),
    Person(
        "L03",
        "Zurlinden, Anna",
        "Anna Zurlinden, A. Zurlinden, Fräulein Zurlinden, Fräulein A. Zurlinden, Frl. Zurlinden, A. Z.",
        "1897-09-12",
        "1981",
        "Erste Prokuristin der Hafengesellschaft",
        (("Prokuristin", "1926", "1940", PORT),),
    ),
    Person(
        "L04",
        "Brandt-Hellweg, Eduard",
        "Eduard Brandt-Hellweg, Ed. Brandt-Hellweg, Eduard Brandt, "
        "Ed. Brandt, Herrn Präsident Brandt, Herrn Präsidenten Ed. Brandt-Hellweg, Präsident Brandt, "
        "Herr Präsident",
        "1861",
        "1938",
        "Müller und Präsident des Verwaltungsrates",
        (("Präsident des Verwaltungsrates", "1922", "1933", PORT),),
    ),
    Person(
        "L05",
        "Kesselring, Otto",
        "Otto Kesselring, O. Kesselring, Herrn Otto Kesselring, Herr Kesselring, Kesselring",
        "1859",
        "1935-01-17",
        "Bankier",
        (("Seniorchef", "1901", "1935", "Bankhaus Kesselring & Söhne"),),
    ),
    Person(
        "L06",
        "Overbeek, Cornelis",
        "Cornelis Overbeek, C. Overbeek, Herrn C. Overbeek, Heer Overbeek, Overbeek",
        "",
        "",
        "Spediteur in Rotterdam",
        (("Teilhaber", "1920", "", "Overbeek & Zoon"),),
    ),
    Person(
        "L07",
        "Lüders, Karl",
        "Karl Lüders, K. Lüders, Carl Lüders, Herrn Lüders, Herr Lüders, Lüders",
        "1880-02-08",
        "",
        "Schiffbauer",
        (("Werftleiter", "1911", "", "Werft Lüders & Mey"),),
    ),
    Person(
        "L08",
        "Mettler, Jakob",
        "Jakob Mettler, Jak. Mettler, J. Mettler, Schiffsführer Mettler, Mettler",
        "1888",
        "",
        "Führer des Motorbootes Wasseramsel",
        (("Schiffsführer", "1929", "1932", PORT),),
    ),
    Person("L09", "Pfründer, Emil", "", "1890", "", "Lagermeister, erscheint in keinem Brief", (("", "", "", ""),)),
)


@dataclass(frozen=True)
class Letter:
    number: str
    date: str
    senders: str
    receivers: str
    signed: bool
    pages: tuple[Callable[[Sheet], None], ...]
    title: str = "None"
    """Values as in letters.csv: `|` separates, `<>` and `<<>>` mark what was inferred, `None` says that none is."""


LETTERS = (
    Letter(
        "01",
        "1928-03-14",
        "Halbwachs, Theodor | Zurlinden, Anna",
        "Terhoeven, Wilhelm",
        True,
        (pages.letter_01_1, pages.letter_01_2),
    ),
    Letter(
        "02",
        "1928-03-19",
        "Terhoeven, Wilhelm",
        "<<Halbwachs, Theodor>> | <<Zurlinden, Anna>>",
        True,
        (pages.letter_02_1,),
    ),
    Letter("03", "1928-04-02", "<Kesselring, Otto>", "Brandt-Hellweg, Eduard", False, (pages.letter_03_1,)),
    Letter(
        "04",
        "1928-05-21",
        "Zurlinden, Anna",
        "None",
        False,
        (pages.letter_04_1,),
        'Aktennotiz über die Besichtigung des Motorbootes "Wasseramsel"',
    ),
    Letter(
        "05",
        "1929-01-09",
        "Lüders, Karl",
        "<Halbwachs, Theodor>",
        True,
        (pages.letter_05_1, pages.letter_05_2, pages.letter_05_3),
        'Offerte No. 217: Motorboot "Wasseramsel"',
    ),
    Letter(
        "06", "1929-02-11", "Overbeek, Cornelis", "Zurlinden, Anna | Halbwachs, Theodor", True, (pages.letter_06_1,)
    ),
    Letter("07", "1930-09-30", "None", "None", False, (pages.letter_07_1,), "Rundschreiben Nr. 7"),
    Letter(
        "08", "1931-06-05", "Mettler, Jakob", "<Brandt-Hellweg, Eduard>", True, (pages.letter_08_1, pages.letter_08_2)
    ),
)

PAPERS: dict[str, tuple[Colour, float, float]] = {
    "01": ((238, 229, 206), 3.0, 0.5),
    "02": ((233, 226, 208), 3.0, -0.7),
    "03": ((236, 222, 188), 4.0, 0.9),
    "04": ((226, 214, 186), 4.0, -0.4),
    "05": ((240, 234, 218), 2.5, 0.3),
    "06": ((222, 226, 220), 2.5, 1.0),
    "07": ((236, 226, 200), 3.5, -0.5),
    "08": ((232, 222, 196), 3.5, 0.8),
}
"""Tint, mottle and how far askew each letter lies."""
BED: Colour = (58, 58, 60)
QUALITY = 44

DESCRIPTION = """\
# Invented for Histeval: no such persons, firms, ships or town.
task = "letters"
name = "demo_letters"
title = "Invented letters of a river port"
text = \"\"\"Eight business letters of a port on the Rhine that never was, 1928 to 1931, typeset for Histeval as page
images with a list of persons. Three are unsigned, one is written by hand.\"\"\"
languages = ["de"]
period = "1928-1931"
unit = "document"
licence = "MIT"
citation = "Histeval, bundled demo data (invented)"
published = "2026-11-30"
source = "tools/make_demo_data.py of the Histeval repository"
"""

LETTER_COLUMNS = [
    "transkribus_id",
    "document_number",
    "send_date",
    "letter_title",
    "sender_persons",
    "receiver_persons",
    "has_signatures",
]
PERSON_COLUMNS = [
    "identifier_propertyID",
    "identifier_value",
    "name",
    "alternateName",
    "birthDate",
    "deathDate",
    "description",
    "job_name",
    "job_startDate",
    "job_endDate",
    "employer_name",
    "employer_identifier_propertyID",
    "employer_identifier_value",
    "citation_name",
    "citation_url",
    "comment",
]


def cells(value: str) -> list[str]:
    return [part.strip() for part in value.split("|")]


def letter_record(letter: Letter) -> dict[str, object]:
    return {
        "letter_title": [letter.title],
        "send_date": [letter.date],
        "sender_persons": cells(letter.senders),
        "receiver_persons": cells(letter.receivers),
        "has_signatures": str(letter.signed).upper(),
    }


def person_record(person: Person) -> dict[str, object]:
    return {
        "@context": "http://schema.org",
        "@type": "Person",
        "identifier": [{"@type": "PropertyValue", "propertyID": "local", "value": person.number}],
        "name": person.name,
        "alternateName": [form.strip() for form in person.alternates.split(",") if form.strip()],
        "birthDate": person.born or None,
        "deathDate": person.died or None,
        "description": person.description,
        "hasOccupation": [
            {
                "@type": "Occupation",
                "name": name or None,
                "startDate": start or None,
                "endDate": end or None,
                "employer": {
                    "@type": "Organization",
                    "name": employer or None,
                    "identifier": [{"@type": "PropertyValue", "propertyID": None, "value": None}],
                },
            }
            for name, start, end, employer in person.jobs
        ],
        "citation": [{"@type": "CreativeWork", "name": None, "url": None}],
    }


def table(path: Path, columns: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(lines)


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=4) + "\n", encoding="utf-8", newline="\n")


def draw(letter: Letter, page: int) -> Sheet:
    tint, _, _ = PAPERS[letter.number]
    sheet = Sheet(WIDTH, HEIGHT, f"letter {letter.number} page {page}", tint)
    letter.pages[page - 1](sheet)
    return sheet


def write_images(folder: Path, letters: Sequence[Letter] = LETTERS) -> None:
    for letter in letters:
        _, mottle, angle = PAPERS[letter.number]
        for page in range(1, len(letter.pages) + 1):
            sheet = draw(letter, page)
            # A carbon copy and a spirit duplicate are soft; what a ribbon wrote is crisp.
            soft = {"03": 1.0, "07": 0.8}.get(letter.number, 0.55)
            paper = picture(sheet.sheet(mottle, (0.335, 0.667), soft, 0.16))
            for height in (HEIGHT * 0.41, HEIGHT * 0.57):
                sheet.hole(paper, 42, height, BED)
            name = f"letter{letter.number}_p{page}.jpg"
            save(scan(paper, angle * (1 if page % 2 else -0.6), BED), folder / "images" / name, QUALITY)


def write_truth(folder: Path) -> None:
    """Ground truth in both published forms, and the description."""
    truth = folder / "ground_truths"
    truth.mkdir(parents=True, exist_ok=True)
    for letter in LETTERS:
        write_json(truth / f"letter{letter.number}.json", letter_record(letter))
    write_json(truth / "persons.json", [person_record(person) for person in PERSONS])
    table(
        truth / "letters.csv",
        LETTER_COLUMNS,
        [
            [
                str(700100 + 7 * index),
                item.number,
                item.date,
                item.title,
                item.senders,
                item.receivers,
                str(item.signed).upper(),
            ]
            for index, item in enumerate(LETTERS)
        ],
    )
    table(
        truth / "persons.csv",
        PERSON_COLUMNS,
        [
            [
                "local",
                person.number,
                person.name,
                person.alternates,
                person.born,
                person.died,
                person.description,
                name,
                start,
                end,
                employer,
                "",
                "",
                "",
                "",
                "",
            ]
            for person in PERSONS
            for name, start, end, employer in person.jobs
        ],
    )
    (folder / "dataset.toml").write_text(DESCRIPTION, encoding="utf-8", newline="\n")


def write(folder: Path) -> None:
    """Writes the dataset: images, ground truth, description."""
    write_images(folder)
    write_truth(folder)
