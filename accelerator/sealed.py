"""A segment as it is searched now: its file never changes, what may be found in it does."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accelerator.backends.base import Backend
from accelerator.errors import DumpCorrupt
from accelerator.ranking import Found
from accelerator.segment import Segment
from accelerator.segment_search import Hidden, among, candidates, scored
from accelerator.selection import Selection

_log = logging.getLogger(__name__)
# So few wanted rows of a segment are looked at one by one.
_FEW = 512
_Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A segment as one search sees it: without the hidden rows, or these few alone."""

    segment: Segment
    hidden: Hidden
    few: NDArray[np.intp] | None = None

    def find(self, backend: Backend, query: _Floats, k: int, *, fast: bool, floor: float) -> Found:
        """Candidates for one query, float32 (d,) of unit length. Raises BackendUnavailable."""
        if self.few is not None:
            return Found(self.segment, *scored(self.segment, query, self.few))
        best = candidates(self.segment, backend, query, k, fast=fast, hidden=self.hidden, floor=floor)
        return Found(self.segment, *best)

    def scores(self, backend: Backend, queries: _Floats) -> tuple[_Floats, _Floats] | None:
        """Scores of every row for many queries, float32 (m, d), and their errors; None for a few rows.

        Raises BackendUnavailable.
        """
        return None if self.few is not None else backend.scores(self.segment.block, queries @ self.segment.axes.T)

    def among(
        self, scores: tuple[_Floats, _Floats] | None, number: int, query: _Floats, k: int, *, fast: bool, floor: float
    ) -> Found:
        """Candidates for one of many queries, by the scores that were made for all."""
        if self.few is not None:
            return Found(self.segment, *scored(self.segment, query, self.few))
        assert scores is not None  # noqa: S101  only few rows have none
        row, error = scores[0][number], float(scores[1][number])
        best = among(self.segment, query, row, error, k, fast=fast, hidden=self.hidden, floor=floor)
        return Found(self.segment, *best)


class Sealed:
    """The keys that are found in a segment, and the rows that are not (tombstones): bool (n,), None for none.

    Changed under its scanner's lock alone; a view that was taken before may or may not see a change.
    """

    def __init__(self, segment: Segment, keys: Collection[str]) -> None:
        """Those of a segment's keys that are also among `keys` are found, all others are not."""
        self.segment = segment
        self.dead: NDArray[np.bool_] | None = None
        wanted = frozenset(keys)
        self._numbers = {key: number for number, key in enumerate(segment.keys) if key in wanted}
        if len(self._numbers) < len(segment.keys):
            self._hide(number for number, key in enumerate(segment.keys) if key not in wanted)

    def __iter__(self) -> Iterator[str]:
        """The keys that are found, as of now."""
        return iter(list(self._numbers))

    def numbers(self) -> list[tuple[str, int]]:
        """The keys that are found, each with its number in the segment."""
        return list(self._numbers.items())

    def __contains__(self, key: str) -> bool:
        return key in self._numbers

    def forget(self, key: str) -> None:
        """Find a key no longer."""
        self._hide([self._numbers.pop(key)])

    def __len__(self) -> int:
        return len(self.segment) - (0 if self.dead is None else int(np.count_nonzero(self.dead)))

    def places(self, wanted: Sequence[tuple[str, int]]) -> NDArray[np.intp]:
        """Where rows of dumps, by key and number, lie. Raises KeyError, DumpCorrupt."""
        keys = np.array([self._numbers[key] for key, _ in wanted])
        return self.segment.places_of(keys, np.array([row for _, row in wanted]))

    def view(self, within: Selection | None) -> View:
        """What a search restricted to a selection looks at."""
        if within is None:
            return View(self.segment, Hidden(self.dead))
        wanted = self._wanted(within)
        if len(wanted) <= _FEW:
            return View(self.segment, Hidden(), wanted)
        hidden = np.ones(len(self.segment), dtype=np.bool_)
        hidden[wanted] = False
        return View(self.segment, Hidden(hidden, chosen=True))

    def _wanted(self, within: Selection) -> NDArray[np.intp]:
        places = within.places(self.segment)
        return places if self.dead is None else places[~self.dead[places]]

    def _hide(self, numbers: Iterable[int]) -> None:
        dead = np.zeros(len(self.segment), dtype=np.bool_) if self.dead is None else self.dead
        for number in numbers:
            try:
                dead[self.segment.places(number)] = True
            except DumpCorrupt:  # its rows are refused where they are found: a removal does not fail
                _log.warning("%s is damaged", self.segment.path)
        self.dead = dead if dead.any() else None
