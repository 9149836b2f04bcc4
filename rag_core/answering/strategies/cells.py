"""A table's row said as a sentence: "Greater China, Operating income, 2020: $15,261".

The columns are told from the head where it has as many years or dates as the row has figures, or where both are cut by
the same marks; where neither is so, nothing is said that the row does not say itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.answering.strategies.evidence import Evidence
from rag_core.answering.strategies.units import Unit
from rag_core.text.terms import terms

_FIGURE = re.compile(r"(?:[$€£¥]\s?)?\(?[-–−]?\d[\d,]*(?:\.\d+)?\)?(?:\s?%)?|(?<=\s)[—–-](?=\s|$)")
_YEAR = re.compile(r"(?<![\d,.])(?:19|20)\d\d(?![\d,]|\.\d)")
_LONGEST_LABEL = 80


def cell_line(evidence: Evidence, index: int) -> str:
    """The cell that a question asks for, with its row and column; "" where the unit is no row or it is not clear."""
    unit = evidence.units[index]
    asked = {term for word in evidence.matches.words for term in terms(word.text)}
    if not unit.tabular:
        return ""
    lines = _lines(evidence, unit)
    if "|" in unit.quote.text:
        return _marked(unit.quote.text, lines, asked)
    return _counted(unit, lines, evidence, asked)


def _lines(evidence: Evidence, unit: Unit) -> list[str]:
    """The lines of the head, the nearest first."""
    of_passage = [quote for quote in evidence.every if quote.passage == unit.quote.passage]
    return [of_passage[place].text for place in unit.head]


def _marked(row: str, lines: Sequence[str], asked: set[str]) -> str:
    """The cell of a row whose cells are set apart by marks."""
    cells = [cell.strip() for cell in row.split("|")]
    heads = next(([cell.strip() for cell in line.split("|")] for line in lines if "|" in line), [])
    if len(heads) != len(cells):
        return ""
    column = _best_column(heads[1:], asked)
    return "" if column is None else f"{cells[0]}, {heads[column + 1]}: {cells[column + 1]}"


def _counted(unit: Unit, lines: Sequence[str], evidence: Evidence, asked: set[str]) -> str:
    """The cell of a row that has as many figures as its head has years."""
    text = unit.quote.text
    figures = list(_FIGURE.finditer(text))
    label = text[: figures[0].start()].strip(" :.$") if figures else ""
    years = next((found for line in lines if len(found := _YEAR.findall(line)) > 1), [])
    if not label or len(label) > _LONGEST_LABEL or not years or len(years) != len(figures):
        return ""
    column = _best_column(years, asked)
    if column is None:
        return ""
    group = _group(evidence, unit)
    name = f"{group}, {label}" if group else label
    return f"{name}, {years[column]}: {figures[column][0].strip()}"


def _group(evidence: Evidence, unit: Unit) -> str:
    of_passage = [quote for quote in evidence.every if quote.passage == unit.quote.passage]
    return "" if unit.group is None else of_passage[unit.group].text.strip(" :")


def _best_column(heads: Sequence[str], asked: set[str]) -> int | None:
    """The one column whose head has most of the words asked for; None where there is no such."""
    shared = [len(asked & set(terms(head))) for head in heads]
    best = max(shared, default=0)
    return shared.index(best) if best and shared.count(best) == 1 else None
