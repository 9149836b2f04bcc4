"""A question that changes the last plan over a table: "and in Bern?", "who are they?", "sort them by date".

Words that stand for cells are conditions in the place of those on the same column; all else of the plan stays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from rag_core.tables.asking import Ranked, best_plans, is_explained
from rag_core.tables.columns import normalised
from rag_core.tables.links import Link, links_of
from rag_core.tables.plans import (
    BEFORE,
    BEHIND,
    COMMONEST,
    COUNT,
    COUNT_BY,
    FIRST,
    FURTHEST_GROUPS,
    FURTHEST_ROWS,
    GROUPED,
    LARGEST,
    LARGEST_BY,
    LAST,
    LOOK_UP,
    MEAN,
    MEAN_BY,
    MEDIAN,
    RAREST,
    ROW_LARGEST,
    ROW_SMALLEST,
    SHARE,
    SMALLEST,
    SMALLEST_BY,
    SUM,
    SUM_BY,
    Plan,
    rows_left,
    run,
)
from rag_core.tables.question_words import asks_whether
from rag_core.tables.scene import Scene
from rag_core.tables.table import WholeTable
from rag_core.tables.weights import operation_words, weights
from rag_core.tables.words import Words, heads_named

_CHART = frozenset(("chart", "graph", "diagram", "plot", "bars"))
_SORT = frozenset(("sort", "sorted", "order", "ordered", "rank", "arrange"))
_DESCENDING = frozenset(("descending", "largest", "highest", "newest", "reverse", "down"))
_OF_SHOWING = frozenset(("show", "draw", "make", "display", "give", "bar", "line", "first", "ascending", "smallest",
                         "lowest", "oldest", "result", "results", "rows", "list"))  # fmt: skip
_ASKING = frozenset(("which", "what", "who", "whose", "when", "where", "how", "why"))
_THEM = frozenset(("they", "them", "those", "these"))
_ALL = frozenset(("total", "overall", "altogether", "all"))
_HOW_MANY = 2  # words
_OF_ALL = {COUNT_BY: COUNT, SUM_BY: SUM, MEAN_BY: MEAN, LARGEST_BY: LARGEST, SMALLEST_BY: SMALLEST}
_OF_ROWS = (LOOK_UP, COUNT, ROW_LARGEST, ROW_SMALLEST)
_SURE = 0.5  # of what speaks for all plans
_KINDS = ((LARGEST, SMALLEST, MEAN, MEDIAN), (ROW_LARGEST, ROW_SMALLEST))


def shown_otherwise(words: Words, plan: Plan, table: WholeTable) -> Plan | None:
    """The last plan as its rows are asked for now, in the order of a column, or itself where a chart of what it found
    is asked for, which is drawn of every result that has one; None where the question asks for anything else."""
    said = [{*some} for some in words.english]
    every = frozenset(chain.from_iterable(said))
    known = _CHART | _SORT | _DESCENDING | _OF_SHOWING
    left = {place for place in words.telling if not said[place] & known and said[place]}
    if every & _CHART:
        return None if left else plan
    named = heads_named(words, table.heads)
    by = max(range(len(named)), key=lambda place: len({*named[place]} & left), default=-1)
    if every & _ASKING:  # "which order has the largest amount" sorts none
        return None
    if not (every & _SORT and left and plan.operation in _OF_ROWS and by >= 0 and left <= {*named[by]}):
        return None
    operation = ROW_LARGEST if every & _DESCENDING else ROW_SMALLEST
    return replace(plan, operation=operation, target=max(plan.target, 0), by=by, size=max(len(table), plan.size))


def asked_of_others(words: Words, plan: Plan, table: WholeTable) -> Plan | None:
    """The last plan over the rows that a follow-up names instead, over all rows, or with something else done; None
    where the follow-up says anything else."""
    every = frozenset(chain.from_iterable(words.english))
    if operation := _instead_of(plan.operation, words):
        return replace(plan, operation=operation)
    left = {place for place in words.telling if not {*words.english[place]} & (_ALL | _OF_SHOWING)}
    if left:
        links = _instead(words, left, plan, table)
        return replace(plan, conditions=links) if links else None
    if {"how", "many"} <= every and plan.operation in _OF_ROWS:
        return Plan(plan.conditions, COUNT)
    if every & _THEM and plan.operation == COUNT:
        return replace(plan, operation=LOOK_UP, target=_name_of_rows(table))
    if every & _ALL and (of_all := _OF_ALL.get(plan.operation)):
        return replace(plan, operation=of_all, by=-1)
    if every & _ALL and not every & _THEM:
        kept = tuple(one for one in plan.conditions if one.comparison == "<" and not one.value)  # what is paid
        return replace(plan, conditions=kept) if len(kept) < len(plan.conditions) else None
    return None


def is_cut_short(words: Words, last: Plan, table: WholeTable) -> bool:
    """Whether a question says nothing but what column it asks for: of which rows was said before. That is figures of
    any rows, "How many hours?", and a cell of the one row that was told, "Who is the client?", and not "Who are the
    clients?"."""
    named = set().union(*heads_named(words, table.heads))
    left = {place for place in words.telling if words.english[place] not in ([], ["how"], ["many"], ["much"])}
    if not left or not left <= named:
        return False
    meant = _meant(last, table)
    is_of_one = meant is not None and np.count_nonzero(rows_left(table, meant)) == 1
    heads = {word for head in table.heads for word in normalised(head).split()}
    return (is_of_one and all(words.plain[place] in heads for place in left)) or (
        ["how"] in words.english[:1] and len(words.plain) <= len(left) + _HOW_MANY
    )


def asked_of_them(scene: Scene, last: Plan) -> Plan | None:
    """What a question asks of the rows that the last plan found: "how many of them are overdue?", "where does she
    work?"; None where no one plan is likely, or a word is left that it says nothing of. Of one row a cell is told."""
    best, meant = best_plans(scene, weights()), _meant(last, scene.table)
    if meant is None or not (scene.telling and best):
        return None
    if np.count_nonzero(rows_left(scene.table, meant)) == 1:
        columns = {link.column for link in scene.links if link.codes}
        if asks_whether(scene.words.text) and len(columns) == 1:  # "Is it paid?"
            return Plan(meant, LOOK_UP, columns.pop())
        shares: defaultdict[int, float] = defaultdict(float)
        for one in best:  # what is counted for each department is the department
            shares[one.plan.by if one.plan.operation == COUNT_BY else one.plan.target] += one.share
        target = max(shares, key=shares.__getitem__)
        told = replace(best[0], plan=Plan((), LOOK_UP, target), share=shares[target])
        return replace(told.plan, conditions=meant) if target >= 0 and _is_sure(scene, told) else None
    if not _is_sure(scene, best[0]):
        return None
    plan = best[0].plan
    columns = {one.column for one in plan.conditions}
    conditions = (*(one for one in meant if one.column not in columns), *plan.conditions)
    counts = {"how", "many"} <= frozenset(chain.from_iterable(scene.words.english)) and plan.operation in _OF_ROWS
    return Plan(conditions, COUNT) if counts else replace(plan, conditions=conditions)


def _is_sure(scene: Scene, one: Ranked) -> bool:
    return one.share >= _SURE and is_explained(scene, one)


def _meant(last: Plan, table: WholeTable) -> tuple[Link, ...] | None:
    """Conditions that leave the rows that a plan told of: those of its rows' names, or of the cells that it found, else
    its own; None where none leave these rows and no others."""
    is_of_rows = last.operation in (*FURTHEST_ROWS, FIRST, LAST)
    if not is_of_rows and last.operation not in (*FURTHEST_GROUPS, COMMONEST, RAREST):
        return None if last.operation in (*GROUPED, BEHIND, BEFORE, SHARE) else last.conditions
    if (result := run(last, table, rows_left(table, last.conditions))) is None:
        return None
    if is_of_rows:
        column, rows = _name_of_rows(table), result.rows[: last.size]
        codes = {*map(int, table.columns[column].codes[rows])}
        told = (Link(0, 0, column, tuple(sorted(codes))),)
        return told if np.count_nonzero(rows_left(table, told)) == len(rows) else None
    column = last.by if last.operation in FURTHEST_GROUPS else last.target
    found = tuple(code for code, text in enumerate(table.columns[column].texts) if text in result.texts)
    return (*last.conditions, Link(0, 0, column, found)) if found else None


def _instead_of(operation: str, words: Words) -> str:
    """What a follow-up that has no other word asks for in the place of an operation of its kind: "and the lowest?"."""
    kind = next((some for some in _KINDS if operation in some), ())
    known, said = weights().values, [*chain.from_iterable(words.english)]
    best = max(kind, key=lambda one: sum(known.get(f"o {one} {word}", 0.0) for word in said), default=operation)
    is_said = bool(words.telling) and operation_words(words, best) >= {*words.telling}
    return best if is_said and best != operation else ""


def _instead(words: Words, left: set[int], plan: Plan, table: WholeTable) -> tuple[Link, ...]:
    """The plan's conditions with others on the one column that some words are cells of; () where they are of none, or
    of several, or say a month of no year where a year was said with it."""
    links = [
        one for one in links_of(words, table)
        if one.comparison in ("", "within", "month") and left <= set(range(one.first, one.last))
    ]  # fmt: skip
    exact = [one for one in links if one.exact] or links
    before = {one.column for one in plan.conditions}
    found = [one for one in exact if one.column in before] or exact
    if len({one.column for one in found}) != 1:
        return ()
    column, signs = found[0].column, {one.comparison for one in found}
    kept = [one for one in plan.conditions if one.column != column or _is_beside(one, signs)]
    is_open = "month" in signs and any(one.column == column and one.comparison == "within" for one in plan.conditions)
    return () if is_open and not _are_years(plan.conditions, column) else (*kept, *found[:1])


def _is_beside(one: Link, signs: set[str]) -> bool:
    """Whether a condition holds beside one of the same column: a year beside a month."""
    return {one.comparison, *signs} == {"within", "month"}


def _are_years(conditions: Sequence[Link], column: int) -> bool:
    days = [one.until - one.value for one in conditions if one.column == column and one.comparison == "within"]
    return all(span >= 364 for span in days)


def _name_of_rows(table: WholeTable) -> int:
    """The column that says which rows are meant: that of names, or of keys, or the first."""
    columns = [*enumerate(table.columns)]
    names = [place for place, column in columns if column.is_key and column.has_names]
    return next(iter([*names, *(place for place, column in columns if column.is_key and column.kind == "text")]), 0)
