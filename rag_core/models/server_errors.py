"""What goes wrong with a model server, in words that a person can use. No message holds the key."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rag_core.errors import LecternError, ModelUnavailable
from rag_core.settings import ServerSettings

if TYPE_CHECKING:
    import httpx

_TOLD_CHARS = 200
_TOLD_NAMES = 8


def failures() -> tuple[type[Exception], ...]:
    """What the client raises: of the connection, and of streams that are not what a model server sends."""
    import httpx

    return (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, json.JSONDecodeError, AttributeError, TypeError)


def explained(error: Exception, server: str, timeout_s: float) -> LecternError:
    """A failure of the connection."""
    import httpx

    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return unavailable(f"{server} cannot be reached.", "Start the server, or check its address.")
    if isinstance(error, httpx.TimeoutException):
        return unavailable(
            f"{server} did not answer within {timeout_s:g} seconds.",
            "Try again: it may have been loading the model. generation.timeout_s sets how long is waited.",
        )
    if isinstance(error, httpx.HTTPError):
        return unavailable(f"{server} broke off its answer.", "Ask again.")
    return unavailable(
        f"{server} does not answer as a server of models does.", "Check the address; most end in /v1.", retryable=False
    )


def refused(
    response: httpx.Response,
    server: ServerSettings,
    model: str,
    told: Mapping[str, Any] | None = None,
    there: Sequence[str] = (),
) -> ModelUnavailable:
    """A request that the server refused or gave up.

    told: what it said, where not the response's body. there: the names of the models that it has.
    """
    name, status = response.request.url.host, response.status_code
    says = _said(response, server, told)
    if status in (401, 403):
        return unavailable(f"{name} refused the key.", "Check the key and enter it again.", retryable=False)
    if status == 404 and model:
        others = f" It has: {', '.join(there[:_TOLD_NAMES])}." if there else ""
        return unavailable(
            f"{name} has no model called {model}.{others}{says}", "Choose another on the Models page.", retryable=False
        )
    if status == 404:
        return unavailable(f"{name} has no models there.", "Check the address; most end in /v1.", retryable=False)
    if status == 429:
        return unavailable(f"{name} takes no more questions now.{says}", "Wait a while.")
    if "context" in says.casefold():
        return unavailable(
            f"The question and its passages are too long for the model.{says}",
            "Give the model a larger context, or lower server.context_tokens.",
            retryable=False,
        )
    if 300 <= status < 500:
        return unavailable(f"{name} refused the request.{says}", "Choose another model.", retryable=False)
    return unavailable(f"{name} failed to answer.{says}", "Try again in a while.")


def _said(response: httpx.Response, server: ServerSettings, told: Mapping[str, Any] | None) -> str:
    """The server's own words, shortened and without the key; empty where there are none."""
    try:
        found: Any = response.json() if told is None else told
    except (ValueError, RuntimeError):
        return ""
    for key in ("error", "message", "detail"):
        if isinstance(found, Mapping) and key in found:
            found = found[key]
    key = server.key.get_secret_value().strip() if server.key else ""
    text = " ".join(found.split()) if isinstance(found, str) else ""
    if key:
        text = text.replace(key, "…")
    return f" It says: {text[:_TOLD_CHARS]}" if text else ""


def unavailable(message: str, help: str, *, retryable: bool = True) -> ModelUnavailable:
    """An error that says whether the same may succeed later."""
    error = ModelUnavailable(message, help=help)
    error.retryable = retryable
    return error
