"""Who comes to the pages: people who signed in, and strangers, who see the page that lets them sign in and little else.

Streamlit's own paths know nothing of a sign-in, which its script asks for; so they are looked at here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from anyio import to_thread
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from rag_core.api.doors import Doors, SignIn
from rag_core.api.exchange import Holds
from rag_core.api.limits import Body, Count, Rates
from rag_core.api.problems import Refused
from rag_core.api.sockets import Socket

# Parts of the face's server that nobody needs: what it counts, and driving the pages by a program.
_NEVER = ("metrics", "agent")
# What a page needs to show that one must sign in.
_OPEN = ("health", "host-config", "stream")
# Files of a session, and what of documents the viewer asks for.
_PRIVATE = ("media", "component", "viewer")
_UPLOAD_BYTES = 2**31
_SOCKET_BYTES = 2**20


class Visitors:
    """Passes requests on to the pages."""

    def __init__(self, app: ASGIApp, doors: Doors) -> None:
        self._app = app
        self._doors = doors
        self._strangers: Count | None = None
        self._rates = Rates(rate=5.0, burst=60)

    async def pass_on(self, scope: Scope, receive: Receive, send: Send, holds: Holds | None) -> None:
        """Let a request through to the pages, as long as `holds`; who signed in is seen here. Raises Refused."""
        room, part = _room(scope["path"])
        if room == "_stcore" and part in _NEVER:
            raise Refused(404, "Lectern does not offer this.")
        connection, sign_in, stranger = HTTPConnection(scope), self._doors.sign_in, False
        cookies = connection.cookies
        is_private = room in _PRIVATE or (room == "_stcore" and part not in _OPEN)
        if sign_in is not None and (is_private or scope["type"] == "websocket"):
            who = await to_thread.run_sync(sign_in.who, cookies)
            stranger = not who
            if stranger and is_private:
                raise Refused(401, "Only those who have signed in may use this.", "Sign in on the page.")
            holds = partial(_holds, sign_in, cookies, who)
        if sign_in is not None and scope["path"].rstrip("/").endswith("/auth/logout"):
            if connection.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
                raise Refused(403, "Another site does not sign anybody out.")
            await to_thread.run_sync(sign_in.end, cookies)
        if scope["type"] == "http":
            await self._app(scope, Body(receive, _UPLOAD_BYTES), send)
        elif stranger:
            await self._stranger(scope, receive, send)
        else:
            await Socket(receive, send, holds).carry(self._app, scope)

    async def _stranger(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The socket of somebody who has not signed in."""
        client = str((scope.get("client") or ("",))[0])
        self._strangers = self._strangers or Count(self._doors.settings.visitors)
        self._rates.take(client)
        give = self._strangers.take(client)
        try:
            await Socket(receive, send, None, _allowance(self._rates, client)).carry(self._app, _anew(scope))
        finally:
            give()


def _allowance(rates: Rates, client: str) -> Callable[[int], None]:
    """Counts messages and their bytes. Raises Refused for one too many."""
    left = _SOCKET_BYTES

    def admit(count: int) -> None:
        nonlocal left
        left -= count
        rates.take(client)
        if left < 0:
            raise Refused(413, "This is too much without a sign-in.")

    return admit


def _anew(scope: Scope) -> Scope:
    """The request for a socket without the session that it wants to go on with, which may be of before a sign-out.

    It stands behind the protocol's name and a token (Streamlit's use of Sec-WebSocket-Protocol).
    """
    headers = [
        (name, b",".join(value.split(b",")[:2]) if name == b"sec-websocket-protocol" else value)
        for name, value in scope["headers"]
    ]
    return {**scope, "headers": headers}


async def _holds(sign_in: SignIn, cookies: dict[str, str], who: str) -> bool:
    return await to_thread.run_sync(sign_in.who, cookies) == who


def _room(path: str) -> tuple[str, str]:
    """What part of the face's server a path leads to, below whatever base it has: `_stcore` and which of its parts."""
    parts = path.strip("/").split("/")
    for place, part in enumerate(parts):
        if part in ("static", "_stcore", "media", "component", "viewer"):
            return part, parts[place + 1] if place + 1 < len(parts) else ""
    return "", ""
