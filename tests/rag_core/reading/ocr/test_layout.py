"""Lines of a picture in reading order: columns, rows with cells, paragraphs, words that go on."""

from __future__ import annotations

from rag_core.domain import Page
from rag_core.reading.ocr import span_boxes
from rag_core.reading.ocr.base import Found, FoundLine
from rag_core.reading.ocr.layout import page_of

WIDE = "a line of prose that is long"


def line(text: str, left: float, top: float, width: float = 300, height: float = 20, rise: float = 0) -> FoundLine:
    low = top - rise
    corners = ((left, top), (left + width, low), (left + width, low + height), (left, top + height))
    return FoundLine(text, corners, 0.9)


def page(*lines: FoundLine) -> Page:
    return page_of(1, Found(lines, 0, 1000, 1000), (500, 500), "test").page


def test_columns_are_read_one_after_the_other_below_their_title() -> None:
    left = [line(f"{WIDE} {number}", 50, 100 + 30 * number) for number in range(5)]
    right = [line(f"{WIDE} {number + 5}", 550, 100 + 30 * number) for number in range(5)]
    both = [row for pair in zip(left, right, strict=True) for row in pair]
    found = page(line("A title over both columns", 100, 40, 800), *both).text
    assert [int(row[-1]) for row in found.split("\n") if row.startswith(WIDE)] == list(range(10))
    assert found.startswith("A title over both columns\n\n")


def test_cells_of_a_table_stay_in_their_rows() -> None:
    cells = [line(f"{row}{column}", 100 + 300 * column, 100 + 30 * row, 60) for row in range(5) for column in range(3)]
    found = page(*cells)
    assert found.text.split("\n")[2] == "20\t21\t22"
    assert [found.text[cell.start : cell.end] for cell in found.lines[2].cells] == ["20", "21", "22"]


def test_rows_of_a_page_that_is_askew_stay_together() -> None:
    tilted = [
        line(f"{WIDE} {row}{side}", 50 + 450 * side, 100 + 40 * row - 18 * side, 300, 20, 12)
        for row in range(3)
        for side in range(2)
    ]
    assert [row.split("\t")[0][-2:] for row in page(*tilted).text.split("\n")] == ["00", "10", "20"]


def test_paragraphs_are_set_apart_and_words_joined() -> None:
    found = page(
        line("The first para-", 50, 100), line("graph ends here.", 50, 130), line("The next one", 50, 200)
    ).text  # fmt: skip
    assert found == "The first para\u00adgraph ends here.\n\nThe next one"


def test_type_is_as_large_as_its_letters_are_wide_however_high_the_boxes_are() -> None:
    lines = [line("Of usual type are these", 100, 200 + 30 * number, 280) for number in range(4)]
    title, head = line("In twice the type is this", 100, 60, 560, 30), line("Origins", 100, 130, 85, 30)
    raw = page_of(1, Found((title, head, *lines), 0, 1000, 1000), (595, 842), "test")
    sizes = [face.size for face in raw.faces]
    assert sizes[0] > 1.8 * sizes[2] and sizes[1:] == [sizes[2]] * 5


def test_a_span_is_marked_within_its_line() -> None:
    found = page(line("mmmm mmmm", 100, 100, 400), line("other", 100, 130))
    (box,) = span_boxes(found, 5, 9)
    assert 0.28 < box.left < 0.34 and box.right == 0.5
    assert len(span_boxes(found, 5, 12)) == 2
