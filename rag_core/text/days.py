"""Days of a calendar as texts write them: "6 May", "May 6th, 2025", "6. Mai", "06.05.2025", "2025-05-06"."""

from __future__ import annotations

import re
from typing import NamedTuple

_MONTHS = (
    "jan january januar janvier enero gennaio janeiro januari",
    "feb february februar février febrero febbraio fevereiro",
    "mar march märz mars marzo março maart", "apr april avril abril aprile", "may mai mayo maggio maio mei",
    "jun june juni juin junio giugno junho", "jul july juli juillet julio luglio julho",
    "aug august août agosto augustus", "sep sept september septembre septiembre settembre setembro",
    "oct october oktober octobre octubre ottobre outubro okt", "nov november novembre noviembre novembro",
    "dec december dezember décembre diciembre dicembre dezembro dez",
)  # fmt: skip
MONTHS = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
"""The number of a month by its names and their abbreviations, in lower case."""
_NAME = rf"(?P<month>{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b\.?"
_DAY = r"(?<![\w.,:])(?P<day>3[01]|[12]\d|0?[1-9])"
_YEAR = r"(?P<year>(?:1[5-9]|20)\d\d)"
_FORMS = tuple(
    re.compile(form, re.I)
    for form in (
        rf"{_DAY}(?:\.|st|nd|rd|th|er)? ?(?:of |de )?{_NAME}(?:,? (?:de )?{_YEAR}\b)?",
        rf"\b{_NAME} {_DAY}(?:st|nd|rd|th)?\b(?![.:,]\d)(?:,? {_YEAR}\b)?",
        rf"{_DAY}[./](?P<number>0?[1-9]|1[0-2])[./](?:{_YEAR}|(?P<short>\d\d))?(?!\d)",
        rf"\b{_YEAR}-(?P<number>0\d|1[0-2])-(?P<day>\d\d)(?!\d)",
    )
)
_TURN = 70  # years of two digits below it are of this century


class Day(NamedTuple):
    """A day of a month, year 0 where the text does not say it, and the characters that say it."""

    month: int
    day: int
    year: int
    start: int
    end: int

    @property
    def name(self) -> str:
        """One name for all its forms, without the year, which many leave out."""
        return f"{self.month}-{self.day}"

    def is_same(self, other: Day) -> bool:
        """Whether both may be one day: of one month, and of one year where both say theirs."""
        years = {self.year, other.year} - {0}
        return (self.month, self.day) == (other.month, other.day) and len(years) <= 1


def find_days(text: str) -> list[Day]:
    """The days that a text names, in order; figures with the day first. No character belongs to two."""
    found: list[Day] = []
    for form in _FORMS:
        for match in form.finditer(text):
            start, end = match.span()
            if not any(one.start < end and start < one.end for one in found):
                found.append(_day(match, start, end))
    return sorted(found, key=lambda one: one.start)


def full_year(year: int) -> int:
    """A year, with its century where only two digits are written."""
    return year + (2000 if year < _TURN else 1900) * (year < 100)


def _day(match: re.Match[str], start: int, end: int) -> Day:
    said = match.groupdict()
    written = said.get("year") or said.get("short")
    year = full_year(int(written)) if written else 0
    name = said.get("month")
    return Day(MONTHS[name.casefold()] if name else int(said["number"]), int(said["day"]), year, start, end)
