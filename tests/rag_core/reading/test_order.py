"""The order in which a page's lines are read, and what becomes of places in its text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core.domain import Box, Line, Page
from rag_core.reading import Reader
from rag_core.reading.pdf_arrange import Reading, composed, found_again

PDF = "application/pdf"
_COLUMNS = [[f"{name} line {row} of its column goes" for row in range(8)] for name in ("Left", "Middle", "Right")]


def lines_of(page: Page) -> list[str]:
    return [page.text[line.start : line.end] for line in page.lines]


def _across(columns: Sequence[Sequence[str]], width: float) -> Callable[[Canvas], None]:
    """Draw columns row by row below a title, a page number under them."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 8)
        canvas.drawCentredString(200, 560, "A title over all of the columns")
        for row in range(len(columns[0])):
            for place, column in enumerate(columns):
                canvas.drawString(20 + width * place, 520 - 11 * row, column[row])
        canvas.drawCentredString(200, 20, "7")

    return draw


@pytest.mark.parametrize("turned", [0, 90, 270])
@pytest.mark.parametrize(("count", "width"), [(2, 185), (3, 130)])
def test_columns_that_are_written_across_are_read_down(
    reader: Reader, make_pdf: Callable[..., Path], rewrite: Callable[..., Path], count: int, width: float, turned: int
) -> None:
    path = rewrite(make_pdf(_across(_COLUMNS[:count], width)), lambda writer: writer.pages[0].rotate(turned))
    page = reader.read(path, "columns.pdf").pages[0]
    in_columns = [line for column in _COLUMNS[:count] for line in column]
    assert lines_of(page) == ["A title over all of the columns", *in_columns, "7"]
    assert not any(line.cells for line in page.lines)


def test_a_span_of_moved_lines_is_marked_where_they_stand(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    path = make_pdf(_across(_COLUMNS[:2], 185))
    page = reader.read(path, "columns.pdf").pages[0]
    for line in page.lines:
        boxes = reader.page_boxes(path, PDF, 1, [(line.start, line.end)], text=page.text)[0]
        assert boxes == (line.box,)
    start = page.text.index("Left line 7")
    over_the_gap = (start, page.text.index("Middle line 0") + 6)
    low, high = reader.page_boxes(path, PDF, 1, [over_the_gap], text=page.text)[0]
    assert (low.left < 0.1, high.left > 0.45, low.top > high.top) == (True, True, True)


def test_rows_of_a_table_stay_rows(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 9)
        for row in range(8):
            canvas.drawString(30, 500 - 14 * row, f"Sales of the shop in street number {row}")
            for column in range(3):
                canvas.drawRightString(240 + 60 * column, 500 - 14 * row, f"{1000 * row + column:,}")

    page = reader.read(make_pdf(draw), "table.pdf").pages[0]
    assert [len(line.cells) for line in page.lines] == [4] * 8


def test_what_is_written_last_is_read_where_it_stands(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 10)
        canvas.drawString(40, 500, "Table 1 Prices of tickets")
        for row in range(6):
            canvas.drawString(40, 400 - 13 * row, f"Text {row} that follows the table on its page")
        canvas.drawString(40, 570, "12 Running title")
        for row in range(3):
            canvas.drawString(40, 480 - 13 * row, f"Kind {row}")
            canvas.drawString(200, 480 - 13 * row, f"{row}.50")

    found = lines_of(reader.read(make_pdf(draw), "last.pdf").pages[0])
    assert found[:2] == ["12 Running title", "Table 1 Prices of tickets"]
    assert [line.partition("\t")[0] for line in found[2:6]] == ["Kind 0", "Kind 1", "Kind 2", found[5]]
    assert found[5].startswith("Text 0")


def test_footnotes_come_after_the_text_of_all_columns(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    def draw(canvas: Canvas) -> None:
        for place, name in enumerate(("left", "right")):
            canvas.setFont("Helvetica", 9)
            for row in range(30):
                canvas.drawString(20 + 190 * place, 540 - 12 * row, f"Words of the {name} column {row}")
            if not place:
                canvas.setFont("Helvetica", 7)
                canvas.drawString(20, 120, "1 A note on the left column")

    found = lines_of(reader.read(make_pdf(draw), "notes.pdf").pages[0])
    assert found[-1] == "1 A note on the left column"
    assert found[29:31] == ["Words of the left column 29", "Words of the right column 0"]


@pytest.mark.parametrize(
    ("span", "expected"), [((0, 3), (0, 3)), ((8, 12), (3, 7)), ((2, 9), (2, 4)), ((4, 6), (3, 3))]
)
def test_a_span_of_a_page_that_something_was_put_into(span: tuple[int, int], expected: tuple[int, int]) -> None:
    assert found_again(span, "abcHEAD\ndefg", "abcdefg") == expected


def test_a_page_that_was_read_otherwise_is_not_found_again() -> None:
    assert found_again((0, 3), "left right", "right left") is None
    assert found_again((4, 9), "12.401 left", "12.40¹ left") == (4, 9)  # figures that were not raised then


def test_words_divided_at_a_lines_end_are_joined_as_the_page_has_them(
    reader: Reader, make_pdf: Callable[..., Path]
) -> None:
    lines = ["The well-known inter-", "national and long-", "term plans, cost-", "effective and in-", "tended;"]

    def draw(canvas: Canvas) -> None:
        for row, line in enumerate([*lines, "cost-effective as ever."]):
            canvas.drawString(40, 500 - 14 * row, line)

    page = reader.read(make_pdf(draw), "divided.pdf").pages[0]
    joined = "The well-known inter\u00adnational and long-term plans, cost-effective and in\u00adtended;"
    assert page.text.startswith(joined)
    assert [line.rstrip("\u00ad") for line in lines_of(page)[1:4]] == [
        "national and long-",
        "term plans, cost-",
        "effective and in",
    ]


def test_columns_written_across_keep_their_headings_and_join_their_words(
    reader: Reader, make_pdf: Callable[..., Path]
) -> None:
    """A heading of one column is one although the line beside it is not; a word goes on below, not beside."""

    def draw(canvas: Canvas) -> None:
        for row, pair in enumerate(zip(*_COLUMNS[:2], strict=True)):
            for place, text in enumerate(pair):
                canvas.setFont("Helvetica-Bold" if (row, place) == (3, 0) else "Helvetica", 9)
                divided = {(4, 1): "of those who write down harb-", (5, 1): "ours and what is in harbours"}
                shown = "Of the lighthouse keepers" if (row, place) == (3, 0) else divided.get((row, place), text)
                canvas.drawString(20 + 185 * place, 520 - 14 * row, shown)

    parsed = reader.read(make_pdf(draw), "across.pdf")
    assert [section.title for section in parsed.sections] == ["Of the lighthouse keepers"]
    assert "write down harb\u00adours and" in parsed.pages[0].text


def test_a_line_that_ends_in_a_hyphen_goes_on_in_its_own_column(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    columns = [
        [*_COLUMNS[0][:4], "the first half of this long-", "Term plan on the left", *_COLUMNS[0][6:]],
        _COLUMNS[1],
    ]
    page = reader.read(make_pdf(_across([columns[1], columns[0]], 185)), "columns.pdf").pages[0]
    assert "Middle line 7 of its column goes\nLeft line 0" in page.text
    assert "the first half of this long-Term plan on the left" in page.text


def test_letters_and_their_marks_become_one_character_each_at_its_place() -> None:
    text = "Cafe\u0301 A\u030angstro\u0308m \u1112\u1161\u11ab end"
    made = composed(Reading(text, (Line(6, len(text), Box(0, 0, 1, 1)),), ()))
    assert made.text == "Café Ångström 한 end"
    assert (made.lines[0].start, made.lines[0].end) == (5, len(made.text))
    (first, *_, last) = [list(made.counted((place, place + 1))) for place in range(len(made.text))]
    assert (first, last) == ([(0, 1)], [(len(text) - 1, len(text))])
    assert list(made.counted((5, 7))) == [(6, 7), (8, 9)]
    assert composed(made) == made
