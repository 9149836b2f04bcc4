"""Sealed segments and unsealed dumps, one query or many, the best rows.

Every part finds candidates its own way: all rows that the rounding of float32, or of 8 bits, could have kept out of the
best k. Those few are scored once more in one way for all parts and backends, so that equal vectors get equal scores
wherever they lie, and every backend returns the same hits.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from accelerator.backends.base import Backend, BackendUnavailable
from accelerator.backends.cpu import CpuBackend
from accelerator.dump import Dump, Layout
from accelerator.errors import DumpMismatch
from accelerator.parts import Part
from accelerator.products import inner
from accelerator.ranking import Found, Match, kth, merged
from accelerator.removals import Removals
from accelerator.sealed import Sealed, View
from accelerator.segment import Segment
from accelerator.selection import Selection
from accelerator.unsealed import Unsealed

_log = logging.getLogger(__name__)
Mode = Literal["auto", "exact", "fast"]
# Fast from here on, where the mode is left to the scanner.
FAST_ROWS = 200_000
# Scores of many queries at once: at most so many, 32 megabytes.
_SCORES = 2**23
_TRIES = 4  # a search during which what it finds goes
_T = TypeVar("_T")


class Scanner:
    """What is searched: dumps, each under a key, and the segments that were compacted from them. Thread-safe.

    A search sees what was there when it began, save that nothing removed meanwhile is returned. Where the backend
    fails, the CPU takes its place, and `note` says so.
    """

    def __init__(self, dimensions: int, backend: Backend | None = None) -> None:
        self.dimensions = dimensions
        self.backend = backend or CpuBackend()
        self.note = ""
        self._lock = threading.Lock()
        self._unsealed = Unsealed(dimensions)
        self._sealed: tuple[Sealed, ...] = ()
        self.removals = Removals()

    def add(self, key: str, dump: Dump) -> None:
        """Make a dump searchable, in place of an earlier one of that key. Raises DumpMismatch (other dimensions)."""
        if dump.dimensions != self.dimensions:
            raise DumpMismatch(f"{dump.path} has {dump.dimensions} dimensions, not {self.dimensions}")
        with self._lock:
            self._forget(key)
            self._unsealed.add(key, dump)

    def attach(self, segment: Segment, keys: Collection[str] | None = None) -> None:
        """Search a segment's rows of some keys, of all for None, in place of what was searched under these keys.

        Raises DumpMismatch (other dimensions).
        """
        if segment.rows.shape[1] != self.dimensions:
            raise DumpMismatch(f"{segment.path} has {segment.rows.shape[1]} dimensions, not {self.dimensions}")
        sealed = Sealed(segment, segment.keys if keys is None else keys)
        with self._lock:
            for key in sealed:
                self._forget(key)
            self._sealed = (*self._sealed, sealed)

    def replace(self, old: Collection[Segment], segment: Segment, unsealed: Mapping[str, Layout]) -> None:
        """Search a segment in place of those it was compacted from, and of dumps, given with their headers.

        What was removed or replaced since the compaction began stays so.
        """
        with self._lock:
            layouts = self._unsealed.layouts()
            kept = {key for sealed in self._sealed if sealed.segment in old for key in sealed}
            taken = {key for key, layout in unsealed.items() if layouts.get(key) == layout}
            for key in taken:
                self._unsealed.remove(key)
            others = (sealed for sealed in self._sealed if sealed.segment not in old)
            self._sealed = (*others, Sealed(segment, kept | taken))
        for item in old:
            self._forget_block(item)

    def detach(self, segment: Segment) -> None:
        """Search a segment no longer."""
        with self._lock:
            gone = {key for sealed in self._sealed if sealed.segment is segment for key in sealed}
            self.removals.note(gone)
            self._sealed = tuple(sealed for sealed in self._sealed if sealed.segment is not segment)
        self._forget_block(segment)

    def remove(self, key: str) -> None:
        """Forget a dump, at once: no search that ends after this returns its rows. An unknown key is no error."""
        with self._lock:
            self._forget(key)

    def sealed(self) -> tuple[Sealed, ...]:
        """The segments and what is found in them."""
        return self._sealed

    def unsealed(self) -> dict[str, Layout]:
        """The dumps that no segment holds, each with its header."""
        with self._lock:
            return self._unsealed.layouts()

    def keys(self) -> set[str]:
        """The keys of all dumps, those without rows too."""
        with self._lock:
            return {*self._unsealed.keys(), *(key for sealed in self._sealed for key in sealed)}

    def __len__(self) -> int:
        """Rows that a search looks at."""
        with self._lock:
            return len(self._unsealed) + sum(map(len, self._sealed))

    def search(
        self, query: NDArray[np.float32], k: int, *, mode: Mode = "auto", within: Selection | None = None
    ) -> list[Match]:
        """The k rows of the greatest cosine, best first; ties by key, then row. Fewer where there are fewer rows.

        query: float32 (d,), finite, not zero, of any length. `exact` finds the true ones always, `fast` nearly always;
        `auto` is exact below FAST_ROWS rows. within: search these rows alone. A row of length zero has cosine 0. What
        is removed or replaced meanwhile is not found; where that never ends there may be fewer than k for it.
        Raises ValueError, DumpCorrupt for a segment that contradicts itself.
        """
        unit = self._unit(query, k)
        vector = unit.astype(np.float32)
        standing: list[Match] = []
        for _ in range(_TRIES):
            with self._snapshot(within, mode) as (views, parts, fast, event):
                found = [Found.in_part(part, inner(part.rows, vector), k) for part in parts]
                for view in views:
                    found.append(self._tried(_finding(view, vector, k, fast, kth(found, k))))
                matches = merged(found, unit, k)
                standing = self._standing(matches, event)
            if len(standing) == len(matches):
                break  # the place of what went belongs to the next best
        return standing

    def search_many(
        self, queries: NDArray[np.float32], k: int, *, mode: Mode = "auto", within: Selection | None = None
    ) -> list[list[Match]]:
        """The best k rows of each query, float32 (m, d), in one pass over the rows for many of them. See `search`."""
        units = [self._unit(query, k) for query in queries]
        most = max(1, _SCORES // max(1, len(self)))
        found: list[list[Match]] = []
        for start in range(0, len(units), most):
            found += self._together(np.stack(units[start : start + most]), k, mode, within)
        return found

    def vectors(self, matches: Sequence[Match]) -> NDArray[np.float32]:
        """The rows of matches, float32 (n, d), as they stand in their dumps. Raises KeyError for a removed key."""
        rows = np.empty((len(matches), self.dimensions), dtype=np.float32)
        of_segments: dict[Sealed, list[int]] = {}
        with self._lock:
            for number, match in enumerate(matches):
                sealed = self._holder(match.key)
                if sealed is None:
                    rows[number] = self._unsealed.row(match.key, match.row)
                else:
                    of_segments.setdefault(sealed, []).append(number)
            for sealed, numbers in of_segments.items():
                rows[numbers] = sealed.segment.rows[
                    sealed.places([(matches[number].key, matches[number].row) for number in numbers])
                ]
        return rows

    def hashed(self, key: str, row: int) -> bytes | None:
        """The hash that a segment holds of a row's text; None where the dump alone has it. Raises KeyError."""
        with self._lock:
            sealed = self._holder(key)
        if sealed is None:
            return None
        return bytes(sealed.segment.sections.arrays["hashes"][sealed.places([(key, row)])[0]].tobytes())

    def _together(self, units: NDArray[np.float64], k: int, mode: Mode, within: Selection | None) -> list[list[Match]]:
        queries = units.astype(np.float32)
        results = []
        with self._snapshot(within, mode) as (views, parts, fast, event):
            products = [queries @ part.rows.T for part in parts]
            scored = [self._tried(_scoring(view, queries)) for view in views]
            for number, unit in enumerate(units):
                found = [Found.in_part(part, all_of[number], k) for part, all_of in zip(parts, products, strict=True)]
                for view, scores in zip(views, scored, strict=True):
                    found.append(view.among(scores, number, queries[number], k, fast=fast, floor=kth(found, k)))
                matches = merged(found, unit, k)
                all_stand = len(self._standing(matches, event)) == len(matches)
                results.append(matches if all_stand else self.search(unit, k, mode=mode, within=within))
        return results

    @contextmanager
    def _snapshot(self, within: Selection | None, mode: Mode) -> Iterator[tuple[list[View], list[Part], bool, int]]:
        """What a search goes through; what is removed until it ends is known to it by the event."""
        with self._lock:
            sealed, parts, event = self._sealed, self._unsealed.parts(within), self.removals.begin()
        try:
            fast = mode == "fast" or (mode == "auto" and sum(len(item.segment) for item in sealed) >= FAST_ROWS)
            yield [item.view(within) for item in sealed], parts, fast, event
        finally:
            with self._lock:
                self.removals.end(event)

    def _tried(self, work: Callable[[Backend], _T]) -> _T:
        """What the backend makes; where it fails, what the CPU makes from now on."""
        try:
            return work(self.backend)
        except BackendUnavailable as error:
            self._fall_back(error)
            return work(self.backend)

    def _fall_back(self, error: BackendUnavailable) -> None:
        self.note = f"The backend {self.backend.name} failed ({error}). The CPU searches in its place."
        _log.warning("%s", self.note)
        self.backend = CpuBackend()

    def _unit(self, query: NDArray[np.float32], k: int) -> NDArray[np.float64]:
        vector = np.asarray(query, dtype=np.float64)
        if vector.shape != (self.dimensions,):
            raise ValueError(f"A query has the shape ({self.dimensions},), not {vector.shape}")
        length = float(np.linalg.norm(vector))
        if not np.isfinite(length) or length == 0:
            raise ValueError("A query must be finite and not zero")
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        return vector / length

    def _holder(self, key: str) -> Sealed | None:
        return next((sealed for sealed in self._sealed if key in sealed), None)

    def _standing(self, matches: Sequence[Match], event: int) -> list[Match]:
        """Those that were not removed or replaced since that event."""
        with self._lock:
            return [match for match in matches if self.removals.none_of([match.key], event)]

    def _forget_block(self, segment: Segment) -> None:
        try:
            self.backend.forget(segment.block.digest)
        except BackendUnavailable as error:
            self._fall_back(error)
        except OSError as error:
            _log.warning("The backend %s keeps files of a segment that is gone: %s", self.backend.name, error)

    def _forget(self, key: str) -> None:
        sealed = self._holder(key)
        if sealed is not None:
            sealed.forget(key)
        elif key in self._unsealed:
            self._unsealed.remove(key)
        else:
            return
        self.removals.note([key])


def _finding(view: View, query: NDArray[np.float32], k: int, fast: bool, floor: float) -> Callable[[Backend], Found]:
    return lambda backend: view.find(backend, query, k, fast=fast, floor=floor)


def _scoring(
    view: View, queries: NDArray[np.float32]
) -> Callable[[Backend], tuple[NDArray[np.float32], NDArray[np.float32]] | None]:
    return lambda backend: view.scores(backend, queries)
