"""The tables of a page's text."""

from __future__ import annotations

from rag_core.chunking import chunk_document
from rag_core.domain import Box, Line, Page, ParsedDocument
from rag_core.services.tables import tables
from rag_core.settings import ChunkingSettings
from rag_core.text.tables import tables_of

FLOWING = """Words before.

Table 2: Fares in crowns, by line
and year

Line\t2020\t2019
Tolsund\t12.40\t11.10
Northern lines
Marn\t8\t7

Line\t2020\t2019
Northern lines
Halm\t9\t8

Words behind, and a\ttab.
"""
BELOW = "A\tB\n1\t2\n\nTABLE IV. What stands below.\nGoes on.\n\nRest"


def test_a_table_has_its_rows_its_head_and_its_caption() -> None:
    (table,) = tables_of(Page(3, FLOWING))
    assert table.caption == "Table 2: Fares in crowns, by line and year"
    assert table.rows == (
        ("Line", "2020", "2019"), ("Tolsund", "12.40", "11.10"), ("Northern lines",), ("Marn", "8", "7"),
        ("Halm", "9", "8"),
    )  # fmt: skip
    assert (table.page, table.heads) == (3, 1)
    assert FLOWING[table.start : table.end].startswith("Line") and FLOWING[table.start : table.end].endswith("9\t8")


def test_a_caption_may_stand_below_and_pages_without_tables_have_none() -> None:
    (table,) = tables_of(Page(1, BELOW))
    assert table.caption == "TABLE IV. What stands below. Goes on."
    assert tables_of(Page(1, "One line\twith a tab.\n\nNo table.")) == []
    assert tables_of(Page(1, "")) == []


def test_tables_of_markdown_have_their_cells_between_strokes_and_a_rule_is_no_row() -> None:
    (table,) = tables_of(Page(1, "| Line | Fare 2020 |\n|---|:--|\n| Marn | 8 crowns |\n\n|---|\n|---|\n\n| One row |"))
    assert (table.rows, table.heads) == ((("Line", "Fare 2020"), ("Marn", "8 crowns")), 1)


def test_cells_of_a_pdf_stand_in_their_columns_where_others_are_empty() -> None:
    head = (("Text", 0.1, 0.2), ("Debit", 0.5, 0.6), ("Credit", 0.65, 0.75), ("Balance", 0.85, 0.95))
    rent = (("Rent", 0.1, 0.2), ("85.00", 0.52, 0.6), ("65.00", 0.87, 0.95))
    pay = (("Pay", 0.1, 0.15), ("40.00", 0.7, 0.75))
    text, lines = "", []
    for row in (head, rent, pay):
        cells, begun = [], len(text)
        for word, left, right in row:
            cells.append(Line(len(text), len(text) + len(word), Box(left, 0, right, 1)))
            text += f"{word}\t"
        text = f"{text[:-1]}\n"
        lines.append(Line(begun, len(text) - 1, Box(0, 0, 1, 1), tuple(cells)))
    page = Page(1, text, lines=tuple(lines))
    (table,) = tables_of(page)
    assert table.rows[1:] == (("Rent", "85.00", "", "65.00"), ("Pay", "", "40.00"))
    chunks = chunk_document(
        "d", ParsedDocument("application/pdf", (page,)), ChunkingSettings(), lambda texts: [1] * len(texts)
    )
    assert tables([Page(1, text)], chunks) == [table]


def test_a_numbered_list_is_no_table_and_numbered_rows_below_a_head_are_one() -> None:
    listed = "1\tBoats moor at the pier.\n2\tNo boat may stay longer\nthan a week.\n3\tWaste"
    assert tables([Page(1, listed)], []) == []
    assert tables([Page(1, "(c)\tBoats moor here.\n(d)\tNo boat stays.")], []) == []
    for text in (f"No.\tRule\n{listed}", "1\t120 litres\n2\t80 litres", "3\tripe apples\n7\tgreen pears"):
        assert len(tables([Page(1, text)], [])) == 1


def test_a_row_of_words_below_a_whole_head_is_no_head_and_units_are() -> None:
    opening = "Day\tFrom\tTo\nMonday\tclosed\tclosed\nSunday\t11:00\t16:30"
    assert tables_of(Page(1, opening))[0].heads == 1
    assert tables_of(Page(1, "Boat\tLength\tSpeed\n.\tmetres\tknots\nMarn\t31\t12"))[0].heads == 2
    for heads in ("Region\tQ1\tQ2", "Player\tMatches\t100s", "Line\tFY19\tQ1 2023", "Age\t0–14\t65+"):
        assert tables_of(Page(1, f"{heads}\nNorth\t5\t6\nSouth\t8\t9"))[0].heads == 1
    assert tables_of(Page(1, "Ada\t5\tOslo\nBo\t6\tBern"))[0].heads == 0
    assert tables_of(Page(1, "Boat\tPort\tNote\nMarn\tOslo\nHalm\tBergen\nTern\tOslo\tsold"))[0].heads == 1
