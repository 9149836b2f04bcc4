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
    """Thread-safe. `library` gives the open library as the `person` has it who looks, and nobody else's pictures are
    shown to them; a page is a document's id and the page's number."""

    def __init__(self, library: Callable[[], Library], person: Callable[[], str] = str) -> None:
        self._library, self._person = library, person
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, Place], bytes | None] = OrderedDict()
        self._under_way: set[tuple[str, Place]] = set()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="lectern-thumbnails")

    def get(self, place: Place) -> bytes | None:
        """A page's picture as PNG; None while it is not there, or cannot be drawn."""
        person = self._person()
        with self._lock:
            return self._known.get((person, place))

    def missing(self, places: Sequence[Place]) -> list[Place]:
        """Those that are still being drawn."""
        person = self._person()
        with self._lock:
            return [place for place in places if (person, place) not in self._known]

    def ask(self, places: Sequence[Place]) -> None:
        """Have pages drawn that are not there yet."""
        library, person = self._library(), self._person()  # who looks is not told to the thread that draws
        with self._lock:
            wanted = [(person, place) for place in places]
            new = [one for one in wanted if one not in self._known and one not in self._under_way]
            self._under_way.update(new)
        for one in new:
            self._pool.submit(self._draw, library, one)

    def close(self) -> None:
        """Draw no more."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _draw(self, library: Library, wanted: tuple[str, Place]) -> None:
        png: bytes | None = None
        with suppress(LecternError), stage("thumbnail"):  # without a picture; opening the page says why
            png = _picture(library, wanted[1])
        with self._lock:
            self._known[wanted] = png
            self._under_way.discard(wanted)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)


def _picture(library: Library, place: Place) -> bytes | None:
    try:
        return library.page_image(*place, width_px=WIDTH_PX).png
    except KeyError:  # the document is gone
        return None
