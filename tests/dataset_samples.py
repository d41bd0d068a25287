"""Small invented datasets, as files, that tests break in one way each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Files = Mapping[str, Any]
JPEG = b"\xff\xd8\xff\xe0" + bytes(32) + b"\xff\xd9"

LETTER = {
    "letter_title": ["None"],
    "send_date": ["1931-05-04"],
    "sender_persons": ["Amsler, Rosa"],
    "receiver_persons": ["<Brandt, Jakob>"],
    "has_signatures": "TRUE",
}
PERSONS = [
    {"@type": "Person", "name": "Amsler, Rosa", "alternateName": ["R. Amsler", "Frau Amsler"]},
    {"@type": "Person", "name": "Brandt, Jakob", "alternateName": ["Herr Brandt"]},
]
LETTERS: Files = {
    "ground_truths/letter01.json": LETTER,
    "ground_truths/letter02.json": {**LETTER, "send_date": ["1932-06-01"], "has_signatures": "FALSE"},
    "ground_truths/persons.json": PERSONS,
    "images/letter01_p1.jpg": JPEG,
    "images/letter02_p1.jpg": JPEG,
}
LETTERS_CSV: Files = {
    "ground_truth/letters.csv": "document_number,send_date,letter_title,sender_persons,receiver_persons,"
    "has_signatures\n"
    '01,1931-05-04,None,"Amsler, Rosa","<Brandt, Jakob>",TRUE\n'
    '02,1932-06-01,None,"Amsler, Rosa","<Brandt, Jakob>",FALSE\n',
    "ground_truth/persons.csv": "identifier_propertyID,identifier_value,name,alternateName\n"
    ',,"Amsler, Rosa","R. Amsler, Frau Amsler"\n,,"Brandt, Jakob",Herr Brandt\n',
}
PAGES: Files = {
    "ground_truths/image_1.json": {"[1r]": [{"folio": "1", "text": "Item ein hus\n vnd hof", "addition1": ""}]},
    "ground_truths/image_2.json": {"[1v]": [{"folio": "", "text": "Do kam er", "addition1": "nota"}]},
    "images/image_1.jpg": JPEG,
    "images/image_2.jpg": JPEG,
}
ENTRIES: Files = {
    "dataset.toml": 'task = "directories"\nname = "bakers"\nlanguages = ["fr"]\nlicence = "CC0"\nunit = "page"\n'
    '[[types]]\nname = "PER"\n[[types]]\nname = "SPAT"\nchildren = ["LOC"]\n[[types]]\nname = "LOC"\nroot = false\n',
    "entries.jsonl": '{"id": "a", "xml": "<PER>Roux</PER>, <SPAT><LOC>r. Noire</LOC>, 3</SPAT>.",'
    ' "attributes": {"page": "1"}}\n'
    '{"id": "b", "text": "Blanc, r. Verte", "spans": [{"type": "PER", "start": 0, "end": 5},'
    ' {"type": "LOC", "start": 7, "end": 15, "parent": 2}, {"type": "SPAT", "start": 7, "end": 15}],'
    ' "attributes": {"page": "1"}}\n',
}
TRADE: Files = {
    "dataset/41-ner_ref_from_pero/gold.csv": '"<PER>Roux</PER>, 3", "Bon_1801"\n"<PER>Le "Vif"</PER>", "Bon_1801"\n',
    "dataset/31-ner_align_pero/gold.csv": '"<PER>Rou&apos;x</PER>, 3", "Bon_1801"\n"<PER>Le Vii</PER>", "Bon_1801"',
    "dataset/31-ner_align_pero/all.json": [
        {"book": "Bon_1801", "page": 1, "nested_ner_xml": "<PER>Rou&apos;x</PER>, 3", "has_valid_ner_xml": True},
        {"book": "Bon_1801", "page": 1, "nested_ner_xml": "<PER></PER>, 3", "has_valid_ner_xml": False},
        {"book": "Bon_1801", "page": 2, "nested_ner_xml": "<PER>Le Vii</PER>", "has_valid_ner_xml": True},
    ],
}
WHOLE: Mapping[str, Files] = {
    "letters": LETTERS,
    "letters_csv": LETTERS_CSV,
    "manuscripts": PAGES,
    "directories": ENTRIES,
    "trade": TRADE,
}
