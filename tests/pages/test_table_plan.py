"""Conditions of a table's answer changed and left out, and the question that then says so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pages.parts import table_plan
from rag_core.domain import Message, TableAnswer, TableCondition, TablePlan, TableRow, Trace
from tests.pages.conftest import NOW, an_answer

RIGA = TableCondition(1, "Port", "is", ("Riga",), "Port is “Riga”")
TURKU = replace(RIGA, values=("Turku",))
HEAVY = TableCondition(2, "Weight", "over", ("60",), "Weight is over 60")
QUESTION = "How many parcels?"


def table(*conditions: TableCondition, **changes: object) -> TableAnswer:
    answer = TableAnswer(
        TablePlan("p", 0, conditions, "count"), "parcels", "", ("Parcel", "Port"),
        (TableRow(("P-1", "Riga"), 1, 0, 8),), 1200, "12 = 5 + 7",
    )  # fmt: skip
    return replace(answer, **changes)  # type: ignore[arg-type]


def message(question: str, query: str = "") -> Message:
    return Message("m", question, NOW, an_answer(trace=Trace(query=query)))


def test_what_is_drawn_of_a_table() -> None:
    drawn = table_plan.shown(table(RIGA))
    assert drawn == {
        "words": "1,200 rows", "heads": ["Parcel", "Port"], "rows": [["P-1", "Riga"]], "more": "and 1,199 more rows",
        "formula": "12 = 5 + 7", "groups": [], "line": [], "conditions": ["Port is “Riga”"],
    }  # fmt: skip
    assert table_plan.shown(None) is None


@pytest.mark.parametrize(
    ("conditions", "place", "question", "asked"),
    [
        ((RIGA,), 0, QUESTION, f"{QUESTION} · any Port"),
        ((RIGA, HEAVY), 1, QUESTION, f"{QUESTION} · any Weight"),
        ((RIGA, TURKU), 0, QUESTION, f"{QUESTION} · Port: Turku"),
        ((RIGA, HEAVY), 0, f"{QUESTION} · Port: Riga · Weight: over 60", f"{QUESTION} · Weight: over 60 · any Port"),
    ],
)
def test_a_condition_is_left_out(conditions: tuple[TableCondition, ...], place: int, question: str, asked: str) -> None:
    plan, said, _ = table_plan.without(message(question), table(*conditions), place)
    assert said == asked
    assert plan.conditions == tuple(one for at, one in enumerate(conditions) if at != place)


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        (TURKU, "Port: Turku"),
        (replace(RIGA, values=("A", "B", "C", "D", "E")), "Port: A or B or C or 2 more"),
        (replace(HEAVY, head="Port"), "Port: over 60"),
        (TableCondition(1, "Port", "within", ("2024-01-01", "2024-01-31")), "Port: 2024-01-01 to 2024-01-31"),
        (TableCondition(1, "Port", "over", ("2024-01-01", "2024-01-31")), "Port: over 2024-01-31"),
        (TableCondition(1, "Port", "equals", ("5",)), "Port: 5"),
        (TableCondition(1, "Port", "month", ("March", "May")), "Port: March to May"),
    ],
)
def test_a_condition_is_another(condition: TableCondition, said: str) -> None:
    plan, question, _ = table_plan.with_another(message(f"{QUESTION} · any Port"), table(RIGA, HEAVY), 0, condition)
    assert (plan.conditions, question) == ((condition, HEAVY), f"{QUESTION} · {said}")


@pytest.mark.parametrize(
    ("query", "swapped", "left_out"),
    [
        ("How many came from riga?", "How many came from Turku?", "How many came from ?"),
        ("How many came from Rigas?", "", ""),
    ],
)
def test_what_later_questions_follow_has_the_other_value(query: str, swapped: str, left_out: str) -> None:
    asked = message(QUESTION, query)
    assert table_plan.with_another(asked, table(RIGA), 0, TURKU)[2] == swapped
    assert table_plan.without(asked, table(RIGA), 0)[2] == left_out


def test_groups_in_time_are_a_line_in_their_order() -> None:
    months = (("March 2024", 40.0), ("Jan 2024", 20.0), ("2024-02", 10.0))
    drawn = table_plan.shown(table(groups=months))
    assert drawn is not None
    assert [(one["text"], one["figure"], one["height"]) for one in drawn["line"]] == [
        ("Jan 2024", "20", 0.5), ("2024-02", "10", 0.25), ("March 2024", "40", 1.0),
    ]  # fmt: skip
    for groups in ((("Oslo", 2.0), *months), months[:2], (*months, ("Mar 2024", 1.0))):
        drawn = table_plan.shown(table(groups=groups))
        assert drawn is not None
        assert drawn["line"] == []
