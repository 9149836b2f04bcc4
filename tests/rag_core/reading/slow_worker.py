"""Stands in for the reading process: answers as told by the document's path, so that time can be tested."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict

from rag_core.domain import Page
from rag_core.reading.base import Details, RawPage
from rag_core.reading.wire import page_out


def service(alive: Callable[[], None]) -> Callable[[bytes], bytes]:
    """Answers as a reading process does."""

    def answer(line: bytes) -> bytes:
        request = json.loads(line)
        told = {"page_count": 4}
        if request["op"] == "open" and "alive" in request["path"]:
            for _ in range(15):
                alive()
                time.sleep(0.2)
        if request["op"] == "pages":
            first = request["first"]
            if "silent" in request["path"] and first == 2:
                time.sleep(60)
            if "dies" in request["path"] and first in (2, 3):
                raise SystemExit(7)
            if "babbles" in request["path"]:
                return b"no JSON"
            time.sleep(0.05)
            told = {"pages": [page_out(RawPage(Page(first, "words")))]}
        if request["op"] == "details":
            if "aimless" in request["path"]:
                time.sleep(60)
            told = {"details": asdict(Details())}
        return json.dumps(told).encode()

    return answer
