"""Text recognition of a library's pages: in the background, once the documents that they are of are ready.

Page after page is recognised and kept; then the document is read, chunked and embedded once more with what was read,
while its chunks of before answer. Whoever is stopped or killed goes on with the pages that are left.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from rag_core.cancellation import Cancellation
from rag_core.domain import Page, Progress
from rag_core.errors import (
    Cancelled,
    LecternError,
    LimitExceeded,
    ModelUnavailable,
    StoreUnavailable,
    UnreadableDocument,
    UnsupportedDocument,
)
from rag_core.ingest import Ingest
from rag_core.reading.base import RawPage
from rag_core.reading.ocr import PageRecogniser, page_content, picture_lines, pictures_page, recognised_page
from rag_core.settings import Settings
from rag_core.storage import Storage
from rag_core.storage.postgres.recognition import Recognition, WaitingPage
from rag_core.unexpected import stage

# A long document is found by what was read of it so far each time that this many pages are new, or as many as before:
# so each of its pages is embedded twice at most.
_TOGETHER = 16
_ELSEWHERE = "Their files are in another data directory, where they are recognised."


class Recognising:
    """Recognises the pages of one library. Thread-safe; one run at a time.

    carry: has `run` done as a job, when pages wait; returns, or raises what it failed with, once that has ended.
    """

    def __init__(
        self, storage: Storage, settings: Callable[[], Settings], ingest: Ingest, carry: Callable[[], None]
    ) -> None:
        self._storage = storage
        self._store = storage.documents.recognition
        self._settings = settings
        self._ingest = ingest
        self._carry = carry
        self._recogniser = PageRecogniser()
        self._turn = threading.Lock()
        self._closing = threading.Event()
        self._missing = ""
        self._feeder = storage.background("Pages are recognised", self.follow, woken=True)

    def follow(self) -> None:
        """Have recognised what waits. Raises StoreUnavailable; a recogniser that is missing is told of by `notes`."""
        progress = self._store.progress()
        waiting, elsewhere = self._waiting(progress)
        if not (waiting or any(map(_is_due, progress.values()))):
            self._missing = _ELSEWHERE if elsewhere else ""
        elif not self._closing.is_set():
            try:
                self._carry()
            except ModelUnavailable as error:
                self._missing = f"{error} {error.help}"

    def run(self, *, cancellation: Cancellation | None = None) -> Iterator[Progress]:
        """Recognise the pages whose text is a picture, as happens in the background, telling pages done and in all.

        The last step is "done" or "cancelled"; whoever is stopped or killed goes on with the next call. A page that
        cannot be recognised is noted, and the rest goes on. A second run waits for the first. Raises ModelUnavailable
        where the recogniser of the settings is missing, StoreUnavailable.
        """
        token = cancellation or Cancellation()
        with self._turn:
            done, stopped = 0, False
            self._put_in_place()
            while not stopped and (pages := self._next()):
                total = done + self.left()
                for page in pages:
                    yield Progress("recognising", done, total, page.title)
                    stopped = token.is_set() or self._closing.is_set() or not self._recognise(page, token)
                    if stopped:
                        break
                    done += 1
                    self._put_in_place(page.document_id)
            self._recogniser.rest()
            yield Progress("cancelled" if stopped else "done", done, done + self.left())

    def left(self) -> int:
        """How many pages wait, or were read and are not yet found."""
        return sum(document.waiting + document.new for document in self._store.progress().values())

    def notes(self) -> tuple[str, ...]:
        """What is to be said where pages wait that nothing recognises."""
        off = self._settings().ocr.engine == "none"
        reason = "Text recognition is off (LECTERN_OCR__ENGINE)." if off else self._missing
        left = self.left() if reason else 0
        return (f"{left} page{'s wait' if left > 1 else ' waits'} for text recognition. {reason}",) if left else ()

    def interrupt(self) -> None:
        """The library is being closed: a page under way is left to the next owner."""
        self._closing.set()
        self._recogniser.close()

    def close(self) -> None:
        """Wait until nothing is under way in the background."""
        self._feeder.stop()

    def _next(self) -> list[WaitingPage]:
        """The pages that wait of the next document whose file is here."""
        waiting, elsewhere = self._waiting(self._store.progress())
        self._missing = _ELSEWHERE if elsewhere else ""
        return self._store.waiting(waiting[0]) if waiting else []

    def _waiting(self, progress: Mapping[str, Recognition]) -> tuple[list[str], list[str]]:
        """The documents with pages that can be recognised, and those whose files are elsewhere."""
        if self._settings().ocr.engine == "none":
            return [], []
        ids = [document_id for document_id, recognition in progress.items() if recognition.waiting]
        here = [document_id for document_id in ids if self._storage.files.has(document_id)]
        return here, [document_id for document_id in ids if document_id not in here]

    def _recognise(self, page: WaitingPage, token: Cancellation) -> bool:
        """Recognise one page and keep what was read. Returns whether that was not stopped."""
        try:
            with stage("recognition", page.document_id):
                parts = self._parts(page)
                raw = self._read_parts(page, parts, token) if parts else self._read(page)
                self._store.put(page.document_id, page.number, page_content(raw))
        except Cancelled:
            return False
        except (ModelUnavailable, StoreUnavailable):
            raise
        except LecternError as error:
            self._store.fail(page.document_id, page.number, str(error))
        return True

    def _parts(self, page: WaitingPage) -> list[str]:
        """The pictures of a page that wait, where the file holds each by a name."""
        figures = (
            one for found in self._storage.documents.pages(page.document_id, page.number) for one in found.figures
        )
        return list(dict.fromkeys(figure.part for figure in figures if figure.awaits and figure.part))

    def _read_parts(self, page: WaitingPage, parts: Sequence[str], token: Cancellation) -> RawPage:
        """The pictures of a page one by one; one that cannot be read says nothing, unless all are so."""
        read: list[tuple[str, Page]] = []
        failed: LecternError | None = None
        for part in parts:
            if token.is_set() or self._closing.is_set():
                raise Cancelled("Text recognition was stopped.")
            try:
                read.append((part, self._read(page, part).page))
            except (UnreadableDocument, LimitExceeded, UnsupportedDocument) as error:
                failed = error
        if failed and not read:
            raise failed
        return pictures_page(page.number, read)

    def _read(self, page: WaitingPage, part: str = "") -> RawPage:
        path = self._storage.files.path(page.document_id)
        password = self._storage.documents.password(page.document_id)
        return self._recogniser.recognise(self._settings().ocr, path, page.media_type, page.number, password, part)

    def _put_in_place(self, document_id: str | None = None) -> None:
        """Have documents, or this one, found by what was read of them, where that is worth it."""
        for key, recognition in self._store.progress(document_id).items():
            if _is_due(recognition) and not self._closing.is_set():
                self._replace(key)

    def _replace(self, document_id: str) -> None:
        for event in self._ingest.replace({document_id: document_id}):
            is_lasting = isinstance(event.error, LecternError) and not event.error.retryable
            if event.stage == "failed" and is_lasting and not isinstance(event.error, Cancelled | ModelUnavailable):
                self._store.give_up(document_id)


def recognised_text(storage: Storage, document_id: str, number: int) -> Page | None:
    """A page with its lines, where its text was recognised."""
    content = storage.documents.recognition.shown(document_id, number)
    return recognised_page(number, content).page if content else None


def picture_text(storage: Storage, document_id: str, page: Page) -> Page | None:
    """A page that has text of its own with the lines of its text that were read in its pictures, if any were."""
    if not any(figure.words and not figure.awaits for figure in page.figures):
        return None
    content = storage.documents.recognition.read(document_id, page.number)
    read = recognised_page(page.number, content).page if content else None
    return replace(page, lines=tuple(picture_lines(page, read))) if read else None


def _is_due(recognition: Recognition) -> bool:
    if not recognition.waiting:
        return recognition.new > 0
    return recognition.new >= max(_TOGETHER, recognition.in_place)
