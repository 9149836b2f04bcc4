"""Rows of tables with what says what each figure is: its label, the heads above it, its group and its caption."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from rag_core.answering.passages import Passage
from rag_core.answering.tables.figures import (
    Figure,
    currency_of,
    currency_stated,
    figure,
    is_no_money,
    is_year,
    scale_of,
)
from rag_core.answering.tables.heads import heads_above, heads_over, is_head, is_row, is_text, slots
from rag_core.answering.tables.layout import Part, lines_of
from rag_core.text.terms import terms

# A row that says what the row above it is of something.
_SHARE = re.compile(r"(?:as )?(?:a )?(?:percentage|per\s?cent|%) of\b", re.IGNORECASE)
_BETWEEN = 4  # lines of text that a table goes on behind: a label that runs over several, a note
_YEAR_ALONE = re.compile(r"(?:fiscal )?(?:19|20)\d\d:?", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_DATE = re.compile(r"(?:[A-Z][a-z]+\.? \d{1,2}, )?(?:19|20)\d\d$")
_PER_ONE = re.compile(r"\bper\b", re.IGNORECASE)
_EXCEPT = re.compile(r"\bexcept\b|\bunless\b|(?<=[^\d]),|\band\b", re.IGNORECASE)
_OF_EXCEPTIONS = set(terms("number amount data value count figure which are reflected shown thousand million"))
_TOTAL = re.compile(r"\b(?:grand )?totals?\b", re.IGNORECASE)
_CENTS = 2  # decimals of an amount that is in no thousands
_ROUNDED = 1e-6  # figures that differ by less are equal
_FURTHER_IN, _COLUMN = 0.005, 0.3  # of the page's width: what begins further in than a line does by more and by less


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure of a table. Spans are of the page.

    label: the parts that name its row, the line of its figures last. heads: those above it, the nearest first, and the
    date of its row where another line names that. group: the line that its row stands under, or the row that it is a
    share of. about: lines between the text before and the table, and one right behind it that says what amounts are in.
    column: its place in its row from 0, of `columns`. table: the number of its table in the passage. further_in:
    whether its row begins further in than several of its group before it, as their sums do. summed_in: the currency
    that a figure bears with which it is summed up. table_in: one that any figure of its table bears. noted: what its
    document says further up that amounts are in.
    """

    part: Part
    figure: Figure
    label: tuple[Part, ...]
    heads: tuple[Part, ...]
    group: Part | None
    about: tuple[Part, ...]
    column: int
    columns: int
    table: int
    passage: int
    further_in: bool = False
    summed_in: str = ""
    table_in: str = ""
    noted: str = ""

    @property
    def is_sum(self) -> bool:
        """Whether its row sums up those above it."""
        return self.further_in or bool(_TOTAL.search(self.name))

    @property
    def name(self) -> str:
        """The label as a person would say it."""
        return " ".join(part.text.strip(" :.…") for part in self.label)

    @property
    def head(self) -> str:
        """The heads as read from above; a unit that stands below what has it already is said once."""
        said = ""
        for part in reversed(self.heads):
            said = said if said.endswith(part.text) else f"{said} {part.text}".lstrip()
        return said

    @property
    def has_own_year(self) -> bool:
        """Whether its row or its heads are of another year than its group, which may be the whole document's."""
        row = self.name if _YEAR_ALONE.fullmatch(self.name) else ""
        own, others = (
            set(_YEAR.findall(text)) for text in (f"{row} {self.head}", self.group.text if self.group else "")
        )
        return bool(own and others) and own.isdisjoint(others)

    @property
    def scale(self) -> str:
        """The scale that its group or its table names, nearest first, or for money a note further up; none for what is
        a share or has its own, nor for what one of something earns or costs ("in millions, except per share amounts").
        """
        group = self.group.text if self.group else ""
        if self.figure.percent or (self.figure.decimals and _PER_ONE.search(f"{self.name} {group}")):
            return ""
        above = (group, *(part.text for part in (*self.heads, *self.about)))
        named = next(filter(scale_of, above), "")
        is_money = self.currency or (self.table_in and not self._counts)
        is_noted = is_money and self.figure.decimals != _CENTS
        return self._scale_in(named or self.noted) if named or is_noted else ""

    @property
    def currency(self) -> str:
        """What stands with the figure or with what it is summed up with, or what its heads and its table say that
        amounts are in, nearest first, or a note further up; "" for what is no money."""
        own = currency_of(self.part.text)
        if self.figure.percent or own or self.summed_in:
            return own or self.summed_in
        stated = (currency_stated(part.text, in_prose=is_text(part)) for part in (*self.heads, *self.about))
        found = next(filter(None, stated), "") or currency_stated(self.noted, in_prose=False)
        return "" if self._counts else found

    @property
    def _counts(self) -> bool:
        """Whether it counts or measures something, as far as its names tell."""
        return any(map(is_no_money, (self.name, self.head, self.group.text if self.group else "")))

    def _scale_in(self, text: str) -> str:
        """The scale that a text names for it: "dollars in millions" none for counts, "except number of shares, which
        are in thousands" its own for such."""
        rule, *exceptions = _EXCEPT.split(text)
        names = (self.name, self.group.text if self.group else "")
        if not (currency_of(self.part.text) or self.summed_in):
            if currency_stated(rule, in_prose=False) and any(map(is_no_money, names)):
                return ""
            for words in exceptions:  # what one of something earns or costs is known by its own name
                held = set(terms(words)) - _OF_EXCEPTIONS
                if held and held <= set(terms(" ".join(names))) and not _PER_ONE.search(words):
                    return scale_of(words)
        return scale_of(rule) or scale_of(text)


def cells_of(passage: Passage, number: int) -> list[Cell]:
    """Every figure of the passage's tables, in reading order."""
    found: list[Cell] = []
    table = 0
    frame: _Frame | None = None
    body: list[list[Part]] = []
    above: list[list[Part]] = []
    for parts in [*lines_of(passage), []]:
        if is_row(parts) or (len(parts) == 1 and _stands_among(parts[0], body)):
            body.append(parts)
            continue
        last = max((place for place, line in enumerate(body, start=1) if is_row(line)), default=0)
        if last:
            frame = _frame(above, body[:last], frame)
            behind = [part for part in [*body[last:], parts][0] if currency_stated(part.text, in_prose=True)]
            frame = replace(frame, about=(*frame.about, *behind))
            if frame.heads or not _is_line_of_text(passage, body[:last]):
                found.extend(_placed(passage, list(_cells(frame, body[:last], number, table))))
            table += 1
            above = []
        above += body[last:]
        body = []
        above.append(parts)
    return found


def _placed(passage: Passage, cells: Sequence[Cell]) -> Iterator[Cell]:
    """The cells of a table with what stands elsewhere of what they are in."""
    notes = sorted({note for hit in passage.hits for note in hit.amounts}, key=lambda note: (note.page, note.start))
    page = passage.hits[0].page
    table_in = next(filter(None, (currency_of(cell.part.text) for cell in cells)), "")
    for cell in cells:
        noted = [note.text for note in notes if note.holds_at(page, cell.part.start)]
        yield replace(cell, table_in=table_in, noted=noted[-1] if noted else "")


def _stands_among(part: Part, body: Sequence[list[Part]]) -> bool:
    """Whether a line alone belongs to the rows before it: what begins behind their labels is the next table's head."""
    if not body or is_text(part):
        return False
    return part.is_figure or part.left < max(row[0].right for row in body if is_row(row))


def _is_line_of_text(passage: Passage, body: Sequence[list[Part]]) -> bool:
    """Whether it is one line whose figures only blanks set apart, as where a sentence's line ends with a number."""
    start, end = body[0][0].start - passage.start, body[-1][-1].end - passage.start
    return len(body) == 1 and not {"\t", "|"} & set(passage.text[start:end])


@dataclass(frozen=True, slots=True)
class _Frame:
    """What stands above a table's rows: its first group, the heads, nearest first, and the rest."""

    group: Part | None
    heads: Sequence[Sequence[Part]]
    about: tuple[Part, ...]


def _frame(above: Sequence[list[Part]], body: Sequence[list[Part]], before: _Frame | None) -> _Frame:
    """before: that of the table before, whose heads hold on where only a title stands between."""
    rows = [parts for parts in body if is_row(parts)]
    bound = min(parts[_first_figure(parts)].left for parts in rows)
    group = above[-1][0] if above and _names_group(above[-1], bound) else None
    heads, about = heads_above(
        above[:-1] if group else above, bound, min(parts[0].top for parts in rows), len(rows[0]),
        goes_on=before is not None and bool(before.heads),
    )  # fmt: skip
    if before and not heads and (len(above) <= _BETWEEN or not any(is_text(part) for parts in above for part in parts)):
        return _Frame(group, before.heads, (*about, *before.about))
    return _Frame(group, heads, about)


def _cells(frame: _Frame, body: Sequence[list[Part]], passage: int, table: int) -> Iterator[Cell]:
    figures = (part for parts in body if is_row(parts) for part in parts[_first_figure(parts) :] if part.is_figure)
    columns, group = slots(figures), frame.group
    dates, money = _dates(body, frame.group), _summed_money([parts for parts in body if is_row(parts)])
    before: list[Part] = []
    whole, indent, beside = group, -math.inf, 0
    for place, parts in enumerate(body):
        if not is_row(parts):
            before.append(parts[0])
            continue
        first = _first_figure(parts)
        label = tuple(parts[:first])
        running_on = bool(label and before and label[0].text[:1].islower())
        if before:
            group = before[-1] if not running_on else (before[-2] if len(before) > 1 else group)
        ends_group = group is not None and indent - _FURTHER_IN > group.left > parts[0].left - _FURTHER_IN
        group = None if ends_group and not before else group
        if before or ends_group or not beside:
            indent, beside = parts[0].left, 0
        further_in = _FURTHER_IN < parts[0].left - indent < _COLUMN
        beside += not further_in
        if running_on:
            label = (before[-1], *label)
        values = parts[first:]
        if not label and group is not None:
            label, group = (*(before[-2:-1] if group.text[:1].islower() else ()), group), None
        before = []
        is_share = bool(label and _SHARE.match(label[0].text))
        whole = label[-1] if label and not is_share else whole
        for column, part in enumerate(values):
            known = figure(part.text)
            if known is None or is_year(part.text):
                continue
            over = heads_over(frame.heads, part, columns)
            if (date := dates.get(place, group)) is not group and date is not None:
                over = (*over, date)
            under = whole if is_share else group
            yield Cell(
                part, known, label, over, under, frame.about, column, len(values), table, passage,
                bool(label) and further_in and beside > 1, money.get(part.start, ""),
            )  # fmt: skip


def _dates(body: Sequence[list[Part]], group: Part | None) -> dict[int, Part]:
    """The date that a line before or behind its rows names for them, by the rows' places.

    A line alone that is a year ("2019:") names that of the rows below it. Between two rows that differ in a date alone
    ("Balance as of ...", as accounts are carried forward) things happened up to the later one.
    """
    found: dict[int, Part] = {}
    above = group if group and _YEAR_ALONE.fullmatch(group.text) else None
    since: dict[str, int] = {}
    for place, parts in enumerate(body):
        date = _DATE.search(parts[0].text)
        if not is_row(parts):
            above = parts[0] if _YEAR_ALONE.fullmatch(parts[0].text) else above
        elif date and (begun := parts[0].text[: date.start()]):
            if begun in since:
                start, end = (parts[0].start + one for one in date.span())
                part = replace(parts[0], text=date[0], start=start, end=end)
                found |= dict.fromkeys(range(since[begun] + 1, place), part)
            since[begun] = place
        elif above:
            found[place] = above
    return found


def _summed_money(rows: Sequence[Sequence[Part]]) -> dict[int, str]:
    """The currency of figures by where they stand, of columns whose sums and summands bear it here and there: it is
    printed with the first and the last alone."""
    figures = [[part for part in parts[_first_figure(parts) :] if part.is_figure] for parts in rows]
    width = max(map(len, figures), default=0)
    found: dict[int, str] = {}
    for column in zip(*(some for some in figures if len(some) == width), strict=True):
        values = [part.value.value if part.value and not part.value.percent else math.nan for part in column]
        signs = [currency_of(part.text) for part in column]
        for begin, end in combinations(range(len(column) if any(signs) else 0), 2):
            if end > begin + 1 and abs(sum(values[begin:end]) - values[end]) < _ROUNDED:
                sign = next(filter(None, signs[begin : end + 1]), "")
                found |= {part.start: sign for part in column[begin : end + 1] if sign}
    return found


def _names_group(parts: Sequence[Part], bound: float) -> bool:
    """Whether the line above the first row names the rows below it, as those between rows do."""
    alone = len(parts) == 1 and not is_text(parts[0]) and parts[0].left < bound
    return alone and not scale_of(parts[0].text) and not is_head(parts[0], bound)


def _first_figure(parts: Sequence[Part]) -> int:
    """Where the figures begin: behind the last text cell that stands before the first of them, and behind the text that
    a number in front of it counts ("36 | Root canal treatment | 640.00")."""
    counts = (
        parts[0].is_figure and len(parts) > 2 and parts[1].value is None and any(one.is_figure for one in parts[2:])
    )
    places = range(2 if counts else 0, len(parts))
    return next(place for place in places if parts[place].is_figure and (place or len(parts) > 1))
