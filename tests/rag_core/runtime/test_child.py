"""The one protocol of child processes: what is asked and answered, the limits, and what is told of an end."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from rag_core.errors import Cancelled, LimitExceeded, UnreadableDocument
from rag_core.runtime.child import MIB, Child, ChildDied, Program, Watch

pytestmark = pytest.mark.usefixtures("fresh_processes")
PROGRAM = Program("tests.rag_core.runtime.scripted:service")
PATIENT = Watch(60)


@pytest.fixture(scope="module")
def kept() -> Iterator[Child]:
    child = Child(PROGRAM)
    yield child
    child.kill()


@pytest.fixture
def child() -> Iterator[Child]:
    made = Child(replace(PROGRAM, memory_bytes=300 * MIB))
    yield made
    made.kill()


def died(child: Child, request: bytes, watch: Watch = PATIENT) -> ChildDied:
    with pytest.raises(ChildDied) as caught:
        child.ask(request, watch)
    assert child.pid is None
    return caught.value


@pytest.mark.parametrize("size", [1, 7, 8, 9, 4096, 65_537, 9_000_001])
def test_what_is_asked_and_answered_is_of_any_size(kept: Child, size: int) -> None:
    about = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    before = kept.pid
    assert kept.ask(b"echo " + about, PATIENT) == about
    assert before in (None, kept.pid)


def test_what_libraries_print_keeps_nobody_waiting(kept: Child) -> None:
    assert kept.ask(b"write 1000000", PATIENT) == b"1000000"
    assert kept.ask(b"echo again", PATIENT) == b"again"


def test_silence_is_limited_and_so_is_the_whole(child: Child) -> None:
    assert child.ask(b"work 15", Watch(1)) == b"15"
    silent = died(child, b"sleep 60", Watch(0.3))
    assert (silent.at_limit, str(silent)) == (True, "Reading took longer than 0.3 seconds without an answer.")
    assert str(died(child, b"work 600", Watch(30, whole_s=0.5))) == "Reading took longer than 0.5 seconds."


def test_memory_is_limited(child: Child) -> None:
    full = died(child, b"fill %d" % (290 * MIB))
    assert isinstance(full.cause, LimitExceeded)
    assert str(full) == "Reading took more memory than 300 MiB."
    assert child.ask(b"echo again", PATIENT) == b"again"


def test_one_that_holds_much_is_replaced(child: Child) -> None:
    child.ask(b"echo x", PATIENT)
    child.slim()
    assert child.pid is not None
    small = Child(replace(PROGRAM, memory_bytes=20 * MIB))
    small.start()
    time.sleep(0.5)
    small.slim()
    assert small.pid is None


def test_a_request_is_stopped_by_the_user(child: Child) -> None:
    began = time.monotonic()
    with pytest.raises(Cancelled, match="Reading was stopped"):
        child.ask(b"sleep 60", Watch(cancelled=lambda: True))
    assert time.monotonic() - began < 4
    assert child.ask(b"echo in time", Watch(cancelled=lambda: True)) == b"in time"


@pytest.mark.parametrize(
    ("request_", "words"), [(b"die of old age", "of old age"), (b"fail it is", "ValueError: it is")]
)
def test_an_end_is_told_with_its_last_words(child: Child, request_: bytes, words: str) -> None:
    ended = died(child, request_)
    assert isinstance(ended.cause, UnreadableDocument)
    assert not ended.at_limit
    assert ended.last_words == words
    assert "made the reading process end (code " in str(ended)
    assert child.ask(b"echo again", PATIENT) == b"again"


def test_one_that_is_killed_ends_its_request(child: Child) -> None:
    threading.Timer(1, child.interrupt).start()
    assert "signal 9" in str(died(child, b"sleep 60"))


def test_what_a_program_is_told_and_how_it_stands_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANY_SECRET", "x")
    monkeypatch.setenv("NEEDED_HERE", "x")
    child = Child(replace(PROGRAM, niceness=7, needs=("NEEDED_",), more={"MORE": "x"}))
    assert child.ask(b"nice", PATIENT) == str(min(19, os.nice(0) + 7)).encode()
    names = child.ask(b"variables", Watch(silence_s=math.inf)).split()
    assert {b"NEEDED_HERE", b"MORE"} <= {*names}
    assert b"ANY_SECRET" not in names
    child.kill()
