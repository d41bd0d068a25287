"""Page images as a model can take them: upright, 8 bits, in a format and size that its provider accepts.

An image that is fine as it stands is sent byte for byte. What is changed is changed by a named rule, and said.
"""

from __future__ import annotations

import base64
import io
import math
import threading
import zlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from histeval.errors import InputError

if TYPE_CHECKING:
    from PIL import Image

MAX_FILE = 512 * 2**20
"""Bytes; a larger file is refused before it is read."""
MAX_PIXELS = 300_000_000
"""An image that says it has more pixels is refused before it is decoded (a decompression bomb, or no page)."""
MAX_FRAMES = 200
QUALITY = 92

SENT_AS_IS = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp"}
_PLAIN_MODES = ("1", "L", "P", "RGB", "RGBA", "LA")


class ImageError(InputError):
    """An image that cannot be sent: truncated, no image, or a bomb."""


@dataclass(frozen=True, slots=True)
class ImageRule:
    """What a provider takes: longest side in pixels, bytes of one image, and bytes of all images of a request.

    Bytes are those of the image files; base64 makes them a third longer, which these figures already allow for.
    """

    name: str
    max_side: int
    max_bytes: int
    max_total: int
    many: int = 0
    """From this number of images on, `many_side` is the longest side."""
    many_side: int = 0

    def describe(self) -> dict[str, Any]:
        """The rule as run.json keeps it."""
        return {"rule": self.name, "max_side": self.max_side, "max_bytes": self.max_bytes, "max_total": self.max_total}

    def for_request(self, images: int, max_side: int | None = None) -> ImageRule:
        """The rule for a request of so many images, and with a longest side that the person asked for."""
        side = self.many_side if self.many and images >= self.many else self.max_side
        share = self.max_total // max(1, images)
        return replace(self, max_side=min(side, max_side or side), max_bytes=min(self.max_bytes, share))


MIB = 2**20
RULES: Mapping[str, ImageRule] = {
    # Limits as the providers' documentation states them (read November 2025): Anthropic 5 MB of base64 an image, 8000
    # pixels a side or 2000 from 21 images on, 32 MB a request; Google 20 MB a request with inline data; Mistral 10 MB
    # an image, 10000 pixels; OpenAI 50 MB a request. `general` serves every other provider and local servers.
    "anthropic": ImageRule("anthropic-5mb-8000px", 8000, 15 * MIB // 4, 22 * MIB, 21, 2000),
    "google": ImageRule("google-20mb-request", 8000, 7 * MIB, 14 * MIB),
    "mistral": ImageRule("mistral-10mb-10000px", 10_000, 7 * MIB, 30 * MIB),
    "openai": ImageRule("openai-50mb-request", 8000, 15 * MIB, 36 * MIB),
    "general": ImageRule("general-8000px", 8000, 10 * MIB, 30 * MIB),
}


def rule_for(provider: str) -> ImageRule:
    """The rule of a provider as Inspect AI names it (`anthropic`, `google`, `bedrock`, ...).

    >>> rule_for("anthropic").max_side, rule_for("my-own-server").name
    (8000, 'general-8000px')
    """
    return RULES.get(provider, RULES["general"])


@dataclass(frozen=True, slots=True)
class PreparedImage:
    """An image ready to be sent: its bytes and media type, its size in pixels, and what was changed, in words."""

    file: str
    data: bytes
    media_type: str
    width: int
    height: int
    change: str = ""

    @property
    def data_uri(self) -> str:
        """The image as a `data:` address."""
        return f"data:{self.media_type};base64,{base64.b64encode(self.data).decode('ascii')}"

    def describe(self) -> dict[str, Any]:
        """What answers.jsonl keeps of it."""
        line: dict[str, Any] = {"file": self.file, "pixels": [self.width, self.height], "bytes": len(self.data)}
        return {**line, "change": self.change} if self.change else line


def prepare_pages(paths: tuple[Path, ...], rule: ImageRule, max_side: int | None = None) -> list[PreparedImage]:
    """The pages of one document, in the order given; a TIFF of several pages gives all of them.

    Raises ImageError, with the file, for what cannot be sent.
    """
    limits = rule.for_request(len(paths), max_side)
    prepared: list[PreparedImage] = []
    for path in paths:
        prepared.extend(prepare(path, limits))
    if len(prepared) > len(paths):
        limits = rule.for_request(len(prepared), max_side)
        prepared = [image for path in paths for image in prepare(path, limits)]
    return prepared


def prepare(path: Path, rule: ImageRule) -> list[PreparedImage]:
    """The images in one file (one, except for a TIFF of several pages) under `rule`; raises ImageError."""
    data = _read(path)
    key = (len(data), zlib.crc32(data), rule)
    seen = _SEEN.get(key)
    if seen is not None:  # the same bytes were looked at before, and could be sent as they are
        return [PreparedImage(path.name, data, *seen)]
    from PIL import Image, UnidentifiedImageError

    try:
        with _pixel_limit(), Image.open(io.BytesIO(data)) as image:
            width, height = image.size
            if width * height > MAX_PIXELS:
                raise ImageError(
                    f"says it has {width} x {height} pixels, more than any page has", file=path,
                    remedy="Scale the image down if it is a page",
                )  # fmt: skip
            kind = image.format or ""
            frames = getattr(image, "n_frames", 1)
            if kind == "TIFF" and frames > 1:
                return _frames(image, frames, path, rule)
            plain = kind in SENT_AS_IS and image.mode in _PLAIN_MODES and frames == 1 and _orientation(image) == 1
            if plain and max(width, height) <= rule.max_side and len(data) <= rule.max_bytes:
                if kind == "JPEG":
                    image.draft("L", (max(1, width // 8), max(1, height // 8)))  # a tenth of the time, finds cut files
                image.load()
                _SEEN.put(key, (SENT_AS_IS[kind], width, height))
                return [PreparedImage(path.name, data, SENT_AS_IS[kind], width, height)]
            return [_convert(image, kind, path.name, rule, [f"first of {frames} frames"] if frames > 1 else [])]
    except ImageError:
        raise
    except UnidentifiedImageError as fault:
        raise ImageError("is no image that can be read", file=path, remedy="Save it as JPEG, PNG or TIFF") from fault
    except (Image.DecompressionBombError, MemoryError) as fault:
        raise ImageError("has more pixels than any page has", file=path, remedy="Scale it down") from fault
    except (OSError, ValueError, SyntaxError, EOFError, IndexError, TypeError, KeyError, ZeroDivisionError) as fault:
        # Pillow's decoders raise all of these for damaged files
        reason = " ".join(str(fault).split())[:120] or type(fault).__name__
        raise ImageError(f"is damaged or cut off ({reason})", file=path, remedy="Fetch or scan it again") from fault


def estimated_size(path: Path) -> tuple[int, int]:
    """Width and height in pixels from the head of the file, (0, 0) where it cannot be read."""
    from PIL import Image

    try:
        with _pixel_limit(), Image.open(path) as image:
            return image.size
    except Exception:  # a damaged file is named when it is sent; here its size is merely unknown
        return 0, 0


def _read(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > MAX_FILE:
            raise ImageError(f"has {size} bytes, more than any page has", file=path, remedy="Scale it down")
        data = path.read_bytes()
    except OSError as fault:
        raise ImageError(f"cannot be read: {fault.strerror or fault}", file=path) from fault
    if not data:
        raise ImageError("is empty", file=path, remedy="Fetch or scan it again")
    return data


def _frames(image: Image.Image, frames: int, path: Path, rule: ImageRule) -> list[PreparedImage]:
    if frames > MAX_FRAMES:
        raise ImageError(f"holds {frames} pages, more than {MAX_FRAMES}", file=path, remedy="Split it")
    pages = []
    for number in range(frames):
        image.seek(number)
        if image.width * image.height > MAX_PIXELS:
            raise ImageError(f"page {number + 1} has more pixels than any page has", file=path)
        pages.append(_convert(image.copy(), "TIFF", f"{path.name}#{number + 1}", rule, []))
    return pages


def _orientation(image: Image.Image) -> int:
    try:
        return int(image.getexif().get(0x0112, 1) or 1)
    except Exception:  # damaged EXIF data says nothing
        return 1


def _convert(image: Image.Image, kind: str, name: str, rule: ImageRule, changes: list[str]) -> PreparedImage:
    from PIL import Image, ImageOps

    if kind == "JPEG" and max(image.size) > 2 * rule.max_side:
        image.draft(image.mode, (rule.max_side, rule.max_side))
    original = image.size
    if _orientation(image) != 1:
        changes.append("turned upright as its EXIF data says")
        image = ImageOps.exif_transpose(image)
    image = _eight_bits(image, changes)
    if max(image.size) > rule.max_side:
        scale = rule.max_side / max(image.size)
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        image = image.resize(size, Image.Resampling.LANCZOS)
        changes.append(f"scaled from {original[0]} x {original[1]} ({rule.name})")
    bilevel = image.mode == "1"
    media, data = ("image/png", _png(image)) if bilevel else ("image/jpeg", _jpeg(image))
    if kind not in SENT_AS_IS:
        changes.append(f"{kind or 'unknown format'} sent as {'PNG' if bilevel else f'JPEG (quality {QUALITY})'}")
    elif not changes:
        changes.append(f"encoded again as {'PNG' if bilevel else f'JPEG (quality {QUALITY})'}")
    steps = 0
    while len(data) > rule.max_bytes and min(image.size) > 64:
        # Bytes grow a little slower than pixels, hence the margin.
        scale = min(0.95, 0.97 * math.sqrt(rule.max_bytes / len(data)))
        if image.mode == "1":
            image = image.convert("L")
        size = (max(1, int(image.width * scale)), max(1, int(image.height * scale)))
        image = image.resize(size, Image.Resampling.LANCZOS)
        media, data = "image/jpeg", _jpeg(image)
        steps += 1
    if steps:
        changes.append(f"scaled to {image.width} x {image.height} to stay below {rule.max_bytes} bytes ({rule.name})")
    return PreparedImage(name, data, media, image.width, image.height, "; ".join(changes))


def _eight_bits(image: Image.Image, changes: list[str]) -> Image.Image:
    """The image as RGB, grey or bilevel with 8 bits a channel; transparency becomes white."""
    from PIL import Image

    mode = image.mode
    if mode in ("1", "L", "RGB"):
        image.load()
        return image
    if mode.startswith("I") or mode == "F":
        import numpy as np

        values = np.asarray(image).astype(np.float64)
        top = float(values.max(initial=0))
        # 12 bits are often kept in 16; floats are mostly 0 to 1
        full = 1.0 if mode == "F" and top <= 1 else 255.0 if top <= 255 else 4095.0 if top <= 4095 else 65535.0
        changes.append(f"{'16 bits' if mode != 'F' else 'floating point'} a pixel reduced to 8")
        return Image.fromarray(np.clip(values * (255.0 / full) + 0.5, 0, 255).astype(np.uint8))
    if mode in ("RGBA", "LA", "PA", "RGBa", "La") or (mode == "P" and "transparency" in image.info):
        changes.append("transparency made white")
        coloured = image.convert("RGBA")
        white = Image.new("RGBA", coloured.size, (255, 255, 255, 255))
        return Image.alpha_composite(white, coloured).convert("RGB")
    if mode != "P":
        changes.append(f"{mode} colours converted to RGB")
    return image.convert("RGB")


def _jpeg(image: Image.Image) -> bytes:
    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=QUALITY)
    return stream.getvalue()


def _png(image: Image.Image) -> bytes:
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


_Key = tuple[int, int, ImageRule]


class _Seen:
    """Which files were found fit to be sent as they are, by length and checksum; small, so that memory does not grow
    with the documents. Where two files collide, one is merely not looked at again before it is sent."""

    def __init__(self, size: int = 4096) -> None:
        self._size, self._lock = size, threading.Lock()
        self._items: OrderedDict[_Key, tuple[str, int, int]] = OrderedDict()

    def get(self, key: _Key) -> tuple[str, int, int] | None:
        with self._lock:
            return self._items.get(key)

    def put(self, key: _Key, value: tuple[str, int, int]) -> None:
        with self._lock:
            self._items[key] = value
            if len(self._items) > self._size:
                self._items.popitem(last=False)


_SEEN = _Seen()


class _pixel_limit:
    """Pillow's own limit, which warns on the console, gives way to ours; it is global, hence the count of users."""

    _lock = threading.Lock()
    _users = 0
    _before: int | None = None

    def __enter__(self) -> None:
        from PIL import Image

        with self._lock:
            if _pixel_limit._users == 0:
                _pixel_limit._before = Image.MAX_IMAGE_PIXELS
                Image.MAX_IMAGE_PIXELS = None
            _pixel_limit._users += 1

    def __exit__(self, *_: object) -> None:
        from PIL import Image

        with self._lock:
            _pixel_limit._users -= 1
            if _pixel_limit._users == 0:
                Image.MAX_IMAGE_PIXELS = _pixel_limit._before
