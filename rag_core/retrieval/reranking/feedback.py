"""Pseudo-relevance feedback: what is like the first candidates gains, where a question describes a topic at length.

Rocchio, "Relevance Feedback in Information Retrieval", 1971, with vectors for terms. It lifts long descriptions, which
have many relevant chunks, and harms short questions, which have one: so its weight grows with a question's terms.
"""

from __future__ import annotations

import math

import numpy as np

from rag_core.retrieval.candidates import Candidates, Scores
from rag_core.retrieval.query import Query
from rag_core.retrieval.reranking.base import Reranker
from rag_core.retrieval.weights import weights

_LEAST = 0.02


class FeedbackReranker(Reranker):
    """Adds the cosine with the mean of the first candidates' vectors."""

    name = "feedback"

    def scores(self, query: Query, candidates: Candidates) -> Scores | None:
        """See the base class; None for questions that it would not help."""
        fitted = weights()["feedback"]
        weight = fitted["most"] / (1 + math.exp((fitted["terms"] - len(set(query.terms))) / fitted["width"]))
        first = fitted["first"]
        if weight < _LEAST or candidates.vectors is None or len(candidates) <= first:
            return None
        lengths = np.linalg.norm(candidates.vectors, axis=1, keepdims=True)
        unit = candidates.vectors / np.maximum(lengths, 1e-12)
        centre = unit[:first].mean(axis=0)
        centre /= max(float(np.linalg.norm(centre)), 1e-12)
        return np.asarray(candidates.score + weight * (unit @ centre), dtype=np.float32)
