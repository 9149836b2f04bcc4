"""A question that goes on with "and per city?": asked for each city, without the one that it was narrowed to."""

from __future__ import annotations

import re

from rag_core.tables.columns import normalised
from rag_core.tables.links import links_of
from rag_core.tables.table import WholeTable
from rag_core.tables.words import Words
from rag_core.text.stems import stem

_PER = re.compile(
    r"(?<=[?!.])\s*(?:and|und|et|y|e|en)?\s*(?:per|by|for (?:each|every)|pro|je|nach|par|por|für jede\w?)\s+"
    r"(?:the\s+)?(?P<head>[^?!.]{1,60}?)\s*(?:[?!.]|$)",
    re.IGNORECASE,
)
_LEADS = re.compile(
    r"(?:\b(?:in|at|from|for|of|to|by|with|on|im|in der|aus|für|à|de|en)\s+(?:the\s+)?)?$", re.IGNORECASE
)


def regrouped(text: str, table: WholeTable) -> str:
    """The question for each cell of the column that is named last; itself where it does not go on so."""
    found = list(_PER.finditer(text))
    if not found or text[found[-1].end() :].strip():
        return text
    base = text[: found[0].start()].rstrip(" ?!.")
    for one in found:
        places = [at for at, head in enumerate(table.heads) if _is_same(head, one["head"])]
        if not places:
            return text
        base = _without(base, table, places[0])
    return f"{base} for each {found[-1]['head']}?"


def _is_same(head: str, said: str) -> bool:
    one, other = ([stem(word) for word in normalised(text).split()] for text in (head, said))
    return bool(one) and one == other


def _without(text: str, table: WholeTable, column: int) -> str:
    """A question without the cells of a column, and what leads to them."""
    words = Words(text)
    cells = [link for link in links_of(words, table) if link.column == column and link.exact]
    for link in sorted(cells, key=lambda one: -one.first):
        if link.first and link.last <= len(words.matches) and not link.comparison:
            start, end = words.matches[link.first].start(), words.matches[link.last - 1].end()
            text = f"{_LEADS.sub('', text[:start])}{text[end:]}"
    return " ".join(text.split())
