"""The vectors of chunks' pieces beside the dumps of a chunking that is tested, a file for each document."""

from __future__ import annotations

import contextlib
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from accelerator.atomic import write_atomically
from rag_core.storage.disk import disk_failure
from rag_core.storage.postgres.pieces import kept_form

_SUFFIX = ".pieces"


class KeptPieces:
    """Pieces in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, document_id: str, pieces: Sequence[NDArray[np.int8]]) -> None:
        """Keep the pieces of a document's chunks, each int8 (p, d). Raises StoreUnavailable."""
        counts = np.array([len(rows) for rows in pieces], dtype=np.int32)
        held = [rows for rows in pieces if len(rows)]
        buffer = io.BytesIO()
        np.savez(buffer, counts=counts, rows=np.concatenate(held) if held else np.empty((0, 0), np.int8))
        try:
            write_atomically(self._path(document_id), [buffer.getbuffer()])
        except OSError as error:
            raise disk_failure(error) from error

    def read(self, document_id: str, chunks: int) -> list[bytes | None] | None:
        """The pieces of each of a document's chunks as a column holds them.

        None where they are not there, are damaged, or are not of so many chunks.
        """
        try:
            with np.load(self._path(document_id), allow_pickle=False) as kept:  # its checksums are compared
                counts, rows = kept["counts"], kept["rows"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
        if len(counts) != chunks or counts.sum() != len(rows):
            return None
        return [kept_form(part) for part in np.split(rows, np.cumsum(counts)[:-1])] if chunks else []

    def remove(self, document_id: str) -> None:
        """Remove those of a document, if there are any; they are of no use to anyone, and may stay on a sick disk."""
        with contextlib.suppress(OSError):
            self._path(document_id).unlink(missing_ok=True)

    def _path(self, document_id: str) -> Path:
        return self._folder / f"{document_id}{_SUFFIX}"
