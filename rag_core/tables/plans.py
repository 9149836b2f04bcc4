"""The plans that a question may mean, one small grammar, and what each finds in a table.

A plan leaves some rows, by conditions that are joined with "and" across columns and "or" within one, and looks up,
counts or computes: the few operations of lambda DCS (Pasupat and Liang 2015) that people use most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from rag_core.tables.links import Link
from rag_core.tables.table import Mask, WholeTable
from rag_core.tables.values import Numbers

LOOK_UP, COUNT, DIFFERENT, SUM, MEAN = "look up", "count", "count different", "sum", "mean"
LARGEST, SMALLEST, ROW_LARGEST, ROW_SMALLEST = "largest", "smallest", "row of largest", "row of smallest"
COMMONEST, FIRST, LAST, BEHIND, BEFORE, DIFFERENCE = "commonest", "first", "last", "behind", "before", "difference"
Rows = NDArray[np.intp]
OPERATIONS = (
    LOOK_UP, COUNT, DIFFERENT, SUM, MEAN, LARGEST, SMALLEST, ROW_LARGEST, ROW_SMALLEST, COMMONEST, FIRST, LAST, BEHIND,
    BEFORE, DIFFERENCE,
)  # fmt: skip
OF_FIGURES = (SUM, MEAN, LARGEST, SMALLEST, DIFFERENCE)
"""Those whose result is computed from the figures of a column."""
_MOST_LINKS, _MOST_SETS, _MOST_JOINED = 16, 60, 3


@dataclass(frozen=True, slots=True)
class Plan:
    """Conditions, what is done with the rows that they leave, with which column, and by which column rows are chosen.

    target: -1 where rows are counted. by: -1 where the operation chooses none.
    """

    conditions: tuple[Link, ...]
    operation: str
    target: int = -1
    by: int = -1


@dataclass(frozen=True, slots=True)
class Result:
    """What a plan finds. texts: cells as they stand; value: a figure that was counted or computed. rows: those it comes
    from, in order."""

    texts: tuple[str, ...]
    value: float | None
    rows: Rows


def condition_sets(links: Sequence[Link], table: WholeTable) -> list[tuple[Link, ...]]:
    """The conditions that can be joined: none, or some links of different words, the longest first."""
    best = sorted(links, key=lambda one: (not one.exact, one.first - one.last, bool(one.comparison)))[:_MOST_LINKS]
    found: list[tuple[Link, ...]] = [()]
    for size in range(1, _MOST_JOINED + 1):
        for some in combinations(best, size):
            if len(found) < _MOST_SETS * size and _are_apart(some) and not _is_beyond_key(some, table):
                found.append(some)
    return found


def _is_beyond_key(links: Sequence[Link], table: WholeTable) -> bool:
    """Whether a key chooses the rows already: what else is named is asked of them."""
    columns = {one.column for one in links}
    keys = {one.column for one in links if one.exact and not one.comparison and table.columns[one.column].is_key}
    return bool(keys) and len(columns) > 1


def _are_apart(links: Sequence[Link]) -> bool:
    ordered = sorted(links, key=lambda one: one.first)
    return all(one.last <= other.first for one, other in pairwise(ordered))


def rows_left(table: WholeTable, conditions: Sequence[Link]) -> Mask:
    """The rows that conditions leave, without those that sum up others."""
    left = ~table.totals
    for column in {one.column for one in conditions}:
        either = np.zeros(len(table), bool)
        bounds = np.ones(len(table), bool)
        for one in conditions:
            if one.column == column:
                if one.comparison in ("<", ">"):  # between two figures
                    bounds &= one.rows(table)
                else:
                    either |= one.rows(table)
        is_listed = any(one.column == column and one.comparison not in ("<", ">") for one in conditions)
        left = left & bounds & (either if is_listed else True)
    return left


def plans(
    table: WholeTable, conditions: tuple[Link, ...], count: int, *, is_of_neighbours: bool = True
) -> Iterator[Plan]:
    """What can be done with so many rows. A row alone is looked up, and one that a key chooses is not counted.

    is_of_neighbours: whether rows beside those may be asked for.
    """
    constrained = {one.column for one in conditions}
    if count != 1 or not any(table.columns[column].is_key for column in constrained):
        yield Plan(conditions, COUNT)
    if not count:
        return
    every = range(len(table.columns))
    for target in every:
        if target not in constrained:
            yield Plan(conditions, LOOK_UP, target)
        if conditions and is_of_neighbours:
            yield from (Plan(conditions, operation, target) for operation in (BEHIND, BEFORE))
    if count > 1:
        figures = [place for place in every if table.columns[place].kind != "text"]
        yield from _of_many(table, conditions, constrained, figures, count)


def _of_many(
    table: WholeTable, conditions: tuple[Link, ...], constrained: set[int], figures: Sequence[int], count: int
) -> Iterator[Plan]:
    for target in range(len(table.columns)):
        if target not in constrained:
            yield from (Plan(conditions, operation, target) for operation in (DIFFERENT, COMMONEST))
        yield from (Plan(conditions, operation, target) for operation in (FIRST, LAST))
        for by in figures:
            if by != target:
                yield Plan(conditions, ROW_LARGEST, target, by)
                yield Plan(conditions, ROW_SMALLEST, target, by)
    for target in figures:
        if table.columns[target].kind == "number":
            yield from (Plan(conditions, operation, target) for operation in (SUM, MEAN))
            if count == 2:
                yield Plan(conditions, DIFFERENCE, target)
        yield from (Plan(conditions, operation, target) for operation in (LARGEST, SMALLEST))


def run(plan: Plan, table: WholeTable, left: Mask) -> Result | None:
    """What a plan finds among the rows that its conditions leave; None where that is nothing."""
    rows: Rows = np.flatnonzero(left)
    if plan.operation == COUNT:
        return Result((), float(len(rows)), rows)
    if not len(rows):
        return None
    if plan.operation in OF_FIGURES:
        return _computed(plan, table, rows)
    if plan.operation in (ROW_LARGEST, ROW_SMALLEST):
        rows = _furthest(table.columns[plan.by].numbers, rows, largest=plan.operation == ROW_LARGEST)
    elif plan.operation in (FIRST, LAST):
        rows = rows[:1] if plan.operation == FIRST else rows[-1:]
    elif plan.operation in (BEHIND, BEFORE):
        rows = rows[-1:] + 1 if plan.operation == BEHIND else rows[:1] - 1
        rows = rows[(rows >= 0) & (rows < len(table))]
    column = table.columns[plan.target]
    codes = column.codes[rows]
    if plan.operation == DIFFERENT:
        return Result((), float(len({code for code in codes.tolist() if column.texts[code]})), rows)
    if plan.operation == COMMONEST:
        counts = np.bincount(codes)
        best = np.flatnonzero(counts == counts.max())
        return Result(tuple(column.texts[code] for code in best), None, rows[np.isin(codes, best)])
    texts = tuple(dict.fromkeys(column.texts[code] for code in codes.tolist() if column.texts[code]))
    return Result(texts, None, rows) if texts else None


def _computed(plan: Plan, table: WholeTable, rows: Rows) -> Result | None:
    column = table.columns[plan.target]
    values = column.numbers[rows]
    known = ~np.isnan(values)
    rows, values = rows[known], values[known]
    if not len(rows):
        return None
    if plan.operation in (LARGEST, SMALLEST):
        rows = _furthest(column.numbers, rows, largest=plan.operation == LARGEST)
        return Result((column.texts[column.codes[rows[0]]],), None, rows)
    if plan.operation == DIFFERENCE:
        return Result((), float(abs(values[0] - values[-1])), rows) if len(values) == 2 else None
    return Result((), float(values.sum() if plan.operation == SUM else values.mean()), rows)


def _furthest(numbers: Numbers, rows: Rows, *, largest: bool) -> Rows:
    values = numbers[rows]
    if np.isnan(values).all():
        return rows[:0]
    furthest = np.nanmax(values) if largest else np.nanmin(values)
    found: Rows = rows[values == furthest]
    return found
