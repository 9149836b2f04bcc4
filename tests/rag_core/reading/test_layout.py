"""Blocks to pages: tables in pieces that say their heads, places of headings, notes, long documents."""

from __future__ import annotations

import pytest

from rag_core.reading.flowing import Block
from rag_core.reading.flowing.layout import PAGE_CHARS, Layout


def laid(*blocks: Block) -> Layout:
    layout = Layout(10**7)
    for block in blocks:
        layout.add(block)
    layout.finish()
    return layout


def table(*rows: str) -> Block:
    """Cells between strokes; ^ goes on from the cell to its left."""
    return Block("table", rows=[[None if cell == "^" else cell for cell in row.split("|")] for row in rows])


def test_a_long_table_says_its_heads_and_its_group_again() -> None:
    rows = [f"A rather long name of a row, number {number}|1,000.00|2,000.00" for number in range(20)]
    (page,) = laid(table("|Sales|^", "|2019|2020", "Abroad:||", *rows)).pages
    pieces = page.split("\n\n")
    assert len(pieces) > 2
    assert all(piece.startswith(".\tSales\tSales\n.\t2019\t2020\nAbroad:\n") for piece in pieces)
    assert page.count("number 7\t") == 1


def test_other_heads_below_begin_another_table() -> None:
    block = table("(millions)|2019|Other", "Boats|1|2", "(millions)|2018|Other", "Boats|3|4")
    assert laid(block).pages == ["(millions)\t2019\tOther\nBoats\t1\t2\n\n(millions)\t2018\tOther\nBoats\t3\t4"]


@pytest.mark.parametrize(
    ("rows", "head"),
    [
        (("Item|2019", "Boats|5"), 1),
        (("Report of the year", "|2019|2020", "|(m)|(m)", "Boats|5|6"), 3),
        (("Name|City", "Ada|Marn", "Bo|Tolsund", "Cy|5"), 1),
        (("1|2", "3|4"), 0),
        (("Ada", "Bo"), 0),
    ],
    ids=["years", "title and units", "words", "figures", "list"],
)
def test_what_a_tables_head_is(rows: tuple[str, ...], head: int) -> None:
    more = [f"{number}{'0' * 150}" + ("|1" if "|" in rows[-1] else "") for number in range(9)]
    first, second = (piece.splitlines() for piece in laid(table(*rows, *more)).pages[0].split("\n\n")[:2])
    assert first[:head] == second[:head]
    assert second[head].endswith("0" * 150 + ("\t1" if "|" in rows[-1] else ""))


def test_headings_know_their_place_and_notes_stand_last() -> None:
    layout = laid(
        Block("heading", " A\n title\u200b"), Block("note", "[1] Below."), Block("item", "x"),
        Block("item", "y", mark="b)"), Block("page"), Block("page"),
        Block("paragraph", "a\x07b | c\u202e"), Block("heading", "Next", level=2), Block("page"),
    )  # fmt: skip
    assert layout.pages == ["A title\n\n• x\nb) y\n\n[1] Below.", "", "a b | c\n\nNext"]
    assert [(one.title, one.page, one.start) for one in layout.headings] == [("A title", 1, 0), ("Next", 3, 9)]


def test_a_document_without_pages_is_cut_between_paragraphs() -> None:
    layout = laid(*(Block("paragraph", "word " * 1000) for _ in range(20)))
    assert len(layout.pages) == 5
    assert all(PAGE_CHARS < len(page) < PAGE_CHARS + 5000 for page in layout.pages)
