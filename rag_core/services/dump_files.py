"""Vector dumps in TLDR's own layout (version 1): written for programs that read it, and taken back from them.

A file has a document's vectors and the MD5 sums of its chunks' texts, no texts and no name of a model. So it is taken
for the documents whose chunks have these sums in this order, and only where its vectors are the same model's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from accelerator.dump import UNIT_TOLERANCE, Dump, write_dump
from accelerator.errors import DumpError
from rag_core.errors import LecternError, StoreCorrupt
from rag_core.storage import Storage
from rag_core.storage.disk import disk_failure

SUFFIX = ".dump"
# Vectors of one text by one model on two runtimes are closer than that, by two models they are not.
_SAME_MODEL = 0.97


@dataclass(frozen=True, slots=True)
class DumpFile:
    """A file that was written, or taken: its document, its rows, and what became of it."""

    path: str
    document_id: str
    title: str
    rows: int
    outcome: str


class DumpFiles:
    """Such files of one library. Nothing comes in while `turn` is held."""

    def __init__(self, storage: Storage, turn: AbstractContextManager[object]) -> None:
        self._storage = storage
        self._turn = turn

    def write(self, folder: Path) -> Iterator[DumpFile]:
        """Write a file for each document that can be searched, named by its id. Raises StoreUnavailable (the disk)."""
        documents = self._storage.documents
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for document_id, document in documents.some(list(documents.ready_ids())).items():
                vectors, sums = documents.vectors.of(document_id)
                if not sums:
                    continue
                path = folder / f"{document_id}{SUFFIX}"
                hashes = np.frombuffer(bytes.fromhex("".join(sums)), np.uint8).reshape(len(sums), 16)
                write_dump(path, vectors, hashes, profile="", version=1)
                yield DumpFile(str(path), document_id, document.title, len(sums), "written")
        except OSError as error:
            raise disk_failure(error) from error

    def take(self, path: Path) -> Iterator[DumpFile]:
        """Put a file's vectors in the place of those of every document it is of.

        Raises StoreCorrupt (the file is damaged or no dump), LecternError (it cannot be read, is of no document here,
        or of another model).
        """
        try:
            dump = Dump.open(path)
            dump.verify()
        except OSError as error:
            raise LecternError(
                f"{path} cannot be read: {error.strerror}.", help="Name a file that is there."
            ) from error
        except DumpError as error:
            raise StoreCorrupt(f"{path} cannot be taken: {error}", help="Have it written again.") from error
        with self._turn:
            found = _documents_of(self._storage, dump)
            if not found:
                raise LecternError(
                    f"{path} is of no document here: no document's chunks have its hashes.",
                    help="Add the document first, cut as whoever wrote the file cut it (LECTERN_CHUNKING__STRATEGY).",
                )
            for document_id in found:
                yield _taken(self._storage, document_id, dump)


def _documents_of(storage: Storage, dump: Dump) -> list[str]:
    wanted = [bytes(row).hex() for row in dump.hashes]
    if not wanted:
        return []
    rows = storage.database.rows(
        "SELECT c.document_id FROM chunks c JOIN documents d ON d.id = c.document_id AND d.state = 'ready'"
        " WHERE c.index = 0 AND d.chunk_count = %s AND starts_with(c.md5, %s) ORDER BY 1",
        (len(wanted), wanted[0]),
    )
    size = len(wanted[0])
    return [key for (key,) in rows if [one[:size] for one in storage.documents.vectors.of(key)[1]] == wanted]


def _taken(storage: Storage, document_id: str, dump: Dump) -> DumpFile:
    own, sums = storage.documents.vectors.of(document_id)
    given = _of_unit_length(dump.vectors)
    if given.shape != own.shape or float((given * own).sum(axis=1).min()) < _SAME_MODEL:
        raise LecternError(
            f"{dump.path} has vectors of another model than the library's.",
            help="Have the library embedded with that model first: lectern reembed --model FOLDER.",
        )
    document = storage.documents.get(document_id)
    title = document.title if document is not None else document_id
    if np.array_equal(dump.vectors, own):
        return DumpFile(str(dump.path), document_id, title, len(own), "the same vectors")
    if not storage.documents.edits.put_vectors(document_id, given, sums):
        raise LecternError("The document is being changed elsewhere.", help="Look at it again in a moment.")
    storage.follow_edit(document_id)
    return DumpFile(str(dump.path), document_id, title, len(own), "taken")


def _of_unit_length(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows, float32 (n, d), of length 1; those that have it stay as they are, bit for bit."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: NDArray[np.float32] = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
    return np.where(np.abs(lengths - 1) <= UNIT_TOLERANCE, vectors, scaled).astype(np.float32)
