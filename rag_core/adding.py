"""The road of a file into the library: accepted, read, cut into chunks, embedded, committed.

A worker thread walks it and the caller draws its events. Short documents are gathered in windows, so that embedding,
commits and derived stores work in batches; a long document is a window of its own.
"""

from __future__ import annotations

import hashlib
import queue
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from rag_core.cancellation import Cancellation
from rag_core.chunking import chunk_document
from rag_core.domain import AddEvent, Chunk, Document, ParsedDocument, Stage, Upload
from rag_core.embedding import Embedder
from rag_core.errors import (
    Cancelled,
    LecternError,
    LimitExceeded,
    StoreUnavailable,
    UnreadableDocument,
    UnsupportedDocument,
)
from rag_core.reading import Reader, detect
from rag_core.settings import Settings
from rag_core.storage import Storage, Stored

Source = str | Path | Upload
_SUFFIXES = {".pdf", ".txt", ".text", ".md", ".markdown"}
_WINDOW_CHUNKS = 256
_WINDOW_DOCUMENTS = 128


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
        return run.events(lambda: run.add(_expand(sources)))

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

    def close(self) -> None:
        """Stop every run at its next step and wait for it; what was accepted stays pending and is resumed."""
        for run in list(self._runs):
            run.interrupt()


class _Run:
    """One call of add or resume."""

    def __init__(self, adder: Adder, password: str | None, cancellation: Cancellation) -> None:
        self._adder = adder
        self._storage = adder._storage
        self._password = password
        self._cancellation = cancellation
        self._interrupted = threading.Event()
        self._events: queue.SimpleQueue[AddEvent | None] = queue.SimpleQueue()
        self._window: list[_Work] = []
        self._repeated: list[tuple[str, str]] = []
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

    def interrupt(self) -> None:
        """Stop without cancelling and wait for it: what was accepted stays pending."""
        self._interrupted.set()
        if self._work is not None:
            wait([self._work])
        for item in self._window:
            self._release(item.document.id)

    def add(self, sources: Iterator[tuple[str, Source | LecternError]]) -> None:
        """Accept and process sources one after another."""
        for name, source in sources:
            if self._interrupted.is_set():
                break
            if self._cancellation.is_set(name):
                self._tell(name, "cancelled")
                continue
            try:
                work = self._accept(name, source)
                if work is not None:
                    self._read(work)
            except LecternError as error:
                self._tell(name, "failed", error=error)
        self._flush()
        self._await_repeated()

    def finish(self, documents: list[Document]) -> None:
        """Process documents that were accepted before."""
        for document in documents:
            if self._interrupted.is_set():
                break
            if self._claim(document.id):
                self._read(_Work(document.sources[0] if document.sources else document.title, document))
        self._flush()

    def _accept(self, name: str, source: Source | LecternError) -> _Work | None:
        """Keep a source's bytes and note it as pending. None when the document is there already or on its way."""
        self._tell(name, "reading")
        data = self._bytes(source)
        self._check_room(len(data))
        sha256 = hashlib.sha256(data).hexdigest()
        document_id = sha256[:32]
        if not self._claim(document_id):
            self._repeated.append((name, document_id))
            return None
        try:
            return self._note(name, data, sha256, document_id)
        except BaseException:
            self._release(document_id)
            raise

    def _note(self, name: str, data: bytes, sha256: str, document_id: str) -> _Work | None:
        known = self._storage.documents.get(document_id)
        if known is not None and known.state in ("removing", "stored"):
            self._storage.settle()
            known = self._storage.documents.get(document_id)
        if known is not None and known.state == "ready":
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
        return None if document is None else _Work(name, document)

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
                document_id, parsed, self._adder._settings.chunking, count_tokens=embedder.count_tokens
            )
            if not work.chunks:
                raise UnreadableDocument("The document holds no text.")
        except LecternError as error:
            self._give_up(work, error)
            return
        self._window.append(work)
        if sum(len(item.chunks) for item in self._window) >= _WINDOW_CHUNKS or len(self._window) >= _WINDOW_DOCUMENTS:
            self._flush()

    def _flush(self) -> None:
        """Embed and commit what is in the window."""
        window, self._window = self._window, []
        for item in [item for item in window if self._stopped(item.source)]:
            window.remove(item)
            self._give_up(item, Cancelled("Cancelled."))
        if not window:
            return
        try:
            with self._adder._turn:
                self._embed_and_store(window)
        except LecternError as error:
            for item in window:
                self._give_up(item, error)
            return
        for item in window:
            self._release(item.document.id)
            self._tell(item.source, "ready", document=self._storage.documents.get(item.document.id))

    def _embed_and_store(self, window: list[_Work]) -> None:
        embedder = self._adder._embedder()
        alone = window[0].source if len(window) == 1 else None

        def tell(done: int, total: int) -> None:
            for item in window if alone is not None or done in (0, total) else ():
                share = len(item.chunks)
                self._tell(item.source, "embedding", done * share // max(total, 1), share)

        texts = [chunk.text for item in window for chunk in item.chunks]
        vectors = embedder.encode(texts, progress=tell, cancelled=lambda: self._stopped(alone))
        batch, first = [], 0
        for item in window:
            rows = vectors[first : first + len(item.chunks)]
            first += len(item.chunks)
            if item.parsed is not None:
                batch.append(Stored(item.document.id, item.parsed, item.chunks, rows))
            self._tell(item.source, "storing", len(item.chunks), len(item.chunks))
        self._storage.commit(batch, embedder.profile)

    def _give_up(self, work: _Work, error: LecternError) -> None:
        """End a document's road: forgotten when cancelled, failed with its reason otherwise."""
        document_id = work.document.id
        try:
            if self._interrupted.is_set():
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

    def _await_repeated(self) -> None:
        """Tell how the documents ended that another source brought in at the same time."""
        for name, document_id in self._repeated:
            event = self._adder._active.get(document_id)
            while event is not None and not event.wait(timeout=0.1):
                if self._interrupted.is_set():
                    return
            document = self._storage.documents.get(document_id)
            if document is not None and document.state == "ready":
                self._storage.documents.add_source(document_id, name)
                self._tell(name, "ready", document=document, note="already in the library")
            else:
                reason = document.error if document is not None and document.error else "The same file was cancelled."
                self._tell(name, "failed", document=document, error=UnreadableDocument(reason))

    def _bytes(self, source: Source | LecternError) -> bytes:
        if isinstance(source, LecternError):
            raise source
        if isinstance(source, Upload):
            self._check_size(len(source.data))
            return source.data
        path = Path(source)
        try:
            self._check_size(path.stat().st_size)
            return path.read_bytes()
        except OSError as error:
            raise UnreadableDocument(
                f"The file cannot be read: {error.strerror or error}.", help="Check its name and your right to read it."
            ) from error

    def _check_size(self, size_bytes: int) -> None:
        most = self._adder._settings.reading.max_file_bytes
        if size_bytes > most:
            raise LimitExceeded(f"The file has {size_bytes / 2**20:.0f} MB; at most {most / 2**20:.0f} MB are taken.")

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
            return True

    def _release(self, document_id: str) -> None:
        with self._adder._active_lock:
            event = self._adder._active.pop(document_id, None)
        if event is not None:
            event.set()

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


def _expand(sources: Iterable[Source]) -> Iterator[tuple[str, Source | LecternError]]:
    """Sources with their names; folders become the files below them that Lectern reads."""
    for source in sources:
        if isinstance(source, Upload):
            yield source.name, source
        elif isinstance(source, str) and source.startswith(("http://", "https://")):
            yield source, UnsupportedDocument("Web addresses are not read yet.", help="Save the page and add the file.")
        elif Path(source).is_dir():
            yield from _files(Path(source))
        else:
            yield Path(source).name, source


def _files(folder: Path) -> Iterator[tuple[str, Source | LecternError]]:
    found = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix.lower() in _SUFFIXES)
    if not found:
        yield str(folder), UnsupportedDocument("The folder holds no PDF, text or Markdown file.")
    for path in found:
        yield str(path.relative_to(folder)), path
