"""Lectern's own engine in `scan`, and what is measured of it alone: reading its bytes, opening, compaction, MMR."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accelerator.backends.choosing import processor, threads
from accelerator.compaction import Source, compact
from accelerator.dump import Dump, write_dumps
from accelerator.mmr import maximal_marginal_relevance
from accelerator.scanner import Scanner
from accelerator.segment import Segment
from tests.benchmarks.measure import percentile, timed_ms
from tests.benchmarks.scan_peers import Engine, Floats, best

DOCUMENT_ROWS = 100
_PROFILE = "0123456789abcdef"
_TIMES = 200
_OPENED = 20
_FETCH_K, _K, _ASKED = 1000, 20, 21


class Lectern(Engine):
    """One segment, compacted from dumps of a hundred rows each that were written before; the CPU's engine."""

    name = "lectern"
    modes = ("exact", "fast")

    def prepare(self) -> None:
        rows = self.vectors()
        folder = self._dumps
        folder.mkdir()
        for start in range(0, len(rows), 100 * DOCUMENT_ROWS):
            parts = range(start, min(start + 100 * DOCUMENT_ROWS, len(rows)), DOCUMENT_ROWS)
            blocks = {part: np.array(rows[part : part + DOCUMENT_ROWS]) for part in parts}
            hashes = np.zeros((DOCUMENT_ROWS, 16), dtype=np.uint8)
            write_dumps(
                {folder / str(part): (block, hashes[: len(block)]) for part, block in blocks.items()}, profile=_PROFILE
            )

    def build(self) -> None:
        sources = []
        for path in sorted(self._dumps.iterdir(), key=lambda path: int(path.name)):
            dump = Dump.open(path, profile=_PROFILE)
            sources.append(Source(path.name, 1, dump.vectors, dump.hashes, dump.normalised))
        compact(self._path, sources, profile=_PROFILE)

    def open(self) -> None:
        segment = Segment.open(self._path, profile=_PROFILE)
        self._scanner = Scanner(segment.rows.shape[1], processor(self.folder))
        self._scanner.attach(segment)

    def choose(self, mode: str) -> None:
        self._mode: Any = mode

    def search(self, query: Floats, k: int) -> NDArray[np.intp]:
        matches = self._scanner.search(query, k, mode=self._mode)
        return np.array([int(match.key) + match.row for match in matches], dtype=np.intp)

    def disk_bytes(self) -> int:
        """Of the segment, which holds the rows too; the dumps stay beside it and are as large as the vectors."""
        return self._path.stat().st_size + sum(path.stat().st_size for path in self._dumps.iterdir())

    def sizes(self) -> tuple[int, int]:
        block = self._scanner.sealed()[0].segment.block
        copy = (block.head, block.tail, block.head_scales, block.tail_scales)
        return sum(array.nbytes for array in copy), self.disk_bytes()

    def extras(self, asked: Floats, p50_ms: dict[str, float]) -> Iterator[dict[str, Any]]:
        """`read`, what each exact search goes through, and all of the int8 copy; `open`; `mmr`."""
        segment = self._scanner.sealed()[0].segment
        if segment.rows.nbytes <= processor(self.folder).plain_bytes:
            yield self._reading("float32 rows", (segment.rows,), p50_ms["exact"])
        block, bounds = segment.block, (segment.tails, segment.errors)
        heads = (block.head, block.head_scales, segment.tails)
        whole = (block.head, block.tail, block.head_scales, block.tail_scales, *bounds)
        for mode, arrays in (("heads", heads), ("whole copy", whole)):
            yield self._reading(mode, arrays, p50_ms["exact"])
        opened = [timed_ms(self.open) for _ in range(_OPENED)]
        yield {"engine": "open", **_times(opened)}
        yield _mmr(self.vectors(), asked)

    def _reading(self, mode: str, arrays: tuple[NDArray[Any], ...], exact_ms: float) -> dict[str, Any]:
        bytes_read = sum(array.nbytes for array in arrays)
        how, used, times = fastest_reading(arrays, threads(self.folder))
        return {
            "engine": "read", "mode": mode, "how": how, "threads": used, **_times(times),
            "mb": round(bytes_read / 1e6, 1), "gb_per_s": round(bytes_read / percentile(times, 0.5) / 1e6, 1),
            "exact_over_read": round(exact_ms / percentile(times, 0.5), 2),
        }  # fmt: skip

    @property
    def _dumps(self) -> Path:
        return self.folder / "dumps"

    @property
    def _path(self) -> Path:
        return self.folder / "segment"


def fastest_reading(arrays: tuple[NDArray[Any], ...], threads: int) -> tuple[str, int, list[float]]:
    """The fastest of some ways of reading all bytes of mapped arrays, its threads, and its times in milliseconds.

    Each way reduces 64-bit words to one number and writes nothing: numpy's maximum, sum and bitwise or, all of them
    loops over whole vector registers, by one thread and by as many as asked for with an equal share of each array.
    """
    words = [array.reshape(-1).view(np.uint8) for array in arrays]
    words = [part[: part.nbytes // 8 * 8].view(np.uint64) for part in words]
    ways = (np.maximum, np.add, np.bitwise_or)
    results = [(how.__name__, count, _read(words, how, count)) for how in ways for count in {1, threads}]
    return min(results, key=lambda result: percentile(result[2], 0.5))


def _read(words: list[NDArray[np.uint64]], how: np.ufunc, threads: int) -> list[float]:
    shares = [[np.array_split(part, threads)[number] for part in words] for number in range(threads)]

    def one(share: list[NDArray[np.uint64]]) -> None:
        for part in share:
            how.reduce(part)

    with ThreadPoolExecutor(threads) as pool:
        read: Callable[[], Any] = (lambda: one(words)) if threads == 1 else lambda: list(pool.map(one, shares))
        for _ in range(3):
            read()
        return [timed_ms(read) for _ in range(_TIMES)]


def _mmr(rows: Floats, asked: Floats) -> dict[str, Any]:
    """Twenty of the thousand best rows of some questions, by ours and by LangChain's, on the same vectors.

    Ours is told that they are of unit length, as the retriever tells it, which has their lengths from scoring them.

    LangChain's takes them as an array here, with which it is far faster than with the lists that its stores give it.
    The first question warms up.
    """
    from langchain_core.vectorstores.utils import maximal_marginal_relevance as langchains

    ours_ms, theirs_ms, same = [], [], True
    for query in asked[:_ASKED]:
        candidates = rows[best(rows @ query, min(_FETCH_K, len(rows)))]
        started = time.perf_counter()
        picks = maximal_marginal_relevance(query, candidates, _K, unit=True)
        between = time.perf_counter()
        expected = langchains(query, candidates, k=_K)
        ours_ms.append((between - started) * 1000)
        theirs_ms.append((time.perf_counter() - between) * 1000)
        same = same and picks == [int(pick) for pick in expected]
    return {
        "engine": "mmr", "fetch_k": _FETCH_K, "k": _K, **_times(ours_ms[1:]),
        "langchain_p50_ms": round(percentile(theirs_ms[1:], 0.5), 2),
        "times_faster": round(percentile(theirs_ms[1:], 0.5) / percentile(ours_ms[1:], 0.5), 1), "same_picks": same,
    }  # fmt: skip


def _times(values: list[float]) -> dict[str, float]:
    return {"p50_ms": round(percentile(values, 0.5), 3), "p95_ms": round(percentile(values, 0.95), 3)}
