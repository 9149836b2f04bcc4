"""What the benchmarks share: percentiles, memory of a tree of processes, libraries of a given size."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from rag_core import Library, Settings, Upload

PROJECT = Path(__file__).resolve().parents[2]
SHARED = PROJECT.parent / "shared"
_SEED = 20_261_120
# What is measured is answering, and not that it was answered before.
os.environ.setdefault("LECTERN_ANSWERING__CACHED_ANSWERS", "0")


def emit(**values: Any) -> None:
    """One JSON line."""
    print(json.dumps(values), flush=True)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of the values lie (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


class PeakMemory:
    """Samples the resident memory of this process, its children and the library's PostgreSQL, every 50 ms, what they
    share counted once, and tells the seconds that processors were busy with them.

    first_bytes: what they had before the work that is measured."""

    def __init__(self, data_dir: Path) -> None:
        self.first_bytes = self.peak_bytes = 0
        self._busy_s: dict[int, float] = {}
        self._before_s = 0.0
        self._data_dir = str(data_dir)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        me = psutil.Process()
        while not self._stop.wait(0.05):
            own, servers = [me, *me.children(recursive=True)], self._servers()
            resident = _shared_once(own) + _shared_once(servers)
            self.first_bytes = self.first_bytes or resident
            self.peak_bytes = max(self.peak_bytes, resident)
            is_first = not self._busy_s
            for one in (*own, *servers):
                self._busy_s[one.pid] = max(_busy_s(one), self._busy_s.get(one.pid, 0.0))
            self._before_s = sum(self._busy_s.values()) if is_first else self._before_s

    @property
    def processor_s(self) -> float:
        """Seconds of all processors so far, of processes that ended as far as they were seen."""
        return sum(self._busy_s.values()) - self._before_s

    def postgresql_bytes(self) -> int:
        """Resident memory of the library's PostgreSQL now."""
        return _shared_once(self._servers())

    def _servers(self) -> list[psutil.Process]:
        try:
            pid = int(Path(self._data_dir, "postgres", "postmaster.pid").read_text().split()[0])
            postmaster = psutil.Process(pid)
            return [postmaster, *postmaster.children(recursive=True)]
        except (OSError, ValueError, IndexError, psutil.Error):
            return []


def _shared_once(processes: Sequence[psutil.Process]) -> int:
    """What each process has for itself, and the largest share once: those of one program share its libraries, and
    PostgreSQL's their buffers."""
    memory = [info for info in map(_memory, processes) if info is not None]
    shared = [getattr(info, "shared", 0) for info in memory]
    return sum(info.rss for info in memory) - sum(shared) + max(shared, default=0)


def _busy_s(process: psutil.Process) -> float:
    try:
        took = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(took.user + took.system)


def _memory(process: psutil.Process) -> Any:
    try:
        return process.memory_info()
    except psutil.Error:
        return None


@contextmanager
def library_of(chunks: int, folder: Path, **settings: Any) -> Iterator[Library]:
    """A library of about `chunks` chunks of prose in documents of 50, really embedded; `settings` beside its folder."""
    with Library.open(Settings(_env_file=None, data_dir=folder, **settings)) as library:
        if library.maintenance.status().chunks < chunks:
            for event in library.add(_documents(chunks)):  # those that are there already are known by their bytes
                if event.error is not None:
                    raise event.error
            library.storage.settle()
        yield library


def questions(count: int) -> list[str]:
    """Different questions in words that the prose holds."""
    chance = random.Random(_SEED + 1)
    words = _words()
    return [f"What is known of {' '.join(chance.sample(words, 4))}?" for _ in range(count)]


def _documents(chunks: int) -> Iterator[Upload]:
    chance = random.Random(_SEED)
    known = sentences()
    for number in range(chunks // 50):
        paragraphs = []
        for _ in range(50):
            text = ""
            while len(text) < 850:
                text += chance.choice(known) + " "
            paragraphs.append(text[:950].strip())
        yield Upload(f"document {number}.txt", "\n\n".join(paragraphs).encode())


def sentences() -> list[str]:
    """Sentences of the samples with their words shuffled among each other, so that no two chunks are alike."""
    chance = random.Random(_SEED)
    words = _words()
    return [" ".join(chance.choices(words, k=chance.randint(6, 22))).capitalize() + "." for _ in range(5000)]


def _words() -> list[str]:
    folder = PROJECT / "data" / "samples"
    text = " ".join(
        path.read_text(encoding="utf-8") for path in sorted(folder.iterdir()) if path.suffix in (".md", ".txt")
    )
    return sorted({word.strip(".,;:()|#*-").lower() for word in text.split()} - {""})


def timed_ms(call: Any) -> float:
    """Milliseconds that a call takes."""
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000
