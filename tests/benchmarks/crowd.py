"""Several people ask at once, without a language model: `python -m tests.benchmarks.crowd --chunks 47000`.

Each asks `Library.ask` one question after another, all defaults, in a thread of its own; every question is another one
and begins a conversation. One JSON object for one person alone and one for all at once: p50 and p95 of an answer in
milliseconds, answers a second, and how many said that they found nothing.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rag_core import Library
from tests.benchmarks.measure import emit, library_of, percentile, sentences

_WARMING = 10


def asked(library: Library, people: Sequence[Sequence[str]]) -> None:
    """Let every one of the people ask their questions, beginning together."""
    together = threading.Barrier(len(people))
    took_ms: list[float] = []
    abstained: list[bool] = []

    def ask(some: Sequence[str]) -> None:
        together.wait()
        for question in some:
            began = time.perf_counter()
            answer = library.ask(question)
            took_ms.append((time.perf_counter() - began) * 1000)
            abstained.append(answer.abstained)

    began = time.perf_counter()
    with ThreadPoolExecutor(len(people)) as threads:
        for done in [threads.submit(ask, some) for some in people]:
            done.result()
    took_s = time.perf_counter() - began
    emit(
        benchmark="crowd", people=len(people), chunks=library.maintenance.status().chunks, questions=len(took_ms),
        p50_ms=round(percentile(took_ms, 0.5), 1), p95_ms=round(percentile(took_ms, 0.95), 1),
        answers_per_s=round(len(took_ms) / took_s, 1), abstained=sum(abstained),
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--people", type=int, default=8)
    parser.add_argument("--questions", type=int, default=25, help="of each; one alone asks four times as many")
    parser.add_argument("--library", type=Path, help="keep the library in this folder for another run")
    options = parser.parse_args()
    alone = 4 * options.questions
    with (
        tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder,
        library_of(options.chunks, options.library or Path(folder)) as library,
    ):
        for _ in library.clusters.update():  # which would go on in the background
            pass
        library.warm_up()
        different = (f"What about {' '.join(sentence.split()[1:5])}?" for sentence in sentences())
        for _ in range(_WARMING):
            library.ask(next(different))
        asked(library, [[next(different) for _ in range(alone)]])
        asked(library, [[next(different) for _ in range(options.questions)] for _ in range(options.people)])


if __name__ == "__main__":
    main()
