"""The WebSocket of an open page: it ends with the right of whoever opened it, and carries little of a stranger's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_core.api.exchange import LOOK_S, Holds
from rag_core.api.problems import Refused

_REFUSED = 1008
"""Policy violation (RFC 6455, 7.4.1)."""


class Socket:
    """One WebSocket. `holds` is asked before each message that comes in, and now and then; None: it holds for ever.

    `admit` counts a message of so many bytes, and raises Refused for one too many.
    """

    def __init__(
        self, receive: Receive, send: Send, holds: Holds | None, admit: Callable[[int], None] | None = None
    ) -> None:
        self._receive = receive
        self._send = send
        self._holds = holds
        self._admit = admit
        self._ended = asyncio.Event()
        self._closed = False

    async def carry(self, app: ASGIApp, scope: Scope) -> None:
        """Let the application talk over it until either side, or the right to it, ends."""
        watch = asyncio.create_task(self._watch())
        try:
            await app(scope, self._next, self._pass)
        finally:
            watch.cancel()
            if self._ended.is_set() and not self._closed:
                with suppress(RuntimeError, OSError):  # the client left at the same moment
                    await self._send({"type": "websocket.close", "code": _REFUSED})

    async def _next(self) -> Message:
        coming, ended = asyncio.ensure_future(self._receive()), asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait({coming, ended}, return_when=asyncio.FIRST_COMPLETED)
            if not self._ended.is_set() and await self._admitted(coming.result()):
                return coming.result()
            return {"type": "websocket.disconnect", "code": _REFUSED}
        finally:
            coming.cancel()
            ended.cancel()

    async def _admitted(self, message: Message) -> bool:
        """Whether a message goes on to the application."""
        if message["type"] == "websocket.disconnect":
            self._closed = True
        elif message["type"] == "websocket.receive":
            if self._admit is not None:
                try:
                    self._admit(len(message.get("bytes") or message.get("text") or b""))
                except Refused:
                    self._ended.set()
            if self._holds is not None and not await self._holds():
                self._ended.set()
        return not self._ended.is_set()

    async def _pass(self, message: Message) -> None:
        if self._ended.is_set() and message["type"] == "websocket.send":
            return
        self._closed = self._closed or message["type"] == "websocket.close"
        await self._send(message)

    async def _watch(self) -> None:
        while self._holds is not None and await self._holds():
            await asyncio.sleep(LOOK_S)
        if self._holds is not None:
            self._ended.set()
