"""Page images: which files belong to which document. No image is opened to read a dataset."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from histeval.datasets.files import list_folder, natural_key
from histeval.datasets.identity import composed

SUFFIXES = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".webp", ".jp2", ".bmp", ".gif")
_PAGE = re.compile(r"^(?P<document>.+)_p(?P<page>\d+)$")


def split_page(stem: str) -> tuple[str, int | None]:
    """The document and the page number in the name of an image: `letter02_p10` is page 10 of letter02.

    >>> split_page("letter02_p10"), split_page("image_3")
    (('letter02', 10), ('image_3', None))
    """
    match = _PAGE.match(stem)
    if match is None or len(match["page"]) > 9:
        return stem, None
    return match["document"], int(match["page"])


def images_of(folder: Path, *, subfolders: bool = False) -> Mapping[str, tuple[Path, ...]]:
    """The images in a folder by document, its id composed (NFC), pages in natural order; empty without such a folder.

    With `subfolders`, a folder in it is a document whose pages are the images inside.
    """
    found: dict[str, list[Path]] = {}  # a Mac stores names of files decomposed: the same id, whichever it is
    if not folder.is_dir():
        return {}
    for name in list_folder(folder):
        stem, suffix = os.path.splitext(name)
        path = folder / name
        if suffix.lower() in SUFFIXES:
            found.setdefault(composed(split_page(stem)[0]), []).append(path)
        elif subfolders and not name.startswith(".") and path.is_dir():
            pages = [path / page for page in list_folder(path) if os.path.splitext(page)[1].lower() in SUFFIXES]
            found.setdefault(composed(name), []).extend(pages)
    return {
        document: tuple(sorted(paths, key=lambda path: natural_key(f"{path.parent.name}/{path.name}")))
        for document, paths in found.items()
        if paths
    }
