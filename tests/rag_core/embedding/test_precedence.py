"""What an answer waits for is read before what is added, whichever model reads it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from rag_core.embedding.base import Forward
from rag_core.embedding.source import ModelSource
from rag_core.runtime.precedence import PRECEDENCE, Precedence
from tests.rag_core.embedding.conftest import FakeEmbedder

PATIENCE_S = 60


class Stepwise(FakeEmbedder):
    """Computes a batch of several texts when it is let go; `began` says that one has begun."""

    def __init__(self, source: ModelSource, **options: object) -> None:
        super().__init__(source, **options)
        self.began, self.go_on = threading.Semaphore(0), threading.Semaphore(0)

    def _forward(self, ids: np.ndarray, mask: np.ndarray) -> Forward:
        if len(ids) > 1:
            self.began.release()
            assert self.go_on.acquire(timeout=PATIENCE_S)
        return super()._forward(ids, mask)


@pytest.fixture
def stepwise(source: ModelSource) -> Iterator[Stepwise]:
    with Stepwise(source, workers=1) as embedder:
        yield embedder


def texts(name: str, count: int) -> list[str]:
    return [f"{name} {number}" for number in range(count)]


def test_a_batch_begins_when_nothing_is_read_for_a_question() -> None:
    precedence, began = Precedence(longest_s=PATIENCE_S), threading.Event()

    def add() -> None:
        precedence.give_way()
        began.set()

    with precedence.question(), precedence.question():
        adding = threading.Thread(target=add)
        adding.start()
        assert not began.wait(0.2)
    assert began.wait(PATIENCE_S)
    adding.join()


def test_a_crowd_that_asks_without_a_pause_does_not_keep_documents_out() -> None:
    precedence = Precedence(longest_s=0.01)
    with precedence.question():
        precedence.give_way()


def test_documents_give_way_to_a_question_of_any_model(stepwise: Stepwise) -> None:
    adding = threading.Thread(target=lambda: stepwise.encode(texts("text", 64)))
    with PRECEDENCE.question():  # as the reader's encoder has it
        adding.start()
        assert not stepwise.began.acquire(timeout=0.2)
    assert stepwise.began.acquire(timeout=PATIENCE_S)
    stepwise.go_on.release(64)
    adding.join()


def test_what_an_answer_waits_for_does_not_stand_behind_a_document(stepwise: Stepwise) -> None:
    adding = threading.Thread(target=lambda: stepwise.encode(texts("text", 64)))
    adding.start()
    try:
        assert stepwise.began.acquire(timeout=PATIENCE_S)  # and goes no further before it is let go
        first = stepwise.encode_first(["Is this an instruction?"])
        assert adding.is_alive()
    finally:
        stepwise.go_on.release(64)
        adding.join()
    np.testing.assert_allclose(first, stepwise.encode(["Is this an instruction?"]), atol=1e-6)


def test_a_short_text_does_not_wait_for_all_of_a_long_one(source: ModelSource) -> None:
    """Of two that are added, each gets its turn: one waits for a few batches of the other, not for all of them."""
    computed: list[int] = []
    with FakeEmbedder(source, workers=1) as embedder:

        def add_another(*_: int) -> None:
            if not computed:
                embedder.encode(["short"])
                computed.append(len(embedder.shapes))

        embedder.encode(texts("long", 200), progress=add_another)
        assert (len(embedder.shapes), computed[0] <= 4) == (26, True), computed
