"""An exchange at a door: what goes back to the client is looked at, and ends with the caller's right to it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from starlette.types import Message, Scope, Send

from rag_core.api.callers import Passage
from rag_core.api.problems import Refused, problem

Holds = Callable[[], Awaitable[bool]]
"""Whether a caller may still do what they could when they came."""
LOOK_S = 0.5
"""So often is that asked while something is open."""
# A client that takes nothing of its answer for so long is gone, or means to be in the way.
_STUCK_S = 60.0


def ended_key() -> Refused:
    """Why an exchange, or a page, ends in its middle."""
    return Refused(401, "The key, or the sign-in, has ended.", "Ask for another key, or sign in again.")


class Outgoing:
    """What goes back to the client: its status is looked at, and its id is added. Silent once it was `ended`.

    With the beginning of an answer its work is done, unless it is a stream of events that are worked for.
    """

    def __init__(self, scope: Scope, send: Send, passage: Passage) -> None:
        self.scope = scope
        self.passage = passage
        self.status = 0
        self.events = False
        self.ended = False
        self._send = send
        self._since: float | None = None
        passage.started = time.monotonic()

    @property
    def stuck(self) -> bool:
        """Whether the client has taken nothing for long."""
        return self._since is not None and time.monotonic() - self._since > _STUCK_S

    async def __call__(self, message: Message) -> None:
        """Send on (ASGI)."""
        if self.ended:
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message.get("headers", []), (b"x-request-id", self.passage.id.encode("latin-1", "replace"))]
            message["headers"] = headers
            self.events = any(
                name.lower() == b"content-type" and value.startswith(b"text/event-stream") for name, value in headers
            )
            hold = self.passage.hold
            if hold is not None and (hold.waits or not self.events):
                hold.rest()
        self._since = time.monotonic()
        await self._send(message)
        self._since = None
        self.ended = message["type"] == "http.response.body" and not message.get("more_body", False)

    async def refuse(self, error: Exception) -> None:
        """Answer with an error, or end a stream of events with it; what else has begun breaks off."""
        answer = problem(self.scope["path"], error)
        if not self.status:
            await answer(self.scope, _silent, self)
        elif self.events and not self.stuck:
            await self({"type": "http.response.body", "body": b"event: error\ndata: " + bytes(answer.body) + b"\n\n"})
        self.ended = True


async def carry_out(work: Awaitable[None], answer: Outgoing, left_s: Callable[[], float], holds: Holds | None) -> None:
    """Do the work of a request.

    One whose answer does not begin in the seconds that are left gets another answer, one whose caller lost the right to
    it ends.
    """
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=LOOK_S if answer.status else min(LOOK_S, max(left_s(), 0.0)))
            if task.done():
                break
            if not answer.status and left_s() <= 0:
                await answer.refuse(Refused(504, "This takes too long.", "Ask for less at a time."))
            elif answer.stuck:
                answer.ended = True
            elif holds is not None and not await holds():
                await answer.refuse(ended_key())
            else:
                continue
            return
        await task
    finally:
        if not task.done():
            task.cancel()


async def _silent() -> Message:
    return {"type": "http.disconnect"}
