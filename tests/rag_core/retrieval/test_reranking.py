"""Re-rankers score the candidates once more."""

from __future__ import annotations

import numpy as np

from rag_core.domain import Scope
from rag_core.retrieval.candidates import Candidates
from rag_core.retrieval.identity import Meant
from rag_core.retrieval.query import Query
from rag_core.retrieval.reranking import AUTOMATIC, RERANKERS
from rag_core.retrieval.reranking.feedback import FeedbackReranker

LONG = "effects of boundary layer suction on laminar flow over swept wings at transonic speed with heat transfer"
ROWS = np.array([[1, 0], [0.98, 0.2], [0.96, 0.28], [0, 1], [0.9, 0.4]], np.float32)
SCORE = np.array([1.0, 0.95, 0.9, 0.85, 0.84], np.float32)


def candidates(rows: np.ndarray[tuple[int, ...], np.dtype[np.float32]] | None = ROWS) -> Candidates:
    refs = [("a", index) for index in range(len(SCORE))]
    return Candidates(refs, SCORE, "fused", {"fused": SCORE}, rows)


def query(text: str, surely: float = 0.0) -> Query:
    return Query.of(text, np.ones(2, np.float32), Scope(), None, Meant({"a": surely}))


def test_the_automatic_ones_are_there() -> None:
    assert set(AUTOMATIC) <= set(RERANKERS)


def test_feedback_lifts_what_is_like_the_first() -> None:
    scores = FeedbackReranker().scores(query(LONG), candidates())
    assert scores is not None
    found = candidates().scored(scores, "rerank", "rerank")
    assert [index for _, index in found.refs] == [0, 1, 2, 4, 3]
    assert found.kind == "rerank"
    assert {"fused", "rerank"} <= set(found.scores)


def test_feedback_leaves_questions_of_a_document_and_single_candidates_alone() -> None:
    assert FeedbackReranker().scores(query(LONG, surely=1.0), candidates()) is None
    assert FeedbackReranker().scores(query(LONG), candidates(None)) is None
    assert FeedbackReranker().scores(query(LONG), candidates().take([0])) is None
