"""Figures as tables print them, and what they are worth."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_core.answering.claims.measures import mentions
from rag_core.tables.values import CURRENCIES

_NIL = re.compile(r"[$€£¥]?\s*[—–-]+\s*%?|nil|none|n/?a", re.IGNORECASE)
_FIGURE = re.compile(
    rf"(?P<negative>[(+−–-]{{0,2}})\s*(?P<currency>US\$|A\$|[$€£¥]|(?-i:{CURRENCIES})(?=\s?[−–-]?\d))?"
    r"""\s*(?P<minus>[(−–-]?)\s*
    (?P<number>(?!10[¹²³⁰⁴-⁹])\d[\d,]*(?:\.\d+)?|\.\d+)\s*
    (?P<unit>%|bps|basis\spoints|percentage\spoints|pts|x|m|bn|k|p|million|billion|thousand)?\s*\)?\s*%?
    (?:\s?[(\[]\w{1,2}[)\]])?[*¹²³⁰⁴-⁹]*(?P<measure>\s(?-i:(?![A-Z][a-z]{2}$|[ap]m$)
    [^\W\d_°]{1,3}[23²³]?|°[CF]|[^\W\d_]{1,4}[23²³]?[/(][\w²³]{1,3}\)?|(?:per(?!\scent)|an?)\s\w+|each))?""",
    re.IGNORECASE | re.VERBOSE,
)
_YEAR = re.compile(r"(?:FY|CY)?\s?['’]?(?:19|20)\d\d[AEF]?", re.IGNORECASE)
_SCALE = re.compile(
    r"\b(?:in|of)\s(?:[\w.]*\s){0,2}?(thousand|million|billion)s?\b|[$€£¥]\s?(?:['’]?(000)s?|(m|k|bn)\b)"
    r"|\b(thousand|million|billion)s?\b|['’](000)s?\b|\((000)['’]?s\)",
    re.IGNORECASE,
)
_OF = r"(?:(?:U\.?S\.?|NT|HK|[A-Z][a-z]+(?:an|ish))\s)?"  # whose: "Australian dollars", "Danish crowns"
_SIGNS, _WORDS = r"(?:(?<![\w.])[A-Z]{1,2}\$|[$€£¥])", rf"\b(?:{CURRENCIES}|{_OF}(?i:crowns|dollars|euros|pounds))\b"
_ANY = rf"(?:{_SIGNS}|{_WORDS})"
_CURRENCY = re.compile(_ANY)
_OF_A_FIGURE = re.compile(rf"{_SIGNS}\s?(?!(?:19|20)\d\d\b|000)\.?\d|\d(?:\s(?:thousand|million|billion))?\s{_WORDS}")
_STATED = re.compile(
    rf"""{_ANY}\sin\s(?i:thousand|million|billion)s
    |(?:(?i:\b(?:are|is|amounts|prices|fares|figures|given|stated|expressed|reported)\s(?:all\s)?in
    |\bin\s(?:thousand|million|billion)s\sof)\s|\((?i:in\s)?){_ANY}(?!\s?\d)""",
    re.VERBOSE,
)
_NO_MONEY = re.compile(
    r"""%|\b(?:shares|number|count|headcount|percent\w*|per\scent|per\s[\d,]+|rates?|ratios?|margins?|multiples?)\b
    |^(?:[\w-]+\s)?(?:units|employees|people|persons|customers|members|passengers
        |stores|warehouses|days|hours)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_BEFORE_UNIT = re.compile(r"[,(]|\bin\b")  # in a head or label that ends with what its figures are in


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure's value as printed, without its table's scale; `percent` where a per cent sign stands with it."""

    value: float
    percent: bool = False
    decimals: int = 0


def figure(text: str) -> Figure | None:
    """What a cell is worth; None for one that is no figure. Brackets make it negative, a dash is nought.

    Short words behind it are what it measures ("3,500 kg", "58 dB(A)"); longer ones may be a head's ("12 months").
    """
    text = text.strip()
    if _NIL.fullmatch(text):
        return Figure(0.0, "%" in text)
    found = _FIGURE.fullmatch(text)
    if not found or (found["measure"] and is_year(found["number"])):
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
    """The currency that a text names first, as a sign, a code or a word in lower case, or ""."""
    found = _CURRENCY.search(text)
    return re.sub(r"\w{4,}$", lambda word: word[0].lower(), found[0]) if found else ""


def currency_stated(text: str, *, in_prose: bool) -> str:
    """The currency that a head, caption or, in so many words, a sentence says a table's figures are in, or ""."""
    if found := _STATED.search(text):
        return currency_of(found[0])
    return "" if in_prose or _OF_A_FIGURE.search(text) else currency_of(text)


def is_no_money(text: str) -> bool:
    """Whether a head or label says that its figures count or measure something: "Shares", "Distance, km"."""
    unit = mentions(f"1 {_BEFORE_UNIT.split(text)[-1].strip(' )')}")[0].unit
    return unit is not None or bool(_NO_MONEY.search(text))
