"""A reading process from within: answers requests about documents, one at a time.

Whatever a hostile file does happens here: the process may be killed at any time and holds nothing that is not on disk.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from dataclasses import asdict, astuple
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from rag_core.domain import PageImage
from rag_core.errors import LecternError
from rag_core.reading import base, wire
from rag_core.reading.base import OpenDocument, Opener
from rag_core.reading.embedded import draw_part
from rag_core.reading.flowing import FlowDocument
from rag_core.reading.image import ImageDocument, turned
from rag_core.reading.markdown import MarkdownDocument
from rag_core.reading.pdf import PdfDocument
from rag_core.reading.sound import SoundDocument
from rag_core.reading.text import TextDocument, TextInOne
from rag_core.text.tables import counted_chars
from rag_core.unexpected import reach

# Their libraries take up to half a second to import: a module is imported when the first of its files comes.
FLOWING = {
    base.DOCX: "word", base.XLSX: "workbook", base.PPTX: "slides", base.HTML: "web", base.CSV: "separated",
    base.EPUB: "book", base.MAIL: "mail", base.NOTEBOOK: "notebook", base.RTF: "rich_text",
    base.ODT: "opendocument", base.ODS: "opendocument", base.ODP: "opendocument", base.SUBTITLES: "subtitles",
    base.LATEX: "latex", base.DOC: "word97", base.XLS: "workbook97", base.PPT: "slides97", base.MSG: "outlook",
    base.XLSB: "workbook_binary", base.JSON: "json_data", base.YAML: "yaml_data", base.XML: "xml_data",
    base.CALENDAR: "calendar_cards", base.CARD: "calendar_cards",
    base.RST: "restructured", base.ORG: "org", base.ASCIIDOC: "asciidoc", base.SVG: "drawing",
}  # fmt: skip
FORMATS: dict[str, Opener] = {
    base.PDF: PdfDocument,
    base.TEXT: TextDocument,
    base.CODE: TextInOne,
    base.MARKDOWN: MarkdownDocument,
    **{kind: partial(FlowDocument, f"rag_core.reading.flowing.{name}") for kind, name in FLOWING.items()},
    **dict.fromkeys(base.IMAGES, ImageDocument),
    **{kind: partial(SoundDocument, kind) for kind in base.SOUNDS},
}
# Pages are answered in bundles of about this long, so that requests of others are not kept waiting.
BUNDLE_S = 0.05


class Worker:
    """Answers requests. The document of the last request stays open for the next.

    `alive` is called now and then while a document that takes long is opened.
    """

    def __init__(self, alive: Callable[[], None]) -> None:
        self._alive = alive
        self._key: tuple[Any, ...] | None = None
        self._document: OpenDocument | None = None
        self._operations = {
            "open": self._open,
            "pages": self._pages,
            "details": self._details,
            "page_image": self._page_image,
            "page_boxes": self._page_boxes,
            "whole": self._whole,
        }

    def answer(self, request: wire.Message) -> wire.Message:
        """Return the response to one request; what goes wrong with the document becomes its "error"."""
        if request["op"] == "many":
            return {"answers": [self.answer(item) for item in request["requests"]]}
        return wire.answer_or_error(partial(self._answer, request), "Reading the document", "reading")

    def _answer(self, request: wire.Message) -> wire.Message:
        try:
            reach("reading process", Path(request["path"]).name)
            if request["op"] == "part_image":  # the document itself need not be read for it
                return _image_out(draw_part(Path(request["path"]), request["part"], request["width_px"]))
            return self._operations[request["op"]](self._opened(request), request)
        except LecternError:
            raise
        except BaseException:
            self._close()
            raise

    def _open(self, document: OpenDocument, request: wire.Message) -> wire.Message:
        return {"page_count": document.page_count}

    def _pages(self, document: OpenDocument, request: wire.Message) -> wire.Message:
        """Read pages from "first" on: at most "count", of "left" characters, and as many as a bundle's time holds."""
        began = time.monotonic()
        left = request["left"]
        pages = []
        last = min(document.page_count, request["first"] + request["count"] - 1)
        for number in range(request["first"], last + 1):
            raw = document.read_page(number, left)
            left -= counted_chars(raw.page.text)
            pages.append(wire.page_out(raw))
            if time.monotonic() - began > BUNDLE_S:
                break
        return {"pages": pages}

    def _details(self, document: OpenDocument, request: wire.Message) -> wire.Message:
        return {"details": asdict(document.details())}

    def _whole(self, document: OpenDocument, request: wire.Message) -> wire.Message:
        """All that a small document holds; of one that is not small, as many pages as `_pages` gives."""
        return {
            **self._open(document, request), **self._pages(document, request), **self._details(document, request)
        }  # fmt: skip

    def _page_image(self, document: OpenDocument, request: wire.Message) -> wire.Message:
        image = document.page_image(request["page"], request["width_px"])
        return _image_out(turned(image, request["turned"]))

    def _page_boxes(self, document: OpenDocument, request: wire.Message) -> wire.Message:
        spans = [(start, end) for start, end in request["spans"]]
        found = document.page_boxes(request["page"], spans, request["text"])
        return {"page_boxes": [[astuple(box) for box in boxes] for boxes in found]}

    def _opened(self, request: wire.Message) -> OpenDocument:
        path = Path(request["path"])
        status = path.stat()
        key = (request["path"], request["media_type"], request["password"], status.st_ino, status.st_mtime_ns)
        if self._document is None or key != self._key:
            self._close()
            document = FORMATS[request["media_type"]](path, request["password"], request["max_chars"])
            document.prepare(self._alive)
            self._document, self._key = document, key
        return self._document

    def _close(self) -> None:
        if self._document is not None:
            self._document.close()
        self._document = self._key = None


def _image_out(image: PageImage) -> wire.Message:
    return {"page_image": {**asdict(image), "png": base64.b64encode(image.png).decode("ascii")}}


def import_all() -> None:
    """Import what reads each format, so that Python keeps it compiled: a reading process may not write there."""
    for name in sorted({*FLOWING.values()}):
        import_module(f"rag_core.reading.flowing.{name}")


def read_service(alive: Callable[[], None]) -> Callable[[bytes], bytes]:
    """What a reading process runs."""
    return wire.json_service(Worker(alive).answer)
