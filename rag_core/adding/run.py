"""A run: one call of add, resume or retry."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from rag_core.adding.accepting import Accepting
from rag_core.adding.claims import Claims
from rag_core.adding.course import Course
from rag_core.adding.line import Line
from rag_core.adding.preparing import Preparing
from rag_core.adding.turn import Turn
from rag_core.adding.window import WINDOW_DOCUMENTS, Window, Work
from rag_core.cancellation import Cancellation
from rag_core.domain import AddEvent, Document
from rag_core.embedding import Embedder
from rag_core.errors import LecternError
from rag_core.reading import Reader
from rag_core.settings import Settings
from rag_core.sources import Found
from rag_core.storage import Storage
from rag_core.storage.postgres.database import storable


@dataclass(frozen=True, slots=True)
class Tools:
    """What every run of a library works with."""

    settings: Settings
    storage: Storage
    reader: Reader
    embedder: Callable[[], Embedder]
    turn: Turn
    claims: Claims


class Run:
    """Takes sources, or documents that were accepted before, to their end, and tells of each step."""

    def __init__(self, tools: Tools, password: str | None, cancellation: Cancellation) -> None:
        settings, storage = tools.settings, tools.storage
        self._storage = storage
        self._cancellation = cancellation
        self._course = course = Course(storage, tools.claims, cancellation)
        # What no document can have as its password is a wrong one, not a failure of a store.
        password = storable(password) if password else None
        self._accepting = Accepting(settings, storage, course)
        self._preparing = Preparing(settings, storage, tools.reader, tools.embedder, course, password)
        self._line = Line(storage, tools.embedder, tools.turn, course)
        self._window = Window()
        self._work: Future[None] | None = None
        self._names: Mapping[str, str] = {}

    def events(self, work: Callable[[], None]) -> Iterator[AddEvent]:
        """Do the work in a thread and yield what it tells. A caller who stops listening interrupts
        it: what was accepted stays pending and is resumed."""
        events = self._course.events
        with ThreadPoolExecutor(1, thread_name_prefix="lectern-add") as executor:
            self._work = executor.submit(self._walk, work)
            self._work.add_done_callback(lambda _: events.put(None))
            try:
                while (event := events.get()) is not None:
                    yield event
                self._work.result()
            finally:
                self.interrupt()

    def stop(self) -> None:
        """Ask for a stop without cancelling: what was accepted stays pending."""
        self._course.interrupt()

    def interrupt(self) -> None:
        """Stop and wait for it. However the work ended, other runs may take up what it held."""
        self.stop()
        if self._work is not None:
            wait([self._work])
        self._course.release_all()

    def add(self, sources: Iterable[Found]) -> None:
        """Accept and process sources. They are accepted in a thread of its own, far ahead of what is read: whatever was
        accepted is resumed when this process ends early."""
        accepted: queue.SimpleQueue[list[Work] | None] = queue.SimpleQueue()

        def accept() -> None:
            try:
                for found in sources:
                    if self._course.interrupted:
                        break
                    if works := self._gather(found):
                        accepted.put(works)
                accepted.put(self._accepting.accept())
            finally:
                accepted.put(None)

        with ThreadPoolExecutor(1, thread_name_prefix="lectern-accept") as ahead:
            accepting = ahead.submit(accept)
            while (works := accepted.get()) is not None:
                self._go_on(works)
            accepting.result()
        self._finish_gathered()
        self._take_repeated()

    def accept(self, sources: Iterable[Found]) -> None:
        """Accept sources and leave them pending. Those that another run is bringing in are told of as waiting alone."""
        for found in sources:
            if self._course.interrupted:
                return
            self._leave(self._gather(found, reading=False))
        self._leave(self._accepting.accept())
        for found, _ in self._accepting.repeated:
            self._course.tell(found.key, "waiting")

    def finish_some(self, names: Mapping[str, str]) -> None:
        """Process some documents that were accepted before, by id, each told of by the name that is given here."""
        self._names = names
        documents = self._storage.documents.some(list(names))
        for key, name in names.items():
            if key in documents:
                self._course.await_other(key, name)
            else:
                self._course.tell_end(name, None)
        self.finish([documents[key] for key in names if key in documents])

    def finish(self, documents: Sequence[Document]) -> None:
        """Process documents that were accepted before."""
        for first in range(0, len(documents), WINDOW_DOCUMENTS):
            if self._course.interrupted:
                break
            window = documents[first : first + WINDOW_DOCUMENTS]
            self._go_on(self._as_they_are([item.id for item in window if self._course.claim(item.id)]))
        self._flush()

    def _walk(self, work: Callable[[], None]) -> None:
        with self._line:
            work()

    def _gather(self, found: Found, *, reading: bool = True) -> list[Work]:
        """Gather a source. Returns what was accepted, once that was worth a transaction."""
        if self._cancellation.is_set(found.key):
            self._course.tell(found.key, "cancelled")
            return []
        if reading:
            self._course.tell(found.key, "reading")
        try:
            self._accepting.gather(found)
        except LecternError as error:
            self._course.tell(found.key, "failed", error=error)
        return self._accepting.accept() if self._accepting.is_full else []

    def _finish_gathered(self) -> None:
        self._go_on(self._accepting.accept())
        self._flush()
        self._line.drain()

    def _take_repeated(self) -> None:
        """Take those sources up again whose bytes another one was bringing in: mostly they are there by now.

        Where that one was cancelled, interrupted or failed, this one goes its own way.
        """
        while self._accepting.repeated and not self._course.interrupted:
            repeated, self._accepting.repeated = self._accepting.repeated, []
            for found, document_id in repeated:
                if not self._course.await_other(document_id, found.key):
                    self._finish_gathered()
                self._go_on(self._gather(found))
            self._finish_gathered()

    def _as_they_are(self, ids: Sequence[str]) -> list[Work]:
        """What is left to do of claimed documents, as they are now: another run may have finished some meanwhile."""
        documents = self._storage.documents.some(ids)
        stuck = [key for key, document in documents.items() if document.state == "stored"]
        if stuck:
            self._storage.finish(stuck)
            documents = self._storage.documents.some(ids)
        works = []
        for key in ids:
            document = documents.get(key)
            if document is not None and document.state == "pending":
                works.append(Work(self._name(document), document))
                continue
            self._course.release(key)
            if document is not None and document.state in ("stored", "ready"):
                self._course.tell_end(self._name(document), document, note="already in the library")
        return works

    def _go_on(self, works: Sequence[Work]) -> None:
        """Read and cut accepted documents; what fills a window is sent on."""
        for work in self._preparing.prepare(works):
            if not self._window.has_room(work):
                self._flush()
            self._window.add(work)
            if self._window.is_full:
                self._flush()

    def _flush(self) -> None:
        if works := self._window.take():
            self._line.put(works)

    def _leave(self, works: Sequence[Work]) -> None:
        for work in works:
            self._course.release(work.document.id)
            self._course.tell(work.source, "waiting", document=work.document)

    def _name(self, document: Document) -> str:
        """The name by which a document is told of."""
        return self._names.get(document.id) or (document.sources[0] if document.sources else document.title)
