"""Counting tokens where a model server does it: each has another way, none of them OpenAI's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from rag_core.models.server_errors import failures

if TYPE_CHECKING:
    import httpx

_BYTES_PER_TOKEN = 3  # fewer than any language's measured mean, so that the estimate errs on the safe side


def tokenizer(client: httpx.Client, base: str, model: str) -> Callable[[str], int] | None:
    """What counts a text's tokens at a server, or None where it does not.

    llama-server and vLLM have /tokenize beside /v1, llama-cpp-python's server /extras/tokenize/count.
    """
    root = base.removesuffix("/v1")
    for path in (f"{root}/tokenize", f"{root}/extras/tokenize/count"):
        if _counted(client, path, model, "one two") is not None:
            return partial(_counted_or_estimated, client, path, model)
    return None


def estimated(text: str) -> int:
    """About as many tokens as a text has, on the high side."""
    return len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN + 1


def _counted_or_estimated(client: httpx.Client, path: str, model: str, text: str) -> int:
    counted = _counted(client, path, model, text)
    return estimated(text) if counted is None else counted


def _counted(client: httpx.Client, path: str, model: str, text: str) -> int | None:
    try:
        response = client.post(path, json={"model": model, "content": text, "prompt": text, "input": text})
        found: Any = response.json() if response.status_code == 200 else {}
    except failures():
        return None
    if not isinstance(found, Mapping):
        return None
    count = found.get("count", len(found["tokens"]) if isinstance(found.get("tokens"), list) else None)
    return count if isinstance(count, int) else None
