"""Opens a Chroma folder in a child process: damaged index files can end a whole process with SIGSEGV, or hang it.

`probe` starts `python -m rag_core.storage.indexes.chroma_probe FOLDER COLLECTION`, which counts the rows, reads vectors
back, queries with them, also in the collection beside it, and prints one line of JSON. It writes nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DATABASE = "chroma.sqlite3"
_SAMPLE = 512
_PART = 64
_WITHIN = 1e-4  # Chroma's cosine distance of a vector to itself is below 1e-6
# Of rows that nothing in the graph leads to: a sound one has a few, of a damaged one they are most.
_SPARED = 1 / 8
_LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many rows the index holds, None where there is no collection, and what is wrong with it, if anything."""

    rows: int | None = None
    fault: str = ""


class ProbeStopped(RuntimeError):
    """The library was closed before the index could be judged."""


def probe(folder: Path, collection: str, timeout_s: float, stopped: threading.Event) -> Verdict:
    """Judge a folder in a child process that is killed after `timeout_s` seconds. Raises ProbeStopped."""
    root = str(Path(__file__).resolve().parents[3])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    child = subprocess.Popen(
        [sys.executable, "-m", "rag_core.storage.indexes.chroma_probe", str(folder), collection],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        # One thread builds the graph, or a search would wait for all cores.
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "RAYON_NUM_THREADS": "1"},
    )  # fmt: skip
    try:
        output = _output(child, time.monotonic() + timeout_s, stopped)
        return _verdict(child.returncode, output)
    except subprocess.TimeoutExpired:
        return Verdict(fault=f"it did not open within {timeout_s:.0f} s")
    finally:
        child.kill()
        child.communicate()


def _output(child: subprocess.Popen[bytes], deadline: float, stopped: threading.Event) -> bytes:
    while True:
        try:
            return child.communicate(timeout=_LOOK_S)[0]
        except subprocess.TimeoutExpired:
            if stopped.is_set():
                raise ProbeStopped from None
            if time.monotonic() > deadline:
                raise


def _verdict(code: int | None, output: bytes) -> Verdict:
    try:
        return Verdict(**json.loads(output.splitlines()[-1]))
    except (ValueError, IndexError, TypeError):
        ended = signal.Signals(-code).name if code and code < 0 else f"code {code}"
        return Verdict(fault=f"opening it ended the process ({ended})")


def main(arguments: Sequence[str]) -> int:
    """Judge a folder in this process and print the verdict."""
    os.nice(10)  # whoever waits for a page or an answer goes first
    folder, collection = arguments
    verdict = _judge(Path(folder), collection)
    sys.stdout.write(json.dumps(asdict(verdict)) + "\n")
    sys.stdout.flush()
    # Not through the interpreter's end: Chroma's threads may be stuck in a damaged index.
    os._exit(0)


def _judge(folder: Path, collection: str) -> Verdict:
    from chromadb.errors import ChromaError, NotFoundError

    try:
        fault = _database_fault(folder / _DATABASE)
        return Verdict(fault=fault) if fault else _index_verdict(folder, collection)
    except NotFoundError:
        return Verdict()
    except (ChromaError, OSError, ValueError, RuntimeError, sqlite3.Error) as error:
        return Verdict(fault=" ".join(str(error).split())[:200] or type(error).__name__)


def count_rows(folder: Path, collection: str) -> int:
    """How many rows the database of a folder tells of; the graph is not built for it. Raises sqlite3.Error."""
    with _database(folder / _DATABASE) as connection:
        (rows,) = connection.execute(
            "SELECT count(*) FROM embeddings e JOIN segments s ON s.id = e.segment_id"
            " JOIN collections c ON c.id = s.collection WHERE c.name = ?",
            (collection,),
        ).fetchone()
    return int(rows)


def _database(file: Path) -> contextlib.closing[sqlite3.Connection]:
    return contextlib.closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True))


def _database_fault(file: Path) -> str:
    if not file.is_file():
        return f"{file.name} is missing"
    if not file.stat().st_size:
        return f"{file.name} is empty"
    with _database(file) as connection:
        row = connection.execute("PRAGMA quick_check(1)").fetchone()
    return "" if row == ("ok",) else f"{file.name} is damaged: {' '.join(str(row[0]).split())}"


def _index_verdict(folder: Path, name: str) -> Verdict:
    import chromadb
    from chromadb.config import Settings as ChromaSettings

    client = chromadb.PersistentClient(str(folder), settings=ChromaSettings(anonymized_telemetry=False))
    collection = client.get_collection(name, embedding_function=None)
    beside = [item.name for item in client.list_collections() if item.name.startswith(f"{name}-")]
    every = [collection, *(client.get_collection(other, embedding_function=None) for other in beside)]
    fault = next(filter(None, (fault for one in every for fault in _faults(one))), "")
    return Verdict(int(collection.count()), fault)


def _faults(collection: Any) -> Iterator[str]:
    """What is wrong with parts of a collection, empty for those that are sound."""
    rows = int(collection.count())
    for first in range(0, rows, max(rows * _PART // _SAMPLE, _PART)):
        yield _part_fault(collection, first)


def _part_fault(collection: Any, first: int) -> str:
    """Read some vectors back and query with them: each must find itself, or what equals it."""
    part = collection.get(include=["embeddings"], limit=_PART, offset=first)
    vectors = np.asarray(part["embeddings"], dtype=np.float32)
    if not len(vectors):
        return "it counts rows that cannot be read"
    lengths = np.linalg.norm(vectors, axis=1)
    if not np.isfinite(lengths).all() or not lengths.all():
        return "it holds vectors without direction"
    spared = int(_SPARED * len(vectors))
    lost = _lost(collection, vectors)
    # A search is approximate: among many rows that are much alike it is led past some. One for few rows alone goes on
    # until it has them, through all that the graph leads to.
    if len(lost) > spared:
        lost = _lost(collection, vectors[lost], ids=[part["ids"][place] for place in lost])
    return f"{len(lost)} of {len(vectors)} rows are not found by their own vectors" if len(lost) > spared else ""


def _lost(collection: Any, vectors: NDArray[np.float32], **among: list[str]) -> list[int]:
    """Which of some vectors, float32 (n, d), find neither their row nor one that equals it."""
    found = collection.query(query_embeddings=vectors, n_results=1, include=["distances"], **among)["distances"]
    return [place for place, (nearest, *_) in enumerate(row or [1.0] for row in found) if not abs(nearest) < _WITHIN]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
