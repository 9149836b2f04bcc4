"""What the guard and every door share: the library, the settings, the server's own key, and when it stops.

Light, for it is imported before the first page is drawn; what answers requests is imported with the first of them.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol
from weakref import WeakValueDictionary

from anyio import to_thread
from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import ASGIApp, Receive, Scope, Send

from rag_core.api.addresses import is_own
from rag_core.api.entry import Entry
from rag_core.api.headers import page_policy
from rag_core.domain import KEY_PREFIX
from rag_core.errors import LecternError
from rag_core.settings import DoorSettings, Settings

if TYPE_CHECKING:
    from starlette.datastructures import URLPath

    from rag_core.library import Library

Observer = Callable[[str, str, str, int, float], None]
"""Told of each request when it ended: its id, method, route, status and seconds."""
PREFIXES = ("/api", "/v1", "/mcp", "/metrics")
_OWN_NAMES = ("127.0.0.1", "localhost", "::1")


def is_door(path: str) -> bool:
    """Whether a path leads to a door, and not to the pages."""
    return path.startswith(PREFIXES) and any(path == prefix or path[len(prefix)] == "/" for prefix in PREFIXES
                                             if path.startswith(prefix))  # fmt: skip


class SignIn(Protocol):
    """Who signed in to the pages, by the cookies of a request. Thread-safe."""

    def who(self, cookies: Mapping[str, str]) -> str:
        """The address of whoever signed in with them and may see the pages; empty for anybody else."""

    def end(self, cookies: Mapping[str, str]) -> None:
        """Whoever has these cookies signs out: nobody comes in with them any longer."""


class Doors:
    """The doors of one server. `library` gives the open library, or raises LecternError while there is none."""

    def __init__(
        self, library: Callable[[], Library], *, address: str = "127.0.0.1", settings: DoorSettings | None = None
    ) -> None:
        self.library = library
        self.key = f"{KEY_PREFIX}{secrets.token_urlsafe(32)}"
        self.closing = threading.Event()
        self.sign_in: SignIn | None = None
        """Tells who signed in, where the pages themselves ask who is there."""
        self.page_policy = page_policy()
        """What the pages may load, and from where (Content-Security-Policy)."""
        self.turns: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        """Of callers with idempotency keys, while a request with one is carried out."""
        self.observers: list[Observer] = []
        self.route = _Route(self)
        self._app: ASGIApp | None = None
        self._making = threading.Lock()
        self.bind(address, settings)

    def bind(self, address: str, settings: DoorSettings | None = None) -> None:
        """Say where the server listens. Whoever reaches it there without a key may do all where that is this machine.

        The settings are those of the environment where none are given; ones that cannot be used are told of by the
        library, which is not opened then.
        """
        try:
            self.settings = settings or Settings.load().doors
        except LecternError:
            self.settings = DoorSettings()
        here, ask_here = is_own(address), self.settings.ask_here
        self.keyless = here and not ask_here
        self.entry = Entry() if here and ask_here else None
        """Lets the owner's browser in where a key is asked for on this machine too."""
        self.own_names = frozenset({*_OWN_NAMES, address.lower()})
        self.hosts = self.own_names | {host.lower() for host in self.settings.hosts}

    def make(self) -> ASGIApp:
        """The application behind the doors, made with the first call: takes half a second."""
        from rag_core.api.app import make_app

        with self._making:
            if self._app is None:
                self._app = make_app(self)
            return self._app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that the guard let through (ASGI)."""
        app = self._app
        if app is None:
            app = await to_thread.run_sync(self.make)
        await app(scope, receive, send)


class _Route(BaseRoute):
    """Leads every path of a door to the doors, whole."""

    def __init__(self, doors: Doors) -> None:
        self._doors = doors

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return (Match.FULL if scope["type"] == "http" and is_door(scope["path"]) else Match.NONE), {}

    def url_path_for(self, name: str, /, **path_params: object) -> URLPath:
        raise NoMatchFound(name, path_params)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._doors(scope, receive, send)
