"""Images as documents: frames as pages, pictures upright, bombs refused before they are decoded."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image

from rag_core.errors import LecternError, LimitExceeded, UnreadableDocument, UnsupportedDocument
from rag_core.reading import Reader
from rag_core.reading.png import _part
from tests.rag_core.scans import image_bytes, sheet

KINDS = ["PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF", "AVIF"]
SMALL = (300, 200)


@pytest.fixture
def kept(tmp_path: Path) -> Callable[[bytes], Path]:
    def keep(data: bytes) -> Path:
        path = tmp_path / "stored"
        path.write_bytes(data)
        return path

    return keep


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_a_page_that_waits_for_recognition(reader: Reader, kept, kind: str) -> None:
    path = kept(image_bytes(sheet(["Words"], paper=SMALL), kind=kind))
    parsed = reader.read(path, f"scan.{kind.lower()}", recognised={})
    assert (len(parsed.pages), parsed.to_recognise, parsed.title) == (1, (1,), "scan")
    picture = reader.page_image(path, parsed.media_type, 1, width_px=150)
    assert (picture.width_px, picture.height_px) == (150, 100)


@pytest.mark.skipif(not find_spec("pillow_heif"), reason="the extra 'heic' is not installed")
def test_a_telephones_picture_is_a_page(reader: Reader, kept) -> None:
    import pillow_heif

    pillow_heif.register_heif_opener()
    whole = image_bytes(sheet(["Words"], paper=SMALL), kind="HEIF")
    path = kept(whole)
    parsed = reader.read(path, "IMG_0001.HEIC", recognised={})
    assert (parsed.media_type, parsed.to_recognise) == ("image/heic", (1,))
    picture = reader.page_image(path, parsed.media_type, 1, width_px=150)
    assert (picture.width_px, picture.height_px) == (150, 100)
    for cut in range(20, len(whole), 97):
        with pytest.raises(LecternError):
            reader.page_image(kept(whole[:cut]), parsed.media_type, 1, width_px=150)


@pytest.mark.skipif(find_spec("pillow_heif") is not None, reason="the extra 'heic' is installed")
def test_without_the_extra_it_is_said_what_to_do(reader: Reader, kept) -> None:
    with pytest.raises(UnsupportedDocument, match="HEIC") as caught:
        reader.read(kept(b"\x00\x00\x00\x1cftypheic" + bytes(50)), "a.heic")
    assert "lectern[heic]" in caught.value.help


def test_the_frames_of_a_tiff_are_pages_and_of_an_animation_the_first_is_read(reader: Reader, kept) -> None:
    frames = [sheet([word], paper=SMALL) for word in ("One", "Two", "Three")]
    assert reader.read(kept(image_bytes(*frames, kind="TIFF")), "a.tif", recognised={}).to_recognise == (1, 2, 3)
    parsed = reader.read(kept(image_bytes(*frames, kind="GIF")), "a.gif", recognised={})
    assert len(parsed.pages) == 1
    assert "Of an animation the first picture alone is read." in parsed.notes


def test_a_photograph_is_shown_as_its_camera_was_held(reader: Reader, kept) -> None:
    file = io.BytesIO()
    exif = Image.Exif()
    exif[274] = 6
    sheet(["Words"], paper=SMALL).save(file, "JPEG", exif=exif)
    picture = reader.page_image(kept(file.getvalue()), "image/jpeg", 1, width_px=100)
    assert (picture.width_px, picture.height_px) == (100, 150)


def bomb(width: int, height: int) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(bytes(10_000))
    return b"\x89PNG\r\n\x1a\n" + _part(b"IHDR", head) + _part(b"IDAT", body) + _part(b"IEND", b"")


def test_a_picture_bomb_is_refused_by_its_pixels(reader: Reader, kept) -> None:
    path = kept(bomb(60_000, 60_000))
    with pytest.raises(LimitExceeded, match="3,600,000,000 pixels"):
        reader.read(path, "bomb.png", recognised={})


@pytest.mark.parametrize("data", [bomb(3000, 2000), image_bytes(sheet(["Cut"], paper=SMALL))[:200], b"GIF89a"])
def test_a_damaged_image_ends_with_a_reason(reader: Reader, kept, data: bytes) -> None:
    path = kept(data)
    with pytest.raises(LecternError) as caught:
        parsed = reader.read(path, "damaged", recognised={})
        reader.page_image(path, parsed.media_type, 1)
    assert isinstance(caught.value, UnreadableDocument)
