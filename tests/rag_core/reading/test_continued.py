"""Tables that go on over the end of a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core.reading import Reader

HEAD = ("Months", "Adults", "Children")
PDF = "application/pdf"


def _table(rows: Sequence[Sequence[str]], before: str = "", top: float = 540) -> Callable[[Canvas], None]:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 9)
        canvas.drawString(40, top + 20, before)
        for number, row in enumerate(rows):
            for place, cell in enumerate(row):
                canvas.drawString(40 + 110 * place, top - 13 * number, cell)

    return draw


def _rows(first: int, last: int) -> list[tuple[str, str, str]]:
    return [(f"Line {row}", f"{100 + row}", f"{row}.50") for row in range(first, last)]


def test_the_head_of_a_table_is_said_again_on_its_next_pages(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    pages = [_table([HEAD, *_rows(0, 20)], "Passengers of each line"), _table(_rows(20, 50)), _table(_rows(50, 55))]
    path = make_pdf(*pages)
    parsed = reader.read(path, "passengers.pdf")
    for page, row in zip(parsed.pages[1:], ("Line 20", "Line 50"), strict=True):
        head, first = page.lines[:2]
        assert page.text[head.start : head.end] == "Months\tAdults\tChildren"
        assert page.text[first.start : first.end].startswith(f"{row}\t")
        lefts = [cell.box.left for cell in first.cells]
        assert [cell.box.left for cell in head.cells] == pytest.approx(lefts, abs=0.01)
        assert head.box.bottom <= first.box.top
        boxes = reader.page_boxes(path, PDF, page.number, [(first.start, first.end)], text=page.text)[0]
        assert {box.top for box in boxes} == {cell.box.top for cell in first.cells}
    assert not reader.page_boxes(path, PDF, 2, [(0, 6)], text=parsed.pages[1].text)[0]


def test_a_table_with_a_head_of_its_own_or_other_columns_gets_none(
    reader: Reader, make_pdf: Callable[..., Path]
) -> None:
    others = [("Gulls", "a", "7"), *_rows(20, 24)]
    text = _table(_rows(20, 24), "Where a page begins with a sentence its table has another head.")
    first = _table([HEAD, *_rows(0, 20)], "Passengers of each line")
    parsed = reader.read(make_pdf(first, _table([HEAD, *_rows(20, 24)]), text, _table(others)), "others.pdf")
    assert [page.text.count("Adults") for page in parsed.pages] == [1, 1, 0, 0]
