"""RetrievalQA around Lectern's retriever."""

from __future__ import annotations

import pytest
from langchain_classic.chains import RetrievalQA

from rag_core.answering.langchain import LecternRetriever, WritingChain, run_retrieval_qa
from rag_core.answering.written import Written
from rag_core.domain import Retrieval
from tests.rag_core.answering.parts import HITS, ListSearch


def first_of(retrieval: Retrieval) -> Written:
    return Written(retrieval, text=retrieval.hits[0].text)


def test_what_was_found_is_written_from() -> None:
    written = run_retrieval_qa("Who leads the board?", ListSearch(HITS), first_of)
    assert "Anna Berger leads the board." in written.text
    assert written.retrieval.trace.engine == "list"


def test_the_chain_gives_text_and_sources_as_any_of_langchain() -> None:
    retriever = LecternRetriever(find=ListSearch(HITS))
    combine = WritingChain(retriever=retriever, write=first_of)
    chain = RetrievalQA(retriever=retriever, combine_documents_chain=combine, return_source_documents=True)
    result = chain.invoke({"query": "Who leads the board?"})
    assert "Anna Berger leads the board." in result["result"]
    assert [one.metadata["hit"].chunk_id for one in result["source_documents"]] == [
        one.chunk_id for one in retriever.retrieval.hits
    ]


def test_a_stop_while_writing_is_not_swallowed() -> None:
    def stop(_: Retrieval) -> Written:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        run_retrieval_qa("x", ListSearch(HITS), stop)


def test_no_tracing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGCHAIN_TRACING_V2", "true")
    monkeypatch.setenv("LANGSMITH_ENDPOINT", "http://127.0.0.1:9")
    seen: list[str] = []
    monkeypatch.setattr("langchain_core.tracers.langchain.LangChainTracer.__init__", lambda *_, **__: seen.append("x"))
    run_retrieval_qa("x", ListSearch(HITS), first_of)
    assert seen == []
