"""Near-duplicates: chunks of the same words, of which one stands for all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import numpy as np

from rag_core.retrieval.candidates import Candidates
from rag_core.text.numbers import numbers

# Chunks that differ by more are never compared word by word.
_NEAR = 0.97
_SAME_WORDS = 0.9
_WORD = re.compile(r"[^\W\d_]+")


def folded(candidates: Candidates, most: int) -> tuple[list[int], Mapping[int, int]]:
    """The places of candidates that stand for themselves, in order, and how many others each stands for.

    One is folded into a better one when nearly all their words are the same, and all their numbers. Only the first
    `most` are looked at.
    """
    if candidates.vectors is None or len(candidates) < 2:
        return list(range(len(candidates))), {}
    near = _unit(candidates.vectors[:most])
    # Not by BLAS, whose threads wait for each other beside other work: 10 ms instead of 0.1.
    similar = np.triu(np.einsum("id,jd->ij", near, near) >= _NEAR, k=1)
    if not similar.any():
        return list(range(len(candidates))), {}
    texts = [row.text for row in candidates.rows[:most]]
    words = [frozenset(_WORD.findall(text.casefold())) for text in texts]
    numbers_of = cache(lambda place: numbers(texts[place]))  # rows of a table are all alike: each is compared with all

    def are_same(one: int, other: int) -> bool:
        is_near = len(words[one] & words[other]) >= _SAME_WORDS * len(words[one] | words[other])
        return is_near and (texts[one] == texts[other] or numbers_of(one) == numbers_of(other))

    gone: set[int] = set()
    counts: dict[int, int] = {}
    for first, second in np.argwhere(similar).tolist():
        if first not in gone and second not in gone and are_same(first, second):
            gone.add(second)
            counts[first] = counts.get(first, 0) + 1
    return [place for place in range(len(candidates)) if place not in gone], counts


def _unit(
    vectors: np.ndarray[tuple[int, ...], np.dtype[np.float32]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: np.ndarray[tuple[int, ...], np.dtype[np.float32]] = vectors / np.maximum(lengths, 1e-12)
    return unit
