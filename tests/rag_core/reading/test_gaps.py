"""What stands between the words of a PDF's page: cells, breaks and blanks that are none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pypdf import PdfWriter
from reportlab.pdfgen.canvas import Canvas

from rag_core.reading import Reader
from rag_core.reading.pdf_text import HYPHEN_MARK, SOFT_HYPHEN, clean

PDF = "application/pdf"
ROWS = (("Tank", "Content", "Litres"), ("T1", "Rapeseed oil", "12,400"), ("T2", "Vinegar", "3,850"))


def _table(canvas: Canvas, turned: int) -> None:
    """Draw a table that is upright once the page is turned by so many degrees, clockwise."""
    canvas.translate(200, 300)
    canvas.rotate(turned)
    for row, cells in enumerate(ROWS):
        for column, text in enumerate(cells):
            canvas.drawString(-150 + 100 * column, 60 - 20 * row, text)
    canvas.drawString(-150, -40, "Both were full")
    canvas.setFont("Helvetica", 7)
    canvas.drawString(-150 + canvas.stringWidth("Both were full", "Helvetica", 12), -35, "12")


@pytest.mark.parametrize("turned", [0, 90, 270])
@pytest.mark.parametrize("by_page", [True, False], ids=["a page that is turned", "text that is"])
def test_cells_of_turned_pages_stand_apart(
    reader: Reader, make_pdf: Callable[..., Path], rewrite: Callable[..., Path], turned: int, by_page: bool
) -> None:
    def turn(writer: PdfWriter) -> None:
        writer.pages[0].rotate(turned if by_page else 0)

    path = rewrite(make_pdf(lambda canvas: _table(canvas, turned)), turn)
    page = reader.read(path, "tanks.pdf").pages[0]
    rows = [tuple(page.text[cell.start : cell.end] for cell in line.cells) for line in page.lines if line.cells]
    assert rows == list(ROWS)
    assert "Both were full¹²" in page.text


def test_a_single_figure_behind_another_stays_in_its_row(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    numbers = (("310.05", "4"), ("520.05", "6"), ("1150.05", "14"))

    def draw(canvas: Canvas) -> None:
        for row, cells in enumerate(numbers):
            for column, text in enumerate(cells):
                canvas.drawString(72 + 80 * column, 500 - 20 * row, text)

    path = make_pdf(draw)
    page = reader.read(path, "numbers.pdf").pages[0]
    assert [page.text[line.start : line.end].split() for line in page.lines] == [list(row) for row in numbers]
    cell = page.lines[0].cells[1]
    assert page.text[cell.start : cell.end] == "4"
    boxes = reader.page_boxes(path, PDF, 1, [(cell.start, cell.end)], text=page.text)[0]
    assert boxes == (cell.box,)


def test_letters_at_one_pitch_are_words(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    words = "Testing Deduplication"

    def draw(canvas: Canvas) -> None:
        for shift in (0, 0.4):  # as what is to look bold is drawn twice
            for place, letter in enumerate(words):
                canvas.drawString(40 + 7.5 * place + shift, 500, letter.strip())
        canvas.drawString(40, 460, "An i in plain words is a letter.")

    path = make_pdf(draw)
    page = reader.read(path, "bold.pdf").pages[0]
    assert [page.text[line.start : line.end] for line in page.lines] == [words, "An i in plain words is a letter."]
    start = page.text.index("in plain")
    (box,) = reader.page_boxes(path, PDF, 1, [(start, start + 2)], text=page.text)[0]
    assert (round(box.left * 400), 1 - box.bottom > 0.74) == (65, True)


def test_letters_written_one_by_one_are_words(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    """Each is followed by room that the next one is moved back into, as converters of web pages write them."""
    rows = (("Kraft Foods Brasil Ltda.", "Brazil"), ("O.R.A. LLC", "California"))

    def draw(canvas: Canvas) -> None:
        for row, cells in enumerate(rows):
            for left, text in zip((40, 250), cells, strict=True):
                for place, letter in enumerate(text):
                    if letter != " ":
                        at = left + canvas.stringWidth(text[:place], "Helvetica", 12)
                        canvas.drawString(at, 500 - 20 * row, letter, charSpace=5)

    path = make_pdf(draw)
    page = reader.read(path, "subsidiaries.pdf").pages[0]
    assert [tuple(page.text[cell.start : cell.end] for cell in line.cells) for line in page.lines] == list(rows)
    start = page.text.index("Ltda.")
    (box,) = reader.page_boxes(path, PDF, 1, [(start, start + 5)], text=page.text)[0]
    assert 0.33 < box.left < box.right < 0.47


@pytest.mark.parametrize(
    ("divided", "joined"),
    [
        ("mid-dleman", f"mid{SOFT_HYPHEN}dleman"), ("mid-day", "mid-day"), ("so-cks", f"so{SOFT_HYPHEN}cks"),
        ("co-author", "co-author"), ("per-mitted", "per-mitted"), ("mul-tiple", "mul-tiple"),
    ],
)  # fmt: skip
def test_a_hyphen_before_what_begins_no_word_only_divides(divided: str, joined: str) -> None:
    text = "a line of words\n" * 30 + divided.replace("-", HYPHEN_MARK)
    assert clean(text).endswith(joined)
