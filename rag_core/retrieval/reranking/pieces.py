"""What a chunk's own vector blurs: the best of its pieces takes part in its cosine, and the lists are fused once more.

The pieces are pooled from the token vectors of the pass that made the chunk's own vector ("late chunking", Günther et
al., 2024), so they know what stands around them, and cost nothing while adding.
"""

from __future__ import annotations

import numpy as np

from rag_core.retrieval.candidates import Candidates, Scores
from rag_core.retrieval.fusion import convex, identity
from rag_core.retrieval.query import Query
from rag_core.retrieval.reranking.base import Reranker
from rag_core.retrieval.weights import weights
from rag_core.storage.postgres.pieces import pieces_of

PIECE = "piece"


class PiecesReranker(Reranker):
    """Fuses again, a chunk's cosine mixed with that of its best piece."""

    name = "pieces"

    def scores(self, query: Query, candidates: Candidates) -> Scores | None:
        """See the base class; None where no candidate is told with its best piece: see `with_pieces`."""
        if not {"dense", "lexical", PIECE} <= set(candidates.scores):
            return None
        best = candidates.scores[PIECE]
        own = np.float32(weights()["pieces"]["own"])
        dense = candidates.scores["dense"]
        mixed = np.where(np.isnan(best), dense, own * dense + (1 - own) * best)
        scores = {"dense": mixed, "lexical": candidates.scores["lexical"]}
        return convex(query, scores, dict.fromkeys(scores, 0.0)) + identity(query, candidates.refs)


def with_pieces(query: Query, candidates: Candidates) -> Candidates:
    """Told with the score of each one's best piece, where the question has a vector and any has pieces."""
    return candidates.told(PIECE, best_pieces(query, candidates))


def best_pieces(query: Query, candidates: Candidates) -> Scores:
    """The greatest cosine among each candidate's pieces, float32 (n,); NaN for one without pieces."""
    best = np.full(len(candidates), np.nan, dtype=np.float32)
    if query.vector is None:
        return best
    kept = [pieces_of(row.pieces, len(query.vector)) for row in candidates.rows]
    counts = np.array([len(pieces) for pieces in kept])
    if not counts.sum():
        return best
    rows = np.concatenate(kept).astype(np.float32)
    cosines = rows @ (query.vector / np.linalg.norm(query.vector)) / np.linalg.norm(rows, axis=1)
    held = np.flatnonzero(counts)
    begins = np.concatenate([[0], np.cumsum(counts[held])[:-1]])
    best[held] = np.maximum.reduceat(cosines, begins)
    return best
