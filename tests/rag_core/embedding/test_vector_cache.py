"""What was read lately, and that reading it again costs no pass."""

from __future__ import annotations

import threading

import numpy as np

from rag_core.embedding.base import Forward
from rag_core.embedding.source import ModelSource
from rag_core.embedding.vector_cache import VectorCache
from tests.rag_core.embedding.conftest import FakeEmbedder

LONG, LONGER = "a longer one " * 20, "a longer one " * 22


def vectors(tokens: int) -> tuple[np.ndarray, np.ndarray]:
    return np.ones(2, np.float32), np.ones((tokens, 2), np.float32)


def test_what_was_not_asked_for_longest_goes_first() -> None:
    cache = VectorCache(most_tokens=7)
    cache.put({b"a": vectors(3), b"b": vectors(3)})
    assert cache.get(b"a") is not None
    cache.put({b"c": vectors(3)})
    assert [cache.get(key) is not None for key in (b"a", b"b", b"c")] == [True, False, True]


def test_the_same_row_counts_once() -> None:
    cache = VectorCache(most_tokens=4)
    for key in (b"a", b"b", b"a", b"a"):
        cache.put({key: vectors(2)})
    assert cache.get(b"a") is not None
    assert cache.get(b"b") is not None


def test_of_a_batch_a_row_alone_is_kept() -> None:
    cache, batch = VectorCache(most_tokens=10), vectors(1000)
    cache.put({b"a": (batch[0][:], batch[1][:3])})
    kept = cache.get(b"a")
    assert kept is not None
    assert [array.base for array in kept] == [None, None]
    np.testing.assert_array_equal(kept[1], batch[1][:3])


def test_what_is_longer_than_all_is_not_kept() -> None:
    cache = VectorCache(most_tokens=2)
    cache.put({b"a": vectors(3)})
    assert cache.get(b"a") is None


def test_a_text_is_read_once_beside_none_that_is_much_shorter(fake: FakeEmbedder) -> None:
    first = fake.encode_tokens([LONG, "a short one", LONGER])
    again = fake.encode_tokens(["a short one", LONG, LONG])
    assert sorted(fake.shapes) == [(1, 8), (1, 64), (1, 80)]
    np.testing.assert_array_equal(first[0][0], again[1][0])
    np.testing.assert_array_equal(first[1][0], again[0][0])


def test_the_tokens_of_a_question_come_with_its_vector(fake: FakeEmbedder) -> None:
    vector = fake.encode_query("How deep is the lake?")
    fake.encode_tokens(["How deep is the lake?"])
    assert len(fake.shapes) == 1
    np.testing.assert_array_equal(fake.encode_queries(["Another one?", "How deep is the lake?"])[1], vector)
    assert fake.encode_queries([]).shape == (0, 384)


class Slow(FakeEmbedder):
    """Ends no batch of several texts before `go_on`."""

    go_on = threading.Event()

    def _forward(self, ids: np.ndarray, mask: np.ndarray) -> Forward:
        found = super()._forward(ids, mask)
        if len(ids) > 1:
            self.go_on.wait(60)
        return found


def test_a_question_does_not_wait_for_texts_that_are_added(source: ModelSource) -> None:
    with Slow(source, workers=2) as embedder:
        adding = threading.Thread(target=lambda: embedder.encode([f"text {number}" for number in range(64)]))
        adding.start()
        try:
            assert embedder.encode_query("Who asks?").shape == (384,)
            assert adding.is_alive()
        finally:
            embedder.go_on.set()
            adding.join()
