"""Text recognition (OCR): pictures of pages to lines with boxes and certainty, in a process of its own."""

from rag_core.reading.ocr.merging import page_content, recognised_page, span_boxes, with_recognised
from rag_core.reading.ocr.picture_words import outside, own_span, own_text, picture_lines, pictures_page
from rag_core.reading.ocr.process import PageRecogniser

__all__ = [
    "PageRecogniser", "outside", "own_span", "own_text", "page_content", "picture_lines", "pictures_page",
    "recognised_page", "span_boxes", "with_recognised",
]  # fmt: skip
