"""How results of arithmetic over cells are said: the figure in its unit, then its derivation and what it is of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from rag_core.answering.claims.measures import currencies_of, same_currency
from rag_core.answering.tables.comparatives import COMPARATIVE, LOW, SUPERLATIVE, asks_for_low
from rag_core.answering.tables.format_amount import Amount, amount_of, in_unit_of, printed, value
from rag_core.answering.tables.matching_cells import said_by, years_of
from rag_core.answering.tables.tables import Cell
from rag_core.text.terms import terms

Operation = Literal[
    "extreme", "percentage change", "share", "average", "sum", "ratio", "change", "difference", "larger"
]

_BEHIND = 2  # that an extreme of several documents is set beside


def say_result(wanted: Operation, question: str, cells: Sequence[Cell]) -> str:
    """What an operation over cells gives, in words; "" where there is no result, as of a division by nothing."""
    return _larger(question, cells) if wanted == "larger" else _SAYING[wanted](cells)


def _change(cells: Sequence[Cell]) -> str:
    before, after = cells[0].figure.value, cells[-1].figure.value
    difference = after - before
    places = max(cell.figure.decimals for cell in cells)
    share = f" ({_signed(100 * difference / abs(before), 1)} %)" if before and not cells[0].figure.percent else ""
    derivation = f"{printed(cells[-1])} − {printed(cells[0])} = {_number(difference, places)}"
    return f"{_of_kind(_signed(difference, places), cells)}{share}: {derivation} ({_named(cells)})."


def _percentage_change(cells: Sequence[Cell]) -> str:
    before, after = cells[0].figure.value, cells[-1].figure.value
    if not before:
        return ""
    percent = 100 * (after - before) / abs(before)
    derivation = f"({printed(cells[-1])} − {printed(cells[0])}) ÷ {printed(cells[0])} = {_signed(percent, 2)} %"
    return f"{_signed(percent, 1)} %: {derivation} ({_named(cells)})."


def _difference(cells: Sequence[Cell]) -> str:
    places = max(cell.figure.decimals for cell in cells)
    difference = cells[0].figure.value - cells[-1].figure.value
    derivation = f"{printed(cells[0])} − {printed(cells[-1])} = {_number(difference, places)}"
    return f"{_of_kind(_number(abs(difference), places), cells)}: {derivation} ({_named(cells)})."


def _sum(cells: Sequence[Cell]) -> str:
    places = max(cell.figure.decimals for cell in cells)
    total = _number(sum(cell.figure.value for cell in cells), places)
    return f"{_of_kind(total, cells)}: {' + '.join(map(printed, cells))} = {total} ({_named(cells)})."


def _average(cells: Sequence[Cell]) -> str:
    places = max(cell.figure.decimals for cell in cells)
    mean = sum(cell.figure.value for cell in cells) / len(cells)
    shown = _number(mean, max(places, 0 if abs(mean) >= 1000 and mean == round(mean) else 2))
    derivation = f"({' + '.join(map(printed, cells))}) ÷ {len(cells)}"
    return f"{_of_kind(shown, cells)} on average: {derivation} ({_named(cells)})."


def _ratio(cells: Sequence[Cell]) -> str:
    if not cells[-1].figure.value:
        return ""
    ratio = cells[0].figure.value / cells[-1].figure.value
    return f"{_number(ratio, 2)}: {printed(cells[0])} ÷ {printed(cells[-1])} ({_named(cells)})."


def _share(cells: Sequence[Cell]) -> str:
    part, whole = sorted(cells[:2], key=lambda cell: abs(cell.figure.value))
    if not whole.figure.value:
        return ""
    percent = 100 * part.figure.value / whole.figure.value
    derivation = f"{printed(part)} ÷ {printed(whole)} = {_number(percent, 2)} %"
    return f"{_number(percent, 1)} %: {derivation} ({_named((part, whole))})."


def set_apart(question: str, names: Sequence[str], amounts: Sequence[Amount]) -> str:
    """Which of two things has the figure asked for, and by how much; "" where they are equal or not alike."""
    one, other = amounts = _in_one_scale(amounts)
    if not _are_alike(amounts) or one.value == other.value:
        return ""
    first, second = _in_order(question, amounts)
    name, other_name = names if first is one else reversed(names)
    return f"{name}: {_against(first, second, other_name)}"


def verdict(question: str, names: Sequence[str], cells: Sequence[Cell]) -> str:
    """Which of two documents has more: "Apple had more: $274,515 million (2020) against Costco's $166,761 million."; ""
    where they are equal or not alike."""
    amounts = _in_one_scale([amount_of(cell) for cell in cells])
    if not _are_alike(amounts) or amounts[0].value == amounts[1].value:
        return ""
    places = sorted((0, 1), key=lambda place: amounts[place].value, reverse=not asks_for_low(question))
    asked = COMPARATIVE.search(question)
    how = asked[0].casefold() if asked else "more"
    how = how if how in ("more", "less", "fewer") else f"the {how}"
    years = [min(found) if len(found := years_of(said_by(cell))) == 1 else "" for cell in cells]
    texts = [f"{value(cell)} ({year})" if year else value(cell) for cell, year in zip(cells, years, strict=True)]
    first, second = (texts[place] for place in places)
    if years[0] == years[1]:  # said once
        second = value(cells[places[1]])
    return f"{names[places[0]]} had {how}: {first} against {names[places[1]]}'s {second}."


def extreme(question: str, names: Sequence[str], amounts: Sequence[Amount]) -> str:
    """Which of several documents has the most or the least: "Invoice 7: EUR 1,672, the highest of 3; then Invoice 6
    (EUR 355.30)."; "" where two are first, or they are not alike."""
    amounts = _in_one_scale(amounts)
    asked = SUPERLATIVE.search(question)
    if not _are_alike(amounts) or asked is None:
        return ""
    order = sorted(range(len(amounts)), key=lambda place: amounts[place].value, reverse=not LOW.search(question))
    first, *others = (amounts[place] for place in order)
    if first.value == others[0].value:
        return ""
    behind = (f"{names[place]} ({_in_currency(amounts[place])})" for place in order[1 : 1 + _BEHIND])
    which = f"the {asked[0].casefold()} of {len(amounts)}"
    return f"{names[order[0]]}: {_in_currency(first)}, {which}; then {', '.join(behind)}."


def total(amounts: Sequence[Amount]) -> str:
    """What amounts are in all: "EUR 520.30 in all: 355.30 + 165.00."; "" where they are not alike."""
    amounts = _in_one_scale(amounts)
    if not _are_alike(amounts):
        return ""
    number = _number(sum(amount.value for amount in amounts), max(amount.decimals for amount in amounts))
    return f"{in_unit_of(number, amounts)} in all: {' + '.join(amount.text for amount in amounts)}."


def _in_currency(amount: Amount) -> str:
    return in_unit_of(amount.text, [amount]) if amount.currency not in amount.text else amount.text


def _are_alike(amounts: Sequence[Amount]) -> bool:
    """Whether amounts are of one kind."""
    currencies = [name for amount in amounts for name in currencies_of(amount.currency)]
    units = {tuple(terms(amount.unit)) for amount in amounts}
    return len(units) == 1 and (
        len(currencies) < len(amounts) or all(same_currency(currencies[0], other) for other in currencies[1:])
    )


def _in_one_scale(amounts: Sequence[Amount]) -> Sequence[Amount]:
    """Amounts in the scale of the first, each told with its own, where they are in several."""
    units = {amount.unit for amount in amounts}
    if len(units) == 1 or not units <= _SCALES.keys():
        return amounts
    first = amounts[0].unit
    return [
        replace(one, text=f"{one.text} {one.unit}", value=one.value * _SCALES[one.unit] / _SCALES[first], unit=first)
        for one in amounts
    ]


def _larger(question: str, cells: Sequence[Cell]) -> str:
    amounts = [amount_of(cell) for cell in cells[:2]]
    if amounts[0].value == amounts[1].value:
        return ""
    first, second = _in_order(question, amounts)
    one, other = _apart(*(cells if first is amounts[0] else reversed(cells)))
    return f"{one} is {'lower' if asks_for_low(question) else 'larger'}: {_against(first, second, other)}"


def _in_order(question: str, amounts: Sequence[Amount]) -> list[Amount]:
    """The one first that a question asks for."""
    return sorted(amounts, key=lambda amount: amount.value, reverse=not asks_for_low(question))


def _against(first: Amount, second: Amount, other: str) -> str:
    difference = first.value - second.value
    by = in_unit_of(_number(abs(difference), max(first.decimals, second.decimals)), (first, second))
    return f"{first.text} against {second.text} ({other}), {by} {'more' if difference > 0 else 'less'}."


_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9}
_SAYING: dict[Operation, Callable[[Sequence[Cell]], str]] = {
    "percentage change": _percentage_change, "share": _share, "average": _average, "sum": _sum, "ratio": _ratio,
    "change": _change, "difference": _difference,
}  # fmt: skip


def _apart(one: Cell, other: Cell) -> tuple[str, str]:
    """What tells two cells apart: their rows or their columns."""
    return (one.name, other.name) if one.name != other.name else (one.head, other.head)


def _named(cells: Sequence[Cell]) -> str:
    """The rows and columns of some cells, what they share said once."""
    names = list(dict.fromkeys(cell.name for cell in cells))
    heads = list(dict.fromkeys(cell.head for cell in cells if cell.head))
    return "; ".join(part for part in (", ".join(names), ", ".join(heads)) if part)


def _of_kind(number: str, cells: Sequence[Cell]) -> str:
    """A number computed from cells, in what they are in."""
    return in_unit_of(number, [amount_of(cell) for cell in cells])


def _number(value: float, places: int) -> str:
    return f"{value:,.{places}f}".replace("-", "−")


def _signed(value: float, places: int) -> str:
    return f"+{_number(value, places)}" if value > 0 else _number(value, places)
