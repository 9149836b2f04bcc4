from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from langchain_core.vectorstores.utils import maximal_marginal_relevance as langchain_mmr

from accelerator.dump import write_dump
from accelerator.mmr import maximal_marginal_relevance
from rag_core import Hit, Library, Settings, Upload
from rag_core.answering.langchain import LecternRetriever
from rag_core.retrieval import Indexes, Pipeline
from rag_core.services.search import SearchService
from rag_core.storage.indexes import DENSE
from rag_core.storage.postgres.changes import Waiting
from tests.conftest import PROJECT, add_text
from tests.rag_core.samples import TEXTS

QUESTIONS = ["When does the first ferry leave?", "storm damage", "Who inspects the water?", "rye bread", "tariff table"]


@pytest.fixture(scope="module")
def library(
    tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str], new_milvus: Callable[[], str]
) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("search")
    settings = Settings(_env_file=None, data_dir=folder / "library", database_url=new_database())
    # Those that are kept where they are asked for alone.
    settings = settings.changed("retrieval", index="hnsw").changed("storage", milvus=new_milvus())
    with Library.open(settings) as opened:
        samples = [p for p in (PROJECT / "data" / "samples").iterdir() if p.suffix in (".pdf", ".md", ".txt")]
        for event in opened.add([*samples, *(Upload(n, t.encode()) for n, t in TEXTS.items())]):
            assert event.error is None
        opened.storage.settle()
        yield opened


def places(hits: list[Hit]) -> list[tuple[str, float]]:
    return [(hit.chunk_id, hit.score) for hit in hits]


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_engine_gives_the_same_hits(library: Library, question: str) -> None:
    dumps = library.search(question, index="dumps")
    assert len(dumps) == library.settings.retrieval.k
    for index in DENSE:
        assert places(library.search(question, index=index)) == places(dumps), index
    assert places(library.search(question)) == places(dumps)


@pytest.mark.parametrize("engine", ["auto", *DENSE])
@pytest.mark.parametrize(
    "change", [{}, {"k": 25, "fetch_k": 60, "mmr": True, "mmr_lambda": 0.85}, {"scan": "fast", "k": 1}]
)
def test_many_questions_in_one_pass_find_what_each_finds_alone(
    library: Library, engine: str, change: dict[str, object]
) -> None:
    settings = library.settings.changed("retrieval", index=engine, **change).retrieval
    asked = [*QUESTIONS, QUESTIONS[0], "?", "x " * 2000]
    corpus = SearchService(library.storage, library.embedding.get)
    together = corpus.search(asked, settings)
    assert [found.trace.query for found in together] == asked
    for question, found in zip(asked, together, strict=True):
        (alone,) = corpus.search([question], settings)
        # The last digit of a question's vector depends on those beside it.
        assert [hit.chunk_id for hit in found.hits] == [hit.chunk_id for hit in alone.hits]
        assert np.allclose([hit.score for hit in found.hits], [hit.score for hit in alone.hits], atol=1e-5)
        assert len(found.hits) == settings.k
        assert (found.trace.engine, found.trace.notes) == (alone.trace.engine, alone.trace.notes)
        assert set(found.trace.latency_ms) == {"embed", "search"}
    assert together[0].trace.engine == ("dumps" if engine == "auto" else engine)


def test_no_questions_find_nothing(library: Library) -> None:
    assert Pipeline(Indexes(library.storage)).search([], library.settings.retrieval) == []


def test_questions_are_embedded_together_as_alone(library: Library) -> None:
    embedder = library.embedding.get()
    vectors = embedder.encode_queries([*QUESTIONS, QUESTIONS[0]])
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert (vectors[0] == vectors[-1]).all()
    for question, vector in zip(QUESTIONS, vectors, strict=False):
        assert float(embedder.encode_query(question) @ vector) > 0.9999


def test_hits_carry_their_place(library: Library) -> None:
    for hit in library.search("timetable of the ferry", k=10):
        page = library.page(hit.document.id, hit.page)
        assert page.text[hit.start : hit.end] == hit.text
        assert page.label == hit.page_label
        assert hit.score_kind in ("fused", "rerank")
        assert {"fused", "dense"} <= set(hit.scores)
        assert bool(hit.boxes) == (hit.document.media_type == "application/pdf")


def test_a_search_is_ranked_and_mmr_is_a_choice(library: Library) -> None:
    ranked = library.search("storm damage", k=10, mode="dense")
    assert [hit.score for hit in ranked] == sorted((hit.score for hit in ranked), reverse=True)
    thinned = library.search("storm damage", k=10, mode="dense", mmr=True)
    assert thinned[0] == ranked[0]
    assert {hit.chunk_id for hit in thinned} != {hit.chunk_id for hit in ranked}
    everything = {hit.chunk_id: hit.score for hit in library.search("storm damage", k=100, mode="dense")}
    assert all(everything[hit.chunk_id] == hit.score for hit in thinned)


def test_mmr_by_meaning_goes_by_the_scanner_s_cosines(library: Library) -> None:
    question = "How are storms measured?"
    found = library.retrieve(question, mode="dense", index="dumps", k=4, mmr=True, fetch_k=12, mmr_lambda=0.5)
    index = library.storage.dense["dumps"]
    assert found.trace.engine == index.name
    vector = library.embed([question])[0]
    (near,) = index.nearest(vector[np.newaxis], 12, None, "auto")
    order = maximal_marginal_relevance(vector, near.vectors, 4, 0.5, relevance=near.scores)
    assert [(hit.document.id, hit.index) for hit in found.hits] == [near.refs[place] for place in order]
    assert [hit.score for hit in found.hits] == [float(near.scores[place]) for place in order]
    assert order == langchain_mmr(vector.astype(np.float64), [*near.vectors.astype(np.float64)], 0.5, 4)


def test_hits_know_their_scores_and_the_question_s_words(library: Library) -> None:
    for hit in library.search("What does a loaf of rye bread cost?"):
        assert -1 <= hit.scores["dense"] <= 1
        marked = {hit.text[start:end].lower() for start, end in hit.matches}
        assert marked <= {"loaf", "loaves", "rye", "bread", "breads", "cost", "costs"}
    best = library.search("What does a loaf of rye bread cost?")[0]
    assert {"rye", "bread"} <= {best.text[start:end].lower() for start, end in best.matches}


def outcomes(library: Library, k: int) -> set[str]:
    """What became of the candidates where MMR picks."""
    searched = library.retrieve("rye bread", k=k, mmr=True).trace.searched
    assert searched is not None
    return {one.outcome for one in searched.candidates}


def test_what_was_searched_is_told(library: Library) -> None:
    found = library.retrieve("rye bread", k=3)
    searched = found.trace.searched
    assert searched is not None
    assert searched.chunks == library.maintenance.status().chunks
    assert [one.chunk_id for one in searched.candidates if one.outcome == "passage"] == [
        hit.chunk_id for hit in found.hits
    ]
    assert {one.outcome for one in searched.candidates} == {"passage", "rank"}
    assert all(one.scores and one.title and one.page for one in searched.candidates)
    assert searched.mode == "hybrid"
    assert {"embed", "dense", "lexical", "fuse", "texts"} <= set(searched.latency_ms)
    assert {"passage", "mmr"} == outcomes(library, k=3)
    assert {"passage", "rank"} == outcomes(library, k=1), "nothing was passed over for a worse one"


def test_an_answer_keeps_what_was_searched(library: Library) -> None:
    answer = library.ask("What does a loaf of rye bread cost?")
    searched = answer.trace.searched
    assert searched is not None
    assert searched.candidates
    (kept,) = library.messages(answer.conversation)
    assert kept.answer is not None
    assert kept.answer.trace.searched == searched
    assert kept.answer.trace.confidence == answer.trace.confidence
    assert "citations" in kept.answer.trace.confidence


def test_k_can_exceed_fetch_k_and_what_there_is(library: Library) -> None:
    assert len(library.search("bread", k=25)) == 25
    assert len(library.search("bread", k=100)) == library.maintenance.status().chunks


def test_a_missing_dump_falls_back_and_is_said(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    before = places(library.search("rye bread"))
    scanner = library.storage.dumps._scanner
    monkeypatch.setattr(library.storage.dumps, "_profile", None)
    found = library.asking.find("rye bread", index="auto")
    assert places(list(found.hits)) == before
    assert found.trace.engine == "pgvector"
    assert any("dumps" in note for note in found.trace.notes)
    assert library.storage.dumps._scanner is scanner


def test_a_dump_of_other_texts_is_never_answered_from(library: Library) -> None:
    document = add_text(library, "extra.txt", "The harbour crane lifts forty tonnes and was built in Ghent.")
    hashes = np.zeros((1, 16), np.uint8)
    vectors, _ = library.storage.documents.vectors.of(document.id)
    profile = library.storage.documents.profile()
    assert profile is not None
    write_dump(library.storage.dumps.path(document.id), vectors, hashes, profile=profile.id)
    found = library.asking.find("How much does the harbour crane lift?", index="auto")
    assert found.trace.engine == "pgvector"
    assert any("did not fit" in note for note in found.trace.notes)
    assert found.hits[0].document.id == document.id
    healed = library.asking.find("How much does the harbour crane lift?", index="auto")
    assert healed.trace.engine == "dumps"
    assert not healed.trace.notes
    library.remove(document.id)


def test_chroma_that_lags_is_not_asked(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library.storage.log, "waiting", lambda name: Waiting(2))
    found = library.asking.find("rye bread", index="chroma")
    assert found.trace.engine == "dumps"
    assert any("Chroma lacks 2 documents" in note for note in found.trace.notes)


def test_the_langchain_retriever_gives_hits_and_a_trace(library: Library) -> None:
    retriever = LecternRetriever(find=lambda text: library.asking.find(text, index="auto"))
    documents = retriever.invoke("rye bread")
    assert tuple(d.metadata["hit"] for d in documents) == retriever.retrieval.hits
    assert [d.id for d in documents] == [hit.chunk_id for hit in library.search("rye bread", index="auto")]
    assert documents[0].page_content == documents[0].metadata["hit"].text
    assert retriever.retrieval.trace.engine == "dumps"
    assert set(retriever.retrieval.trace.latency_ms) == {"embed", "search"}
