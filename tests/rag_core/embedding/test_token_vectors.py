"""Token vectors with where they stand."""

from __future__ import annotations

import numpy as np

from rag_core.embedding import open_embedder
from rag_core.embedding.token_vectors import whole
from rag_core.settings import Settings

TEXTS = ["The ferry leaves at noon.", "word " * 600, ""]


def test_tokens_of_real_texts() -> None:
    settings = Settings()
    with open_embedder(settings.embedding, settings.models_dir) as embedder:
        short, long, nothing = embedder.encode_tokens(TEXTS)
        assert embedder.encode_tokens([]) == []
    vectors, spans = short
    assert [TEXTS[0][start:end] for start, end in spans] == ["The", "ferry", "leaves", "at", "noon", "."]
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert len(long[0]) == 600  # each token once, though the text takes several windows
    assert (np.diff(long[1][:, 0]) > 0).all()
    assert nothing[0].shape[0] == 0


def test_windows_share_tokens_and_marks_are_left_out() -> None:
    first = (np.eye(4, dtype=np.float32), np.array([[0, 0], [0, 3], [4, 7], [0, 0]]))
    second = (2 * np.eye(4, dtype=np.float32), np.array([[0, 0], [4, 7], [8, 9], [0, 0]]))
    vectors, spans = whole([first, second])
    assert spans.tolist() == [[0, 3], [4, 7], [8, 9]]
    assert vectors.tolist() == [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0]]
