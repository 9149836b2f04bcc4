"""Summaries: within their length, in the document's order, something of every cluster, nothing twice."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rag_core.errors import ModelUnavailable
from rag_core.retrieval.hierarchy.clustering import Clusters, cluster, unit
from rag_core.retrieval.hierarchy.naming import count_words, weigh
from rag_core.retrieval.hierarchy.summaries import LEAST_TOKENS, MOST_TOKENS, ChunkText, Summary, Write, summarise

SUBJECTS = ("harbour", "orchard", "library", "furnace")


def document(chunks_each: int) -> tuple[list[ChunkText], np.ndarray]:
    """Chunks about one subject after the other, and their vectors."""
    chance = np.random.default_rng(0)
    middles = unit(chance.standard_normal((len(SUBJECTS), 24)).astype(np.float32))
    chunks, vectors = [], []
    for number, subject in enumerate(SUBJECTS):
        for part in range(chunks_each):
            lines = [
                f"Sentence {number}-{part}-{line} says something of the {subject} and its keepers." for line in range(8)
            ]
            chunks.append(ChunkText(" ".join(lines), 8 * 18))
            vectors.append(middles[number] + 0.05 * chance.standard_normal(24))
    return chunks, unit(np.array(vectors, dtype=np.float32))


def summary_of(chunks: list[ChunkText], vectors: np.ndarray, write: Write | None = None) -> Summary:
    clusters: Clusters = cluster(vectors)
    classes = [count_words(chunks[row].text for row in rows) for rows in clusters.members]
    return summarise(chunks, vectors, clusters, weigh(classes), write)


def tokens(text: str) -> float:
    return 18 * text.count("Sentence")


def test_a_long_document_is_summarised_within_its_length() -> None:
    summary = summary_of(*document(20))
    assert LEAST_TOKENS <= tokens(summary.text) <= MOST_TOKENS
    assert not summary.written


def test_every_subject_has_its_share() -> None:
    text = summary_of(*document(20)).text
    counts = [text.count(subject) for subject in SUBJECTS]
    assert min(counts) >= 0.5 * max(counts)


def test_sentences_stand_in_the_documents_order() -> None:
    lines = summary_of(*document(20)).text.splitlines()
    places = [tuple(map(int, line.split()[1].split("-"))) for line in lines]
    assert all(before < after for before, after in pairwise(places))


def test_a_short_document_is_its_own_summary() -> None:
    chunks, vectors = document(2)
    assert tokens(summary_of(chunks, vectors).text) == 18 * 8 * 8


def test_what_overlapping_chunks_share_stands_once() -> None:
    chunks, vectors = document(1)
    doubled = summary_of([*chunks, *chunks], np.concatenate([vectors, vectors]))
    lines = doubled.text.splitlines()
    assert len(lines) == len(set(lines)) == 32


def test_the_vector_is_that_of_the_chunks_taken() -> None:
    chunks, vectors = document(20)
    summary = summary_of(chunks, vectors)
    assert np.isclose(np.linalg.norm(summary.vector), 1, atol=1e-5)
    assert float(summary.vector @ unit(vectors.mean(axis=0))) > 0.95


def test_a_model_writes_from_the_extract() -> None:
    given = []
    own = unit(np.ones(24, dtype=np.float32))

    def write(extract: str) -> tuple[str, np.ndarray]:
        given.append(extract)
        return " All of it, in short. ", own

    summary = summary_of(*document(20), write)
    assert summary.text == "All of it, in short."
    assert summary.written
    assert summary.vector is own
    assert LEAST_TOKENS <= tokens(given[0]) <= MOST_TOKENS


def test_a_model_that_fails_leaves_the_extract() -> None:
    def write(extract: str) -> tuple[str, np.ndarray]:
        raise ModelUnavailable("It is not there.")

    summary = summary_of(*document(5), write)
    assert "harbour" in summary.text
    assert not summary.written


def test_a_model_that_writes_nothing_leaves_the_extract() -> None:
    chunks, vectors = document(5)
    summary = summary_of(chunks, vectors, lambda extract: ("  ", unit(np.ones(24, dtype=np.float32))))
    assert summary.text == summary_of(chunks, vectors).text
    assert (summary.written, float(summary.vector @ unit(vectors.mean(axis=0))) > 0.95) == (False, True)


def test_a_document_without_sentences_has_a_summary_all_the_same() -> None:
    chunks = [ChunkText("", 0), ChunkText("12 | 13", 4)]
    summary = summary_of(chunks, unit(np.ones((2, 8), dtype=np.float32)))
    assert np.isfinite(summary.vector).all()
