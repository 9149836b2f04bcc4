"""Payments that a column has as negative figures, as the statement of an account does: the largest one is the furthest
below zero."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from rag_core.tables import plans as grammar
from rag_core.tables.columns import Column
from rag_core.tables.links import Link
from rag_core.tables.plans import Plan, Rows
from rag_core.tables.table import WholeTable
from rag_core.tables.words import Words, heads_named
from rag_core.text.stems import fold, stem

_WORDS = frozenset(
    stem(fold(word)) for word in (
        "payment", "pay", "paid", "expense", "expenditure", "spending", "spend", "spent", "cost", "charge",
        "debit", "withdrawal", "outgoing", "purchase", "zahlung", "zahlungen", "ausgabe", "ausgaben",
        "abbuchung", "dépense", "paiement", "débit", "gasto", "pago", "spesa", "spese", "pagamento", "betaling",
        "uitgave", "uitgaven", "went", "ging", "gingen", "bezahlt", "ausgegeben",
    )
)  # fmt: skip
_GETTING = frozenset(
    stem(fold(word)) for word in
    ("got", "get", "gets", "received", "receive", "bekam", "bekommt", "erhielt", "erhält", "reçoit", "recibió", "kreeg")
)  # fmt: skip
_ASKERS = frozenset(("i", "we", "ich", "wir", "je", "nous", "yo", "nosotros", "io", "noi", "ik", "wij"))
_PASSIVE = frozenset(("is", "are", "was", "were", "been"))
_WHAT_IS_SPENT = re.compile(
    r"\bwhat (?=(?:do|does|did|have|has|had)\b.{1,80}\b(?:spend|spent|pay|paid|cost|earn|earned|owe|owed)\b)",
    re.IGNORECASE,
)
MIRRORED = {
    grammar.LARGEST: grammar.SMALLEST, grammar.SMALLEST: grammar.LARGEST,
    grammar.ROW_LARGEST: grammar.ROW_SMALLEST, grammar.ROW_SMALLEST: grammar.ROW_LARGEST,
    grammar.LARGEST_BY: grammar.SMALLEST_BY, grammar.SMALLEST_BY: grammar.LARGEST_BY,
    grammar.GROUP_LARGEST: grammar.GROUP_SMALLEST, grammar.GROUP_SMALLEST: grammar.GROUP_LARGEST,
    grammar.GROUP_HIGH: grammar.GROUP_LOW, grammar.GROUP_LOW: grammar.GROUP_HIGH,
}  # fmt: skip
_MOSTLY = 0.5  # of a column's figures are negative


def as_amount(text: str) -> str:
    """A question with "How much did Lena spend" for "What did Lena spend": it asks for no thing."""
    return _WHAT_IS_SPENT.sub("How much ", text)


def outflow_places(words: Words) -> list[int]:
    """The places of words that speak of what is paid."""
    said = ({word, *map(stem, some)} for word, some in zip(words.stems, words.english, strict=True))
    return [place for place, some in enumerate(said) if some & _WORDS]


def paid_places(words: Words) -> list[int]:
    """The same, and where there are none those that say what others get: "which payee got the most?". What we got, or
    what was received, came in."""
    if (found := outflow_places(words)) or not _ASKERS.isdisjoint(words.plain):
        return found
    before = [[], *words.english]
    return [at for at, word in enumerate(words.stems) if word in _GETTING and _PASSIVE.isdisjoint(before[at])]


def neutral_words(words: Words, places: Sequence[int]) -> list[list[str]]:
    """A question's words in English, those at some `places`, for what is paid, as an amount is called that may come in
    or go out."""
    if not places:
        return words.english
    return [
        ["amount"] if place in places else ["lowest" if word == "least" else word for word in some]
        for place, some in enumerate(words.english)
    ]


def outflow_columns(words: Words, table: WholeTable) -> set[int]:
    """The columns that have what is paid as negative figures, where a question speaks of it."""
    places = set(paid_places(words))
    if not places:
        return set()
    found = {place for place, column in enumerate(table.columns) if _is_negative(column)}
    columns = sorted(found)
    heads = heads_named(words, [table.columns[place].head for place in columns])
    return {place for place, named in zip(columns, heads, strict=True) if places & {*named}} or found


def outflow_links(words: Words, table: WholeTable, columns: Sequence[int]) -> list[Link]:
    """That what is paid is below zero, of columns that have what comes in too."""
    return [
        Link(place, place + 1, column, comparison="<")
        for column in columns
        if bool((table.columns[column].values > 0).any())
        for place in paid_places(words)[:1]
    ]


def is_payment(plan: Plan, table: WholeTable, rows: Rows, asked: Words) -> bool:
    """Whether what a plan found is a figure below zero of a question that speaks of what is paid."""
    if plan.operation not in (grammar.LARGEST, grammar.SMALLEST) or not len(rows) or not paid_places(asked):
        return False
    return bool(table.columns[plan.target].numbers[int(rows[0])] < 0)


def _is_negative(column: Column) -> bool:
    if column.kind != "number":
        return False
    known = column.numbers[~np.isnan(column.numbers)]
    return bool(len(known)) and float(np.mean(known < 0)) > _MOSTLY
