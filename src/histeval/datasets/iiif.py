"""Page images from IIIF manifests (Presentation 2 and 3): order, labels, sizes and rights.

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
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPMessage
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from histeval.datasets.fetch import _PASSING, TIMEOUT, Progress, _agent, _blocks, _network_reason, _Passing, _words
from histeval.datasets.files import MEBIBYTE, atomic_write, make_folder, shown
from histeval.datasets.layout import IIIF
from histeval.datasets.manifests import Canvas, Manifest, is_web, read_manifest
from histeval.errors import DatasetError, OutputError, UsageError

MANIFEST_LIMIT = 64 * MEBIBYTE
IMAGE_LIMIT = 512 * MEBIBYTE
ATTEMPTS = 5
WAIT = 1.0
"""Seconds before the second attempt; each further one waits twice as long."""
LONGEST_WAIT = 120.0
PAUSE = 0.2
"""Seconds between two images."""
MOST_MISSING = 20
"""After so many images in a row that cannot be had a fetch stops: something else is wrong."""
_KINDS = ((b"\xff\xd8\xff", ".jpg"), (b"\x89PNG\r\n\x1a\n", ".png"), (b"II*\x00", ".tif"), (b"MM\x00*", ".tif"),
          (b"\x00\x00\x00\x0cjP  ", ".jp2"), (b"GIF8", ".gif"))  # fmt: skip


@dataclass(frozen=True)
class FetchedImages:
    """What a fetch did: the folder, the manifest, how many images came in, how many were there already, and a line for
    each that the library does not give."""

    path: Path
    manifest: Manifest
    fetched: int
    kept: int
    missing: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.manifest.label or self.manifest.url}: {self.fetched} images fetched, {self.kept} were there"]
        lines.append(f"rights: {self.manifest.rights or 'the manifest does not say'}")
        if self.manifest.attribution:
            lines.append(f"attribution: {self.manifest.attribution}")
        lines += [*self.manifest.notes, *self.missing]
        if self.missing:
            lines.append("the same command asks again for what is missing")
        return "\n".join(lines)


def fetch_images(
    url: str, to: Path | str, *, width: int | None = None, progress: Progress | None = None
) -> FetchedImages:
    """Fetches the images of a manifest to `to/images/0001.jpg` and on, in order.

    `width` asks for images of at most so many pixels across. `to` also gets iiif.json (where each came from, rights)
    and canvases.csv (the label of each document). An image that the library does not give (404, say) is named in
    `missing`, and the others are fetched. Raises UsageError where `url` is no http(s) address, DatasetError where the
    manifest, every image or `MOST_MISSING` in a row cannot be had, or the network fails; what came in stays, and the
    same call goes on from there.
    """
    if not is_web(url):
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
    missing: list[tuple[str, _Refused]] = []
    in_a_row = 0
    _write_facts(to, manifest)
    for canvas in manifest.canvases:
        if canvas.number in done:
            kept += 1
        else:
            if fetched or missing:
                time.sleep(PAUSE)
            try:
                data, suffix = _image(canvas, manifest)
                atomic_write(folder / f"{canvas.number:04d}{suffix}", data)
                fetched, in_a_row = fetched + 1, 0
            except _Refused as fault:
                name = f" ({canvas.label})" if canvas.label != str(canvas.number) else ""
                missing.append((f"page {canvas.number}{name} is missing: {fault.file}: {fault.what}", fault))
                in_a_row += 1
                if in_a_row >= MOST_MISSING:
                    break
        if progress is not None:
            progress(canvas.label, canvas.number, len(manifest.canvases))
    if missing and (in_a_row >= MOST_MISSING or not fetched + kept):
        raise missing[-in_a_row][1]
    return FetchedImages(to, manifest, fetched, kept, tuple(line for line, _ in missing))


def _image(canvas: Canvas, manifest: Manifest) -> tuple[bytes, str]:
    """The image of a page, and the ending for its file."""
    data, address = _get(canvas.image, IMAGE_LIMIT, manifest.url)
    suffix = next((ending for start, ending in _KINDS if data.startswith(start)), "")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        suffix = ".webp"
    if not suffix:
        raise _Refused("is no image of a known format", file=address[:300], remedy="Look at the address in a browser")
    return data, suffix


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


def _is_private(host: str) -> bool:
    """Whether a host is this machine or one of a private network, by its name or number."""
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return False
    return number.is_private or number.is_loopback or number.is_link_local


class _Refused(DatasetError):
    """What a library does not give, however often it is asked."""


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
    if not is_web(address):
        raise _Refused("is no http(s) address", file=address[:300], remedy="Look at the manifest in a browser")
    host, own = urlsplit(address).hostname or "", urlsplit(home).hostname or ""
    if _is_private(host) and host != own:
        raise _Refused(
            "lies in a private network, unlike the manifest",
            file=address[:300],
            remedy="Fetch it yourself if you trust it",
        )


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
            raise _Refused(_answer(fault), file=address[:300], remedy="Look at the address in a browser") from None
    except (OSError, http.client.HTTPException) as fault:
        raise _Passing(_network_reason(fault)) from None
    except ValueError as fault:
        raise _Refused(
            f"is no address: {_words(fault)}", file=address[:300], remedy="Look at the manifest in a browser"
        ) from None
    with closing(response):
        length = response.headers.get("Content-Length", "")
        expected = int(length) if length.isdecimal() and len(length) < 16 else None
        if expected is not None and expected > limit:
            raise _Refused(
                f"is larger than {limit // MEBIBYTE} MB",
                file=address[:300],
                remedy="Ask for smaller images with --width",
            )
        body = bytearray()
        for block in _blocks(response):
            body += block
            if len(body) > limit:
                raise _Refused(
                    f"is larger than {limit // MEBIBYTE} MB",
                    file=address[:300],
                    remedy="Ask for smaller images with --width",
                )
    if expected is not None and len(body) < expected:
        raise _Passing(f"the connection ended after {len(body)} of {expected} bytes")
    return bytes(body), str(response.geturl())


def _answer(fault: urllib.error.HTTPError) -> str:
    """What a server answers, in a few words."""
    if 300 <= fault.code < 400:
        reason = str(fault.reason)
        return f"redirects in a circle ({fault.code})" if "infinite loop" in reason else f"redirects: {_words(reason)}"
    return f"the server answers {fault.code} {_words(fault.reason)}"


def _retry_after(text: str) -> float:
    """Seconds that a server asks to wait: a number, or a date (RFC 9110, section 10.2.3)."""
    if text.strip().isdecimal() and len(text) < 9:
        return float(text)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return 0.0
