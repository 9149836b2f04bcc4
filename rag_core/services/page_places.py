"""Where spans of a page's text stand on its picture: citations, words that are looked for, and all words of it; and
the pictures that stand in the text of a document without pages of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag_core.domain import Box, Document, Figure, Page, PageImage
from rag_core.errors import UnsupportedDocument
from rag_core.reading import Reader
from rag_core.reading.ocr import outside, own_span, own_text, span_boxes
from rag_core.services.recognition import picture_text, recognised_text
from rag_core.storage import Storage


class PagePlaces:
    """The places of spans on the pages of one library. Thread-safe."""

    def __init__(self, storage: Storage, reader: Reader) -> None:
        self._storage = storage
        self._reader = reader

    def of(self, document: Document, page: Page, spans: Sequence[tuple[int, int]]) -> list[tuple[Box, ...]]:
        """The boxes of each span, in fractions of the page's size. Those of recognised text are cut by the usual widths
        of letters. Raises what drawing the page raises."""
        if page.recogniser:
            read = recognised_text(self._storage, document.id, page.number) or page
            return [span_boxes(read, *span) for span in spans]
        own = [list(outside(page, span)) for span in spans]
        found = iter(self._in_file(document, page, [own_span(page, part) for parts in own for part in parts]))
        shown = picture_text(self._storage, document.id, page)
        return [
            (*(box for _ in parts for box in next(found)), *(span_boxes(shown, *span) if shown else ()))
            for span, parts in zip(spans, own, strict=True)
        ]

    def _in_file(self, document: Document, page: Page, spans: Sequence[tuple[int, int]]) -> list[tuple[Box, ...]]:
        return self._reader.page_boxes(
            self._storage.files.path(document.id), document.media_type, page.number, spans, text=own_text(page),
            password=self._storage.documents.password(document.id),
        )  # fmt: skip

    def page_image(
        self, document: Document, number: int, *, span: tuple[int, int] | None = None, width_px: int = 1000
    ) -> PageImage:
        """A page as PNG, with the boxes of a span of its text; one whose text was recognised stands upright.

        Raises UnsupportedDocument where nothing can be drawn.
        """
        if not document.has_page_images:
            raise UnsupportedDocument(
                "Only the pages of PDF documents and images can be drawn.", help="Read the page's text."
            )
        recognised = recognised_text(self._storage, document.id, number)
        image = self._reader.page_image(
            self._storage.files.path(document.id), document.media_type, number, width_px=width_px,
            password=self._storage.documents.password(document.id), turned=recognised.turned if recognised else 0,
        )  # fmt: skip
        pages = self._storage.documents.pages(document.id, number) if span else []
        return replace(image, boxes=self.of(document, pages[0], [span])[0] if pages and span else ())

    def figure_image(self, document: Document, figure: Figure, *, width_px: int = 1000) -> PageImage:
        """A figure that the file holds as PNG. Raises UnsupportedDocument for others, UnreadableDocument for damaged
        ones, LimitExceeded."""
        if not figure.part:
            raise UnsupportedDocument("The file does not hold this picture.", help="Look at the original.")
        path = self._storage.files.path(document.id)
        return self._reader.part_image(path, document.media_type, figure.part, width_px=width_px)
