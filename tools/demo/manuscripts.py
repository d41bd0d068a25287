"""Four invented pages of a travel book as it might have been written about 1475, by us and nobody else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from demo.drawing import IRON_GALL, RED, Colour, Floats, Sheet, clouds, face, picture, save, scan

WIDTH, HEIGHT = 900, 1240
LINE = 64
SIZE = 43
BROWN: Colour = (96, 62, 36)
LATE: Colour = (74, 66, 60)

# The face has no digits, no round r, no dots and no bar over e: other faces lend the former, the rest is drawn.
LENT = {"ꝛ": "junicode", **dict.fromkeys("023456789", "zainer"), "1": "junicode"}
DOTTED = {"ü": "u", "ö": "o", "ÿ": "y", "ä": "a"}
BARRED = {"ē": "e"}


@dataclass(frozen=True)
class Addition:
    """A note in the margin: its lines, where it begins, and the hand."""

    lines: tuple[str, ...]
    x: int
    y: int
    colour: Colour = BROWN


@dataclass(frozen=True)
class Page:
    number: int
    reference: str
    folio: str
    """Empty on versos, which bear no number."""
    lines: tuple[str, ...]
    additions: tuple[Addition, ...] = ()
    initial: str = ""
    """A red initial that takes the first letter of the first line and two lines of height."""

    @property
    def recto(self) -> bool:
        return self.reference.endswith("r]")


PAGES = (
    Page(
        1,
        "[4r]",
        "4",
        (
            "Item am zinſtag noch ſant vlrich",
            "ſint wir von der ſtatt geriten",
            "vnd kament an das groſz waſſer",
            "do was die brugk zerbrochē vnd",
            "mueſtent wir der ferē warten",
            "bitz zuo der veſper zit Vnd do",
            "der ferg kam do wolt er vō jedem",
            "pferit dꝛÿ ſchilling han Do ſprach",
            "min geſell das wer zuo vil vnd",
            "gab im zwen vnd ein bꝛot",
            "Itꝰ vff der andꝛen ſitē lit ein",
            "clein dorff heiſſet zem Silberberg",
            "do iſt guoter win vnd boeſe bet",
            "vnd belibent do vber nacht",
        ),
        (Addition(("nota", "precium"), 722, 620),),
        "I",
    ),
    Page(
        2,
        "[4v]",
        "",
        (
            "Vnd moꝛndis frueg rittent wir",
            "durch einē finſtren wald der",
            "waz wol zwo mil lang vnd was",
            "kein weg dar inn denn den die",
            "koler habent gemacht Do viel",
            "min pferit in ein loch vnd bꝛach",
            "den zoum vnd den ſattel bogen",
            "vnd giengent wir ze fuoſz bitz",
            "an den halben tag Itꝰ do fundēt",
            "wir ein bꝛuoder der gab vnſz kaͤs",
            "vnd nüſſe vnd ſeit vnſz von einē",
            "wurm der were in dem ſelben",
            "wald geſeſſen vnd hette vil",
            "lüten ſchaden geton",
        ),
        (
            Addition(("von dem", "wurm"), 60, 880, RED),
            Addition(("der bꝛuoder", "hies", "Ruopꝛecht"), 50, 690),
        ),
    ),
    Page(
        3,
        "[11r]",
        "11",
        (
            "Die ſtatt lit an einē ſe vnd",
            "hat ſiben toꝛ vff jedē toꝛ ein",
            "hürnē wachter der bloſet alle",
            "ſtund Itꝰ in der kilchen zuo ſant",
            "afꝛen lit ein küng begꝛabē in eim",
            "ſteinin ſarg Der ſelb küng hatt",
            "dꝛÿ ſün die woltent alle dꝛÿ noch",
            "im küng ſin do teilt er daz rich",
            "dem erſten gab er das land dem",
            "anderē die ſchif vnd dem dꝛittē",
            "nüt denn ſinen guotē rat",
            "Itꝰ man ſpꝛicht der dꝛitt ſÿ der",
            "richeſt woꝛden",
        ),
        (),
        "D",
    ),
    Page(
        4,
        "[12v]",
        "",
        (
            "Item was wir verzert hand von der",
            "ſtatt bitz an das mer",
            "Itꝰ dem wirt zem ſtern   ij guldin",
            "Itꝰ vmb hoͤw vnd haber   xiiij ſchilling",
            "Itꝰ dem ſchmid von zweÿ iſen  iij ſchilling",
            "Itꝰ dem knecht ein hemd  vj ſchilling",
            "Itꝰ vmb ein lateren vnd kertzen  ix d",
            "Itꝰ den ſpil lüten vff dem plon  i guldin",
            "Itꝰ dem artzat der minē geſellen",
            "den zan vſz bꝛach  v ſchilling",
            "Itꝰ vmb bappir vnd dinten  viij d",
            "Summa dꝛÿ guldin j lib v d",
        ),
        (
            Addition(("iſt bezalt",), 70, 424),
            Addition(("Summa", "falſa"), 66, 880, LATE),
        ),
    ),
)


def pieces(text: str) -> list[tuple[str, str, str]]:
    """Text as runs of (face, characters, mark to draw above): what the main face lacks is lent by another one."""
    runs: list[tuple[str, str, str]] = []
    for character in text:
        name = LENT.get(character, "rusch")
        mark = "dots" if character in DOTTED else "bar" if character in BARRED else ""
        plain = DOTTED.get(character) or BARRED.get(character) or character
        if runs and not mark and not runs[-1][2] and runs[-1][0] == name:
            runs[-1] = (name, runs[-1][1] + plain, "")
        else:
            runs.append((name, plain, mark))
    return runs


def script(sheet: Sheet, x: float, y: float, text: str, size: int, colour: Colour) -> float:
    """A line of the bookhand with its base line at `y`; letters wander a little. Returns where it ends."""
    pen = sheet.ink(colour)
    for name, run, mark in pieces(text):
        font = face(name, round(size * (1.06 if name == "junicode" else 1.0)))
        for index, character in enumerate(run):
            if character == "\u0364":
                # The small e above a vowel.
                small = face("rusch", round(size * 0.5))
                pen.text((x - size * 0.36, y - size * 0.46), "e", font=small, fill=235, anchor="ls")
                continue
            lift = sheet.draw.uniform(-0.9, 0.9)
            pen.text((x, y + lift), character, font=font, fill=sheet.draw.randint(205, 255), anchor="ls")
            width = font.getlength(character)
            if mark == "bar":
                high = y - size * 0.6 + lift
                pen.line((x + width * 0.12, high + 2, x + width * 0.95, high - 2), fill=235, width=round(size / 14))
            if mark == "dots":
                for part in (0.3, 0.62):
                    middle, top, radius = x + width * part, y - size * 0.56 + lift, size * 0.052
                    pen.ellipse((middle - radius, top - radius, middle + radius, top + radius), fill=235)
            following = run[index + 1] if index + 1 < len(run) else ""
            kern = font.getlength(character + following) - width - font.getlength(following) if following else 0.0
            x += width + kern + sheet.draw.uniform(-0.35, 0.35)
    return x


def ruling(sheet: Sheet, left: float, top: float, right: float, count: int) -> None:
    pen = sheet.ink((188, 160, 128))
    for index in range(count + 1):
        y = top + index * LINE + 9
        pen.line((left - 8, y, right + 14, y + sheet.draw.uniform(-1, 1)), fill=105, width=1)
    for x in (left - 10, right + 12):
        pen.line((x, 46, x + sheet.draw.uniform(-1, 1), HEIGHT - 60), fill=120, width=1)


def initial(sheet: Sheet, letter: str, x: float, y: float) -> None:
    """A red lombard with a few strokes of the pen around it."""
    pen = sheet.ink(RED)
    pen.text((x, y), letter, font=face("zainer", 166), fill=240, anchor="ls")
    for turn in range(2):
        sheet.flourish(
            [(x - 8 - turn * 7, y - 90), (x - 20, y + 20), (x - 6 - turn * 12, y + 80), (x - 30, y + 150)], RED, 3
        )


def vellum(sheet: Sheet, page: Page) -> Floats:
    """Parchment: a darker gutter and outer edge, the hair side's specks, and a stain."""
    bare = sheet.sheet(5.0, (), 0.55, 0.2)
    across = np.arange(WIDTH)[None, :] / WIDTH
    gutter = across if page.recto else 1 - across
    shade = 30 * np.exp(-gutter * 22) + 9 * np.exp(-(1 - gutter) * 14)
    specks = clouds(sheet.noise, WIDTH, HEIGHT, 5)
    spots = np.where(specks > 2.7, 14.0, 0.0)
    down, side = np.mgrid[0:HEIGHT, 0:WIDTH]
    x, y = sheet.draw.uniform(0.2, 0.8) * WIDTH, sheet.draw.uniform(0.75, 0.95) * HEIGHT
    distance = np.hypot((side - x) / 1.3, down - y) + clouds(sheet.noise, WIDTH, HEIGHT, 60) * 9
    stain = 9 / (1 + np.exp((distance - 90) / 4)) + 8 * np.exp(-((distance - 90) ** 2) / 30)
    result: Floats = bare - (shade + spots + stain)[:, :, None] * np.array([0.75, 1.0, 1.35])
    return result


def through(pixels: Floats, other: Image.Image) -> Floats:
    """The ink of the leaf's other side, faint and in mirror writing."""
    mirrored = np.asarray(other.transpose(Image.Transpose.FLIP_LEFT_RIGHT), dtype=np.float64) / 255
    return pixels - 13 * mirrored[:, :, None]


def draw(page: Page) -> Sheet:
    sheet = Sheet(WIDTH, HEIGHT, f"leaf {page.reference}", (229, 211, 174))
    left, right = (112, 690) if page.recto else (218, 812)
    top = 168
    ruling(sheet, left, top, right, 15)
    for index, line in enumerate(page.lines):
        x, y = float(left), top + index * LINE + sheet.draw.uniform(-1.5, 1.5)
        text = line
        if page.initial and index < 2:
            x += 70 if page.initial == "I" else 142
            text = line[1:] if index == 0 else line
        if page.number == 4 and "  " in line:
            entry, _, amount = line.partition("  ")
            script(sheet, x, y, entry, SIZE - 5, IRON_GALL)
            width = sum(face(name, SIZE - 5).getlength(run) for name, run, _ in pieces(amount.strip()))
            script(sheet, right + 8 - width, y, amount.strip(), SIZE - 5, IRON_GALL)
        else:
            script(sheet, x, y, text, SIZE if page.number != 4 else SIZE - 5, IRON_GALL)
    if page.initial:
        initial(sheet, page.initial, left - 4, top + LINE + 2)
    if page.folio:
        script(sheet, WIDTH - 96, 84, page.folio, 36, LATE)
    for note in page.additions:
        for index, line in enumerate(note.lines):
            script(sheet, note.x, note.y + index * 33, line, 27, note.colour)
    return sheet


def record(page: Page) -> dict[str, object]:
    """The truth in the published form: lines parted by a newline and a blank."""
    fields: dict[str, str] = {"folio": page.folio, "text": join(page.lines)}
    additions = sorted(page.additions, key=lambda note: note.y)
    fields["addition1"] = join(additions[0].lines) if additions else ""
    for index, note in enumerate(additions[1:], start=2):
        fields[f"addition{index}"] = join(note.lines)
    return {page.reference: [fields]}


def join(lines: Sequence[str]) -> str:
    return "\n ".join(" ".join(line.split()) for line in lines)


BED: Colour = (34, 32, 32)
ANGLES = {1: 0.4, 2: -0.5, 3: 0.7, 4: -0.3}
QUALITY = 46

DESCRIPTION = """\
# Invented for Histeval: no such manuscript.
task = "manuscripts"
name = "demo_manuscripts"
title = "Invented leaves of a travel book"
text = \"\"\"Four pages in the German of about 1475, written for Histeval and typeset as page images: folio number on
rectos, main text, additions in the margin. Long s, u for v and abbreviation signs stand as on the page.\"\"\"
languages = ["gmh"]
period = "15th century"
unit = "page"
licence = "MIT"
citation = "Histeval, bundled demo data (invented)"
published = "2026-11-30"
source = "tools/make_demo_data.py of the Histeval repository"
"""


def rounded(leaf: Image.Image, page: Page) -> None:
    """Worn outer corners."""
    pen = ImageDraw.Draw(leaf)
    edge = WIDTH if page.recto else 0
    inward = -1 if page.recto else 1
    pen.polygon([(edge, 0), (edge + inward * 30, 0), (edge + inward * 9, 8), (edge, 26)], fill=BED)
    pen.polygon(
        [(edge, HEIGHT), (edge + inward * 52, HEIGHT), (edge + inward * 16, HEIGHT - 14), (edge, HEIGHT - 44)], fill=BED
    )


def write_images(folder: Path, pages: Sequence[Page] = PAGES) -> None:
    for page in pages:
        sheet = draw(page)
        pixels = vellum(sheet, page)
        # The other side of the same leaf shines through.
        for other in PAGES:
            if other is not page and other.reference[:-2] == page.reference[:-2]:
                pixels = through(pixels, draw(other).inks[IRON_GALL])
        leaf = picture(pixels)
        rounded(leaf, page)
        save(scan(leaf, ANGLES[page.number], BED), folder / "images" / f"image_{page.number}.jpg", QUALITY)


def write_truth(folder: Path) -> None:
    """Ground truth and description."""
    truth = folder / "ground_truths"
    truth.mkdir(parents=True, exist_ok=True)
    for page in PAGES:
        text = json.dumps(record(page), ensure_ascii=False, indent=2)
        (truth / f"image_{page.number}.json").write_text(text + "\n", encoding="utf-8", newline="\n")
    (folder / "dataset.toml").write_text(DESCRIPTION, encoding="utf-8", newline="\n")


def write(folder: Path) -> None:
    """Writes the dataset: images, ground truth, description."""
    write_images(folder)
    write_truth(folder)
