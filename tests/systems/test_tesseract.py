"""Tesseract as a system, its layout rules, and the rules for letters."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from histeval.datasets import load_dataset
from histeval.datasets.base import Dataset, Document
from histeval.errors import MissingExtraError, UsageError
from histeval.runs import score_paths
from histeval.runs.folder import read_lines, read_run
from histeval.systems import tesseract
from histeval.systems.base import Request, open_system
from histeval.systems.letter_rules import address_block, extract, find_dates, signature_block
from histeval.systems.run import run_systems
from histeval.systems.tesseract import Block, arrange, check_installed, parse_blocks
from histeval.tasks import get_task
from histeval.tasks.description import AuthorityEntry
from histeval.tasks.truth import LetterTruth
from support import DATA, needs_data

needs_tesseract = pytest.mark.skipif(
    shutil.which("tesseract") is None, reason="needs Tesseract: apt-get install tesseract-ocr tesseract-ocr-deu"
)
CHRIST = AuthorityEntry("Christ-Wackernagel, Paul", ("Herrn Christ", "Paul Christ", "P."))


@pytest.mark.parametrize(
    ("line", "date"),
    [
        ("Basel, den 16. Februar 1926.", "1926-02-16"),
        ("Basel,den 29.März 1926.", "1926-03-29"),
        ("Zürich, 3.Jnni 1926", "1926-06-03"),
        ("den 2. Mai 26", "1926-05-02"),
        ("Basel, 13.VII.1926", "1926-07-13"),
        ("16.2.26", "1926-02-16"),
        ("Paris, le 1er août 1927", "1927-08-01"),
        ("Genève, 12 décembre 1930", "1930-12-12"),
        ("London, February 16th, 1926", "1926-02-16"),
        ("3rd March 1926", "1926-03-03"),
        ("1926-02-16", "1926-02-16"),
    ],
)
def test_dates_as_letters_write_them(line: str, date: str) -> None:
    assert list(find_dates([line], 19)) == [date]


@pytest.mark.parametrize(
    "line", ["Telephon: Birsig 69.90-92", "Postcheck-Konto V 3012", "32. Mai 1926", "5 Schiffe 1926", ""]
)
def test_what_is_no_date(line: str) -> None:
    assert list(find_dates([line], 19)) == []


def test_address_salutation_and_signature() -> None:
    german = [
        "Basler Rheinschiffahrt-Aktiengesellschaft", "Basel, den 16. Februar 1926", "Herrn", "Paul Christ",
        "i/Fa. Paravicini, Christ & Co.", "Sehr geehrter Herr Christ,", "wir danken Ihnen.",
        "Mit vorzüglicher Hochachtung", "BASLER RHEINSCHIFFAHRT A.-G.", "Fritz Ritter", "L. Groschupf",
    ]  # fmt: skip
    assert address_block(german) == ["Herrn Paul Christ"]
    assert signature_block(german) == ["BASLER RHEINSCHIFFAHRT A.-G.", "Fritz Ritter", "L. Groschupf"]
    found = extract([german], [CHRIST], "1926-1935")
    assert found["send_date"] == ["1926-02-16"]
    assert found["receiver_persons"] == ["Christ-Wackernagel, Paul"]
    assert found["sender_persons"] == ["Fritz Ritter", "L. Groschupf"]
    french = [
        "Genève, le 3 mai 1927",
        "Monsieur Jean Dupont",
        "Cher Monsieur,",
        "merci.",
        "Veuillez agréer",
        "Paul Martin",
    ]
    found = extract([french], period="1926-1935")
    assert (found["receiver_persons"], found["sender_persons"]) == (["Jean Dupont"], ["Paul Martin"])
    english = ["May 3, 1927", "Mr. John Smith", "Dear Sir,", "thank you.", "Yours faithfully", "Henry Jones"]
    found = extract([english], period="1926-1935")
    assert (found["receiver_persons"], found["sender_persons"]) == (["John Smith"], ["Henry Jones"])


def test_a_misread_name_is_found_in_the_authority_list_and_a_short_form_finds_nobody() -> None:
    found = extract([["Herrn Pau1 Chrlst-Wackernagel", "Sehr geehrter Herr,"]], [CHRIST])
    assert found["receiver_persons"] == ["Christ-Wackernagel, Paul"]
    found = extract([["Herrn P. Meyer", "Sehr geehrter Herr,"]], [CHRIST])
    assert found["receiver_persons"] == ["P. Meyer"]


def test_empty_pages_and_endless_lines() -> None:
    assert extract([]) == {"send_date": [], "sender_persons": [], "receiver_persons": [], "letter_title": []}
    assert extract([["x" * 100_000, "1. " * 20_000]])["send_date"] == []


def test_the_largest_block_is_the_text_and_those_beside_it_are_additions() -> None:
    main = Block(300, 400, 1500, 2000, ["Vnd ein pferit die mir vnd", "minen knechten"], [60.0, 50.0])
    above = Block(320, 300, 1400, 390, ["do was"], [40.0])
    folio = Block(1600, 50, 1700, 100, ["93"], [80.0])
    late = Block(20, 1500, 250, 1700, ["vn zougt ma"], [50.0])
    early = Block(20, 500, 250, 700, ["vns och"], [50.0])
    noise = Block(10, 10, 20, 20, ["| -"], [10.0])
    speck = Block(10, 900, 30, 920, ["e"], [10.0])
    record, left_out = arrange([late, main, noise, folio, above, early, speck])
    assert record == {
        "folio": "93",
        "text": "do was\nVnd ein pferit die mir vnd\nminen knechten",
        "addition1": "vns och",
        "addition2": "vn zougt ma",
    }
    assert left_out == 2
    assert arrange([]) == ({"folio": "", "text": ""}, 0)


def test_the_table_of_tesseract() -> None:
    head = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"
    rows = [
        "2\t1\t1\t0\t0\t0\t10\t20\t100\t50\t-1\t",
        "5\t1\t1\t1\t1\t1\t10\t20\t40\t20\t91.5\tVnd",
        "5\t1\t1\t1\t1\t2\t60\t20\t40\t20\t80\tein",
        "5\t1\t1\t1\t2\t1\t10\t45\t40\t20\t70\tpferit",
        "2\t1\t2\t0\t0\t0\t0\t0\t5\t5\t-1\t",
        "broken row",
    ]
    (block,) = parse_blocks(head + "\n".join(rows))
    assert block.lines == ["Vnd ein", "pferit"]
    assert (block.left, block.top, block.right, block.bottom) == (10, 20, 110, 70)
    assert parse_blocks("") == []


def typed_letter(file: Path, lines: list[str]) -> None:
    image = Image.new("L", (1240, 900), 255)
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=34)
    for number, line in enumerate(lines):
        draw.text((90, 60 + 70 * number), line, fill=0, font=font)
    image.save(file, dpi=(150, 150))


@pytest.mark.tesseract
@needs_tesseract
def test_a_typed_letter_is_read(tmp_path: Path) -> None:
    typed_letter(
        tmp_path / "letter1_p1.png",
        ["Basel, den 16. Februar 1926", "Herrn Paul Christ", "Sehr geehrter Herr Christ,", "wir danken Ihnen bestens.",
         "Hochachtungsvoll", "Fritz Ritter"],
    )  # fmt: skip
    truth = LetterTruth({"send_date": ("1926-02-16",), "sender_persons": ("Fritz Ritter",)})
    document = Document("letter1", truth, "letter1", images=(tmp_path / "letter1_p1.png",))
    description = get_task("letters").default_description()
    dataset = Dataset(
        "letters", "typed", tmp_path, description, {"letter1": document}, {"persons": (CHRIST,)}, "a" * 64
    )
    (result,) = run_systems(get_task("letters"), dataset, systems=["tesseract/eng"], out=tmp_path / "run")
    assert result.complete
    (line,) = read_lines(tmp_path / "run")
    metadata = line["record"]["metadata"]
    assert metadata["send_date"] == ["1926-02-16"]
    assert metadata["sender_persons"] == ["Fritz Ritter"]
    assert metadata["receiver_persons"] == ["Christ-Wackernagel, Paul"]
    assert "Februar 1926" in line["recognised"][0]
    run = read_run(tmp_path / "run")
    assert "floor" in run["notes"][0]
    assert run["versions"]["tesseract"]
    assert run["reads_images"] == "local"


@pytest.mark.tesseract
@pytest.mark.data
@needs_tesseract
@needs_data
def test_a_real_letter_and_a_real_page(tmp_path: Path) -> None:
    letters = load_dataset("letters", DATA / "rise" / "benchmarks" / "business_letters")
    run_systems(get_task("letters"), letters, systems=["tesseract/deu"], out=tmp_path / "l", documents=["letter05"])
    (scored,) = score_paths(get_task("letters"), letters, [tmp_path / "l"])
    assert scored.documents == 1
    assert scored.failed == 0
    counts = dict(zip(scored.scorer.columns, scored.sums.tolist(), strict=True))
    assert counts["send_date_tp"] == 1
    pages = load_dataset("manuscripts", DATA / "rise" / "benchmarks" / "medieval_manuscripts")
    run_systems(get_task("manuscripts"), pages, systems=["tesseract/deu"], out=tmp_path / "m", documents=["image_10"])
    (scored,) = score_paths(get_task("manuscripts"), pages, [tmp_path / "m"])
    assert scored.failed == 0
    assert 0 < (scored.values["fuzzy"] or 0) < 0.6


def test_a_missing_program_or_language_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingExtraError, match="tesseract-ocr tesseract-ocr-deu tesseract-ocr-script-frak"):
        check_installed(["deu", "Fraktur"], program="no-such-program")
    if shutil.which("tesseract"):
        with pytest.raises(MissingExtraError, match=r"no language 'xyz'.*tesseract-ocr-xyz"):
            check_installed(["xyz"])


def test_wrong_use_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tesseract, "check_installed", lambda languages: "5")
    description = get_task("letters").default_description()
    dataset = Dataset("letters", "empty", tmp_path, description, {}, {}, "a" * 64)
    for name, settings, word in (
        ("tesseract/", {}, "names no language"),
        ("tesseract/../x", {}, "names no language"),
        ("tesseract/deu", {"temperature": 1}, "no setting of tesseract"),
        ("tesseract/deu", {"psm": 99}, "psm"),
    ):
        with pytest.raises(UsageError, match=word):
            open_system(name, Request(get_task("letters"), dataset, settings=settings))
    with pytest.raises(UsageError, match="page images"):
        open_system("tesseract/deu", Request(get_task("directories"), dataset))
