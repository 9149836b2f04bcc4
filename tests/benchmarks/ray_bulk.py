"""Many small files by a Ray cluster against this process: `python -m tests.benchmarks.ray_bulk --files 500`.

The cluster is nodes of one processor each on 127.0.0.1, by default as many as this machine has; this process gives out
and commits, as `lectern add --executor ray` does. `local_s` and `ray_s` run from the call of `add` to its last event,
into new libraries, when models are loaded; `ratio` is ray_s / local_s. `killed_s` is the same with a node more, which
is killed when a tenth of the documents is ready; its models are loaded anew elsewhere. `lost` are documents that are
not ready in the end, `doubled` chunks that are there more than once; the exit code is 1 where there is any.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rag_core import Library, Settings, Upload
from rag_core.reading.pool import usable_cores
from tests.benchmarks.bulk import paragraphs, write_files
from tests.benchmarks.measure import emit
from tests.rag_core.ingest.ray_nodes import nodes

_WARM = 512


def added(settings: Settings, folder: Path, begun: Callable[[], None] | None = None) -> tuple[float, int, int]:
    """Add a folder to a new library. Returns seconds, documents that are not ready, chunks that are there twice."""
    files = sum(1 for _ in folder.iterdir())
    with Library.open(settings) as library:
        # So many that every node has some to embed, and loads its model.
        warm = [Upload(f"warm{number}.txt", f"A model of {number} is loaded.".encode()) for number in range(_WARM)]
        for _ in library.add(warm):
            pass
        ready = 0
        started = time.perf_counter()
        for event in library.add([folder]):
            ready += event.stage == "ready"
            if begun and ready >= files // 10:
                begun()
                begun = None
        took = time.perf_counter() - started
        documents = [item for item in library.documents() if item.state == "ready"]
        chunks = [(item.id, chunk.index) for item in documents for chunk in library.chunks(item.id)]
        return took, files + len(warm) - len(documents), len(chunks) - len({*chunks})


def measure(files: int, count: int, work: Path) -> bool:
    """Add as many files each way. Returns whether all are there once."""
    folder = work / "notes"
    folder.mkdir()
    write_files(folder, paragraphs(files))
    (work / "token").write_text(secrets.token_hex(32))
    environment = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(work / "token")}
    os.environ |= environment

    def settings(name: str, executor: str) -> Settings:
        return Settings(_env_file=None, data_dir=work / name).changed("jobs", executor=executor)

    local, *_ = added(settings("local", "local").changed("embedding", cores=count), folder)
    with nodes(count, environment) as cluster:
        os.environ["RAY_ADDRESS"] = cluster.address
        ray, lost, doubled = added(settings("ray", "ray"), folder)
    with nodes(count + 1, environment) as cluster:
        os.environ["RAY_ADDRESS"] = cluster.address
        killed, lost_then, doubled_then = added(settings("killed", "ray"), folder, cluster.kill)
    emit(
        benchmark="ray_bulk", files=files, nodes=count, local_s=round(local, 1), ray_s=round(ray, 1),
        ratio=round(ray / local, 2), killed_s=round(killed, 1), lost=lost + lost_then, doubled=doubled + doubled_then,
    )  # fmt: skip
    return not (lost or doubled or lost_then or doubled_then)


def main() -> int:
    """Run it once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=500)
    parser.add_argument("--nodes", type=int, default=usable_cores())
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lectern-ray-", ignore_cleanup_errors=True) as folder:
        return 0 if measure(wanted.files, wanted.nodes, Path(folder)) else 1


if __name__ == "__main__":
    sys.exit(main())
