"""Lectern's search as a LangChain retriever. Importing this imports LangChain, which takes a second or more."""

from __future__ import annotations

from collections.abc import Callable

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import PrivateAttr

from rag_core.domain import Hit, Retrieval, Trace


class LecternRetriever(BaseRetriever):
    """Documents carry their hit in `metadata["hit"]`. Made anew for each question: `trace` tells of the last call."""

    find: Callable[[str], Retrieval]
    _trace: Trace = PrivateAttr(default_factory=Trace)

    @property
    def trace(self) -> Trace:
        """Engine, query, latencies and notes of the last call."""
        return self._trace

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        found = self.find(query)
        self._trace = found.trace
        return [as_document(hit) for hit in found.hits]


def as_document(hit: Hit) -> Document:
    """A hit as a LangChain document."""
    metadata = {
        "hit": hit, "document_id": hit.document.id, "title": hit.document.title, "page": hit.page,
        "page_label": hit.page_label, "section": hit.section, "score": hit.score, "score_kind": hit.score_kind,
    }  # fmt: skip
    return Document(id=hit.chunk_id, page_content=hit.text, metadata=metadata)
