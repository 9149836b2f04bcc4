"""What every language model is: an author of one writes `_generate`, this class queues, checks and translates."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from typing import ClassVar

from rag_core.errors import Cancelled, LecternError, ModelUnavailable

_POLL_S = 0.05
# Control characters and lone surrogates, which neither a page nor PostgreSQL takes.
_UNSHOWABLE = dict.fromkeys((*(set(range(32)) - {9, 10}), *range(0x7F, 0xA0), *range(0xD800, 0xE000)))


class Turnstile:
    """Lets requests through one at a time, in the order in which they came. Thread-safe."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._waiting: deque[object] = deque()

    @contextmanager
    def turn(self, cancelled: Callable[[], bool]) -> Iterator[None]:
        """Wait for one's turn and hold it. Raises Cancelled when asked to stop while waiting."""
        ticket = object()
        with self._condition:
            self._waiting.append(ticket)
            while self._waiting[0] is not ticket:
                self._condition.wait(_POLL_S)
                if cancelled():
                    self._waiting.remove(ticket)
                    self._condition.notify_all()
                    raise Cancelled("Stopped while waiting for the model.")
        try:
            yield
        finally:
            with self._condition:
                self._waiting.remove(ticket)
                self._condition.notify_all()

    def __len__(self) -> int:
        """Requests inside or waiting."""
        return len(self._waiting)


class ChatModel(ABC):
    """A model that continues a prompt. Thread-safe through `stream`; use nothing after `close`.

    `context_tokens` is what prompt and answer may hold together, in the model's own tokens.
    """

    id: str
    label: str
    context_tokens: int
    remote: ClassVar[bool] = False
    one_at_a_time: ClassVar[bool] = True
    failures: ClassVar[tuple[type[Exception], ...]] = ()
    """Kinds of exception that `_generate` lets through and `_explain` puts into words."""

    def __init__(self) -> None:
        self._turnstile = Turnstile()
        self._closed = False

    @abstractmethod
    def _generate(self, prompt: str, max_tokens: int, cancelled: Callable[[], bool]) -> Generator[str, None, None]:
        """Continue the prompt, piece by piece. May look at `cancelled` where one piece takes long."""

    @abstractmethod
    def count_tokens(self, text: str) -> int:
        """Tokens of a text alone, as this model counts them."""

    def prompt_overhead(self) -> int:
        """Tokens that the model's own form of a request adds to a prompt."""
        return 0

    def _explain(self, error: Exception) -> LecternError:
        """An error of the vendor in words that a person can use."""
        return ModelUnavailable(f"{self.label} stopped with an error: {error}")

    def stream(
        self, prompt: str, *, max_tokens: int, cancelled: Callable[[], bool] | None = None
    ) -> Generator[str, None, None]:
        """Continue the prompt with at most `max_tokens` tokens, piece by piece.

        Local models take one request at a time, others wait in line. Raises Cancelled between two pieces when asked
        to stop, and ModelUnavailable when the model fails. Close the generator when leaving it early: it holds the
        model's turn until then.
        """
        stop = cancelled or _never
        if not self.one_at_a_time:
            yield from self._pieces(prompt, max_tokens, stop)
            return
        with self._turnstile.turn(stop):
            yield from self._pieces(prompt, max_tokens, stop)

    def _pieces(self, prompt: str, max_tokens: int, cancelled: Callable[[], bool]) -> Generator[str, None, None]:
        """Pieces of one request, with the stop looked for between them and failures translated."""
        if self._closed:
            raise ModelUnavailable(f"{self.label} was closed.", help="Ask again: it is opened anew.")
        if cancelled():
            raise Cancelled("Stopped before the model began.")
        try:
            with closing(self._generate(prompt, max_tokens, cancelled)) as pieces:
                for piece in pieces:
                    if cancelled():
                        raise Cancelled("Stopped while the model was writing.")
                    if shown := piece.translate(_UNSHOWABLE):
                        yield shown
        except self.failures as error:
            raise self._explain(error) from error

    def close(self) -> None:
        """Free what the model holds, once the request in progress is over."""
        with self._turnstile.turn(_never):
            if not self._closed:
                self._closed = True
                self._free()

    def _free(self) -> None:
        """Release memory and connections."""
        return


def _never() -> bool:
    return False
