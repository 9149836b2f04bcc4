"""A question to hits: candidates from an engine, thinned by maximal marginal relevance.

Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking", SIGIR 1998, with the seeds' k=6, fetch_k=20 and
lambda 0.5 as defaults.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accelerator.mmr import maximal_marginal_relevance
from rag_core.domain import Chunk, Document, Hit, Trace
from rag_core.errors import StoreCorrupt, StoreUnavailable
from rag_core.retrieval.candidates import ENGINES, Candidates
from rag_core.settings import RetrievalSettings
from rag_core.storage import Storage

Encode = Callable[[str], NDArray[np.float32]]
Pick = tuple[str, int, float]
"""Document id and index of a chunk, and its cosine."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The hits for a question, in the order of MMR's picks, and how they were found."""

    hits: tuple[Hit, ...]
    trace: Trace


def search(storage: Storage, encode: Encode, question: str, settings: RetrievalSettings) -> Retrieval:
    """Find the chunks that answer a question. `encode` makes its vector, float32 (d,).

    Where the chosen engine cannot serve, another answers and the trace says so. Raises StoreUnavailable when none can.
    """
    started = time.perf_counter()
    query = encode(question)
    embed_ms = (time.perf_counter() - started) * 1000
    return search_many(storage, query[np.newaxis], [question], settings, embed_ms=embed_ms)[0]


def search_many(
    storage: Storage,
    queries: NDArray[np.float32],
    questions: Sequence[str],
    settings: RetrievalSettings,
    *,
    embed_ms: float = 0.0,
) -> list[Retrieval]:
    """The same for many questions with their vectors, float32 (m, d), in one pass where the engine can.

    `embed_ms` is what making one vector took; the time of the search is shared among the questions.
    """
    started = time.perf_counter()
    engine, found, notes = _first_answer(storage, queries, settings)
    search_ms = (time.perf_counter() - started) * 1000 / max(1, len(questions))
    latency_ms = {"embed": embed_ms, "search": search_ms}
    return [
        Retrieval(hits, Trace(engine=engine, query=question, latency_ms=latency_ms, notes=tuple(notes)))
        for question, hits in zip(questions, found, strict=True)
    ]


def _first_answer(
    storage: Storage, queries: NDArray[np.float32], settings: RetrievalSettings
) -> tuple[str, list[tuple[Hit, ...]], list[str]]:
    """What the first engine that can serve finds: its name, the hits, and what is to be said of the others."""
    notes: list[str] = []
    for name in _order(storage, settings.engine, notes):
        try:
            engine = ENGINES[name](storage, settings.mode)
            if len(queries) == 1:
                candidates = [engine.nearest(queries[0], settings.fetch_k)]
            else:
                candidates = engine.nearest_many(queries, settings.fetch_k)
            picks = [diverse(query, found, settings) for query, found in zip(queries, candidates, strict=True)]
            return name, _hits(storage, picks, name), notes
        except (StoreCorrupt, StoreUnavailable) as error:
            notes.append(f"The engine {name} could not answer: {error} Another was asked.")
    raise StoreUnavailable("No search engine can answer. " + " ".join(notes))


def _order(storage: Storage, wanted: str, notes: list[str]) -> list[str]:
    """The engines to ask, one after the other."""
    names = ["dumps", "pgvector"] if wanted == "auto" else list(dict.fromkeys([wanted, "dumps", "pgvector"]))
    waiting = storage.behind_in_chroma() if names[0] == "chroma" else 0
    if waiting:
        notes.append(f"Chroma lacks {waiting} documents still; the dumps answered.")
        names.remove("chroma")
    return names


def diverse(query: NDArray[np.float32], found: Candidates, settings: RetrievalSettings) -> list[Pick]:
    """Document id, index and cosine of MMR's picks."""
    picks = maximal_marginal_relevance(
        query / np.linalg.norm(query), found.vectors, settings.k, settings.mmr_lambda, unit=found.unit
    )
    return [(*found.places[pick], float(found.scores[pick])) for pick in picks]


def _hits(storage: Storage, picks: Sequence[Sequence[Pick]], engine: str) -> list[tuple[Hit, ...]]:
    """Picks of each question with their texts; what was removed meanwhile is left out. Raises StoreCorrupt."""
    places = list(dict.fromkeys(pick[:2] for some in picks for pick in some))
    documents = storage.documents.ready({document_id for document_id, _ in places})
    chunks = storage.documents.chunks_at(places)
    if engine == "dumps":
        for (document_id, index), (chunk, _) in chunks.items():
            _check_position(storage, document_id, index, chunk.md5)
    return [
        tuple(
            _hit(documents[document_id], *chunks[document_id, index], score)
            for document_id, index, score in some
            if document_id in documents and (document_id, index) in chunks
        )
        for some in picks
    ]


def _hit(document: Document, chunk: Chunk, label: str, score: float) -> Hit:
    return Hit(
        chunk_id=f"{chunk.document_id}:{chunk.index}", document=document, index=chunk.index, page=chunk.page,
        page_label=label, section=chunk.section, text=chunk.text, start=chunk.start, end=chunk.end,
        boxes=chunk.boxes, score=score,
    )  # fmt: skip


def _check_position(storage: Storage, document_id: str, index: int, md5: str) -> None:
    """Position binds: row i of a dump is chunk i. One that says otherwise is written anew and not answered from."""
    if storage.dumps.md5(document_id, index) != md5:
        storage.mend_dump(document_id)
        raise StoreCorrupt(f"The dump of {document_id} did not fit its texts and was written anew.")
