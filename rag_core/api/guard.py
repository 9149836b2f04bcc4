"""The guard before pages and doors: who may come in, by which name, with how much.

Two attacks on a server of one's own machine are kept out by names. A page of a foreign site that has its name point at
127.0.0.1 (DNS rebinding) sends that name as Host. A form or a script of a foreign site that sends something here has
its own site as Origin, and browsers tell of it in Sec-Fetch-Site. A key is asked for wherever others reach the server.
"""

from __future__ import annotations

import logging
import secrets
import time
from contextlib import suppress
from urllib.parse import urlsplit

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from rag_core.api.callers import SCOPE_NAME, Caller, Passage
from rag_core.api.doors import Doors, is_door
from rag_core.api.exchange import Holds, Outgoing, carry_out
from rag_core.api.headers import DOORS, Headed
from rag_core.api.heads import MOST_BYTES
from rag_core.api.limits import Body, Hold, Limits, Rates, too_large
from rag_core.api.owning import has_own_key, host_name, is_here, is_proxied, key_of
from rag_core.api.problems import Refused, problem
from rag_core.api.visitors import Visitors
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
_FRAMES = ("iframe", "frame", "embed", "object", "fencedframe")


class Guard:
    """ASGI middleware around the whole server."""

    def __init__(self, app: ASGIApp, doors: Doors) -> None:
        self._app = app
        self._doors = doors
        self._rates: Rates | None = None
        self._limits: Limits | None = None
        self._visitors = Visitors(app, doors)
        self._wrong_keys = Rates(rate=0.2, burst=10)
        self._told_of_proxy = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it (ASGI)."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers, to_door = Headers(scope=scope), is_door(scope["path"])
        answer = Headed(send, DOORS if to_door else self._doors.page_policy)
        try:
            self._check_names(headers, to_door=to_door)
            if to_door:
                await self._to_door(scope, headers, receive, answer)
            else:
                await self._to_page(scope, headers, receive, answer)
        except Exception as error:
            if answer.begun:
                raise
            if not isinstance(error, Refused | LecternError):
                _log.exception("A request could not be answered")
            await _refuse(scope, receive, answer, error)

    async def _to_page(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        """A page, or what belongs to one."""
        holds = None
        if self._doors.entry is not None and (cookie := self._doors.entry.answer(scope)):
            await cookie(scope, receive, send)
            return
        if self._doors.sign_in is None:
            caller, holds = await self._caller(scope, headers)
            if not caller.may("admin"):
                raise Refused(403, "The pages need a key with the role admin.")
        await self._visitors.pass_on(scope, receive, send, holds)

    async def _to_door(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        """A door, whose requests are counted, noted and told of."""
        if scope["type"] == "websocket":
            raise Refused(404, "No door is a WebSocket.")
        caller, holds = await self._caller(scope, headers)
        passage = Passage(caller, headers.get("x-request-id", "")[:100] or secrets.token_hex(8))
        scope[SCOPE_NAME] = passage
        request_id.set(passage.id)
        answer = Outgoing(scope, send, passage)
        try:
            await self._pass(scope, headers, receive, answer, holds)
        except (Refused, LecternError) as error:
            if answer.status:
                raise
            await _refuse(scope, receive, answer, error)
        except Exception:
            if not answer.ended:  # else it was told, and logged, by `problems.handle`
                raise
        finally:
            await self._note(scope, passage, answer)

    async def _pass(
        self, scope: Scope, headers: Headers, receive: Receive, answer: Outgoing, holds: Holds | None
    ) -> None:
        """A door's request within its limits. Raises Refused."""
        settings, path, passage = self._doors.settings, scope["path"], answer.passage
        if path in _WATCHED:
            await self._app(scope, receive, answer)
            return
        if self._rates is None or self._limits is None:
            self._rates = Rates(settings.rate_per_s, settings.rate_per_s * _BURST_S)
            self._limits = Limits(settings.concurrency, settings.streams)
        client = _client(scope, passage.caller)
        self._rates.take(client)
        uploads = scope["method"] == "POST" and path.rstrip("/") in _UPLOADS
        _check_type(scope["method"], headers, uploads)
        most = _UPLOAD_BYTES if uploads else settings.max_body_bytes
        if int(headers.get("content-length") or 0) > most:
            raise too_large(most)
        passage.hold = Hold(self._limits, client, settings.timeout_s, with_body=_has_body(headers))
        try:
            body = Body(receive, most, passage.hold.work)
            # What uploads is written to disk as it comes; all else is small, and waits here for its end.
            if uploads or await body.fill():
                await carry_out(self._app(scope, body, answer), answer, passage.hold.left_s, holds)
        finally:
            passage.hold.end()

    def _check_names(self, headers: Headers, *, to_door: bool) -> None:
        """Whether the request was meant for this server and comes from its own pages, or from no page at all."""
        if sum(len(name) + len(value) for name, value in headers.raw) > MOST_BYTES:
            raise Refused(431, "The head of the request is too large.", "Remove the cookies of this site.")
        named = headers.getlist("host")
        host = host_name(named[0]) if len(named) == 1 else None
        if host is None or host not in self._doors.hosts:
            raise Refused(421, "This server does not go by that name.", "LECTERN_DOORS__HOSTS adds names.")
        if any(urlsplit(origin).netloc.lower() != named[0].lower() for origin in headers.getlist("origin")):
            raise Refused(403, "Requests of other sites are not answered.")
        if headers.get("sec-fetch-dest") in _FRAMES:
            raise Refused(403, "Nothing of Lectern is shown within another page.", "Open it in a tab of its own.")
        site, goes_there = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode") == "navigate"
        # A link to a page may stand anywhere.
        if site not in ("same-origin", "none") and (to_door or not goes_there):
            raise Refused(403, "Requests of other sites are not answered.")

    async def _caller(self, scope: Scope, headers: Headers) -> tuple[Caller, Holds | None]:
        """Who calls, by their key, or by being on this machine; and whether that holds later, None for ever."""
        text, proxied = key_of(headers), is_proxied(headers)
        if text.startswith(KEY_PREFIX):
            if has_own_key(self._doors, text):
                return Caller("owner", "admin", owner=True), None
            access = self._doors.library().access
            if not access.may_know(text):
                self._wrong_keys.check(_client(scope))
            key = await to_thread.run_sync(access.verify, text)
            if key is not None:

                async def holds() -> bool:
                    with suppress(LecternError):  # while the database is away, nobody can have ended it
                        return await to_thread.run_sync(self._doors.library().access.verify, text) == key
                    return True

                if key.person and self._doors.sign_in is not None and not self._doors.settings.apart:
                    raise Refused(403, "Here whoever signs in sees all documents, so nobody has some of their own.")
                return Caller(f"key {key.name} ({key.id})", key.role, key.tags, person=key.person), holds
        elif is_here(self._doors, headers):
            # A key of another form is passed over: many clients of OpenAI's protocol send one in any case.
            return Caller("this machine", "admin"), None
        if text:
            self._wrong_keys.take(_client(scope))
        raise self._needs_key(scope, proxied=proxied)

    def _needs_key(self, scope: Scope, *, proxied: bool) -> Refused:
        """The refusal of a request without a key."""
        scheme = "Bearer" if is_door(scope["path"]) else 'Basic realm="Lectern: any name, and a key as password"'
        message, help_text = "This needs a key of Lectern.", "Make a key: lectern keys --create NAME."
        if proxied and self._doors.keyless:
            message = "This came through a proxy, behind which anybody may be, so it needs a key of Lectern."
            if not self._told_of_proxy:
                self._told_of_proxy = True
                _log.warning("%s %s Or call Lectern without the proxy.", message, help_text)
        return Refused(401, message, help_text, {"WWW-Authenticate": scheme})

    async def _note(self, scope: Scope, passage: Passage, answer: Outgoing) -> None:
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


async def _refuse(scope: Scope, receive: Receive, send: Send, error: Exception) -> None:
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008})
    else:
        await problem(scope["path"], error)(scope, receive, send)


def _check_type(method: str, headers: Headers, uploads: bool) -> None:
    """What changes data comes as JSON, which no form of another site can send."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if method in _CHANGING and _has_body(headers) and not uploads and kind != "application/json":
        raise Refused(415, "The request must be JSON.", "Send it with Content-Type: application/json.")


def _has_body(headers: Headers) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


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
