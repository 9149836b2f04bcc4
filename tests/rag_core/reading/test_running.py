"""Running titles and page numbers, which no chunk holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core.chunking import chunk_document
from rag_core.domain import ParsedDocument
from rag_core.reading import Reader
from rag_core.settings import ChunkingSettings


def _page(title: str, foot: str, number: int) -> Callable[[Canvas], None]:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 9)
        canvas.drawString(40, 570, title)
        for row in range(12):
            canvas.drawString(40, 520 - 13 * row, f"Text {row} of the page with number {number} goes on here.")
        canvas.drawCentredString(200, 30, foot)

    return draw


def _bodies(parsed: ParsedDocument) -> list[str]:
    return [page.text[slice(*(page.body or (0, len(page.text))))] for page in parsed.pages]


@pytest.mark.parametrize("foot", ["{}", "Page {} of 4", "- {} -", "Annual report | {}"])
@pytest.mark.parametrize("strategy", ["sentences", "characters"])
def test_titles_and_numbers_of_pages_are_in_no_chunk(
    reader: Reader, make_pdf: Callable[..., Path], foot: str, strategy: str
) -> None:
    pages = [_page("The Good Handbook", foot.format(number), number) for number in range(1, 5)]
    parsed = reader.read(make_pdf(*pages), "handbook.pdf")
    assert all(body.startswith("Text 0") and body.endswith("here.") for body in _bodies(parsed))
    assert all("The Good Handbook" in page.text for page in parsed.pages)
    settings = ChunkingSettings(strategy=strategy)
    chunks = chunk_document("0" * 32, parsed, settings, lambda texts: [len(text.split()) for text in texts])
    assert all("Handbook" not in chunk.text and chunk.text.endswith("here.") for chunk in chunks)
    assert all(chunk.text == parsed.pages[chunk.page - 1].text[chunk.start : chunk.end] for chunk in chunks)
    assert {chunk.page for chunk in chunks} == {1, 2, 3, 4}


def test_roman_numbers_count_pages_too(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    pages = [_page(f"Title {number}", roman, number) for number, roman in enumerate(["vii", "viii", "ix", "x"])]
    bodies = _bodies(reader.read(make_pdf(*pages), "front.pdf"))
    assert all(body.startswith("Title") and body.endswith("here.") for body in bodies)


def test_figures_of_the_last_row_and_heads_of_tables_stay(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    def table(number: int) -> Callable[[Canvas], None]:
        def draw(canvas: Canvas) -> None:
            canvas.setFont("Helvetica", 9)
            canvas.drawString(200, 560, "Year ended May 31")
            for row in range(30):
                canvas.drawString(40, 548 - 12 * row, f"Item {row}")
                canvas.drawRightString(280, 548 - 12 * row, f"{900 - 7 * row * number}")

        return draw

    parsed = reader.read(make_pdf(*(table(number) for number in range(1, 5))), "tables.pdf")
    assert all(page.body is None for page in parsed.pages)


def test_running_titles_of_real_files(reader: Reader, shared: Path) -> None:
    path = shared / "filings" / "NETFLIX_2018_10K.pdf"
    parsed = reader.read(path, path.name)
    assert [body for body in _bodies(parsed)[2:] if body.startswith("Table of Contents")] == []
    assert [page.number for page in parsed.pages[2:77] if page.body is None] == []
    assert "Table of Contents" not in {section.title for section in parsed.sections}
