"""Pseudo-relevance feedback: what is like the first candidates gains, unless the question means a certain document.

Rocchio, "Relevance Feedback in Information Retrieval", 1971, with vectors for terms. It helps where many documents deal
with what is asked, and harms where one has the answer: so its weight falls the surer a document is meant.
"""

from __future__ import annotations

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
        weight = fitted["most"] * (1 - min(1.0, max(query.understood.documents.values(), default=0.0)))
        if weight < _LEAST or candidates.vectors is None or len(candidates) <= 1:
            return None
        lengths = np.linalg.norm(candidates.vectors, axis=1, keepdims=True)
        unit = candidates.vectors / np.maximum(lengths, 1e-12)
        first = candidates.score[: fitted["first"]]
        shares = np.exp((first - first.max()) / fitted["temperature"])
        centre = shares @ unit[: len(first)]
        centre /= max(float(np.linalg.norm(centre)), 1e-12)
        return np.asarray(candidates.score + weight * (unit @ centre), dtype=np.float32)
