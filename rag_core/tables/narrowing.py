"""Very wide tables before a question: it goes over the columns that it names, and those that say what rows are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rag_core.tables.plans import Plan
from rag_core.tables.table import FEWEST_LETTERS, WholeTable
from rag_core.tables.words import Words

MOST_WHOLE, MOST_AT_ONCE = 200, 60
"""Columns up to which a question goes over a table as it is, and how many of a wider one: what can be asked grows with
their square."""
_FIRST, _OF_WORDS = 5, 20  # that are among them where none is named, and those without figures


@dataclass(frozen=True, eq=False, kw_only=True)
class NarrowTable(WholeTable):
    """Some columns of a table, by their `places` among those of the whole one."""

    whole: WholeTable
    places: tuple[int, ...]


def narrowed(table: WholeTable, words: Words) -> WholeTable:
    """A table with the columns that a question may be about: itself where it has no more than a question goes over."""
    if len(table.columns) <= MOST_WHOLE:
        return table
    named = _named(table, words)
    first = [0] if named else range(_FIRST)
    others = [*first, *[at for at, kind in enumerate(table.kinds) if kind != "number"][:_OF_WORDS]]
    kept = dict.fromkeys([*named[: MOST_AT_ONCE - len(others)], *others, *named])
    places = tuple(sorted([*kept][:MOST_AT_ONCE]))
    return NarrowTable(
        tuple(table.columns[at] for at in places), table.pages, table.starts, table.ends, table.totals, table.name,
        above=table.above, whole=table, places=places,
    )  # fmt: skip


def _named(table: WholeTable, words: Words) -> list[int]:
    """The columns whose heads a question names, those with most of its words first; where one has all that another has
    and more ("Sensor 150"), that one is not meant ("Sensor 151")."""
    found: dict[int, set[int]] = {}
    for place in words.telling:
        word = words.plain[place]
        begins = (word[:end] for end in range(FEWEST_LETTERS, len(word) + 1))
        for at in {at for key in {words.stems[place], *begins} for at in table.by_head.get(key, ())}:
            found.setdefault(at, set()).add(place)
    every = {frozenset(places) for places in found.values()}
    kept = {one for one in every if not any(one < other for other in every)}
    return sorted(
        (at for at, places in found.items() if frozenset(places) in kept),
        key=lambda at: (-len(found[at]), len(table.heads[at]), at),
    )


def widened(plan: Plan, table: WholeTable) -> tuple[Plan, WholeTable]:
    """A plan over a table's columns as one over those of the whole one, and that."""
    if not isinstance(table, NarrowTable):
        return plan, table
    places = {-1: -1, **dict(enumerate(table.places))}
    conditions = tuple(replace(link, column=places[link.column]) for link in plan.conditions)
    changed = replace(plan, conditions=conditions, target=places[plan.target], by=places[plan.by])
    return changed, table.whole
