"""Which rows a search may return: some dumps, or some rows of each."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from accelerator.segment import Segment

Wanted = NDArray[np.intp]
Rows = Iterable[int | range] | NDArray[np.bool_]


class Selection:
    """A restriction of searches to some rows. Made once, it is used for any number of searches at their full speed.

    rows: for each key the numbers of its rows, ranges of them, a mask of bool (n,), or None for all. Unknown keys and
    rows beyond a dump's end are passed over. Thread-safe.
    """

    def __init__(self, rows: Mapping[str, Rows | None]) -> None:
        self._rows = {key: None if wanted is None else _kept(wanted) for key, wanted in rows.items()}
        self._places: weakref.WeakKeyDictionary[Segment, Wanted] = weakref.WeakKeyDictionary()

    def rows(self, key: str, count: int) -> Wanted | None:
        """The numbers of a dump's rows that are wanted, of `count`, in order; None for all."""
        wanted = self._rows.get(key, ())
        if wanted is None:
            return None
        parts = [_within(item, count) for item in wanted]
        return np.unique(np.concatenate(parts)) if parts else _NONE

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def places(self, segment: Segment) -> Wanted:
        """Where the wanted rows of a segment lie, in order."""
        found = self._places.get(segment)
        if found is None:
            parts = [self._of_key(segment, number) for number, key in enumerate(segment.keys) if key in self._rows]
            found = np.sort(np.concatenate(parts)) if parts else _NONE
            self._places[segment] = found
        return found

    def _of_key(self, segment: Segment, number: int) -> Wanted:
        places = segment.places(number).astype(np.intp)
        wanted = self.rows(segment.keys[number], len(places))
        return places if wanted is None else places[wanted]


def _kept(wanted: Rows) -> tuple[range | Wanted, ...]:
    if isinstance(wanted, np.ndarray) and wanted.dtype == np.bool_:
        return (np.flatnonzero(wanted),)
    items = list(wanted)
    numbers = np.array([item for item in items if not isinstance(item, range)], dtype=np.intp)
    return (numbers, *(item for item in items if isinstance(item, range)))


def _within(item: range | Wanted, count: int) -> Wanted:
    if isinstance(item, range):
        item = item if item.step > 0 else item[::-1]
        first = item.start if item.start >= 0 else item.start % item.step
        return np.arange(first, min(item.stop, count), item.step, dtype=np.intp)
    return item[(item >= 0) & (item < count)]


_NONE: Wanted = np.empty(0, dtype=np.intp)
