"""What several searches found: passages by number, which search found which, and the best of all of them together."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rag_core.answering.encoding import Encoder
from rag_core.answering.question import Search
from rag_core.answering.strategies.candidates import gather
from rag_core.answering.strategies.composing import scored
from rag_core.answering.strategies.extractive import believed
from rag_core.answering.strategies.query_intent import QueryIntent
from rag_core.domain import Considered, Hit, Trace
from rag_core.retrieval import Retrieval

TokenVectors = tuple[NDArray[np.float32], NDArray[np.int64]]

MORE = 2
"""So many passages beyond those of one search go into an agent's answer."""
_MORE_EACH = 2  # times as many passages as one search finds go into an answer to several questions, at most
_TAKEN = "passage"  # what became of a candidate that was handed on


class Notebook:
    """Passages of several searches. Thread-safe."""

    def __init__(self, search: Search, encoder: Encoder) -> None:
        self._search = search
        self._encode_tokens = encoder.tokens
        self._encoder = Encoder(self._encode, encoder.read)
        self._encoded: dict[str, TokenVectors] = {}
        self._lock = threading.RLock()
        self._hits: dict[str, Hit] = {}
        self._found: dict[str, Retrieval] = {}
        self._meant: dict[str, float] = {}

    def __len__(self) -> int:
        """How many passages are kept."""
        return len(self._hits)

    @property
    def searches(self) -> tuple[str, ...]:
        """What was searched for, in order."""
        return tuple(self._found)

    @property
    def trace(self) -> Trace:
        """That of the first search, with what any of them noted, considered and was taken to mean."""
        traces = [found.trace for found in self._found.values()] or [Trace()]
        notes = tuple(dict.fromkeys(note for trace in traces for note in trace.notes))
        searched = [trace.searched for trace in traces if trace.searched is not None]
        if not searched:
            return replace(traces[0], notes=notes)
        considered: dict[str, Considered] = {}
        for one in sorted((one for some in searched for one in some.candidates), key=lambda one: one.outcome != _TAKEN):
            considered.setdefault(one.chunk_id, one)
        understood = replace(searched[0].understood, documents=self._meant)
        told = replace(searched[0], understood=understood, candidates=tuple(considered.values()))
        return replace(traces[0], notes=notes, searched=told)

    def search(self, query: str) -> tuple[tuple[Hit, ...], int]:
        """The hits for a query, and how many of them are new. Raises whatever the search raises."""
        with self._lock:
            found = self._found[query] = self._search(query)
            if found.trace.searched is not None:
                for key, surely in found.trace.searched.understood.documents.items():
                    self._meant[key] = max(surely, self._meant.get(key, 0.0))
            return found.hits, self.add(found.hits)

    def add(self, hits: Sequence[Hit]) -> int:
        """Keep passages; returns how many are new."""
        with self._lock:
            before = len(self._hits)
            for hit in hits:
                self._hits.setdefault(hit.chunk_id, hit)
            return len(self._hits) - before

    def passage(self, number: int) -> Hit | None:
        """The passage of a number, from 1 on."""
        every = list(self._hits.values())
        return every[number - 1] if 1 <= number <= len(every) else None

    def number(self, hit: Hit) -> int:
        """The number of a passage that is kept."""
        return list(self._hits).index(hit.chunk_id) + 1

    def of(self, question: str) -> list[Hit]:
        """All passages, those that the search for a question found first."""
        every = (*self.found(question).hits, *self._hits.values())
        return list({hit.chunk_id: hit for hit in every}.values())

    def answers(self, question: str) -> bool:
        """Whether the passages answer a question surely enough."""
        return believed(question, self.of(question), self._encoder, QueryIntent.of(Retrieval((), self.trace))).enough

    def best(self, questions: Sequence[str]) -> tuple[Hit, ...]:
        """The passages that go into an answer: all of them ranked anew for each question, the best of each in turn.

        What a later search found takes the place of what was found before and fits less.
        """
        most = max((len(found.hits) for found in self._found.values()), default=0) + MORE
        return _in_turn([self._ranked(question) for question in questions])[:most]

    def found(self, question: str) -> Retrieval:
        """What the search for a question found."""
        return self._found.get(question) or Retrieval((), self.trace)

    def each(self) -> tuple[Hit, ...]:
        """What every search found, the first of each, then the second of each, and so on."""
        most = _MORE_EACH * max((len(found.hits) for found in self._found.values()), default=0)
        return _in_turn([found.hits for found in self._found.values()])[:most]

    def handed(self, query: str, hits: tuple[Hit, ...], parts: Mapping[str, Sequence[Hit]]) -> Retrieval:
        """Passages that answer a query, and those among them that were found for each part of it."""
        ids = {hit.chunk_id for hit in hits}
        found = {
            part: replace(self.found(part), hits=tuple(hit for hit in some if hit.chunk_id in ids))
            for part, some in parts.items()
        }
        return Retrieval(hits, replace(self.trace, query=query), found)

    def _ranked(self, question: str) -> list[Hit]:
        """All passages by the best that any sentence or row of them says to a question."""
        hits = self.of(question)
        evidence = gather(question, hits, self._encoder, self._meant)
        if evidence is None:
            return hits
        best: dict[str, float] = {}
        for unit, score in zip(evidence.units, scored(evidence), strict=True):
            key = unit.quote.hit.chunk_id
            best[key] = max(float(score), best.get(key, -np.inf))
        return sorted(hits, key=lambda hit: -best.get(hit.chunk_id, -np.inf))

    def _encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Token vectors; a text that is looked at for several questions is encoded once."""
        new = [text for text in dict.fromkeys(texts) if text not in self._encoded]
        if new:
            self._encoded.update(zip(new, self._encode_tokens(new), strict=True))
        return [self._encoded[text] for text in texts]


def _in_turn(lists: Sequence[Sequence[Hit]]) -> tuple[Hit, ...]:
    """The first of each list, then the second of each, and so on, without repetitions."""
    deepest = max(map(len, lists), default=0)
    ordered = [one[place] for place in range(deepest) for one in lists if place < len(one)]
    return tuple({hit.chunk_id: hit for hit in ordered}.values())
