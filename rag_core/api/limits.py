"""How much of the server a client may take: requests a second, requests at work, bytes, silence."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict

from starlette.types import Message, Receive

from rag_core.api.problems import Refused

_CLIENTS = 10_000
_SILENCE_S = 30.0


class Rates:
    """A bucket of tokens for each client. `rate` requests a second are allowed in the long run, `burst` at once."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = burst
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> None:
        """Count a request. Raises Refused for one too many."""
        now = time.monotonic()
        left, since = self._buckets.pop(client, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        self._buckets[client] = (max(left - 1, 0.0), now)
        if len(self._buckets) > _CLIENTS:
            self._buckets.popitem(last=False)
        if left < 1:
            wait = max(1, round((1 - left) / self._rate))
            raise Refused(429, "Too many requests.", f"Wait {wait} s.", {"Retry-After": str(wait)})


class Body:
    """A request's body, cut off when it grows beyond `most` bytes or falls silent."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive = receive
        self._most = most
        self._read = 0
        self._whole = False

    async def __call__(self) -> Message:
        """The next message of the server. Raises Refused."""
        if self._whole:  # what comes now is the client's leave, for which one may wait for ever
            return await self._receive()
        try:
            async with asyncio.timeout(_SILENCE_S):
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
