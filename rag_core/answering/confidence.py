"""How far an answer can be trusted, 0..1: never a bare cosine, whose scale changes with the question.

Extractive answers: the probability that the quoted sentences hold the answer, a logistic regression of meaning, words,
names and answer type (rag_core.generation.extractive.belief). Written answers: the geometric mean of that same
probability, taken over the passages found, and the share of the answer's sentences that the passages support. An
abstention carries the probability that the passages hold an answer after all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rag_core.domain import Hit, Sentence
from rag_core.generation.extractive import WEIGHTS, Encode, belief, gather


def evidence(question: str, hits: Sequence[Hit], encode: Encode) -> float:
    """Probability that the hits hold an answer to the question; 0 without hits."""
    found = gather(question, hits, encode) if hits else None
    if found is None or not found.candidates:
        return 0.0
    scores = found.features @ np.asarray(list(WEIGHTS.values()))
    return belief(question, hits, found.features[int(scores.argmax())])


def support(sentences: Sequence[Sentence]) -> float:
    """Share of sentences that the passages support; 0 for an empty answer."""
    return sum(sentence.supported for sentence in sentences) / len(sentences) if sentences else 0.0


def written(found: float, sentences: Sequence[Sentence]) -> float:
    """Confidence in a written answer: sqrt(evidence * support)."""
    return math.sqrt(found * support(sentences))
