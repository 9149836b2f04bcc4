"""A table's cell said as a sentence: "Greater China, Operating income, 2020: $15,261 million"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.answering.tables.figures import currency_of
from rag_core.answering.tables.tables import Cell

_FOOTNOTE = re.compile(r"\s*(?:\((?:\d{1,2}|[a-z])\)|[*†‡])+$")
_MOST_WORDS = 16  # before the figure, which is what was asked


def said(cell: Cell) -> str:
    """The cell with what names it, its own year first; "" where nothing does.

    Where that is long its group is left out, then far heads; what sums up a group is named without it.
    """
    name = _bare(cell.name)
    group = _bare(cell.group.text) if cell.group is not None else ""
    head, nearest = _bare(cell.head), _bare(cell.heads[0].text if cell.heads else "")
    group = "" if group == name or (cell.is_sum and _names_more(name)) else group
    whole = [name, head, group] if cell.has_own_year else [group, name, head]
    for names in (whole, [name, head], [name, nearest]):
        named = ", ".join(filter(None, names))
        if len(named.split()) <= _MOST_WORDS:
            break
    return f"{named}: {value(cell)}" if named else ""


def value(cell: Cell) -> str:
    """The figure as printed, with the scale and currency of its table."""
    text = re.sub(r"(?<=[$€£¥(]) | (?=[%)])", "", cell.part.text)
    if not any(map(str.isdigit, text)) or re.search(r"[^\W\d_]{2}", text):
        return text
    return _in_unit(text, cell.scale, "" if currency_of(text) else cell.currency)


@dataclass(frozen=True, slots=True)
class Amount:
    """A figure as printed, and what it is in. unit: "million", "percentage points" or what is counted, or ""."""

    text: str
    value: float
    decimals: int
    unit: str = ""
    currency: str = ""


def amount_of(cell: Cell) -> Amount:
    """A cell's figure, in the scale and currency of its table."""
    unit = "percentage points" if cell.figure.percent else cell.scale
    return Amount(printed(cell), cell.figure.value, cell.figure.decimals, unit, cell.currency)


def printed(cell: Cell) -> str:
    """The figure alone as it is printed."""
    return " ".join(cell.part.text.split()).replace("$ ", "$")


def in_unit_of(number: str, amounts: Sequence[Amount]) -> str:
    """A number computed from amounts of one kind, in what these are in."""
    return _in_unit(number, amounts[0].unit, next((one.currency for one in amounts if one.currency), ""))


def _in_unit(number: str, unit: str, currency: str) -> str:
    """A currency's sign stands before the digits, its name behind the scale."""
    scaled = f"{number} {unit}".rstrip()
    if not currency or currency[-1].isalpha():
        return f"{scaled} {currency}".rstrip()
    unsigned = scaled.lstrip("+-−–")
    return f"{scaled.removesuffix(unsigned)}{currency}{unsigned}"


def _names_more(name: str) -> bool:
    """Whether a label says of what it is the total."""
    return name.casefold() not in ("total", "totals")


def _bare(text: str) -> str:
    return _FOOTNOTE.sub("", text.strip(" :.…")).strip(" :.")
