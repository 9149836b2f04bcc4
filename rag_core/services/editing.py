"""Chunks corrected by hand, and chunks left out of search: embedded here, written and followed as any change is.

What was read stays beside what counts, so that everything can be undone. When a document is cut otherwise, read again
or comes in a new version, an edit goes over to the chunk of the same text as read; what fits none is kept and told of.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from rag_core.domain import Chunk, ChunkEdit, Document
from rag_core.embedding import Embedder
from rag_core.errors import LecternError
from rag_core.storage import Storage
from rag_core.storage.postgres.database import storable
from rag_core.storage.postgres.edits import ChunkSpan, Written
from rag_core.text.context import context_of

LONGEST_CHARS = 20_000


class ChunkEdits:
    """Edits chunks of one library. Nothing comes in while `turn` is held; `changed` is told of the documents."""

    def __init__(
        self,
        storage: Storage,
        turn: AbstractContextManager[object],
        embedder: Callable[[], Embedder],
        changed: Callable[[str], None],
    ) -> None:
        self._storage = storage
        self._turn = turn
        self._embedder = embedder
        self._changed = changed

    def of(self, document_id: str) -> list[ChunkEdit]:
        """What the user made of a document's chunks, in the order of its pages, those that fit none any more too."""
        return self._storage.documents.edits.of(document_id)

    def correct(self, chunk_id: str, text: str) -> None:
        """Give a chunk another text, which is embedded and found from then on; the text as read takes that back.

        Raises KeyError, ValueError (no text, or more than 20,000 characters), ModelUnavailable, StoreUnavailable, and
        LecternError while the document is changed elsewhere.
        """
        text = storable(text.replace("\r\n", "\n").strip())
        if not text or len(text) > LONGEST_CHARS:
            raise ValueError(f"A chunk has between 1 and {LONGEST_CHARS:,} characters.")
        document, chunk = self._chunk(chunk_id)
        if text != chunk.text:
            self._write(document, _place(chunk), text, chunk.section)

    def leave_out(self, chunk_id: str) -> None:
        """Have a chunk be found no longer; those behind it move up. Raises as `correct` does."""
        document, chunk = self._chunk(chunk_id)
        with self._turn:
            profile = self._storage.documents.profile()
            done = profile is not None and self._storage.documents.edits.leave_out(document.id, _place(chunk), profile)
            self._finish(document.id, done)

    def undo(self, document_id: str, page: int, start: int, end: int) -> None:
        """Take an edit back, named by its chunk's page and span: what was left out is found again, else the text is
        as read; one that fits no chunk is forgotten. Raises as `correct` does.
        """
        place = (page, start, end)
        edit = next((e for e in self.of(document_id) if _place(e) == place), None)
        if edit is None:
            raise KeyError((document_id, *place))
        if not edit.in_place:
            self._storage.documents.edits.discard(document_id, place)
            return
        document = ready_document(self._storage, document_id)
        if edit.left_out:
            with self._turn:
                written = self._embedded(document, edit.text, edit.section)
                self._finish(document_id, self._storage.documents.edits.bring_back(document_id, place, written))
        else:
            self._write(document, place, edit.original, edit.section)

    def _write(self, document: Document, place: ChunkSpan, text: str, section: str) -> None:
        with self._turn:
            written = self._embedded(document, text, section)
            self._finish(document.id, self._storage.documents.edits.correct(document.id, place, written))

    def _embedded(self, document: Document, text: str, section: str) -> Written:
        embedder = self._embedder()
        if embedder.profile != self._storage.documents.profile():
            raise LecternError("The library's embedding model was changed meanwhile.", help="Do it once more.")
        vectors, pieces = embedder.encode_with_pieces([text], [context_of(document.found_title, section)])
        return Written(text, embedder.count_tokens([text])[0], embedder.profile, vectors[0], pieces[0])

    def _finish(self, document_id: str, done: bool) -> None:
        if not done:
            raise LecternError("The document is being changed elsewhere.", help="Look at it again in a moment.")
        self._storage.follow_edit(document_id)
        self._changed(document_id)

    def _chunk(self, chunk_id: str) -> tuple[Document, Chunk]:
        document_id, _, number = chunk_id.rpartition(":")
        document = ready_document(self._storage, document_id)
        index = int(number) if number.isascii() and number.isdigit() else -1
        chunk = next(iter(self._storage.documents.chunks(document_id, index, 1)), None) if index >= 0 else None
        if chunk is None or chunk.index != index:
            raise KeyError(chunk_id)
        return document, chunk


def ready_document(storage: Storage, document_id: str) -> Document:
    """A document that can be changed. Raises KeyError where there is none, LecternError where it is not ready."""
    document = storage.documents.get(document_id)
    if document is None or document.state == "removing":
        raise KeyError(document_id)
    if document.state != "ready":
        raise LecternError("The document is not ready yet.", help="Wait until it is.")
    return document


def _place(chunk: Chunk | ChunkEdit) -> ChunkSpan:
    return chunk.page, chunk.start, chunk.end
