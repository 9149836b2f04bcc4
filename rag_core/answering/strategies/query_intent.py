"""What a question is aimed at, as its search understood it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rag_core.domain import Retrieval

_SURELY, _AS_MUCH = 0.5, 0.4


def is_unmeant(document_id: str, meant: Mapping[str, float]) -> bool:
    """Whether a question surely means another document: this one far less than the one that it means most."""
    most = max(meant.values(), default=0.0)
    return most >= _SURELY and meant.get(document_id, 0.0) < _AS_MUCH * most


@dataclass(frozen=True, slots=True)
class QueryIntent:
    """meant: documents that the question means, by id, with how surely, 0..1. narrowed: whether one document
    alone was searched, chosen or the only one there is, which then likely holds the answer."""

    meant: Mapping[str, float] = field(default_factory=dict)
    narrowed: bool = False

    @classmethod
    def of(cls, retrieval: Retrieval) -> QueryIntent:
        """By what a search tells of itself."""
        searched = retrieval.trace.searched
        if searched is None:
            return cls()
        return cls(searched.understood.documents, searched.documents == 1)
