"""Asking while a file is added: `python -m tests.benchmarks.locked --megabytes 1`.

Questions of the sample library are asked by the chat's way, `Library.stream`, one after another, each in a conversation
of its own: first while nothing else is done, then while a text is read and embedded. Of each: milliseconds until its
first words, until its last, and until the whole answer is there; `locked_ms` is what lies between the last two, in
which the page shows an answer that cannot be used yet. One JSON object for each, with the median and the worst.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence

from rag_core import Library, Settings, Upload
from tests.benchmarks.measure import PROJECT, emit, percentile, sentences

_SAMPLES = PROJECT / "data" / "samples"
_NAMES = ("first_words_ms", "last_words_ms", "whole_ms", "locked_ms")
_QUIET = 12


def asked(library: Library, question: str) -> tuple[float, float, float, float]:
    """Milliseconds of one answer; see `_NAMES`."""
    began = time.perf_counter()
    words: list[float] = []
    whole = 0.0
    for event in library.stream(question):
        now = (time.perf_counter() - began) * 1000
        if event.text:
            words.append(now)
        if event.answer is not None:
            whole = now
    first, last = (words[0], words[-1]) if words else (whole, whole)
    return first, last, whole, whole - last


def added(library: Library, megabytes: float, ended: threading.Event) -> threading.Thread:
    """A text on its way into the library, in a thread that ends with `ended`."""

    def add() -> None:
        try:
            for event in library.add([Upload("long.txt", _text(megabytes).encode())]):
                if event.error is not None:
                    raise event.error
        finally:
            ended.set()

    thread = threading.Thread(target=add)
    thread.start()
    return thread


def report(when: str, chunks: int, seconds: float, measured: Sequence[Sequence[float]]) -> None:
    """One JSON object; `seconds`: how long they were asked for."""
    figures = {}
    for name, values in zip(_NAMES, zip(*measured, strict=True), strict=True):
        figures[name.replace("_ms", "_p50_ms")] = round(percentile(values, 0.5))
        figures[name.replace("_ms", "_max_ms")] = round(max(values))
    emit(benchmark="locked", when=when, chunks=chunks, seconds=round(seconds, 1), questions=len(measured), **figures)


def _text(megabytes: float) -> str:
    chance = random.Random(20_261_120)
    known = sentences()
    parts: list[str] = []
    size = 0
    while size < megabytes * 1e6:
        parts.append(" ".join(chance.sample(known, 8)))
        size += len(parts[-1]) + 2
    return "\n\n".join(parts)


def _questions() -> Iterator[str]:
    """Those of the sample library, again and again, so that none is asked twice in a row."""
    lines = (_SAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    known = [json.loads(line)["question"] for line in lines if line.strip()]
    while True:
        yield from known


def _while_added(library: Library, megabytes: float, questions: Iterable[str]) -> list[tuple[float, ...]]:
    ended = threading.Event()
    thread = added(library, megabytes, ended)
    measured: list[tuple[float, ...]] = []
    for question in questions:
        if ended.is_set():
            break
        measured.append(asked(library, question))
    thread.join()
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=1.0)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder,
        Library.open(Settings(_env_file=None, data_dir=folder, hierarchy={"background": False})) as library,
    ):
        for _ in library.add([path for path in sorted(_SAMPLES.iterdir()) if path.suffix in (".pdf", ".md", ".txt")]):
            pass
        library.storage.settle()
        library.warm_up()
        questions = _questions()
        for _ in range(_QUIET):
            asked(library, next(questions))
        for when in ("quiet", "while added"):
            began = time.perf_counter()
            if when == "quiet":
                measured: Sequence[Sequence[float]] = [asked(library, next(questions)) for _ in range(_QUIET)]
            else:
                measured = _while_added(library, options.megabytes, questions)
            report(when, library.maintenance.status().chunks, time.perf_counter() - began, measured)


if __name__ == "__main__":
    main()
