"""A table looked at: columns in short, rows found by a text and put into the order of a column."""

from __future__ import annotations

from rag_core.tables.arrow import pack, unpack
from rag_core.tables.browsing import in_short, rows_in_order
from rag_core.tables.table import WholeTable, table_of

CELLS = [
    ["Marn", "12.50 €", "2024-03-05", "sold"],
    ["halm", "", "2023-01-02", "Open, for sale"],
    ["Tern", "n/a", "", "open"],
    ["Quorn", "9.00 €", "2025-06-30", ""],
    ["Ytre", "100.00 €", "2024-03-05", "open"],
]
TABLE = table_of(["Boat", "Fare", "Built", "State"], CELLS, [(1, row * 10, row * 10 + 9) for row in range(len(CELLS))])
(MAPPED,) = unpack(pack([TABLE]))


def boats(table: WholeTable, text: str = "", by: int = -1, *, descending: bool = False) -> list[str]:
    return [table.text(row, 0) for row in rows_in_order(table, text, by, descending=descending).tolist()]


def test_columns_in_short() -> None:
    for table in (TABLE, MAPPED):
        boat, fare, built, state = map(in_short, table.columns)
        assert (boat.kind, boat.distinct, boat.empty, boat.least) == ("text", 5, 0, "")
        assert (fare.kind, fare.unit, fare.empty) == ("number", "€", 1)
        assert (fare.least, fare.most, fare.mean) == ("9.00 €", "100.00 €", "40.5")
        assert (built.kind, built.distinct, built.least, built.most) == ("date", 3, "2023-01-02", "2025-06-30")
        assert (state.distinct, state.empty) == (3, 1)


def test_rows_stand_in_the_order_of_a_column_and_those_without_a_value_last() -> None:
    for table in (TABLE, MAPPED):
        assert boats(table) == ["Marn", "halm", "Tern", "Quorn", "Ytre"]
        assert boats(table, by=0) == ["halm", "Marn", "Quorn", "Tern", "Ytre"]
        assert boats(table, by=1) == ["Quorn", "Marn", "Ytre", "halm", "Tern"]
        assert boats(table, by=1, descending=True) == ["Ytre", "Marn", "Quorn", "halm", "Tern"]
        assert boats(table, by=2) == ["halm", "Marn", "Ytre", "Quorn", "Tern"]
        assert boats(table, by=3, descending=True)[-1] == "Quorn"


def test_rows_are_found_by_a_text_of_any_cell() -> None:
    for table in (TABLE, MAPPED):
        assert boats(table, " OPEN ", by=0) == ["halm", "Tern", "Ytre"]
        assert boats(table, "2024-03") == ["Marn", "Ytre"]
        assert boats(table, ".*") == []
