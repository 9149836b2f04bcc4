"""A question to hits: rankers, fusion, re-rankers, then the best or maximal marginal relevance.

MMR: Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking", SIGIR 1998.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rag_core.domain import Considered, Hit, Retrieval, Searched, Trace
from rag_core.errors import StoreCorrupt, StoreUnavailable
from rag_core.retrieval.amounts import with_amounts
from rag_core.retrieval.candidates import Candidates
from rag_core.retrieval.fusion import fused
from rag_core.retrieval.hits import allowed, considered, hit
from rag_core.retrieval.indexes import Indexes
from rag_core.retrieval.list_questions import left_out, lists_references
from rag_core.retrieval.near_duplicates import folded
from rag_core.retrieval.neighbours import surrounded
from rag_core.retrieval.plan import Plan, planned
from rag_core.retrieval.query import Query
from rag_core.retrieval.rankers import MODES, RANKERS, Ranked, Sources
from rag_core.retrieval.reranking import Rerankers
from rag_core.retrieval.selection import picked, wanted
from rag_core.retrieval.unindexed import caught_up
from rag_core.settings import RetrievalSettings
from rag_core.storage.indexes.dense import Within

# Candidates that a trace tells of: it is kept with every answer.
_TOLD = 50
# Documents that a question may mean are searched by themselves when they are so sure, and there are more than these.
_SURE, _FEW = 0.6, 3
_MEANT = 5
# So many documents the index of words takes in seconds; meanwhile those that are near by their vectors are compared.
_TELL = 100
# Near-duplicates are looked for among so many times the hits.
_FOLDED = 4


class Pipeline:
    """Searches some `indexes`. Thread-safe. rerankers: None for the automatic ones alone."""

    def __init__(self, indexes: Indexes, rerankers: Rerankers | None = None) -> None:
        self.indexes = indexes
        self._rerankers = rerankers or Rerankers()

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
        # What an index has yet to take may be of others, of whom who is sealed off learns nothing.
        of_indexes = [] if queries[0].scope.sealed else notes
        for sources in self.indexes.sources(plan.index, plan.scan, of_indexes):
            try:
                return _Run(self.indexes, self._rerankers, sources, plan, notes, embed_ms).retrieve(queries)
            except (StoreCorrupt, StoreUnavailable) as error:
                notes.append(f"The index {sources.index.name} could not answer: {error} Another was asked.")
        raise StoreUnavailable("No search index can answer. " + " ".join(notes))


class _Run:
    """One course through the stages with one index of vectors."""

    def __init__(
        self, indexes: Indexes, rerankers: Rerankers, sources: Sources, plan: Plan, notes: list[str], embed_ms: float
    ) -> None:
        self._indexes = indexes
        self._rerankers = rerankers
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
        if self._plan.by_clusters and not self._plan.by_clusters & set(names):
            self._notes.append("The documents are not clustered yet; the hybrid search answered.")
            names = [name for name in MODES["hybrid"] if RANKERS[name].available(self._sources)]
        waiting = len(self._sources.waiting)
        sealed = any(query.scope.sealed for query in queries)  # whoever asks knows of no others
        if "lexical" in names and waiting > (_TELL if "dense" in names else 0) and not sealed:
            self._notes.append(f"The lexical index has yet to take {waiting} of the documents.")
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
        mode = "clusters" if "clusters" in ranked else "hybrid" if len(ranked) > 1 else next(iter(ranked), "")
        expansion = "".join(some.expansion for some in ranked.values())  # one ranker's at most
        self._notes += [some.note for some in ranked.values() if some.note]
        searched = Searched(mode, query.scope, query.understood, *covered, expansion=expansion)
        if not ranked:
            return self._retrieval(query, (), searched, stages)
        ranked = caught_up(query, self._widened(query, ranked, covered[0]), self._sources, self._indexes)
        candidates = fused(query, ranked, self._sources.index, self._plan.fusion)
        stages.lap("fuse")
        candidates = self._with_texts(query, candidates.take(list(range(min(len(candidates), self._plan.fetch_k)))))
        stages.lap("texts")
        candidates = self._reranked(query, candidates, stages)
        standing, similar = folded(candidates, _FOLDED * self._plan.k)
        stages.lap("fold")
        k = wanted(query.understood.kind, self._plan.k) if self._plan.k_by_kind else self._plan.k
        places = [standing[at] for at in picked(query, candidates.take(standing), k, self._plan.mmr_lambda)]
        stages.lap("pick")
        called = self._indexes.called(query.text, {candidates.refs[place][0] for place in places})
        hits = tuple(
            hit(query, candidates, place, similar.get(place, 0), called.get(candidates.refs[place][0], ()))
            for place in places
        )
        for one, place in zip(hits, places, strict=True):
            self._sources.index.check((one.document.id, one.index), candidates.rows[place].md5)
        if self._plan.mmr_lambda is not None:  # passages for an answer
            hits = surrounded(query, with_amounts(hits, self._indexes), self._plan.neighbours, self._indexes)
        told = self._told(candidates, set(places), set(standing))
        stages.lap("hits")
        return self._retrieval(query, hits, replace(searched, candidates=told), stages)

    def _widened(self, query: Query, ranked: Mapping[str, Ranked], documents: int) -> Mapping[str, Ranked]:
        """With the best of the documents that a question means, which may lie deep in a large library's lists."""
        within = _meant(query)
        if within is None or documents <= _FEW or "scaler" in ranked:  # which looks nowhere but in its clusters
            return ranked
        inner = replace(query, within=within)
        found = dict(ranked)
        for name, some in ranked.items():
            (more,) = RANKERS[name](self._sources).rank([inner], self._plan.fetch_k // 2)
            found[name] = some.joined(more)
        return found

    def _told(self, candidates: Candidates, picks: set[int], standing: set[int]) -> tuple[Considered, ...]:
        """What became of the first candidates. MMR left out those before the last that it picked."""
        mmr_until = max(picks, default=0) if self._plan.mmr_lambda is not None else 0

        def outcome(place: int) -> str:
            if place in picks:
                return "passage"
            if place not in standing:
                return "similar"
            return "mmr" if place < mmr_until else "rank"

        return tuple(considered(candidates, place, outcome(place)) for place in range(min(len(candidates), _TOLD)))

    def _with_texts(self, query: Query, candidates: Candidates) -> Candidates:
        """What was removed meanwhile is left out, and what a question's phrases and excluded words rule out."""
        rows = self._indexes.rows(candidates.refs) if candidates.refs else {}
        documents = self._indexes.documents({ref[0] for ref in rows})
        there = [place for place, ref in enumerate(candidates.refs) if ref in rows and ref[0] in documents]
        kept = candidates.take(there)
        known = replace(kept, rows=[rows[ref] for ref in kept.refs], documents=documents)
        if self._plan.mmr_lambda is not None:  # passages for an answer
            known = self._without_listings(query, known)
        if not (query.understood.phrases or query.understood.excluded):
            return known
        fitting = [place for place in range(len(known)) if allowed(query, known, place)]
        if not fitting and self._plan.nearest_instead:
            self._notes.append("Nothing has the quoted words together without the excluded ones; the nearest is shown.")
            return known
        return known.take(fitting)

    def _without_listings(self, query: Query, candidates: Candidates) -> Candidates:
        kept = [place for place, row in enumerate(candidates.rows) if not left_out(query, row.section, row.text)]
        gone = set(range(len(candidates))) - set(kept)
        # Further down it would have been no passage anyway.
        near = [candidates.rows[place] for place in gone if place < self._plan.k]
        if any(lists_references(row.section, row.text) for row in near):
            self._notes.append("Lists of references were left out; a question that asks for references has them.")
        return candidates.take(kept)

    def _reranked(self, query: Query, candidates: Candidates, stages: _Stages) -> Candidates:
        if candidates.kind != "fused":  # their weights are of fused scores
            return candidates
        return self._rerankers.reranked(query, candidates, self._plan.rerank, self._notes, stages.lap)

    def _retrieval(self, query: Query, hits: tuple[Hit, ...], searched: Searched, stages: _Stages) -> Retrieval:
        searched = replace(searched, latency_ms=stages.latency_ms)
        latency_ms = {"embed": self._embed_ms, "search": stages.total_ms}
        trace = Trace(
            engine=self._sources.index.name, query=query.text, latency_ms=latency_ms, notes=tuple(self._notes),
            searched=searched,
        )  # fmt: skip
        return Retrieval(hits, trace)


def _meant(query: Query) -> Within | None:
    """The documents that a question surely means, or sets side by side, within its scope."""
    surest = max(query.understood.documents.values(), default=0.0)
    sure = [key for key, surely in query.understood.documents.items() if surely >= _SURE * max(surest, _SURE)]
    named = [key for side in query.sides for key in sorted(side)[:_MEANT]]
    rows = {
        key: None if query.within is None else query.within.rows[key]
        for key in dict.fromkeys([*sure[:_MEANT], *named])
        if query.within is None or key in query.within.rows
    }
    return Within(rows, 0) if rows else None


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
