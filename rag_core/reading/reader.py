"""The reader: a file's bytes to a ParsedDocument, by way of the reading process."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_core.domain import Page, PagePicture, ParsedDocument
from rag_core.errors import Cancelled, LecternError, LimitExceeded, UnreadableDocument
from rag_core.reading import wire
from rag_core.reading.assemble import assemble, require_text
from rag_core.reading.base import Details, RawPage
from rag_core.reading.child import Child, ChildDied, Watch
from rag_core.reading.detect import detect
from rag_core.reading.ocr.merging import with_recognised

if TYPE_CHECKING:
    from rag_core.settings import ReadingSettings

# Details are a comfort: a document is not kept waiting for them.
DETAILS_TIMEOUT_S = 5.0
# Pages that may kill the reading process before the whole document is given up.
MAX_DEADLY_PAGES = 3
BUNDLE_PAGES = 500

Progress = Callable[[int, int], None]


class Reader:
    """Reads documents and draws their pages. Thread-safe: requests take turns at one reading process.

    The process is started by the first request (or `start`), kept for the next, and replaced when it dies or is
    killed at a limit of time or memory.
    """

    def __init__(self, settings: ReadingSettings) -> None:
        self._settings = settings
        self._child = Child(settings.memory_bytes)
        self._turns = _Turns()
        self._closed = False

    def start(self) -> None:
        """Start the reading process, so that the first document does not wait for it."""
        with self._turn():
            self._child.start()

    def read(
        self,
        path: Path,
        name: str,
        *,
        password: str | None = None,
        progress: Progress | None = None,
        cancelled: Callable[[], bool] | None = None,
        recognised: Mapping[int, RawPage] | None = None,
    ) -> ParsedDocument:
        """Read the file at `path`; `name` is its own name. `progress` gets pages done and pages in all.

        recognised: what text recognition has read by now of pages whose text is a picture, None where it is not to be
        used; those that it has yet to read are the document's `to_recognise`, which may have no other text then.
        A page that cannot be read is a Page with its `error` and is named in the notes. Raises UnreadableDocument
        (damaged, empty, without text), EncryptedDocument, UnsupportedDocument, LimitExceeded and Cancelled.
        """
        task = _Task(path, self._media_type(path, name), password, cancelled)
        raw = with_recognised(self._read_pages(task, progress), recognised or {})
        details = self._read_details(task)
        require_text(raw, task.deadly, recognising=recognised is not None)
        return assemble(task.media_type, name, raw, details, recognising=recognised is not None)

    def read_small(
        self, files: Sequence[tuple[Path, str]], *, cancelled: Callable[[], bool] | None = None
    ) -> list[ParsedDocument | LecternError]:
        """Read small files, each with its own name, in one request: what `read` returns or raises, in their order.

        A file that is not read so, whole and without a fault, is read by itself: none pays for another.
        """
        results: list[ParsedDocument | LecternError] = []
        for (path, name), found in zip(files, self._read_together(files, cancelled), strict=True):
            try:
                results.append(found or self.read(path, name, cancelled=cancelled))
            except LecternError as error:
                results.append(error)
        return results

    def picture(
        self,
        path: Path,
        media_type: str,
        page: int,
        *,
        width_px: int = 1000,
        span: tuple[int, int] | None = None,
        text: str | None = None,
        password: str | None = None,
        turned: int = 0,
    ) -> PagePicture:
        """Draw a page as PNG, with the boxes of `span` (characters of the page's text) beside it.

        text: the page's text as it was stored, which an earlier version may have read otherwise. turned: degrees
        clockwise, 0, 90, 180 or 270, by which it is turned then; its boxes are left out.

        Raises UnsupportedDocument for formats without pictures, UnreadableDocument, EncryptedDocument, LimitExceeded.
        """
        task = _Task(path, media_type, password)
        values = {"page": page, "width_px": width_px, "span": span, "text": text, "turned": turned}
        return wire.picture_in(self._ask_again(task, "picture", values)["picture"])

    def close(self) -> None:
        """End the reading process. A request under way ends with an error."""
        self._closed = True
        self._child.interrupt()
        with self._turns.turn():
            self._child.kill()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _media_type(self, path: Path, name: str) -> str:
        most = self._settings.max_file_bytes
        try:
            size = path.stat().st_size
            if size > most:
                raise LimitExceeded(f"The file has {size:,} bytes, more than {most:,}.")
            return detect(path, name)
        except OSError as error:
            raise UnreadableDocument(f"The file cannot be read: {error.strerror or error}.") from error

    def _read_together(
        self, files: Sequence[tuple[Path, str]], cancelled: Callable[[], bool] | None
    ) -> list[ParsedDocument | None]:
        values = {
            "op": "whole", "first": 1, "count": min(BUNDLE_PAGES, self._settings.max_pages),
            "max_chars": self._settings.max_text_chars,
        }  # fmt: skip
        try:
            tasks = [_Task(path, self._media_type(path, name)) for path, name in files]
            requests = [{**task.request(), **values} for task in tasks]
            watch = Watch(self._settings.page_timeout_s, cancelled)
            answers = self._exchange({"op": "many", "requests": requests}, watch)["answers"]
        except LecternError:  # of a file or of the process: which, is found out one by one
            return [None] * len(files)
        return [
            _whole(task.media_type, name, answer) for task, (_, name), answer in zip(tasks, files, answers, strict=True)
        ]

    def _read_pages(self, task: _Task, progress: Progress | None) -> list[RawPage]:
        total = int(self._ask_again(task, "open")["page_count"])
        if total > self._settings.max_pages:
            raise LimitExceeded(f"The document has {total:,} pages, more than {self._settings.max_pages:,}.")
        pages: list[RawPage] = []
        if progress:
            progress(0, total)
        while len(pages) < total:
            pages += self._read_bundle(task, len(pages) + 1)
            if progress:
                progress(len(pages), total)
        return pages

    def _read_bundle(self, task: _Task, first: int) -> list[RawPage]:
        """Return at least one page. A page at which the process dies twice, the second time alone, is recorded."""
        try:
            return self._ask_pages(task, first, BUNDLE_PAGES)
        except ChildDied:
            pass
        try:
            return self._ask_pages(task, first, 1)
        except ChildDied as died:
            task.deadly_pages += 1
            if task.deadly_pages > MAX_DEADLY_PAGES:
                raise died.cause from died
            task.deadly = died.cause
            return [RawPage(Page(first, "", error=f"Page {first} could not be read: {died}"))]

    def _ask_pages(self, task: _Task, first: int, count: int) -> list[RawPage]:
        values = {"first": first, "count": count}
        pages = [wire.page_in(page) for page in self._ask(task, "pages", values)["pages"]]
        if not pages:
            raise ChildDied(UnreadableDocument("The reading process gave no page."))
        task.chars += sum(len(raw.page.text) for raw in pages)
        return pages

    def _read_details(self, task: _Task) -> Details:
        timeout_s = min(DETAILS_TIMEOUT_S, self._settings.page_timeout_s)
        try:
            return wire.details_in(self._ask(task, "details", silence_s=timeout_s)["details"])
        except ChildDied:
            return Details(notes=("The outline and the document information could not be read.",))

    def _ask_again(self, task: _Task, op: str, values: wire.Message | None = None) -> dict[str, Any]:
        """Ask, a second time where the process ended for a reason of its own. Raises the document's error."""
        for attempt in (1, 2):
            try:
                return self._ask(task, op, values)
            except ChildDied as died:
                if attempt == 2 or died.at_limit:
                    raise died.cause from died
        raise AssertionError("unreachable")

    def _ask(self, task: _Task, op: str, values: wire.Message | None = None, silence_s: float = 0.0) -> dict[str, Any]:
        settings = self._settings
        if task.cancelled and task.cancelled():
            raise Cancelled("Reading was stopped.")
        left_s = settings.timeout_s - task.spent_s
        if left_s <= 0:
            raise LimitExceeded(f"Reading took longer than {settings.timeout_s:g} seconds.")
        request = {"op": op, "max_chars": settings.max_text_chars - task.chars, **task.request(), **(values or {})}
        watch = Watch(min(silence_s or settings.page_timeout_s, left_s), task.cancelled)
        return self._exchange(request, watch, task)

    def _exchange(self, request: wire.Message, watch: Watch, task: _Task | None = None) -> dict[str, Any]:
        with self._turn():
            began = time.monotonic()
            try:
                return self._child.ask(request, watch)
            finally:
                if task is not None:
                    task.spent_s += time.monotonic() - began
                self._child.slim()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        with self._turns.turn():
            if self._closed:
                raise UnreadableDocument("The reader is closed.", help="Start Lectern again.")
            yield


def _whole(media_type: str, name: str, answer: wire.Message) -> ParsedDocument | None:
    """A document from one answer, or None where that has not all of it."""
    if "error" in answer or len(answer["pages"]) < answer["page_count"]:
        return None
    raw = [wire.page_in(page) for page in answer["pages"]]
    if not any(item.page.text.strip() for item in raw):
        return None
    return assemble(media_type, name, raw, wire.details_in(answer["details"]))


@dataclass(slots=True)
class _Task:
    """One document being read, and what it has used up of its limits."""

    path: Path
    media_type: str
    password: str | None = None
    cancelled: Callable[[], bool] | None = None
    spent_s: float = 0.0
    chars: int = 0
    deadly_pages: int = 0
    deadly: LecternError | None = None

    def request(self) -> dict[str, Any]:
        return {"path": str(self.path.absolute()), "media_type": self.media_type, "password": self.password}


@dataclass(slots=True)
class _Turns:
    """A lock that lets waiters through in the order they came, so that a long read does not starve a picture."""

    _waiting: deque[threading.Event] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def turn(self) -> Iterator[None]:
        mine = threading.Event()
        with self._lock:
            self._waiting.append(mine)
            if len(self._waiting) == 1:
                mine.set()
        try:
            mine.wait()
            yield
        finally:
            with self._lock:
                self._waiting.remove(mine)
                if self._waiting:
                    self._waiting[0].set()
