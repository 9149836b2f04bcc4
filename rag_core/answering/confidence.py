"""How far an answer can be trusted, 0..1: never a bare cosine, whose scale changes with the question.

Extractive answers: the probability that the quotes answer the question (rag_core.answering.strategies.trust). Written
answers: the geometric mean of the probability that the passages hold an answer and the share of the answer's sentences
that the passages support. An abstention carries the probability that the passages hold an answer after all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rag_core.domain import Sentence


def support(sentences: Sequence[Sentence]) -> float:
    """Share of sentences that the passages support; 0 for an empty answer."""
    return sum(sentence.supported for sentence in sentences) / len(sentences) if sentences else 0.0


def written(found: float, sentences: Sequence[Sentence]) -> float:
    """Confidence in a written answer: sqrt(evidence * support)."""
    return math.sqrt(found * support(sentences))
