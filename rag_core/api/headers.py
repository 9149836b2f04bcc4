"""What every answer says to browsers: it is not framed, loads nothing from elsewhere, and no type is guessed."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.types import Message, Send

_STARTS = ("http.response.start", "websocket.accept", "websocket.http.response.start")
_ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"same-origin"),
)
_NAMES = {name for name, _ in _ALWAYS}
DOORS = "frame-ancestors 'none'"
"""For the doors, some of whose answers bring a stricter policy of their own: a browser keeps to both."""


def page_policy(scripts: Iterable[str] = ()) -> str:
    """The Content-Security-Policy of the pages; `scripts` are hashes of those that stand in the page itself.

    The face puts its styles into the page while it runs, and loads components from blobs of its own making.
    """
    return "; ".join((
        "default-src 'self'", " ".join(("script-src 'self' blob:", *(f"'{one}'" for one in scripts))),
        "style-src 'self' 'unsafe-inline'", "img-src 'self' data: blob:", "font-src 'self' data:",
        "media-src 'self' data: blob:", "worker-src 'self' blob:", "connect-src 'self'", "frame-src 'none'",
        "object-src 'none'", "base-uri 'self'", "form-action 'self'", "frame-ancestors 'none'",
    ))  # fmt: skip


class Headed:
    """Sends on with these headers, and a policy, on whatever is answered. `begun`: something was."""

    def __init__(self, send: Send, policy: str) -> None:
        self._send = send
        self._added = [*_ALWAYS, (b"content-security-policy", policy.encode("latin-1"))]
        self.begun = False

    async def __call__(self, message: Message) -> None:
        """Send on (ASGI)."""
        self.begun = True
        if message["type"] in _STARTS:
            kept = [(name, value) for name, value in message.get("headers", []) if name.lower() not in _NAMES]
            message = {**message, "headers": [*kept, *self._added]}
        await self._send(message)
