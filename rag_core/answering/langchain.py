"""The one chain that every answer from passages goes through: LangChain's RetrievalQA around Lectern's retriever.

`LecternRetriever` finds, the documents chain writes, and `run_retrieval_qa` is called in one place
(rag_core.answering.strategies.base). Importing this imports LangChain, which takes a second or more.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from langchain_classic.chains import RetrievalQA
from langchain_classic.chains.combine_documents.base import BaseCombineDocumentsChain
from langchain_core._api.deprecation import LangChainDeprecationWarning
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langsmith.run_helpers import tracing_context
from pydantic import PrivateAttr

from rag_core.answering.question import Search
from rag_core.answering.written import NOTHING_RETRIEVED, Written
from rag_core.domain import Hit, Retrieval

# RetrievalQA is in maintenance; its notes about that are nothing a user can act on.
warnings.filterwarnings("ignore", category=LangChainDeprecationWarning)


class LecternRetriever(BaseRetriever):
    """Lectern's search for LangChain: documents carry their hit in `metadata["hit"]`. Made anew for each question."""

    find: Search
    _retrieval: Retrieval = PrivateAttr(default=NOTHING_RETRIEVED)

    @property
    def retrieval(self) -> Retrieval:
        """What the last call found, and how."""
        return self._retrieval

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        self._retrieval = self.find(query)
        return [as_document(hit) for hit in self._retrieval.hits]


class WritingChain(BaseCombineDocumentsChain):
    """Writes from a retriever's passages by a function of what it found."""

    retriever: LecternRetriever
    write: Callable[[Retrieval], Written]
    _written: Written = PrivateAttr(default_factory=Written)

    @property
    def written(self) -> Written:
        """What the last call wrote."""
        return self._written

    def combine_docs(self, docs: list[Document], **kwargs: Any) -> tuple[str, dict[str, Any]]:
        """The text that is written from the documents, which are the retriever's."""
        self._written = self.write(self.retriever.retrieval)
        return self._written.text, {}

    async def acombine_docs(self, docs: list[Document], **kwargs: Any) -> tuple[str, dict[str, Any]]:
        """The same; whoever writes waits in a thread of its own."""
        return self.combine_docs(docs, **kwargs)


def run_retrieval_qa(question: str, find: Search, write: Callable[[Retrieval], Written]) -> Written:
    """Ask RetrievalQA: `find` finds the passages for the question, `write` writes from them."""
    retriever = LecternRetriever(find=find)
    combine = WritingChain(retriever=retriever, write=write)
    chain = RetrievalQA(retriever=retriever, combine_documents_chain=combine, return_source_documents=True)
    # A tracing variable in the environment would otherwise send questions and passages to LangSmith.
    with tracing_context(enabled=False):
        chain.invoke({"query": question})
    return combine.written


def as_document(hit: Hit) -> Document:
    """A hit as a LangChain document."""
    metadata = {
        "hit": hit, "document_id": hit.document.id, "title": hit.document.title, "page": hit.page,
        "page_label": hit.page_label, "section": hit.section, "score": hit.score, "score_kind": hit.score_kind,
    }  # fmt: skip
    return Document(id=hit.chunk_id, page_content=hit.text, metadata=metadata)
