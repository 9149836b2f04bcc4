"""A question to hits: rankers, fusion, re-rankers, then the best or maximal marginal relevance.

Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking", SIGIR 1998, with the seeds' k=6, fetch_k=20 and
lambda 0.5 as defaults.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from accelerator.mmr import maximal_marginal_relevance
from rag_core.domain import Hit, Searched, Trace
from rag_core.errors import StoreCorrupt, StoreUnavailable
from rag_core.retrieval.candidates import Candidates
from rag_core.retrieval.dense_indexes import all_unit
from rag_core.retrieval.fusion import fused
from rag_core.retrieval.hierarchy.coverage import drawn
from rag_core.retrieval.hits import considered, hit
from rag_core.retrieval.indexes import Indexes
from rag_core.retrieval.plan import Plan, planned
from rag_core.retrieval.query import Query
from rag_core.retrieval.rankers import RANKERS, Ranked, Sources
from rag_core.retrieval.reranking import RERANKERS
from rag_core.settings import RetrievalSettings

# Candidates that a trace tells of: it is kept with every answer.
_TOLD = 50


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The hits for a question, best first or in the order of MMR's picks, and how they were found."""

    hits: tuple[Hit, ...]
    trace: Trace


class Pipeline:
    """Searches some indexes. Thread-safe."""

    def __init__(self, indexes: Indexes) -> None:
        self._indexes = indexes

    def search(
        self, queries: Sequence[Query], settings: RetrievalSettings, *, embed_ms: float = 0.0
    ) -> list[Retrieval]:
        """The hits for each query; all have the same scope. One pass over the vectors where the index can.

        `embed_ms` is what making one vector took; the time of the search is shared among the queries. Where the chosen
        index cannot serve, another answers and the trace says so. Raises StoreUnavailable when none can.
        """
        if not queries:
            return []
        plan = planned(settings)
        notes: list[str] = []
        for sources in self._indexes.sources(plan.index, plan.scan, notes):
            try:
                return _Run(self._indexes, sources, plan, notes, embed_ms).retrieve(queries)
            except (StoreCorrupt, StoreUnavailable) as error:
                notes.append(f"The index {sources.index.name} could not answer: {error} Another was asked.")
        raise StoreUnavailable("No search index can answer. " + " ".join(notes))


class _Run:
    """One course through the stages with one index of vectors."""

    def __init__(self, indexes: Indexes, sources: Sources, plan: Plan, notes: list[str], embed_ms: float) -> None:
        self._indexes = indexes
        self._sources = sources
        self._plan = plan
        self._notes = list(notes)
        self._embed_ms = embed_ms

    def retrieve(self, queries: Sequence[Query]) -> list[Retrieval]:
        """Raises StoreCorrupt or StoreUnavailable when these sources cannot serve."""
        shared = _Stages({"embed": self._embed_ms})
        within = queries[0].within
        covered = self._indexes.size() if within is None else (len(within.rows), within.chunks)
        ranked = {} if covered[1] == 0 else self._ranked(queries, shared)
        shared.share(len(queries))
        return [
            self._one(query, {name: lists[number] for name, lists in ranked.items()}, covered, shared.copy())
            for number, query in enumerate(queries)
        ]

    def _ranked(self, queries: Sequence[Query], stages: _Stages) -> dict[str, list[Ranked]]:
        """What each ranker finds for each query."""
        names = [name for name in self._plan.rankers if RANKERS[name].available(self._sources)]
        if "scaler" in self._plan.rankers and "scaler" not in names:
            self._notes.append("The documents are not clustered yet; the hybrid search answered.")
        found: dict[str, list[Ranked]] = {}
        for name in names or ["dense"]:
            try:
                found[name] = RANKERS[name](self._sources).rank(queries, self._plan.fetch_k)
            except (StoreCorrupt, StoreUnavailable) as error:
                if name == "dense":
                    raise
                self._notes.append(f"The search by words could not answer: {error}")
            stages.lap(name)
        if not found and queries[0].vector is not None:
            found["dense"] = RANKERS["dense"](self._sources).rank(queries, self._plan.fetch_k)
        return found

    def _one(self, query: Query, ranked: Mapping[str, Ranked], covered: tuple[int, int], stages: _Stages) -> Retrieval:
        mode = "scaler" if "scaler" in ranked else "hybrid" if len(ranked) > 1 else next(iter(ranked), "")
        searched = Searched(mode, query.scope, query.understood, *covered)
        if not ranked:
            return self._retrieval(query, (), searched, stages)
        candidates = fused(query, ranked, self._sources.index)
        stages.lap("fuse")
        candidates = self._with_texts(candidates.take(list(range(min(len(candidates), self._plan.fetch_k)))))
        stages.lap("texts")
        candidates = self._drawn(query, self._reranked(query, candidates, stages), stages)
        picks = self._picked(query, candidates)
        stages.lap("pick")
        hits = tuple(hit(query, candidates, place) for place in picks)
        for one, place in zip(hits, picks, strict=True):
            self._sources.index.check((one.document.id, one.index), candidates.rows[place].md5)
        stages.lap("hits")
        outcomes = dict.fromkeys(picks, "passage")
        left_out = "rank" if self._plan.mmr_lambda is None else "mmr"
        told = [considered(candidates, place, outcomes.get(place, left_out)) for place in range(len(candidates))]
        return self._retrieval(query, hits, replace(searched, candidates=tuple(told[:_TOLD])), stages)

    def _with_texts(self, candidates: Candidates) -> Candidates:
        """What was removed meanwhile is left out."""
        rows = self._indexes.rows(candidates.refs) if candidates.refs else {}
        documents = self._indexes.documents({ref[0] for ref in rows})
        there = [place for place, ref in enumerate(candidates.refs) if ref in rows and ref[0] in documents]
        kept = candidates.take(there)
        return replace(kept, rows=[rows[ref] for ref in kept.refs], documents=documents)

    def _reranked(self, query: Query, candidates: Candidates, stages: _Stages) -> Candidates:
        for name in self._plan.rerankers:
            reranker = RERANKERS[name]()
            first = candidates.take(list(range(min(len(candidates), reranker.most))))
            candidates = first.scored(reranker.scores(query, first), "rerank", "rerank")
            stages.lap(name)
        return candidates

    def _drawn(self, query: Query, candidates: Candidates, stages: _Stages) -> Candidates:
        """In the order that the two levels give them, where the plan says so for such a question."""
        coverage = self._plan.coverage(query.understood.kind)
        if self._sources.hierarchy is None or coverage is None or query.vector is None:
            return candidates
        known = self._sources.hierarchy.known(query.vector, candidates.refs)
        score = drawn(candidates.score, known, coverage)
        candidates = candidates.scored(score, candidates.kind, "coverage")
        stages.lap("coverage")
        return candidates

    def _picked(self, query: Query, candidates: Candidates) -> list[int]:
        """Places of the hits among the candidates, in order."""
        k, mmr_lambda = self._plan.k, self._plan.mmr_lambda
        if mmr_lambda is None or candidates.vectors is None:
            return list(range(min(k, len(candidates))))
        by_cosine = candidates.kind == "cosine" and query.vector is not None
        vector = query.vector if query.vector is not None else np.zeros(candidates.vectors.shape[1], np.float32)
        return maximal_marginal_relevance(
            vector / max(float(np.linalg.norm(vector)), 1e-30), candidates.vectors, k, mmr_lambda,
            unit=all_unit(candidates.vectors), relevance=None if by_cosine else candidates.score,
        )  # fmt: skip

    def _retrieval(self, query: Query, hits: tuple[Hit, ...], searched: Searched, stages: _Stages) -> Retrieval:
        searched = replace(searched, latency_ms=stages.latency_ms)
        latency_ms = {"embed": self._embed_ms, "search": stages.total_ms}
        trace = Trace(
            engine=self._sources.index.name, query=query.text, latency_ms=latency_ms, notes=tuple(self._notes),
            searched=searched,
        )  # fmt: skip
        return Retrieval(hits, trace)


class _Stages:
    """Milliseconds by stage."""

    def __init__(self, latency_ms: Mapping[str, float], total_ms: float = 0.0) -> None:
        self.latency_ms = dict(latency_ms)
        self.total_ms = total_ms
        self._since = time.perf_counter()

    def lap(self, stage: str) -> None:
        """A stage ended now."""
        now = time.perf_counter()
        took = (now - self._since) * 1000
        self.latency_ms[stage] = round(self.latency_ms.get(stage, 0.0) + took, 3)
        self.total_ms += took
        self._since = now

    def share(self, count: int) -> None:
        """What was measured so far was done for so many questions at once."""
        self.latency_ms = {
            stage: took if stage == "embed" else round(took / count, 3) for stage, took in self.latency_ms.items()
        }
        self.total_ms /= count

    def copy(self) -> _Stages:
        """To go on with for one of the questions."""
        return _Stages(self.latency_ms, self.total_ms)
