"""The search over vectors beside its peers: `python -m tests.benchmarks.scan --rows 10000 100000 1000000`.

Prints one JSON line per engine, mode and size: `p50_ms` and `p95_ms` of 200 questions asked once each, one at a time,
after 20 others to warm up; `recall_at_10` against the exact cosines in float64 (a row counts when its cosine is that of
the tenth or more); `build_s`; `disk_mb`, the vectors included; `rss_mb`, the resident memory that opening and searching
added to a fresh process, mapped pages and PostgreSQL's processes included; `real`, the share of real vectors
(scan_vectors.py says of what, and how the rest is made). Every engine builds in one process and searches in another,
one engine after the other, over the same file. Further lines: `read`, the least time that reading takes with up to the
scan's threads, of what every exact search goes through and of the whole int8 copy, with exact's p50 over it
(`exact_over_read`); `open`, mapping the segment anew; `compaction` with its share of what Chroma takes to add the rows;
`mmr` against LangChain's. A slow peer is left out above --peer-limit rows, with a line that says so.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

from rag_core.errors import ModelUnavailable
from tests.benchmarks.measure import PROJECT, SHARED, emit, percentile, timed_ms
from tests.benchmarks.scan_lectern import Lectern
from tests.benchmarks.scan_peers import PEERS, Engine
from tests.benchmarks.scan_vectors import Floats, drawn, floors, real_vectors, write_vectors

ENGINES: dict[str, type[Engine]] = {engine.name: engine for engine in (*PEERS, Lectern)}
K, WARM_UP = 10, 20
# Cosines that differ by less are those of equal rows.
_EQUAL = 1e-6


def main() -> int:
    options = _parser().parse_args()
    if options.one:
        return _one(options)
    if not (SHARED / "data").is_dir():
        emit(skipped="scan", reason=f"the texts whose vectors it searches are not at {SHARED / 'data'}")
        return 0
    try:
        real, questions = real_vectors(SHARED / "data", options.cache)
    except ModelUnavailable as error:
        emit(skipped="scan", reason=str(error))
        return 0
    asked = drawn(questions, options.questions + WARM_UP)
    return max(_measure(rows, real, asked, options) for rows in options.rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--peers", nargs="*", default=[peer.name for peer in PEERS], help="numpy simsimd ...")
    parser.add_argument("--peer-limit", type=int, default=100_000, help="the most rows for peers that build slowly")
    cache = Path(tempfile.gettempdir()) / "lectern-scan"
    parser.add_argument("--cache", type=Path, default=cache, help="keeps the real vectors")
    parser.add_argument("--folder", type=Path, help="for the indexes; several times the vectors' size at its peak")
    parser.add_argument("--one", choices=ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("--step", choices=("build", "search"), help=argparse.SUPPRESS)
    return parser


def _measure(rows: int, real: Floats, asked: Floats, options: argparse.Namespace) -> int:
    """All engines at one size. The exit code: 1 when one failed."""
    failed = 0
    chroma_s = None
    with tempfile.TemporaryDirectory(prefix="lectern-", dir=options.folder, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        share = write_vectors(folder / "vectors.npy", real, rows)
        np.save(folder / "questions.npy", asked)
        np.save(folder / "floors.npy", floors(np.load(folder / "vectors.npy", mmap_mode="r"), asked[WARM_UP:], K))
        common = {"benchmark": "scan", "rows": rows, "real": round(share, 3)}
        for engine in [*options.peers, Lectern.name]:
            if ENGINES[engine].slow and rows > options.peer_limit:
                emit(**common, engine=engine, skipped=f"it builds slowly; --peer-limit {rows} measures it")
                continue
            lines = list(_lines(engine, folder))
            failed = max(failed, int(any("failed" in line for line in lines)))
            for line in lines:
                if engine == "chroma":
                    chroma_s = line.get("build_s")
                if line["engine"] == "compaction" and chroma_s:
                    line["compaction_share"] = round(line["build_s"] / chroma_s, 3)
                emit(**common, **line)
    return failed


def _lines(engine: str, folder: Path) -> Iterator[dict[str, Any]]:
    """What the two processes of an engine found."""
    built: dict[str, Any] = {}
    for step in ("build", "search"):
        command = [sys.executable, "-m", "tests.benchmarks.scan", "--one", engine, "--step", step]
        done = subprocess.run([*command, "--folder", str(folder)], cwd=PROJECT, capture_output=True, text=True)
        if done.returncode:
            yield {"engine": engine, "failed": step, "error": done.stderr.strip().splitlines()[-1:]}
            return
        for line in map(json.loads, filter(lambda text: text.startswith("{"), done.stdout.splitlines())):
            if step == "build":
                built = line
            else:
                yield {**line, **built} if line["engine"] == engine else line
    if engine == Lectern.name:
        yield {"engine": "compaction", **built}


def _one(options: argparse.Namespace) -> int:
    """One step of one engine, in a process of its own."""
    place = options.folder / options.one
    place.mkdir(exist_ok=True)
    engine = ENGINES[options.one](options.folder / "vectors.npy", place)
    with closing(engine):
        if options.step == "build":
            engine.prepare()
            emit(build_s=round(timed_ms(engine.build) / 1000, 2), disk_mb=round(engine.disk_bytes() / 1e6, 1))
        else:
            _search(engine, np.load(options.folder / "questions.npy"), np.load(options.folder / "floors.npy"))
    return 0


def _search(engine: Engine, asked: Floats, least: NDArray[np.float64]) -> None:
    for module in engine.modules:
        importlib.import_module(module)
    before = psutil.Process().memory_info().rss
    engine.open()
    measured = {mode: ask(engine, mode, asked) for mode in engine.modes}
    for mode, (times, found, resident) in measured.items():
        emit(
            engine=engine.name, mode=mode, p50_ms=round(percentile(times, 0.5), 3),
            p95_ms=round(percentile(times, 0.95), 3), rss_mb=round((resident - before) / 1e6, 1),
            recall_at_10=round(_recall(engine.vectors(), asked[WARM_UP:], found, least), 4),
        )  # fmt: skip
    for line in engine.extras(
        asked[WARM_UP:], {mode: percentile(times, 0.5) for mode, (times, *_) in measured.items()}
    ):
        emit(**line)


def ask(engine: Engine, mode: str, asked: Floats) -> tuple[list[float], list[NDArray[np.intp]], int]:
    """Milliseconds and rows of each question, and the resident memory after the last."""
    engine.choose(mode)
    for query in asked[:WARM_UP]:
        engine.search(query, K)
    times, found = [], []
    for query in asked[WARM_UP:]:
        started = time.perf_counter()
        found.append(engine.search(query, K))
        times.append((time.perf_counter() - started) * 1000)
    return times, found, engine.resident_bytes()


def _recall(vectors: Floats, asked: Floats, found: list[NDArray[np.intp]], least: NDArray[np.float64]) -> float:
    hits = 0
    for query, places, floor in zip(asked, found, least, strict=True):
        cosines = vectors[np.unique(places)].astype(np.float64) @ query.astype(np.float64)
        hits += int((cosines >= floor - _EQUAL).sum())
    return hits / (len(asked) * min(K, len(vectors)))


if __name__ == "__main__":
    sys.exit(main())
