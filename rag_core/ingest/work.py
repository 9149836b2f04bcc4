"""A document on its way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Chunk, Document, ParsedDocument, Profile
from rag_core.text.context import context_of, embedded_text

BATCH_DOCUMENTS = 128
BATCH_CHUNKS = 256
_SMALL_BYTES = 2**16
_UNREAD = ParsedDocument("", ())
# A chunk's vector, float32 (d,), and the vectors of its pieces, int8 (p, d), by profile, context and text.
Known = dict[tuple[str, str, str], tuple[NDArray[np.float32], NDArray[np.int8]]]


@dataclass(slots=True)
class Work:
    """One accepted document, and the name of the source it came from. Each stage adds what it makes.

    replaces: the document is ready, and answers until what is made of it now takes its place. whole: False for the
    first pages of a document that is still being read; they are embedded ahead. known: the vectors that it has by now,
    made with `profile`.
    """

    source: str
    document: Document
    parsed: ParsedDocument = _UNREAD
    chunks: Sequence[Chunk] = ()
    replaces: bool = False
    whole: bool = True
    profile: Profile | None = None
    known: Known = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The document's file names, the first it came by first; what it is told of by may be a title."""
        return self.document.sources or (self.source,)

    @property
    def is_small(self) -> bool:
        """Whether it is read together with others."""
        return self.document.byte_size <= _SMALL_BYTES and not self.document.is_recognisable

    @property
    def files(self) -> int:
        """What it adds to a batch that is read, of at most `BATCH_DOCUMENTS`: all but small ones are read alone."""
        return 1 if self.is_small else BATCH_DOCUMENTS

    @property
    def size(self) -> int:
        """What it adds to a batch that is embedded and stored, of at most `BATCH_CHUNKS`: a long one goes alone."""
        return max(len(self.chunks), BATCH_CHUNKS // BATCH_DOCUMENTS)

    @property
    def is_short(self) -> bool:
        """Whether it is embedded beside long ones, together with other short ones."""
        return self.whole and not self.known and self.size <= BATCH_CHUNKS

    def keys(self, profile: Profile) -> list[tuple[str, str, str]]:
        """What the vectors of its chunks depend on: the model, what is embedded before each and of its text."""
        title = self.parsed.found_title
        return [
            (profile.id, context_of(title, chunk.section), embedded_text(chunk.text, chunk.index))
            for chunk in self.chunks
        ]

    def vectors(self, profile: Profile) -> tuple[NDArray[np.float32], list[NDArray[np.int8]]]:
        """The vectors of its chunks, float32 (n, d), row i for chunk i, and those of the pieces of each."""
        found = [self.known[key] for key in self.keys(profile)]
        rows = [vector for vector, _ in found] or np.empty((0, profile.dimensions))
        return np.asarray(rows, dtype=np.float32), [pieces for _, pieces in found]
