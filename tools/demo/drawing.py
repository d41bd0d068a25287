"""Paper, ink and the scanner: what turns set text into something that looks like a scan."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter, ImageFont

MADE_WITH = {"pillow": "13.0.0", "freetype2": "2.14.3", "numpy": "2.4.6"}
"""Versions that the committed images were made with; others may draw a grey level elsewhere."""
FONTS = Path("/usr/share/fonts")
FACES = {
    "courier": "opentype/courier-prime/Courier Prime.otf",
    "worn": "truetype/gnutypewriter/GNUTypewriter.ttf",
    "serif": "opentype/urw-base35/C059-Roman.otf",
    "serif bold": "opentype/urw-base35/C059-Bold.otf",
    "serif italic": "opentype/urw-base35/C059-Italic.otf",
    "sans": "opentype/urw-base35/URWGothic-Demi.otf",
    "narrow": "opentype/urw-base35/NimbusSansNarrow-Regular.otf",
    "script": "opentype/urw-base35/Z003-MediumItalic.otf",
    "lady": "opentype/dancingscript/DancingScript-Regular.otf",
    "pen": "truetype/kristi/Kristi.ttf",
    "pencil": "truetype/breip/Breip.ttf",
    "hand": "truetype/fifthhorseman/dkg.ttf",
    "rusch": "opentype/gotico-antiqua/Rusch-GoticoAntiqua100G.otf",
    "zainer": "opentype/gotico-antiqua/Zainer-GoticoAntiqua96G.otf",
    "initials": "opentype/gotico-antiqua/Zainer-Initials45mm.otf",
    "junicode": "opentype/junicode/JunicodeTwoBeta-Regular.otf",
}

FINE = 160
"""Points drawn between two knots of a stroke."""

Colour = tuple[int, int, int]
Floats = NDArray[np.float64]

TYPE: Colour = (38, 36, 44)
CARBON: Colour = (52, 50, 92)
BLUE: Colour = (34, 48, 120)
BLACK: Colour = (30, 26, 26)
VIOLET: Colour = (112, 58, 140)
RED: Colour = (168, 44, 40)
PENCIL: Colour = (110, 108, 112)
IRON_GALL: Colour = (58, 38, 24)


@cache
def face(name: str, size: int) -> ImageFont.FreeTypeFont:
    # The basic layout engine, since the other one depends on libraries that differ between machines.
    return ImageFont.truetype(str(FONTS / FACES[name]), size, layout_engine=ImageFont.Layout.BASIC)


def clouds(noise: np.random.Generator, width: int, height: int, grain: int) -> Floats:
    """Smooth noise of about unit size, `grain` pixels from crest to crest."""
    small = noise.normal(size=(height // grain + 3, width // grain + 3)).astype(np.float32)
    image = Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)
    return np.asarray(image, dtype=np.float64)


@dataclass
class Sheet:
    """A sheet of paper to write on: ink goes into one mask a colour; `scan` puts all of it together."""

    width: int
    height: int
    seed: str
    tint: Colour
    inks: dict[Colour, Image.Image] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)
        self.noise = np.random.default_rng(list(self.seed.encode()))

    def ink(self, colour: Colour) -> ImageDraw.ImageDraw:
        if colour not in self.inks:
            self.inks[colour] = Image.new("L", (self.width, self.height), 0)
        return ImageDraw.Draw(self.inks[colour])

    def print(
        self, x: float, y: float, text: str, name: str, size: int, colour: Colour = BLACK, at: str = "la"
    ) -> None:
        """Text as a printer sets it."""
        self.ink(colour).text((x, y), text, font=face(name, size), fill=230, anchor=at)

    def type(
        self, x: float, y: float, lines: Sequence[str], name: str, size: int, leading: int, colour: Colour = TYPE
    ) -> float:
        """Lines as a typewriter strikes them: every letter a little off, the same letters always the same way.

        Returns the height of the next line.
        """
        font = face(name, size)
        pen = self.ink(colour)
        step = font.getlength("n")
        habits = random.Random(self.seed[:8])
        raised = {character: habits.uniform(-0.9, 0.9) for character in map(chr, range(33, 383))}
        for line in lines:
            slope = self.draw.uniform(-0.5, 0.5)
            for column, character in enumerate(line):
                if character == " ":
                    continue
                across = x + column * step + self.draw.uniform(-0.5, 0.5)
                down = y + slope * column / 60 + raised.get(character, 0.0) + self.draw.uniform(-0.35, 0.35)
                # The worn face has no ampersand.
                struck = face("courier", size) if character == "&" else font
                pen.text((across, down), character, font=struck, fill=self.draw.randint(185, 255), anchor="ls")
            y += leading
        return y

    def slanted(self, x: float, y: float, text: str, name: str, size: int, colour: Colour, angle: float) -> None:
        """Text at an angle (degrees, upwards), such as a signature; (x, y) is where its base line begins."""
        font = face(name, size)
        left, right = int(font.getbbox(text)[0]), int(font.getbbox(text)[2])
        # Twice the size above and below the base line, whatever the letters, so that lines keep their distance.
        layer = Image.new("L", (right - left + 40, 4 * size), 0)
        ImageDraw.Draw(layer).text((20 - left, 2 * size), text, font=font, fill=235, anchor="ls")
        self.paste(layer, x, y, angle, colour)

    def paste(self, layer: Image.Image, x: float, y: float, angle: float, colour: Colour) -> None:
        turned = layer.rotate(angle, Image.Resampling.BICUBIC, expand=True)
        self.ink(colour)
        mask = self.inks[colour]
        place = (int(x), int(y - turned.height / 2))
        mask.paste(255, (*place, place[0] + turned.width, place[1] + turned.height), turned)

    def stamp(self, x: float, y: float, lines: Sequence[str], colour: Colour, angle: float, size: int = 21) -> None:
        """A rubber stamp with a frame, inked unevenly."""
        fonts = [face("narrow", size if index != 1 else size + 8) for index in range(len(lines))]
        width = int(max(font.getlength(line) for font, line in zip(fonts, lines, strict=True))) + 36
        height = sum(font.size + 7 for font in fonts) + 22
        layer = Image.new("L", (width + 8, int(height) + 8), 0)
        pen = ImageDraw.Draw(layer)
        pen.rounded_rectangle((3, 3, width, height), 8, outline=220, width=3)
        down = 12.0
        for font, line in zip(fonts, lines, strict=True):
            pen.text((width / 2 + 2, down), line, font=font, fill=225, anchor="ma")
            down += font.size + 7
        rough = clouds(self.noise, layer.width, layer.height, 9) * 60 + 190
        worn = np.asarray(layer, dtype=np.float64) * np.clip(rough, 60, 255) / 255
        self.paste(Image.fromarray(worn.astype(np.uint8)), x, y, angle, colour)

    def flourish(self, points: Sequence[tuple[float, float]], colour: Colour, width: float = 2.4) -> None:
        """A stroke of the pen through `points` (a Catmull-Rom curve), thinner towards its end."""
        pen = self.ink(colour)
        knots = [points[0], *points, points[-1]]
        total = (len(points) - 1) * FINE
        for index in range(total):
            segment, part = divmod(index, FINE)
            a, b, c, d = knots[segment : segment + 4]
            t = part / FINE
            where = [
                0.5 * (2 * q + (r - p) * t + (2 * p - 5 * q + 4 * r - s) * t * t + (3 * q - p - 3 * r + s) * t**3)
                for p, q, r, s in zip(a, b, c, d, strict=True)
            ]
            radius = width / 2 * (1.15 - 0.75 * index / total)
            pen.ellipse((where[0] - radius, where[1] - radius, where[0] + radius, where[1] + radius), fill=225)

    def paper(self, mottle: float, folds: Sequence[float]) -> Floats:
        """The bare sheet, as an array of height x width x 3."""
        light = clouds(self.noise, self.width, self.height, 180) * mottle
        light += clouds(self.noise, self.width, self.height, 34) * mottle * 0.35
        light += clouds(self.noise, self.width, self.height, 3) * 1.1
        down = np.arange(self.height)[:, None]
        across = np.arange(self.width)[None, :]
        edge = np.minimum(np.minimum(down, self.height - 1 - down), np.minimum(across, self.width - 1 - across))
        light -= 16 * np.exp(-edge / 22.0)
        for fold in folds:
            distance = down - fold * self.height + 1.5 * np.sin(across / 170.0)
            light += 6 * np.exp(-((distance + 3) ** 2) / 14) - 9 * np.exp(-(distance**2) / 5)
        warm = np.array([1.0, 1.06, 1.35])
        result: Floats = np.array(self.tint, dtype=np.float64) + light[:, :, None] * warm
        return result

    def sheet(self, mottle: float = 3.0, folds: Sequence[float] = (), soft: float = 0.5, uneven: float = 0.1) -> Floats:
        """Paper with its inks, as an array of height x width x 3."""
        result = self.paper(mottle, folds)
        for colour, mask in self.inks.items():
            blurred = np.asarray(mask.filter(ImageFilter.GaussianBlur(soft)), dtype=np.float64) / 255
            patchy = 0.93 + clouds(self.noise, self.width, self.height, 14) * uneven
            cover = np.clip(blurred * np.clip(patchy, 0.35, 1.0), 0, 1)[:, :, None]
            result = result * (1 - cover) + np.array(colour, dtype=np.float64) * cover
        return result

    def hole(self, image: Image.Image, x: float, y: float, bed: Colour) -> None:
        pen = ImageDraw.Draw(image)
        pen.ellipse((x - 13, y - 13, x + 15, y + 15), fill=(150, 144, 132))
        pen.ellipse((x - 13, y - 13, x + 13, y + 13), fill=bed)


def picture(pixels: Floats) -> Image.Image:
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def scan(page: Image.Image, angle: float, bed: Colour, margin: int = 16) -> Image.Image:
    """The page as it lies, a little askew, on the bed of a scanner."""
    size = (page.width + 2 * margin, page.height + 2 * margin)
    mask = Image.new("L", size, 0)
    mask.paste(255, (margin, margin, margin + page.width, margin + page.height))
    lying = Image.new("RGB", size, bed)
    lying.paste(page, (margin, margin))
    # The bed is flat; only the page turns on it, with its shadow.
    turned = lying.rotate(angle, Image.Resampling.BICUBIC, fillcolor=bed)
    mask = mask.rotate(angle, Image.Resampling.BICUBIC)
    shadow = mask.filter(ImageFilter.GaussianBlur(7))
    ground = Image.composite(
        Image.new("RGB", size, tuple(value // 2 for value in bed)), Image.new("RGB", size, bed), shadow
    )
    return Image.composite(turned, ground, mask)


def save(image: Image.Image, path: Path, quality: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path, "JPEG", quality=quality, optimize=True, progressive=True)
