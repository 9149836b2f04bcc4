"""The road of a file into the library: accepted, read, cut into chunks, embedded, committed.

A worker thread walks it and the caller draws its events. Short documents are gathered in windows, so that embedding,
commits and derived stores work in batches; a long document is a window of its own.
"""

from __future__ import annotations

import hashlib
import queue
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rag_core.cancellation import Cancellation
from rag_core.chunking import chunk_document
from rag_core.domain import AddEvent, Chunk, Document, ParsedDocument, Stage
from rag_core.embedding import Embedder
from rag_core.errors import (
    Cancelled,
    LecternError,
    LimitExceeded,
    StoreUnavailable,
    UnreadableDocument,
)
from rag_core.reading import Reader, detect
from rag_core.settings import Settings
from rag_core.sources import Source, expand, read_source
from rag_core.storage import Storage, Stored
from rag_core.storage.database import storable

_WINDOW_CHUNKS = 256
_WINDOW_DOCUMENTS = 128
_COUNT_CHUNKS = 1000
_REMOVED = "removed while it was added"


@dataclass(slots=True)
class _Work:
    """One accepted document on its way."""

    source: str
    document: Document
    parsed: ParsedDocument | None = None
    chunks: list[Chunk] = field(default_factory=list)


class Adder:
    """Adds sources to a library. One per library; runs of several callers take turns by the window."""

    def __init__(self, settings: Settings, storage: Storage, reader: Reader, embedder: Callable[[], Embedder]) -> None:
        self._settings = settings
        self._storage = storage
        self._reader = reader
        self._embedder = embedder
        self._turn = threading.Lock()
        self._active: dict[str, threading.Event] = {}
        self._active_lock = threading.Lock()
        self._runs: set[_Run] = set()

    def run(
        self, sources: Iterable[Source], *, password: str | None = None, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """Add sources, telling of each step. A source that fails has an event with its error; the rest goes on."""
        run = _Run(self, password, cancellation or Cancellation())
        return run.events(lambda: run.add(expand(sources)))

    def resume(self, *, cancellation: Cancellation | None = None) -> Iterator[AddEvent]:
        """Finish the documents that were accepted by an earlier process and not committed."""
        run = _Run(self, None, cancellation or Cancellation())
        return run.events(lambda: run.finish(self._storage.documents.pending()))

    def retry(
        self, document: Document, *, password: str | None = None, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """Read a failed document again from its kept bytes, perhaps with a password."""
        run = _Run(self, password, cancellation or Cancellation())
        self._storage.documents.retry(document.id)
        return run.events(lambda: run.finish([document]))

    @property
    def turn(self) -> AbstractContextManager[object]:
        """Held while a window is embedded and committed: whoever holds it keeps documents from coming in."""
        return self._turn

    def close(self) -> None:
        """Stop every run at its next step and wait for it; what was accepted stays pending and is resumed."""
        runs = list(self._runs)
        for run in runs:  # all at once: one may be waiting for another's turn
            run.stop()
        for run in runs:
            run.interrupt()


class _Run:
    """One call of add or resume."""

    def __init__(self, adder: Adder, password: str | None, cancellation: Cancellation) -> None:
        self._adder = adder
        self._storage = adder._storage
        # What no document can have as its password is a wrong one, not a failure of a store.
        self._password = storable(password) if password else None
        self._cancellation = cancellation
        self._interrupted = threading.Event()
        self._events: queue.SimpleQueue[AddEvent | None] = queue.SimpleQueue()
        self._window: list[_Work] = []
        self._repeated: list[tuple[str, Source, str]] = []
        self._claimed: set[str] = set()
        self._work: Future[None] | None = None

    def events(self, work: Callable[[], None]) -> Iterator[AddEvent]:
        """Do the work in a thread and yield what it tells. A caller who stops listening interrupts
        it: what was accepted stays pending and is resumed."""
        self._adder._runs.add(self)
        with ThreadPoolExecutor(1, thread_name_prefix="lectern-add") as executor:
            self._work = executor.submit(work)
            self._work.add_done_callback(lambda _: self._events.put(None))
            try:
                while (event := self._events.get()) is not None:
                    yield event
                self._work.result()
            finally:
                self.interrupt()
                self._adder._runs.discard(self)

    def stop(self) -> None:
        """Ask for a stop without cancelling: what was accepted stays pending."""
        self._interrupted.set()

    def interrupt(self) -> None:
        """Stop and wait for it. However the work ended, other runs may take up what it held."""
        self.stop()
        if self._work is not None:
            wait([self._work])
        for document_id in list(self._claimed):
            self._release(document_id)

    def add(self, sources: Iterator[tuple[str, Source | LecternError]]) -> None:
        """Accept and process sources one after another."""
        for name, source in sources:
            if self._interrupted.is_set():
                break
            self._take(name, source)
        self._flush()
        self._take_repeated()

    def finish(self, documents: list[Document]) -> None:
        """Process documents that were accepted before."""
        for document in documents:
            if self._interrupted.is_set():
                break
            if self._claim(document.id):
                self._finish_one(document.id)
        self._flush()

    def _finish_one(self, document_id: str) -> None:
        """Go on with an accepted document, as it is now: another run may have finished it meanwhile."""
        document = self._storage.documents.get(document_id)
        if document is not None and document.state == "stored":
            self._storage.relay.carry_dumps()
            document = self._storage.documents.get(document_id)
        if document is not None and document.state == "pending":
            self._read(_Work(_named(document), document))
            return
        self._release(document_id)
        if document is not None and document.state == "ready":
            self._tell(_named(document), "ready", document=document, note="already in the library")

    def _take(self, name: str, source: Source | LecternError) -> None:
        """Accept and read one source, unless it was cancelled."""
        if self._cancellation.is_set(name):
            self._tell(name, "cancelled")
            return
        try:
            work = self._accept(name, source)
            if work is not None:
                self._read(work)
        except LecternError as error:
            self._tell(name, "failed", error=error)

    def _take_repeated(self) -> None:
        """Take those sources up again whose bytes another one was bringing in: mostly they are there by now.

        Where that one was cancelled, interrupted or failed, this one goes its own way.
        """
        while self._repeated and not self._interrupted.is_set():
            name, source, document_id = self._repeated.pop(0)
            on_its_way = self._adder._active.get(document_id)
            while on_its_way is not None and not on_its_way.wait(timeout=0.1):
                if self._stopped(name):
                    break
            self._take(name, source)
            self._flush()

    def _accept(self, name: str, source: Source | LecternError) -> _Work | None:
        """Keep a source's bytes and note it as pending. None when the document is there already or on its way."""
        self._tell(name, "reading")
        if isinstance(source, LecternError):
            raise source
        data = read_source(source, self._adder._settings.reading.max_file_bytes)
        self._check_room(len(data))
        sha256 = hashlib.sha256(data).hexdigest()
        document_id = sha256[:32]
        if not self._claim(document_id):
            self._repeated.append((name, source, document_id))
            return None
        try:
            return self._note(name, data, sha256, document_id)
        except BaseException:
            self._release(document_id)
            raise

    def _note(self, name: str, data: bytes, sha256: str, document_id: str) -> _Work | None:
        known = self._storage.documents.get(document_id)
        if known is not None and known.state in ("removing", "stored"):
            self._storage.relay.carry_dumps()
            known = self._storage.documents.get(document_id)
        if known is not None and known.state == "ready":
            self._storage.files.keep(document_id, data)
            self._storage.documents.add_source(document_id, name)
            self._release(document_id)
            self._tell(name, "ready", document=known, note="already in the library")
            return None
        self._storage.files.write(document_id, [data])
        try:
            media_type = detect(self._storage.files.path(document_id), name)
        except LecternError:
            if known is None:
                self._storage.files.remove(document_id)
            raise
        self._storage.documents.accept(document_id, sha256, name, media_type, len(data))
        self._storage.documents.retry(document_id)
        document = self._storage.documents.get(document_id)
        if document is None:  # removed in this very moment
            raise Cancelled("The document was removed while it was added.")
        return _Work(name, document)

    def _read(self, work: _Work) -> None:
        """Read and cut one document and put it into the window, which is embedded when it is full."""
        document_id = work.document.id
        try:
            parsed = self._adder._reader.read(
                self._storage.files.path(document_id), work.source,
                password=self._password or self._storage.documents.password(document_id),
                progress=lambda done, total: self._tell(work.source, "reading", done, total),
                cancelled=lambda: self._stopped(work.source),
            )  # fmt: skip
            if self._password and parsed.media_type == "application/pdf":
                self._storage.documents.keep_password(document_id, self._password)
            embedder = self._adder._embedder()
            work.parsed = parsed
            work.chunks = chunk_document(
                document_id, parsed, self._adder._settings.chunking,
                count_tokens=lambda texts: self._count_tokens(embedder, work.source, texts),
            )  # fmt: skip
            if not work.chunks:
                raise UnreadableDocument("The document holds no text.")
        except LecternError as error:
            self._give_up(work, error)
            return
        if self._chunks_waiting() + len(work.chunks) > _WINDOW_CHUNKS:  # a long one is embedded, and told of, alone
            self._flush()
        self._window.append(work)
        if self._chunks_waiting() >= _WINDOW_CHUNKS or len(self._window) >= _WINDOW_DOCUMENTS:
            self._flush()

    def _chunks_waiting(self) -> int:
        return sum(len(item.chunks) for item in self._window)

    def _count_tokens(self, embedder: Embedder, source: str, texts: Sequence[str]) -> list[int]:
        """Tokens of each text. A long document takes many seconds, so that it can be cancelled in between."""
        counts: list[int] = []
        for first in range(0, len(texts), _COUNT_CHUNKS):
            if self._stopped(source):
                raise Cancelled("Cancelled.")
            counts += embedder.count_tokens(texts[first : first + _COUNT_CHUNKS])
        return counts

    def _flush(self) -> None:
        """Embed and commit what is in the window."""
        window, self._window = self._window, []
        self._drop_stopped(window)
        if not window:
            return
        try:
            with self._adder._turn:
                self._embed_and_store(window)
            for item in window:
                self._tell_end(item)
        except LecternError as error:
            for item in [item for item in window if item.document.id in self._claimed]:
                self._give_up(item, error)

    def _drop_stopped(self, window: list[_Work]) -> None:
        """Take what was cancelled out of a window."""
        for item in [item for item in window if self._stopped(item.source)]:
            window.remove(item)
            self._give_up(item, Cancelled("Cancelled."))

    def _tell_end(self, work: _Work) -> None:
        """Tell of a document that was committed, or left out as it had been removed meanwhile."""
        document = self._storage.documents.get(work.document.id)
        self._release(work.document.id)
        if document is None or document.state in ("pending", "removing"):
            self._tell(work.source, "cancelled", note=_REMOVED)
        else:
            self._tell(work.source, "ready", document=document)

    def _embed_and_store(self, window: list[_Work]) -> None:
        """Embed and commit a window; what is cancelled meanwhile leaves it."""
        embedder = self._adder._embedder()
        alone = window[0].source if len(window) == 1 else None

        def tell(done: int, total: int) -> None:
            for item in window if alone is not None or done in (0, total) else ():
                share = len(item.chunks)
                self._tell(item.source, "embedding", done * share // max(total, 1), share)

        texts = [chunk.text for item in window for chunk in item.chunks]
        vectors = embedder.encode(texts, progress=tell, cancelled=lambda: self._stopped(alone))
        rows = dict(zip((item.document.id for item in window), _parts(vectors, window), strict=True))
        self._drop_stopped(window)
        batch = []
        for item in window:
            if item.parsed is not None:
                batch.append(Stored(item.document.id, item.parsed, item.chunks, rows[item.document.id]))
            self._tell(item.source, "storing", len(item.chunks), len(item.chunks))
        if batch:
            self._storage.commit(batch, embedder.profile)

    def _give_up(self, work: _Work, error: LecternError) -> None:
        """End a document's road: forgotten when cancelled, failed with its reason otherwise."""
        document_id = work.document.id
        try:
            if self._interrupted.is_set():
                return
            document = self._storage.documents.get(document_id)
            if document is None or document.state == "removing":
                self._tell(work.source, "cancelled", note=_REMOVED)
                return
            if isinstance(error, Cancelled):
                self._storage.remove(document_id)
                self._tell(work.source, "cancelled")
                return
            if not isinstance(error, StoreUnavailable):  # such a document stays pending and is resumed
                self._storage.documents.fail(document_id, str(error), error.help)
            self._tell(work.source, "failed", document=self._storage.documents.get(document_id), error=error)
        except StoreUnavailable as store_error:
            self._tell(work.source, "failed", error=store_error)
        finally:
            self._release(document_id)

    def _check_room(self, size_bytes: int) -> None:
        """Refuse a document, before anything is written, when the disk is nearly full."""
        least = self._adder._settings.storage.min_free_bytes
        free = shutil.disk_usage(self._storage.folder).free
        # Text, vectors and their three copies take a few times the file's own size.
        if free - 4 * size_bytes < least:
            raise LimitExceeded(
                f"The disk is nearly full: {free / 2**20:.0f} MB are free.",
                help="Make room on the disk and add the document again. Searching goes on.",
            )

    def _stopped(self, source: str | None) -> bool:
        return self._interrupted.is_set() or self._cancellation.is_set(source)

    def _claim(self, document_id: str) -> bool:
        with self._adder._active_lock:
            if document_id in self._adder._active:
                return False
            self._adder._active[document_id] = threading.Event()
            self._claimed.add(document_id)
            return True

    def _release(self, document_id: str) -> None:
        with self._adder._active_lock:
            if document_id not in self._claimed:
                return
            self._claimed.remove(document_id)
            self._adder._active.pop(document_id).set()

    def _tell(
        self,
        source: str,
        stage: Stage,
        done: int = 0,
        total: int = 0,
        *,
        document: Document | None = None,
        error: LecternError | None = None,
        note: str = "",
    ) -> None:
        self._events.put(AddEvent(source, stage, done, total, document, error, note))


def _named(document: Document) -> str:
    """The name by which a document is told of."""
    return document.sources[0] if document.sources else document.title


def _parts(vectors: NDArray[np.float32], window: Sequence[_Work]) -> Iterator[NDArray[np.float32]]:
    """The rows of each document in a window. vectors: float32 (chunks of all, d)."""
    first = 0
    for item in window:
        yield vectors[first : first + len(item.chunks)]
        first += len(item.chunks)
