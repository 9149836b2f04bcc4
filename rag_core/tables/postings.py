"""Distinct cells by what they say: sorted texts, each with the codes of the cells that say it.

Made and kept as Arrow arrays: those of a table of a million rows are mapped, and looked into where they are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Codes = NDArray[np.int32]
_TOGETHER = 65_536


class Texts(Sequence[str]):
    """Texts of an Arrow array, each made when it is asked for."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        if isinstance(place, slice):
            return Texts(self.array[place])
        text: str = self.array[place].as_py()
        return text

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self.array), _TOGETHER):
            yield from self.array[first : first + _TOGETHER].to_pylist()


class Postings(Mapping[str, Codes]):
    """keys: texts in order, an Arrow array; codes: a list of codes for each, in order."""

    def __init__(self, keys: Any, codes: Any) -> None:
        self.keys_array, self.codes = keys, codes
        self._texts = Texts(keys)

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, int]]) -> Postings:
        """Those of texts with their codes."""
        left, pieces = iter(pairs), []
        while some := list(islice(left, _TOGETHER)):
            texts, numbers = zip(*some, strict=True)
            pieces.append((pa.array(texts, pa.large_string()), np.array(numbers, np.int32)))
        if not pieces:  # of most columns of a wide table: figures have no words
            return cls(pa.array([], pa.large_string()), pa.array([], pa.list_(pa.int32())))
        known = pa.chunked_array([texts for texts, _ in pieces], pa.large_string()).combine_chunks().dictionary_encode()
        codes = np.concatenate([codes for _, codes in pieces])
        order = pc.sort_indices(known.dictionary).to_numpy()
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        ranks = rank[known.indices.to_numpy()]
        ends = np.cumsum(np.bincount(ranks, minlength=len(order)))
        offsets = pa.array(np.concatenate([[0], ends]), pa.int32())
        sorted_codes = pa.array(codes[np.lexsort((codes, ranks))], pa.int32())
        return cls(known.dictionary.take(order), pa.ListArray.from_arrays(offsets, sorted_codes))

    def __len__(self) -> int:
        return len(self._texts)

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __getitem__(self, key: str) -> Codes:
        place = bisect_left(self._texts, key)
        if place == len(self._texts) or self._texts[place] != key:
            raise KeyError(key)
        codes: Codes = self.codes[place].values.to_numpy()
        return codes
