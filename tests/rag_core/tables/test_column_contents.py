"""What the cells of a column are of."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rag_core.tables.column_contents import content_of
from rag_core.tables.table import table_of


@pytest.mark.parametrize(
    ("head", "cells", "content"),
    [
        ("Fee (EUR)", ("145,00", "98,50", "72,00"), "money"),
        ("Price", ("$12", "$3.50", "$8"), "money"),
        ("Growth", ("3 %", "4 %", "-1 %"), "percent"),
        ("Founded", ("1899", "1934", "2001"), "year"),
        ("Places", ("12", "16", "20"), "count"),
        ("Length", ("1.20", "3.75", "2.10"), "measure"),
        ("Begin", ("18:00", "17:30", "9:15 am"), "time"),
        ("Day", ("Monday", "Thu", "Saturday"), "calendar"),
        ("Teacher", ("Anna Lind", "Luis Prado", "Mira Holm"), "name"),
        ("Room", ("K2", "K1", "104"), "code"),
        ("Colour", ("red", "dark blue", "green"), "word"),
        ("Since", ("2019-04-01", "2020-01-20", "2021-06-15"), "date"),
        ("Remark", ("came in late because the train from the coast stood still for an hour",) * 3, "prose"),
    ],
)
def test_a_column_says_what_its_cells_are_of(head: str, cells: Sequence[str], content: str) -> None:
    rows = [(str(number), cell) for number, cell in enumerate(cells)]
    table = table_of(("Number", head), rows, [(1, 10 * row, 10 * row + 9) for row in range(len(rows))])
    assert content_of(table.columns[1]) == content
