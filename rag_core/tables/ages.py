"""Who is the oldest: in a table of ages whoever has the highest, in one of days or years of birth the earliest."""

from __future__ import annotations

import re

from rag_core.tables.columns import normalised
from rag_core.tables.table import WholeTable
from rag_core.text.stems import fold

_AGES = frozenset(map(fold, ("age", "ages", "alter", "âge", "edad")))
_BEGUN = frozenset(map(fold, (
    "born", "birth", "birthday", "birthdate", "dob", "geboren", "geburtsdatum", "geburtsjahr", "geburtstag",
    "naissance", "née", "nacimiento", "nacido", "founded", "built", "gegründet", "baujahr",
)))  # fmt: skip
_FURTHEST = re.compile(
    r"\b(?:(?P<old>oldest|eldest|älteste[nrs]?|plus (?:âgée?|vieux|vieille)|más viej[oa]|de más edad)"
    r"|youngest|jüngste[nrs]?|plus jeune|más joven)\b",
    re.IGNORECASE,
)
_OVER = re.compile(r"\b(?:(?P<old>older|älter)|younger|jünger) (?:than|als)(?= \d)", re.IGNORECASE)


def in_ages(text: str, table: WholeTable) -> str:
    """A question with what it means, where the table has that: "highest Age" or "lowest Born" for "oldest"."""
    heads = [{*normalised(head).split()} for head in map(fold, table.heads)]
    if (at := next((at for at, head in enumerate(heads) if head & _AGES), -1)) >= 0:
        text = _OVER.sub(lambda found: f"{table.heads[at]} {'over' if found['old'] else 'under'}", text)
        high, low = "highest", "lowest"
    elif (at := next((at for at, head in enumerate(heads) if head & _BEGUN), -1)) >= 0:
        high, low = ("earliest", "latest") if table.columns[at].kind == "date" else ("lowest", "highest")
        text = _OVER.sub(lambda found: f"at an age {found[0]}", text)  # which no such table says
    else:
        return text
    return _FURTHEST.sub(lambda found: f"{high if found['old'] else low} {table.heads[at]}", text)
