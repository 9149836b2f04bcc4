"""Which heads stand over which column of a table, from where the parts of its lines stand on the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from rag_core.answering.tables.figures import is_year, scale_of
from rag_core.answering.tables.layout import Part

_LINES = 8
_WRAPPED = 24  # lines looked at for parts of heads that the page's text gives one after another
_PROSE_WORDS = 14  # a line without cells that has as many words is text
_BESIDE = 0.5  # of a line's height that lines beside each other have in common
_FILLS = 0.9  # of its column's width that a head over several fills
_LEFT_OF = 0.03  # of the page's width that a head over several columns may begin before their figures
_OVER = 0.3  # of a head's width that reaches into a column it stands over
_UNIT_WORDS = 3  # "in EUR thousand"
_BLANK = 1.5  # lines: a title further above, where lines alone are known, has a blank one below it
_YEAR = re.compile(r"(?:19|20)\d\d")

Slot = tuple[float, float]
"""From where to where a column reaches across: halfway to the columns beside it."""


def is_text(part: Part) -> bool:
    """Whether a part is prose, no head or label."""
    return len(part.text.split()) >= _PROSE_WORDS or (part.text.endswith((".", ";")) and len(part.text.split()) > 4)


def is_row(parts: Sequence[Part]) -> bool:
    """A label with figures, or several figures alone; a line of years is a head."""
    figures = [part for part in parts if part.is_figure]
    if not figures or all(is_year(part.text) for part in parts[1:] if part.value is not None):
        return bool(figures) and len(parts) > 1 and parts[-1].is_figure
    return len(parts) > 1


def slots(figures: Iterable[Part]) -> list[Slot]:
    """The columns that figures make, from left to right: what overlaps across is one column."""
    columns: list[Slot] = []
    for left, right in sorted((part.left, part.right) for part in figures):
        if columns and left < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(right, columns[-1][1]))
        else:
            columns.append((left, right))
    between = [(before[1] + after[0]) / 2 for before, after in pairwise(columns)]
    return list(pairwise([float("-inf"), *between, float("inf")])) if columns else []


def heads_above(
    lines: Sequence[list[Part]], bound: float, top: float, width: int = 0, *, goes_on: bool = False
) -> tuple[list[list[Part]], tuple[Part, ...]]:
    """The lines of heads over the figures, nearest first, and the other lines back to the text before.

    bound: where the figures begin across; top: where they begin down the page, which footers are below of. width: how
    many cells the first row has. Of lines with as many, those with digits below another are rows of words. goes_on:
    whether rows of figures stand right above, of whose table all such lines are rows.
    """
    heads: list[list[Part]] = []
    rows_of_words = full = 0
    about: list[Part] = []
    over_figures = side_by_side([parts for parts in lines if parts[0].top < top], bound)
    below, is_apart = top, False
    for parts in over_figures[: -_LINES - 1 : -1]:
        is_apart = is_apart or bool(heads and len(parts) == 1 and below - parts[0].top > _BLANK)
        if is_row(parts) or (is_apart and len(parts) > 1):
            break
        below = parts[0].top
        over = [part for part in parts if part.right > bound or is_year(part.text)]
        is_full = len(parts) == width and parts[0].right <= bound and not any(_YEAR.search(part.text) for part in over)
        full += is_full
        if is_full and len(heads) == rows_of_words and any(map(str.isdigit, "".join(part.text for part in over))):
            rows_of_words += 1
        if over and not is_apart and (len(parts) > 1 or is_head(parts[0], bound)):
            heads.append(over)
            about.extend(part for part in parts if part not in over)
        else:
            about.extend(parts)
        if any(map(is_text, parts)):
            break
    if goes_on and full == len(lines):
        return [], tuple(about)
    is_headed = len(heads) > rows_of_words and len(heads[rows_of_words]) >= width - 1
    return heads[rows_of_words if is_headed else max(rows_of_words - 1, 0) :], tuple(about)


def is_head(part: Part, bound: float) -> bool:
    """Whether a part alone on its line stands over the figures; what stands over the whole table is its caption, and
    what all its figures are in."""
    in_brackets = part.text.startswith("(") and part.text.endswith(")")
    is_unit = bool(scale_of(part.text)) and len(part.text.split()) <= _UNIT_WORDS
    # One that names several years speaks of the whole table.
    over = part.left > bound - _LEFT_OF or (part.right > bound and len(set(_YEAR.findall(part.text))) == 1)
    return over and not (is_text(part) or in_brackets or is_unit)


def side_by_side(lines: Sequence[list[Part]], bound: float) -> list[list[Part]]:
    """Lines from top to bottom, heads that stand beside each other as one: those in several lines are often printed
    column by column."""
    found: list[list[Part]] = list(lines[:-_WRAPPED])
    last: list[list[Part]] = []
    for parts in lines[-_WRAPPED:]:
        heads = len(parts) > 1 or is_head(parts[0], bound)
        beside = next((line for line in last if heads and _beside(line, parts)), None)
        if beside is None:
            last.append(list(parts))
        else:
            beside.extend(parts)
            beside.sort(key=lambda part: part.left)
    return [*found, *sorted(last, key=lambda line: line[0].top)]


def _beside(line: Sequence[Part], parts: Sequence[Part]) -> bool:
    one, other = line[0], parts[0]
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    if shared < _BESIDE * min(one.bottom - one.top, other.bottom - other.top):
        return False
    return all(one.right <= other.left or other.right <= one.left for one in line for other in parts)


def heads_over(heads: Sequence[Sequence[Part]], figure: Part, columns: Sequence[Slot]) -> tuple[Part, ...]:
    """Of each line of heads, nearest first, what is a figure's, if any is: the nearest part.

    In the nearest line each column has one. Above that it must stand over the column, or name a year or reach over
    several columns, as what names groups of them does.
    """
    middle = (figure.left + figure.right) / 2
    column = _slot(columns, middle)

    def distance(part: Part) -> tuple[float, float]:
        gap = max(part.left - figure.right, figure.left - part.right, 0.0)
        return gap, abs((part.left + part.right) / 2 - middle)

    nearest = [min(line, key=distance) for line in heads]
    above = (part for part in nearest[1:] if _stands_over(part, column) or _names_several(part, columns))
    return (*nearest[:1], *above)


def _slot(columns: Sequence[Slot], place: float) -> Slot:
    return next(slot for slot in columns if slot[0] <= place <= slot[1])


def _stands_over(part: Part, slot: Slot) -> bool:
    return min(part.right, slot[1]) - max(part.left, slot[0]) > _OVER * (part.right - part.left)


def _names_several(part: Part, columns: Sequence[Slot]) -> bool:
    left, right = _slot(columns, (part.left + part.right) / 2)
    over = sum(_stands_over(part, slot) for slot in columns)
    return bool(_YEAR.search(part.text)) or over > 1 or part.right - part.left > _FILLS * (right - left)
