"""PDF files: text, boxes of lines and pictures of pages through PDFium. Runs in the reading processes alone."""

from __future__ import annotations

import ctypes
import mmap
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from rag_core.domain import Box, Page, PageImage
from rag_core.errors import EncryptedDocument, LimitExceeded, UnreadableDocument
from rag_core.reading.base import Details, OpenDocument, RawPage
from rag_core.reading.pdf_arrange import Reading, arranged, composed, found_again
from rag_core.reading.pdf_bands import Sheet, in_frames
from rag_core.reading.pdf_comments import with_comments
from rag_core.reading.pdf_figures import page_figures
from rag_core.reading.pdf_forms import with_values
from rag_core.reading.pdf_heads import with_heads
from rag_core.reading.pdf_hidden import hidden_text
from rag_core.reading.pdf_levels import in_levels
from rag_core.reading.pdf_order import Piece
from rag_core.reading.pdf_pictures import text_is_a_picture
from rag_core.reading.pdf_rules import page_rules
from rag_core.reading.pdf_tables import in_grids
from rag_core.reading.pdf_text import (
    Geometry,
    clean,
    line_face,
    page_lines,
    page_size,
    page_text,
    span_box,
    span_boxes,
    turned_back,
)
from rag_core.reading.png import encode_rgb
from rag_core.reading.text import lowered

MAX_PICTURE_PIXELS = 16_000_000
MIN_PICTURE_WIDTH, MAX_PICTURE_WIDTH = 16, 4_000
# Attachments, of which portfolios have nothing else, that are named, and characters of their names.
MAX_ATTACHMENTS, _NAME_CHARS = 20, 100

# The place of the table of objects is the last a PDF says; some writers leave the mark after it out.
_END = re.compile(rb"startxref\s+\d+\s*(?:%[%EOF]*\s*)?\x00*$")
_OBJECT = re.compile(rb"\d+\s+\d+\s+obj\b")
_LINEARIZED = re.compile(rb"/Linearized\b[^>]*?/L\s+(\d+)")


class PdfDocument(OpenDocument):
    """A PDF opened by PDFium. Raises EncryptedDocument, or UnreadableDocument when damaged or cut off."""

    def __init__(self, path: Path, password: str | None, max_chars: int) -> None:
        self._path = path
        self._password = password
        self._pdf = _open(path, password)
        self._first_shown: dict[int, int] = {}
        if self._pdf.get_formtype() != pdfium.FORMTYPE_NONE:
            self._pdf.init_forms()
        self.page_count = len(self._pdf)
        if self.page_count == 0:
            self.close()
            raise UnreadableDocument("The PDF has no pages.")

    def read_page(self, number: int, max_chars: int) -> RawPage:
        """Read text and line boxes; a page that PDFium refuses comes back with its `error`."""
        try:
            with self._page(number) as page, _textpage(page) as textpage:
                if pdfium.FPDFText_CountChars(textpage) > max_chars:
                    raise LimitExceeded(f"Page {number} brings the document over its most characters.")
                return _read(number, page, textpage, self._reading(page, textpage), self._is_new(number))
        except pypdfium2.PdfiumError as error:
            return RawPage(Page(number, "", error=f"Page {number} is damaged ({_reason(error)})."))

    def details(self) -> Details:
        """What pypdf reads of document information, outline and page labels."""
        # Costs a tenth of a second, and pictures do not need it.
        from rag_core.reading.pdf_details import read_details

        details = read_details(self._path, self._password, self.page_count)
        names = ", ".join(_attached(self._pdf.raw))
        return replace(details, notes=(*details.notes, f"Attachments are not read: {names}.")) if names else details

    def page_image(self, number: int, width_px: int) -> PageImage:
        """Draw the page as shown: cropped, rotated, with annotations. Raises UnreadableDocument for a damaged page."""
        with self._drawable(number) as page:
            return PageImage(*_draw(page, width_px))

    def page_boxes(self, number: int, spans: Sequence[tuple[int, int]], text: str | None) -> list[tuple[Box, ...]]:
        """The exact boxes of each span, one for each of its lines. Raises UnreadableDocument for a damaged page."""
        with self._drawable(number) as page, _textpage(page) as textpage:
            reading, geometry = self._reading(page, textpage), Geometry.of(page)
            if text is not None and lowered(text) == lowered(reading.text):
                text = None  # as nearly always: no span needs to be looked for
            return [_marks(textpage, reading, span, text, geometry) for span in spans]

    def close(self) -> None:
        """Close the file."""
        self._pdf.close()

    def _is_new(self, number: int) -> Callable[[int], bool]:
        """Whether a page is the first to show a picture of so many bytes."""
        return lambda size: self._first_shown.setdefault(size, number) == number

    @contextmanager
    def _drawable(self, number: int) -> Iterator[Any]:
        """A page that is there and whole. Raises UnreadableDocument."""
        if not 1 <= number <= self.page_count:
            raise UnreadableDocument(f"The document has no page {number}.", help="Choose another page.")
        try:
            with self._page(number) as page:
                yield page
        except pypdfium2.PdfiumError as error:
            raise UnreadableDocument(f"Page {number} cannot be drawn ({_reason(error)}).") from error

    def _reading(self, page: Any, textpage: Any) -> Reading:
        geometry, form = Geometry.of(page), self._pdf.formenv
        reading = _upright(page, textpage, geometry)
        return with_comments(with_values(reading, form.raw if form else None, page, geometry), page, geometry)

    @contextmanager
    def _page(self, number: int) -> Iterator[Any]:
        page = pdfium.FPDF_LoadPage(self._pdf.raw, number - 1)
        if not page:
            raise pypdfium2.PdfiumError("Failed to load page")
        try:
            yield page
        finally:
            pdfium.FPDF_ClosePage(page)


@contextmanager
def _textpage(page: Any) -> Iterator[Any]:
    textpage = pdfium.FPDFText_LoadPage(page)
    if not textpage:
        raise pypdfium2.PdfiumError("Failed to load text")
    try:
        yield textpage
    finally:
        pdfium.FPDFText_ClosePage(textpage)


def _open(path: Path, password: str | None) -> pypdfium2.PdfDocument:
    try:
        pdf = pypdfium2.PdfDocument(path, password=password or None)
    except pypdfium2.PdfiumError as error:
        raise _translated(error, path, password) from error
    if is_cut_off(path):
        pdf.close()
        raise _cut_off()
    return pdf


def _attached(pdf: Any) -> Iterator[str]:
    """The names of what is attached to an FPDF_DOCUMENT."""
    for number in range(min(pdfium.FPDFDoc_GetAttachmentCount(pdf), MAX_ATTACHMENTS)):
        buffer = (ctypes.c_ushort * (_NAME_CHARS + 1))()
        attachment = pdfium.FPDFDoc_GetAttachment(pdf, number)
        size = pdfium.FPDFAttachment_GetName(attachment, buffer, ctypes.sizeof(buffer)) if attachment else 0
        name = bytes(buffer)[: max(size - 2, 0)].decode("utf-16-le", "replace").rstrip("\0")
        yield " ".join(clean(name).split()) or "one without a name"


def _translated(error: pypdfium2.PdfiumError, path: Path, password: str | None) -> UnreadableDocument:
    if error.err_code == pdfium.FPDF_ERR_PASSWORD:
        if password:
            return EncryptedDocument("The password does not open this PDF.", wrong_password=True)
        return EncryptedDocument("This PDF is protected by a password.")
    if error.err_code == pdfium.FPDF_ERR_SECURITY:
        return UnreadableDocument(
            "This PDF is protected in a way that Lectern cannot open.", help="Save a copy without protection."
        )
    return _cut_off() if is_cut_off(path) else UnreadableDocument(f"The PDF is damaged ({_reason(error)}).")


def _cut_off() -> UnreadableDocument:
    return UnreadableDocument(
        "The PDF is cut off: its end is missing.", help="Download or copy the file again, then add it anew."
    )


def is_cut_off(path: Path) -> bool:
    """Whether a PDF lacks its end. PDFium repairs such files silently and leaves their last pages blank."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        linearized = _LINEARIZED.search(data[:2048])
        if linearized and int(linearized[1]) > len(data):
            return True
        if _END.search(data[-1024:]):
            return False
        # What follows the end may be rubbish added on the way, but no objects: those belong to a later, lost end.
        end = data.rfind(b"%%EOF")
        return end < 0 or _OBJECT.search(data, end) is not None


def _read(number: int, page: Any, textpage: Any, reading: Reading, is_new: Callable[[int], bool]) -> RawPage:
    width, height = page_size(page)
    pictures = text_is_a_picture(page, reading.printed, width * height)
    hidden = hidden_text(page, textpage, reading, height)
    figures = () if pictures else page_figures(page, reading, Geometry.of(page), is_new)
    made = Page(
        number, reading.text, width_pt=width, height_pt=height, lines=reading.lines, hidden=hidden, figures=figures
    )
    return RawPage(made, reading.faces, pictures)


def _upright(page: Any, textpage: Any, shown: Geometry) -> Reading:
    """The text of a page with its lines in order, as whoever turns the page to read it sees them."""
    text, turns = page_text(textpage), shown.turns(textpage)
    geometry, size = shown.turned(turns), page_size(page)
    width, height = size = size[::-1] if turns % 2 else size
    face = partial(line_face, textpage)
    pieces = [Piece(line, face(line)) for line in page_lines(textpage, text, geometry)]
    boxes = partial(span_box, textpage, geometry)
    grids, frames = page_rules(page, geometry, size)
    sheet = Sheet(text, boxes, height / max(width, 0.001))
    pieces = in_levels(sheet, in_frames(sheet, in_grids(text, pieces, grids, boxes), frames))
    pieces = with_heads(sheet, pieces)
    reading = composed(arranged(text, pieces, face))
    return replace(reading, lines=tuple(turned_back(line, turns) for line in reading.lines)) if turns else reading


def _marks(
    textpage: Any, reading: Reading, span: tuple[int, int], text: str | None, geometry: Geometry
) -> tuple[Box, ...]:
    """The boxes of a span of a page's text. A page whose text is not as it is read now was read by an earlier version,
    in PDFium's own order."""
    now = span if text is None else found_again(span, text, reading.text)
    if now is None:
        return span_boxes(textpage, [span], geometry)
    values = (value.box for value in reading.values if value.start < now[1] and now[0] < value.end)
    return (*span_boxes(textpage, reading.counted(now), geometry), *values)


def _draw(page: Any, width_px: int) -> tuple[bytes, int, int]:
    width, height = _picture_size(page, width_px)
    bitmap = pdfium.FPDFBitmap_CreateEx(width, height, pdfium.FPDFBitmap_BGR, None, 0)
    if not bitmap:
        raise pypdfium2.PdfiumError("Failed to make room for the picture")
    try:
        pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xFFFFFFFF)
        flags = pdfium.FPDF_ANNOT | pdfium.FPDF_REVERSE_BYTE_ORDER
        pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, flags)
        stride = pdfium.FPDFBitmap_GetStride(bitmap)
        return encode_rgb(_pixels(bitmap, stride * height), width, height, stride), width, height
    finally:
        pdfium.FPDFBitmap_Destroy(bitmap)


def _pixels(bitmap: Any, size: int) -> memoryview:
    address = pdfium.FPDFBitmap_GetBuffer(bitmap)
    return memoryview((ctypes.c_ubyte * size).from_address(ctypes.cast(address, ctypes.c_void_p).value or 0)).cast("B")


def _picture_size(page: Any, width_px: int) -> tuple[int, int]:
    width = min(max(width_px, MIN_PICTURE_WIDTH), MAX_PICTURE_WIDTH)
    across, down = page_size(page)
    shape = down / max(across, 0.001)
    # A strip of a page is drawn narrower, so that no picture needs more memory than the largest ordinary one.
    width = max(1, min(width, int((MAX_PICTURE_PIXELS / max(shape, 1e-6)) ** 0.5)))
    return width, min(max(1, round(width * shape)), MAX_PICTURE_PIXELS // width)


def _reason(error: pypdfium2.PdfiumError) -> str:
    return str(error).strip(".").removeprefix("Failed to load document (PDFium: ").rstrip(")")
