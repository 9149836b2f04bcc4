"""How answers are given: JSON with a tag of its content, and streams of events."""

from __future__ import annotations

import asyncio
import contextvars
import hashlib
import json
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from rag_core.api.callers import caller_of, passage_of
from rag_core.api.doors import Doors
from rag_core.api.problems import Refused, problem
from rag_core.cancellation import Cancellation
from rag_core.library import Library
from rag_core.personal import library_of

_log = logging.getLogger(__name__)
_BEAT_S = 10.0
_LOOK_S = 0.5
_AHEAD = 64
Event = tuple[str, Any]


async def open_library(request: Request) -> Library:
    """A dependency: the open library as its caller has it. Raises StoreUnavailable while it is not open."""
    return library_of(doors_of(request).library(), caller_of(request).person)


def doors_of(request: Request) -> Doors:
    """The doors that a request came through."""
    doors: Doors = request.app.state.doors
    return doors


def as_json(value: Any) -> bytes:
    """A plain value as JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def tag_of(body: bytes) -> str:
    """The ETag of a body (RFC 9110)."""
    return f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'


def told(request: Request, value: Any, status: int = 200, **headers: str) -> Response:
    """A plain value as the answer; whoever has it already is told so."""
    body = as_json(value)
    tag = tag_of(body)
    if request.method == "GET" and tag in _tags(request, "if-none-match"):
        return Response(status_code=304, headers={"ETag": tag})
    return Response(body, status, {"ETag": tag, "Cache-Control": "private, no-cache", **headers}, "application/json")


def check_unchanged(request: Request, value: Any) -> None:
    """Refuse a change of what is no longer what the client saw, where it says what it saw."""
    wanted = _tags(request, "if-match")
    if wanted and "*" not in wanted and tag_of(as_json(value)) not in wanted:
        raise Refused(412, "It was changed meanwhile.", "Fetch it again, and decide again.")


def wants_events(request: Request) -> bool:
    """Whether the client asks for a stream of server-sent events."""
    return "text/event-stream" in request.headers.get("accept", "")


def streamed(request: Request, work: Callable[[Cancellation], Iterator[Event]], *, waiting: bool = False) -> Response:
    """Server-sent events as they are made, in a thread of their own.

    The work is stopped by its token when the client leaves or the server stops. An error ends the stream with an event
    `error`, which holds the problem. `waiting`: it only waits for what others do, and is no request at work; raises
    Refused where its client has too many such streams.
    """
    doors, token = doors_of(request), Cancellation()
    hold = passage_of(request).hold
    if waiting and hold is not None:
        hold.wait()
    events = _pumped(work, token, doors.closing, request.url.path)
    return StreamingResponse(
        (_line(event) async for event in events), media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )  # fmt: skip


async def _pumped(
    work: Callable[[Cancellation], Iterator[Event]], token: Cancellation, closing: threading.Event, path: str
) -> AsyncIterator[Event | None]:
    """The events of some work; None now and then while it is silent, which keeps the connection."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Event | None] = asyncio.Queue()
    room = threading.Semaphore(_AHEAD)  # a slow client holds the work up, instead of filling memory

    def run() -> None:
        try:
            for event in work(token):
                while not room.acquire(timeout=_LOOK_S) and not token.is_set():
                    pass
                loop.call_soon_threadsafe(queue.put_nowait, event)
        except Exception as error:  # noqa: BLE001  it is told, and logged by `_told_error` where nobody foresaw it
            if not loop.is_closed():
                loop.call_soon_threadsafe(queue.put_nowait, ("error", _told_error(path, error)))
        finally:
            with suppress(RuntimeError):  # the server has stopped, and nobody listens
                loop.call_soon_threadsafe(queue.put_nowait, None)

    within = contextvars.copy_context()  # it logs for the same request
    thread = threading.Thread(target=within.run, args=(run,), name="lectern-stream", daemon=True)
    thread.start()
    silent_s = 0.0
    try:
        while True:
            try:
                event = await asyncio.wait_for(queue.get(), _LOOK_S)
            except TimeoutError:
                silent_s += _LOOK_S
                if closing.is_set():
                    token.cancel()
                if silent_s >= _BEAT_S:
                    silent_s = 0.0
                    yield None
                continue
            if event is None:
                return
            silent_s = 0.0
            yield event
            room.release()
    finally:
        token.cancel()


def _told_error(path: str, error: Exception) -> Any:
    from rag_core.errors import LecternError

    if not isinstance(error, LecternError | RecursionError):
        _log.error("A stream ended unexpectedly", exc_info=error)
    return json.loads(bytes(problem(path, error).body))


def _line(event: Event | None) -> bytes:
    """An event as its lines (WHATWG HTML, server-sent events); one without a name is data alone."""
    if event is None:
        return b": alive\n\n"
    name, value = event
    data = value if isinstance(value, bytes) else as_json(value)
    return (f"event: {name}\n".encode() if name else b"") + b"data: " + data + b"\n\n"


def _tags(request: Request, header: str) -> set[str]:
    return {part.strip().removeprefix("W/") for part in request.headers.get(header, "").split(",") if part.strip()}
