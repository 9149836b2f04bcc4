"""What the cells of a column are of: money, years, times, names; finer than whether they are figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from rag_core.tables.table import Column
from rag_core.tables.values import MONTHS

_SAMPLE, _MOSTLY = 60, 0.7  # cells that are looked at, and the share of them that shows it
_MONEY = re.compile(r"[$€£¥]|\b(?:EUR|USD|GBP|CHF|JPY|CNY|NOK|SEK|DKK|PLN|euros?|dollars?|pounds?)\b", re.IGNORECASE)
_TIME = re.compile(r"\d{1,2}[:.h]\d{2}(?::\d{2})?(?:\s?[ap]\.?m\.?)?|\d{1,2}\s?[ap]\.?m\.?", re.IGNORECASE)
_DAYS = frozenset(
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "mon", "tue", "wed", "thu", "fri",
     "sat", "sun", "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag", "lundi", "mardi",
     "mercredi", "jeudi", "vendredi", "samedi", "dimanche")
)  # fmt: skip
_YEARS = (1500, 2100)
_LONG = 8  # words of a cell that is a text
_NAMES = range(2, 5)  # words of a person's or a place's name


def content_of(column: Column) -> str:
    """What a column's cells are of, by those that come first: for figures "money", "percent", "year", "count" or
    "measure", for texts "time", "calendar", "prose", "name", "code" or "word", else "date"."""
    if column.kind == "date":
        return "date"
    return (
        _of_figures(column) if column.kind == "number" else _of_texts([text for text in column.texts[:_SAMPLE] if text])
    )


def _of_figures(column: Column) -> str:
    if _MONEY.search(column.unit) or _MONEY.search(column.head):
        return "money"
    if "%" in (column.unit, *column.head):
        return "percent"
    known = column.values[~np.isnan(column.values)]
    if not column.is_whole:
        return "measure"
    return "year" if bool(((known >= _YEARS[0]) & (known <= _YEARS[1])).all()) else "count"


def _of_texts(texts: Sequence[str]) -> str:
    def mostly(test: Callable[[str], object]) -> bool:
        return sum(bool(test(text)) for text in texts) >= _MOSTLY * max(len(texts), 1)

    if mostly(lambda text: _TIME.fullmatch(text.strip())):
        return "time"
    if mostly(_is_of_the_calendar):
        return "calendar"
    if sum(len(text.split()) for text in texts) > _LONG * len(texts):
        return "prose"
    if mostly(_is_name):
        return "name"
    return "code" if mostly(lambda text: any(map(str.isdigit, text))) else "word"


def _is_of_the_calendar(text: str) -> bool:
    first = next(iter(text.casefold().split()), "").strip(".,")
    return first in _DAYS or first in MONTHS


def _is_name(text: str) -> bool:
    words = text.split()
    return len(words) in _NAMES and all(word[0].isupper() for word in words)
