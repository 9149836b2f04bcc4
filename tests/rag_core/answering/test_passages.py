"""Passages to sentences and rows."""

from __future__ import annotations

import pytest

from rag_core.answering.passages import merge_hits, quotes
from tests.rag_core.answering.parts import hit


@pytest.mark.parametrize(
    ("page", "rows"),
    [
        (
            "Bicycle\t3.00\t3.00\n\nCar up to 5 metres, with\ndriver\n41.00\tnot carried\nDog\t0.00\t0.00",
            ["Bicycle 3.00 3.00", "Car up to 5 metres, with driver 41.00 not carried", "Dog 0.00 0.00"],
        ),
        ("Years ended\n2020\t2019\nNet sales\t274.5\t260.2", ["2020 2019", "Net sales 274.5 260.2"]),
        ("Kept by the harbour master.\n41.00\t52.50", ["41.00 52.50"]),
    ],
    ids=["a label over lines", "heads of columns", "a sentence is no label"],
)
def test_rows_of_figures_have_their_labels(page: str, rows: list[str]) -> None:
    found = quotes(merge_hits([hit(page)]))
    assert [" ".join(one.text.split()) for one in found if one.kind == "row"] == rows
    assert all(one.exact.split()[0] == one.text.split()[0] for one in found)
    assert [one.position for one in found] == list(range(len(found)))
