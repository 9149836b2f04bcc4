"""Cells of a sheet that are shown as one: a head over columns stands over each, a name over rows before each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rag_core.reading.flowing.layout import is_figure

MOST_MERGED, _MOST_WIDE, _NAME_CHARS = 10_000, 256, 100


@dataclass(frozen=True, slots=True)
class Merged:
    """Cells that are shown as one: their columns and rows, from 1, and the text that they show."""

    left: int
    top: int
    right: int
    bottom: int
    text: str = ""

    @property
    def names_rows(self) -> bool:
        """Whether the text is a name: an amount of several rows would be counted with each, a remark read again."""
        return len(self.text) <= _NAME_CHARS and not is_figure(self.text)


class MergedCells:
    """The merged cells of a sheet whose rows come one after the other."""

    def __init__(self, found: Iterable[Merged]) -> None:
        self._by_row: dict[int, list[Merged]] = defaultdict(list)
        for one in found:
            self._by_row[one.top].append(one)
        self._going_on: list[Merged] = []

    def fill(self, number: int, cells: list[str | None]) -> None:
        """Put into the cells of a row, by its number, what merged ones say."""
        if self._going_on:
            self._going_on = [one for one in self._going_on if one.bottom >= number]
            for one in self._going_on if any(cells) else ():
                _put(cells, one.left, one.left, one.text)
        if number in self._by_row:
            begun = [replace(one, text=cells[one.left - 1] or "") for one in self._by_row[number] if _says(cells, one)]
            # What alone stands in its row is a title, not a head.
            for one in begun if sum(map(bool, cells)) > 1 else ():
                _put(cells, one.left + 1, min(one.right, one.left + _MOST_WIDE), None)
            self._going_on += [one for one in begun if one.bottom > number and one.names_rows]


def _says(cells: Sequence[str | None], merged: Merged) -> bool:
    return merged.left <= len(cells) and bool(cells[merged.left - 1])


def _put(cells: list[str | None], left: int, right: int, text: str | None) -> None:
    """Put a text, or None, into those cells from column `left` to `right` that say nothing."""
    cells += [""] * (right - len(cells))
    cells[left - 1 : right] = [cell or text for cell in cells[left - 1 : right]]
