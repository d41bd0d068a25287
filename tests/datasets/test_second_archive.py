"""A second archive, invented: ten letters in three languages, with a field more, from spreadsheet to score.

And a stranger's entities with types and a third level of their own. No code is written for either.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from histeval.datasets import Dataset, check, import_letters, load_dataset
from histeval.tasks import get_task
from histeval.tasks.base import Answer, Protocol

ROWS = [
    ("1", "1871-02-03", "Ferreira, Inês", "Dvořák, Tomáš", "Vinho | Sal", "pt", "TRUE"),
    ("2", "1871-02-20", "Dvořák, Tomáš", "Ferreira, Inês", "None", "cs", "TRUE"),
    ("3", "1871-03-01", "<Ó Briain, Máire>", "Ferreira, Inês", "Sal", "en", "FALSE"),
    ("4", "1871-03-09", "Ferreira, Inês | Dvořák, Tomáš", "Ó Briain, Máire", "Salt", "en", "TRUE"),
    ("5", "None", "<<Dvořák, Tomáš>>", "None", "None", "cs", "FALSE"),
    ("6", "1871-05-30", "Ó Briain, Máire", "Dvořák, Tomáš", "Whiskey", "en", "TRUE"),
    ("7", "1872-01-01", "Ferreira, Inês", "Ó Briain, Máire", "Azeite", "pt", "TRUE"),
    ("8", "1872-01-15", "None", "Ferreira, Inês", "None", "pt", "FALSE"),
    ("9", "1872-02-02", "Dvořák, Tomáš", "<Ferreira, Inês>", "Sklo", "cs", "TRUE"),
    ("10", "1872-03-17", "Ó Briain, Máire", "Ferreira, Inês | Dvořák, Tomáš", "None", "en", "TRUE"),
]
PERSONS = [
    ("local", "1", "Ferreira, Inês", "Inês Ferreira, D. Inês"),
    ("local", "2", "Dvořák, Tomáš", "T. Dvořák, pan Dvořák"),
    ("local", "3", "Ó Briain, Máire", "Máire Ó Briain"),
]


def score(dataset: Dataset, answers: dict[str, Any], protocol: Protocol) -> dict[str, float | None]:
    scorer = get_task(dataset.task).scorer(dataset.context, protocol)
    rows = []
    for identifier, record in answers.items():
        reading = scorer.read(Answer(identifier, record=record))
        row = scorer.score(dataset.documents[identifier].truth, reading)
        assert row is not None
        rows.append((identifier, row))
    return scorer.values(rows, sum(row.counts for _, row in rows))  # type: ignore[arg-type]


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    head = "document_number;send_date;sender_persons;receiver_persons;cargo;language;has_signatures"
    (tmp_path / "l.csv").write_text("\n".join([head, *map(";".join, ROWS)]), encoding="utf-8")
    head = "identifier_propertyID;identifier_value;name;alternateName"
    (tmp_path / "p.csv").write_text("\n".join([head, *map(";".join, PERSONS)]), encoding="utf-8")
    import_letters(tmp_path / "l.csv", tmp_path / "p.csv", tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.parametrize("name", ["documented", "published", "corrected"])
def test_ten_letters(letters: Path, name: str) -> None:
    assert [fault for fault in check("letters", letters) if fault.error] == []
    dataset = load_dataset("letters", letters)
    assert {document.attributes["language"] for document in dataset.documents.values()} == {"pt", "cs", "en"}
    task = get_task("letters")
    # Explicit values only: what is merely inferred is not asked for unless a rule says so.
    right = {
        identifier: {
            field: [value for value in values if not value.startswith("<") and value != "None"]
            for field, values in document.truth.fields.items()
        }
        for identifier, document in dataset.documents.items()
    }
    values = score(dataset, right, task.protocol(name))
    assert values["f1_macro"] == values["f1_micro"] == values["cargo_f1"] == 1
    # Another form of a name counts, a name of nobody does not, and the further field costs only itself.
    variant = json.loads(json.dumps(right))
    variant["letter1"] = {"send_date": ["1871-02-03"], "sender_persons": ["D. Inês"], "receiver_persons": ["Nobody"]}
    other = score(dataset, variant, task.protocol(name))
    assert other["send_date_f1"] == other["sender_persons_f1"] == 1
    assert other["receiver_persons_f1"] == pytest.approx(2 * 8 / (2 * 8 + 1 + 1))
    assert other["cargo_recall"] == pytest.approx(5 / 7)


ENTITIES = """
task = "directories"
name = "ships"
languages = ["pt"]
licence = "CC0"
[[types]]
name = "VOYAGE"
children = ["SHIP", "PORT-OF-CALL"]
[[types]]
name = "SHIP"
children = ["MASTER"]
[[types]]
name = "MASTER"
root = false
[[types]]
name = "PORT-OF-CALL"
root = false
"""


def test_a_strangers_entities(make: Any) -> None:
    markup = [
        "<VOYAGE><SHIP>Gaivota (<MASTER>J. Sá</MASTER>)</SHIP> de <PORT-OF-CALL>Faro</PORT-OF-CALL></VOYAGE>.",
        "<SHIP>Aurora</SHIP> em <VOYAGE><PORT-OF-CALL>Porto</PORT-OF-CALL></VOYAGE>",
    ]
    folder = make({"dataset.toml": ENTITIES, "entries.txt": "\n".join(markup)})
    assert [fault for fault in check("directories", folder) if fault.error] == []
    dataset = load_dataset("directories", folder)
    depths = [
        document.truth.depth(i) for document in dataset.documents.values() for i in range(len(document.truth.spans))
    ]
    assert max(depths) == 3
    answers = {str(number): {"xml": text} for number, text in enumerate(markup)}
    values = score(dataset, answers, get_task("directories").protocol("corrected"))
    assert values["f1[All]"] == 1
    answers["1"] = {"xml": markup[1].replace("PORT-OF-CALL", "SHIP")}
    values = score(dataset, answers, get_task("directories").protocol("corrected"))
    assert values["f1[L1]"] == 1
    assert values["f1[All]"] == pytest.approx(6 / 7)  # seven entities, one of another type
