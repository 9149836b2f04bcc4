"""Numbers as a spreadsheet shows them: the formats of ECMA-376 part 1, 18.8.31, as far as they are those of amounts.

Signs that stand for a place (fractions, powers of ten, the digits of a telephone number) are left out: the number is
then given plainly.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

from openpyxl.styles.numbers import is_date_format, is_timedelta_format
from openpyxl.utils.datetime import from_excel

_FORMAT_CHARS = 255  # as many as Excel takes
# Sections are set apart by semicolons outside of quotes.
_SECTIONS = re.compile(r"((?:\"[^\"]*\"|\\.|\[[^\]]*\]|[^;\"\\\[])*)(?:;|$)")
# A quoted word, an escaped sign, room for a sign, a sign that fills the cell, a currency, what else brackets say,
# places of digits, the number as it is, the place of text.
_TOKEN = re.compile(
    r"\"([^\"]*)\"|\\(.)|_.|\*.|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|([0#?](?:[0#?,.]*[0#?])?,*|\.[0#?]+)|(General)|@|(.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"\[([<>=]{1,2})\s*(-?\d+(?:\.\d+)?)\]")
_COMPARED: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, ">": operator.gt, "=": operator.eq, "<=": operator.le, ">=": operator.ge, "<>": operator.ne,
}  # fmt: skip
_ESCAPED = re.compile(r"\\.|_.|\*.")  # signs of a format that are no letters of a date
_NOT_READ = re.compile(r"[eE][+-]|/")
_QUOTED = re.compile(r"\"[^\"]*\"|\\.|\[[^\]]*\]")


def cell(value: float, form: str, epoch: datetime) -> str:
    """What a cell shows for a number: a day or a span of time where its format is one, else an amount."""
    bare = _ESCAPED.sub("", form)
    if is_date_format(bare):
        return moment(from_excel(value, epoch, timedelta=is_timedelta_format(bare)), has_seconds="s" in bare.lower())
    return shown(value, form)


def moment(value: Any, has_seconds: bool = False) -> str:
    """A day, a time of day, both, or a span of time."""
    if isinstance(value, datetime):
        precision = "seconds" if has_seconds else "minutes"
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", precision)
    if isinstance(value, timedelta):
        unit = 1 if has_seconds else 60
        seconds = round(abs(value.total_seconds()) / unit) * unit
        ending = f":{seconds % 60:02}" if has_seconds else ""
        return f"{'-' if value < timedelta() else ''}{seconds // 3600}:{seconds // 60 % 60:02}{ending}"
    return value.isoformat() if isinstance(value, date | time) else str(value)


def shown(value: float, form: str) -> str:
    """A number as a cell of this format shows it, a negative one always with its sign or in brackets."""
    section, is_signed = _section(value, form[:_FORMAT_CHARS])
    pieces, number = _pieces(value, section)
    text = " ".join("".join(pieces).split())
    if not text:
        return f"{value:.15g}"
    if value < 0 and number and not (is_signed and re.search(r"[-−(]", text)):
        return f"-{text}"
    return text


def _section(value: float, form: str) -> tuple[str, bool]:
    """The section of a format that is for a number, and whether it says itself that the number is negative."""
    sections = [found for found in _SECTIONS.findall(form) if found] or [""]
    for section in sections:
        condition = _CONDITION.search(section)
        compare = _COMPARED.get(condition[1]) if condition else None
        if condition and compare and compare(value, float(condition[2])):
            return section, False
    if _CONDITION.search(sections[0]):
        return sections[-1], False
    if value < 0 and len(sections) > 1:
        return sections[1], True
    return sections[2 if value == 0 and len(sections) > 2 else 0], False


def _pieces(value: float, section: str) -> tuple[list[str], str]:
    """The words and signs of a section with the number in its place, and the number."""
    if _NOT_READ.search(_QUOTED.sub("", section)):
        plain = f"{value:.15g}"
        return [plain], plain.lstrip("-") if value >= 0 else ""
    tokens = list(_TOKEN.finditer(section))
    places = [token[4] for token in tokens if token[4]]
    shares = sum(token[6] == "%" for token in tokens)
    number = _number(abs(value) * 100**shares, "".join(places)) if places else f"{abs(value):.15g}"
    pieces, is_placed = [], False
    for token in tokens:
        if token[4] or token[5]:
            pieces.append("" if is_placed else number)
            is_placed = True
        elif not (len(places) > 1 and is_placed and not _is_last(token, tokens)):
            pieces.append(next((part for part in (token[1], token[2], token[3], token[6]) if part), ""))
    return pieces, number if is_placed else ""


def _is_last(token: re.Match[str], tokens: list[re.Match[str]]) -> bool:
    """Whether no place of a digit stands behind a sign."""
    return not any(other[4] for other in tokens if other.start() > token.start())


def _number(value: float, places: str) -> str:
    """The digits of a number in the places of a format: how many behind the point, groups, and thousandths shown."""
    bare = places.rstrip(",")
    value /= 1000 ** (len(places) - len(bare))
    whole, _, part = bare.partition(".")
    if not value and "0" not in bare:
        return ""
    # As spreadsheets round: 0.345 is 35 %, and 1.005 in cents 1.01, whatever the nearest binary number is.
    with localcontext(rounding=ROUND_HALF_UP):
        text = f"{Decimal(f'{value:.15g}'):{',' if ',' in whole else ''}.{len(part)}f}"
    least = part.rstrip("#?")
    while len(part) > len(least) and text.endswith("0"):
        text, part = text[:-1], part[:-1]
    digits = text.removesuffix(".")
    return digits.zfill(whole.replace(",", "").count("0") + len(digits) - len(digits.partition(".")[0]))
