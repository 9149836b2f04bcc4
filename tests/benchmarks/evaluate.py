"""A run over many questions: `python -m tests.benchmarks.evaluate --questions 500 --chunks 10000`.

Prints one JSON object: seconds from the press of the button to the run's metrics, passages alone, the embedding of the
questions included. Every question has an excerpt of a document as gold, half of them without its page.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

from rag_core import Library
from rag_core.domain import Configuration, Gold, Question
from tests.benchmarks.measure import emit, library_of

_SEED = 20_261_121


def asked(library: Library, count: int) -> list[Question]:
    """Questions whose gold is the middle of some chunk each."""
    chance = random.Random(_SEED)
    ready = [document for document in library.documents() if document.chunk_count]
    made = []
    for number in range(count):
        document = chance.choice(ready)
        chunk = library.chunks(document.id, first=chance.randrange(document.chunk_count), limit=1)[0]
        middle = chunk.text[len(chunk.text) // 4 : len(chunk.text) // 2]
        words = " ".join(middle.split()[2:14])
        gold = Gold(document.id, chunk.page if number % 2 else None, middle)
        made.append(Question(str(number), f"What is known of {words}?", (middle,), (gold,)))
    return made


def measure(library: Library, count: int) -> None:
    """Run the library as it is twice: as the first run since it was opened, and once more."""
    library.warm_up()
    evaluation = library.evaluation
    chosen = evaluation.create("Benchmark", asked(library, count))
    for again in (False, True):
        started = time.perf_counter()
        (run,) = evaluation.begin(chosen.id, [Configuration("as it is")])
        for _ in evaluation.carry_out([run.id]):
            pass
        total_s = time.perf_counter() - started
        done = evaluation.run(run.id)
        emit(
            benchmark="evaluate", questions=done.done, chunks=library.maintenance.status().chunks,
            total_s=round(total_s, 2), again=again, state=done.state, hit_rate=round(done.metrics["hit_rate"].mean, 3),
        )  # fmt: skip
    evaluation.delete(chosen.id)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--library", type=Path, help="keep the library in this folder for another run")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder,
        library_of(options.chunks, options.library or Path(folder)) as library,
    ):
        measure(library, options.questions)


if __name__ == "__main__":
    main()
