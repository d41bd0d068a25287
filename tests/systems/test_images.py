"""Images of every kind arrive upright, whole and within limits; what cannot be sent is refused with a sentence."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from histeval.systems.images import RULES, ImageError, ImageRule, prepare, prepare_pages, rule_for
from support import DATA, needs_data

RULE = rule_for("general")


def page(width: int = 300, height: int = 200) -> Image.Image:
    """A page whose upper left quarter is dark, so that its orientation shows."""
    values = np.full((height, width, 3), 230, dtype=np.uint8)
    values[: height // 2, : width // 2] = 20
    return Image.fromarray(values)


def decode(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def dark_corner(image: Image.Image) -> str:
    values = np.asarray(image.convert("L")).astype(int)
    height, width = values.shape
    corners = {
        "upper left": values[: height // 2, : width // 2],
        "upper right": values[: height // 2, width // 2 :],
        "lower left": values[height // 2 :, : width // 2],
        "lower right": values[height // 2 :, width // 2 :],
    }
    return min(corners, key=lambda name: corners[name].mean())


@pytest.mark.parametrize(("suffix", "kind"), [("jpg", "JPEG"), ("png", "PNG"), ("webp", "WEBP")])
def test_what_every_provider_takes_is_sent_byte_for_byte(tmp_path: Path, suffix: str, kind: str) -> None:
    file = tmp_path / f"a.{suffix}"
    page().save(file, kind)
    for _ in range(2):  # the second time from memory
        (prepared,) = prepare(file, RULE)
        assert prepared.data == file.read_bytes()
        assert prepared.media_type == f"image/{kind.lower()}"
        assert (prepared.width, prepared.height, prepared.change) == (300, 200, "")


@pytest.mark.parametrize(("suffix", "kind"), [("tif", "TIFF"), ("jp2", "JPEG2000"), ("bmp", "BMP"), ("gif", "GIF")])
def test_other_formats_are_converted_and_said_to_be(tmp_path: Path, suffix: str, kind: str) -> None:
    file = tmp_path / f"a.{suffix}"
    page().save(file, kind)
    (prepared,) = prepare(file, RULE)
    image = decode(prepared.data)
    assert image.format == "JPEG"
    assert image.size == (300, 200)
    assert dark_corner(image) == "upper left"
    assert kind in prepared.change


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation(tmp_path: Path, orientation: int) -> None:
    turns = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    stored = page().transpose(turns[orientation]) if orientation in turns else page()
    exif = Image.Exif()
    exif[0x0112] = orientation
    file = tmp_path / "a.jpg"
    stored.save(file, "JPEG", exif=exif, quality=95)
    (prepared,) = prepare(file, RULE)
    image = decode(prepared.data)
    assert image.size == (300, 200)
    assert dark_corner(image) == "upper left"
    assert image.getexif().get(0x0112, 1) == 1
    assert bool(prepared.change) == (orientation != 1)


@pytest.mark.parametrize("bits", [16, 12])
@pytest.mark.parametrize("suffix", ["png", "tif"])
def test_sixteen_bits(tmp_path: Path, bits: int, suffix: str) -> None:
    top = 2**bits - 1
    values = np.full((200, 300), int(top * 0.9), dtype=np.uint16)
    values[:100, :150] = int(top * 0.1)
    file = tmp_path / f"a.{suffix}"
    Image.fromarray(values).save(file)
    (prepared,) = prepare(file, RULE)
    image = decode(prepared.data)
    assert image.mode == "L"
    pixels = np.asarray(image).astype(int)
    assert pixels[:90, :140].mean() == pytest.approx(25, abs=4)
    assert pixels[110:, 160:].mean() == pytest.approx(230, abs=4)
    assert "16 bits" in prepared.change


def test_cmyk_and_transparency(tmp_path: Path) -> None:
    page().convert("CMYK").save(tmp_path / "a.jpg", "JPEG", quality=95)
    (prepared,) = prepare(tmp_path / "a.jpg", RULE)
    image = decode(prepared.data)
    assert image.mode == "RGB"
    assert dark_corner(image) == "upper left"
    assert "CMYK" in prepared.change
    clear = Image.new("RGBA", (100, 100), (0, 0, 0, 0))
    clear.save(tmp_path / "a.tif")
    (prepared,) = prepare(tmp_path / "a.tif", RULE)
    assert np.asarray(decode(prepared.data)).min() > 250


def test_bilevel_scans_stay_sharp(tmp_path: Path) -> None:
    page().convert("1").save(tmp_path / "a.tif", compression="group4")
    (prepared,) = prepare(tmp_path / "a.tif", RULE)
    assert prepared.media_type == "image/png"
    assert dark_corner(decode(prepared.data)) == "upper left"


def test_a_png_named_jpg_is_sent_as_png(tmp_path: Path) -> None:
    file = tmp_path / "a.jpg"
    page().save(file, "PNG")
    (prepared,) = prepare(file, RULE)
    assert prepared.media_type == "image/png"
    assert prepared.data_uri.startswith("data:image/png;base64,iVBOR")


def test_a_tiff_of_several_pages_gives_all_in_order(tmp_path: Path) -> None:
    pages = [Image.new("L", (100 + 10 * i, 80), 200) for i in range(3)]
    pages[0].save(tmp_path / "a.tif", save_all=True, append_images=pages[1:])
    page().save(tmp_path / "b.jpg")
    prepared = prepare_pages((tmp_path / "a.tif", tmp_path / "b.jpg"), RULE)
    assert [image.width for image in prepared] == [100, 110, 120, 300]
    assert [image.file for image in prepared] == ["a.tif#1", "a.tif#2", "a.tif#3", "b.jpg"]


def test_size_limits_scale_down_and_say_so(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (900, 1200, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "a.jpg", quality=95)
    side = ImageRule("small-500px", 500, 10**7, 10**8)
    (prepared,) = prepare(tmp_path / "a.jpg", side)
    assert decode(prepared.data).size == (500, 375)
    assert "small-500px" in prepared.change
    assert "1200 x 900" in prepared.change
    heavy = ImageRule("light-100kb", 5000, 100_000, 10**8)
    (prepared,) = prepare(tmp_path / "a.jpg", heavy)
    assert len(prepared.data) <= 100_000
    assert "light-100kb" in prepared.change
    assert decode(prepared.data).size == (prepared.width, prepared.height)
    total = ImageRule("total", 5000, 10**8, 300_000)
    several = prepare_pages((tmp_path / "a.jpg",) * 3, total)
    assert sum(len(image.data) for image in several) <= 300_000


def test_many_images_have_their_own_limit() -> None:
    anthropic = RULES["anthropic"]
    assert anthropic.for_request(20).max_side == 8000
    assert anthropic.for_request(21).max_side == 2000
    assert anthropic.for_request(1, 1500).max_side == 1500
    assert anthropic.for_request(1).max_bytes * 4 / 3 <= 5 * 2**20


def png_header(width: int, height: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("size", [(50_000, 50_000), (20_000, 16_000), (2**31 - 1, 2**31 - 1)])
def test_bombs_are_refused(tmp_path: Path, size: tuple[int, int]) -> None:
    (tmp_path / "bomb.png").write_bytes(png_header(*size))
    with pytest.raises(ImageError, match=r"bomb\.png") as caught:
        prepare(tmp_path / "bomb.png", RULE)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("suffix", "kind"), [("jpg", "JPEG"), ("png", "PNG"), ("webp", "WEBP"), ("tif", "TIFF")])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.9])
def test_truncated_files_are_refused(tmp_path: Path, suffix: str, kind: str, share: float) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (200, 300, 3), dtype=np.uint8)
    file = tmp_path / f"cut.{suffix}"
    Image.fromarray(noise).save(file, kind)
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * share)])
    with pytest.raises(ImageError, match=r"cut\."):
        prepare(file, RULE)


def test_what_is_no_image_is_refused(tmp_path: Path) -> None:
    for name, data in {"a.jpg": b"<html>not found</html>", "b.png": b"\x89PNG\r\n\x1a\n" + b"x" * 50}.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ImageError, match=name):
            prepare(tmp_path / name, RULE)
    with pytest.raises(ImageError, match="cannot be read"):
        prepare(tmp_path / "absent.jpg", RULE)


@pytest.mark.data
@needs_data
def test_the_published_pages_are_sent_as_they_are() -> None:
    files = sorted((DATA / "rise" / "benchmarks").glob("*/images/*.jpg"))
    assert len(files) == 32
    for file in files:
        (prepared,) = prepare(file, rule_for("anthropic"))
        assert prepared.data == file.read_bytes()
