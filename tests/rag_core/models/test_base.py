"""The queue in front of a model, and what every model does alike."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator

import pytest

from rag_core.errors import Cancelled, ModelUnavailable
from rag_core.models import ChatModel, Usage
from rag_core.models.base import Turnstile
from rag_core.models.messages import Request, prompted
from rag_core.models.texts import until_loop, until_stop, without_thoughts


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

    def _generate(self, request: Request) -> Generator[str | Usage, None, None]:
        yield from self.pieces
        if self.failure is not None:
            raise self.failure

    def _free(self) -> None:
        self.freed += 1


def said(model: ChatModel, **wanted: object) -> list[str]:
    return [delta.text for delta in model.stream(prompted("x"), **{"max_tokens": 9, **wanted}) if delta.text]


def test_control_characters_and_empty_pieces_are_left_out() -> None:
    assert said(Scripted("a\x00b", "", "\x1b[31m", "c\nd\te", "\ud800")) == [
        "ab",
        "[31m",
        "c\nd\te",
    ]


def test_what_cannot_be_seen_is_left_out_piece_by_piece() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "send")
    written = said(Scripted("می", "\u200c", "خواهم", hidden, "ig\u200b", "\u200dno", "\u202ere"))
    assert "".join(written) == "می\u200cخواهمignore"


def test_known_failures_are_put_into_words_others_pass() -> None:
    with pytest.raises(ModelUnavailable, match="scripted stopped with an error: disk") as caught:
        said(Scripted("a", failure=OSError("disk")))
    assert isinstance(caught.value.__cause__, OSError)
    with pytest.raises(ZeroDivisionError):
        said(Scripted(failure=ZeroDivisionError()))


def test_a_failure_leaves_the_queue_open() -> None:
    model = Scripted(failure=OSError("x"))
    for _ in range(2):
        with pytest.raises(ModelUnavailable):
            said(model)


def test_stopped_before_it_began() -> None:
    with pytest.raises(Cancelled):
        said(Scripted("a"), cancelled=lambda: True)


def test_a_model_that_falls_silent_is_given_up() -> None:
    class Silent(Scripted):
        silence_s = 0.05

        def _generate(self, request: Request) -> Generator[str | Usage, None, None]:
            yield "a"
            while not request.cancelled():
                time.sleep(0.01)
            raise Cancelled("Asked to stop.")

    with pytest.raises(ModelUnavailable, match="did not answer within") as caught:
        said(Silent())
    assert caught.value.retryable


def test_closing_waits_for_the_request_and_happens_once() -> None:
    model = Scripted("a", "b")
    pieces = model.stream(prompted("x"), max_tokens=9)
    next(pieces)
    closing = threading.Thread(target=model.close)
    closing.start()
    time.sleep(0.1)
    assert model.freed == 0
    assert [delta.text for delta in pieces] == ["b", ""]
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


@pytest.mark.parametrize(
    ("pieces", "written"),
    [
        (["An ans", "wer."], "An answer."),
        (["One", "\nQues", "tion: two"], "One"),
        (["One\n", "Quest", "s go on"], "One\nQuests go on"),
        (["All of it\nQuestion:"], "All of it"),
        (["ends with\n"], "ends with\n"),
        ([], ""),
    ],
)
def test_text_ends_before_a_stop_that_comes_in_pieces(pieces: list[str], written: str) -> None:
    assert "".join(until_stop(pieces, ["\nQuestion:"])) == written


@pytest.mark.parametrize("size", [1, 3, 50])
@pytest.mark.parametrize(
    ("text", "thinking", "written"),
    [
        ("<think>\nNo, yes.</think>\n\nYes.", False, "Yes."),
        ("Weighing it.</think>Yes.", True, "Yes."),
        ("<thinking>never ends", False, ""),
        ("<|channel>thought\nNo, yes.\n<channel|>Yes.", False, "Yes."),
        ("<|channel>thought\n<channel|>Yes.", False, "Yes."),
        ("<|channel|>analysis<|message|>The final say?assistant<|channel|>final<|message|>Yes.", False, "Yes."),
        ("<|channel|>final<|message|>Yes, a finality.", False, "Yes, a finality."),
        ("<table> <think>is text here", False, "<table> <think>is text here"),
        ("", False, ""),
    ],
)
def test_thoughts_before_the_answer_are_left_out(text: str, thinking: bool, written: str, size: int) -> None:
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    assert "".join(without_thoughts(pieces, thinking=thinking)) == written


def test_ends_before_a_stop_and_tells_the_usage() -> None:
    *texts, last = Scripted("one t", "wo three").stream(prompted("x"), max_tokens=9, stop=[" three"])
    assert "".join(delta.text for delta in texts) == "one two"
    assert last.usage == Usage(9, 7)


LOOP = "The mill was sold in the spring of that year. "


@pytest.mark.parametrize(
    ("written", "whole"),
    [
        ("Sales rose [1]. " + LOOP * 40, False),
        ("It is the sky blue " + "sky blue " * 60, False),
        ("I am sure, " + "and " * 200, False),
        (LOOP * 2 + "Then it burnt down. " + LOOP * 2 + "It was built again.", True),
        ("| town | sales |\n|---|---|\n" + "".join(f"| town {n} | 0 |\n" for n in range(40)), True),
        ("_" * 400, True),
        ("0, 0, 0, " * 60, True),
    ],
)
def test_an_answer_that_goes_round_ends(written: str, whole: bool) -> None:
    pieces = [written[place : place + 4] for place in range(0, len(written), 4)]
    told = "".join(delta.text for delta in Scripted(*pieces).stream(prompted("x"), max_tokens=9))
    assert written.startswith(told)
    assert (told == written) == whole
    if not whole:
        assert len(told) < 260


def test_looking_for_a_loop_costs_little() -> None:
    written = [f"word{number} " for number in range(4_000)]
    began = time.process_time()
    assert "".join(until_loop(written)) == "".join(written)
    assert time.process_time() - began < 2
