"""The files that each page of docs/starting speaks of, by the name of the page. All content is invented.

A maker writes into a folder and gives what is to be replaced in the commands (an address by that of a server, say).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from docs_starting_tables import conll, spreadsheet
from transcription_samples import (
    JPEG,
    edition,
    escriptorium_export,
    hocr,
    hocr_block,
    hocr_line,
    page_xml,
    region,
    transkribus_export,
)

Maker = Callable[[Path], dict[str, str]]


def transkribus(folder: Path) -> dict[str, str]:
    """An export of ground truth, and one of what a model read."""
    transkribus_export(folder).rename(folder / "export.zip")
    model = folder / "model_output"
    model.mkdir()
    first = region("r1", "page-number", "17") + region(
        "r2", "paragraph", "Item der ſchiffman ſol", "das ſeil bewaren", ""
    )
    (model / "0001_harbour.xml").write_bytes(page_xml(first + region("r3", "marginalia", "nota bene")))
    second = region("r1", "paragraph", "vnd ſal es nit", "verderben laſſen") + region("r2", "marginalia", "vom feil")
    (model / "0002_harbour.xml").write_bytes(page_xml(second, image="0002_harbour.jpg"))
    return {}


def escriptorium(folder: Path) -> dict[str, str]:
    """An ALTO export with images, and the output of Tesseract for the same pages."""
    escriptorium_export(folder).rename(folder / "psalter_alto")
    output = folder / "tesseract"
    output.mkdir()
    lines = (hocr_line("l1", "שלום", "לכל"), hocr_line("l2", "קורא", "זח"))
    (output / "leaf_12.hocr").write_bytes(hocr(hocr_block("b", *lines), "leaf_12.png"))
    other = (hocr_line("l1", "benedicite"), hocr_line("l2", "p", "omnibus", "7", "singulis"))
    (output / "leaf_13.hocr").write_bytes(hocr(hocr_block("b", *other), "leaf_13.png"))
    return {}


def tei(folder: Path) -> dict[str, str]:
    """An edition, and what a language model answered."""
    edition(folder)
    records = {
        "rope_3r": {"folio": "iii", "text": "Von dem seil\nItem dz seil\nsol sin sin lang stark\nvnd guot"},
        "rope_3v": {"folio": "", "text": "wer es nimet\nder sol es geben", "addition1": "fur"},
    }
    lines = [json.dumps({"document": key, "record": {"folios": [value]}}) for key, value in records.items()]
    (folder / "answers.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return {}


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def scans(folder: Path) -> dict[str, str]:
    """A library's server with a manifest of two pages, and what two models answered."""
    served = folder / "served"
    served.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), lambda *args: _Quiet(*args, directory=str(served)))
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    canvases = [
        {"type": "Canvas", "label": {"none": [label]}, "items": [{"items": [{"body": {"id": f"{url}/{label}.jpg"}}]}]}
        for label in ("1r", "1v")
    ]
    manifest = {
        "@context": "http://iiif.io/api/presentation/3/context.json",
        "type": "Manifest",
        "label": {"en": ["Rope book"]},
        "rights": "http://creativecommons.org/publicdomain/mark/1.0/",
        "items": canvases,
    }
    (served / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    for label in ("1r", "1v"):
        (served / f"{label}.jpg").write_bytes(JPEG)
    answers = {"first": ("Item das ſeil\nſol ſtark ſin", "Wer es bricht"), "second": ("Item daz feil", "Wer eſ bricht")}
    for name, texts in answers.items():
        lines = [
            json.dumps({"document": f"000{n}", "record": {"folios": [{"folio": "", "text": text}]}})
            for n, text in enumerate(texts, 1)
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return {"https://iiif.library.example/rope": url}


MAKERS: dict[str, Maker] = {
    "transkribus": transkribus,
    "escriptorium": escriptorium,
    "tei": tei,
    "scans": scans,
    "conll": conll,
    "spreadsheet": spreadsheet,
}
