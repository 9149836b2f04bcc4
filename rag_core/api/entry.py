"""The way in for the owner's browser where this machine has other users: an address that counts once, then a cookie.

`LECTERN_DOORS__ASK_HERE=true` has the server ask for a key on 127.0.0.1 too. The address that it prints, for whoever
started it to read, has a token; the browser that comes with it gets a cookie in its place, until the server stops.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import Scope

NAME = "lectern_entry"
_PARAMETER = "entry"


class Entry:
    """Tokens that were given out, and the browsers that came with one. Thread-safe."""

    def __init__(self) -> None:
        self._tokens: set[str] = set()
        self._browsers: set[str] = set()
        self._lock = threading.Lock()

    def address(self, url: str) -> str:
        """An address of the pages that lets one browser in, once."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            self._tokens.add(_digest(token))
        return f"{url}/?{_PARAMETER}={token}"

    def answer(self, scope: Scope) -> Response | None:
        """What a browser is answered that comes by such an address: its cookie; None to all others."""
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get(_PARAMETER, [""])[0]
        if not given or scope["type"] != "http" or scope["method"] != "GET":
            return None
        cookie = secrets.token_urlsafe(32)
        with self._lock:
            if _digest(given) not in self._tokens:
                return None
            self._tokens.remove(_digest(given))
            self._browsers.add(_digest(cookie))
        answer = RedirectResponse(scope["path"], 303, {"Cache-Control": "no-store"})
        answer.set_cookie(NAME, cookie, httponly=True, samesite="lax")
        return answer

    def knows(self, headers: Headers) -> bool:
        """Whether a request comes from a browser that was let in."""
        cookie = cookie_parser(headers.get("cookie", "")).get(NAME, "")
        with self._lock:
            return _digest(cookie) in self._browsers


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
