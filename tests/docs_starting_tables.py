"""The files of docs/starting/conll.md and docs/starting/spreadsheet.md that are not written out there."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import openpyxl

HIPE = (
    "TOKEN NE-COARSE-LIT NE-COARSE-METO NE-FINE-LIT NE-FINE-METO NE-FINE-COMP NE-NESTED NEL-LIT NEL-METO MISC",
    "# hipe2022:document_id = harbour-1902-03-04",
    "# hipe2022:language = de",
    "Prof B-pers O B-pers.ind O B-comp.title O Q1 _ NoSpaceAfter",
    ". I-pers O I-pers.ind O I-comp.title O Q1 _ _",
    "Anna I-pers O I-pers.ind O B-comp.name O Q1 _ _",
    "von I-pers O I-pers.ind O I-comp.name O Q1 _ _",
    "Basel I-pers O I-pers.ind O I-comp.name B-loc.adm.town Q1 _ EndOfLine",
)


def conll(folder: Path) -> dict[str, str]:
    """A HIPE file, which has tabs between its columns."""
    lines = [line if line.startswith("# ") else line.replace(" ", "\t") for line in HIPE]
    (folder / "edition.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {}


def spreadsheet(folder: Path) -> dict[str, str]:
    """A workbook of letters in Portuguese, and what a model answered."""
    letters: list[list[Any]] = [
        ["Cartas da capitania de Vilar"],
        ["Cota", "Data", "Remetente", "Destinatário", "Lugares mencionados", "Folhas", "Idioma"],
        ["VL-1", datetime.datetime(1907, 3, 4), "Sá, Inês", "Novák, Petr", "Vilar; Porto", 2, "pt"],
        ["VL-2", "05.03.1907", "P. Novák", "Sá, Inês; Braga, Rui", "Lisboa", 12, "fr"],
        ["VL-3", "sem data", "https://d-nb.info/gnd/118540238", "Braga, Rui", None, 1, "pt"],
    ]
    persons: list[list[Any]] = [
        ["Nome", "Variantes", "GND"],
        ["Sá, Inês", "Inês Sá; D. Inês de Sá", "118540238"],
        ["Novák, Petr", "P. Novák", None],
        ["Braga, Rui", None, None],
    ]
    book = openpyxl.Workbook()
    for sheet, rows in ((book.active, letters), (book.create_sheet("Pessoas"), persons)):
        for row in rows:
            sheet.append(row)
    book.active.title = "Cartas"
    book.save(folder / "cartas.xlsx")
    records = {
        "VL-1": {"send_date": "4.3.1907", "sender_persons": ["D. Inês de Sá"], "receiver_persons": ["Novák, Petr"],
                 "mentioned_places": ["Porto"], "folhas": 2},
        "VL-2": {"send_date": "1907-03-05", "sender_persons": ["P. Novák"], "receiver_persons": ["Inês Sá"],
                 "mentioned_places": ["Lisboa", "Tejo"], "folhas": 12.0},
        "VL-3": {"send_date": None, "sender_persons": ["Braga, Rui"], "receiver_persons": ["rui braga"], "folhas": 1},
    }  # fmt: skip
    lines = [json.dumps({"document": name, "record": record}) for name, record in records.items()]
    (folder / "model.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {}
