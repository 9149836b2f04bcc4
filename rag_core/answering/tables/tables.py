"""Rows of tables with what says what each figure is: its label, the heads above it, its group and its caption."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_core.answering.passages import Passage
from rag_core.answering.tables.figures import Figure, currency_of, figure, is_year, scale_of
from rag_core.answering.tables.layout import Part, lines_of

_HEAD_LINES = 6
_PROSE_WORDS = 14  # a line without cells that has as many words is text
_LABEL_LINES = 2  # a label may run over so many lines before that of its figures


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure of a table. Spans are of the page.

    label: the parts that name its row, the line of its figures last. heads: those above it, the nearest first. group:
    the line that its row stands under. about: lines between the text before and the table. column: its place in its
    row from 0, of `columns`. table: the number of its table in the passage.
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

    @property
    def name(self) -> str:
        """The label as a person would say it."""
        return " ".join(part.text.strip(" :.…") for part in self.label)

    @property
    def head(self) -> str:
        """The heads as read from above."""
        return " ".join(part.text for part in reversed(self.heads))

    @property
    def scale(self) -> str:
        """The scale its table names, nearest first; none for what is a share or has its own."""
        if self.figure.percent:
            return ""
        return next((scale for part in (*self.heads, *self.about) if (scale := scale_of(part.text))), "")

    @property
    def currency(self) -> str:
        """The currency that stands with the figure or in its heads, or ""."""
        if self.figure.percent:
            return ""
        return next((found for part in (self.part, *self.heads) if (found := currency_of(part.text))), "")


def cells_of(passage: Passage, number: int) -> list[Cell]:
    """Every figure of the passage's tables, in reading order."""
    found: list[Cell] = []
    table = 0
    body: list[list[Part]] = []
    above: list[list[Part]] = []
    for parts in [*lines_of(passage), []]:
        if _is_row(parts) or (body and len(parts) == 1 and not _is_text(parts[0])):
            body.append(parts)
            continue
        if any(map(_is_row, body)):
            found.extend(_cells(above, body, number, table))
            table += 1
            above = []
        else:
            above += body
        body = []
        above.append(parts)
        if not _is_row(parts) and len(parts) == 1 and not _is_text(parts[0]):
            continue
    return found


def _is_row(parts: Sequence[Part]) -> bool:
    """A label with figures, or several figures alone; a line of years is a head."""
    figures = [part for part in parts if part.is_figure]
    if not figures or all(is_year(part.text) for part in parts[1:] if figure(part.text)):
        return bool(figures) and len(parts) > 1 and parts[-1].is_figure
    return len(parts) > 1


def _is_text(part: Part) -> bool:
    return len(part.text.split()) >= _PROSE_WORDS or (part.text.endswith((".", ";")) and len(part.text.split()) > 4)


def _cells(above: Sequence[list[Part]], body: Sequence[list[Part]], passage: int, table: int) -> Iterator[Cell]:
    rows = [parts for parts in body if _is_row(parts)]
    bound = min(parts[_first_figure(parts)].left for parts in rows)
    group = above[-1][0] if above and _names_group(above[-1], bound) else None
    heads, about = _above(above[:-1] if group else above, bound)
    before: list[Part] = []
    for parts in body:
        if not _is_row(parts):
            before.append(parts[0])
            continue
        first = _first_figure(parts)
        label = tuple(parts[:first])
        running_on = bool(label and before and label[0].text[:1].islower())
        if before:
            group = before[-1] if not running_on else (before[-2] if len(before) > 1 else group)
        if running_on:
            label = (before[-1], *label)
        before = []
        values = parts[first:]
        if not label and group is not None:
            label, group = (group,), None
        for column, part in enumerate(values):
            known = figure(part.text)
            if known is None or is_year(part.text):
                continue
            over = tuple(best for line in heads if (best := _over(line, part)) is not None)
            yield Cell(part, known, label, over, group, about, column, len(values), table, passage)


def _names_group(parts: Sequence[Part], bound: float) -> bool:
    """Whether the line above the first row names the rows below it, as those between rows do."""
    alone = len(parts) == 1 and not _is_text(parts[0]) and parts[0].left < bound
    return alone and not scale_of(parts[0].text) and not is_year(parts[0].text)


def _first_figure(parts: Sequence[Part]) -> int:
    """Where the figures begin: behind the last text cell that stands before the first of them."""
    return next(place for place, part in enumerate(parts) if part.is_figure and (place or len(parts) > 1))


def _above(lines: Sequence[list[Part]], bound: float) -> tuple[list[list[Part]], tuple[Part, ...]]:
    """The lines of heads over the figures, nearest first, and the other lines back to the text before."""
    heads: list[list[Part]] = []
    about: list[Part] = []
    for parts in list(lines)[: -_HEAD_LINES - 1 : -1]:
        if _is_row(parts):
            break
        over = [part for part in parts if part.right > bound or is_year(part.text)]
        if over and not (len(parts) == 1 and _is_text(parts[0])) and (len(parts) > 1 or parts[0].left > bound / 2):
            heads.append(over)
            about.extend(part for part in parts if part not in over)
        else:
            about.extend(parts)
        if len(parts) == 1 and _is_text(parts[0]):
            break
    return heads, tuple(about)


def _over(line: Sequence[Part], below: Part) -> Part | None:
    """The part of a line of heads that stands over a figure: the nearest."""
    middle = (below.left + below.right) / 2

    def distance(part: Part) -> tuple[float, float]:
        gap = max(part.left - below.right, below.left - part.right, 0.0)
        return gap, abs((part.left + part.right) / 2 - middle)

    return min(line, key=distance, default=None)
