"""Tables of PDFs within rules: cells of several lines, heads, and rules that part no cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core.domain import Page
from rag_core.reading import Reader
from rag_core.text.tables import tables_of

PDF = "application/pdf"
LEFT, TOP, LEADING = 40, 520, 11
COLUMNS = (LEFT, 130, 250, 350)

Cells = Sequence[Sequence[Sequence[str]]]
"""Rows of cells of lines."""

DUTIES = (
    (("Post",), ("What it is for",), ("Since",)),
    (("Harbour", "master"), ("berths, lights and", "the tide tables"), ("1998",)),
    (("Purser",), ("fares",), ("2004",)),
    (("Deck hand",), ("ropes, ramps and", "whoever is late"), ()),
)


def _draw(canvas: Canvas, rows: Cells) -> list[float]:
    """Write rows cell by cell; return where they begin, from the top, and where the last one ends."""
    edges, y = [], float(TOP)
    canvas.setFont("Helvetica", 9)
    for row in rows:
        edges.append(y)
        for left, lines in zip(COLUMNS, row, strict=False):
            for at, line in enumerate(lines):
                canvas.drawString(left + 4, y - 12 - LEADING * at, line)
        y -= 10 + LEADING * max(map(len, row))
    return [*edges, y]


def _rule(canvas: Canvas, edges: Sequence[float], columns: Sequence[float]) -> None:
    """Rules at the edges of rows, and of columns where there are any."""
    for y in edges:
        canvas.line(COLUMNS[0], y, COLUMNS[3], y)
    for x in columns:
        canvas.line(x, edges[0], x, edges[-1])


def _page(reader: Reader, path: Path) -> Page:
    return reader.read(path, path.name).pages[0]


def _rows(page: Page) -> list[tuple[str, ...]]:
    return [row for table in tables_of(page) for row in table.rows]


@pytest.mark.parametrize("ruled", ["every cell", "head and end"])
def test_a_cell_of_several_lines_is_one(reader: Reader, make_pdf: Callable[..., Path], ruled: str) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(LEFT, 560, "Who does what aboard, as the crew has it:")
        edges = _draw(canvas, DUTIES)
        if ruled == "every cell":
            _rule(canvas, edges, COLUMNS)
        else:
            _rule(canvas, [edges[0], edges[1], edges[-1]], ())

    path = make_pdf(draw)
    page = _page(reader, path)
    assert _rows(page) == [tuple(" ".join(lines) for lines in row) for row in DUTIES]
    start = page.text.index("the tide")
    (box,) = reader.page_boxes(path, PDF, 1, [(start, start + 8)], text=page.text)[0]
    assert (round(box.left * 400), round(box.bottom * 600)) == (134, 124)


def test_what_reaches_over_columns_names_the_rows_below(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    rows = ((("Port",), ("Berths",), ("Depth",)), (("Northern ports",),), (("Aldhaven",), ("12",), ("4.5 m",)))

    def draw(canvas: Canvas) -> None:
        edges = _draw(canvas, rows)
        _rule(canvas, edges, (COLUMNS[0], COLUMNS[3]))
        for x in COLUMNS[1:3]:
            canvas.line(x, edges[0], x, edges[1])
            canvas.line(x, edges[2], x, edges[3])

    page = _page(reader, make_pdf(draw))
    assert page.text.split("\n")[:3] == ["Port\tBerths\tDepth", "Northern ports", "Aldhaven\t12\t4.5 m"]


def test_rules_that_part_only_groups_of_rows_leave_these_apart(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    rows = (
        (("Year",), ("Passengers",), ("Cars",)),
        (("2021", "2022", "2023"), ("410", "522", "561"), ("91", "88", "97")),
    )

    def draw(canvas: Canvas) -> None:
        _rule(canvas, _draw(canvas, rows), COLUMNS)

    page = _page(reader, make_pdf(draw))
    assert _rows(page) == [
        ("Year", "Passengers", "Cars"),
        ("2021", "410", "91"),
        ("2022", "522", "88"),
        ("2023", "561", "97"),
    ]


def test_a_frame_around_text_makes_no_table(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    words = "The ferry leaves at nine and is back at noon unless the wind is from the north and strong."

    def draw(canvas: Canvas) -> None:
        for at in range(4):
            canvas.drawString(LEFT + 4, TOP - 14 * at, words[:52])
        _rule(canvas, [TOP + 16, TOP - 60, TOP - 90], (COLUMNS[0], COLUMNS[3]))

    page = _page(reader, make_pdf(draw))
    assert [line.cells for line in page.lines] == [()] * 4


def test_a_line_under_heads_is_no_table_of_its_own(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    rows = (((), ("2023",), ("2022",)), (("Fares",), ("1,200",), ("1,150",)), (("Freight",), ("310",), ("290",)))

    def draw(canvas: Canvas) -> None:
        edges = _draw(canvas, rows)
        for y in edges[1:]:
            canvas.line(COLUMNS[1], y, COLUMNS[3], y)

    page = _page(reader, make_pdf(draw))
    assert [line.strip() for line in page.text.strip().split("\n")] == [
        "2023\t2022",
        "Fares\t1,200\t1,150",
        "Freight\t310\t290",
    ]


def test_columns_are_told_where_heads_are_aligned_otherwise(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    figures = (("Fares", "1,200", "950"), ("Freight", "310", "1,290"), ("Post", "7", "12"))

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 9)
        for x, head in zip((LEFT, 150, 240), ("Income", "Summer months", "Winter months"), strict=True):
            canvas.drawString(x, TOP - 12, head)
        for at, (label, *cells) in enumerate(figures, 2):
            canvas.drawString(LEFT, TOP - 14 * at, label)
            for right, cell in zip((238, 328), cells, strict=True):
                canvas.drawRightString(right, TOP - 14 * at, cell)
        _rule(canvas, [TOP, TOP - 17, TOP - 62], ())

    page = _page(reader, make_pdf(draw))
    assert _rows(page) == [("Income", "Summer months", "Winter months"), *figures]


HEADS = (
    ("Depots and ports at the end of March, in square metres", 112, 3), ("Lease land", 200, 2),
    ("Own land", 120, 1), ("and/or", 200, 1), ("and building", 120, 0), ("building(1)", 200, 0), ("Total", 290, 0),
)  # fmt: skip


@pytest.mark.parametrize("order", ["line by line", "column by column"])
def test_heads_that_are_stacked_over_figures_are_one_row(
    reader: Reader, make_pdf: Callable[..., Path], order: str
) -> None:
    figures = (("Depots", "1,200", "950", "2,150"), ("Ports", "310", "1,290", "1,600"))

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 9)
        canvas.drawString(LEFT, 460, "Where the company works, by who owns the ground:")
        heads = sorted(HEADS, key=lambda head: (-head[2], head[1]) if order == "line by line" else (head[1], -head[2]))
        for text, left, line in heads:
            canvas.drawString(left, 400 + 11 * line, text)
        for at, cells in enumerate(figures, 1):
            for left, cell in zip((LEFT, 120, 200, 290), cells, strict=True):
                canvas.drawString(left, 400 - 14 * at, cell)

    path = make_pdf(draw)
    page = _page(reader, path)
    head = ("Own land and building", "Lease land and/or building(1)", "Total")
    assert _rows(page) == [("", *head), *figures]
    assert "Depots and ports at the end of March, in square metres\n" + "\t".join(head) in page.text
    start = page.text.index("building(1)")
    (box,) = reader.page_boxes(path, PDF, 1, [(start, start + 11)], text=page.text)[0]
    assert (round(box.left * 400), round(box.bottom * 600)) == (201, 202)


def test_heads_over_figures_are_no_headings(reader: Reader, make_pdf: Callable[..., Path]) -> None:
    heads = (
        ("Ports", 40, 0),
        ("Total Number of", 120, 2),
        ("Passengers", 120, 1),
        ("Aboard", 120, 0),
        ("Cars", 250, 0),
    )

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 9)
        for at in range(6):
            canvas.drawString(
                40, 520 - 12 * at, "The ferry leaves at nine and is back at noon unless the wind is strong,"
            )
            canvas.drawString(
                40, 200 - 12 * at, "and nobody has waited for it on the pier since the year of the storm."
            )
        for at, (port, *figures) in enumerate((("Aldhaven", "1,200", "95"), ("Tolsund", "310", "29"))):
            canvas.drawString(40, 360 - 12 * at, port)
            for left, figure in zip((120, 250), figures, strict=True):
                canvas.drawString(left, 360 - 12 * at, figure)
        canvas.setFont("Helvetica-Bold", 9)
        canvas.drawString(40, 440, "Traffic of the Ports")
        for head, left, line in heads:
            canvas.drawString(left, 373 + 12 * line, head)

    path = make_pdf(draw)
    assert [section.title for section in reader.read(path, path.name).sections] == ["Traffic of the Ports"]


LEFTS = (40, 150, 240, 320)
PAID = (
    ("Name", "City", "Amount", "Paid"),
    ("Anna Berg", "Oslo", "12.50", "yes"),
    ("Ben Carter the younger", "London", "1,340.00", "no"),
    ("Dora", "Paris", "7.20", "yes"),
    ("Emil Olsen", "Bergen", "19.99", "no"),
)


@pytest.mark.parametrize("turned", [0, 90, 270])
@pytest.mark.parametrize("mixed", [1, 2, 3], ids=["by columns", "mixed", "more mixed"])
def test_rows_are_what_stands_level_in_whatever_order_it_is_written(
    reader: Reader, make_pdf: Callable[..., Path], rewrite: Callable[..., Path], mixed: int, turned: int
) -> None:
    cells = [(x, 500 - 28 * at, row[place]) for place, x in enumerate(LEFTS) for at, row in enumerate(PAID)]
    cells[2:3] = [(LEFTS[0], 444, "Ben Carter the"), (LEFTS[0], 433, "younger")]

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 9)
        canvas.drawString(LEFTS[0], 560, "Whoever is a member of the club pays what the club asks of its members")
        for x, y, text in (cell for first in range(mixed) for cell in cells[first::mixed]):
            canvas.drawString(x, y, text)

    path = rewrite(make_pdf(draw), lambda writer: writer.pages[0].rotate(turned))
    assert _rows(_page(reader, path)) == list(PAID)
