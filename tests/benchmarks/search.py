"""Retrieval over a library: `python -m tests.benchmarks.search --chunks 10000`.

Prints one JSON object per mode and index: p50 and p95 in milliseconds from a question to hits with their texts, without
embedding the question and with it. 200 different questions, each asked once, when the documents are clustered: while
that goes on in the background, after they were added, a search takes several times as long.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from rag_core import Library
from tests.benchmarks.measure import emit, library_of, percentile, questions


def measure(library: Library, mode: str, index: str, count: int) -> None:
    """Ask all questions; what embedding each took is told by its trace."""
    asked = questions(count)
    for question in asked[:10]:
        library.search(question, mode=mode, index=index)
    whole, without = [], []
    for question in asked:
        began = time.perf_counter()
        found = library.retrieve(question, mode=mode, index=index)
        whole.append((time.perf_counter() - began) * 1000)
        without.append(whole[-1] - found.trace.latency_ms["embed"])
    emit(
        benchmark="search", mode=mode, index=index, chunks=library.maintenance.status().chunks, questions=count,
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
        for _ in library.clusters.update():
            pass
        for mode in options.modes:
            for index in options.indexes if mode == "dense" else ["dumps"]:
                measure(library, mode, index, options.questions)


if __name__ == "__main__":
    main()
