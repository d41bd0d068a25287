"""Tesseract as a system: a floor to compare models with. It reads print; of handwriting it makes little.

Manuscripts: the largest block is the text, blocks beside it are additions, a block of digits above it is the folio
number. Letters: the recognised text, and a few rules (`letter_rules`). The program is called as it is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from histeval.datasets.base import Document
from histeval.errors import MissingExtraError, SystemFault, UsageError
from histeval.systems.base import Reply, Request
from histeval.systems.images import ImageError, PreparedImage, prepare_pages, rule_for
from histeval.systems.letter_rules import as_record, extract
from histeval.tasks.base import Answer

PROGRAM = "tesseract"
TIMEOUT = 300.0
FLOOR = "Tesseract with a few rules is a floor to compare models with, not a system to be recommended"
_LANGUAGE = re.compile(r"[A-Za-z][A-Za-z0-9_/-]*(?:\+[A-Za-z][A-Za-z0-9_/-]*)*")
_SETTINGS = ("psm", "timeout")


def open_system(name: str, request: Request) -> TesseractSystem:
    """`tesseract/deu`, `tesseract/deu+Fraktur`, ...; raises MissingExtraError where program or language is missing."""
    if request.task.name not in ("letters", "manuscripts"):
        raise UsageError(f"tesseract reads page images, which the task {request.task.name} does not start from")
    if not _LANGUAGE.fullmatch(name):
        raise UsageError(f"tesseract/{name} names no language; name it as tesseract/deu or tesseract/deu+fra")
    for key in request.settings:
        if key not in _SETTINGS:
            raise UsageError(f"{key!r} is no setting of tesseract; it has {' and '.join(_SETTINGS)}")
    check_installed(name.split("+"))
    return TesseractSystem(name, request)


def check_installed(languages: Sequence[str], program: str = PROGRAM) -> str:
    """The version of Tesseract; raises MissingExtraError where it or a language is missing."""
    place = shutil.which(program)
    if place is None:
        packages = " ".join(_package(language) for language in languages)
        raise MissingExtraError(
            f"Tesseract is not installed; install it with: apt-get install tesseract-ocr {packages} "
            "(macOS: brew install tesseract tesseract-lang)"
        )
    listed = subprocess.run([place, "--list-langs"], capture_output=True, text=True, timeout=60, check=False)
    known = {line.strip() for line in (listed.stdout + listed.stderr).splitlines()[1:]}
    for language in languages:
        if language not in known:
            raise MissingExtraError(
                f"Tesseract has no language {language!r} (it has {', '.join(sorted(known - {'osd', ''}))}); "
                f"install it with: apt-get install {_package(language)}"
            )
    version = subprocess.run([place, "--version"], capture_output=True, text=True, timeout=60, check=False)
    words = (version.stdout or version.stderr).split()
    return words[1] if len(words) > 1 else "unknown"


def _package(language: str) -> str:
    """The Debian package of a language."""
    script = {"Fraktur": "script-frak", "Latin": "script-latn", "Cyrillic": "script-cyrl", "Greek": "script-grek"}
    name = language.removeprefix("script/")
    return f"tesseract-ocr-{script.get(name, name.lower().replace('_', '-'))}"


@dataclass
class Block:
    """A block of recognised text: its box in pixels (left, top, right, bottom), its lines, the words' confidences."""

    left: int
    top: int
    right: int
    bottom: int
    lines: list[str] = field(default_factory=list)
    confidences: list[float] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The lines, joined by line breaks."""
        return "\n".join(self.lines)

    @property
    def characters(self) -> int:
        """Letters and digits in it."""
        return sum(character.isalnum() for character in self.text)


class TesseractSystem:
    """Tesseract in one or several languages."""

    reads_images = "local"

    def __init__(self, languages: str, request: Request) -> None:
        self.name = f"tesseract/{languages}"
        self.languages = languages
        self.request = request
        self.concurrency = os.cpu_count() or 1
        self.notes = [FLOOR]
        self.letters = request.task.name == "letters"
        psm = request.settings.get("psm", 6 if self.letters else 3)
        if type(psm) is not int or not 0 <= psm <= 13:
            raise UsageError(f"psm is a page segmentation mode of Tesseract, 0 to 13, not {psm!r}")
        self.settings = {"psm": psm}

    @cached_property
    def about(self) -> dict[str, Any]:
        """What run.json keeps of it."""
        return {"versions": {"tesseract": check_installed(self.languages.split("+"))}}

    def answer(self, document: Document, repeat: int = 0) -> Reply:
        """The record that Tesseract and the rules make of a document."""
        start = time.monotonic()
        try:
            pages = prepare_pages(document.images, rule_for("general"))
        except ImageError as fault:
            return Reply(Answer(document.id, error="missing", repeat=repeat), again=True, detail=str(fault))
        try:
            extra: dict[str, Any] = {"images": [page.describe() for page in pages]}
            record, more = self._letter(pages) if self.letters else self._manuscript(pages)
        except subprocess.TimeoutExpired:
            answer = Answer(document.id, error="provider_error", repeat=repeat)
            return Reply(answer, detail=f"Tesseract took longer than {self._timeout:.0f} seconds")
        seconds = round(time.monotonic() - start, 3)
        return Reply(
            Answer(document.id, record=record, repeat=repeat, seconds=seconds, cost=0.0), extra={**extra, **more}
        )

    @property
    def _timeout(self) -> float:
        return float(self.request.settings.get("timeout", TIMEOUT))

    def _letter(self, pages: Sequence[PreparedImage]) -> tuple[Any, dict[str, Any]]:
        read = [[line for block in self._blocks(page)[0] for line in block.lines] for page in pages]
        description = self.request.dataset.description
        persons = [entry for entries in self.request.dataset.authorities.values() for entry in entries]
        found = extract(read, persons, description.period)
        fields = [one.name for one in description.fields] or list(found)
        return as_record(found, fields), {"recognised": ["\n".join(lines) for lines in read]}

    def _manuscript(self, pages: Sequence[PreparedImage]) -> tuple[Any, dict[str, Any]]:
        folios, left_out, modes = [], 0, []
        for page in pages:
            blocks, mode = self._blocks(page)
            folio, unused = arrange(blocks)
            folios.append(folio)
            left_out += unused
            modes.append(mode)
        more: dict[str, Any] = {"blocks_left_out": left_out} if left_out else {}
        if any(mode != self.settings["psm"] for mode in modes):
            more["psm_used"] = modes
        return {"folios": folios}, more

    def _blocks(self, page: PreparedImage) -> tuple[list[Block], int]:
        """Blocks of a page; where the layout analysis finds no text at all, the page is read as one block (mode 6)."""
        mode = self.settings["psm"]
        blocks = parse_blocks(self._call(page.data, mode))
        if not any(block.characters for block in blocks) and mode == 3:
            mode = 6
            blocks = parse_blocks(self._call(page.data, mode))
        return blocks, mode

    def _call(self, image: bytes, mode: int) -> str:
        command = [PROGRAM, "stdin", "stdout", "-l", self.languages, "--psm", str(mode), "tsv"]
        environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
        try:
            done = subprocess.run(
                command, input=image, capture_output=True, timeout=self._timeout, env=environment, check=False
            )
        except FileNotFoundError as fault:
            raise SystemFault("Tesseract was there and is gone; install it again") from fault
        if done.returncode != 0:
            words = " ".join(done.stderr.decode("utf-8", "replace").split())[:200]
            raise RuntimeError(f"Tesseract ended with status {done.returncode}: {words}")
        return done.stdout.decode("utf-8", "replace")


def parse_blocks(table: str) -> list[Block]:
    """Blocks with their lines from Tesseract's TSV output, in its order; blocks without a word are left out."""
    blocks: dict[int, Block] = {}
    lines: dict[tuple[int, ...], list[str]] = {}
    for row in table.splitlines()[1:]:
        cells = row.split("\t")
        if len(cells) < 12:
            continue
        try:
            level, _, number, paragraph, line = (int(cell) for cell in cells[:5])
            left, top, width, height = (int(cell) for cell in cells[6:10])
            confidence = float(cells[10])
        except ValueError:
            continue
        if level == 2:
            blocks[number] = Block(left, top, left + width, top + height)
        elif level == 5 and number in blocks and cells[11].strip():
            key = (number, paragraph, line)
            if key not in lines:
                lines[key] = []
            lines[key].append(cells[11].strip())
            blocks[number].confidences.append(confidence)
    for (number, _, _), words in lines.items():
        blocks[number].lines.append(" ".join(words))
    return [block for block in blocks.values() if block.lines]


def arrange(blocks: Sequence[Block]) -> tuple[dict[str, str], int]:
    """A folio from blocks, and how many blocks (noise without letters, or more than nine additions) were left out.

    The block with most letters is the text; blocks above and below it, which share at least half of their width with
    it, belong to it; those beside it are additions, from top to bottom; digits alone above it are the folio number.
    """
    written = [block for block in blocks if block.characters]
    left_out = len(blocks) - len(written)
    folio = {"folio": "", "text": ""}
    if not written:
        return folio, left_out
    main = max(written, key=lambda block: block.characters)
    column, beside = [], []
    for block in written:
        shared = min(block.right, main.right) - max(block.left, main.left)
        digits = block.text.strip(" .")
        if not folio["folio"] and digits.isdecimal() and len(digits) <= 4 and block.bottom <= main.top:
            folio["folio"] = digits
        elif shared * 2 >= block.right - block.left:
            column.append(block)
        elif block.characters >= 2 and statistics.mean(block.confidences) >= 20:
            beside.append(block)
        else:
            left_out += 1
    folio["text"] = "\n".join(block.text for block in sorted(column, key=lambda block: block.top))
    for number, block in enumerate(sorted(beside, key=lambda block: block.top)[:9], start=1):
        folio[f"addition{number}"] = block.text
    return folio, left_out + max(0, len(beside) - 9)
