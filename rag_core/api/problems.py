"""What went wrong, told as RFC 9457 says, with the same help as everywhere; OpenAI's clients get their own form, and
those of the research assistant theirs."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from rag_core.errors import (
    Cancelled,
    ConfigurationError,
    InvalidQuestion,
    LecternError,
    LibraryInUse,
    LimitExceeded,
    ModelUnavailable,
    NotAllowed,
    StoreCorrupt,
    StoreUnavailable,
    UnreadableDocument,
    UnsupportedDocument,
)

_log = logging.getLogger(__name__)
_STATUS: tuple[tuple[type[LecternError], int], ...] = (
    (UnreadableDocument, 422),
    (UnsupportedDocument, 415),
    (LimitExceeded, 413),
    (StoreUnavailable, 503),
    (StoreCorrupt, 500),
    (ModelUnavailable, 503),
    (InvalidQuestion, 422),
    (ConfigurationError, 422),
    (LibraryInUse, 409),
    (Cancelled, 409),
    (NotAllowed, 403),
)
_RETRY_AFTER_S = 1
# What the research assistant answers with 400: what is sent is of no use, in whatever way.
_BAD_REQUEST = (413, 415, 422)


class Refused(HTTPException):
    """A request that is not carried out: an HTTP status, what happened, and what to do about it."""

    def __init__(self, status: int, message: str, help: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, message, headers)
        self.help = help


@contextmanager
def there(what: str) -> Iterator[None]:
    """Answers 404 where the block raises KeyError: there is no such document, page, conversation."""
    try:
        yield
    except KeyError as error:
        raise Refused(404, f"There is no {what} of that id.") from error


def status_of(error: LecternError) -> int:
    """The HTTP status that an error is told with; 409 for what the library's state does not allow now."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 409)


def problem(path: str, error: Exception, status: int = 500, **more: Any) -> Response:
    """An error as the answer to a request for `path`."""
    message, help_text, kind, headers = "Lectern failed at this.", "The log says more.", "Unexpected", {}
    if isinstance(error, RecursionError):  # of what is given, and of nothing else, the depth is somebody's choice
        error = Refused(422, "The request is nested too deeply.", "Send what /api/v1/docs describes.")
    if isinstance(error, LecternError):
        status, message, help_text, kind = status_of(error), str(error), error.help, type(error).__name__
        headers = {"Retry-After": str(_RETRY_AFTER_S)} if error.retryable else {}
    elif isinstance(error, HTTPException):
        status, message, headers = error.status_code, str(error.detail), dict(error.headers or {})
        help_text, kind = getattr(error, "help", ""), HTTPStatus(status).phrase.replace(" ", "")
        if message == HTTPStatus(status).phrase:  # no path, or no such method of it
            message, help_text = f"{message}: {path[:200]}.", "/api/v1/docs tells what there is."
    if path == "/v1" or path.startswith("/v1/"):
        told: dict[str, Any] = {"message": f"{message} {help_text}".strip(), "type": kind, "param": None, "code": kind}
        return JSONResponse({"error": told}, status, headers)
    if path.startswith("/api/") and not path.startswith("/api/v1/"):
        now = datetime.now(UTC).isoformat(timespec="seconds")
        told = {"status": "error", "detail": message, "help": help_text, "timestamp": now, **more}
        return JSONResponse(told, 400 if status in _BAD_REQUEST else status, headers)
    told = {
        "type": f"urn:lectern:problem:{kind}", "title": HTTPStatus(status).phrase, "status": status,
        "detail": message, "help": help_text, "retryable": getattr(error, "retryable", status in (429, 503)), **more,
    }  # fmt: skip
    return JSONResponse(told, status, headers, media_type="application/problem+json")


async def handle(request: Request, error: Exception) -> Response:
    """The exception handler of every door."""
    if not isinstance(error, LecternError | HTTPException | RecursionError):
        _log.error("A request could not be answered", exc_info=error)
    return problem(request.url.path, error)
