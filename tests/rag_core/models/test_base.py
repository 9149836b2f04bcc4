"""The queue in front of a model, and what every model does alike."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator

import pytest

from rag_core.errors import Cancelled, ModelUnavailable
from rag_core.models.base import ChatModel, Turnstile


def never() -> bool:
    return False


class Scripted(ChatModel):
    """Writes its pieces, then fails if told to."""

    failures = (OSError,)

    def __init__(self, *pieces: str, failure: Exception | None = None) -> None:
        super().__init__()
        self.id = self.label = "scripted"
        self.context_tokens = 100
        self.pieces, self.failure = pieces, failure
        self.freed = 0

    def count_tokens(self, text: str) -> int:
        return len(text)

    def _generate(self, prompt: str, max_tokens: int, cancelled: Callable[[], bool]) -> Generator[str, None, None]:
        yield from self.pieces
        if self.failure is not None:
            raise self.failure

    def _free(self) -> None:
        self.freed += 1


def test_control_characters_and_empty_pieces_are_left_out() -> None:
    assert list(Scripted("a\x00b", "", "\x1b[31m", "c\nd\te", "\ud800").stream("x", max_tokens=9)) == [
        "ab",
        "[31m",
        "c\nd\te",
    ]


def test_known_failures_are_put_into_words_others_pass() -> None:
    with pytest.raises(ModelUnavailable, match="scripted stopped with an error: disk") as caught:
        list(Scripted("a", failure=OSError("disk")).stream("x", max_tokens=9))
    assert isinstance(caught.value.__cause__, OSError)
    with pytest.raises(ZeroDivisionError):
        list(Scripted(failure=ZeroDivisionError()).stream("x", max_tokens=9))


def test_a_failure_leaves_the_queue_open() -> None:
    model = Scripted(failure=OSError("x"))
    for _ in range(2):
        with pytest.raises(ModelUnavailable):
            list(model.stream("x", max_tokens=9))


def test_stopped_before_it_began() -> None:
    with pytest.raises(Cancelled):
        next(Scripted("a").stream("x", max_tokens=9, cancelled=lambda: True))


def test_closing_waits_for_the_request_and_happens_once() -> None:
    model = Scripted("a", "b")
    pieces = model.stream("x", max_tokens=9)
    next(pieces)
    closing = threading.Thread(target=model.close)
    closing.start()
    time.sleep(0.1)
    assert model.freed == 0
    assert list(pieces) == ["b"]
    closing.join(5)
    model.close()
    assert model.freed == 1


def test_turns_are_taken_in_order() -> None:
    turnstile, order = Turnstile(), []

    def take(number: int) -> None:
        with turnstile.turn(never):
            order.append(number)
            time.sleep(0.01)

    threads = []
    with turnstile.turn(never):
        for number in range(6):
            threads.append(threading.Thread(target=take, args=(number,)))
            threads[-1].start()
            while len(turnstile) < number + 2:
                time.sleep(0.005)
    for thread in threads:
        thread.join(5)
    assert order == list(range(6))
    assert len(turnstile) == 0


def test_who_gives_up_waiting_leaves_the_line() -> None:
    turnstile = Turnstile()
    with turnstile.turn(never):
        with pytest.raises(Cancelled), turnstile.turn(lambda: True):
            pass
        assert len(turnstile) == 1
