"""What every chat model is: the author of one writes `_generate`; this class queues, checks, counts and translates.

A provider of models is one file with a `PROVIDER`, and one line in `rag_core.models.registry.PROVIDERS`. One that sends
passages elsewhere says so by `remote`, and opens only where `Settings.allow_remote` has the user's consent.
"""

from __future__ import annotations

import math
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from rag_core.domain import ModelStatus
from rag_core.errors import Cancelled, LecternError, ModelUnavailable
from rag_core.models.messages import ChatMessage, Cut, Delta, Request, Usage, never
from rag_core.models.prompts import GO_ON
from rag_core.models.texts import until_loop, until_stop, without_overlap, without_thoughts
from rag_core.settings import Settings
from rag_core.text.invisible import visible

_POLL_S = 0.05
_TOKENS_PER_MESSAGE = 8  # what a chat template adds to a message, where it cannot be counted
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


class _Patience:
    """The `cancelled` of a request that is also given up where nothing is heard for `silence_s` seconds."""

    def __init__(self, cancelled: Callable[[], bool], silence_s: float) -> None:
        self._cancelled, self._silence_s = cancelled, silence_s
        self.heard()

    def heard(self) -> None:
        self._since = time.monotonic()

    def __call__(self) -> bool:
        return self._cancelled() or time.monotonic() - self._since > self._silence_s


@dataclass(slots=True)
class _End:
    """What a provider said of an answer beside its text."""

    usage: Usage | None = None
    cut: bool = False


class ChatModel(ABC):
    """A model that answers in a dialogue. Thread-safe through `stream`; use nothing after `close`.

    `context_tokens` is what prompt and answer may hold together, in the model's own tokens.
    """

    id: str
    label: str
    context_tokens: int
    remote: bool = False
    one_at_a_time: ClassVar[bool] = True
    keeps_prefix: bool = True
    """Whether messages that begin like those before are read from there on, and cost nothing more."""
    is_small: bool = False
    """Whether it has so few parameters that it is better asked for plain sentences than for numbered ones."""
    goes_on: bool = False
    """Whether `_generate` goes on with an answer that the messages end with; others are asked to in words."""
    silence_s: float = math.inf
    """Longest wait for a piece, of one whose `_generate` looks at `request.cancelled` meanwhile; others see to it."""
    failures: tuple[type[Exception], ...] = ()
    """Kinds of exception that `_generate` lets through and `_explain` puts into words."""

    def __init__(self) -> None:
        self._turnstile = Turnstile()
        self._closed = False
        self._thinks_first = False
        self._counting = threading.Lock()
        self._requests = 0
        self.used_at = time.monotonic()
        """When a request last began or ended, on this machine's steady clock, seconds."""

    @abstractmethod
    def _generate(self, request: Request) -> Generator[str | Usage | Cut, None, None]:
        """Answer piece by piece, and say how many tokens it took where that is known, and whether it was cut.

        May look at `request.cancelled` where one piece takes long; `request.stop` is looked after here.
        """

    @abstractmethod
    def count_tokens(self, text: str) -> int:
        """Tokens of a text alone, as this model counts them."""

    def prompt_tokens(self, messages: Sequence[ChatMessage]) -> int:
        """Tokens of messages in the model's own form of a request."""
        return sum(self.count_tokens(message.text) + _TOKENS_PER_MESSAGE for message in messages)

    def _explain(self, error: Exception) -> LecternError:
        """An error of the vendor in words that a person can use."""
        return ModelUnavailable(f"{self.label} stopped with an error: {error}")

    def _silent(self) -> LecternError:
        error = ModelUnavailable(
            f"{self.label} did not answer within {self.silence_s:g} seconds.",
            help="Try again, or choose another model. generation.timeout_s sets how long is waited.",
        )
        error.retryable = True
        return error

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        json_schema: Mapping[str, Any] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Generator[Delta, None, None]:
        """Answer the messages with at most `max_tokens` tokens, piece by piece; the last delta has the usage.

        Where the last message is an answer, only what goes on with that is written.
        stop: texts before which the answer ends. json_schema: what the answer is held to, where the provider can.
        What a model thinks aloud before it answers is left out. Local models take one request at a time, others wait
        in line. Raises Cancelled between two pieces when asked to stop, and ModelUnavailable when the model fails.
        Close the generator when leaving it early: it holds the model's turn until then.
        """
        request = Request(tuple(messages), max_tokens, tuple(stop), json_schema, cancelled or never)
        with self._used(), self._turnstile.turn(request.cancelled) if self.one_at_a_time else nullcontext():
            yield from self._deltas(request)

    def touch(self) -> None:
        """Note that the model is about to be used."""
        self.used_at = time.monotonic()

    @contextmanager
    def _used(self) -> Iterator[None]:
        with self._counting:
            self._requests += 1
        try:
            yield
        finally:
            with self._counting:
                self._requests -= 1
            self.touch()

    def _deltas(self, request: Request) -> Generator[Delta, None, None]:
        """One request, with the stop looked for between two pieces and failures translated."""
        if self._closed:
            raise ModelUnavailable(f"{self.label} was closed.", help="Ask again: it is opened again.")
        if request.cancelled():
            raise Cancelled("Stopped before the model began.")
        end, written = _End(), ""
        patience = _Patience(request.cancelled, self.silence_s)
        try:
            with closing(self._generate(replace(self._asked(request), cancelled=patience))) as pieces:
                shown = self._answer(_shown(pieces, end, patience), request.messages[-1])
                for text in until_loop(until_stop(shown, request.stop)):
                    written += text
                    yield Delta(text)
        except Cancelled as error:
            if request.cancelled():
                raise
            raise self._silent() from error
        except self.failures as error:
            raise self._explain(error) from error
        counted = end.usage or Usage(self.prompt_tokens(request.messages), self.count_tokens(written))
        yield Delta(usage=counted, cut=end.cut)

    def _asked(self, request: Request) -> Request:
        """A request, one that ends with an answer in the form that this model goes on with."""
        if self.goes_on or request.messages[-1].role != "assistant":
            return request
        return replace(request, messages=(*request.messages, ChatMessage("user", GO_ON)))

    def _answer(self, pieces: Iterator[str], last: ChatMessage) -> Iterator[str]:
        """What is an answer of what a model wrote behind the `last` message."""
        begun = last.text if last.role == "assistant" else ""
        if begun and self.goes_on:
            return pieces
        shown = without_thoughts(pieces, thinking=self._thinks_first)
        return without_overlap(shown, begun) if begun else shown

    def close(self) -> None:
        """Free what the model holds, once the request in progress is over."""
        with self._turnstile.turn(never):
            if not self._closed:
                self._closed = True
                self._free()

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    @property
    def busy(self) -> bool:
        """Whether a request is in progress or waiting."""
        return self._requests > 0

    def _free(self) -> None:
        """Release memory and connections."""
        return


@dataclass(frozen=True, slots=True)
class Provider:
    """Where models come from. Its models' ids are `prefix`, or begin with it where it ends with a colon.

    `statuses` looks at settings and files alone, never at a network; `open` raises ModelUnavailable.
    """

    prefix: str
    statuses: Callable[[Settings], tuple[ModelStatus, ...]]
    open: Callable[[str, Settings], ChatModel]

    def owns(self, model_id: str) -> bool:
        """Whether a model is of this provider."""
        return model_id.startswith(self.prefix) if self.prefix.endswith(":") else model_id == self.prefix


def _shown(pieces: Iterator[str | Usage | Cut], end: _End, patience: _Patience) -> Iterator[str]:
    """The texts among the pieces, as they can be shown; the rest goes to `end`. Raises Cancelled."""
    last = ""
    for piece in pieces:
        if patience():
            raise Cancelled("Stopped while the model was writing.")
        if isinstance(piece, Usage):
            end.usage = piece
        elif isinstance(piece, Cut):
            end.cut = True
        elif text := piece.translate(_UNSHOWABLE):
            # Whether a joiner is needed is said by the character before it, which came with another piece.
            if shown := visible(last + text)[len(visible(last)) :]:
                yield shown
            last = text[-1]
        patience.heard()
