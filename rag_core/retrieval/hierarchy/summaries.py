"""Summaries of documents: extracted without a model, or written by one from the extract.

An extract has sentences from every cluster of the document's chunks, the more the larger the cluster: those of the
chunks nearest to its centroid (Radev et al., "Centroid-based summarization of multiple documents", 2004), and of their
sentences those that hold most of the words that name the cluster. Nothing is embedded for it; what a model wrote is.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.errors import LecternError
from rag_core.retrieval.hierarchy.clustering import Clusters, unit
from rag_core.retrieval.hierarchy.reducing import Floats
from rag_core.text.sentences import Span, split_sentences
from rag_core.text.stems import stem
from rag_core.text.tokens import words

LEAST_TOKENS = 1_000
MOST_TOKENS = 2_000

_log = logging.getLogger(__name__)
_FROM_A_CHUNK = 3
_TELLING, _TOLD_CHARS = 3, 600  # sentences that tell of a cluster, and how long they are together
_CHARS_PER_TOKEN = 4  # where a chunk's tokens were not counted

Write = Callable[[str], tuple[str, Floats]]
"""A model that turns an extract into a summary, and its vector, float32 (d,), of unit length; any where it wrote none.
Raises LecternError where it cannot."""


@dataclass(frozen=True, slots=True)
class ChunkText:
    """A chunk's text and how many tokens it has."""

    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary, its vector, float32 (d,), of unit length, and whether a model wrote it: of what a model wrote its own,
    of an extract the mean of the chunks' that it was taken from."""

    text: str
    vector: Floats
    written: bool = False


@dataclass(frozen=True, slots=True)
class _Sentence:
    chunk: int
    start: int
    text: str
    tokens: float


def summarise(
    chunks: Sequence[ChunkText],
    vectors: Floats,
    clusters: Clusters,
    terms: Sequence[Mapping[str, float]],
    write: Write | None = None,
) -> Summary:
    """A summary of 1,000 to 2,000 tokens; a document of no more is its own.

    vectors: float32 (n, d) of the chunks, in order. terms: for each cluster the weights of its stems. Where `write`
    fails the extract is kept.
    """
    chosen = _extract(chunks, vectors, clusters, terms)
    text = "\n".join(sentence.text for sentence in sorted(chosen, key=lambda one: (one.chunk, one.start)))
    if write is not None:
        try:
            written, vector = write(text)
            if written.strip():
                return Summary(written.strip(), vector, written=True)
        except LecternError as error:
            _log.warning("A summary could not be written, an extract is kept: %s", error)
    return Summary(text, _mean(chosen, vectors))


def tell_clusters(
    chunks: Sequence[ChunkText], vectors: Floats, clusters: Clusters, terms: Sequence[Mapping[str, float]]
) -> list[str]:
    """For each cluster the sentences that tell most of it, of the chunks nearest to its centroid."""
    told: list[list[str]] = [[] for _ in clusters.members]
    for cluster, rows in enumerate(clusters.members):
        nearest = rows[np.argsort(-(vectors[rows] @ clusters.centroids[cluster]), kind="stable")[:_TELLING]]
        for row in nearest:
            told[cluster] += [one.text for one in _best(int(row), chunks[row], terms[cluster], 1)]
    return [" ".join(dict.fromkeys(sentences))[:_TOLD_CHARS] for sentences in told]


def _extract(
    chunks: Sequence[ChunkText], vectors: Floats, clusters: Clusters, terms: Sequence[Mapping[str, float]]
) -> list[_Sentence]:
    """Sentences until the extract is long enough; nothing twice, since chunks overlap."""
    total = sum(_tokens(chunk) for chunk in chunks)
    wanted = MOST_TOKENS if total <= MOST_TOKENS else (LEAST_TOKENS + MOST_TOKENS) // 2
    share = math.inf if total <= MOST_TOKENS else _FROM_A_CHUNK
    chosen: list[_Sentence] = []
    seen: set[str] = set()
    used = 0.0
    for number, cluster in in_turn(vectors, clusters):
        for sentence in _best(number, chunks[number], terms[cluster], share):
            if sentence.text in seen or used + sentence.tokens > MOST_TOKENS:
                continue
            seen.add(sentence.text)
            chosen.append(sentence)
            used += sentence.tokens
        if used >= wanted:
            break
    return chosen


def in_turn(vectors: Floats, clusters: Clusters) -> Iterator[tuple[int, int]]:
    """Chunks with their clusters, nearest to the centroid first, each cluster's turns in proportion to its size."""
    queues: list[tuple[float, int, int]] = []
    taken: set[int] = set()
    for cluster, (rows, weights) in enumerate(zip(clusters.members, clusters.weights, strict=True)):
        nearness = (vectors[rows] @ clusters.centroids[cluster]) * weights
        order = np.argsort(-nearness, kind="stable")
        queues += [((place + 0.5) / len(rows), cluster, int(rows[row])) for place, row in enumerate(order)]
    # A cluster's first is due before any second, whatever the sizes.
    first = {cluster: min(due for due, other, _ in queues if other == cluster) for cluster in range(len(clusters))}
    for _, cluster, number in sorted(queues, key=lambda one: (one[0] != first[one[1]], one[0], one[1])):
        if number not in taken:
            taken.add(number)
            yield number, cluster


def _best(number: int, chunk: ChunkText, weights: Mapping[str, float], most: float) -> list[_Sentence]:
    """A chunk's sentences that hold most of a cluster's terms; whatever it has where it has no sentences."""
    spans = split_sentences(chunk.text)
    whole = [span for span in spans if span.kind in ("sentence", "row")] or spans
    ranked = sorted(whole, key=lambda span: (-_weight(span, weights), span.start))
    kept = ranked if most == math.inf else ranked[: int(most)]
    share = _tokens(chunk) / max(1, len(chunk.text))
    return [_Sentence(number, span.start, span.text, share * (span.end - span.start)) for span in kept]


def _weight(span: Span, weights: Mapping[str, float]) -> float:
    """Of the terms in a sentence, each once; divided by the root of its length, or the longest would always win."""
    held: Collection[str] = {stem(word) for word in words(span.text)}
    return sum(weights.get(term, 0.0) for term in held) / math.sqrt(max(8, len(held)))


def _tokens(chunk: ChunkText) -> float:
    return chunk.tokens or len(chunk.text) / _CHARS_PER_TOKEN


def _mean(chosen: Sequence[_Sentence], vectors: Floats) -> Floats:
    """Of the chosen sentences' chunks, each by its share of the extract; of all without any."""
    weights = np.zeros(len(vectors), dtype=np.float32)
    for sentence in chosen:
        weights[sentence.chunk] += sentence.tokens
    if not weights.any():
        weights[:] = 1
    return unit(weights @ vectors)
