"""Rows of tables as answers say them: each cell behind its head, "Tern, Mean wind: 14; Gusts: 19", and the cell alone
that is asked for where a head says so."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rag_core.answering.matching import Floats, counted
from rag_core.answering.passages import Quote
from rag_core.answering.strategies.features import Evidence
from rag_core.answering.tables.figures import figure, is_year
from rag_core.answering.tables.format_amount import value
from rag_core.answering.tables.matching_cells import years_of
from rag_core.text.sentences import tidy
from rag_core.text.terms import terms

_MOST_WORDS = 24  # of a row with its heads; a longer one is quoted as it stands
_WORD = re.compile(r"[^\W\d_]{2}")
_AHEAD = 0.1  # of the weight of the question's words, by which a head must be ahead of the others
_CELL = re.compile(r"(?:[^|\t\n]|\n(?![\d$€£¥(]))+|(?<=[|\t])(?=[|\t])")


@dataclass(frozen=True, slots=True)
class Column:
    """A cell of a row, its span on the page, and what stands above it. heads: where that stands."""

    text: str
    start: int
    end: int
    head: str
    heads: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Said:
    """A row with its heads between its cells. cells: where each begins and ends there, and begins on the page."""

    quote: Quote
    cells: tuple[tuple[int, int, int], ...] = ()


def row_said(evidence: Evidence, quote: Quote) -> Quote:
    """A row with its heads between its cells; any other quote, a long row, and one without heads, as it is."""
    said = with_heads(evidence, quote).quote
    return said if len(said.text.split()) <= _MOST_WORDS else quote


def other_cells(evidence: Evidence, quote: Quote, cell: Quote, lead: str) -> Quote:
    """A row as it is said behind one of its cells, which `lead` says: its other cells, each behind its head.

    A row that the lead does not name, one whose cells are not told apart, a long one, and one of that cell alone, as
    `row_said` has it.
    """
    row, (label, columns) = row_said(evidence, quote), _columns(evidence, quote)
    others = [f"{one.head}: {one.text}" for one in columns if one.start != cell.start]
    is_part = row is not quote and 0 < len(others) < len(columns) and set(terms(label)) <= set(terms(lead))
    return replace(row, text="; ".join(others)) if is_part else row


def with_heads(evidence: Evidence, quote: Quote) -> Said:
    """A row as it is read for an answer; any other quote, and a row without heads, as it is."""
    label, columns = _columns(evidence, quote)
    text = f"{label}, "
    cells: list[tuple[int, int, int]] = []
    for one in columns:
        text += f"{'; ' * bool(cells)}{one.head}: "
        cells.append((len(text), len(text) + len(one.text), one.start))
        text += one.text
    return Said(replace(quote, text=text), tuple(cells)) if columns else Said(quote)


def years_told(evidence: Evidence, quote: Quote) -> set[str]:
    """The years that a quote names; of a row those above it in its table too."""
    rows = _down_to(evidence, quote) if quote.kind == "row" else ()
    return years_of(" ".join([with_heads(evidence, quote).quote.text, *(row.text for row in rows)]))


def cell_said(evidence: Evidence, quote: Quote, is_told: bool) -> tuple[str, Quote] | None:
    """What the cell of a row says whose head has more of the question's words than others, and the cell.

    None where none is clearly ahead, or it is a figure that the question has said itself. is_told: whether one of its
    figures is said already, which was weighed by more than its head; a cell that is no figure then may be what is asked
    for.
    """
    label, columns = _columns(evidence, quote)
    if len(columns) < 2 or (is_told and all(figure(one.text) for one in columns)):
        return None
    asked = [_asked(evidence, quote, one) for one in columns]
    second, first = np.argsort(asked)[-2:]
    if asked[first] < asked[second] + _AHEAD:
        return None
    one = columns[int(first)]
    if (printed := figure(one.text)) and printed.value in evidence.figures_said:
        return None
    cell = replace(quote, text=one.text, start=one.start, end=one.end, kind="row")
    return f"{label}, {one.head}: {one.text}", cell


def _asked(evidence: Evidence, quote: Quote, column: Column) -> float:
    """The weight of the question's words that a column's head matches and the row's label does not."""
    matched = evidence.matches.between
    heads = np.max([counted(matched(quote.passage, *span)[0]) for span in column.heads], axis=0)
    label: Floats = counted(matched(quote.passage, quote.start, _cells(quote)[0][2])[0])
    return float(np.maximum(heads - label, 0) @ evidence.weights)


def _columns(evidence: Evidence, quote: Quote) -> tuple[str, list[Column]]:
    """A row's label and its other cells; none where it is not known what stands above each."""
    (label, _, _), *cells = _cells(quote) if quote.kind == "row" else [("", 0, 0)]
    figures = [cell for cell in (evidence.asked.cells if evidence.asked else ()) if cell.passage == quote.passage]
    rows = _down_to(evidence, quote)
    top = _cells(rows[0])
    is_headed = rows[0] is not rows[-1] and all(figure(text) is None for text, *_ in top)
    if is_headed:  # a table of words: what another table's figures stand under says nothing of it
        figures = [cell for cell in figures if cell.part.start >= rows[0].start]
    found = []
    for place, (text, start, end) in enumerate(cells):
        alike = [cell for cell in figures if (cell.column, cell.columns) == (place, len(cells)) and cell.heads]
        near = min(alike, key=lambda cell: abs(cell.part.start - start), default=None)
        if text and near is not None:
            spans = tuple((part.start, part.end) for part in near.heads)
            found.append(Column(value(near) if near.part.start == start else text, start, end, near.head, spans))
        elif text and len(top) == len(cells) + 1 and (head := top[place + 1])[0]:
            found.append(Column(text, start, end, head[0], (head[1:],)))
        elif text:
            return "", []
    if found and not _WORD.search(label):  # a number, and the row's name behind it
        label, found = f"{label} {found[0].text}", found[1:]
    return (label, found) if label and _are_clear(found) else ("", [])


def _are_clear(columns: Sequence[Column]) -> bool:
    """Whether heads tell columns apart: one each, and none is a figure, or the row itself."""
    doubtful = ((figure(one.head) and not is_year(one.head)) or one.head == one.text for one in columns)
    return len({one.head for one in columns}) == len(columns) and not any(doubtful)


def _down_to(evidence: Evidence, quote: Quote) -> Sequence[Quote]:
    """The rows without another line between them that a row is the last of; the first has a table's heads."""
    last = bisect_left(evidence.every, (quote.passage, quote.position), key=lambda one: (one.passage, one.position))
    first = last
    while first and _is_right_before(evidence.every[first - 1], evidence.every[first]):
        first -= 1
    return evidence.every[first : last + 1]


def _is_right_before(one: Quote, row: Quote) -> bool:
    return one.kind == "row" and one.passage == row.passage


def _cells(row: Quote) -> list[tuple[str, int, int]]:
    """The text of each cell of a row with its span on the page, empty ones too; its label may have lines of its own."""
    found = []
    for match in _CELL.finditer(row.exact):
        text = match[0].strip()
        start = row.start + match.start() + len(match[0]) - len(match[0].lstrip())
        found.append((tidy(text), start, start + len(text)))
    return found
