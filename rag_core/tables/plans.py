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

from rag_core.tables.columns import Column, Mask
from rag_core.tables.links import Link
from rag_core.tables.table import WholeTable
from rag_core.tables.values import Numbers

LOOK_UP, COUNT, DIFFERENT, SUM, MEAN, MEDIAN = "look up", "count", "count different", "sum", "mean", "median"
LARGEST, SMALLEST, ROW_LARGEST, ROW_SMALLEST = "largest", "smallest", "row of largest", "row of smallest"
COMMONEST, FIRST, LAST, BEHIND, BEFORE, DIFFERENCE = "commonest", "first", "last", "behind", "before", "difference"
COUNT_BY, SUM_BY, MEAN_BY, LARGEST_BY, SMALLEST_BY = "count by", "sum by", "mean by", "each largest", "each smallest"
GROUP_LARGEST, GROUP_SMALLEST = "group of largest sum", "group of smallest sum"
GROUP_HIGH, GROUP_LOW, RAREST, SHARE = "group of largest mean", "group of smallest mean", "rarest", "share"
Rows = NDArray[np.intp]
OPERATIONS = (
    LOOK_UP, COUNT, DIFFERENT, SUM, MEAN, MEDIAN, LARGEST, SMALLEST, ROW_LARGEST, ROW_SMALLEST, COMMONEST, FIRST, LAST,
    BEHIND, BEFORE, DIFFERENCE, COUNT_BY, SUM_BY, MEAN_BY, GROUP_LARGEST, SHARE, LARGEST_BY, SMALLEST_BY,
    GROUP_SMALLEST, GROUP_HIGH, GROUP_LOW, RAREST,
)  # fmt: skip
FURTHEST_ROWS = (ROW_LARGEST, ROW_SMALLEST)
"""Those that find the rows that are furthest by the column `by`."""
OF_FIGURES = (SUM, MEAN, MEDIAN, LARGEST, SMALLEST, DIFFERENCE)
"""Those whose result is computed from the figures of a column."""
ADDED_UP = (SUM, MEAN, MEDIAN, SUM_BY, MEAN_BY)
"""Those whose result is of all the rows that are left: one too many is in it."""
FURTHEST_GROUPS = (GROUP_LARGEST, GROUP_SMALLEST, GROUP_HIGH, GROUP_LOW)
"""Those that find the cells of the column `by` whose rows come to most or least."""
STEPS = {
    GROUP_LARGEST: (SUM, LARGEST, ROW_LARGEST), GROUP_SMALLEST: (SUM, SMALLEST, ROW_SMALLEST),
    GROUP_HIGH: (MEAN, LARGEST, ROW_LARGEST), GROUP_LOW: (MEAN, SMALLEST, ROW_SMALLEST),
    COUNT_BY: (COUNT,), SUM_BY: (SUM,), MEAN_BY: (MEAN,), LARGEST_BY: (LARGEST,), SMALLEST_BY: (SMALLEST,),
}  # fmt: skip
"""What these do one after the other: the words for it are theirs too."""
SUMMED = (SUM, SUM_BY, GROUP_LARGEST, GROUP_SMALLEST)
"""Those that add up figures."""
COUNTED = (COUNT, COUNT_BY, COMMONEST, RAREST, SHARE)
"""Those that count rows."""
GROUPED = (COUNT_BY, SUM_BY, MEAN_BY, LARGEST_BY, SMALLEST_BY, *FURTHEST_GROUPS)
"""Those that are done for each cell of the column `by`."""
OF_ROWS = (COUNT, DIFFERENT, *OF_FIGURES, ROW_LARGEST, ROW_SMALLEST, COMMONEST, RAREST, *GROUPED, SHARE)
"""Those that all the rows are gone over for: no passage says what they find."""
_MOST_GROUPS, _REPEATED = 200, 0.75  # groups that are listed; of a column's rows, its different texts at most
_MOST_LINKS, _MOST_SETS, _MOST_JOINED = 16, 60, 3
_MOST_TEXTS = 100


@dataclass(frozen=True, slots=True)
class Plan:
    """Conditions, what is done with the rows that they leave, with which column, and by which column rows are chosen.

    target: -1 where rows are counted. by: -1 where the operation chooses none; of a share the column whose conditions
    its rows have beside those of the whole. size: how many rows or cells are furthest, "the top 3".
    """

    conditions: tuple[Link, ...]
    operation: str
    target: int = -1
    by: int = -1
    size: int = 1

    @property
    def columns(self) -> list[int]:
        """All the columns that it goes by."""
        used = [*(one.column for one in self.conditions), self.target, self.by]
        return [column for column in used if column >= 0]


@dataclass(frozen=True, slots=True)
class Result:
    """What a plan finds. texts: different cells as they stand, the first hundred of them; value: a figure that was
    counted or computed. rows: those it comes from, in order. count: how many different cells there are. groups: cells
    of a column with the figure of each, the largest first, or the smallest where these are asked for."""

    texts: tuple[str, ...]
    value: float | None
    rows: Rows
    count: int = 0
    groups: tuple[tuple[str, float], ...] = ()


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


class Selection:
    """The rows of a table that conditions leave, without those that sum up others."""

    def __init__(self, table: WholeTable) -> None:
        self._table = table
        self._every = ~table.totals
        self._known: dict[Link, Mask] = {}

    def left(self, conditions: Sequence[Link]) -> Mask:
        """The rows that all conditions leave; those of one column are joined with "or", but for bounds."""
        left = self._every
        for asked in {(one.column, one.comparison == "month") for one in conditions}:  # "March" and "2025"
            either: Mask | None = None
            for one in (one for one in conditions if (one.column, one.comparison == "month") == asked):
                if one.is_bound or one.is_negated:  # between two figures, neither this nor that
                    left = left & self._of(one)
                else:
                    either = self._of(one) if either is None else either | self._of(one)
            left = left if either is None else left & either
        return left

    def has_each(self, conditions: Sequence[Link]) -> bool:
        """Whether each cell that is one of several of a column has rows left: of "a small coffee and a brownie" none is
        said where no brownie is small."""
        columns = [one.column for one in conditions if not one.comparison and not one.is_negated]
        several = [one for one in conditions if columns.count(one.column) > 1 and not one.comparison]
        left = self.left(conditions) if several else self._every
        return all((left & self._of(one)).any() for one in several)

    def count(self, conditions: Sequence[Link]) -> int:
        """How many they are."""
        return int(np.count_nonzero(self.left(conditions)))

    def _of(self, link: Link) -> Mask:
        if link not in self._known:
            self._known[link] = link.rows(self._table)
        return self._known[link]


def rows_left(table: WholeTable, conditions: Sequence[Link]) -> Mask:
    """The rows that conditions leave, of one question's only plan."""
    return Selection(table).left(conditions)


def plans(
    table: WholeTable, conditions: tuple[Link, ...], count: int, *, is_of_neighbours: bool = True,
    sizes: Sequence[int] = (),
) -> Iterator[Plan]:  # fmt: skip
    """What can be done with so many rows. A row alone is looked up, and one that a key chooses is not counted.

    is_of_neighbours: whether rows beside those may be asked for. sizes: how many of the furthest may be.
    """
    constrained = {one.column for one in conditions}
    if count != 1 or not any(table.columns[column].is_key for column in constrained):
        yield Plan(conditions, COUNT)
        yield from (Plan(conditions, SHARE, by=column) for column in sorted(constrained))
    if not count:
        return
    every = range(len(table.columns))
    for target in every:
        if target not in constrained:
            yield Plan(conditions, LOOK_UP, target)
        if conditions and is_of_neighbours:
            yield from (Plan(conditions, operation, target) for operation in (BEHIND, BEFORE))
    keys = (one for one in conditions if one.exact and not one.comparison)
    if count == 1 and not any(table.columns[one.column].is_key for one in keys):
        numbers = [place for place in every if table.columns[place].kind == "number"]
        yield from (Plan(conditions, SUM, target) for target in numbers)  # the only payment of a month
    if count > 1:
        figures = [place for place in every if table.columns[place].kind != "text"]
        yield from _of_many(table, conditions, constrained, figures, count)
        sizes = [size for size in sizes if size < count]
        yield from _of_groups(table, conditions, constrained, figures, sizes)
        yield from _of_furthest(table, conditions, figures, sizes)


def _of_many(
    table: WholeTable, conditions: tuple[Link, ...], constrained: set[int], figures: Sequence[int], count: int
) -> Iterator[Plan]:
    for target in range(len(table.columns)):
        if target not in constrained:
            yield from (Plan(conditions, operation, target) for operation in (DIFFERENT, COMMONEST, RAREST))
        yield from (Plan(conditions, operation, target) for operation in (FIRST, LAST))
        for by in figures:
            if by != target:
                yield Plan(conditions, ROW_LARGEST, target, by)
                yield Plan(conditions, ROW_SMALLEST, target, by)
    for target in figures:
        if table.columns[target].kind == "number":
            yield from (Plan(conditions, operation, target) for operation in (SUM, MEAN, MEDIAN))
            if count == 2:
                yield Plan(conditions, DIFFERENCE, target)
        yield from (Plan(conditions, operation, target) for operation in (LARGEST, SMALLEST))


def _of_groups(
    table: WholeTable, conditions: tuple[Link, ...], constrained: set[int], figures: Sequence[int], sizes: Sequence[int]
) -> Iterator[Plan]:
    numbers = [place for place in figures if table.columns[place].kind == "number"]
    for by, column in enumerate(table.columns):
        if by in constrained or not has_groups(column):
            continue
        listed = [SUM_BY, MEAN_BY, LARGEST_BY, SMALLEST_BY] if len(column.texts) <= _MOST_GROUPS else []
        if listed:
            yield Plan(conditions, COUNT_BY, -1, by)
        for target in (one for one in numbers if one != by):
            yield from (Plan(conditions, operation, target, by) for operation in (*listed, *FURTHEST_GROUPS))
            for size in (size for size in sizes if size < len(column.texts)):
                yield from (Plan(conditions, operation, target, by, size) for operation in FURTHEST_GROUPS)


def has_groups(column: Column) -> bool:
    """Whether several rows share a cell, as those of a customer do."""
    is_repeated = column.kind == "text" and len(column.texts) <= _REPEATED * len(column.codes)
    return len(column.texts) > 1 and (column.variety == "choice" or is_repeated)


def _of_furthest(
    table: WholeTable, conditions: tuple[Link, ...], figures: Sequence[int], sizes: Sequence[int]
) -> Iterator[Plan]:
    for size in sizes:
        for target in range(len(table.columns)):
            yield from (Plan(conditions, operation, target, size=size) for operation in (COMMONEST, RAREST))
            for by in figures:
                if by != target:
                    yield Plan(conditions, ROW_LARGEST, target, by, size)
                    yield Plan(conditions, ROW_SMALLEST, target, by, size)


def run(plan: Plan, table: WholeTable, left: Mask) -> Result | None:
    """What a plan finds among the rows that its conditions leave; None where that is nothing."""
    rows: Rows = np.flatnonzero(left)
    if plan.operation == COUNT:
        return Result((), float(len(rows)), rows)
    if not len(rows):
        return None
    if plan.operation == SHARE:
        whole = rows_left(table, [one for one in plan.conditions if one.column != plan.by])
        return Result((), 100 * len(rows) / int(np.count_nonzero(whole)), rows)
    if plan.operation in GROUPED:
        return _grouped(plan, table, rows)
    if plan.operation in OF_FIGURES:
        return _computed(plan, table, rows)
    if plan.operation in (ROW_LARGEST, ROW_SMALLEST):
        rows = _in_order(plan, table.columns[plan.by], rows)
    elif plan.operation in (FIRST, LAST):
        rows = _in_time(plan, table, rows)[0 if plan.operation == FIRST else -1 :][:1]
    elif plan.operation in (BEHIND, BEFORE):
        rows = rows[-1:] + 1 if plan.operation == BEHIND else rows[:1] - 1
        rows = rows[(rows >= 0) & (rows < len(table))]
    column = table.columns[plan.target]
    if plan.operation in (COMMONEST, RAREST):
        return _by_frequency(column, rows, plan.size, rarest=plan.operation == RAREST)
    if plan.operation == DIFFERENT:
        counts = np.bincount(column.codes[rows], minlength=len(column.texts))
        return Result((), float(np.count_nonzero(counts) - (column.blank >= 0 and counts[column.blank] > 0)), rows)
    return _cells(column, rows)


def _by_frequency(column: Column, rows: Rows, size: int, *, rarest: bool) -> Result | None:
    """As many cells as asked for of those that stand in most or fewest rows, and those that are as frequent;
    None where all are."""
    codes = column.codes[rows]
    counts = np.bincount(codes, minlength=len(column.texts))
    known = np.flatnonzero(counts)
    known = known[known != column.blank]
    if not len(known):
        return None
    ranks = -counts if rarest else counts
    best = known[_furthest(ranks[known].astype(np.float64), np.arange(len(known)), size, largest=True)]
    if size == 1 and len(best) == len(known) > 1:  # as often as all others
        return None
    ordered = np.argsort(-ranks[codes], kind="stable") if size > 1 else np.arange(len(rows))
    return _cells(column, rows[ordered][np.isin(codes[ordered], best)])


def _cells(column: Column, rows: Rows) -> Result | None:
    """The different cells of some rows in order; None where all are empty."""
    codes = column.codes[rows]
    first = np.full(len(column.texts), -1)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    if column.blank >= 0:
        first[column.blank] = -1
    places = first[first >= 0]
    shown = np.sort(np.partition(places, _MOST_TEXTS)[:_MOST_TEXTS] if len(places) > _MOST_TEXTS else places)
    texts = tuple(column.texts[int(code)] for code in codes[shown])
    return Result(texts, None, rows, len(places)) if texts else None


def _grouped(plan: Plan, table: WholeTable, rows: Rows) -> Result | None:
    """What the rows of each cell of a column come to, the largest first; of the furthest those that are asked for."""
    by = table.columns[plan.by]
    if plan.operation != COUNT_BY:
        rows = rows[~np.isnan(table.columns[plan.target].numbers[rows])]
    rows = rows[by.codes[rows] != by.blank]
    is_there = np.bincount(by.codes[rows], minlength=len(by.texts)) > 0
    known, codes = np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[by.codes[rows]]
    if len(known) < 2 or (plan.operation == MEAN_BY and len(known) == len(rows)):  # of one figure each
        return None
    figures = _of_each(plan, table, rows, codes)
    if not np.isfinite(figures).all():  # no figure can be said
        return None
    is_lowest = plan.operation in (GROUP_SMALLEST, GROUP_LOW)
    order = np.argsort(figures if is_lowest else -figures, kind="stable")
    groups = tuple((by.texts[int(known[place])], float(figures[place])) for place in order)
    if plan.operation not in FURTHEST_GROUPS:
        return Result((), None, rows, len(groups), groups)
    count = len(_furthest(figures, np.arange(len(known)), plan.size, largest=not is_lowest))
    is_best = np.isin(codes, order[:count])
    return Result(tuple(text for text, _ in groups[:count]), None, rows[is_best], count, groups)


def _of_each(plan: Plan, table: WholeTable, rows: Rows, codes: Rows) -> Numbers:
    """What the rows of each group, by its code, come to."""
    counts = np.bincount(codes)
    if plan.operation == COUNT_BY:
        return counts.astype(np.float64)
    numbers = table.columns[plan.target].numbers[rows]
    if plan.operation in (LARGEST_BY, SMALLEST_BY):
        found: Numbers = np.full(len(counts), -np.inf if plan.operation == LARGEST_BY else np.inf)
        (np.maximum if plan.operation == LARGEST_BY else np.minimum).at(found, codes, numbers)
        return found
    summed = np.bincount(codes, numbers).astype(np.float64)
    return summed / counts if plan.operation in (MEAN_BY, GROUP_HIGH, GROUP_LOW) else summed


def _computed(plan: Plan, table: WholeTable, rows: Rows) -> Result | None:
    column = table.columns[plan.target]
    values = column.numbers[rows]
    known = ~np.isnan(values)
    rows, values = rows[known], values[known]
    if not len(rows):
        return None
    if plan.operation in (LARGEST, SMALLEST):
        rows = _furthest(column.numbers, rows, 1, largest=plan.operation == LARGEST)
        return Result((column.texts[int(column.codes[rows[0]])],), None, rows, 1)
    if plan.operation == DIFFERENCE:
        return Result((), float(abs(values[0] - values[-1])), rows) if len(values) == 2 else None
    with np.errstate(over="ignore"):
        middle = np.median(values) if plan.operation == MEDIAN else values.mean()
        value = float(values.sum() if plan.operation == SUM else middle)
    return Result((), value, rows) if np.isfinite(value) else None


def time_of(plan: Plan, table: WholeTable) -> Column | None:
    """The dates by which rows are first or last: those that chose them, or the only ones; None where they stand in the
    order of the table."""
    places = dates_of(plan, table)
    return table.columns[places[0]] if len(places) == 1 else None


def dates_of(plan: Plan, table: WholeTable) -> list[int]:
    """The columns of dates that chose a plan's rows, the one that it tells, or all of them."""
    if plan.target >= 0 and table.columns[plan.target].kind == "date":
        return [plan.target]
    chosen = {link.column for link in plan.conditions if table.columns[link.column].kind == "date"}
    return sorted(chosen) or [place for place, column in enumerate(table.columns) if column.kind == "date"]


def _in_time(plan: Plan, table: WholeTable, rows: Rows) -> Rows:
    time = time_of(plan, table)
    if time is None or np.isnan(time.numbers[rows]).any():
        return rows
    ordered: Rows = rows[np.argsort(time.numbers[rows], kind="stable")]
    return ordered


def _in_order(plan: Plan, by: Column, rows: Rows) -> Rows:
    """The rows that are furthest by a column; where all are asked for, all in its order, those without a value last."""
    if plan.size < len(rows) or len(rows) == 1:
        return _furthest(by.numbers, rows, plan.size, largest=plan.operation == ROW_LARGEST)
    keys = by.numbers if by.kind != "text" else np.argsort(np.argsort([*map(str.casefold, by.texts)]))[by.codes]
    found: Rows = rows[np.argsort(-keys[rows] if plan.operation == ROW_LARGEST else keys[rows], kind="stable")]
    return found


def _furthest(numbers: Numbers, rows: Rows, size: int, *, largest: bool) -> Rows:
    """The rows of the largest or smallest figures, as many as asked for and those that are no less, these first."""
    rows = rows[~np.isnan(numbers[rows])]
    values = numbers[rows] if largest else -numbers[rows]
    least = -np.inf if size >= len(rows) else np.partition(values, -size)[-size]
    found: Rows = rows[values >= least]
    return found[np.argsort(-values[values >= least], kind="stable")] if size > 1 else found
