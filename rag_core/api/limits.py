"""How much of the server a client may take: requests a second, requests at work, what is open, bytes, time."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable
from functools import partial
from weakref import WeakValueDictionary

from starlette.types import Message, Receive

from rag_core.api.problems import Refused

_CLIENTS = 10_000
_WAIT_S = 10.0
# So many bodies may come at a time for each slot; they are in memory.
_BODIES = 8
# A body may take so long, and longer by what came of it, so that a slow line brings a large file all the same.
_SILENCE_S = 30.0
_GRACE_S = 60.0
_LEAST_BYTES_PER_S = 16 * 2**10


class Rates:
    """A bucket of tokens for each client. `rate` requests a second are allowed in the long run, `burst` at once."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = burst
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> None:
        """Count a request. Raises Refused for one too many."""
        left, now = self._left(client), time.monotonic()
        self._buckets.pop(client, None)
        self._buckets[client] = (max(left - 1, 0.0), now)
        if len(self._buckets) > _CLIENTS:
            self._buckets.popitem(last=False)
        self._check(left)

    def check(self, client: str) -> None:
        """Raises Refused where the next request would be one too many; counts none."""
        self._check(self._left(client))

    def _left(self, client: str) -> float:
        left, since = self._buckets.get(client, (self._burst, 0.0))
        return min(self._burst, left + (time.monotonic() - since) * self._rate)

    def _check(self, left: float) -> None:
        if left < 1:
            wait = max(1, round((1 - left) / self._rate))
            raise Refused(429, "Too many requests.", f"Wait {wait} s.", {"Retry-After": str(wait)})


class Slots:
    """Requests at work, `most` at a time; one client has at most half of them, so that none shuts out the others."""

    def __init__(self, most: int) -> None:
        self._all = asyncio.Semaphore(most)
        self._share = _half(most)
        self._shares: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def take(self, client: str) -> Callable[[], None]:
        """Wait for a slot; returns what gives it back. Raises Refused where none comes free in time."""
        share = self._shares.get(client) or self._shares.setdefault(client, asyncio.Semaphore(self._share))
        try:
            async with asyncio.timeout(_WAIT_S):
                await share.acquire()
                try:
                    await self._all.acquire()
                except BaseException:
                    share.release()
                    raise
        except TimeoutError as error:
            raise Refused(503, "Too much is asked at a time.", "Try again.", {"Retry-After": "1"}) from error

        def give() -> None:
            share.release()
            self._all.release()

        return _once(give)


class Count:
    """What is open at a time, at most `most`, of one client at most half of them. Thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._share = _half(most)
        self._open: Counter[str] = Counter()
        self._lock = threading.Lock()

    def take(self, client: str) -> Callable[[], None]:
        """Count one more; returns what takes it off again. Raises Refused for one too many."""
        with self._lock:
            if self._open[client] >= self._share or self._open.total() >= self._most:
                raise Refused(503, "Too much is open at a time.", "Close some of it.", {"Retry-After": "5"})
            self._open[client] += 1
        return _once(partial(self._give, client))

    def _give(self, client: str) -> None:
        with self._lock:
            self._open[client] -= 1
            if not self._open[client]:
                del self._open[client]


def _half(most: int) -> int:
    return max(1, most // 2)


def _nothing() -> None:
    return None


def _once(give: Callable[[], None]) -> Callable[[], None]:
    """Gives back with the first call, and does nothing with the others."""
    left = [give]
    return lambda: left.pop()() if left else None


class Limits:
    """What all requests at the doors share: slots for work, places for bodies that come and streams that wait."""

    def __init__(self, concurrency: int, streams: int) -> None:
        self.slots = Slots(concurrency)
        self.bodies = Count(_BODIES * concurrency)
        self.streams = Count(streams)


class Hold:
    """What one request of a client has of them. A body holds no slot, nor does a stream that waits for what happens."""

    def __init__(self, limits: Limits, client: str, timeout_s: float, *, with_body: bool) -> None:
        self._limits = limits
        self._client = client
        self._timeout_s = timeout_s
        self._began = math.inf
        self._body = limits.bodies.take(client) if with_body else _nothing
        self._slot = _nothing
        self._stream = _nothing
        self.waits = False

    async def work(self) -> None:
        """The body is whole: wait for a slot. Raises Refused."""
        self._slot = await self._limits.slots.take(self._client)
        self._began = time.monotonic()
        self._body()

    def left_s(self) -> float:
        """The seconds that are left for the answer to begin."""
        return self._timeout_s - max(0.0, time.monotonic() - self._began)

    def rest(self) -> None:
        """The work is done, what follows is sending."""
        self._slot()

    def wait(self) -> None:
        """The answer will be a stream that waits. From any thread; raises Refused for one too many."""
        self._stream, self.waits = self._limits.streams.take(self._client), True

    def end(self) -> None:
        """Give everything back."""
        self.rest()
        self._body()
        self._stream()


class Body:
    """A request's body, cut off when it grows beyond `most` bytes, falls silent or comes too slowly.

    `whole` is awaited once it is there, before its last part is handed on: what waits for a body holds nothing up.
    """

    def __init__(self, receive: Receive, most: int, whole: Callable[[], Awaitable[None]] | None = None) -> None:
        self._receive = receive
        self._most = most
        self._then = whole
        self._kept: Message | None = None
        self._read = 0
        self._whole = False
        self._began: float | None = None

    async def __call__(self) -> Message:
        """The next message of the server. Raises Refused."""
        if self._kept is not None:
            message, self._kept = self._kept, None
            return message
        if self._whole:  # what comes now is the client's leave, for which one may wait for ever
            return await self._receive()
        message = await self._next()
        if self._whole and self._then is not None:
            await self._then()
        return message

    async def fill(self) -> bool:
        """Wait for all of it, which is kept and handed on at once. Returns whether it came; raises Refused."""
        parts = []
        while not self._whole:
            message = await self._next()
            if message["type"] != "http.request":
                return False
            parts.append(message.get("body", b""))
        self._kept = {"type": "http.request", "body": b"".join(parts), "more_body": False}
        if self._then is not None:
            await self._then()
        return True

    async def _next(self) -> Message:
        self._began = self._began or time.monotonic()
        left_s = self._began + _GRACE_S + self._read / _LEAST_BYTES_PER_S - time.monotonic()
        try:
            async with asyncio.timeout(min(_SILENCE_S, left_s)):
                message = await self._receive()
        except TimeoutError as error:
            raise Refused(408, "The rest of the request did not come.", "Send it again.") from error
        self._read += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._read > self._most:
            raise too_large(self._most)
        return message


def too_large(most: int) -> Refused:
    """The refusal of a body of more than `most` bytes."""
    return Refused(413, f"The request is larger than {most / 2**20:.0f} MB.", "Send less, or raise the limit.")
