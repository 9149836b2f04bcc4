"""The guard before pages and doors: who may come in, by which name, with how much.

Two attacks on a server of one's own machine are kept out by names. A page of a foreign site that has its name point at
127.0.0.1 (DNS rebinding) sends that name as Host. A form or a script of a foreign site that sends something here has
its own site as Origin, and browsers tell of it in Sec-Fetch-Site. A key is asked for wherever others reach the server.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import logging
import secrets
import time
from urllib.parse import urlsplit

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_core.api.callers import SCOPE_NAME, Caller, Passage
from rag_core.api.doors import Doors, is_door
from rag_core.api.limits import Body, Rates, too_large
from rag_core.api.problems import Refused, problem
from rag_core.domain import KEY_PREFIX
from rag_core.errors import LecternError
from rag_core.logs import request_id

_log = logging.getLogger(__name__)
_CHANGING = ("POST", "PUT", "PATCH", "DELETE")
# Answered whatever else is going on, for whoever watches the server.
_WATCHED = ("/api/v1/health", "/metrics")
# Where a body may be a form or a file; the files' own limit holds there.
_UPLOADS = ("/api/v1/documents", "/api/v1/question-sets/import", "/api/v1/question-sets/read", "/api/upload")
_UPLOAD_BYTES = 2**31
_BURST_S = 2.0
_WAIT_S = 10.0


class Guard:
    """ASGI middleware around the whole server."""

    def __init__(self, app: ASGIApp, doors: Doors) -> None:
        self._app = app
        self._doors = doors
        self._rates: Rates | None = None
        self._slots: asyncio.Semaphore | None = None
        self._wrong_keys = Rates(rate=0.2, burst=10)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it (ASGI)."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers, path = Headers(scope=scope), scope["path"]
        try:
            self._check_names(headers, to_door=is_door(path))
            if self._doors.sign_in and not is_door(path):
                await self._app(scope, receive, send)
                return
            caller = await self._caller(scope, headers)
            if not is_door(path) and not caller.may("admin"):
                raise Refused(403, "The pages need a key with the role admin.")
        except (Refused, LecternError) as error:
            await _refuse(scope, receive, send, error)
            return
        if not is_door(path):
            await self._app(scope, receive, send)
            return
        passage = Passage(caller, headers.get("x-request-id", "")[:100] or secrets.token_hex(8))
        scope[SCOPE_NAME] = passage
        request_id.set(passage.id)
        answer = _Answer(scope, send, passage)
        try:
            await self._pass(scope, headers, receive, answer)
        except (Refused, LecternError) as error:
            if answer.status:
                raise
            await _refuse(scope, receive, answer, error)
        except Exception:
            if not answer.ended:  # else it was told, and logged, by `problems.handle`
                raise
        finally:
            await self._note(scope, passage, answer)

    async def _pass(self, scope: Scope, headers: Headers, receive: Receive, answer: _Answer) -> None:
        """A door's request within its limits. Raises Refused."""
        settings, path = self._doors.settings, scope["path"]
        if path in _WATCHED:
            await self._app(scope, receive, answer)
            return
        if self._rates is None or self._slots is None:
            self._rates = Rates(settings.rate_per_s, settings.rate_per_s * _BURST_S)
            self._slots = asyncio.Semaphore(settings.concurrency)
        self._rates.take(_client(scope, answer.passage.caller))
        uploads = scope["method"] == "POST" and path.rstrip("/") in _UPLOADS
        _check_type(scope["method"], headers, uploads)
        most = _UPLOAD_BYTES if uploads else settings.max_body_bytes
        if int(headers.get("content-length") or 0) > most:
            raise too_large(most)
        try:
            async with asyncio.timeout(_WAIT_S):
                await self._slots.acquire()
        except TimeoutError as error:
            raise Refused(503, "Too much is asked at a time.", "Try again.", {"Retry-After": "1"}) from error
        try:
            await _within(settings.timeout_s, self._app(scope, Body(receive, most), answer), answer)
        finally:
            self._slots.release()

    def _check_names(self, headers: Headers, *, to_door: bool) -> None:
        """Whether the request was meant for this server and comes from its own pages, or from no page at all."""
        named = headers.getlist("host")
        host = _name(named[0]) if len(named) == 1 else None
        if host is None or host not in self._doors.hosts:
            raise Refused(421, "This server does not go by that name.", "LECTERN_DOORS__HOSTS adds names.")
        if any(urlsplit(origin).netloc.lower() != named[0].lower() for origin in headers.getlist("origin")):
            raise Refused(403, "Requests of other sites are not answered.")
        if to_door and headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise Refused(403, "Requests of other sites are not answered.")

    async def _caller(self, scope: Scope, headers: Headers) -> Caller:
        """Who calls, by their key, or by being on this machine."""
        text = _key(headers)
        if text.startswith(KEY_PREFIX):
            if hmac.compare_digest(text.encode(), self._doors.key.encode()):
                return Caller("owner", "admin", owner=True)
            key = await to_thread.run_sync(lambda: self._doors.library().access.verify(text))
            if key is not None:
                return Caller(f"key {key.name} ({key.id})", key.role, key.tags)
        elif self._doors.keyless and _name(headers["host"]) in self._doors.own_names:
            # By another name others call, through a proxy on this machine. A key of another form is passed over: many
            # clients of OpenAI's protocol send one in any case.
            return Caller("this machine", "admin")
        if text:
            self._wrong_keys.take(_client(scope))
        scheme = "Bearer" if is_door(scope["path"]) else 'Basic realm="Lectern: any name, and a key as password"'
        help_text = "Make a key: lectern keys --create NAME."
        raise Refused(401, "This needs a key of Lectern.", help_text, {"WWW-Authenticate": scheme})

    async def _note(self, scope: Scope, passage: Passage, answer: _Answer) -> None:
        took_s = time.monotonic() - passage.started
        status = answer.status or 499
        route = _route(scope)
        for observe in self._doors.observers:
            observe(passage.id, scope["method"], route, status, took_s)
        told = {"route": route, "status": status, "took_ms": round(took_s * 1000, 1), "caller": passage.caller.name}
        _log.info("%s %s", scope["method"], scope["path"], extra=told)
        if passage.audited:
            action = f"{scope['method']} {scope['path'][:500]}"
            try:
                await to_thread.run_sync(lambda: self._doors.library().access.note(passage.caller.name, action, status))
            except LecternError as error:
                _log.warning("The audit could not note %s by %s: %s", action, passage.caller.name, error)


class _Answer:
    """What goes back to the client: its status is looked at, and headers are added. Silent once it was `ended`."""

    def __init__(self, scope: Scope, send: Send, passage: Passage) -> None:
        self.scope = scope
        self.passage = passage
        self.status = 0
        self.ended = False
        self._send = send
        passage.started = time.monotonic()

    async def __call__(self, message: Message) -> None:
        if self.ended:
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [
                *message.get("headers", []),
                (b"x-request-id", self.passage.id.encode("latin-1", "replace")),
                (b"x-content-type-options", b"nosniff"),
                (b"cross-origin-resource-policy", b"same-origin"),
            ]
        await self._send(message)
        self.ended = message["type"] == "http.response.body" and not message.get("more_body", False)


async def _within(timeout_s: float, work: object, answer: _Answer) -> None:
    """Do the work of a request; one whose answer does not begin in time gets another answer."""
    task = asyncio.ensure_future(work)  # type: ignore[call-overload]
    try:
        await asyncio.wait({task}, timeout=timeout_s)
        if not task.done() and not answer.status:
            await problem(answer.scope["path"], Refused(504, "This takes too long.", "Ask for less at a time."))(
                answer.scope, _silent, answer
            )
            answer.ended = True
            task.cancel()
        else:
            await task
    finally:
        if not task.done():
            task.cancel()


async def _silent() -> Message:
    return {"type": "http.disconnect"}


async def _refuse(scope: Scope, receive: Receive, send: Send, error: Exception) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
    else:
        await problem(scope["path"], error)(scope, receive, send)


def _name(host: str) -> str | None:
    """The name in a Host header, without its port."""
    try:
        parts = urlsplit(f"//{host}")
        parts.port  # noqa: B018  raises for one that is no number
    except ValueError:
        return None
    return parts.hostname if parts.netloc == host and "@" not in host else None


def _key(headers: Headers) -> str:
    """The key that a request brings: as bearer, as password, or by itself."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(value, validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return value.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")


def _check_type(method: str, headers: Headers, uploads: bool) -> None:
    """What changes data comes as JSON, which no form of another site can send."""
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if method in _CHANGING and has_body and not uploads and kind != "application/json":
        raise Refused(415, "The request must be JSON.", "Send it with Content-Type: application/json.")


def _route(scope: Scope) -> str:
    """The path of a request with names in the place of ids; "other" for one that leads nowhere."""
    if "endpoint" not in scope:
        return "other"
    names = {str(value): f"{{{name}}}" for name, value in scope.get("path_params", {}).items()}
    return "/".join(names.get(part, part) for part in scope["path"].split("/"))


def _client(scope: Scope, caller: Caller | None = None) -> str:
    if caller is not None and caller.name.startswith("key "):
        return caller.name
    return str((scope.get("client") or ("",))[0])
