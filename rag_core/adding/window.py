"""Windows: documents that are embedded and committed together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rag_core.domain import Chunk, Document, ParsedDocument
from rag_core.text.context import context_of

WINDOW_CHUNKS = 256
WINDOW_DOCUMENTS = 128


@dataclass(slots=True)
class Work:
    """One accepted document on its way, and the name of the source it came from.

    replaces: the document is ready, and answers until what is made of it now takes its place.
    """

    source: str
    document: Document
    parsed: ParsedDocument | None = None
    chunks: list[Chunk] = field(default_factory=list)
    replaces: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The document's file names, the first it came by first; what it is told of by may be a title."""
        return self.document.sources or (self.source,)

    def context(self, chunk: Chunk) -> str:
        """What is embedded before one of its chunks."""
        return context_of((self.parsed or self.document).found_title, chunk.section)


class Window:
    """Gathers documents that were read and cut."""

    def __init__(self) -> None:
        self._works: list[Work] = []
        self._chunks = 0

    @property
    def is_full(self) -> bool:
        """Whether it is worth a batch."""
        return self._chunks >= WINDOW_CHUNKS or len(self._works) >= WINDOW_DOCUMENTS

    def has_room(self, work: Work) -> bool:
        """Whether a document fits beside the others. A long one is embedded, and told of, alone."""
        return self._chunks + len(work.chunks) <= WINDOW_CHUNKS

    def add(self, work: Work) -> None:
        """Gather one more."""
        self._works.append(work)
        self._chunks += len(work.chunks)

    def take(self) -> list[Work]:
        """What was gathered; the window is empty then."""
        works, self._works, self._chunks = self._works, [], 0
        return works


def parts(works: Sequence[Work]) -> Iterator[slice]:
    """Where the chunks of each document stand among those of all."""
    first = 0
    for work in works:
        yield slice(first, first + len(work.chunks))
        first += len(work.chunks)
