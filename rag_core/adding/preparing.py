"""Preparing: accepted documents are read and cut into chunks, small texts many at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from rag_core.adding.course import Course
from rag_core.adding.window import Work
from rag_core.chunking import chunk_document
from rag_core.domain import Document, ParsedDocument
from rag_core.embedding import Embedder
from rag_core.errors import Cancelled, LecternError, UnreadableDocument
from rag_core.reading import Reader, make_card
from rag_core.reading.base import RawPage
from rag_core.reading.ocr import recognised_page
from rag_core.settings import Settings
from rag_core.storage import Storage

_SMALL_BYTES = 2**16
_COUNT_TEXTS = 1000
_PDF = "application/pdf"


class Preparing:
    """Reads and cuts for one run."""

    def __init__(
        self,
        settings: Settings,
        storage: Storage,
        reader: Reader,
        embedder: Callable[[], Embedder],
        course: Course,
        password: str | None,
    ) -> None:
        self._settings = settings
        self._storage = storage
        self._reader = reader
        self._embedder = embedder
        self._course = course
        self._password = password

    def prepare(self, works: Sequence[Work]) -> Iterator[Work]:
        """Each document that has chunks then, in order; the others are given up."""
        for is_small, group in groupby(works, _is_small):
            if is_small:
                yield from self._prepare_small(list(group))
            else:
                for work in group:
                    yield from self._cut([(work, self._read(work))])

    def _prepare_small(self, works: list[Work]) -> list[Work]:
        works = self._course.unstopped(works)
        files = [(self._storage.files.path(work.document.id), work.names[0]) for work in works]
        read = self._reader.read_small(files, cancelled=lambda: self._course.stopped(None))
        for work, parsed in zip(works, read, strict=True):
            if isinstance(parsed, ParsedDocument):
                self._course.tell(work.source, "reading", len(parsed.pages), len(parsed.pages))
        return self._cut(list(zip(works, read, strict=True)))

    def _read(self, work: Work) -> ParsedDocument | LecternError:
        document_id = work.document.id
        try:
            # Texts have no password; asking costs a transaction.
            kept = self._storage.documents.password(document_id) if work.document.media_type == _PDF else None
            parsed = self._reader.read(
                self._storage.files.path(document_id), work.names[0], password=self._password or kept,
                progress=lambda done, total: self._course.tell(work.source, "reading", done, total),
                cancelled=lambda: self._course.stopped(work.source), recognised=self._recognised(work.document),
            )  # fmt: skip
            if self._password and parsed.media_type == _PDF:
                self._storage.documents.keep_password(document_id, self._password)
        except LecternError as error:
            return error
        return parsed

    def _recognised(self, document: Document) -> dict[int, RawPage] | None:
        """What text recognition has read of a document; None where there is to be none."""
        if self._settings.ocr.engine == "none" or not document.has_pictures:
            return None
        return {
            number: recognised_page(number, content)
            for number, content in self._storage.documents.recognition.of(document.id).items()
        }

    def _cut(self, read: Sequence[tuple[Work, ParsedDocument | LecternError]]) -> list[Work]:
        """Give documents their chunks. Returns those that have some; the others are given up."""
        alone = read[0][0].source if len(read) == 1 else None
        cut = []
        for work, parsed in read:
            try:
                if isinstance(parsed, LecternError):
                    raise parsed
                work.parsed = parsed = replace(parsed, card=make_card(parsed, work.names))
                work.chunks = chunk_document(
                    work.document.id, parsed, self._settings.chunking, lambda texts: self._counted(texts, alone)
                )
                if not work.chunks and not (parsed.to_recognise or any(page.recogniser for page in parsed.pages)):
                    raise UnreadableDocument("The document holds no text.")
            except LecternError as error:
                self._course.give_up(work, error)
            else:
                cut.append(work)
        return cut

    def _counted(self, texts: Sequence[str], alone: str | None) -> list[int]:
        """The tokens of each text. A long document takes many seconds: it can be cancelled in between."""
        counts: list[int] = []
        for first in range(0, len(texts), _COUNT_TEXTS):
            if self._course.stopped(alone):
                raise Cancelled("Cancelled.")
            counts += self._embedder().count_tokens(texts[first : first + _COUNT_TEXTS])
        return counts


def _is_small(work: Work) -> bool:
    return work.document.byte_size <= _SMALL_BYTES and not work.document.has_pictures
