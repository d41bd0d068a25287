"""IIIF manifests (Presentation 2 and 3) as lists of pages: order, labels, the addresses of images, sizes and rights.

Definitions: https://iiif.io/api/presentation/2.1/, https://iiif.io/api/presentation/3.0/, https://iiif.io/api/image/3.0/.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from histeval.datasets.files import parse_json
from histeval.errors import DatasetError

MOST_CANVASES = 10_000


@dataclass(frozen=True, slots=True)
class Canvas:
    """A page of a manifest: its number from 1, its label (`3r`), the address of its image, and its size in pixels
    (0 where the manifest does not say)."""

    number: int
    label: str
    image: str
    width: int
    height: int


@dataclass(frozen=True)
class Manifest:
    """A manifest as read: label, rights (an address or words), attribution, and its pages in order."""

    url: str
    label: str
    rights: str
    attribution: str
    canvases: tuple[Canvas, ...]
    notes: tuple[str, ...] = ()


def read_manifest(url: str, data: bytes, width: int | None = None) -> Manifest:
    """The manifest in `data`, which came from `url`; raises DatasetError where it is none."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DatasetError(
            "is not UTF-8, as JSON is", file=url[:300], remedy="Look at the address in a browser"
        ) from None
    if text.lstrip().startswith("<"):
        remedy = "Look on it for the address of the manifest, often under the sign IIIF and ending in manifest.json"
        raise DatasetError("is a web page or XML, not a IIIF manifest", file=url[:300], remedy=remedy)
    value, _ = parse_json(text, url[:300])
    if not isinstance(value, dict):
        raise DatasetError(
            "is no IIIF manifest: no JSON object", file=url[:300], remedy="Look at the address in a browser"
        )
    kind = value.get("type", value.get("@type"))
    if kind in ("Collection", "sc:Collection"):
        remedy = "Name one of the manifests in it"
        raise DatasetError("is a collection of manifests, not a manifest", file=url[:300], remedy=remedy)
    third = isinstance(value.get("items"), list)
    if third:
        canvases = value["items"]
    else:
        sequences = value.get("sequences")
        first = sequences[0] if isinstance(sequences, list) and sequences else None
        canvases = first.get("canvases") if isinstance(first, dict) else None
    if not isinstance(canvases, list) or not canvases:
        remedy = "It should have items, or sequences with canvases"
        raise DatasetError("is no IIIF manifest of version 2 or 3", file=url[:300], remedy=remedy)
    if len(canvases) > MOST_CANVASES:
        raise DatasetError(
            f"has more than {MOST_CANVASES} pages", file=url[:300], remedy="Name the manifest of a part of it"
        )
    found, notes = [], []
    for number, canvas in enumerate(canvases, start=1):
        body = (_body_3 if third else _body_2)(canvas) if isinstance(canvas, dict) else None
        if body is None:
            notes.append(f"page {number} has no image and is left out")
            continue
        offered = _offered(canvas, third)
        if offered > 1:
            notes.append(f"page {number} has {offered} images; the first is taken")
        address, size = _address(body, url, width, third), (_size(body, canvas, "width"), _size(body, canvas, "height"))
        if not is_web(address):
            what = f"names an image that is no http(s) address: {address[:200]!r}"
            raise DatasetError(what, file=url[:300], item=f"page {number}", remedy="Ask the library for its address")
        found.append(Canvas(number, _label(canvas.get("label")) or str(number), address, *size))
    if not found:
        raise DatasetError("names no image", file=url[:300], remedy="Look at the address in a browser")
    statement = value.get("requiredStatement")
    attribution = _label(statement.get("value") if isinstance(statement, dict) else value.get("attribution"))
    rights = _label(value.get("rights")) or _label(value.get("license"))
    return Manifest(url, _label(value.get("label")), rights, attribution, tuple(found), tuple(notes))


def _body_2(canvas: Mapping[str, Any]) -> Mapping[str, Any] | None:
    image = _first(canvas.get("images"))
    return _mapping(_mapping(image).get("resource")) or None


def _body_3(canvas: Mapping[str, Any]) -> Mapping[str, Any] | None:
    annotation = _mapping(_first(_mapping(_first(canvas.get("items"))).get("items")))
    body = annotation.get("body")
    body = _mapping(_first(body) if isinstance(body, list) else body)
    if body.get("type") == "Choice":
        body = _mapping(_first(body.get("items")))
    return body or None


def _offered(canvas: Mapping[str, Any], third: bool) -> int:
    """How many images a page has: several annotations that paint it, or a choice."""
    if not third:
        return _length(canvas.get("images"))
    annotations = _mapping(_first(canvas.get("items"))).get("items")
    body = _mapping(_first(annotations)).get("body")
    choice = _mapping(_first(body) if isinstance(body, list) else body)
    more = _length(choice.get("items")) if choice.get("type") == "Choice" else _length(body)
    return max(_length(annotations), more)


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else 0


def _address(body: Mapping[str, Any], base: str, width: int | None, third: bool) -> str:
    """The address of an image: by its image service where it has one, at full size or the width asked for."""
    service = body.get("service")
    service = _mapping(_first(service) if isinstance(service, list) else service)
    root = service.get("id", service.get("@id"))
    if isinstance(root, str) and root.isprintable() and root:
        context = json.dumps([service.get("type"), service.get("@context"), service.get("profile")])
        modern = "ImageService3" in context or "/image/3" in context
        across = body.get("width")
        smaller = width is not None and not (isinstance(across, int) and across <= width)
        size = f"{width}," if smaller else "max" if modern or (third and "ImageService2" not in context) else "full"
        return urljoin(base, f"{root.rstrip('/')}/full/{size}/0/default.jpg")
    address = body.get("id", body.get("@id"))
    # urljoin would take line ends out of an address in silence
    return urljoin(base, address) if isinstance(address, str) and address.isprintable() else str(address or "")


def _size(body: Mapping[str, Any], canvas: Mapping[str, Any], key: str) -> int:
    for value in (body.get(key), canvas.get(key)):
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 31:
            return value
    return 0


def _label(value: Any) -> str:
    """The words of a label: a text, a list, a language map (version 3), or a value with a language (version 2)."""
    for _ in range(4):
        if isinstance(value, list):
            value = _first(value)
        elif isinstance(value, dict):
            value = value.get("@value", next(iter(value.values()), ""))
    return " ".join(value.split())[:300] if isinstance(value, str) else ""


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def is_web(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and address.isprintable()
    except ValueError:
        return False
