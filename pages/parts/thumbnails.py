"""Small pictures of pages, drawn in the background and kept for all sessions."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

from rag_core.errors import LecternError
from rag_core.unexpected import stage

if TYPE_CHECKING:
    from rag_core.library import Library

Place = tuple[str, int]
WIDTH_PX = 220
_KEPT = 400  # some 10 KB each


class Thumbnails:
    """Thread-safe. `library` gives the open library; a page is a document's id and the page's number."""

    def __init__(self, library: Callable[[], Library]) -> None:
        self._library = library
        self._lock = threading.Lock()
        self._known: OrderedDict[Place, bytes | None] = OrderedDict()
        self._under_way: set[Place] = set()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="lectern-thumbnails")

    def get(self, place: Place) -> bytes | None:
        """A page's picture as PNG; None while it is not there, or cannot be drawn."""
        with self._lock:
            return self._known.get(place)

    def missing(self, places: Sequence[Place]) -> list[Place]:
        """Those that are still being drawn."""
        with self._lock:
            return [place for place in places if place not in self._known]

    def ask(self, places: Sequence[Place]) -> None:
        """Have pages drawn that are not there yet."""
        library = self._library()  # of whoever looks, which is not told to the thread that draws
        with self._lock:
            new = [place for place in places if place not in self._known and place not in self._under_way]
            self._under_way.update(new)
        for place in new:
            self._pool.submit(self._draw, library, place)

    def close(self) -> None:
        """Draw no more."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _draw(self, library: Library, place: Place) -> None:
        png: bytes | None = None
        with suppress(LecternError), stage("thumbnail"):  # without a picture; opening the page says why
            png = _picture(library, place)
        with self._lock:
            self._known[place] = png
            self._under_way.discard(place)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)


def _picture(library: Library, place: Place) -> bytes | None:
    try:
        return library.page_image(*place, width_px=WIDTH_PX).png
    except KeyError:  # the document is gone
        return None
