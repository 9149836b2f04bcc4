"""Years and periods that a document is about: "fiscal year ended September 26, 2020", "first quarter 2023"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from rag_core.reading.front import Front

PeriodKind = Literal["year", "quarter", "date", "none"]

_YEAR = r"(?P<year>(?:19|20)\d\d)"
_MONTHS = """jan feb mar apr may jun jul aug sep oct nov dec mär mai okt dez fév avr aoû déc ene abr ago dic gen mag giu
lug set ott out янв фев мар апр мая май июн июл авг сен окт ноя дек"""
MONTH = rf"(?:{'|'.join(_MONTHS.split())})[^\W\d_]{{0,7}}\.?"
DATE = (
    rf"(?:{MONTH}\s*\d\s?\d?(?:st|nd|rd|th)?\s*,?\s+|\d{{1,2}}(?:st|nd|rd|th|\.)?\s*(?:de\s+)?{MONTH},?\s+(?:de\s+)?"
    r"|\d{1,2}[./]\d{1,2}[./])"
)
_FULL_DATE = (
    rf"(?P<words>{DATE}{_YEAR})(?!\d)|(?P<iso>(?<!\d)(?P<iso_year>(?:19|20)\d\d)"
    rf"(?:-[01]\d-[0-3]\d|[.年]\s?\d{{1,2}}[.月]\s?\d{{1,2}}日?))(?!\d)"
)
_ENDED = r"\s*(?:ended|ending|ends)\s*(?:on\s*)?:?\s*"
_ORDINALS = {"1": "first", "2": "second", "3": "third", "4": "fourth"}

_FISCAL_YEAR = re.compile(
    rf"(?P<name>(?:fiscal|financial|business|calendar)?\s*years?{_ENDED})(?P<date>{DATE}{_YEAR})(?!\d)", re.IGNORECASE
)
_QUARTER_ENDED = re.compile(
    rf"(?:quarterly\s+period|quarter|(?:three|six|nine)\s+months|(?:\w+[- ])?\w+\s+weeks){_ENDED}"
    rf"(?P<name>)(?P<date>{DATE}{_YEAR})(?!\d)",
    re.IGNORECASE,
)
_QUARTER = re.compile(
    r"(?P<ordinal>first|second|third|fourth|1st|2nd|3rd|4th)[\s-]+quarter(?:\s+and\s+(?:full|fiscal)[\s-]+year)?"
    r"(?:\s+of)?(?:\s+fiscal)?(?:\s+year)?\s*(?P<year>(?:19|20)\d\d|(?:fy|’|')\s?\d\d(?!\d))?",
    re.IGNORECASE,
)
_Q = re.compile(
    r"(?<!\w)(?:(?P<before>20\d\d)[\s_-]?)?[qQ](?P<ordinal>[1-4])(?:[\s_-]*(?:FY|fy|fiscal)?[\s_’']*(?P<year>20\d\d|\d\d))?(?!\w)"
)
_REPORTED = re.compile(rf"date\s+of\s+(?:report|earliest)[^\d]{{0,80}}?(?:{_FULL_DATE})", re.IGNORECASE)
_FISCAL = re.compile(rf"(?<!\w)(?:fiscal(?:\s+year)?|FY)\s?{_YEAR}(?!\d)", re.IGNORECASE)
_ANY_DATE = re.compile(_FULL_DATE, re.IGNORECASE)
_DATELINE = re.compile(rf"(?:date:?\s+|[^\W\d_][^\d,]{{0,40}},\s+)?(?:the |den )?(?:{_FULL_DATE})\.?", re.IGNORECASE)
_ANY_YEAR = re.compile(rf"(?<![\d.,$€£/-]){_YEAR}(?![\d,]|\.\d)")
_COPYRIGHT = re.compile(
    rf"(?:©|\(c\)|copyright)\D{{0,12}}(?:(?:19|20)\d\d\s*[-–,]\s*)*{_YEAR}(?!\s*[-–,]\s*(?:19|20)\d\d)", re.IGNORECASE
)
_REVISED = re.compile(
    rf"\b(?:updated|up to date|revised|revision|edition|published|effective|in force|dated|as of|made on)\b\D{{0,40}}?"
    rf"(?:{DATE})?{_YEAR}(?!\d)",
    re.IGNORECASE,
)
# What cameras call their pictures.
_NUMBERED = re.compile(r"\b(?:IMG|DSC[FN]?|PICT?|P)[_ -]?\d{4}\b", re.IGNORECASE)
# How far into the text dates are those of the document.
_HEAD_CHARS = 1500
# Lines at the top that are looked at, and the words of one that is no sentence.
_LINES, _TOP_LINES = 30, 6
_SHORT = 14
_TABLE_COLUMNS = 3
_HEADLINE_CHARS = 250


class Period(NamedTuple):
    """What a document is about in time: `words` as it says, "" for a bare year."""

    words: str = ""
    year: int | None = None


def find_period(kind: PeriodKind, title: str, names: Sequence[str], pages: Front) -> Period:
    """The period of a document of this kind, from its title, its names and its first pages.

    What is said of the period comes before dates that stand alone; the title and the names before the text.
    """
    named = " ".join(_NUMBERED.sub("", name).replace("_", " ") for name in names)
    front = pages.text
    loose = _loose(title, named, pages)
    if kind == "quarter":
        found = _quarter((title, front[:_HEADLINE_CHARS], named, front)) or _ended(
            _QUARTER_ENDED, front, "quarter ended "
        )
        return found or _ended(_FISCAL_YEAR, front) or loose
    if kind == "date":
        return _reported(front) or _dateline(pages) or loose
    if kind == "year":
        return _ended(_FISCAL_YEAR, front) or (loose if loose.year else Period("", _year_of(_FISCAL, front)))
    return Period()


def _quarter(texts: tuple[str, str, str, str]) -> Period | None:
    """A numbered quarter, as the first of these texts has it: title, headlines, names, all the text."""
    _, _, named, front = texts
    for text in texts:
        for pattern in (_QUARTER, _Q):
            match = next((m for m in pattern.finditer(text) if m["year"] or m.groupdict().get("before")), None)
            match = match or pattern.search(text)
            if match:
                said = match["year"] or match.groupdict().get("before") or ""
                year = int("20" + said[-2:] if len(said.strip()) < 4 or not said.isdigit() else said) if said else None
                year = year or _year_of(_QUARTER_ENDED, front) or _year_of(_ANY_YEAR, named)
                name = match["ordinal"].lower()
                return Period(f"{_ORDINALS.get(name[0], name)} quarter{f' {year}' if year else ''}", year)
    return None


def _ended(pattern: re.Pattern[str], text: str, before: str = "") -> Period | None:
    match = pattern.search(text)
    if match is None:
        return None
    date = match["date"]
    words = f"{before}{match['name'].lower()}{date.title() if date.isupper() else date}"
    return Period(" ".join(words.split()), int(match["year"]))


def _reported(text: str) -> Period | None:
    match = _REPORTED.search(text)
    return _dated(match) if match else None


def _dateline(pages: Front) -> Period | None:
    """The date that is a line of its own, perhaps behind a place: what is written that day may name others."""
    dates = (_DATELINE.fullmatch(line.text.strip()) for line in pages.first[:_LINES])
    return next((_dated(match) for match in dates if match), None)


def _dated(match: re.Match[str]) -> Period:
    if match["iso"]:
        return Period(match["iso"], int(match["iso_year"]))
    words = " ".join(match["words"].split())
    return Period(words.title() if words.isupper() else words, int(match["year"]))


def _loose(title: str, named: str, pages: Front) -> Period:
    """A year in the title or a name, with a date of it; else a date in a line of its own, or a year said to be its own.

    Dates and years within sentences and in the rows of a table are those of what is told; a row of two cells may be a
    name and what it says.
    """
    lines = [line for line in pages.first[:_LINES] if not line.row or len(line.cells) < _TABLE_COLUMNS]
    short = [line.text for line in lines if line.text.count(" ") < _SHORT]
    head = " \n".join(short)
    said = _year_of(_ANY_YEAR, title) or _year_of(_ANY_YEAR, named)
    dates = [_dated(match) for match in _ANY_DATE.finditer(head)]
    if found := next((date for date in dates if said in (None, date.year)), None):
        return found
    year = said or _year_of(_REVISED, pages.text[:_HEAD_CHARS]) or _year_of(_COPYRIGHT, pages.text)
    return Period("", year or _year_of(_ANY_YEAR, " ".join(short[:_TOP_LINES])))


def _year_of(pattern: re.Pattern[str], text: str) -> int | None:
    match = pattern.search(text)
    return int(match["year"]) if match else None
