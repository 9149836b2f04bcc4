"""Which cell a question asks for: a conditional logit over all cells of the passages, fitted by `fit_reader`.

The weights of `group_unasked`, `unasked` and `whole` were fitted by themselves and rounded, that of `head_missed` was
set by hand, with all others held as they were; the next whole fit is of all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.answering.cues import answer_type
from rag_core.answering.matching import Floats, Matches, counted
from rag_core.answering.passages import Passage, is_running_title
from rag_core.answering.tables.layout import Part
from rag_core.answering.tables.tables import Cell, cells_of
from rag_core.text.terms import terms

CELL_FEATURES = (
    "label", "label_share", "label_asked", "head", "head_share", "head_asked", "group", "all", "all_share", "worst",
    "alike", "numbers", "period", "other_period", "no_period_first", "no_period_last", "part_year", "statement",
    "change", "change_asked", "percent", "percent_asked", "nil", "total", "total_asked", "first", "best_passage",
    "meant", "money_counted", "money", "money_asked", "percent_money", "row_read", "spanned", "spanned_share",
    "group_unasked", "unasked", "whole", "head_missed",
)  # fmt: skip
"""Columns of `CellQuery.features`. label, head, group, all: mean match of the question's words, weighted by rarity; the
shares count matches, "asked" is the other way round. period, other_period: a year or quarter of the question stands in
the label or heads; another one does. no_period_first, last: where none is asked for, the first and the last of a row's
periods. part_year: the figure is of some months, where none are asked for. statement: in a statement of whole accounts.
meant: how surely the question means its document. alike: how nearly the label says what is asked, in stems (Dice's
coefficient). unasked, group_unasked: how much of the label, or of the line that its row stands under, the question has
not, in stems. whole: in a row that sums up others, all of what is asked and nothing else. head_missed: another head of
its row has a word of the question that its own has not. money: an amount of it. money_counted: one where a number of
things is asked for. percent_money: a share where money is asked for. change: a column of changes."""

_YEAR = re.compile(r"(?<![\d,.])((?:19|20)\d\d)(?!\d|[,.]\d)|\bFY?\s?['’]?(\d\d)\b", re.I)
_QUARTER = re.compile(r"\bQ([1-4])\b|\b(first|second|third|fourth)\s(?:fiscal\s)?quarter\b", re.I)
_QUARTERS = {"first": "1", "second": "2", "third": "3", "fourth": "4"}
_CHANGE = re.compile(r"\b(?:change|increase|decrease|inc|growth|variance|vs)\b|[+]/[-−–]|\bdifference\b", re.I)
_CHANGE_ASKED = re.compile(r"\b(?:change|increas|decreas|gr[eo]w|growth|ris[ei]|rose|fell|fall|drop|up|down)", re.I)
_PERCENT_ASKED = re.compile(r"%|\bper\s?cent|\bshare\b|\bproportion\b|\brate\b|\bmargin\b", re.I)
_COUNT_ASKED = re.compile(
    r"\bhow many\b(?! (?:[\w-]+ )?(?:dollars|euros|pounds|crowns|percent)\b)|\bnumber of\b|\bin units\b", re.I
)
_PART_YEAR = re.compile(r"\b(?:three|six|nine) months\b|\bquarter(?:s|ly)?\b|\bQ[1-4]\b|\bunaudited\b", re.I)
_STATEMENT = re.compile(r"\bconsolidated\b|\bstatements? of\b|\bbalance sheets?\b", re.I)
_WHOLLY = 4  # a sum that lacks a word of what is asked is hardly the whole of it
_TOTAL = re.compile(r"\btotal\b|\ball\b|\boverall\b", re.I)


@dataclass(frozen=True, slots=True)
class CellQuery:
    """The cells of some passages, their features (cells, len(CELL_FEATURES)), and what each matches (cells, words).

    spelt: 1 for words of the question that stand in the label or heads, in stems.
    """

    cells: tuple[Cell, ...]
    features: Floats
    label: Floats
    head: Floats
    full: Floats
    spelt: Floats

    def of_years(self, place: int, among: Sequence[int]) -> list[int]:
        """The cells of the same row as one of them, the latest year last; none where years do not tell them apart."""
        row = [one for one in among if self.cells[one].label == self.cells[place].label]
        years = {one: max(years_of(self.cells[one].head), default="") for one in row}
        are_told = years[place] and len(set(years.values())) > 1
        return sorted((one for one in row if years[one]), key=lambda one: (years[one], -one)) if are_told else []


def asked_cells(
    question: str, passages: Sequence[Passage], matches: Matches, weights: Floats, meant: Mapping[str, float]
) -> CellQuery | None:
    """The cells of the passages as answers to a question, not yet read; None where there are none.

    weights: how much each of the question's words counts, (words,). meant: how surely it means documents, by id.
    """
    cells = [
        cell
        for number, passage in enumerate(passages)
        for cell in cells_of(passage, number)
        if _is_quoted(cell, matches)
    ]
    if not cells:
        return None
    matched = _Matched(matches)
    label, label_back = _stacked([matched.of(cell, cell.label) for cell in cells])
    head, head_back = _stacked([matched.of(cell, cell.heads) for cell in cells])
    group, _ = _stacked([matched.of(cell, [cell.group] if cell.group else []) for cell in cells])
    about, _ = _stacked([matched.of(cell, cell.about) for cell in cells])
    first = {quote.passage: place for place, quote in reversed(list(enumerate(matches.every)))}
    prefix = np.array([matches.prefix[first[cell.passage]] for cell in cells])
    full = np.maximum.reduce([label, head, group, about, prefix])
    figures = np.array([word.is_number for word in matches.words], dtype=bool)
    unasked = _unasked([_TOTAL.sub(" ", cell.name) for cell in cells], matches)
    known = _features_of_kind(question, cells, [passages[cell.passage] for cell in cells])
    share = counted(full) @ weights
    whole = _ones(cell.is_sum for cell in cells) * (unasked == 0) * share**_WHOLLY
    known |= {
        "label": label @ weights, "label_share": counted(label) @ weights, "label_asked": label_back,
        "head": head @ weights, "head_share": counted(head) @ weights, "head_asked": head_back,
        "group": group @ weights, "group_unasked": _unasked([_group_of(cell) for cell in cells], matches),
        "all": full @ weights, "all_share": share,
        "alike": _alike(cells, matches), "unasked": unasked, "whole": whole, "head_missed": _missed(cells, matches),
        "worst": counted(full).min(axis=1, initial=1.0),
        "numbers": counted(full)[:, figures].min(axis=1, initial=1.0),
        "meant": np.array([meant.get(passages[cell.passage].hits[0].document.id, 0.0) for cell in cells]),
    }  # fmt: skip
    nothing = np.zeros(len(cells))
    features = np.stack([known.get(name, nothing) for name in CELL_FEATURES], axis=1)
    return CellQuery(tuple(cells), features, label, head, full, _spelt(cells, matches))


def _features_of_kind(question: str, cells: Sequence[Cell], passages: Sequence[Passage]) -> dict[str, Floats]:
    """What speaks for cells whatever their words match: of which period they are and what they measure.

    passages: that of each cell.
    """
    kind, periods = answer_type(question), periods_of(question)
    of_cells = [periods_of(said_by(cell)) for cell in cells]
    undated = _ones(not periods and periods_of(cell.head) for cell in cells)
    changes, percents = _ones(_CHANGE.search(cell.head) for cell in cells), _ones(cell.figure.percent for cell in cells)
    money, totals = _ones(cell.currency for cell in cells), _ones(_TOTAL.search(cell.name) for cell in cells)
    return {
        "period": np.array([len(periods & found) / max(len(periods), 1) for found in of_cells]),
        "other_period": _ones(_is_of_another(periods, found) for found in of_cells),
        "no_period_first": undated * _ones(cell.column == 0 for cell in cells),
        "no_period_last": undated * _ones(cell.column == cell.columns - 1 for cell in cells),
        "part_year": _ones(_PART_YEAR.search(cell.head) and not _PART_YEAR.search(question) for cell in cells),
        "statement": _ones(
            _STATEMENT.search(f"{passage.section} {cell.head}") for cell, passage in zip(cells, passages, strict=True)
        ),
        "change": changes, "change_asked": changes * bool(_CHANGE_ASKED.search(question)),
        "percent": percents, "percent_asked": percents * bool(_PERCENT_ASKED.search(question)),
        "nil": _ones(cell.figure.value == 0 for cell in cells),
        "total": totals, "total_asked": totals * bool(_TOTAL.search(question)),
        "money": money, "money_counted": money * bool(_COUNT_ASKED.search(question)),
        "money_asked": money * (kind == "money"), "percent_money": percents * (kind == "money"),
        "first": np.array([1 / (1 + cell.passage) for cell in cells]),
        "best_passage": _ones(cell.passage == 0 for cell in cells),
    }  # fmt: skip


def _ones(found: Iterable[object]) -> Floats:
    """1 for each that is so, 0 for the others."""
    return np.array([bool(one) for one in found], dtype=np.float64)


def _alike(cells: Sequence[Cell], matches: Matches) -> Floats:
    """Dice's coefficient of the stems of the question's words and of each cell's label, 0..1; names and
    numbers apart."""
    asked = {term for word in matches.words if not (word.is_name or word.is_number) for term in terms(word.text)}
    held = [set(terms(cell.name)) for cell in cells]
    return np.array([2 * len(asked & one) / max(len(asked) + len(one), 1) for one in held])


def _unasked(texts: Sequence[str], matches: Matches) -> Floats:
    """The share of each text's stems that the question has not, 0..1."""
    asked = {term for word in matches.words for term in terms(word.text)}
    held = [set(terms(text)) for text in texts]
    return np.array([len(one - asked) / max(len(one), 1) for one in held])


def _missed(cells: Sequence[Cell], matches: Matches) -> Floats:
    """1 for cells whose heads lack a word of the question, in stems, that another head of their row has."""
    asked = {term for word in matches.words if not word.is_number for term in terms(word.text)}
    held = [asked.intersection(terms(f"{cell.name} {cell.head}")) for cell in cells]
    of_row: dict[tuple[int, str], set[str]] = {}
    for cell, found in zip(cells, held, strict=True):
        of_row.setdefault((cell.passage, cell.name), set()).update(found)
    return _ones(of_row[cell.passage, cell.name] - found for cell, found in zip(cells, held, strict=True))


def _group_of(cell: Cell) -> str:
    """The line that its row stands under as a part of it; that of a sum is not its own."""
    return cell.group.text if cell.group and not cell.is_sum else ""


def _spelt(cells: Sequence[Cell], matches: Matches) -> Floats:
    asked = [set(terms(word.text)) for word in matches.words]
    held = {said: set(terms(said)) for said in {f"{cell.name} {cell.head}" for cell in cells}}
    return np.array([[not one.isdisjoint(held[f"{cell.name} {cell.head}"]) for one in asked] for cell in cells], float)


class _Matched:
    """How well the question's words are matched in parts of tables; each part is compared once."""

    def __init__(self, matches: Matches) -> None:
        self._matches = matches
        self._seen: dict[tuple[int, int, int], tuple[Floats, float]] = {}

    def of(self, cell: Cell, parts: Sequence[Part]) -> tuple[Floats, float]:
        """The best matches among a cell's parts, (words,), and the other way round."""
        found = []
        for part in parts:
            key = (cell.passage, part.start, part.end)
            if key not in self._seen:
                self._seen[key] = self._matches.between(*key)
            found.append(self._seen[key])
        if not found:
            return np.zeros(len(self._matches.words)), 0.0
        return np.max([row for row, _ in found], axis=0), max(back for _, back in found)


def _is_quoted(cell: Cell, matches: Matches) -> bool:
    """Whether its line can be quoted: the numbers of pages cannot, nor what stands at their feet."""
    start = cell.part.start
    return any(
        quote.passage == cell.passage and quote.start <= start < quote.end and not is_running_title(quote)
        for quote in matches.every
    )


def years_of(text: str) -> set[str]:
    """The years that a text names, FY18 as 2018."""
    return {year or f"20{short}" for year, short in _YEAR.findall(text)}


def periods_of(text: str) -> set[str]:
    """The years and quarters that a text names."""
    quarters = {f"Q{number or _QUARTERS[word.casefold()]}" for number, word in _QUARTER.findall(text)}
    return years_of(text) | quarters


def _is_of_another(asked: set[str], found: set[str]) -> bool:
    """Whether a cell is of another year or of another quarter than a question names."""
    quarters = [{period for period in periods if period.startswith("Q")} for periods in (asked, found)]
    years = [periods - some for periods, some in zip((asked, found), quarters, strict=True)]
    return any(bool(one and other and one.isdisjoint(other)) for one, other in (years, quarters))


def said_by(cell: Cell) -> str:
    """All that names a cell: its label and heads, and its group where that is not of another year."""
    return f"{cell.name} {cell.head} {cell.group.text if cell.group and not cell.has_own_year else ''}"


def _stacked(found: Sequence[tuple[Floats, float]]) -> tuple[Floats, Floats]:
    return np.array([row for row, _ in found]), np.array([back for _, back in found])
