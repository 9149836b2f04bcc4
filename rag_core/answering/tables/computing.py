"""Arithmetic over the figures that a question names: which of them, what is computed, and how that is said."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from rag_core.answering.claims.measures import currencies_of, same_currency
from rag_core.answering.cues import answer_type
from rag_core.answering.matching import Floats, counted
from rag_core.answering.tables.format_amount import Amount, amount_of, in_unit_of, printed, value
from rag_core.answering.tables.matching_cells import CellQuery, said_by, years_of
from rag_core.answering.tables.tables import Cell
from rag_core.text.terms import terms

Operation = Literal[
    "extreme", "percentage change", "share", "average", "sum", "ratio", "change", "difference", "larger"
]

_CHANGE = r"\b(?:chang|increas|decreas|gr[eo]w|r[io]se|f[ae]ll|drop|declin|(?:go|goes|gone|went)\s(?:up|down)\b)"
_PERCENT = r"(?:\bper\s?cent|%)"
_DOWN, _UP = "small|low|few|cheap|short", "larg|high|great|bigg|dear|long"
_LESS = rf"(?:{_DOWN})(?:er|est)|less|least"
_MORE = rf"(?:{_UP})(?:er|est)|heav(?:ier|iest)|more|most"
_COMPARED = rf"\b(?:(?:{_DOWN}|{_UP})er|heavier|less|more)\b"
_COMPARATIVE = re.compile(rf"\b(?:more|less|fewer|(?:{_DOWN}|{_UP})er)\b", re.IGNORECASE)
# "Less than" before a number is a limit and compares nothing.
_PATTERNS: dict[Operation, str] = {
    "percentage change": rf"{_PERCENT}.*{_CHANGE} | {_CHANGE}.*{_PERCENT} | \bgrowth\srate",
    "share": rf"(?:{_PERCENT}|\bproportion|(?<!\bper\s)\bshare\b|\bfraction).*\b(?:of|over|constitut)",
    "average": r"\b(?:average|mean)\b",
    "ratio": r"\bratio\b | \bhow\smany\stimes\b | \btimes\s(?:as|larger|more)\b",
    "difference": r"\bdiffer(?:ence)?\b | \bhow\s(?:much|many)\s(?:more\b|less\b|\w+er\b.*\bthan\b)",
    "change": _CHANGE,
    "larger": rf"""\b(?:compar(?:e|ed|es|ing|isons?)|versus|vs)\b
        | {_COMPARED}.*\b(?:or|than)\b(?!\s\d)
        | \bor\b.*\bwhich\b.*{_COMPARED}""",
    "sum": r"\b(?:sum|plus|combined|together|altogether)\b | \btotal\b.*\band\b",
}
_ASKS = {name: re.compile(pattern, re.IGNORECASE | re.VERBOSE) for name, pattern in _PATTERNS.items()}
_EXTREME = re.compile(
    rf"^(?!.*\b(?:or|than)\b).*\b(?:which|what\s(?:year|quarter))\b.*\b(?:{_MORE}|{_LESS})\b", re.IGNORECASE
)
_LOW, _HIGH = (re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for words in (rf"(?:{_LESS})\b(?!\sthan\s\d)", _MORE))
_OVER_TIME = re.compile(r"\b(?:which|what)\s(?:\w+\s)?(?:years?|FY|quarters?|periods?)\b", re.IGNORECASE)
_TOTAL = re.compile(r"\btotal\b", re.IGNORECASE)
_OTHERS = 2  # figures that an extreme is set beside
_NOT_COMPUTED = ("reason", "name", "place", "date", "definition")
_RANGE = re.compile(r"\b(19\d\d|20\d\d)\s?(?:-|–|to|through|until|and)\s?(19\d\d|20\d\d)\b", re.IGNORECASE)
_YEAR_BEFORE = re.compile(r"\b(?:year|period)\s(?:before|earlier)\b|\b(?:prior|previous|last)\syear\b", re.IGNORECASE)
_FEW_CELLS = 60
_CHANCE = 0.08  # what the logarithm of a cell's probability counts beside the share of words that two cells match
_SHARED = 0.07  # of the weight of its words that a second operand must add


@dataclass(frozen=True, slots=True)
class Computed:
    """A result, its derivation in words, and the cells that it was computed from, in the order they are named.

    compares: whether it says which of them is the larger or the largest, as a sentence may say, too.
    """

    text: str
    cells: tuple[int, ...]
    score: float
    compares: bool = False


def operation(question: str) -> Operation | None:
    """What a question asks to be computed; None where it asks for what is printed."""
    if _EXTREME.search(question):
        return "extreme"
    if answer_type(question) in _NOT_COMPUTED:
        return None
    return next((name for name, pattern in _ASKS.items() if pattern.search(question)), None)


def sets_side_by_side(question: str) -> bool:
    """Whether a question compares things, whatever kind of answer it asks for."""
    return any(_ASKS[name].search(question) for name in ("larger", "difference", "ratio"))


def computed(question: str, asked: CellQuery, scores: Floats, weights: Floats) -> Computed | None:
    """The answer to a question that asks for more than one figure; None where the figures are not found.

    scores: the logarithm of how probably each cell is asked for. weights: how much each word of the question counts.
    """
    wanted = operation(question)
    if wanted == "extreme":
        return _extreme(question, asked, scores)
    if wanted is None:
        return None
    names_periods = len(_periods(question, wanted)) > 1
    if not names_periods and _is_printed(wanted, asked.cells[int(np.argmax(scores))]):
        return None
    places = _operands(question, wanted, asked, scores, weights)
    if len(places) < 2:
        return None
    cells = [asked.cells[place] for place in places]
    said = _larger(question, cells) if wanted == "larger" else _SAYING[wanted](cells)
    return Computed(said, tuple(places), float(np.mean(scores[places])), wanted == "larger") if said else None


def _extreme(question: str, asked: CellQuery, scores: Floats) -> Computed | None:
    """The year, row or group whose figure is the largest or smallest, with the others."""
    best = int(np.argmax(scores))
    by_year = _OVER_TIME.search(question) is not None
    if by_year:
        rows = [[place for place in row if len(years_of(said_by(asked.cells[place]))) == 1] for row in _rows(asked)]
        places = max((row for row in rows if len(row) > 1), key=lambda row: max(scores[row]), default=[])
    else:
        places = _beside(asked, best)
    cells = [asked.cells[place] for place in places]
    if len(cells) < 2:
        return None
    sign = 1 if _LOW.search(question) else -1
    order = sorted(range(len(cells)), key=lambda at: sign * cells[at].figure.value)

    def named(cell: Cell) -> str:
        if by_year:
            return min(years_of(said_by(cell)))
        return cell.group.text.strip(" :") if cell.group and cells[0].name == cells[1].name else cell.name

    first, *others = (cells[at] for at in order)
    rest = ", ".join(f"{named(cell)}: {printed(cell)}" for cell in others[:_OTHERS])
    what = first.name if by_year else first.head
    text = f"{named(first)}: {value(first)} ({what}; {rest})."
    return Computed(text, tuple(places[at] for at in order[: _OTHERS + 1]), float(scores[places].max()), True)


def _beside(asked: CellQuery, best: int) -> list[int]:
    """Figures under the same heads in other rows, or of the same row in other groups, without totals."""
    one = asked.cells[best]
    column = [
        place
        for place, cell in enumerate(asked.cells)
        if (cell.passage, cell.table, cell.head, cell.figure.percent)
        == (one.passage, one.table, one.head, one.figure.percent)
        and not _TOTAL.search(said_by(cell))
    ]
    same = [place for place in column if asked.cells[place].name == one.name]
    return same if len(same) > 1 else column


def _is_printed(wanted: Operation, cell: Cell) -> bool:
    """Whether a cell is the result itself: "Average price" where an average is asked for."""
    return _ASKS[wanted].search(f"{cell.name} {cell.head}") is not None


def _operands(question: str, wanted: Operation, asked: CellQuery, scores: Floats, weights: Floats) -> list[int]:
    periods = _periods(question, wanted)
    if len(periods) > 1 and (found := _over_periods(periods, asked, scores)):
        return found
    if wanted in ("average", "sum") and len(periods) < 2 and (found := _whole_row(asked, scores)):
        pair = _pair(question, wanted, asked, scores, weights)
        return pair or (found if wanted == "average" else [])
    if wanted in ("change", "percentage change"):
        return _to_the_year_before(asked, scores)
    if _YEAR_BEFORE.search(question):
        return _to_the_year_before(asked, scores)[::-1]
    return _pair(question, wanted, asked, scores, weights)


def _periods(question: str, wanted: Operation) -> list[str]:
    """The years that a question names, the earlier first; of a range those within it where an average is asked for."""
    found = sorted(years_of(question))
    ends = _RANGE.search(question)
    if ends and wanted in ("average", "sum") and "and" not in ends[0].casefold():
        first, last = sorted((int(ends[1]), int(ends[2])))
        found = [str(year) for year in range(first, last + 1)]
    return found


def _over_periods(periods: Sequence[str], asked: CellQuery, scores: Floats) -> list[int]:
    """The cells of one row, one for each period."""
    best: tuple[float, list[int]] = (-np.inf, [])
    for row in _rows(asked):
        chosen = []
        for period in periods:
            of_period = [place for place in row if years_of(said_by(asked.cells[place])) == {period}]
            if not of_period:
                break
            chosen.append(max(of_period, key=lambda place: scores[place]))
        else:
            best = max(best, (float(scores[chosen].mean()), chosen), key=lambda one: one[0])
    return best[1]


def _rows(asked: CellQuery) -> list[list[int]]:
    """Cells that share label, group and table; rows of equal label in tables beside each other count as one."""
    rows: dict[tuple[object, ...], list[int]] = {}
    for place, cell in enumerate(asked.cells):
        if cell.figure.percent and any(
            other.figure.percent is False for other in asked.cells if other.label == cell.label
        ):
            continue  # a column of shares or changes beside the figures
        rows.setdefault((cell.passage, cell.table, cell.label), []).append(place)
    by_period: dict[tuple[object, ...], list[int]] = {}
    for place, cell in enumerate(asked.cells):  # a period in the group's line, the label the same
        if years_of(said_by(cell)) and cell.group is not None:
            by_period.setdefault((cell.passage, cell.table, cell.name, cell.column), []).append(place)
    return [*rows.values(), *by_period.values()]


def _whole_row(asked: CellQuery, scores: Floats) -> list[int]:
    """All figures of the row that is most probably asked for."""
    best = int(np.argmax(scores))
    cell = asked.cells[best]
    return [
        place for place, other in enumerate(asked.cells)
        if (other.passage, other.table, other.label) == (cell.passage, cell.table, cell.label)
        and other.figure.percent == cell.figure.percent
    ]  # fmt: skip


def _to_the_year_before(asked: CellQuery, scores: Floats) -> list[int]:
    """The figure asked for and that of its row one year before, the earlier first."""
    best = int(np.argmax(scores))
    years = sorted(years_of(said_by(asked.cells[best])))
    if not years or not years[-1].isdigit():
        return []
    before = str(int(years[-1]) - 1)
    row = next((row for row in _rows(asked) if best in row), [])
    earlier = [place for place in row if place != best and before in years_of(said_by(asked.cells[place]))]
    return [earlier[0], best] if earlier else []


def _pair(question: str, wanted: Operation, asked: CellQuery, scores: Floats, weights: Floats) -> list[int]:
    """Two cells of one column or row that together match most of the question, in the order it names them; to a sum
    totals add nothing unless the question names one."""

    def is_total(cell: Cell) -> bool:
        return bool(_TOTAL.search(cell.name)) and not _TOTAL.search(question)

    few = [place for place in np.argsort(-scores)[:_FEW_CELLS] if wanted != "sum" or not is_total(asked.cells[place])]
    named = counted(np.maximum(asked.label, asked.head))
    # Vectors match "hardlines" with "softlines" too: which of two cells a word names, only its own letters tell.
    spelt = asked.spelt
    best: tuple[float, list[int]] = (-np.inf, [])
    for at, one in enumerate(few):
        for other in few[at + 1 :]:
            first, second = asked.cells[one], asked.cells[other]
            if (
                first.passage != second.passage
                or first.table != second.table
                or first.figure.percent != second.figure.percent
            ):
                continue
            in_column = first.label != second.label and [part.text for part in first.heads] == [
                part.text for part in second.heads
            ]
            if not (in_column or (first.label == second.label and first.heads != second.heads)):
                continue
            if max(_gain(known[one], known[other], weights) for known in (named, spelt)) < _SHARED:
                continue
            matched = float(counted(np.maximum(asked.full[one], asked.full[other])) @ weights)
            sure = matched + _CHANCE * float(scores[one] + scores[other])
            if sure > best[0]:
                best = (sure, [one, other])
    if not best[1]:
        return []
    one, other = best[1]
    lead = next((lead for known in (spelt, named) if (lead := known[one] - known[other]).any()), named[one])
    # The one whose own words the question has first is named first.
    first_word = int(np.argmax(np.abs(lead * weights) > 0.5 * np.abs(lead * weights).max()))
    return [one, other] if lead[first_word] > 0 else [other, one]


def _gain(one: Floats, other: Floats, weights: Floats) -> float:
    """What either of two cells matches of the question's words that the other does not, at least."""
    return min(float(np.maximum(one - other, 0) @ weights), float(np.maximum(other - one, 0) @ weights))


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
    places = sorted((0, 1), key=lambda place: amounts[place].value, reverse=not _asks_for_low(question))
    asked = _COMPARATIVE.search(question)
    how = asked[0].casefold() if asked else "more"
    how = how if how in ("more", "less", "fewer") else f"the {how}"
    years = [min(found) if len(found := years_of(said_by(cell))) == 1 else "" for cell in cells]
    texts = [f"{value(cell)} ({year})" if year else value(cell) for cell, year in zip(cells, years, strict=True)]
    first, second = (texts[place] for place in places)
    if years[0] == years[1]:  # said once
        second = value(cells[places[1]])
    return f"{names[places[0]]} had {how}: {first} against {names[places[1]]}'s {second}."


def _are_alike(amounts: Sequence[Amount]) -> bool:
    """Whether two amounts are of one kind."""
    currencies = [name for amount in amounts for name in currencies_of(amount.currency)]
    units = [terms(amount.unit) for amount in amounts]
    return units[0] == units[1] and (len(currencies) < len(amounts) or same_currency(*currencies))


def _in_one_scale(amounts: Sequence[Amount]) -> Sequence[Amount]:
    """Two amounts in the scale of the first, each told with its own, where they are in two."""
    one, other = amounts
    if one.unit == other.unit or not {one.unit, other.unit} <= _SCALES.keys():
        return amounts
    ratio = _SCALES[other.unit] / _SCALES[one.unit]
    text = f"{other.text} {other.unit}"
    return replace(one, text=f"{one.text} {one.unit}"), replace(
        other, text=text, value=other.value * ratio, unit=one.unit
    )


def _larger(question: str, cells: Sequence[Cell]) -> str:
    amounts = [amount_of(cell) for cell in cells[:2]]
    if amounts[0].value == amounts[1].value:
        return ""
    first, second = _in_order(question, amounts)
    one, other = _apart(*(cells if first is amounts[0] else reversed(cells)))
    return f"{one} is {'lower' if _asks_for_low(question) else 'larger'}: {_against(first, second, other)}"


def _in_order(question: str, amounts: Sequence[Amount]) -> list[Amount]:
    """The one first that a question asks for."""
    return sorted(amounts, key=lambda amount: amount.value, reverse=not _asks_for_low(question))


def _asks_for_low(question: str) -> bool:
    return bool(_LOW.search(question)) and not _HIGH.search(question)


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
