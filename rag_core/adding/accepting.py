"""Accepting: the bytes of sources are kept and noted as pending documents, a window at a time."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass, field

from rag_core.adding.course import Course
from rag_core.adding.window import WINDOW_DOCUMENTS, Work
from rag_core.domain import Document, Visit
from rag_core.errors import LecternError, LimitExceeded, StoreUnavailable
from rag_core.reading import detect_bytes
from rag_core.settings import Settings
from rag_core.sources import Item, read_item
from rag_core.storage import Accepted, Storage, noted

_WINDOW_BYTES = 2**23


@dataclass(slots=True)
class _Arrival:
    """A source whose bytes were read; `key` is what its events call it."""

    key: str
    name: str
    data: bytes = field(repr=False)
    sha256: str
    visit: Visit
    media_type: str = ""

    @property
    def document_id(self) -> str:
        return self.sha256[:32]


class Accepting:
    """Gathers sources until they are worth a transaction."""

    def __init__(self, settings: Settings, storage: Storage, course: Course) -> None:
        self._settings = settings
        self._storage = storage
        self._course = course
        self._arrivals: list[_Arrival] = []
        self._bytes = 0
        # Those whose bytes another one, of this run or another, is bringing in, each with its document's id.
        self.repeated: list[tuple[Item, str]] = []

    @property
    def is_full(self) -> bool:
        """Whether to accept what was gathered before more is."""
        return len(self._arrivals) >= WINDOW_DOCUMENTS or self._bytes >= _WINDOW_BYTES

    def gather(self, item: Item) -> None:
        """Read an item and claim its document. Raises LecternError when it cannot be taken."""
        data, visit = read_item(item, self._settings.reading.max_file_bytes)
        self._check_room(len(data))
        arrival = _Arrival(item.key, item.name, data, hashlib.sha256(data).hexdigest(), visit)
        if not self._course.claim(arrival.document_id):
            self.repeated.append((item, arrival.document_id))
            return
        self._arrivals.append(arrival)
        self._bytes += len(data)

    def accept(self) -> list[Work]:
        """Accept what was gathered. Returns what is to be read; what is in the library already is told of."""
        window = {arrival.document_id: arrival for arrival in self._arrivals if not self._dropped(arrival)}
        self._arrivals, self._bytes = [], 0
        try:
            known = self._known(list(window))
            originals = self._originals(window, known)
            with noted(self._storage.files, list(originals)) as came:
                self._keep(window, originals)
                documents = self._note(window)
                came.update(documents)
        except LecternError as error:
            for arrival in list(window.values()):
                self._fail(window, arrival, error)
            return []
        self._course.supersede([key for key, document in documents.items() if document.state == "ready"])
        works = [self._work(arrival, documents.get(key)) for key, arrival in window.items()]
        return [work for work in works if work is not None]

    def _dropped(self, arrival: _Arrival) -> bool:
        """Whether a source was stopped before anything of it was kept."""
        if not self._course.stopped(arrival.key):
            return False
        self._course.release(arrival.document_id)
        if not self._course.interrupted:
            self._course.tell(arrival.key, "cancelled")
        return True

    def _known(self, ids: list[str]) -> dict[str, Document]:
        """What the library has of some documents, once it has finished with those that are half in or half out."""
        known = self._storage.documents.some(ids) if ids else {}
        stuck = [key for key, document in known.items() if document.state in ("removing", "stored")]
        if stuck:
            self._storage.finish(stuck)
            known = self._storage.documents.some(ids)
        return known

    def _originals(self, window: dict[str, _Arrival], known: dict[str, Document]) -> dict[str, bytes]:
        """The bytes of a window that are yet to be kept; what is no document leaves it."""
        originals: dict[str, bytes] = {}
        for key, arrival in list(window.items()):
            document = known.get(key)
            if document is not None and document.state == "ready":
                arrival.media_type = document.media_type
                if self._storage.files.holds(key, arrival.data):
                    continue
            try:
                arrival.media_type = arrival.media_type or detect_bytes(arrival.data, arrival.name)
            except LecternError as error:
                self._fail(window, arrival, error)
                continue
            originals[key] = arrival.data
        return originals

    def _keep(self, window: dict[str, _Arrival], originals: dict[str, bytes]) -> None:
        """Bring bytes to the disk. One may be too large for it: each by itself then, so that the others are kept."""
        try:
            self._storage.files.write_many(originals)
            return
        except StoreUnavailable:
            pass
        for key, data in originals.items():
            try:
                self._storage.files.write(key, [data])
            except StoreUnavailable as error:
                self._fail(window, window[key], error)

    def _note(self, window: dict[str, _Arrival]) -> dict[str, Document]:
        """Note what was kept as pending. A removal that was under way may have taken the bytes: they are kept anew."""
        if not window:
            return {}
        with self._storage.removals.turn:
            self._storage.documents.accept([_accepted(arrival) for arrival in window.values()])
            lost = {key: item.data for key, item in window.items() if not self._storage.files.path(key).exists()}
            if lost:
                self._storage.files.write_many(lost)
        return self._storage.documents.some(list(window))

    def _work(self, arrival: _Arrival, document: Document | None) -> Work | None:
        if document is not None and document.state == "pending":
            return Work(arrival.key, document)
        self._course.release(arrival.document_id)
        self._course.tell_end(arrival.key, document, note="already in the library")
        return None

    def _fail(self, window: dict[str, _Arrival], arrival: _Arrival, error: LecternError) -> None:
        del window[arrival.document_id]
        self._course.release(arrival.document_id)
        self._course.tell(arrival.key, "failed", error=error)

    def _check_room(self, size_bytes: int) -> None:
        """Refuse a document, before anything is written, when the disk is nearly full."""
        least = self._settings.storage.min_free_bytes
        free = shutil.disk_usage(self._storage.folder).free
        # Text, vectors and their three copies take a few times the file's own size.
        if free - 4 * (self._bytes + size_bytes) < least:
            raise LimitExceeded(
                f"The disk is nearly full: {free / 2**20:.0f} MB are free.",
                help="Make room on the disk and add the document again. Searching goes on.",
            )


def _accepted(arrival: _Arrival) -> Accepted:
    return Accepted(
        arrival.document_id, arrival.sha256, arrival.name, arrival.media_type, len(arrival.data), arrival.visit
    )
