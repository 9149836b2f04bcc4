"""Plans and what they found as values that are kept with an answer, and plans made of such values again."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date, timedelta

import numpy as np

from rag_core.domain import Document, TableAnswer, TableCondition, TablePlan, TableRow
from rag_core.domain.tables import Comparison
from rag_core.tables.clock import time_shown, times_in
from rag_core.tables.columns import Column, normalised
from rag_core.tables.links import Link
from rag_core.tables.plans import (
    COMMONEST,
    COUNT,
    COUNT_BY,
    GROUPED,
    OPERATIONS,
    ROW_LARGEST,
    ROW_SMALLEST,
    SHARE,
    Plan,
    Result,
    rows_left,
)
from rag_core.tables.table import WholeTable
from rag_core.tables.wording import condition, formula, moment_said
from rag_core.tables.words import moment_of

MOST_GROUPS = 50
"""Groups that are kept with an answer, the largest."""
_MOST_ROWS, _MOST_COLUMNS, _MOST_CHARS, _MOST_LOOKED_AT = 20, 30, 300, 1000
_MOST_FREQUENT = 12
_MOST_CONDITIONS, _MOST_VALUES = 50, 2_000
_COMPARISONS: dict[str, Comparison] = {
    "": "is", "=": "equals", ">": "over", "<": "under", ">=": "at least", "<=": "at most", "within": "within",
    "month": "month",
}  # fmt: skip
_SIGNS = {name: sign for sign, name in _COMPARISONS.items()}
_FIRST_DAY = date(1970, 1, 1)


def table_answer(
    plan: Plan, result: Result, table: WholeTable, document: Document, number: int, other: str = ""
) -> TableAnswer:
    """What a plan found in one of a document's tables, by its number, or in one of those joined with the `other`'s."""
    columns = _shown(plan, len(table.columns))
    rows = tuple(
        TableRow(
            tuple(table.text(row, column)[:_MOST_CHARS] for column in columns),
            int(table.pages[row]), int(table.starts[row]), int(table.ends[row]),
        )
        for row in result.rows[:_MOST_ROWS].tolist()
    )  # fmt: skip
    conditions = tuple(_condition(link, table) for link in sorted(plan.conditions, key=lambda one: one.first))
    kept = TablePlan(document.id, number, conditions, plan.operation, plan.target, plan.by, plan.size, other)
    heads = tuple(table.columns[column].head for column in columns)
    return TableAnswer(
        kept, document.title, table.name, heads, rows, len(result.rows), formula(plan, result, table),
        _groups(plan, result, table),
    )  # fmt: skip


def plan_of(kept: TablePlan, table: WholeTable) -> Plan:
    """The plan that was kept. Raises ValueError where it does not fit the table."""
    used = [*(one.column for one in kept.conditions)]
    used += [kept.target] if kept.operation not in (COUNT, COUNT_BY, SHARE) else []
    used += [kept.by] if kept.operation in (ROW_LARGEST, ROW_SMALLEST, SHARE, *GROUPED) else []
    if len(kept.conditions) > _MOST_CONDITIONS or any(len(one.values) > _MOST_VALUES for one in kept.conditions):
        raise ValueError(f"A plan has at most {_MOST_CONDITIONS} conditions of {_MOST_VALUES:,} values.")
    if (
        kept.size < 1
        or not all(-1 <= place < len(table.columns) for place in (kept.target, kept.by))
        or kept.operation not in OPERATIONS
        or any(place not in range(len(table.columns)) for place in used)
    ):
        raise ValueError("The table has no such column, or nothing does that with one.")
    links = tuple(_link(one, place, table) for place, one in enumerate(kept.conditions))
    return Plan(links, kept.operation, kept.target, kept.by, kept.size)


def _shown(plan: Plan, count: int) -> list[int]:
    """The columns that are shown of so many: those of the plan and the first others, in order."""
    used = [one.column for one in plan.conditions]
    first = dict.fromkeys(place for place in (plan.target, plan.by, *used, *range(count)) if place >= 0)
    return sorted([*first][:_MOST_COLUMNS])


def _groups(plan: Plan, result: Result, table: WholeTable) -> tuple[tuple[str, float], ...]:
    """The groups that were found, or how often each of the most frequent cells stands there, where that was asked."""
    if plan.operation != COMMONEST:
        return result.groups[:MOST_GROUPS]
    column = table.columns[plan.target]
    counts = np.bincount(column.codes[rows_left(table, plan.conditions)])
    first = np.argsort(-counts, kind="stable")[:_MOST_FREQUENT].tolist()
    return tuple((column.texts[code][:_MOST_CHARS], float(counts[code])) for code in first if counts[code])


def _condition(link: Link, table: WholeTable) -> TableCondition:
    column = table.columns[link.column]
    values = [column.texts[code] for code in link.codes]
    if link.comparison == "month":
        values = [moment_said(number) for number in (link.value, link.until)]
    elif link.comparison:
        is_period = column.kind == "date" or link.comparison == "within"
        values = [_value(number, column) for number in ((link.value, link.until) if is_period else (link.value,))]
    return TableCondition(
        link.column,
        column.head,
        "not" if link.is_negated else _COMPARISONS[link.comparison],
        tuple(values),
        condition(link, table),
    )


def _value(number: float, column: Column) -> str:
    if column.is_time:
        return time_shown(number)
    if column.kind == "date":
        return (_FIRST_DAY + timedelta(days=number)).isoformat()
    return repr(float(number)).removesuffix(".0")


def _link(kept: TableCondition, place: int, table: WholeTable) -> Link:
    column = table.columns[kept.column]
    if kept.comparison in ("is", "not"):
        is_negated = kept.comparison == "not"
        return Link(place, place + 1, kept.column, _codes(kept.values, column), is_negated=is_negated)
    if not kept.values:
        raise ValueError("A comparison needs a value.")
    value, *until = (_number(text, column, kept.comparison) for text in kept.values)
    return Link(
        place, place + 1, kept.column, comparison=_SIGNS[kept.comparison], value=value,
        until=until[0] if until else 0.0 if column.kind == "number" else value,
    )  # fmt: skip


def _codes(texts: Iterable[str], column: Column) -> tuple[int, ...]:
    """The distinct cells of some texts. Raises ValueError where the column has none of them."""
    first = {text: code for code, text in enumerate(column.texts[:_MOST_LOOKED_AT])}  # long ones are in no index
    found = {first[text] for text in texts if text in first}
    found.update(
        int(code) for text in texts for code in column.by_text.get(normalised(text), ()) if column.texts[code] == text
    )
    if not found:
        raise ValueError(f"No cell of {column.head} says that.")
    return tuple(sorted(found))


def _number(text: str, column: Column, comparison: Comparison) -> float:
    if comparison == "month":
        moment = moment_of(text.casefold().split())
        if not moment or column.kind != "date" or column.is_time:
            raise ValueError(f"“{text[:40]}” is no month, and no day of one, of {column.head}.")
        return moment
    if column.is_time:
        if math.isnan(time := float(times_in([text])[0])):
            raise ValueError(f"“{text[:40]}” is not a time of the day, as 17:40.")
        return time
    try:
        number = float((date.fromisoformat(text) - _FIRST_DAY).days) if column.kind == "date" else float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        what = "a day, as 2024-03-01" if column.kind == "date" else "a number"
        raise ValueError(f"“{text[:40]}” is not {what}.")
    return number
