"""Re-rankers score the candidates once more."""

from __future__ import annotations

import numpy as np

from rag_core.domain import Document, Scope
from rag_core.retrieval.candidates import Candidates
from rag_core.retrieval.identity import Meant
from rag_core.retrieval.query import Query
from rag_core.retrieval.reranking import AUTOMATIC, RERANKERS
from rag_core.retrieval.reranking.feedback import FeedbackReranker
from rag_core.retrieval.reranking.pieces import PiecesReranker, best_pieces, with_pieces
from rag_core.retrieval.reranking.rows import RowsReranker
from rag_core.storage.postgres.passages import PassageRow

LONG = "effects of boundary layer suction on laminar flow over swept wings at transonic speed with heat transfer"
ROWS = np.array([[1, 0], [0.98, 0.2], [0.96, 0.28], [0, 1], [0.9, 0.4]], np.float32)
DOCUMENT = Document("d", "Acme report", "text/plain", 1, "ready")
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


def in_pieces(*pieces: list[list[int]] | None) -> Candidates:
    """Candidates of equal scores; each has these pieces, int8 (p, 2)."""
    refs = [("a", index) for index in range(len(pieces))]
    rows = [
        PassageRow(*ref, 1, "", "", 0, 1, "[]", "text", "", np.array(held, np.int8).tobytes() if held else None)
        for ref, held in zip(refs, pieces, strict=True)
    ]
    equal = np.full(len(refs), 0.5, np.float32)
    return Candidates(refs, equal, "fused", {"dense": equal, "lexical": equal * 8}, None, rows)


def test_a_chunk_is_as_near_as_its_best_piece() -> None:
    found = best_pieces(query("words"), in_pieces([[0, -9], [90, 90]], [[127, 0]], None))
    np.testing.assert_allclose(found, [1, np.sqrt(0.5), np.nan], rtol=1e-6)


def test_the_best_piece_decides_between_equals() -> None:
    chunks = with_pieces(query("words"), in_pieces([[127, 0]], [[1, -127], [90, 90]]))
    scores = PiecesReranker().scores(query("words"), chunks)
    assert scores is not None
    assert [index for _, index in chunks.scored(scores, "rerank", "rerank").refs] == [1, 0]


def test_chunks_of_older_libraries_have_no_pieces() -> None:
    without = with_pieces(query("words"), in_pieces(None, None))
    assert "piece" not in without.scores
    assert PiecesReranker().scores(query("words"), without) is None


def in_rows(*texts: str) -> Candidates:
    """Candidates of one document with these texts, of equal scores."""
    refs = [(DOCUMENT.id, index) for index in range(len(texts))]
    rows = [PassageRow(*ref, 1, "", "", 0, 1, "[]", text, "", None) for ref, text in zip(refs, texts, strict=True)]
    return Candidates(refs, np.full(len(refs), 0.5, np.float32), "fused", {}, None, rows, {DOCUMENT.id: DOCUMENT})


def test_a_row_that_is_called_as_asked_lifts_its_chunk() -> None:
    chunks = in_rows(
        "Assets held abroad are assets of the whole.",
        "Total non-current assets\t180\t175\nTotal current assets\t143\t162",
        "Net sales\t274\t260\nTotal assets\t323\t338",
    )
    scores = RowsReranker().scores(query(f"What were the total assets of {DOCUMENT.title} in 2020?"), chunks)
    assert scores is not None
    assert [index for _, index in chunks.scored(scores, "rerank", "rerank").refs] == [2, 1, 0]


def test_chunks_without_rows_are_left_alone() -> None:
    assert RowsReranker().scores(query("total assets"), in_rows("Total assets rose.", "A\tB\nC\tD")) is None
