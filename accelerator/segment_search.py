"""The search within one sealed segment: first the int8 copy, then the float32 rows of what can be among the best.

Exact, in three steps, each of which can only leave out what cannot be among the best k. (1) The int8 head of every row
gives a score; some of the best by it are scored in float32, and the k-th of these is a floor under the result. (2) A
row's true score is at most its head's score, plus the heads' rounding, plus the length of its tail times that of the
query's (Cauchy and Schwarz). What stays below the floor is out. (3) Where much is left, the int8 tail is added and the
bound is then the rounding alone; what is left is scored in float32, the most promising first, until the rest is below
the floor, which rises meanwhile.

Fast leaves out step 2 and 3, and looks at the clusters nearest to the query alone.

Where a segment is so small that the processor's caches hold its float32 rows, they are all scored: the steps would take
longer than they save.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from accelerator.backends.base import Backend
from accelerator.backends.cpu import CpuBackend
from accelerator.buffers import BUFFERS
from accelerator.errors import DumpCorrupt
from accelerator.products import inner
from accelerator.quantise import LONGEST, RoundedVector
from accelerator.segment import Segment

Floats = NDArray[np.float32]
Places = NDArray[np.intp]

# Rows are compared by groups of this many, far from each other: sorting their greatest scores replaces sorting all.
_GROUP = 32
# Float32 arithmetic over unit vectors, rotation included, is off by less than this for any width met here.
_SLACK = np.float32(1e-4)
# No product of two vectors of unit length is greater, however it was rounded: such a row is damaged.
_MOST = np.float32(1.01)
_LEAST = float(np.finfo(np.float32).min)
# What is scored in float32 at once while the floor rises.
_PORTION = 2048
# Above so many rows left the int8 tails are read before the float32 rows, which are 8 times as long.
_MANY = 128
# Fast looks at so many rows and a 512th of all, and at 64 for each that is wanted, in the clusters whose centroids are
# nearest; a wide cluster counts as nearer by this share of its spread. Bounds of clusters would not do: on real vectors
# they leave out next to none.
_FAST_ROWS = 20_480
_FAST_SHARE = 512
_FAST_EACH = 64
_OF_SPREAD = 0.3


class Candidates(NamedTuple):
    """Rows of a segment by their places, (c,), and their cosines in float32, (c,), off by at most 1e-4."""

    places: Places
    scores: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Hidden:
    """Rows that must not be found, bool (n,), or None for none; `chosen`: since a search is restricted to others."""

    rows: NDArray[np.bool_] | None = None
    chosen: bool = False

    def apply(self, scores: Floats) -> None:
        """Take them out of the scores of all rows."""
        if self.rows is not None:
            np.putmask(scores, self.rows, np.float32(-np.inf))


def candidates(
    segment: Segment, backend: Backend, unit: Floats, k: int, *, fast: bool, hidden: Hidden, floor: float
) -> Candidates:
    """Every row that can be among the best k and reach `floor`; with `fast`, nearly every one.

    unit: float32 (d,), of unit length. Raises BackendUnavailable.
    """
    if isinstance(backend, CpuBackend) and segment.unit and segment.rows.nbytes <= backend.plain_bytes:
        return _plainly(segment, unit, backend.threads, k, hidden, floor)
    rotated = inner(segment.axes, unit)
    if isinstance(backend, CpuBackend):
        return _Staged(segment, backend, unit, rotated, k, hidden).find(fast, floor)
    scores, errors = backend.scores(segment.block, rotated[None])
    return among(segment, unit, scores[0], float(errors[0]), k, fast=fast, hidden=hidden, floor=floor)


def among(
    segment: Segment, unit: Floats, scores: Floats, error: float, k: int, *, fast: bool, hidden: Hidden, floor: float
) -> Candidates:
    """The candidates by scores of every row, float32 (n,), that are off the int8 copy's by at most `error`."""
    hidden.apply(scores)
    places = _promising(scores, _promised(k))
    found = scored(segment, unit, places)
    if fast:
        return found
    least = _floor(found, k, floor)
    most = scores + segment.errors
    left = _reaching(most, least - error - float(_SLACK))
    return _rising(segment, unit, found, left, most[left], k, least, error)


def scored(segment: Segment, unit: Floats, places: Places) -> Candidates:
    """The rows at some places with their cosines. A damaged row is left out, and hides no other."""
    rows = segment.rows[places]
    scores = inner(rows, unit)
    if not segment.unit:
        lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows, dtype=np.float64)).astype(np.float32)
        scores = np.divide(scores, lengths, out=np.zeros_like(scores), where=lengths > 0)
    sound = scores <= _MOST
    return Candidates(places, scores) if sound.all() else Candidates(places[sound], scores[sound])


def _plainly(segment: Segment, unit: Floats, threads: int, k: int, hidden: Hidden, floor: float) -> Candidates:
    """All rows scored in float32; those are candidates that come near the k-th best."""
    scores = inner(segment.rows, unit, threads)
    if not scores.max(initial=-1) <= _MOST:  # a damaged row is never found, and hides no other
        scores[~(scores <= _MOST)] = -np.inf
    hidden.apply(scores)
    if len(scores) > k:
        floor = max(floor, _reached(scores, k))
    places = _reaching(scores, floor - float(_SLACK))
    return Candidates(places, scores[places])


class _Staged:
    """A search by head, then tail, on the processor. Scores by the head are in units of the query's scale."""

    def __init__(
        self, segment: Segment, backend: CpuBackend, unit: Floats, rotated: Floats, k: int, hidden: Hidden
    ) -> None:
        width = segment.block.head.shape[1]
        self._segment = segment
        self._backend = backend
        self._unit = unit
        self._k = k
        self._hidden = hidden
        self._head = RoundedVector.of(rotated[:width])
        self._tail = RoundedVector.of(rotated[width:])

    def find(self, fast: bool, floor: float) -> Candidates:
        nearby = self._nearby() if fast and not self._hidden.chosen else None
        if nearby is not None:
            found = self._among(nearby)
            if len(found.places) >= self._k:  # or what is near was removed
                return found
        scores = self._heads()
        found = scored(self._segment, self._unit, _promising(scores, _promised(self._k)))
        return found if fast else self._widened(scores, found, _floor(found, self._k, floor))

    def _heads(self) -> Floats:
        """Scores of all rows by their int8 heads."""
        scores = self._backend.part(self._segment.block.head, self._head.codes)
        scores *= self._segment.block.head_scales
        self._hidden.apply(scores)
        return scores

    def _nearby(self) -> Places | None:
        """The places of the rows of the nearest clusters, in order; None when those are all."""
        arrays = self._segment.sections.arrays
        starts, clusters = arrays["cluster_starts"], len(arrays["centroids"])
        rows = len(self._segment)
        look_at = max(_FAST_ROWS + rows // _FAST_SHARE, _FAST_EACH * self._k)
        wanted = -(-look_at * clusters // rows)
        if wanted >= clusters:
            return None
        scores = self._backend.part(arrays["centroids"], self._head.codes)
        scores *= arrays["cluster_scales"]
        scores += arrays["spreads"] * np.float32(_OF_SPREAD / (self._head.scale or 1.0))
        chosen = _promising(scores, wanted)
        begin, end = starts[chosen].astype(np.intp), starts[chosen + 1].astype(np.intp)
        if (end <= begin).any() or int(end.max()) > rows:
            raise DumpCorrupt(f"{self._segment.path} has clusters that cannot be")
        return _ranges(begin, end)

    def _among(self, places: Places) -> Candidates:
        """The best by their heads of the rows at some places."""
        block = self._segment.block
        scores = self._backend.part_at(block.head, places, self._head.codes)
        scores *= block.head_scales[places]
        if self._hidden.rows is not None:
            np.putmask(scores, self._hidden.rows[places], np.float32(-np.inf))
        return scored(self._segment, self._unit, places[_promising(scores, _promised(self._k))])

    def _widened(self, scores: Floats, found: Candidates, least: float) -> Candidates:
        """The candidates, and whatever else can reach the floor."""
        segment, scale = self._segment, self._head.scale or 1.0
        error = segment.head_error * self._head.length + LONGEST * self._head.error
        most: Floats = BUFFERS.array("most", scores.shape, np.float32)
        np.multiply(segment.tails, np.float32(self._tail.length / scale), out=most)
        most += scores
        left = _reaching(most, (least - error - float(_SLACK)) / scale)
        most = most[left] * np.float32(scale)
        if len(left) > _MANY and self._tail.codes.size:
            most, error = self._by_tails(scores, left), LONGEST * (self._head.error + self._tail.error)
        return _rising(segment, self._unit, found, left, most, self._k, least, error)

    def _by_tails(self, scores: Floats, left: Places) -> Floats:
        """What rows can reach by head and tail, before the error of rounding the query."""
        block = self._segment.block
        if len(left) > len(block) // 4:
            products = self._backend.part(block.tail, self._tail.codes)[left]
        else:
            products = self._backend.part_at(block.tail, left, self._tail.codes)
        most = products * block.tail_scales[left]
        most *= np.float32(self._tail.scale)
        most += scores[left] * np.float32(self._head.scale or 1.0)
        most += self._segment.errors[left]
        return most


def _ranges(begin: Places, end: Places) -> Places:
    """All places of some ranges, none of which is empty, one after the other."""
    before = np.cumsum(end - begin)
    places: Places = BUFFERS.array("places", (int(before[-1]),), np.intp)
    places[:] = 1
    places[0] = begin[0]
    places[before[:-1]] = begin[1:] - end[:-1] + 1
    return np.cumsum(places, out=places)


def _reaching(scores: Floats, least: float) -> Places:
    reaching = BUFFERS.array("reaching", scores.shape, np.bool_)
    np.greater_equal(scores, _at_least(least), out=reaching)
    return np.flatnonzero(reaching)


def _at_least(least: float) -> np.float32:
    """A floor that hidden rows, which score minus infinity, do not reach."""
    return np.float32(max(least, _LEAST))


def _promised(k: int) -> int:
    """How many rows are scored in float32 at first."""
    return 4 * k + 64


def _promising(scores: Floats, wanted: int) -> Places:
    """Some places with the greatest scores, in order: at least `wanted` where so many are not hidden."""
    if len(scores) <= wanted:
        return np.flatnonzero(scores > -np.inf)
    least = _reached(scores, wanted)
    if np.isnan(least):  # of a damaged scale: such rows are looked at in float32, and hide no others
        return _promising(np.where(np.isnan(scores), np.float32(np.inf), scores), wanted)
    return _reaching(scores, least)


def _reached(scores: Floats, wanted: int) -> float:
    """A score that at least `wanted` of them reach, and not many more. NaN where one of those is."""
    size = min(_GROUP, len(scores) // (4 * wanted))
    greatest = scores
    if size > 1:
        groups = len(scores) // size
        greatest = scores[: groups * size].reshape(size, groups).max(axis=0)
    return float(np.partition(greatest, len(greatest) - wanted)[-wanted])


def _floor(found: Candidates, k: int, floor: float) -> float:
    """What a row must reach, as far as known."""
    if len(found.scores) < k:
        return floor
    return max(floor, float(np.partition(found.scores, len(found.scores) - k)[-k]) - float(_SLACK))


def _rising(
    segment: Segment, unit: Floats, found: Candidates, left: Places, most: Floats, k: int, floor: float, error: float
) -> Candidates:
    """What is left scored in float32, the most promising first, until the rest cannot reach the floor.

    most: what each row that is left can reach, float32, before `error`.
    """
    can = most >= _at_least(floor - error - float(_SLACK))
    left, most = left[can], most[can]
    if len(left) > _PORTION:
        order = np.argsort(-most)
        left, most = left[order], most[order]
    known = np.isin(left, found.places, assume_unique=True)
    left, most = left[~known], most[~known]
    places, scores = [found.places], [found.scores]
    for start in range(0, len(left), _PORTION):
        if start and most[start] < floor - error - _SLACK:
            break
        more = scored(segment, unit, left[start : start + _PORTION])
        places.append(more.places)
        scores.append(more.scores)
        floor = _floor(Candidates(more.places, np.concatenate(scores)), k, floor)
    return Candidates(np.concatenate(places), np.concatenate(scores))
