"""Images from IIIF manifests, served on loopback: both versions, order, labels, sizes, rights, and rude servers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.cli.app import run
from histeval.datasets import iiif
from histeval.datasets.iiif import fetch_images
from histeval.datasets.manifests import read_manifest
from histeval.errors import DatasetError, HistevalError, OutputError, UsageError
from support import examples
from transcription_samples import JPEG

PNG = b"\x89PNG\r\n\x1a\n" + bytes(16) + b"IEND\xaeB`\x82"
Reply = tuple[int, dict[str, str], bytes]


class Library:
    """A server of manifests and images; `replies` by path, and every request it got."""

    def __init__(self) -> None:
        self.replies: dict[str, list[Reply]] = {}
        self.requests: list[str] = []
        self.at_once = self.most_at_once = 0
        library = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                library.at_once += 1
                library.most_at_once = max(library.most_at_once, library.at_once)
                library.requests.append(self.path)
                waiting = library.replies.get(self.path, [(404, {}, b"")])
                status, headers, body = waiting.pop(0) if len(waiting) > 1 else waiting[0]
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if "Content-Length" not in headers:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                library.at_once -= 1

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def add(self, path: str, *replies: bytes | Reply) -> None:
        self.replies[path] = [reply if isinstance(reply, tuple) else (200, {}, reply) for reply in replies]

    def manifest(self, value: Any, path: str = "/m.json") -> str:
        self.add(path, json.dumps(value).encode() if not isinstance(value, bytes) else value)
        return self.url + path


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    monkeypatch.setattr(iiif, "WAIT", 0.01)
    monkeypatch.setattr(iiif, "PAUSE", 0.0)
    monkeypatch.setattr(iiif, "LONGEST_WAIT", 0.3)
    found = Library()
    yield found
    found.server.shutdown()
    found.server.server_close()


def version_2(url: str, pages: int = 2) -> dict[str, Any]:
    return {
        "@context": "http://iiif.io/api/presentation/2/context.json",
        "@type": "sc:Manifest",
        "label": "A rope book",
        "license": "https://creativecommons.org/publicdomain/mark/1.0/",
        "attribution": "Library of the harbour",
        "sequences": [
            {
                "canvases": [
                    {
                        "label": f"{number}r",
                        "height": 3000,
                        "width": 2000,
                        "images": [
                            {
                                "resource": {
                                    "@id": f"{url}/i/{number}/full/full/0/default.jpg",
                                    "width": 2000,
                                    "service": {
                                        "@context": "http://iiif.io/api/image/2/context.json",
                                        "@id": f"{url}/i/{number}",
                                        "profile": "http://iiif.io/api/image/2/level2.json",
                                    },
                                }
                            }
                        ],
                    }
                    for number in range(1, pages + 1)
                ]
            }
        ],
    }


def version_3(url: str, pages: int = 2) -> dict[str, Any]:
    def canvas(number: int) -> dict[str, Any]:
        body = {
            "id": f"{url}/i/{number}/full/max/0/default.jpg",
            "type": "Image",
            "width": 2000,
            "height": 3000,
            "service": [{"id": f"{url}/i/{number}", "type": "ImageService3", "profile": "level2"}],
        }
        annotation = {"type": "Annotation", "motivation": "painting", "body": body}
        return {
            "type": "Canvas",
            "label": {"none": [f"{number}v"]},
            "items": [{"type": "AnnotationPage", "items": [annotation]}],
        }

    return {
        "@context": "http://iiif.io/api/presentation/3/context.json",
        "type": "Manifest",
        "label": {"de": ["Ein Seilbuch"]},
        "rights": "http://creativecommons.org/licenses/by/4.0/",
        "requiredStatement": {"label": {"en": ["Attribution"]}, "value": {"en": ["The harbour"]}},
        "items": [canvas(number) for number in range(1, pages + 1)],
    }


def test_version_2(library: Library, tmp_path: Path) -> None:
    url = library.manifest(version_2(library.url))
    library.add("/i/1/full/full/0/default.jpg", JPEG)
    library.add("/i/2/full/full/0/default.jpg", PNG)
    done = fetch_images(url, tmp_path / "book")
    assert (done.fetched, done.kept) == (2, 0)
    assert library.requests == ["/m.json", "/i/1/full/full/0/default.jpg", "/i/2/full/full/0/default.jpg"]
    assert library.most_at_once == 1
    assert (tmp_path / "book/images/0001.jpg").read_bytes() == JPEG
    assert (tmp_path / "book/images/0002.png").read_bytes() == PNG
    assert (tmp_path / "book/canvases.csv").read_text("utf-8") == "document,label\n0001,1r\n0002,2r\n"
    facts = json.loads((tmp_path / "book/iiif.json").read_text("utf-8"))
    assert facts["rights"] == "https://creativecommons.org/publicdomain/mark/1.0/"
    assert facts["attribution"] == "Library of the harbour"
    assert [(c["document"], c["label"], c["width"], c["height"]) for c in facts["canvases"]] == [
        ("0001", "1r", 2000, 3000),
        ("0002", "2r", 2000, 3000),
    ]
    assert "rights: https://creativecommons.org/publicdomain/mark/1.0/" in str(done)


def test_version_3_and_a_smaller_width(library: Library, tmp_path: Path) -> None:
    url = library.manifest(version_3(library.url))
    for number in (1, 2):
        library.add(f"/i/{number}/full/1000,/0/default.jpg", JPEG)
    done = fetch_images(url, tmp_path, width=1000)
    assert done.fetched == 2
    assert done.manifest.label == "Ein Seilbuch"
    assert (done.manifest.rights, done.manifest.attribution) == (
        "http://creativecommons.org/licenses/by/4.0/",
        "The harbour",
    )
    assert [canvas.label for canvas in done.manifest.canvases] == ["1v", "2v"]
    # An image that is no larger than asked for is taken as it is.
    assert (
        read_manifest(url, json.dumps(version_3(library.url)).encode(), 4000)
        .canvases[0]
        .image.endswith("/full/max/0/default.jpg")
    )


def test_images_without_a_service_and_choices_and_addresses_from_here(library: Library) -> None:
    value = version_3("x", 2)
    value["items"][0]["items"][0]["items"][0]["body"] = {"id": "pages/1.jpg", "type": "Image"}
    value["items"][1]["items"][0]["items"][0]["body"] = {
        "type": "Choice",
        "items": [{"id": "https://x.example/2.tif"}, {"id": "https://x.example/3.tif"}],
    }
    value["items"].append({"type": "Canvas", "items": []})
    manifest = read_manifest("https://x.example/book/m.json", json.dumps(value).encode())
    assert [canvas.image for canvas in manifest.canvases] == [
        "https://x.example/book/pages/1.jpg",
        "https://x.example/2.tif",
    ]
    assert manifest.notes == ("page 2 has 2 images; the first is taken", "page 3 has no image and is left out")


def test_a_fetch_goes_on_where_it_stopped(library: Library, tmp_path: Path) -> None:
    url = library.manifest(version_2(library.url, 3))
    library.add("/i/1/full/full/0/default.jpg", JPEG)
    library.add("/i/2/full/full/0/default.jpg", (403, {}, b""))
    library.add("/i/3/full/full/0/default.jpg", JPEG)
    library.add("/i/3/full/full/0/default.jpg", (503, {}, b""))
    with pytest.raises(DatasetError, match=r"the server answers 503.*The same command goes on from here"):
        fetch_images(url, tmp_path)
    assert [path.name for path in (tmp_path / "images").iterdir()] == ["0001.jpg"]
    library.add("/i/2/full/full/0/default.jpg", JPEG)
    library.add("/i/3/full/full/0/default.jpg", JPEG)
    library.requests.clear()
    done = fetch_images(url, tmp_path)
    assert (done.fetched, done.kept, done.missing) == (2, 1, ())
    assert library.requests[1:] == ["/i/2/full/full/0/default.jpg", "/i/3/full/full/0/default.jpg"]


@pytest.mark.parametrize(
    ("reply", "words"),
    [((404, {}, b""), "the server answers 404"), ((403, {}, b""), "the server answers 403"),
     ((200, {}, b"<html>log in</html>"), "is no image of a known format"),
     ((302, {"Location": "file:///etc/passwd"}, b""), "is not allowed"),
     ((302, {"Location": "/i/2/full/full/0/default.jpg"}, b""), "redirects in a circle")],
)  # fmt: skip
def test_an_image_that_is_not_given_is_named_and_the_others_come(
    reply: Reply, words: str, library: Library, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = library.manifest(version_2(library.url, 3))
    for number in (1, 3):
        library.add(f"/i/{number}/full/full/0/default.jpg", JPEG)
    library.add("/i/2/full/full/0/default.jpg", reply)
    assert run(["get", "--from", url, "--to", str(tmp_path / "book")]) == 1
    printed = capsys.readouterr().out
    for said in ("2 images fetched", "page 2 (2r) is missing", words):
        assert said in printed
    assert sorted(path.name for path in (tmp_path / "book/images").iterdir()) == ["0001.jpg", "0003.jpg"]
    library.add("/i/2/full/full/0/default.jpg", JPEG)
    assert run(["get", "--from", url, "--to", str(tmp_path / "book")]) == 0
    assert sorted(path.name for path in (tmp_path / "book/images").iterdir()) == ["0001.jpg", "0002.jpg", "0003.jpg"]
    assert run(["init", "manuscripts", str(tmp_path / "book")]) == 0


def test_a_library_that_gives_nothing_is_not_asked_for_ever(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(iiif, "MOST_MISSING", 3)
    url = library.manifest(version_2(library.url, 9))
    library.add("/i/1/full/full/0/default.jpg", JPEG)
    with pytest.raises(DatasetError, match=r"/i/2/.*the server answers 404.*Look at the address in a browser"):
        fetch_images(url, tmp_path)
    assert library.requests[-1].startswith("/i/4/")


def test_further_images_of_a_page_are_named() -> None:
    value = version_3("https://x.example", 2)
    body = {"type": "Choice", "items": [{"id": "https://x.example/a.jpg"}, {"id": "https://x.example/b.jpg"}]}
    value["items"][0]["items"][0]["items"][0]["body"] = body
    notes = read_manifest("https://x.example/m", json.dumps(value).encode()).notes
    assert notes == ("page 1 has 2 images; the first is taken",)
    older = version_2("https://x.example", 2)
    images = older["sequences"][0]["canvases"][1]["images"]
    images.append(images[0])
    assert read_manifest("https://x.example/m", json.dumps(older).encode()).notes == (
        "page 2 has 2 images; the first is taken",
    )


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_asks_to_wait_is_obeyed(status: int, library: Library, tmp_path: Path) -> None:
    url = library.manifest(version_2(library.url, 1))
    busy = (status, {"Retry-After": "1"}, b"")
    library.add("/i/1/full/full/0/default.jpg", busy, JPEG)
    start = time.monotonic()
    assert fetch_images(url, tmp_path).fetched == 1
    assert time.monotonic() - start >= 0.3  # the longest wait of this test


def test_a_date_in_retry_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iiif.time, "time", lambda: 1_700_000_000.0)
    assert iiif._retry_after("Tue, 14 Nov 2023 22:13:50 GMT") == 30.0
    assert iiif._retry_after("Tue, 14 Nov 2023 22:13:10 GMT") == 0.0
    assert iiif._retry_after("soon") == 0.0
    assert iiif._retry_after("7") == 7.0


def test_a_connection_that_breaks_leaves_no_half_image(library: Library, tmp_path: Path) -> None:
    url = library.manifest(version_2(library.url, 1))
    short = (200, {"Content-Length": "5000"}, JPEG)
    library.add("/i/1/full/full/0/default.jpg", short, short, JPEG)
    assert fetch_images(url, tmp_path).fetched == 1
    assert (tmp_path / "images/0001.jpg").read_bytes() == JPEG
    library.add("/i/1/full/full/0/default.jpg", short)
    with pytest.raises(DatasetError, match=r"could not be fetched in 5 attempts: the connection ended after"):
        fetch_images(url, tmp_path / "other")
    assert list((tmp_path / "other/images").iterdir()) == []


def test_a_folder_with_the_images_of_another_manifest_is_left_alone(library: Library, tmp_path: Path) -> None:
    library.add("/i/1/full/full/0/default.jpg", JPEG)
    fetch_images(library.manifest(version_2(library.url, 1)), tmp_path)
    with pytest.raises(OutputError, match="holds the images of another manifest"):
        fetch_images(library.manifest(version_2(library.url, 1), "/other.json"), tmp_path)


def image_at(address: str) -> dict[str, Any]:
    value = version_3("https://x.example", 1)
    value["items"][0]["items"][0]["items"][0]["body"] = {"id": address}
    return value


FAULTY: dict[str, tuple[Callable[[Library], Any], str]] = {
    "a web page": (lambda _: b"<!DOCTYPE html><html></html>", "is a web page or XML, not a IIIF manifest"),
    "not JSON": (lambda _: b"{label: 1}", "is not JSON"),
    "a list": (lambda _: [], "no JSON object"),
    "not UTF-8": (lambda _: b'{"label": "\xff"}', "is not UTF-8"),
    "nested too deep": (lambda _: b"[" * 5000 + b"]" * 5000, "nested deeper"),
    "a collection": (lambda _: {"type": "Collection", "items": []}, "is a collection of manifests"),
    "no canvases": (lambda _: {"type": "Manifest", "items": []}, "is no IIIF manifest"),
    "canvases of the wrong kind": (lambda _: {"sequences": ["x"]}, "is no IIIF manifest"),
    "no image at all": (lambda _: {"items": ["x", {"items": [{"items": [7]}]}]}, "names no image"),
    "a file": (lambda _: image_at("file:///etc/passwd"), "no http.s. address"),
    "another protocol": (lambda _: image_at("ftp://x.example/1.jpg"), "no http.s. address"),
    "control signs": (lambda _: image_at("http://x.example/\n1.jpg"), "no http.s. address"),
    "a private network": (lambda _: image_at("http://10.0.0.1/1.jpg"), "lies in a private network"),
    "this machine by name": (lambda _: image_at("http://localhost/1.jpg"), "lies in a private network"),
    "no image behind the address": (
        lambda library: (library.add("/1.jpg", b"<html>"), image_at(f"{library.url}/1.jpg"))[1],
        "is no image of a known format",
    ),
    "a redirect to a file": (
        lambda library: (
            library.add("/1.jpg", (302, {"Location": "file:///etc/passwd"}, b"")),
            image_at(f"{library.url}/1.jpg"),
        )[1],
        "is not allowed",
    ),
    "a redirect into a private network": (
        lambda library: (
            library.add("/1.jpg", (302, {"Location": "http://169.254.169.254/x"}, b"")),
            image_at(f"{library.url}/1.jpg"),
        )[1],
        "lies in a private network",
    ),
    "an image without end": (
        lambda library: (
            library.add("/1.jpg", (200, {"Content-Length": str(1 << 40)}, b"")),
            image_at(f"{library.url}/1.jpg"),
        )[1],
        "is larger than 512 MB",
    ),
}


@pytest.mark.parametrize("name", FAULTY)
def test_faulty_manifests_are_one_sentence(name: str, library: Library, tmp_path: Path) -> None:
    make, words = FAULTY[name]
    url = library.manifest(make(library))
    with pytest.raises(DatasetError, match=words) as caught:
        fetch_images(url, tmp_path / "book")
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.rglob("*.jpg"))


KEYS = st.sampled_from(
    ("items", "sequences", "canvases", "images", "resource", "service", "@id", "id", "label", "body", "type", "width")
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.just("https://x.example/a")),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=25,
)


@settings(max_examples=examples(300), deadline=None)
@given(st.dictionaries(KEYS, VALUES), st.data())
def test_any_json_is_read_or_refused_in_one_sentence(value: dict[str, Any], data: st.DataObject) -> None:
    if data.draw(st.booleans()):
        # a right manifest with one part replaced by something else
        parts: list[Any] = []
        known = data.draw(st.sampled_from((version_2, version_3)))("https://x.example")
        waiting: list[Any] = [known]
        while waiting:
            part = waiting.pop()
            inner = list(part.items()) if isinstance(part, dict) else list(enumerate(part))
            parts += [(part, key) for key, _ in inner]
            waiting += [member for _, member in inner if isinstance(member, (dict, list))]
        part, key = data.draw(st.sampled_from(range(len(parts))).map(lambda number: parts[number]))
        part[key] = data.draw(VALUES)
        value = known
    said = ""
    try:
        manifest = read_manifest("https://x.example/m.json", json.dumps(value).encode())
    except DatasetError as fault:
        said = str(fault)
    assert "\n" not in said
    if not said:
        assert all(canvas.image.startswith(("http://", "https://")) for canvas in manifest.canvases)


def test_labels_never_become_names_of_files(library: Library, tmp_path: Path) -> None:
    value = version_2(library.url, 1)
    value["sequences"][0]["canvases"][0]["label"] = "../../../etc/passwd\n,x"
    library.add("/i/1/full/full/0/default.jpg", JPEG)
    fetch_images(library.manifest(value), tmp_path / "a" / "b")
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()) == [
        "a/b/canvases.csv",
        "a/b/iiif.json",
        "a/b/images/0001.jpg",
    ]


@pytest.mark.parametrize("url", ["file:///x", "ftp://x.example/m", "m.json", "http://", "http://[x"])
def test_only_the_web(url: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a manifest has an http"):
        fetch_images(url, tmp_path)


def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(iiif, "WAIT", 0.0)
    with pytest.raises(HistevalError, match="the server refuses the connection"):
        fetch_images("http://127.0.0.1:9/m.json", tmp_path)
