"""What libraries of many sizes cost, reckoned from one measured shard: `python -m tests.benchmarks.shards`.

Prints JSON lines. `shard`, measured: an engine over `--rows` rows, with its times, the share of the true ten best
that it finds, and bytes per row, `memory` of what a search goes through and `disk` of all that it keeps. `texts`,
measured: a small library, with the bytes that a chunk takes in PostgreSQL, in the lexical index and as an original,
and the chunks that are embedded in a second here. `fan_out`, simulated: so many such shards, each on a machine of its
own, asked at once: a question takes as long as the slowest of them, drawn from the measured times, and the network;
of the true ten best, which lie in shards by chance, each is found as often as one of its rank within its shard was.
`cost`, computed: memory, disk, servers, dollars a month, and days to embed anew by the processors of one machine such
as this, for a count of chunks. Prices and the size of a server are arguments: they are assumptions, as is that a
shard of another size takes bytes as the measured one does. Another precision is computed, a dimension at its bytes
and the rest of a row as measured; what it costs in recall is not. Times are of a machine at rest, or too long: the
slowest of many is the slowest that was measured.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_core.embedding import open_embedder
from rag_core.errors import ModelUnavailable
from tests.benchmarks.measure import PROJECT, SHARED, emit, library_of, percentile, timed_ms
from tests.benchmarks.scan import ENGINES, WARM_UP, K, ask
from tests.benchmarks.scan_vectors import Floats, drawn, real_vectors, write_vectors

_ENGINES = ("lectern", "pgvector")
_SHARDS = (1, 2, 8, 64, 512)
_CHUNKS = (10**4, 10**7, 10**10)
_TABLES = "SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest('{documents,pages,chunks}'::text[]) AS name"
_DRAWS = 4000
_SEED = 47
_EQUAL = 1e-6
# Bytes of a dimension of what is searched; None where the files are what they are.
_PRECISIONS: dict[str, dict[str, int | None]] = {
    "lectern": {"float32, searched by 8 bits": None}, "pgvector": {"float32": 4, "float16": 2},
}  # fmt: skip


def main() -> int:
    options = _parser().parse_args()
    if options.one:
        return _one(options)
    try:
        real, questions = real_vectors(SHARED / "data", options.cache)
    except (ModelUnavailable, OSError) as error:
        emit(skipped="shards", reason=f"there are no vectors to search: {error}")
        return 0
    asked = drawn(questions, options.questions + WARM_UP)
    shards = list(_measured(real, asked, options))
    texts = _texts(options.chunks)
    emit(benchmark="shards", measured="texts", **texts)
    for shard in shards:
        for count in _SHARDS:
            emit(benchmark="shards", simulated="fan_out", engine=shard["engine"], mode=shard["mode"],
                 **fan_out(shard["times_ms"], shard["found"], count, options.network_ms))  # fmt: skip
    for shard in {one["engine"]: one for one in shards}.values():
        for precision, size in _PRECISIONS[shard["engine"]].items():
            for chunks in _CHUNKS:
                emit(benchmark="shards", computed="cost", engine=shard["engine"], precision=precision,
                     **cost(chunks, shard, size, texts, options))  # fmt: skip
    return 0


def fan_out(times_ms: Sequence[float], found: Sequence[float], shards: int, network_ms: float) -> dict[str, Any]:
    """Times and recall of a question that all shards are asked at once, by measured ones of a single shard.

    found: of the true best of a shard, by rank, the share that it gives.
    """
    chance = np.random.default_rng(_SEED)
    slowest = np.array([chance.choice(times_ms, shards).max() for _ in range(_DRAWS)]) + network_ms
    hits = 0.0
    for _ in range(_DRAWS):
        places, ranks = chance.integers(shards, size=len(found)), dict[int, int]()
        for place in places:
            rank = ranks[place] = ranks.get(place, -1) + 1
            hits += found[rank]
    times = {f"p{share}_ms": round(percentile(list(slowest), share / 100), 2) for share in (50, 95, 99)}
    return {"shards": shards, **times, "recall_at_10": round(hits / (_DRAWS * len(found)), 4)}


def cost(
    chunks: int, shard: Mapping[str, Any], size: int | None, texts: Mapping[str, float], options: argparse.Namespace
) -> dict[str, Any]:
    """What so many chunks take. size: the bytes of a dimension; None for what was measured, which is float32."""
    spared = shard["dimensions"] * (4 - size) if size else 0
    memory, disk = (chunks * (shard[f"{kind}_per_row"] - spared) for kind in ("memory", "disk"))
    disk += chunks * (texts["postgresql_per_chunk"] + texts["lexical_per_chunk"] + texts["original_per_chunk"])
    usable = options.server_gb * 1e9 * options.share
    shards = max(1, math.ceil(memory / usable))
    servers = shards * options.replicas
    dollars = servers * options.server_usd + options.replicas * disk / 1e9 * options.disk_usd
    return {
        "chunks": chunks, "memory_gb": round(memory / 1e9, 2), "disk_gb": round(disk / 1e9, 1), "shards": shards,
        "servers": servers, "usd_month": round(dollars),
        "embed_days": round(chunks / texts["embeds_per_s"] / 86_400, 2),
    }  # fmt: skip


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=100_000, help="of the measured shard")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--chunks", type=int, default=1000, help="of the small library that is measured")
    parser.add_argument("--network-ms", type=float, default=0.5, help="to a shard and back")
    parser.add_argument("--server-gb", type=float, default=128, help="memory of a server")
    parser.add_argument("--share", type=float, default=0.7, help="of it that holds what is searched")
    parser.add_argument("--server-usd", type=float, default=400, help="a month of a server")
    parser.add_argument("--disk-usd", type=float, default=0.08, help="a month of a gigabyte on an SSD")
    parser.add_argument("--replicas", type=int, default=2, help="of each shard")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "lectern-scan")
    parser.add_argument("--one", choices=_ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser


def _measured(real: Floats, asked: Floats, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Each engine and mode over one shard, told of as it comes."""
    with tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        share = write_vectors(folder / "vectors.npy", real, options.rows)
        np.save(folder / "questions.npy", asked)
        np.save(folder / "best.npy", _best(np.load(folder / "vectors.npy"), asked[WARM_UP:]))
        for engine in _ENGINES:
            command = [sys.executable, "-m", "tests.benchmarks.shards", "--one", engine, "--folder", name]
            done = subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True, check=True)
            for line in map(json.loads, done.stdout.splitlines()):
                told = {key: value for key, value in line.items() if key != "times_ms"}
                emit(benchmark="shards", measured="shard", rows=options.rows, real=round(share, 3), **told)
                yield line


def _one(options: argparse.Namespace) -> int:
    """One engine, built and asked."""
    source = options.folder / "vectors.npy"
    place = options.folder / options.one
    place.mkdir()
    with closing(ENGINES[options.one](source, place)) as engine:
        engine.prepare()
        started = time.perf_counter()
        engine.build()
        built_s = time.perf_counter() - started
        for module in engine.modules:
            importlib.import_module(module)
        engine.open()
        memory, disk = engine.sizes()
        asked, best = np.load(options.folder / "questions.npy"), np.load(options.folder / "best.npy")
        rows, dimensions = np.load(source, mmap_mode="r").shape
        for mode in engine.modes:
            times, found, _ = ask(engine, mode, asked)
            shares = _found(engine.vectors(), asked[WARM_UP:], found, best)
            emit(
                engine=engine.name, mode=mode, dimensions=dimensions, build_s=round(built_s, 1),
                p50_ms=round(percentile(times, 0.5), 3), p95_ms=round(percentile(times, 0.95), 3),
                recall_at_10=round(sum(shares) / K, 4), memory_per_row=round(memory / rows),
                disk_per_row=round(disk / rows), found=shares, times_ms=[round(one, 4) for one in times],
            )  # fmt: skip
    return 0


def _best(rows: Floats, asked: Floats) -> NDArray[np.float64]:
    """The true ten best cosines of each question, the best first, float64 (m, 10)."""
    found = []
    for query in asked:
        places = np.argpartition(rows @ query, -4 * K)[-4 * K :]
        found.append(np.sort(rows[places].astype(np.float64) @ query.astype(np.float64))[::-1][:K])
    return np.array(found)


def _found(rows: Floats, asked: Floats, found: list[NDArray[np.intp]], best: NDArray[np.float64]) -> list[float]:
    """Of the true best, by rank, the share of questions that found as many as that."""
    hits = np.zeros(K)
    for query, places, true in zip(asked, found, best, strict=True):
        cosines = np.sort(rows[np.unique(places)].astype(np.float64) @ query.astype(np.float64))[::-1]
        for rank, value in enumerate(true):
            hits[rank] += bool((np.abs(cosines - value) <= _EQUAL).any())
    return [round(float(one), 4) for one in hits / len(asked)]


def _texts(chunks: int) -> dict[str, float]:
    """What a chunk takes beside its vectors, and how many a second are embedded."""
    with tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as name:
        folder = Path(name) / "library"
        with library_of(chunks, folder) as library:
            texts = [chunk.text for one in library.documents() for chunk in library.chunks(one.id)]
            ((tables,),) = library.storage.database.rows(_TABLES)
            sizes = {
                "postgresql": int(tables),
                "lexical": _bytes(folder / "lexical"),
                "original": _bytes(folder / "files"),
            }
            settings = library.settings
    with open_embedder(settings.embedding, settings.models_dir) as embedder:
        embedder.encode(texts[:32])
        took_s = timed_ms(lambda: embedder.encode(texts)) / 1000
    per_chunk = {f"{name}_per_chunk": round(size / len(texts)) for name, size in sizes.items()}
    return {"chunks": len(texts), "embeds_per_s": round(len(texts) / took_s, 1), **per_chunk}


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    sys.exit(main())
