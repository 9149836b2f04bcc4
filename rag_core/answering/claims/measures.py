"""Figures in running text with what they measure, and whether two of them are the same amount.

What is known of units, scales and currencies stands in `measures.json`: each with its spellings and what it is worth
beside the others of its family, so that 1.5 hours are 90 minutes and 15,794,341 thousand are 15.8 billion.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from rag_core.text.numbers import normalise_number
from rag_core.text.wordlists import NUMBER_WORDS

_PATH = Path(__file__).with_name("measures.json")
_SHARE = "share"  # the family of per cent and the like
_CENT = "cent"
_ROUNDED = 0.01  # the furthest, as a share, that a figure with idle zeros may be from the one it rounds
_EPSILON = 1e-9
_LONGEST = 20  # characters before a figure where its currency is looked for
_RATE = re.compile(r"\b(?:per|an?|each|every)\s([a-z]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mention:
    """A figure in a text, its span there, and what stands with it.

    step: half of what its last digit that counts is worth. scale: what its scale is worth, 0 where it names none.
    unit: family and name of its unit, or none. worth: what the unit is worth. currency: its name, or none.
    """

    value: float
    step: float
    start: int
    end: int
    is_year: bool = False
    scale: float = 0.0
    unit: tuple[str, str] | None = None
    worth: float = 1.0
    currency: str | None = None

    @property
    def percent(self) -> bool:
        """Whether it is a share."""
        return self.unit is not None and self.unit[0] == _SHARE


@dataclass(frozen=True, slots=True)
class _Known:
    """The spellings of `measures.json`, in lower case."""

    units: dict[str, tuple[str, str, float]]
    scales: dict[str, float]
    currencies: dict[str, str]
    figure: re.Pattern[str]
    before: re.Pattern[str]
    behind: re.Pattern[str]
    unit: re.Pattern[str]
    currency: re.Pattern[str]


@lru_cache(maxsize=1)
def _known() -> _Known:
    data = json.loads(_PATH.read_text(encoding="utf-8"))
    units = {
        spelt: (family, name, float(entry["worth"]))
        for family, names in data["units"].items()
        for name, entry in names.items()
        for spelt in entry["spelt"]
    }
    scales = {spelt: float(entry["worth"]) for entry in data["scales"].values() for spelt in entry["spelt"]}
    currencies = {spelt: name for name, every in data["currencies"].items() for spelt in every}
    words = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
    core = re.compile(
        rf"(?<![\w.])(?<!\d,)(?P<figure>\d{{1,2}}:\d\d(?!\d)|\d{{1,3}}(?:[,\u00a0\u202f]\d{{3}})+(?:\.\d+)?(?!\d)"
        rf"|\d+(?:[.,]\d+)*|\b(?:{words})\b)",
        re.IGNORECASE,
    )
    before = re.compile(rf"{_any(currencies)}\s?$", re.IGNORECASE)
    behind = re.compile(
        rf"(?:s\b)?(?:-?\s{{0,3}}(?P<scale>{_any(scales)}))?"
        rf"(?:\)?-?\s{{0,3}}(?P<unit>{_any(units)}|{_any(currencies)}(?!\w)))?",
        re.IGNORECASE,
    )
    unit = re.compile(_any(spelt for spelt in units if len(spelt) > 2), re.IGNORECASE)
    currency = re.compile(_any(spelt for spelt in currencies if len(spelt) > 1 or not spelt.isalpha()), re.I)
    return _Known(units, scales, currencies, core, before, behind, unit, currency)


def _any(spellings: Iterable[str]) -> str:
    """A pattern of any of these, the longest first, that ends with a word where it ends in a letter."""
    found = (
        re.escape(one).replace(r"\ ", r"\s") + (r"(?!\w)" if one[-1].isalnum() else "")
        for one in sorted(spellings, key=len, reverse=True)
    )
    return "(?:" + "|".join((r"(?<![A-Za-z])" if one[0].isalpha() else "") + one for one in found) + ")"


def mentions(text: str, language: str = "en") -> list[Mention]:
    """The figures of a text in order, those written in words included; a figure's language says what its point is."""
    return list(_mentions(text, language))


def _mentions(text: str, language: str) -> Iterator[Mention]:
    known = _known()
    previous: Mention | None = None
    for found in known.figure.finditer(text):
        plain = found["figure"].casefold()
        start, end = found.span("figure")
        if ":" in plain:
            hours, _, minutes = plain.partition(":")
            yield Mention(int(hours) * 60 + int(minutes), 0.0, start, end, unit=("clock", "clock"))
            continue
        spelt = NUMBER_WORDS.get(plain) or normalise_number(plain, language)
        try:
            value = float(spelt)
        except ValueError:
            continue
        made = Mention(value, _step(spelt), start, end)
        made = _measured(made, text, known)
        bare = made.unit is None and made.currency is None and not made.scale
        if previous and previous.is_year and len(plain) == 2 and text[previous.end : start] in ("-", "–", "/"):
            value, made = previous.value // 100 * 100 + value, replace(made, value=previous.value // 100 * 100 + value)
            plain = f"{value:.0f}"  # 1348-50
        made = replace(made, is_year=bare and plain.isdigit() and 1000 <= value <= 2100 and len(plain) == 4)
        previous = made
        yield made


def _measured(made: Mention, text: str, known: _Known) -> Mention:
    """With the scale, unit and currency that stand with it."""
    behind = known.behind.match(text, made.end)
    before = known.before.search(text[max(made.start - _LONGEST, 0) : made.start])
    scale = (behind["scale"] or "").casefold() if behind else ""
    unit = " ".join((behind["unit"] or "").casefold().split()) if behind else ""
    currency = known.currencies.get(before[0].strip().casefold()) if before else None
    sign = currency is not None
    currency = currency or known.currencies.get(unit)
    if scale == "m" and not currency:  # "3 m" is a length unless it is money
        scale, unit = "", unit or "m"
    made = replace(made, scale=known.scales.get(scale, 0.0), currency=currency)
    if unit in known.units and not (sign and len(unit) == 1 and unit.isalpha()):
        family, name, worth = known.units[unit]
        made = replace(made, unit=(family, name), worth=worth)
    return made


def _step(spelt: str) -> float:
    """Half of what the last digit that counts is worth: 0.05 for 15.8, 50 for 1200."""
    whole, _, decimals = spelt.partition(".")
    if decimals:
        return float(0.5 * 10.0 ** -len(decimals))
    idle = len(whole) - len(whole.rstrip("0")) if whole.strip("0") else 0
    return float(0.5 * 10.0**idle)


@lru_cache(maxsize=4096)
def units_of(text: str) -> frozenset[tuple[str, str]]:
    """The units that a text names anywhere, by family and name."""
    known = _known()
    return frozenset(known.units[" ".join(one.casefold().split())][:2] for one in known.unit.findall(text))


def rates_of(text: str) -> set[tuple[str, str]]:
    """The units that a text counts by: "per day", "an hour"; those within a unit's own name are none."""
    known = _known()
    bare = known.unit.sub(lambda one: one[0] if one[0].isalpha() else "", text)
    return {unit for one in _RATE.findall(bare) if (unit := known.units.get(one.casefold(), (None,))[:2]) and unit[0]}


@lru_cache(maxsize=4096)
def currencies_of(text: str) -> frozenset[str]:
    """The currencies that a text names anywhere."""
    known = _known()
    found = frozenset(known.currencies[" ".join(one.casefold().split())] for one in known.currency.findall(text))
    return found - {_CENT}  # "per cent"


def same_currency(one: str, other: str) -> bool:
    """Whether two currencies can be the same: "dollar" may be any dollar, a cent is one of any."""
    return _CENT in (one, other) or one.endswith(other) or other.endswith(one)


def scales_of(text: str) -> set[float]:
    """What the scales are worth that a text names in full anywhere."""
    return {worth for spelt, worth in _known().scales.items() if len(spelt) > 3 and spelt in text.casefold()}


def same_amount(said: Mention, held: Mention) -> bool:
    """Whether a figure is another one, or that one as a person would round it; units of one family are converted."""
    if said.is_year or held.is_year:
        return said.value == held.value
    if said.unit and held.unit:
        if said.unit[0] != held.unit[0]:
            return False
        factor = 1.0 if said.unit == held.unit else said.worth / held.worth
    else:
        factor = 1.0
    amount = said.value * (said.scale or 1.0) * factor
    exact = held.value * (held.scale or 1.0)
    if said.unit and held.unit and said.unit != held.unit and said.unit[0] == _SHARE:
        return False
    whole_step = said.step * (said.scale or 1.0) * factor
    furthest = max(whole_step, 0.0) if said.step < 0.5 else min(whole_step, abs(exact) * _ROUNDED)
    if said.step == 0.5 and not said.scale:  # a whole number without a scale is meant as it is
        furthest = 0.0 if factor == 1.0 else 0.005 * abs(exact)
    return abs(abs(amount) - abs(exact)) <= furthest * (1 + _EPSILON) + _EPSILON
