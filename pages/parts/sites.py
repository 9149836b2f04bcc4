"""Sites and followed sources: what is fetched or looked at again in the background, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pages.parts.tasks import TaskBoard
from rag_core.cancellation import Cancellation
from rag_core.domain import AddEvent, Progress, WebAddress
from rag_core.errors import LecternError

if TYPE_CHECKING:
    from rag_core.library import Library

Fetched = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class SiteReport:
    """How it ended: pages that came or changed, those as before, and what failed, with why and what to do."""

    location: str
    ready: int
    unchanged: int
    failed: tuple[Fetched, ...]
    stopped: bool


class StopsAt(Cancellation):
    """Stops the fetching of one source where another token is set. What it has led to so far goes on to its end."""

    def __init__(self, token: Cancellation, location: str) -> None:
        super().__init__()
        self._token = token
        self._location = location

    def is_set(self, source: str | None = None) -> bool:
        """Whether to stop."""
        return source == self._location and self._token.is_set()


def begin(board: TaskBoard[SiteReport], wanted: WebAddress) -> None:
    """Add an address, unless one is being fetched."""
    board.begin("site", _work(wanted.address, lambda library, stop: library.add([wanted], cancellation=stop)))


def update(board: TaskBoard[SiteReport], location: str) -> None:
    """Look at a source again."""
    board.begin("site", _work(location, lambda library, stop: library.update([location], cancellation=stop)))


def _work(
    location: str, events: Callable[[Library, Cancellation], Iterable[AddEvent]]
) -> Callable[[Library, Cancellation, Callable[[Progress], None]], SiteReport]:
    def work(library: Library, token: Cancellation, tell: Callable[[Progress], None]) -> SiteReport:
        ready = unchanged = 0
        failed: list[Fetched] = []
        for event in events(library, StopsAt(token, location)):
            if event.stage == "fetching":
                tell(Progress("fetching", event.done, event.total, event.source))
            elif event.stage == "ready":
                ready, unchanged = ready + (not event.note), unchanged + bool(event.note)
            elif event.stage == "failed":
                failed.append((event.source, str(event.error), _help(event.error)))
        return SiteReport(location, ready, unchanged, tuple(failed), token.is_set())

    return work


def _help(error: Exception | None) -> str:
    return error.help if isinstance(error, LecternError) else ""
