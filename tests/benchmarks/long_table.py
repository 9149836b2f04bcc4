"""Asking and adding while a long table is followed and clustered: `python -m tests.benchmarks.long_table`.

A table of equal lines, and one of different rows, each in a library of its own beside documents of prose. From when the
table is ready until everything has followed it, questions are asked and files of one line are added, all defaults; then
the same once more, with nothing to do in the background. One JSON object for each table: milliseconds of a question
(p50, p95, the longest) and of a file, meanwhile and afterwards, and the share of the medians; `processor_s` is what
processors were busy with until all had followed.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rag_core import Library, Upload
from tests.benchmarks.measure import PeakMemory, emit, library_of, percentile, sentences, timed_ms

_PAUSE_S = 0.5
_FILE_EVERY = 5
_LONGEST_S = 400.0


def equal_lines(rows: int) -> bytes:
    """A table whose rows are all alike: 8 MB and 27,400 chunks for two million."""
    return b"name,value\n" + b"a,1\n" * rows


def different_rows(rows: int) -> bytes:
    """A table of orders, each of another customer, item and amount."""
    words = sentences()
    lines = (
        f"{number},{words[number % len(words)].split()[0]} {number * 7919 % rows},{number * 31 % 9973},open"
        for number in range(rows)
    )
    return ("order,customer,amount,state\n" + "\n".join(lines)).encode()


def measured(library: Library, name: str, table: bytes) -> None:
    """Add a table and tell what questions and files take until it is followed, and afterwards."""
    asked = (f"What about {' '.join(sentence.split()[1:5])}?" for sentence in sentences())
    for _ in range(10):
        library.ask(next(asked))
    numbers = itertools.count()
    with PeakMemory(Path(library.settings.data_dir)) as memory:
        added_s = timed_ms(lambda: add(library, f"{name}.csv", table)) / 1000
        began = time.monotonic()
        during, files = _taken(library, asked, numbers, until=lambda: has_followed(library))
        followed_s = time.monotonic() - began
    quiet, files_after = _taken(library, asked, numbers, until=None)
    emit(
        benchmark="long_table", table=name, chunks=library.maintenance.status().chunks, added_s=round(added_s, 1),
        followed_s=round(followed_s, 1), processor_s=round(memory.processor_s, 1),
        idle_gb=round(memory.first_bytes / 1e9, 2), peak_gb=round(memory.peak_bytes / 1e9, 2),
        question_ms=percentiles(during), question_quiet_ms=percentiles(quiet),
        ratio=round(percentile(during, 0.5) / percentile(quiet, 0.5), 2),
        file_ms=percentiles(files), file_quiet_ms=percentiles(files_after),
    )  # fmt: skip


def _taken(
    library: Library, asked: Iterator[str], numbers: Iterator[int], *, until: object
) -> tuple[list[float], list[float]]:
    questions: list[float] = []
    files: list[float] = []
    deadline = time.monotonic() + _LONGEST_S
    for turn in itertools.count():
        if ((until() if callable(until) else turn >= 40) and turn >= 10) or time.monotonic() > deadline:
            return questions, files
        question = next(asked)
        questions.append(timed_ms(lambda question=question: library.ask(question)))
        if turn % _FILE_EVERY == 0:
            name = f"note {next(numbers)}.txt"
            files.append(timed_ms(lambda name=name: add(library, name, f"The {name} says that it rains.".encode())))
        time.sleep(_PAUSE_S)
    raise AssertionError


def add(library: Library, name: str, content: bytes) -> None:
    """Add a file. Raises what it fails with."""
    for event in library.add([Upload(name, content)]):
        if event.error is not None:
            raise event.error


def has_followed(library: Library) -> bool:
    """Whether every index has what was added."""
    return not library.storage.hierarchy.missing() and not any(
        library.storage.sync.waiting(index.name).documents for index in library.storage.indexes
    )


def percentiles(took_ms: list[float]) -> dict[str, float]:
    """Half of them, all but a twentieth, and the longest, of how many."""
    shares = {"p50": 0.5, "p95": 0.95, "most": 1.0}
    return {name: round(percentile(took_ms, share)) for name, share in shares.items()} | {"count": len(took_ms)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--equal", type=int, default=2_000_000, help="rows of the table of equal lines; 0 leaves it out"
    )
    parser.add_argument("--different", type=int, default=100_000, help="rows of the other table; 0 leaves it out")
    parser.add_argument("--prose", type=int, default=2_000, help="chunks of prose beside it")
    options = parser.parse_args()
    tables = {"equal lines": (equal_lines, options.equal), "different rows": (different_rows, options.different)}
    for name, (make, rows) in tables.items():
        if rows:
            with (
                tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder,
                library_of(options.prose, Path(folder)) as library,
            ):
                measured(library, name, make(rows))


if __name__ == "__main__":
    main()
