"""Page images for the site: made small enough for a browser once, and shared by all runs."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path

from histeval.datasets.base import Document
from histeval.errors import MissingExtraError, OutputError
from histeval.overview.slugs import slug

LONGEST = 2000
"""The longer edge of a page image, in pixels: an ordinary hand stays legible when zoomed."""
SMALL = 240
"""The longer edge of a thumbnail, in pixels."""
QUALITY = 78


@dataclass(frozen=True, slots=True)
class ImageRef:
    """A page image in the site's folder of images: file names, size in pixels, and why it is missing (`note`)."""

    src: str
    thumb: str
    width: int
    height: int
    note: str = ""


def prepare(document: Document, out_folder: Path | str) -> list[ImageRef]:
    """The page images of a document as JPEG in `out_folder`, with thumbnails; metadata of the files is left out.

    An image that is there already and newer than its source is not made again. One that cannot be read gets a
    reference without files and with a note. Raises OutputError where the folder cannot be written.
    """
    folder = Path(out_folder)
    name = slug(document.id)
    found: list[ImageRef] = []
    for number, source in enumerate(document.images, start=1):
        src, thumb = f"{name}.p{number}.jpg", f"{name}.p{number}.small.jpg"
        try:
            size = _size_if_current(source, folder / src, folder / thumb)
        except OSError:
            size = None
        if size is not None:
            found.append(ImageRef(src, thumb, *size))
            continue
        try:
            found.append(_make(source, folder, src, thumb))
        except _Unreadable as fault:
            found.append(ImageRef("", "", 0, 0, f"page {number} cannot be shown: {fault}"))
    return found


class _Unreadable(ValueError):
    """The image cannot be read; the message says why."""


def _size_if_current(source: Path, target: Path, thumb: Path) -> tuple[int, int] | None:
    """The size of an image made before, where it and its thumbnail are not older than the source."""
    made = min(target.stat().st_mtime_ns, thumb.stat().st_mtime_ns)
    if made < source.stat().st_mtime_ns:
        return None
    from PIL import Image

    with Image.open(target) as image:
        return image.size


def _make(source: Path, folder: Path, src: str, thumb: str) -> ImageRef:
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise MissingExtraError("page images need Pillow: pip install 'histeval[overview]'") from None
    try:
        with warnings.catch_warnings(), Image.open(source) as opened:
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # twice as large is an error
            opened.draft("RGB", (LONGEST, LONGEST))  # JPEG is decoded at about the size that is needed
            turned = ImageOps.exif_transpose(opened)
            image = turned if turned.mode in ("RGB", "L") else turned.convert("RGB")
            image.thumbnail((LONGEST, LONGEST), Image.Resampling.BICUBIC)
            small = image.copy()
            small.thumbnail((SMALL, SMALL), Image.Resampling.BICUBIC, reducing_gap=2.0)
    except MemoryError as fault:
        raise _Unreadable("not enough memory") from fault
    except Exception as fault:  # Pillow raises errors of many kinds for files that are damaged
        raise _Unreadable(f"the file is damaged or of an unknown kind ({type(fault).__name__})") from fault
    for name, made in ((src, image), (thumb, small)):
        draft = folder / f".{name}.part"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with draft.open("wb") as file:
                made.save(file, "JPEG", quality=QUALITY, optimize=name == thumb, progressive=False)
            os.replace(draft, folder / name)
        except OSError as fault:
            raise OutputError(f"{folder / name}: cannot be written: {fault.strerror or fault}") from fault
    return ImageRef(src, thumb, *image.size)
