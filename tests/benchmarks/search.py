"""Retrieval over a library: `python -m tests.benchmarks.search --chunks 10000`.

Prints one JSON object per mode and index: p50 and p95 in milliseconds from a question's vector to hits with their
texts, and with embedding the question. 200 different questions, each asked once.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from rag_core import Library
from rag_core.domain import Scope
from rag_core.retrieval import LibraryIndexes, Pipeline, Query
from tests.benchmarks.measure import emit, library_of, percentile, questions, timed_ms


def measure(library: Library, mode: str, index: str, count: int) -> None:
    """Ask all questions twice: with vectors made before, and from the words."""
    settings = library.settings.changed("retrieval", mode=mode, index=index).retrieval
    pipeline = Pipeline(LibraryIndexes(library._storage))
    asked = questions(count)
    vectors = {question: library._embedding.get().encode_query(question) for question in asked}

    def search(question: str) -> None:
        pipeline.search([Query.of(question, vectors[question], Scope(), None)], settings)

    for question in asked[:10]:
        search(question)
    without = [timed_ms(lambda q=q: search(q)) for q in asked]
    whole = [timed_ms(lambda q=q: library.search(q, mode=mode, index=index)) for q in asked]
    emit(
        benchmark="search", mode=mode, index=index, chunks=library.status().chunks, questions=count,
        p50_ms=round(percentile(without, 0.5), 2), p95_ms=round(percentile(without, 0.95), 2),
        p50_with_embedding_ms=round(percentile(whole, 0.5), 2), p95_with_embedding_ms=round(percentile(whole, 0.95), 2),
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--modes", nargs="+", default=["hybrid", "dense", "lexical"])
    parser.add_argument("--indexes", nargs="+", default=["dumps", "pgvector", "chroma"])
    parser.add_argument("--library", type=Path, help="keep the library in this folder for another run")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder,
        library_of(options.chunks, options.library or Path(folder)) as library,
    ):
        for mode in options.modes:
            for index in options.indexes if mode == "dense" else ["dumps"]:
                measure(library, mode, index, options.questions)


if __name__ == "__main__":
    main()
