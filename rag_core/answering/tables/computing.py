"""Arithmetic over the figures that a question names: which of them, and what is computed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.answering.cues import answer_type
from rag_core.answering.matching import Floats, counted
from rag_core.answering.tables.comparatives import COMPARED, LESS, LOW, MORE
from rag_core.answering.tables.format_amount import printed, value
from rag_core.answering.tables.format_result import Operation, say_result
from rag_core.answering.tables.matching_cells import CellQuery, said_by, years_of
from rag_core.answering.tables.tables import Cell

_CHANGE = r"\b(?:chang|increas|decreas|gr[eo]w|r[io]se|f[ae]ll|drop|declin|(?:go|goes|gone|went)\s(?:up|down)\b)"
_PERCENT = r"(?:\bper\s?cent|%)"
_PATTERNS: dict[Operation, str] = {
    "percentage change": rf"{_PERCENT}.*{_CHANGE} | {_CHANGE}.*{_PERCENT} | \bgrowth\srate",
    "share": rf"(?:{_PERCENT}|\bproportion|(?<!\bper\s)\bshare\b|\bfraction).*\b(?:of|over|constitut)",
    "average": r"\b(?:average|mean)\b",
    "ratio": r"\bratio\b | \bhow\smany\stimes\b | \btimes\s(?:as|larger|more)\b",
    "difference": r"\bdiffer(?:ence)?\b | \bhow\s(?:much|many)\s(?:more\b|less\b|\w+er\b.*\bthan\b)",
    "change": _CHANGE,
    "larger": rf"""\b(?:compar(?:e|ed|es|ing|isons?)|versus|vs)\b
        | {COMPARED}.*\b(?:or|than)\b(?!\s\d)
        | \bor\b.*\bwhich\b.*{COMPARED}""",
    "sum": r"\b(?:sum|plus|combined|together|altogether)\b | \btotal\b.*\band\b",
}
_ASKS = {name: re.compile(pattern, re.IGNORECASE | re.VERBOSE) for name, pattern in _PATTERNS.items()}
_EXTREME = re.compile(
    rf"^(?!.*\b(?:or|than)\b).*\b(?:which|what\s(?:year|quarter))\b.*\b(?:{MORE}|{LESS})\b", re.IGNORECASE
)
_OVER_TIME = re.compile(r"\b(?:which|what)\s(?:\w+\s)?(?:years?|FY|quarters?|periods?)\b", re.IGNORECASE)
_ALL = re.compile(r"\ball\b", re.IGNORECASE)
_TOGETHER = re.compile(r"\b(?:total|sum|combined|together|altogether)\b", re.IGNORECASE)
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


def adds_up(question: str) -> bool:
    """Whether a question asks what all of several have together."""
    return all(pattern.search(question) for pattern in (_ALL, _TOGETHER))


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
    said = say_result(wanted, question, cells)
    return Computed(said, tuple(places), wanted == "larger") if said else None


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
    sign = 1 if LOW.search(question) else -1
    order = sorted(range(len(cells)), key=lambda at: sign * cells[at].figure.value)

    def named(cell: Cell) -> str:
        if by_year:
            return min(years_of(said_by(cell)))
        return cell.group.text.strip(" :") if cell.group and cells[0].name == cells[1].name else cell.name

    first, *others = (cells[at] for at in order)
    rest = ", ".join(f"{named(cell)}: {printed(cell)}" for cell in others[:_OTHERS])
    what = first.name if by_year else first.head
    text = f"{named(first)}: {value(first)} ({what}; {rest})."
    return Computed(text, tuple(places[at] for at in order[: _OTHERS + 1]), True)


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
