"""What the base class does for every runtime, seen through a runtime that computes in plain sight."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from rag_core.embedding import base
from rag_core.embedding.source import ModelSource
from rag_core.errors import Cancelled, ModelUnavailable
from tests.rag_core.embedding.conftest import FakeEmbedder

TEXTS = [f"number {number} " + "and more words " * (number * 7 % 40) for number in range(97)]


@pytest.mark.parametrize("count", [0, 1, 3, 97])
def test_rows_come_in_the_order_of_texts(fake: FakeEmbedder, count: int) -> None:
    vectors = fake.encode(TEXTS[:count])
    assert vectors.shape == (count, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    for text, vector in zip(TEXTS[:count], vectors, strict=True):
        np.testing.assert_allclose(vector, fake.encode_query(text), atol=1e-5)


def test_batches_hold_rows_of_about_the_same_length(fake: FakeEmbedder) -> None:
    fake.encode(TEXTS)
    assert max(rows for rows, _ in fake.shapes) == 8
    assert len({width for _, width in fake.shapes}) > 4
    padded = sum(rows * width for rows, width in fake.shapes)
    assert padded < 1.25 * sum(count + 2 for count in fake.count_tokens(TEXTS))


def test_more_texts_than_one_window(fake: FakeEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fake.encode(TEXTS)
    monkeypatch.setattr(base, "_TOGETHER", 10)
    np.testing.assert_allclose(fake.encode(TEXTS), whole, atol=1e-5)


def test_equal_texts_are_embedded_once(fake: FakeEmbedder) -> None:
    steps: list[tuple[int, int]] = []
    vectors = fake.encode(["same", "other", "same", "same"], progress=lambda *step: steps.append(step))
    np.testing.assert_array_equal(vectors[[0, 0]], vectors[[2, 3]])
    assert sum(rows for rows, _ in fake.shapes) == 2
    assert steps[-1] == (4, 4)


def test_progress_counts_texts_in_the_callers_thread(fake: FakeEmbedder) -> None:
    steps: list[tuple[int, int]] = []
    threads = set()

    def progress(done: int, total: int) -> None:
        steps.append((done, total))
        threads.add(threading.current_thread())

    fake.encode(TEXTS, progress=progress)
    assert steps == sorted(steps)
    assert steps[-1] == (97, 97)
    assert len(steps) == 13
    assert threads == {threading.current_thread()}


def test_cancelling_stops_between_batches(fake: FakeEmbedder) -> None:
    with pytest.raises(Cancelled):
        fake.encode(TEXTS * 5, cancelled=lambda: len(fake.shapes) > 2)
    assert len(fake.shapes) <= 13
    assert len(fake.encode(TEXTS)) == 97


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0], ids=["NaN", "infinite", "zero"])
def test_vectors_that_cannot_be_used_are_refused(fake: FakeEmbedder, bad: float) -> None:
    fake._table[:] = bad
    with pytest.raises(ModelUnavailable, match="cannot be used"):
        fake.encode(["text"])


def test_a_closed_embedder_says_so(source: ModelSource) -> None:
    embedder = FakeEmbedder(source)
    embedder.close()
    embedder.close()
    with pytest.raises(ModelUnavailable, match="closed"):
        embedder.encode(["text"])
    with pytest.raises(ModelUnavailable, match="closed"):
        embedder.encode_query("text")


def test_several_threads_at_once(fake: FakeEmbedder) -> None:
    expected, faults = fake.encode(TEXTS), []

    def work() -> None:
        if not np.allclose(fake.encode(TEXTS), expected, atol=1e-5):
            faults.append("differs")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


def test_prompts_stand_before_texts_and_questions(source: ModelSource) -> None:
    from dataclasses import replace

    prompted = replace(source, query_prompt="query: ", text_prompt="passage: ")
    with FakeEmbedder(source) as plain, FakeEmbedder(prompted) as embedder:
        np.testing.assert_array_equal(embedder.encode_query("a"), plain.encode_query("query: a"))
        np.testing.assert_array_equal(embedder.encode(["a"]), plain.encode(["passage: a"]))
