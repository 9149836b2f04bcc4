"""Pages as images, with the boxes of a span of their text; one whose text was recognised stands upright."""

from __future__ import annotations

from dataclasses import replace

from rag_core.domain import Document, PageImage
from rag_core.errors import UnsupportedDocument
from rag_core.reading import Reader
from rag_core.services.page_places import PagePlaces
from rag_core.services.recognition import recognised_text
from rag_core.storage import Storage


def draw(
    storage: Storage, reader: Reader, document: Document, number: int, span: tuple[int, int] | None, width_px: int
) -> PageImage:
    """A page as PNG; the boxes are fractions of its size. Raises UnsupportedDocument where nothing can be drawn."""
    if not document.has_page_images:
        raise UnsupportedDocument(
            "Only the pages of PDF documents and images can be drawn.", help="Read the page's text."
        )
    recognised = recognised_text(storage, document.id, number)
    image = reader.page_image(
        storage.files.path(document.id), document.media_type, number, width_px=width_px,
        password=storage.documents.password(document.id), turned=recognised.turned if recognised else 0,
    )  # fmt: skip
    pages = storage.documents.pages(document.id, number) if span else []
    found = PagePlaces(storage, reader).of(document, pages[0], [span]) if pages and span else [()]
    return replace(image, boxes=found[0])
