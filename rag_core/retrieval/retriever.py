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
from rag_core.domain import Hit, Trace
from rag_core.errors import StoreCorrupt, StoreUnavailable
from rag_core.retrieval.candidates import ENGINES, Candidates
from rag_core.settings import RetrievalSettings
from rag_core.storage import Storage

Encode = Callable[[str], NDArray[np.float32]]


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
    embedded = time.perf_counter()
    engine, hits, notes = _first_answer(storage, query, settings)
    found = time.perf_counter()
    trace = Trace(
        engine=engine,
        query=question,
        latency_ms={"embed": (embedded - started) * 1000, "search": (found - embedded) * 1000},
        notes=tuple(notes),
    )
    return Retrieval(hits, trace)


def _first_answer(
    storage: Storage, query: NDArray[np.float32], settings: RetrievalSettings
) -> tuple[str, tuple[Hit, ...], list[str]]:
    """What the first engine that can serve finds: its name, the hits, and what is to be said of the others."""
    notes: list[str] = []
    for name in _order(storage, settings.engine, notes):
        try:
            candidates = ENGINES[name](storage, settings.mode).nearest(query, settings.fetch_k)
            return name, _hits(storage, _diverse(query, candidates, settings), name), notes
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


def _diverse(
    query: NDArray[np.float32], found: Candidates, settings: RetrievalSettings
) -> list[tuple[str, int, float]]:
    """Document id, index and cosine of MMR's picks."""
    picks = maximal_marginal_relevance(query, found.vectors, settings.k, settings.mmr_lambda)
    return [(*found.places[pick], float(found.scores[pick])) for pick in picks]


def _hits(storage: Storage, picks: Sequence[tuple[str, int, float]], engine: str) -> tuple[Hit, ...]:
    """Picks with their texts; what was removed meanwhile is left out. Raises StoreCorrupt."""
    documents = storage.documents.ready({document_id for document_id, _, _ in picks})
    chunks = storage.documents.chunks_at([(document_id, index) for document_id, index, _ in picks])
    hits = []
    for document_id, index, score in picks:
        found = chunks.get((document_id, index))
        document = documents.get(document_id)
        if found is None or document is None:
            continue
        chunk, label = found
        if engine == "dumps":
            _check_position(storage, document_id, index, chunk.md5)
        hits.append(
            Hit(
                chunk_id=f"{chunk.document_id}:{chunk.index}", document=document, index=chunk.index, page=chunk.page,
                page_label=label, section=chunk.section, text=chunk.text, start=chunk.start, end=chunk.end,
                boxes=chunk.boxes, score=score,
            )
        )  # fmt: skip
    return tuple(hits)


def _check_position(storage: Storage, document_id: str, index: int, md5: str) -> None:
    """Position binds: row i of a dump is chunk i. One that says otherwise is written anew and not answered from."""
    if storage.dumps.md5(document_id, index) != md5:
        storage.mend_dump(document_id)
        raise StoreCorrupt(f"The dump of {document_id} did not fit its texts and was written anew.")
