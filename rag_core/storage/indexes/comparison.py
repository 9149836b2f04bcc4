"""One comparison of a library's stores with PostgreSQL: what an index needs to find out how it differs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Finding, Profile
from rag_core.storage.postgres.documents import DocumentStore
from rag_core.storage.postgres.truth import Facts, Rows, Truth

# Not always the same ones: what one look misses the next may see.
_RANDOM = random.SystemRandom()
_SAMPLE = 256
_QUERIES = {False: 8, True: 64}
_TIE = 1e-4
LOST = "Remove the document and add its file again, or restore a backup."
Nearest = Callable[[NDArray[np.float32]], float]
"""The cosine of what a store finds first for a vector, float32 (d,) of unit length."""


class Comparison:
    """What PostgreSQL said of every document when the comparison began. `deep`: read everything, not a sample.

    `unsound` are documents of which PostgreSQL itself has lost something: that is not held against the indexes.
    """

    def __init__(
        self, truth: Truth, documents: DocumentStore, facts: dict[str, Facts], profile: Profile, *, deep: bool
    ) -> None:
        self.truth = truth
        self.facts = facts
        self.profile = profile
        self.deep = deep
        self.unsound: set[str] = set()
        self._documents = documents

    def finding(
        self, store: str, document_id: str, message: str, *, repairable: bool = True, help: str = ""
    ) -> Finding:
        """A finding about a document, or about a store as a whole for an empty id."""
        known = self.facts.get(document_id)
        return Finding(store, document_id, known.title if known else "", message, repairable, help)

    def ready(self) -> list[Facts]:
        """Ready documents that PostgreSQL holds whole."""
        return [d for d in self.facts.values() if d.state == "ready" and d.id not in self.unsound]

    def places(self, count: int = _SAMPLE) -> set[tuple[str, int]]:
        """Up to `count` chunks by document and index, others each time."""
        ready = [document for document in self.ready() if document.chunk_count]
        if not ready:
            return set()
        chosen = _RANDOM.choices(ready, [document.chunk_count for document in ready], k=count)
        return {(document.id, _RANDOM.randrange(document.chunk_count)) for document in chosen}

    def sample(self) -> Iterator[Rows]:
        """Some chunks with their vectors, others each time."""
        return self.truth.rows_at(self.places())

    def queries(self, store: str, nearest: Nearest, *, spared: float = 0.0, lost: bool = False) -> Iterator[Finding]:
        """Ask with chunks' own vectors: each must come first, or what comes first must equal it.

        Up to a `spared` share of those that do not is no finding. `lost`: what is wrong cannot be repaired.
        """
        places = list(self.places(_QUERIES[self.deep]))
        missed = list(self._missed(store, nearest, places, lost))
        if len(missed) > spared * len(places):
            yield from missed

    def _missed(self, store: str, nearest: Nearest, places: Sequence[tuple[str, int]], lost: bool) -> Iterator[Finding]:
        for document_id, index, vector in self._documents.vectors.at(places):
            length = float(np.linalg.norm(vector))
            if length and not nearest(vector / length) > 1 - _TIE:
                message = f"A search with the vector of chunk {index + 1} does not find it."
                yield self.finding(store, document_id, message, repairable=not lost, help=LOST if lost else "")


def first_cosine(query: NDArray[np.float32], found: Sequence[tuple[str, int, NDArray[np.float32]]]) -> float:
    """The cosine of what was found first; 0 for nothing. query: float32 (d,) of unit length."""
    if not found:
        return 0.0
    vector = found[0][2]
    return float(query @ vector / max(float(np.linalg.norm(vector)), 1e-12))
