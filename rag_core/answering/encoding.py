"""How answering sees the embedding model and the reader: functions, so that it needs to know no more of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to vectors of unit length, float32 (n, d)."""

EncodeTokens = Callable[[Sequence[str]], Sequence[tuple[NDArray[np.float32], NDArray[np.int64]]]]
"""Texts to the vectors of their tokens, float32 (t, h), rows of unit length, and their spans, int64 (t, 2)."""

Read = Callable[[str, Sequence[tuple[str, Sequence[str]]]], Sequence[NDArray[np.float64]]]
"""A question and passages, each with its context and its sentences, to what each sentence says to the question,
float64 (sentences, 4) for each passage, whose columns are SUPPORT, SPAN, START and END."""

SUPPORT, SPAN, START, END = range(4)
"""Log odds of a sentence, and of its best span of words, to answer; where that span begins and ends, in characters."""


@dataclass(frozen=True, slots=True)
class Encoder:
    """What passages are looked at with."""

    tokens: EncodeTokens
    read: Read
