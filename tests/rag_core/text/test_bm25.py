"""BM25 over a handful of texts, against the formula by hand."""

from __future__ import annotations

import math

import pytest

from rag_core.text.bm25 import Bm25


def test_bm25_by_hand() -> None:
    texts = [["a", "b"], ["a", "a", "c", "d"], ["e", "f"]]
    engine = Bm25(texts)
    idf = math.log(1 + (3 - 1 + 0.5) / 1.5)
    norm = 0.9 * (1 - 0.4 + 0.4 * 2 / (8 / 3))
    assert engine.scores(["b"])[0] == pytest.approx(idf * 1.9 / (1 + norm) / (idf * 1.9))
    assert engine.scores(["b"])[1:] == [0, 0]
    assert engine.scores(["a"])[0] > 0
    assert engine.scores([]) == [0, 0, 0]
    assert Bm25([]).scores(["a"]) == []
