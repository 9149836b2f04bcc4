"""The adder: what starts, watches and ends the runs of one library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager

from rag_core.adding.claims import Claims
from rag_core.adding.run import Run, Tools
from rag_core.adding.turn import Turn
from rag_core.cancellation import Cancellation
from rag_core.domain import AddEvent, Document
from rag_core.embedding import Embedder
from rag_core.reading import SUFFIXES, Reader
from rag_core.settings import Settings
from rag_core.sources import Found, Looking, Source, expand
from rag_core.storage import Storage


class Adder:
    """Adds sources to a library. One per library; runs of several callers go side by side.

    `settings()` are those in effect when a run begins, `embedder()` the model for what it adds. `removed` is told of
    documents that newer versions took the places of.
    """

    def __init__(
        self,
        settings: Callable[[], Settings],
        storage: Storage,
        reader: Reader,
        embedder: Callable[[], Embedder],
        removed: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._settings = settings
        self._storage = storage
        self._reader = reader
        self._embedder = embedder
        self._removed = removed
        self._turn = Turn()
        self._claims = Claims()
        self._runs: set[Run] = set()

    def run(
        self, sources: Iterable[Source], *, password: str | None = None, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """Add sources, telling of each step. A source that fails has an event with its error; the rest goes on."""
        run = self._new(password, cancellation)
        return self._events(run, lambda: run.add(expand(sources, self._looking(run))))

    def bring(
        self, found: Callable[[Looking], Iterable[Found]], *, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """The same for what `found` makes of a second look: what the user removed, or what failed, is left as it is."""
        run = self._new(None, cancellation)
        return self._events(run, lambda: run.add(found(self._looking(run, again=True))))

    def accept(self, sources: Iterable[Source], *, cancellation: Cancellation | None = None) -> Iterator[AddEvent]:
        """Keep the bytes of sources and note them as pending documents, for `resume` to take on."""
        run = self._new(None, cancellation)
        return self._events(run, lambda: run.accept(expand(sources, self._looking(run))))

    def resume(
        self, documents: Mapping[str, str] | None = None, *, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """Finish accepted documents: these ids, each with the name that its events have, or all there are."""
        run = self._new(None, cancellation)
        if documents is not None:
            return self._events(run, lambda: run.finish_some(documents))
        return self._events(run, lambda: run.finish(self._storage.documents.pending()))

    def retry(
        self, document: Document, *, password: str | None = None, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """Read a failed document again from its kept bytes, perhaps with a password."""
        run = self._new(password, cancellation)
        self._storage.documents.retry(document.id)
        return self._events(run, lambda: run.finish([document]))

    def replace(self, documents: Mapping[str, str]) -> Iterator[AddEvent]:
        """Read ready documents, these ids with names for their events, once more from their kept bytes.

        Their chunks answer until the new ones take their place. One that fails stays as it is.
        """
        run = self._new(None, Cancellation())
        return self._events(run, lambda: run.replace(documents))

    @property
    def turn(self) -> AbstractContextManager[object]:
        """Whoever holds it keeps documents from coming in: windows are neither embedded nor committed meanwhile."""
        return self._turn

    def close(self) -> None:
        """Stop every run at its next step and wait for it; what was accepted stays pending and is resumed."""
        runs = list(self._runs)
        for run in runs:  # all at once: one may be waiting for another
            run.stop()
        for run in runs:
            run.interrupt()

    def _new(self, password: str | None, cancellation: Cancellation | None) -> Run:
        tools = Tools(
            self._settings(), self._storage, self._reader, self._embedder, self._turn, self._claims, self._removed
        )
        return Run(tools, password, cancellation or Cancellation())

    def _looking(self, run: Run, *, again: bool = False) -> Looking:
        files, sources = self._storage.files, self._storage.sources
        return Looking(
            self._settings().sources, SUFFIXES, known=sources.at, known_below=sources.below, left_out=sources.left_out,
            original=files.read, kept=lambda: {key: held[0] for key, held in files.held().items()},
            stopped=run.stopped, follow=sources.follow, again=again,
        )  # fmt: skip

    def _events(self, run: Run, work: Callable[[], None]) -> Iterator[AddEvent]:
        self._runs.add(run)
        try:
            yield from run.events(work)
        finally:
            self._runs.discard(run)
