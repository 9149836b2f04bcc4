"""Near-duplicates: chunks of the same words, of which one stands for all."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rag_core.retrieval.candidates import Candidates
from rag_core.text.numbers import numbers
from rag_core.text.tokens import words

# Chunks that differ by more are never compared word by word.
_NEAR = 0.97
_SAME_WORDS = 0.9


def folded(candidates: Candidates, most: int) -> tuple[list[int], Mapping[int, int]]:
    """The places of candidates that stand for themselves, in order, and how many others each stands for.

    One is folded into a better one when nearly all their words are the same, and all their numbers. Only the first
    `most` are looked at.
    """
    if candidates.vectors is None or len(candidates) < 2:
        return list(range(len(candidates))), {}
    near = _unit(candidates.vectors[:most])
    similar = np.triu(near @ near.T >= _NEAR, k=1)
    gone: set[int] = set()
    counts: dict[int, int] = {}
    for first, second in np.argwhere(similar).tolist():
        if first not in gone and second not in gone and _same(candidates, first, second):
            gone.add(second)
            counts[first] = counts.get(first, 0) + 1
    return [place for place in range(len(candidates)) if place not in gone], counts


def _same(candidates: Candidates, first: int, second: int) -> bool:
    one, other = candidates.rows[first].text, candidates.rows[second].text
    held, others = set(words(one)), set(words(other))
    if len(held & others) < _SAME_WORDS * len(held | others):
        return False
    return one == other or numbers(one) == numbers(other)


def _unit(
    vectors: np.ndarray[tuple[int, ...], np.dtype[np.float32]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: np.ndarray[tuple[int, ...], np.dtype[np.float32]] = vectors / np.maximum(lengths, 1e-12)
    return unit
