"""A page's text as headings, tables, items, paragraphs and code."""

from __future__ import annotations

from rag_core.domain import Page, Section
from rag_core.text.blocks import blocks_of

MARKDOWN = """Fares
=====

Two kinds:
- adults,
  who pay
- children

## North ##

1. Board.
2. Pay.

| Line | Fare |
|------|-----:|
| Marn | 8 |

```sh
# no heading
| a |
```
Behind
the code.
"""
FLOWING = """The title

Words of one
paragraph.

Line\t2020\t2019
.\tin crowns\tin crowns
Tolsund\t12.40\t11.10
Northern lines
Marn\t8\t7

Line\t2020\t2019
.\tin crowns\tin crowns
Northern lines
Halm\t9\t8

• One
• Two

Line:   North
Fare    8   crowns"""


def test_markdown_is_laid_out_without_its_marks() -> None:
    sections = [Section("Fares", 1, 1, 0), Section("North", 2, 1, MARKDOWN.index("##")), Section("Fares", 1, 2, 0)]
    blocks = list(blocks_of(Page(1, MARKDOWN), sections))
    assert [(block.kind, block.level, MARKDOWN[block.start : block.end]) for block in blocks] == [
        ("heading", 1, "Fares"), ("paragraph", 0, "Two kinds:"), ("item", 0, "- adults,\n  who pay"),
        ("item", 0, "- children"), ("heading", 2, "North ##"), ("item", 0, "1. Board."), ("item", 0, "2. Pay."),
        ("table", 0, "| Line | Fare |\n|------|-----:|\n| Marn | 8 |"), ("fixed", 0, "# no heading\n| a |\n"),
        ("paragraph", 0, "Behind\nthe code."),
    ]  # fmt: skip
    rows = [[MARKDOWN[start:end] for start, end in row.cells] for row in blocks[7].rows]
    assert rows == [["Line", "Fare"], ["Marn", "8"]]


def test_a_table_is_whole_and_its_rows_have_their_cells() -> None:
    title, words, table, *items, columns = blocks_of(Page(1, FLOWING), [Section("The title", 1, 1, 0)])
    assert (title.kind, words.kind, [item.kind for item in items]) == ("heading", "paragraph", ["item", "item"])
    assert (columns.kind, columns.end) == ("fixed", len(FLOWING)), "columns that blanks set apart"
    rows = [("h" * row.is_head + "a" * row.again, [FLOWING[slice(*cell)] for cell in row.cells]) for row in table.rows]
    assert rows == [
        ("h", ["Line", "2020", "2019"]), ("h", ["", "in crowns", "in crowns"]), ("", ["Tolsund", "12.40", "11.10"]),
        ("", ["Northern lines"]), ("", ["Marn", "8", "7"]), ("ha", ["Line", "2020", "2019"]),
        ("ha", ["", "in crowns", "in crowns"]), ("ha", ["Northern lines"]), ("", ["Halm", "9", "8"]),
    ]  # fmt: skip


def test_a_page_without_text_has_no_blocks_and_a_heading_keeps_its_own_mark() -> None:
    assert list(blocks_of(Page(1, " \n\n"), [Section("Gone", 1, 1, 0)])) == []
    (heading,) = blocks_of(Page(1, "# of units"), [Section("# of units", 1, 1, 0)])
    assert heading.start == 0
    (unclosed,) = blocks_of(Page(1, "```\nto its end"), [])
    assert unclosed.kind == "fixed"
