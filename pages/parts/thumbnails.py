"""Small pictures of pages, drawn in the background and kept for all sessions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pages.parts.suggesting import Looking

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
        self._drawn: Looking[bytes] = Looking("lectern-thumbnails", _KEPT)

    def get(self, place: Place) -> bytes | None:
        """A page's picture as PNG; None while it is not there, or cannot be drawn."""
        return self._drawn.seen((self._person(), place)) or None

    def missing(self, places: Sequence[Place]) -> list[Place]:
        """Those that are still being drawn."""
        person = self._person()
        return [place for place in places if self._drawn.seen((person, place)) is None]

    def ask(self, places: Sequence[Place]) -> None:
        """Have pages drawn that are not there yet."""
        library, person = self._library(), self._person()  # who looks is not told to the thread that draws
        for place in places:
            self._drawn.get((person, place), partial(_picture, library, place), b"")

    def close(self) -> None:
        """Draw no more."""
        self._drawn.close()


def _picture(library: Library, place: Place) -> bytes:
    """A page as PNG; nothing where it cannot be drawn, which opening the document says why."""
    try:
        return library.page_image(*place, width_px=WIDTH_PX).png
    except KeyError:  # the document is gone
        return b""
