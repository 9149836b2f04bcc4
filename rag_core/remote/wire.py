"""Requests to a Lectern server, on connections of the standard library: whoever asks one question waits for no import.

Problems that the server tells (RFC 9457) are raised as the errors that they were.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from rag_core.errors import ConfigurationError, LecternError, StoreUnavailable, error_of

TIMEOUT_S = 660.0
_KIND = "urn:lectern:problem:"


class Unusable(LecternError, ValueError):
    """Arguments that the server does not take, where an open library raises ValueError."""


class Wire:
    """Requests to one server, each on a connection of its own. Thread-safe."""

    def __init__(self, url: str, key: str = "") -> None:
        """Raises ConfigurationError for what is no address of a server."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigurationError(f"{url} is no address of a server.", help="It begins with http:// or https://.")
        self.url = url.rstrip("/")
        self._parts = parts
        self._key = key

    def ask(self, method: str, path: str, body: object = None, *, query: Mapping[str, Any] | None = None) -> Any:
        """The JSON that the server answers, None for an empty answer. `body` is made JSON where it is no bytes.

        Raises KeyError for 404, or what it tells.
        """
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        with self._answer(method, path, data, query, {"Content-Type": "application/json"}) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def bytes(self, path: str, body: object = None, *, query: Mapping[str, Any] | None = None) -> bytes:
        """The bytes that the server answers, by POST where there is a `body`. Raises as `ask` does."""
        data = None if body is None else json.dumps(body).encode()
        verb, headers = ("GET", {}) if data is None else ("POST", {"Content-Type": "application/json"})
        with self._answer(verb, path, data, query, headers) as answer:
            return answer.read()

    def events(
        self, path: str, body: Any = None, *, query: Mapping[str, Any] | None = None, **headers: str
    ) -> Iterator[tuple[str, Any]]:
        """Server-sent events with their names, as they come. `body` is made JSON where it is no file or bytes.

        Whoever stops iterating ends the work behind them. Raises as `ask` does, also amid the events.
        """
        data = body if isinstance(body, bytes) or hasattr(body, "read") else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", **headers, "Accept": "text/event-stream"}
        with self._answer("POST", path, data, query, sent) as answer:
            name = ""
            for line in answer:
                field, _, value = line.decode().rstrip("\r\n").partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    told = json.loads(value)
                    if name == "error":
                        raise _raised(500, told)
                    yield name, told
                    name = ""

    @contextmanager
    def _answer(
        self, method: str, path: str, data: Any, query: Mapping[str, Any] | None, headers: Mapping[str, str]
    ) -> Iterator[http.client.HTTPResponse]:
        """An answer of success, to be read within the block. Raises as `ask` does, also where it ends amid."""
        kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(self._parts.hostname or "", self._parts.port, timeout=TIMEOUT_S)
        given = {name: value for name, value in (query or {}).items() if value is not None}
        target = self._parts.path.rstrip("/") + quote(path) + (f"?{urlencode(given, doseq=True)}" if given else "")
        sent = {**headers, "Connection": "close", **({"Authorization": f"Bearer {self._key}"} if self._key else {})}
        try:
            connection.request(method, target, data, sent, encode_chunked=False)
            with connection.getresponse() as answer:
                if answer.status >= 400:
                    raise _raised(answer.status, _problem(answer.read()))
                yield answer
        except (OSError, http.client.HTTPException) as error:
            broken = isinstance(error, http.client.IncompleteRead)
            reason = "it took too long" if isinstance(error, TimeoutError) else "it broke off" if broken else str(error)
            raise StoreUnavailable(
                f"The server {self.url} does not answer: {reason}.", help="See whether Lectern runs there."
            ) from error
        finally:
            connection.close()


def _problem(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return {}


def _raised(status: int, told: Any) -> Exception:
    """The error that a server tells."""
    told = told if isinstance(told, dict) else {}
    told = told.get("error", told)  # in the form of OpenAI's protocol
    message = str(told.get("detail") or told.get("message") or f"The server refused: {status}.")
    help_text = str(told.get("help", ""))
    if status == 404:
        return KeyError(message)
    error = error_of(str(told.get("type", "")).removeprefix(_KIND), message, help_text)
    if type(error) is LecternError and status in (422, 429, 503, 504):
        return (Unusable if status == 422 else StoreUnavailable)(message, help=help_text)
    return error
