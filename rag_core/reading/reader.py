"""The reader: a file's bytes to a ParsedDocument, by way of the reading processes."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rag_core.domain import Box, Page, PageImage, ParsedDocument
from rag_core.errors import Cancelled, LecternError, LimitExceeded, UnreadableDocument
from rag_core.reading import wire
from rag_core.reading.assemble import assemble, require_text
from rag_core.reading.base import Details, RawPage
from rag_core.reading.detect import detect
from rag_core.reading.ocr.merging import with_recognised
from rag_core.reading.pool import Pool, usable_cores
from rag_core.runtime.child import ChildDied, Watch
from rag_core.runtime.closing import Closing
from rag_core.text.tables import counted_chars

if TYPE_CHECKING:
    from rag_core.settings import ReadingSettings

# Details are a comfort: a document is not kept waiting for them.
DETAILS_TIMEOUT_S = 5.0
# Pages that may kill the reading process before the whole document is given up.
MAX_DEADLY_PAGES = 3
BUNDLE_PAGES = 500
_MOST_PROCESSES = 4
_OF_PICTURES = ("page_image", "page_boxes", "part_image")

Made = TypeVar("Made")
Progress = Callable[[int, int], None]
Begun = Callable[[int, Callable[[], ParsedDocument]], None]


class Reader(Closing):
    """Reads documents and draws their pages. Thread-safe: requests take turns at a few reading processes.

    There are two at least, so that a short document never waits for a long one. A process is started when no other is
    free, kept for the next request, and replaced when it dies or is killed at a limit of time or memory; the others go
    on meanwhile. Pictures have a process of their own, so that a citation opens while a thousand pages are read.
    """

    def __init__(self, settings: ReadingSettings) -> None:
        self._settings = settings
        self.processes = settings.processes or min(max(usable_cores(), 2), _MOST_PROCESSES)
        self._reading = Pool(settings.memory_bytes, self.processes)
        self._drawing = Pool(settings.memory_bytes, 1)

    def start(self) -> None:
        """Start a reading process, so that the first document does not wait for it."""
        with self._reading.child() as child:
            child.start()

    def read(
        self,
        path: Path,
        name: str,
        *,
        password: str | None = None,
        progress: Progress | None = None,
        cancelled: Callable[[], bool] | None = None,
        recognised: Mapping[int, RawPage] | None = None,
        begun: Begun | None = None,
    ) -> ParsedDocument:
        """Read the file at `path`; `name` is its own name. `progress` gets pages done and pages in all.

        recognised: what text recognition has read by now of pages whose text is a picture, None where it is not to be
        used; those that it has yet to read are the document's `to_recognise`, which may have no other text then.
        begun: told after each bundle of pages but the last how many were read, and how to get the document as far as
        that; the rest may change how its pages are understood (running titles, headings). A page that cannot be read
        is a Page with its `error` and is named in the notes. Raises UnreadableDocument (damaged, empty, without text),
        EncryptedDocument, UnsupportedDocument, LimitExceeded and Cancelled.
        """
        task = _Task(path, self._media_type(path, name), password, cancelled)
        recognising = recognised is not None
        raw: list[RawPage] = []
        details: Details | None = None

        def so_far() -> ParsedDocument:
            nonlocal details
            details = details or self._read_details(task)
            return assemble(task.media_type, name, raw, details, recognising=recognising)

        total = self._count_pages(task)
        for bundle in self._read_pages(task, total, progress):
            raw += with_recognised(bundle, recognised or {})
            if begun and len(raw) < total:
                begun(len(raw), so_far)
        parsed = so_far()
        require_text(raw, task.deadly, parsed.notes, recognising=recognising)
        return parsed

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

    def page_image(
        self,
        path: Path,
        media_type: str,
        page: int,
        *,
        width_px: int = 1000,
        password: str | None = None,
        turned: int = 0,
    ) -> PageImage:
        """Draw a page as PNG, turned by some degrees clockwise, 0, 90, 180 or 270.

        Raises UnsupportedDocument for formats without pictures, UnreadableDocument, EncryptedDocument, LimitExceeded.
        """
        task = _Task(path, media_type, password)
        values = {"page": page, "width_px": width_px, "turned": turned}
        return _image_in(self._ask_again(task, "page_image", values))

    def part_image(self, path: Path, media_type: str, part: str, *, width_px: int = 1000) -> PageImage:
        """Draw a picture that the file holds, by its name there (see `Figure`), as PNG. Raises UnreadableDocument,
        LimitExceeded."""
        values = {"part": part, "width_px": width_px}
        return _image_in(self._ask_again(_Task(path, media_type), "part_image", values))

    def page_boxes(
        self,
        path: Path,
        media_type: str,
        page: int,
        spans: Sequence[tuple[int, int]],
        *,
        text: str | None = None,
        password: str | None = None,
    ) -> list[tuple[Box, ...]]:
        """Where spans of a page's text stand on its picture, the boxes of each. Raises what `page_image` raises.

        text: the page's text as it was stored, which an earlier version may have read otherwise.
        """
        task = _Task(path, media_type, password)
        found = self._ask_again(task, "page_boxes", {"page": page, "spans": list(spans), "text": text})["page_boxes"]
        return [tuple(Box(*edges) for edges in boxes) for boxes in found]

    def close(self) -> None:
        """End the processes. Requests under way end with an error."""
        self._drawing.close()
        self._reading.close()

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
            "max_chars": self._settings.max_text_chars, "left": self._settings.max_text_chars,
        }  # fmt: skip
        try:
            tasks = [_Task(path, self._media_type(path, name)) for path, name in files]
            requests = [{**task.request(), **values} for task in tasks]
            watch = Watch(self._settings.page_timeout_s, cancelled, self._settings.page_timeout_s)
            answers = self._exchange({"op": "many", "requests": requests}, watch)["answers"]
        except LecternError:  # of a file or of the process: which, is found out one by one
            return [None] * len(files)
        return [
            _whole(task.media_type, name, answer) for task, (_, name), answer in zip(tasks, files, answers, strict=True)
        ]

    def _count_pages(self, task: _Task) -> int:
        total = int(self._ask_again(task, "open")["page_count"])
        if total > self._settings.max_pages:
            raise LimitExceeded(f"The document has {total:,} pages, more than {self._settings.max_pages:,}.")
        return total

    def _read_pages(self, task: _Task, total: int, progress: Progress | None) -> Iterator[list[RawPage]]:
        """The pages, bundle by bundle."""
        done = 0
        while True:
            if progress:
                progress(done, total)
            if done >= total:
                return
            bundle = self._read_bundle(task, done + 1)
            yield bundle
            done += len(bundle)

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
        values = {"first": first, "count": count, "left": self._settings.max_text_chars - task.chars}
        pages = [wire.page_in(page) for page in self._ask(task, "pages", values)["pages"]]
        if not pages:
            raise ChildDied(UnreadableDocument("The reading process gave no page."))
        task.chars += sum(counted_chars(raw.page.text) for raw in pages)
        return pages

    def _read_details(self, task: _Task) -> Details:
        timeout_s = min(DETAILS_TIMEOUT_S, self._settings.page_timeout_s)
        try:
            return _from_json(Details, self._ask(task, "details", silence_s=timeout_s)["details"])
        except Cancelled:
            raise
        except LecternError:  # the pages are there: they are not given up for it
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
        request = {"op": op, "max_chars": settings.max_text_chars, **task.request(), **(values or {})}
        watch = Watch(silence_s or settings.page_timeout_s, task.cancelled, left_s)
        return self._exchange(request, watch, task)

    def _exchange(self, request: wire.Message, watch: Watch, task: _Task | None = None) -> dict[str, Any]:
        pool = self._drawing if request["op"] in _OF_PICTURES else self._reading
        with pool.child(request.get("path", "")) as child:
            began = time.monotonic()
            try:
                return wire.ask(child, request, watch)
            finally:
                if task is not None:
                    task.spent_s += time.monotonic() - began
                child.slim()


def _from_json(kind: type[Made], values: Any) -> Made:
    from rag_core.domain.serialiser import from_json  # pydantic, which no reading process waits for

    return from_json(kind, values)


def _image_in(answer: wire.Message) -> PageImage:
    image = answer["page_image"]
    return _from_json(PageImage, {**image, "png": base64.b64decode(image["png"])})


def _whole(media_type: str, name: str, answer: wire.Message) -> ParsedDocument | None:
    """A document from one answer, or None where that has not all of it."""
    if "error" in answer or len(answer["pages"]) < answer["page_count"]:
        return None
    raw = [wire.page_in(page) for page in answer["pages"]]
    if not any(item.page.text.strip() for item in raw):
        return None
    return assemble(media_type, name, raw, _from_json(Details, answer["details"]))


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
