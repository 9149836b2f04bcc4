"""What the cells of a column are worth: numbers and dates, as a whole column writes them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import ColumnType
from rag_core.tables.clock import times_in
from rag_core.text.days import MONTHS, full_year

Numbers = NDArray[np.float64]
Kind = Literal["number", "date", "text"]
_MOSTLY = 0.8  # of a column's cells are of its kind
_LAST_MONTH = 12
_SAMPLE = 200  # cells of which half must be numbers for all to be looked at
_NUMBER = re.compile(
    r"(?P<negative>[(+−–-]?)\s*(?P<before>[A-Z]{0,3}[$€£¥]|[A-Z]{3}\s)?\s*(?P<minus>[−–-]?)"
    r"(?P<digits>\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?|\.\d+)\s*"
    r"(?P<behind>%|[€$£¥]|[^\W\d_]{1,12}[23²³]?(?:/[^\W\d_]{1,4}[23²³]?)?)?\)?"
)
_GAPS = re.compile(r"[\s'’]")
_POWER = re.compile(r"[+-]?\d+(?:\.\d+)?[eE][+-]?\d{1,3}")
_NOTHING = frozenset(("", "nan", "na", "n/a", "n.a.", "n.a", "#n/a", "null", "none", "nil", "unknown", "?"))
_YES = frozenset(("yes", "y", "true", "1", "x", "✓", "✔", "☑", "on", "ja", "wahr", "oui", "vrai", "si", "sí", "sim"))
_NO = frozenset(("no", "n", "false", "0", "✗", "✘", "☐", "off", "nein", "falsch", "non", "faux", "não", "nee", "nej"))
CURRENCIES = "USD|EUR|GBP|CHF|SEK|NOK|DKK|PLN|CZK|HUF|JPY|CNY|RMB|INR|AUD|CAD|NZD"
"""Codes of ISO 4217, RMB besides."""
_MONEY = re.compile(rf"[$€£¥]|(?<![^\W_])(?:{CURRENCIES})(?![^\W_])")
_DECIMAL_COMMA = re.compile(r"(?:^|\D)\d{1,3}(?:\.\d{3})*,\d{1,2}(?!\d)|\d{4,},\d|,\d{4,}")
_ISO = re.compile(r"((?:1[5-9]|20)\d\d)[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ][\d:.]+Z?)?")
_NUMERIC = re.compile(r"(\d{1,2})[-/. ]{1,2}(\d{1,2})[-/. ]{1,2}((?:1[5-9]|20)\d\d|\d\d)(?:[T ][\d:.]+)?")
_WORDED = re.compile(r"(?:[^\W\d_]+,? )?(?:(\d{1,2})\.?(?:st|nd|rd|th)? )?(?:of )?([^\W\d_]{3,})\.?,? ?"
                     r"(?:(\d{1,2})(?:st|nd|rd|th)?,? )?((?:1[5-9]|20)\d\d)?")  # fmt: skip
_MONTH = re.compile(
    r"(?P<before>(?:1[5-9]|20)\d\d)(?:[-/.](?P<number>0?[1-9]|1\d))?"
    r"|(?P<name>[^\W\d_]{3,})\.?(?: (?P<year>(?:1[5-9]|20)\d\d))?"
)


def number_in(text: str, *, decimal_comma: bool = False) -> tuple[float, str] | None:
    """A number with what stands with it as its unit; None for any other text. Brackets make it negative."""
    if _POWER.fullmatch(text.strip()):
        return _finite(float(text), "")
    found = _NUMBER.fullmatch(text.strip())
    if not found:
        return None
    digits = _GAPS.sub("", found["digits"].rstrip(".,' "))
    thousands, mark = (".", ",") if decimal_comma else (",", ".")
    digits = digits.replace(thousands, "").replace(mark, ".")
    try:
        value = float(digits)
    except ValueError:  # 1.2.3 is none
        return None
    is_negative = found["minus"] or (found["negative"] and found["negative"] != "+")
    if found["negative"] == "(" and not text.rstrip().endswith(")"):
        return None
    return _finite(-value if is_negative else value, (found["before"] or found["behind"] or "").strip())


def _finite(value: float, unit: str) -> tuple[float, str] | None:
    return (value, unit) if math.isfinite(value) else None


def says_nothing(text: str) -> bool:
    """Whether a cell stands for a value that is missing: it is empty, a stroke, "NaN", "n/a"."""
    return text.strip(" -–—").casefold() in _NOTHING


def yes_or_no(text: str) -> bool | None:
    """Whether a cell says yes or no; None where it says neither."""
    word = text.strip(" .").casefold()
    return True if word in _YES else False if word in _NO else None


def names_currency(text: str) -> bool:
    """Whether a head or a unit says of what money figures are: "Price (CHF)", "€"."""
    return _MONEY.search(text) is not None


def writes_decimal_comma(texts: Sequence[str]) -> bool:
    """Whether the numbers of a column have commas before their decimals: some can be read in no other way."""
    return any(map(_DECIMAL_COMMA.search, texts)) and not any(re.search(r"\d,\d{3}\.\d|\d\.\d{1,2}$", t) for t in texts)


def date_in(text: str, *, month_first: bool = False) -> date | None:
    """The day that a text is, or None: in figures with the year first or last, or with its month as a word."""
    text = text.strip()
    if found := _ISO.fullmatch(text):
        return _day(int(found[1]), int(found[2]), int(found[3]))
    if found := _NUMERIC.fullmatch(text):
        first, second, year = (int(part) for part in found.groups())
        day, month = (second, first) if month_first else (first, second)
        return _day(full_year(year), month, day)
    found = _WORDED.fullmatch(text)
    if found and found[2].casefold() in MONTHS and found[4] and (found[1] or found[3]):
        return _day(int(found[4]), MONTHS[found[2].casefold()], int(found[1] or found[3]))
    return None


def moment_in(text: str) -> tuple[int, int, int] | None:
    """The year, month and day that a text is, 0 for what it does not say: "2024-03", "Mar 2024", "March", "2024".

    None for any other text."""
    text = text.strip()
    if day := date_in(text):
        return day.year, day.month, day.day
    if found := _MONTH.fullmatch(text):
        year, month = found["year"] or found["before"], MONTHS.get((found["name"] or "").casefold())
        number = month or int(found["number"] or 0)
        if (month or not found["name"]) and number <= _LAST_MONTH and (year or number):
            return int(year or 0), number, 0
    return None


def writes_month_first(texts: Sequence[str]) -> bool:
    """Whether dates in figures begin with the month, as some of a column can be read in no other way."""
    found = [match for match in map(_NUMERIC.fullmatch, texts) if match]
    return any(int(match[2]) > 12 for match in found) and not any(int(match[1]) > 12 for match in found)


def numbers_in(texts: Sequence[str]) -> tuple[Numbers, str]:
    """Each text of a column as a number, NaN for what is none, and the unit that most stand with."""
    comma = writes_decimal_comma(texts)
    values, units = np.full(len(texts), np.nan), Counter[str]()
    for place, text in enumerate(texts):
        if found := number_in(text, decimal_comma=comma):
            values[place] = found[0]
            units.update([found[1]] if found[1] else ())
    return values, units.most_common(1)[0][0] if units else ""


def dates_in(texts: Sequence[str]) -> Numbers:
    """Each text of a column as days since 1970, NaN for what is no date. A month is its first day, where the column has
    months and no seasons, "2010-11" behind "2009-10"."""
    first = writes_month_first(texts)
    found = [date_in(text, month_first=first) for text in texts]
    if not any(found) and not _are_seasons(texts):
        found = [_month_in(text) for text in texts]
    return np.array([(day - date(1970, 1, 1)).days if day else np.nan for day in found], dtype=np.float64)


def _month_in(text: str) -> date | None:
    year, month, day = moment_in(text) or (0, 0, 0)
    return date(year, month, 1) if year and month and not day else None


def _are_seasons(texts: Sequence[str]) -> bool:
    """Whether most cells of two numbers are a year and the one behind it."""
    found = [match for match in map(_MONTH.fullmatch, texts) if match and match["number"]]
    return sum((int(one["before"]) + 1) % 100 == int(one["number"]) for one in found) * 2 > len(found)


def as_said(texts: Sequence[str], by_hand: ColumnType) -> tuple[Kind, Numbers, str]:
    """What each distinct cell of a column that a person says the kind of is worth, float64 (cells,), and its unit."""
    if by_hand == "number":
        return "number", *numbers_in(texts)
    if by_hand in ("date", "time"):
        return "date", (dates_in if by_hand == "date" else times_in)(texts), ""
    return "text", np.full(len(texts), np.nan), ""


def typed(texts: Sequence[str], counts: Sequence[int]) -> tuple[Kind, Numbers, str]:
    """What most cells of a column are, and what each distinct one, which stands in so many rows, is worth."""
    weights = np.array([count * (not says_nothing(text)) for text, count in zip(texts, counts, strict=True)])
    sample = np.flatnonzero(weights)[:_SAMPLE]
    some = [texts[place] for place in sample]
    for worth in (dates_in, times_in):
        if np.mean(~np.isnan(worth(some)) if some else 0.0) >= _MOSTLY / 2:
            values = worth(texts)
            if weights @ ~np.isnan(values) >= _MOSTLY * weights.sum():
                return "date", values, ""
    if np.mean(~np.isnan(numbers_in(some)[0]) if some else 0.0) >= _MOSTLY / 2:
        values, unit = numbers_in(texts)
        if weights @ ~np.isnan(values) >= _MOSTLY * weights.sum():
            return "number", values, unit
    return "text", np.full(len(texts), np.nan), ""


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
