"""Real files for the tests of reading: some made here, some of the shared data (skipped when absent)."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from rag_core.reading import Reader
from rag_core.settings import ReadingSettings
from tests.rag_core.reading.raw import CATALOG, PAGE, pdf_of, stream

PROJECT = Path(__file__).resolve().parents[3]
SHARED = PROJECT.parent / "shared" / "data"
GOOD_PAGE = b"BT /F1 12 Tf 72 700 Td (Hello from a good page) Tj ET"

Draw = Callable[[Canvas], None]


@pytest.fixture(autouse=True)
def as_users_have_it(fresh_processes: None) -> None:
    """How the reading process starts and ends is what these tests are about."""


@pytest.fixture(scope="session")
def reader() -> Iterator[Reader]:
    with Reader(ReadingSettings()) as made:
        yield made


@pytest.fixture(scope="session")
def shared() -> Path:
    if not SHARED.is_dir():
        pytest.skip(f"the shared data is not at {SHARED}")
    return SHARED


@pytest.fixture(scope="session")
def samples() -> Path:
    return PROJECT / "data" / "samples"


@pytest.fixture
def make_pdf(tmp_path: Path) -> Callable[..., Path]:
    """Make a PDF: one page for each function that draws, with reportlab's canvas to set things on."""

    def make(
        *pages: Draw, name: str = "made.pdf", setup: Draw | None = None, size: tuple[float, float] = (400, 600)
    ) -> Path:
        canvas = Canvas(str(tmp_path / name), pagesize=size)
        if setup:
            setup(canvas)
        for draw in pages:
            draw(canvas)
            canvas.showPage()
        canvas.save()
        return tmp_path / name

    return make


@pytest.fixture
def rewrite(tmp_path: Path) -> Callable[..., Path]:
    """Write a PDF anew after `change` worked on pypdf's writer."""

    def rewritten(path: Path, change: Callable[[PdfWriter], object], name: str = "rewritten.pdf") -> Path:
        writer = PdfWriter(clone_from=PdfReader(path))
        change(writer)
        writer.write(tmp_path / name)
        return tmp_path / name

    return rewritten


@pytest.fixture
def raw_pdf(tmp_path: Path) -> Callable[..., Path]:
    """Write a PDF by hand from page contents (bytes, number of Flate filters); None is a page that does not exist."""

    def make(*contents: tuple[bytes, int] | None, name: str = "raw.pdf") -> Path:
        path = tmp_path / name
        path.write_bytes(_raw_pdf(contents))
        return path

    return make


@pytest.fixture(scope="session")
def bomb() -> tuple[bytes, int]:
    """A page's content of a few hundred bytes that unfolds to 1 GiB through three filters."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = b" " * 2**20
    # After a full flush equal blocks have equal bytes, so that one needs to be packed.
    packed = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    check = 1
    for _ in range(1024):
        check = zlib.adler32(block, check)
    data = b"\x78\xda" + packed * 1024 + b"\x03\x00" + check.to_bytes(4, "big")
    return zlib.compress(zlib.compress(data, 9), 9), 3


@pytest.fixture
def picture_page() -> Draw:
    from PIL import Image

    stream = io.BytesIO()
    Image.new("RGB", (60, 40), (120, 130, 140)).save(stream, "PNG")
    return lambda canvas: canvas.drawImage(ImageReader(stream), 20, 20, 300, 300)


def _raw_pdf(contents: tuple[tuple[bytes, int] | None, ...]) -> bytes:
    objects = [CATALOG, b""]
    kids = []
    for item in contents:
        if item is None:
            kids.append(b"900 0 R")
            continue
        kids.append(b"%d 0 R" % (len(objects) + 1))
        objects.append(PAGE.replace(b"/Contents 4 0 R", b"/Contents %d 0 R" % (len(objects) + 2)))
        data, filters = item
        objects.append(stream(data, b"/Filter [%s]" % (b"/FlateDecode " * filters)))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    return pdf_of(objects)
