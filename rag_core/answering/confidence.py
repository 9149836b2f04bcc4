"""How far an answer can be trusted, 0..1: never a bare cosine, whose scale changes with the question.

Extractive answers: the probability that the quotes answer the question (rag_core.answering.strategies.trust). Written
answers: the geometric mean of the probability that the passages hold an answer and the share of the answer's sentences
that the passages support. An abstention carries the probability that the passages hold an answer after all.

With it goes what it comes from, each 0..1. "right": the probability that the quotes answer the question; "answerable":
that the passages hold an answer; "words": the question's words found in the quotes, by their rarity; "share": of the
first quote in the softmax of all sentences' scores; "read": the reader's probability that it answers; "supported": the
share of sentences that the passages support; "citations": `cited`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from rag_core.domain import Citation, Hit, Sentence


def support(sentences: Sequence[Sentence]) -> float:
    """Share of sentences that the passages support; 0 for an empty answer."""
    return sum(sentence.supported for sentence in sentences) / len(sentences) if sentences else 0.0


def written(found: float, sentences: Sequence[Sentence]) -> float:
    """Confidence in a written answer: sqrt(evidence * support)."""
    return math.sqrt(found * support(sentences))


def cited(citations: Sequence[Citation], hits: Sequence[Hit], *, all_valid: bool) -> dict[str, float]:
    """The formula of an earlier system of papers: .4 mean cosine + .3 min(citations, 3) / 3 + .3 if all are valid.

    Nothing where no cosine of a cited passage with the question is known.
    """
    chunks = {citation.chunk_id for citation in citations}
    cosines = [hit.scores["dense"] for hit in hits if hit.chunk_id in chunks and "dense" in hit.scores]
    if not cosines:
        return {}
    return {"citations": 0.4 * fmean(cosines) + 0.3 * min(len(citations), 3) / 3 + 0.3 * all_valid}
