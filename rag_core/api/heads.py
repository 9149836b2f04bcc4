"""Limits on the head of a request, and on a message of a WebSocket, for which uvicorn has none of its own.

A connection must say within some seconds what it wants, and again after each answer; else one that sends a byte now and
then stays open for ever. What is done here knows uvicorn's two protocols by what they share: `cycle` (the request under
way), `transport` and `config`.
"""

from __future__ import annotations

import asyncio
from typing import Any

SECONDS = 20.0
"""So long may a head take."""
MOST_BYTES = 64 * 2**10
"""So long may it be: as much as h11 takes, and many times what browsers send."""
MOST_MESSAGE_BYTES = 25 * 2**20
"""The largest message of a WebSocket that comes in, what Streamlit takes: it is whole in memory before anybody asks."""
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


def limit(protocol: type[Any]) -> None:
    """Put the limits on a protocol of uvicorn.

    Its methods are changed in place, as uvicorn has taken its protocol before it imports the application. Harmless when
    done twice.
    """
    if "_head" in vars(protocol):
        return
    made, came, lost = protocol.connection_made, protocol.data_received, protocol.connection_lost

    def connection_made(self: Any, transport: asyncio.Transport) -> None:
        self.config.ws_max_size = min(self.config.ws_max_size, MOST_MESSAGE_BYTES)
        made(self, transport)
        self._head = _Head(self)

    def data_received(self: Any, data: bytes) -> None:
        before = self.cycle
        came(self, data)
        self._head.came(len(data), whole=self.cycle is not before)

    def connection_lost(self: Any, error: Exception | None) -> None:
        self._head.end()
        lost(self, error)

    protocol._head = None
    protocol.connection_made = connection_made
    protocol.data_received = data_received
    protocol.connection_lost = connection_lost


class _Head:
    """The head that a connection is to send next."""

    def __init__(self, protocol: Any) -> None:
        self._protocol = protocol
        self._bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self._wait()

    def came(self, count: int, *, whole: bool) -> None:
        """Bytes came; `whole`: a head ended with them."""
        protocol = self._protocol
        upgraded = protocol.transport.get_protocol() is not protocol
        if whole or upgraded or (protocol.cycle is not None and not protocol.cycle.response_complete):
            self.end()
            return
        self._bytes += count
        if self._bytes > MOST_BYTES and not protocol.transport.is_closing():
            protocol.transport.write(_TOO_LARGE)
            protocol.transport.close()
        elif self._timer is None:
            self._wait()

    def end(self) -> None:
        """Nothing is waited for."""
        self._bytes = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self) -> None:
        self._timer = self._protocol.loop.call_later(SECONDS, self._protocol.transport.close)
