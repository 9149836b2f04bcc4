"""Lines that were found across two columns of a picture are cut where no ink is, over several rows, between these.

The model that finds lines joins what stands as near as two words do; but words' gaps lie elsewhere in each row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Corners = NDArray[np.float32]
Span = tuple[float, float]

# Heights of a row.
_GAP = 0.45
_COLUMN = 8.0
_ROWS = 4  # so many below each other have the gap
_EDGE = 0.1  # of the gap goes with the line before it, and with the one after it


@dataclass(frozen=True, slots=True)
class _Row:
    """Lines beside each other, by place, and from and to which pixel there is no ink between two columns' widths."""

    places: tuple[int, ...]
    top: float
    bottom: float
    gaps: tuple[Span, ...]

    @property
    def height(self) -> float:
        return self.bottom - self.top


@dataclass(frozen=True, slots=True)
class _Gutter:
    """The gap that rows below each other share."""

    rows: tuple[_Row, ...]
    left: float
    right: float

    def with_row(self, row: _Row, gap: Span) -> _Gutter | None:
        """What is left of it where it goes on in the next row."""
        left, right = max(self.left, gap[0]), min(self.right, gap[1])
        if right - left < _GAP * row.height / 2 or row.top - self.rows[-1].bottom > row.height:
            return None
        return _Gutter((*self.rows, row), left, right)


def split_at_gutters(pixels: NDArray[np.uint8], found: Sequence[Corners]) -> list[Corners]:
    """The lines, those across a gutter as one on each side of it.

    pixels: uint8 (height, width, 3). found: the corners of level lines, float32 (4, 2), clockwise from the upper left.
    """
    ink = _ink(pixels)
    rows = [_row(ink, found, places) for places in _places(found)]
    cuts: dict[int, list[Span]] = {}
    for gutter in _gutters(rows):
        for place in (place for row in gutter.rows for place in row.places):
            cuts.setdefault(place, []).append((gutter.left, gutter.right))
    return [part for place, corners in enumerate(found) for part in _parts(corners, sorted(cuts.get(place, ())))]


def _ink(pixels: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Where a picture has what is written, dark or light (Otsu 1979)."""
    import cv2

    _, light = cv2.threshold(cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY), 0, 1, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    is_light = light.astype(bool)
    return ~is_light if is_light.mean() > 0.5 else is_light


def _places(found: Sequence[Corners]) -> Iterator[tuple[int, ...]]:
    """The lines of each row, from the top."""
    row: list[int] = []
    for place in sorted(range(len(found)), key=lambda one: float(found[one][:, 1].mean())):
        if row and found[place][:, 1].mean() > found[row[0]][:, 1].max():
            yield tuple(row)
            row = []
        row.append(place)
    if row:
        yield tuple(row)


def _row(ink: NDArray[np.bool_], found: Sequence[Corners], places: tuple[int, ...]) -> _Row:
    corners = np.concatenate([found[place] for place in places])
    left, top = map(int, np.maximum(corners.min(axis=0), 0))
    right, bottom = map(int, corners.max(axis=0))
    inked = np.flatnonzero(ink[top : bottom + 1, left : right + 1].sum(axis=0) > 1)  # a speck is none
    height = bottom - top
    wide = [
        (float(left + before), float(left + after))
        for before, after in pairwise(inked)
        if after - before > _GAP * height and min(before - inked[0], inked[-1] - after) > _COLUMN * height
    ]
    return _Row(places, top, bottom, tuple(wide))


def _gutters(rows: Sequence[_Row]) -> Iterator[_Gutter]:
    """Those that enough rows share, the longest of what begins in one row and goes on."""
    known: list[_Gutter] = []
    for row in rows:
        longer = []
        for gap in row.gaps:
            before = [one for gutter in known if (one := gutter.with_row(row, gap))]
            longer.append(max(before, key=lambda one: len(one.rows), default=_Gutter((row,), *gap)))
        gone_on = {one.rows[:-1] for one in longer}
        yield from (one for one in known if len(one.rows) >= _ROWS and one.rows not in gone_on)
        known = longer
    yield from (one for one in known if len(one.rows) >= _ROWS)


def _parts(corners: Corners, gutters: Sequence[Span]) -> Iterator[Corners]:
    """The line's parts beside the gutters that it reaches over."""
    first, last = (float(corners[place][0]) for place in (0, 1))
    start = first
    for left, right in gutters:
        if start < left and right < last:
            edge = _EDGE * (right - left)
            yield _part(corners, start, left + edge)
            start = right - edge
    yield corners if start == first else _part(corners, start, last)


def _part(corners: Corners, left: float, right: float) -> Corners:
    """What of a line lies between two places."""
    upper_left, upper_right, lower_right, lower_left = corners
    first, last = np.interp([left, right], [upper_left[0], upper_right[0]], [0.0, 1.0])
    upper, lower = upper_right - upper_left, lower_right - lower_left
    return np.array(
        [upper_left + first * upper, upper_left + last * upper, lower_left + last * lower, lower_left + first * lower],
        np.float32,
    )
