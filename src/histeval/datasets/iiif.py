"""Page images from IIIF manifests (Presentation 2 and 3): order, labels, sizes and rights.

Definitions: https://iiif.io/api/presentation/2.1/, https://iiif.io/api/presentation/3.0/, https://iiif.io/api/image/3.0/.
Libraries serve these images to everybody, so one is fetched at a time, and a server that asks to wait is obeyed. An
image appears under its name only when it is whole; the same call goes on where an earlier one stopped.
"""

from __future__ import annotations

import csv
import email.utils
import http.client
import io
import ipaddress
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPMessage
from pathlib import Path
from typing import IO, Any
from urllib.parse import urljoin, urlsplit

from histeval.datasets.fetch import _PASSING, TIMEOUT, Progress, _agent, _blocks, _network_reason, _Passing, _words
from histeval.datasets.files import MEBIBYTE, atomic_write, make_folder, parse_json, shown
from histeval.datasets.layout import IIIF
from histeval.errors import DatasetError, OutputError, UsageError

MANIFEST_LIMIT = 64 * MEBIBYTE
IMAGE_LIMIT = 512 * MEBIBYTE
MOST_CANVASES = 10_000
ATTEMPTS = 5
WAIT = 1.0
"""Seconds before the second attempt; each further one waits twice as long."""
LONGEST_WAIT = 120.0
PAUSE = 0.2
"""Seconds between two images."""
_KINDS = ((b"\xff\xd8\xff", ".jpg"), (b"\x89PNG\r\n\x1a\n", ".png"), (b"II*\x00", ".tif"), (b"MM\x00*", ".tif"),
          (b"\x00\x00\x00\x0cjP  ", ".jp2"), (b"GIF8", ".gif"))  # fmt: skip


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


@dataclass(frozen=True)
class FetchedImages:
    """What a fetch did: the folder, the manifest, how many images came in, and how many were there already."""

    path: Path
    manifest: Manifest
    fetched: int
    kept: int

    def __str__(self) -> str:
        lines = [f"{self.manifest.label or self.manifest.url}: {self.fetched} images fetched, {self.kept} were there"]
        lines.append(f"rights: {self.manifest.rights or 'the manifest does not say'}")
        if self.manifest.attribution:
            lines.append(f"attribution: {self.manifest.attribution}")
        return "\n".join([*lines, *self.manifest.notes])


def fetch_images(
    url: str, to: Path | str, *, width: int | None = None, progress: Progress | None = None
) -> FetchedImages:
    """Fetches the images of a manifest to `to/images/0001.jpg` and on, in order.

    `width` asks for images of at most so many pixels across. `to` also gets iiif.json (where each came from, rights)
    and canvases.csv (the label of each document). Raises UsageError where `url` is no http(s) address, DatasetError
    where the manifest or an image cannot be had; what came in stays, and the same call goes on from there.
    """
    if not _is_web(url):
        raise UsageError(f"a manifest has an http(s) address, not {url[:200]!r}")
    if width is not None and width < 1:
        raise UsageError("the width is a number of pixels from 1")
    to = Path(to)
    manifest = read_manifest(url, _get(url, MANIFEST_LIMIT)[0], width)
    folder = to / "images"
    make_folder(folder)
    _check_same(to, manifest)
    done: dict[int, str] = {}
    for name in os.listdir(folder):
        stem, suffix = os.path.splitext(name)
        if stem.isascii() and stem.isdecimal() and suffix in {ending for _, ending in _KINDS}:
            done[int(stem)] = name
    fetched = kept = 0
    _write_facts(to, manifest)
    for canvas in manifest.canvases:
        if canvas.number in done:
            kept += 1
        else:
            if fetched:
                time.sleep(PAUSE)
            data, address = _get(canvas.image, IMAGE_LIMIT, manifest.url)
            suffix = next((ending for start, ending in _KINDS if data.startswith(start)), "")
            if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
                suffix = ".webp"
            if not suffix:
                remedy = "Look at the address in a browser"
                raise DatasetError("is no image of a known format", file=address[:300], remedy=remedy)
            atomic_write(folder / f"{canvas.number:04d}{suffix}", data)
            fetched += 1
        if progress is not None:
            progress(canvas.label, canvas.number, len(manifest.canvases))
    return FetchedImages(to, manifest, fetched, kept)


def _check_same(to: Path, manifest: Manifest) -> None:
    """Raises OutputError where the folder holds the images of another manifest."""
    try:
        known = json.loads((to / IIIF).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return
    if isinstance(known, dict) and known.get("manifest") not in (None, manifest.url):
        raise OutputError(f"{shown(to)} holds the images of another manifest; name another folder")


def _write_facts(to: Path, manifest: Manifest) -> None:
    facts = {
        "manifest": manifest.url,
        "label": manifest.label,
        "rights": manifest.rights,
        "attribution": manifest.attribution,
        "canvases": [
            {"document": f"{c.number:04d}", "label": c.label, "image": c.image, "width": c.width, "height": c.height}
            for c in manifest.canvases
        ],
    }
    atomic_write(to / IIIF, json.dumps(facts, ensure_ascii=True, indent=1) + "\n")
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(("document", "label"))
    writer.writerows((f"{canvas.number:04d}", canvas.label) for canvas in manifest.canvases)
    if not (to / "canvases.csv").exists():
        atomic_write(to / "canvases.csv", table.getvalue().encode("utf-8", "replace"))


def read_manifest(url: str, data: bytes, width: int | None = None) -> Manifest:
    """The manifest in `data`, which came from `url`; raises DatasetError where it is none."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DatasetError("is not UTF-8, as JSON is", file=url[:300]) from None
    value, _ = parse_json(text, url[:300])
    if not isinstance(value, dict):
        raise DatasetError("is no IIIF manifest: no JSON object", file=url[:300])
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
        raise DatasetError(f"has more than {MOST_CANVASES} pages", file=url[:300])
    found, notes = [], []
    for number, canvas in enumerate(canvases, start=1):
        body = (_body_3 if third else _body_2)(canvas) if isinstance(canvas, dict) else None
        if body is None:
            notes.append(f"page {number} has no image and is left out")
            continue
        address, size = _address(body, url, width, third), (_size(body, canvas, "width"), _size(body, canvas, "height"))
        if not _is_web(address):
            what = f"names an image that is no http(s) address: {address[:200]!r}"
            raise DatasetError(what, file=url[:300], item=f"page {number}")
        found.append(Canvas(number, _label(canvas.get("label")) or str(number), address, *size))
    if not found:
        raise DatasetError("names no image", file=url[:300])
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


def _is_web(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and address.isprintable()
    except ValueError:
        return False


def _is_private(host: str) -> bool:
    """Whether a host is this machine or one of a private network, by its name or number."""
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return False
    return number.is_private or number.is_loopback or number.is_link_local


class _Careful(urllib.request.HTTPRedirectHandler):
    """Follows redirects to http(s) only, and into a private network only from there."""

    def __init__(self, home: str) -> None:
        self.home = home

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        _allow(newurl, self.home)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _allow(address: str, home: str) -> None:
    """Raises DatasetError for an address that a manifest from `home` may not name: no http(s), or inside a network
    that the person who wrote the manifest should not reach through us."""
    if not _is_web(address):
        raise DatasetError("is no http(s) address", file=address[:300])
    host, own = urlsplit(address).hostname or "", urlsplit(home).hostname or ""
    if _is_private(host) and host != own:
        raise DatasetError("lies in a private network, unlike the manifest", file=address[:300])


def _get(address: str, limit: int, home: str = "") -> tuple[bytes, str]:
    """The body at an address and where it came from; what may pass is tried again, as long as the server asks."""
    _allow(address, home or address)
    opener = urllib.request.build_opener(_Careful(home or address))
    what = ""
    for attempt in range(1, ATTEMPTS + 1):
        wait = WAIT * 2 ** (attempt - 1)
        try:
            return _once(opener, address, limit)
        except _Passing as fault:
            what, wait = str(fault), max(wait, min(fault.wait, LONGEST_WAIT))
        if attempt < ATTEMPTS:
            time.sleep(wait)
    remedy = "The same command goes on from here"
    raise DatasetError(f"could not be fetched in {ATTEMPTS} attempts: {what}", file=address[:300], remedy=remedy)


def _once(opener: urllib.request.OpenerDirector, address: str, limit: int) -> tuple[bytes, str]:
    request = urllib.request.Request(address, headers={"Accept-Encoding": "identity", "User-Agent": _agent()})
    try:
        response = opener.open(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as fault:
        with closing(fault):
            if fault.code in _PASSING:
                wait = _retry_after(fault.headers.get("Retry-After", ""))
                raise _Passing(f"the server answers {fault.code} {_words(fault.reason)}", wait) from None
            what = f"the server answers {fault.code} {_words(fault.reason)}"
            raise DatasetError(what, file=address[:300]) from None
    except (OSError, http.client.HTTPException) as fault:
        raise _Passing(_network_reason(fault)) from None
    except ValueError as fault:
        raise DatasetError(f"is no address: {_words(fault)}", file=address[:300]) from None
    with closing(response):
        length = response.headers.get("Content-Length", "")
        expected = int(length) if length.isdecimal() and len(length) < 16 else None
        if expected is not None and expected > limit:
            raise DatasetError(f"is larger than {limit // MEBIBYTE} MB", file=address[:300])
        body = bytearray()
        for block in _blocks(response):
            body += block
            if len(body) > limit:
                raise DatasetError(f"is larger than {limit // MEBIBYTE} MB", file=address[:300])
    if expected is not None and len(body) < expected:
        raise _Passing(f"the connection ended after {len(body)} of {expected} bytes")
    return bytes(body), str(response.geturl())


def _retry_after(text: str) -> float:
    """Seconds that a server asks to wait: a number, or a date (RFC 9110, section 10.2.3)."""
    if text.strip().isdecimal() and len(text) < 9:
        return float(text)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return 0.0
