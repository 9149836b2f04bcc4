"""Waiting for what other threads and processes do."""

from __future__ import annotations

import time
from collections.abc import Callable

import httpx


def until(condition: Callable[[], object], longest_s: float = 180.0) -> None:
    """Wait until something is so; a server that does not answer yet has not made it so."""
    deadline = time.monotonic() + longest_s
    while True:
        try:
            if condition():
                return
        except httpx.HTTPError:
            pass
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.01)
