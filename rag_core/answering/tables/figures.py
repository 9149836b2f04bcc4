"""Figures as tables print them, and what they are worth."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NIL = re.compile(r"[$€£¥]?\s*[—–-]+\s*%?|nil|none|n/?a", re.IGNORECASE)
_FIGURE = re.compile(
    r"""(?P<negative>[(+−–-]{0,2})\s*(?P<currency>US\$|A\$|[$€£¥])?\s*(?P<minus>[(−–-]?)\s*
    (?P<number>\d[\d,]*(?:\.\d+)?|\.\d+)\s*
    (?P<unit>%|bps|basis\spoints|percentage\spoints|pts|x|m|bn|k|million|billion|thousand)?\s*\)?\s*%?
    (?:\s?[(\[]\w{1,2}[)\]])?\*?""",
    re.IGNORECASE | re.VERBOSE,
)
_YEAR = re.compile(r"(?:FY|CY)?\s?['’]?(?:19|20)\d\d[AEF]?", re.IGNORECASE)
_SCALE = re.compile(
    r"\b(?:in|of)\s(?:[\w.]*\s){0,2}?(thousand|million|billion)s?\b|[$€£¥]\s?(?:['’]?(000)s?|(m|k|bn)\b)"
    r"|\b(thousand|million|billion)s?\b|['’](000)s?\b",
    re.IGNORECASE,
)
_CURRENCY = re.compile(r"US\$|[$€£¥]|\b(?:USD|EUR|GBP|RMB|crowns|dollars|euros|pounds)\b")


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure's value as printed, without its table's scale; `percent` where a per cent sign stands with it."""

    value: float
    percent: bool = False
    decimals: int = 0


def figure(text: str) -> Figure | None:
    """What a cell is worth; None for one that is no figure. Brackets make it negative, a dash is nought."""
    text = text.strip()
    if _NIL.fullmatch(text):
        return Figure(0.0, "%" in text)
    found = _FIGURE.fullmatch(text)
    if not found:
        return None
    number = found["number"].replace(",", "")
    marks = (found["negative"] or "") + (found["minus"] or "")
    sign = -1.0 if ("(" in marks and ")" in text) or set(marks) & set("−–-") else 1.0
    return Figure(sign * float(number), "%" in text, len(number.partition(".")[2]))


def is_year(text: str) -> bool:
    """Whether a cell is a year, as the heads of columns are."""
    return _YEAR.fullmatch(text.strip()) is not None


def scale_of(text: str) -> str:
    """The scale that a caption or head names: "thousand", "million", "billion", or ""."""
    found = _SCALE.search(text)
    if not found:
        return ""
    word = next(group for group in found.groups() if group).casefold()
    return {"000": "thousand", "k": "thousand", "m": "million", "bn": "billion"}.get(word, word)


def currency_of(text: str) -> str:
    """The currency that a text names first, or ""."""
    found = _CURRENCY.search(text)
    return found[0] if found else ""
