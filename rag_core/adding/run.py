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
from rag_core.errors import Cancelled, LecternError
from rag_core.reading import Reader
from rag_core.settings import Settings
from rag_core.sources import Fetching, Found, Item, Refused, Unchanged
from rag_core.storage import Storage
from rag_core.storage.postgres.database import storable

_UNCHANGED = 2_000
_PATIENCE_S = 0.5


@dataclass(frozen=True, slots=True)
class Tools:
    """What every run of a library works with."""

    settings: Settings
    storage: Storage
    reader: Reader
    embedder: Callable[[], Embedder]
    turn: Turn
    claims: Claims
    removed: Callable[[str], None]


class Run:
    """Takes sources, or documents that were accepted before, to their end, and tells of each step."""

    def __init__(self, tools: Tools, password: str | None, cancellation: Cancellation) -> None:
        settings, storage = tools.settings, tools.storage
        self._storage = storage
        self._cancellation = cancellation
        self._course = course = Course(storage, tools.claims, cancellation, tools.removed)
        # What no document can have as its password is a wrong one, not a failure of a store.
        password = storable(password) if password else None
        self._accepting = Accepting(settings, storage, course)
        self._preparing = Preparing(settings, storage, tools.reader, tools.embedder, course, password)
        self._line = Line(storage, tools.embedder, tools.turn, course)
        self._window = Window()
        self._work: Future[None] | None = None
        self._names: Mapping[str, str] = {}
        self._unchanged: list[Unchanged] = []

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

    def stopped(self, source: str) -> bool:
        """Whether a source is not to go on."""
        return self._course.stopped(source)

    def add(self, found: Iterable[Found]) -> None:
        """Accept and process what is found at sources. It is accepted in a thread of its own, far ahead of what is
        read: whatever was accepted is resumed when this process ends early."""
        accepted: queue.SimpleQueue[list[Work] | None] = queue.SimpleQueue()

        def accept() -> None:
            try:
                for works in self._accepted(found):
                    accepted.put(works)
            finally:
                accepted.put(None)

        with ThreadPoolExecutor(1, thread_name_prefix="lectern-accept") as ahead:
            accepting = ahead.submit(accept)
            while (works := self._next_of(accepted)) is not None:
                self._go_on(works)
            accepting.result()
        self._finish_gathered()
        self._take_repeated()

    def accept(self, found: Iterable[Found]) -> None:
        """Accept what is found and leave it pending. What another run is bringing in is told of as waiting alone."""
        for works in self._accepted(found, reading=False):
            self._leave(works)
        for item, _ in self._accepting.repeated:
            self._course.tell(item.key, "waiting")

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

    def replace(self, names: Mapping[str, str]) -> None:
        """Process ready documents once more, by id, each told of by the name that is given here."""
        for key, name in names.items():
            if not self._course.interrupted and self._course.claim(key):
                document = self._storage.documents.ready([key]).get(key)
                self._go_on([Work(name, document, replaces=True)] if document is not None else [])
        self._flush()

    def _walk(self, work: Callable[[], None]) -> None:
        with self._line:
            work()

    def _accepted(self, found: Iterable[Found], *, reading: bool = True) -> Iterator[list[Work]]:
        """What was accepted of what is found, a transaction at a time; all else is told of."""
        for one in found:
            if self._course.interrupted:
                break
            if isinstance(one, Item):
                yield self._gather(one, reading=reading)
            elif isinstance(one, Unchanged):
                self._pass_over(one)
            elif isinstance(one, Fetching):
                yield self._accepting.accept()  # what was found before is not kept waiting by a slow server
                self._course.tell(one.name, "fetching", one.done, one.total)
            else:
                self._refuse(one)
        self._tell_unchanged()
        yield self._accepting.accept()

    def _next_of(self, accepted: queue.SimpleQueue[list[Work] | None]) -> list[Work] | None:
        """What was accepted next. Where that takes a while, what was read before goes its way meanwhile."""
        try:
            return accepted.get(timeout=_PATIENCE_S)
        except queue.Empty:
            self._flush()
            return accepted.get()

    def _refuse(self, refused: Refused) -> None:
        if isinstance(refused.error, Cancelled):
            self._course.tell(refused.name, "cancelled")
        else:
            self._course.tell(refused.name, "failed", error=refused.error)

    def _pass_over(self, unchanged: Unchanged) -> None:
        self._unchanged.append(unchanged)
        if len(self._unchanged) >= _UNCHANGED:
            self._tell_unchanged()

    def _tell_unchanged(self) -> None:
        """Tell of sources that are as they were; many at a time, since each costs little more than that."""
        unchanged, self._unchanged = self._unchanged, []
        ids = [one.document_id for one in unchanged]
        documents = {**self._storage.documents.ready(ids)}  # remembered, so that the next pass has them at hand
        documents |= self._storage.documents.some([key for key in ids if key not in documents])
        self._storage.sources.looked((one.document_id, one.visit) for one in unchanged)
        for one in unchanged:
            self._course.tell_end(one.name, documents.get(one.document_id), note="already in the library")

    def _gather(self, item: Item, *, reading: bool = True) -> list[Work]:
        """Gather an item. Returns what was accepted, once that was worth a transaction."""
        if self._cancellation.is_set(item.key):
            self._course.tell(item.key, "cancelled")
            return []
        if reading:
            self._course.tell(item.key, "reading")
        try:
            self._accepting.gather(item)
        except LecternError as error:
            self._course.tell(item.key, "failed", error=error)
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
            for item, document_id in repeated:
                if not self._course.await_other(document_id, item.key):
                    self._finish_gathered()
                self._go_on(self._gather(item))
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
