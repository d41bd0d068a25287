"""Checks of page images: pages that are missing, images nobody asks for, files that are not what they are named."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection
from pathlib import Path

from histeval.datasets.checks.common import Faults
from histeval.datasets.files import inside, list_folder, reason
from histeval.datasets.identity import ACCENTS, DocumentIds, composed
from histeval.datasets.images import SUFFIXES, split_page
from histeval.datasets.layout import Folder

_FORMATS = (
    (b"\xff\xd8\xff", "JPEG", (".jpg", ".jpeg")),
    (b"\x89PNG\r\n\x1a\n", "PNG", (".png",)),
    (b"II*\x00", "TIFF", (".tif", ".tiff")),
    (b"MM\x00*", "TIFF", (".tif", ".tiff")),
    (b"II+\x00", "TIFF", (".tif", ".tiff")),
    (b"MM\x00+", "TIFF", (".tif", ".tiff")),
    (b"GIF8", "GIF", (".gif",)),
    (b"BM", "BMP", (".bmp",)),
    (b"\x00\x00\x00\x0cjP  ", "JPEG 2000", (".jp2",)),
    (b"\xff\x4f\xff\x51", "JPEG 2000", (".jp2",)),
)
_ENDS = {"JPEG": b"\xff\xd9", "PNG": b"IEND\xaeB`\x82"}
"""What a whole file of a format holds near its end."""


def check_images(faults: Faults, folder: Folder, documents: Collection[str], *, wanted: bool = True) -> None:
    """Faults of the images of some documents. Images are looked at by their first and last bytes only."""
    where = inside(folder.path, folder.settings.images if folder.settings is not None else "images")
    if not where.is_dir():
        if wanted and documents:
            remedy = "Scoring does not need them; `histeval run` does"
            faults.add(where, "there is no folder of images", remedy, error=False)
        return
    pages: dict[str, dict[int | None, list[str]]] = {}
    ids = DocumentIds(documents)
    for name in faults.attempt(lambda: list_folder(where), where) or ():
        stem, suffix = os.path.splitext(name)
        path = where / name
        if name.startswith(".") or name.lower() == "thumbs.db":
            continue
        among_others = where == folder.path  # images = ".": truth and settings lie beside the images
        if path.is_dir():
            if folder.settings is not None:
                inner = [page for page in list_folder(path) if os.path.splitext(page)[1].lower() in SUFFIXES]
                if among_others and not inner:
                    continue
                pages.setdefault(_document(faults, path, name, ids), {})[None] = inner
                for page in inner:
                    check_image(faults, path / page)
            continue
        if suffix.lower() not in SUFFIXES:
            if among_others:
                continue
            faults.add(path, "is no image by its name", "Move it elsewhere", error=False)
            continue
        document, number = split_page(stem)
        document = _document(faults, path, document, ids)
        pages.setdefault(document, {}).setdefault(number, []).append(name)
        check_image(faults, path)
    guesses = 20  # looking for a name that is nearly the same takes long, and many alike have one reason
    for document, numbers in pages.items():
        _check_pages(faults, where, document, numbers)
        if document not in documents:
            close = difflib.get_close_matches(document, documents, 1, 0.8) if guesses > 0 else []
            guesses -= 1
            remedy = f"Is it {close[0]}?" if close else "Add its ground truth, or move the image elsewhere"
            first = next(iter(numbers.values()))[0] if any(numbers.values()) else document
            # With a dataset.toml such images are documents that wait for their truth.
            faults.add(where / first, f"there is no document {document}", remedy, error=folder.settings is None)
    for document in documents:
        if document not in pages:
            faults.add(where, "has no image", f"Add {document}.jpg or {document}_p1.jpg", item=document)


def _document(faults: Faults, path: Path, name: str, ids: DocumentIds) -> str:
    """The document of an image, matched as the reader does."""
    found = ids.find_accents(composed(name))
    if found is not None and found != name:
        what = f"the name {ACCENTS} from the document {found} (decomposed, as on a Mac); they are matched"
        faults.add(path, what, "Rename it where other programs shall match it too", item=found, error=False)
    return found or composed(name)


def _check_pages(faults: Faults, where: Path, document: str, numbers: dict[int | None, list[str]]) -> None:
    for number, names in numbers.items():
        # The same page number twice, or the same name with two endings.
        if len(names) > 1 and (number is not None or len({os.path.splitext(name)[0] for name in names}) < len(names)):
            faults.add(where / names[1], f"is the same page as {names[0]}", "Keep one of them", item=document)
    known = sorted(number for number in numbers if number is not None)
    if known and None in numbers:
        what = "has an image without page number beside numbered pages"
        faults.add(where / numbers[None][0], what, "Number it, as in _p1", item=document)
    missing = [number for number in range(1, min(known[-1], 10_000) + 1) if number not in known] if known else []
    if missing:
        shown = ", ".join(f"p{number}" for number in missing[:20])
        faults.add(where, f"page {shown} is missing", "Add the image, or renumber the pages", item=document)


def check_image(faults: Faults, path: Path) -> None:
    """Whether a file is an image of the format its name says, and whole."""
    try:
        with open(path, "rb") as file:
            head = file.read(16)
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 4096))
            tail = file.read()
    except OSError as fault:
        faults.add(path, f"cannot be read: {reason(fault)}")
        return
    suffix = path.suffix.lower()
    if not head:
        faults.add(path, "is empty", "Fetch it again")
        return
    nothing: tuple[str, tuple[str, ...]] = ("", ())
    found, suffixes = next(((name, ends) for start, name, ends in _FORMATS if head.startswith(start)), nothing)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        found, suffixes = "WebP", (".webp",)
    if not found:
        faults.add(path, "is no image of a known format", "Fetch it again, or save it as JPEG or PNG")
    elif suffix not in suffixes:
        what = f"is {found}, not what {suffix} says; some providers refuse it"
        faults.add(path, what, f"Name it {path.stem}{suffixes[0]}")
    elif found in _ENDS and _ENDS[found] not in tail:
        faults.add(path, f"is cut off: the end of the {found} file is missing", "Fetch it again")
