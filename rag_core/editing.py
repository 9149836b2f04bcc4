"""Chunks corrected by hand, and chunks left out of search: embedded here, written and followed as any change is.

What was read stays beside what counts, so that everything can be undone. When a document is cut otherwise, read again
or comes in a new version, an edit goes over to the chunk of the same text as read; what fits none is kept and told of.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from rag_core.domain import Chunk, ChunkEdit, Document
from rag_core.embedding import Embedder
from rag_core.errors import LecternError
from rag_core.storage import Storage
from rag_core.storage.postgres.database import storable
from rag_core.storage.postgres.edits import Place, Written
from rag_core.text.context import context_of

LONGEST_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Editing:
    """Edits chunks of one library. Nothing comes in while `turn` is held; `forget` is told of what changed."""

    storage: Storage
    turn: AbstractContextManager[object]
    embedder: Callable[[], Embedder]
    forget: Callable[[str], None]

    def correct(self, chunk_id: str, text: str) -> None:
        """Give a chunk another text; its own as read takes the correction back.

        Raises KeyError, ValueError for a text without words or of more than 20,000 characters.
        """
        text = storable(text.replace("\r\n", "\n").strip())
        if not text or len(text) > LONGEST_CHARS:
            raise ValueError(f"A chunk has between 1 and {LONGEST_CHARS:,} characters.")
        document, chunk = self._chunk(chunk_id)
        if text != chunk.text:
            self._write(document, _place(chunk), text, chunk.section)

    def leave_out(self, chunk_id: str) -> None:
        """Have a chunk be found no longer. Raises KeyError."""
        document, chunk = self._chunk(chunk_id)
        with self.turn:
            profile = self.storage.documents.profile()
            done = profile is not None and self.storage.documents.edits.leave_out(document.id, _place(chunk), profile)
            self._finish(document.id, done)

    def undo(self, document_id: str, page: int, start: int, end: int) -> None:
        """Take an edit back: a chunk that was left out is found again, a correction is as read, one that fits no chunk
        is forgotten. Raises KeyError.
        """
        place = (page, start, end)
        edit = next((e for e in self.storage.documents.edits.of(document_id) if _place(e) == place), None)
        if edit is None:
            raise KeyError((document_id, *place))
        if not edit.in_place:
            self.storage.documents.edits.discard(document_id, place)
            return
        document = self._ready(document_id)
        if edit.left_out:
            with self.turn:
                written = self._embedded(document, edit.text, edit.section)
                self._finish(document_id, self.storage.documents.edits.bring_back(document_id, place, written))
        else:
            self._write(document, place, edit.original, edit.section)

    def _write(self, document: Document, place: Place, text: str, section: str) -> None:
        with self.turn:
            written = self._embedded(document, text, section)
            self._finish(document.id, self.storage.documents.edits.correct(document.id, place, written))

    def _embedded(self, document: Document, text: str, section: str) -> Written:
        embedder = self.embedder()
        if embedder.profile != self.storage.documents.profile():
            raise LecternError("The library's embedding model was changed meanwhile.", help="Do it once more.")
        vectors, pieces = embedder.encode_with_pieces([text], [context_of(document.found_title, section)])
        return Written(text, embedder.count_tokens([text])[0], embedder.profile, vectors[0], pieces[0])

    def _finish(self, document_id: str, done: bool) -> None:
        if not done:
            raise LecternError("The document is being changed elsewhere.", help="Look at it again in a moment.")
        self.storage.follow_edit(document_id)
        self.forget(document_id)

    def _chunk(self, chunk_id: str) -> tuple[Document, Chunk]:
        document_id, _, number = chunk_id.rpartition(":")
        document = self._ready(document_id)
        index = int(number) if number.isascii() and number.isdigit() else -1
        chunk = next(iter(self.storage.documents.chunks(document_id, index, 1)), None) if index >= 0 else None
        if chunk is None or chunk.index != index:
            raise KeyError(chunk_id)
        return document, chunk

    def _ready(self, document_id: str) -> Document:
        document = self.storage.documents.get(document_id)
        if document is None or document.state == "removing":
            raise KeyError(document_id)
        if document.state != "ready":
            raise LecternError("The document is not ready yet.", help="Wait until it is.")
        return document


def _place(chunk: Chunk | ChunkEdit) -> Place:
    return chunk.page, chunk.start, chunk.end
