"""A collection of Milvus with its HNSW graph, where the setting `storage.milvus` has the address of one.

By pymilvus, which the extra `milvus` brings. A Milvus, or a database of it, is of one library.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from accelerator.scanner import Mode
from rag_core.errors import ConfigurationError
from rag_core.settings import Settings
from rag_core.storage.indexes.base import IndexContext, IndexUnavailable
from rag_core.storage.indexes.dense import Ref, TruthSearch, Vectors, Within, stacked
from rag_core.storage.indexes.graph_index import Connection, GraphIndex, Row
from rag_core.storage.postgres.contents import IndexedDocument
from rag_core.storage.postgres.database import lift_limits
from rag_core.storage.postgres.documents import DocumentStore

_NAME = "lectern_chunks"
_GRAPH = {"M": 16, "efConstruction": 200}
_EF_SEARCH = 200  # candidates that are kept in mind on the way through the graph
_MOST_FOUND = 16_384  # that Milvus gives at once
_ROWS = 1000  # in one call
_LONGEST_S = 60.0
_SEARCH_S = _CONNECT_S = 10.0
_AWAY_S = 15.0  # nobody waits for one that did not answer, so long
_GONE = (1, 2)  # pymilvus' codes of a call that was not answered, and of a server that is not there


class MilvusUnavailable(IndexUnavailable):
    """Milvus does not answer; the rest of the library does."""

    default_help = "Check LECTERN_STORAGE__MILVUS and the server behind it; search goes on with what else there is."


class MilvusSearch(TruthSearch):
    """Finds in Milvus, and takes the vectors from the chunks."""

    name = "milvus"
    label = "Milvus"
    exact = False

    def __init__(self, index: MilvusIndex, documents: DocumentStore) -> None:
        super().__init__(documents)
        self._index = index

    def find(
        self, queries: Vectors, k: int, within: Within | None, scan: Mode = "auto"
    ) -> list[tuple[list[Ref], Vectors]]:
        """See the base class."""
        if within is not None and not within.rows:
            return [stacked([], queries.shape[1]) for _ in queries]
        found = self._index.collection(
            "search", data=list(queries), limit=min(k, _MOST_FOUND), filter=_condition(within),
            search_params={"params": {"ef": max(k, _EF_SEARCH)}}, output_fields=["id"], timeout=_SEARCH_S,
        )  # fmt: skip
        return [
            stacked(self._documents.vectors.at([_ref(hit["id"]) for hit in hits]), queries.shape[1]) for hits in found
        ]

    def lacking(self) -> int:
        """See the base class."""
        return self._index.waiting()


class MilvusIndex(GraphIndex):
    """The collection `lectern_chunks`."""

    name = "milvus"
    label = "Milvus"
    most_dimensions = 32_768

    def __init__(self, surroundings: IndexContext) -> None:
        super().__init__(surroundings)
        self._settings = surroundings.settings.storage
        if find_spec("pymilvus") is None:
            raise ConfigurationError(
                "Milvus needs the package pymilvus.", help="pip install 'lectern[milvus]', or: pip install pymilvus"
            )
        self._client: Any = None
        self._opening = threading.Lock()
        self._away = (0.0, "")
        self.dense = MilvusSearch(self, surroundings.documents)

    @classmethod
    def is_kept(cls, settings: Settings) -> bool:
        """Where it has an address. Raises ConfigurationError where it is asked for without one."""
        if settings.retrieval.index == cls.name and not settings.storage.milvus:
            raise ConfigurationError(
                "Milvus is asked for without its address.", help="Set LECTERN_STORAGE__MILVUS=http://host:19530."
            )
        return bool(settings.storage.milvus)

    def collection(self, what: str, **how: Any) -> Any:
        """Have Milvus do something with the collection. Raises MilvusUnavailable, at once where it was just away."""
        how = {"collection_name": _NAME, "timeout": _LONGEST_S} | how
        return self._guarded(lambda: getattr(self._opened(), what)(**how))

    def count(self) -> int:
        """How many chunks it holds."""
        if self._dimensions() is None:
            return 0
        (found,) = self.collection(
            "query", filter="", output_fields=["count(*)"], consistency_level="Strong"
        )  # fmt: skip
        return int(found["count(*)"])

    def describe(self) -> str:
        """Where it is."""
        return f"Milvus at {urlsplit(self._settings.milvus).hostname}"

    def close(self) -> None:
        """Let the connection go."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _dimensions(self) -> int | None:
        if not self.collection("has_collection"):
            return None
        fields = self.collection("describe_collection")["fields"]
        return next(int(field["params"]["dim"]) for field in fields if field["name"] == "vector")

    def _counts(self) -> Counter[str]:
        rows = self.collection(
            "query_iterator", batch_size=_ROWS, filter="", output_fields=["id"], consistency_level="Strong"
        )  # fmt: skip
        counts: Counter[str] = Counter()
        while batch := self._guarded(rows.next):
            counts.update(_ref(row["id"])[0] for row in batch)
        rows.close()
        return counts

    def _vectors(self, refs: Sequence[Ref]) -> dict[Ref, NDArray[np.float32]]:
        found: dict[Ref, NDArray[np.float32]] = {}
        for part in _parts([_id(*ref) for ref in refs]):
            rows = self.collection("query", ids=part, output_fields=["id", "vector"], consistency_level="Strong")
            found |= {_ref(row["id"]): np.asarray(row["vector"], dtype=np.float32) for row in rows}
        return found

    def _held(self, connection: Connection, documents: Sequence[IndexedDocument]) -> set[str]:
        lift_limits(connection)
        return {document.id for document in documents if len(document.chunks) <= _ROWS and self._holds(document)}

    def _holds(self, document: IndexedDocument) -> bool:
        rows = self.collection(
            "query", filter=_among([document.id]), output_fields=["id", "vector"], consistency_level="Strong"
        )  # fmt: skip
        kept = {_ref(row["id"])[1]: row["vector"] for row in rows}
        return len(kept) == len(document.chunks) and all(
            np.array_equal(kept.get(chunk.index, ()), vector)
            for chunk, vector in zip(document.chunks, document.vectors, strict=True)
        )

    def _insert(self, connection: Connection, rows: Sequence[Row]) -> None:
        lift_limits(connection)
        data = [{"id": _id(key, index), "document": key, "vector": vector} for key, index, vector in rows]
        for part in _parts(data):
            self.collection("upsert", data=part)

    def _delete(self, connection: Connection, ids: Sequence[str]) -> None:
        lift_limits(connection)
        for part in _parts(ids):
            self.collection("delete", filter=_among(part))

    def _make(self, connection: Connection, dimensions: int | None) -> None:
        from pymilvus import DataType, MilvusClient

        lift_limits(connection)
        self.collection("drop_collection")
        if dimensions is None:
            return
        schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=64)
        schema.add_field("document", DataType.VARCHAR, max_length=32)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimensions)
        indexes = MilvusClient.prepare_index_params()
        indexes.add_index("vector", index_type="HNSW", metric_type="COSINE", params=_GRAPH)
        indexes.add_index("document", index_type="INVERTED")
        self.collection("create_collection", schema=schema, index_params=indexes, consistency_level="Session")

    def _guarded(self, act: Callable[[], Any]) -> Any:
        from grpc import RpcError
        from pymilvus import MilvusException

        until, reason = self._away
        if time.monotonic() < until:
            raise MilvusUnavailable(reason)
        try:
            return act()
        except (MilvusException, RpcError, ValueError) as error:  # the last of a channel that another thread closed
            is_gone = not isinstance(error, MilvusException) or error.code in _GONE
            does_not = "answer" if is_gone else "do what it is asked for"
            reason = f"Milvus does not {does_not}: {getattr(error, 'message', error)}"
            if is_gone:
                self._away = (time.monotonic() + _AWAY_S, reason)
                self.close()  # a client does not find a server again by itself
            raise MilvusUnavailable(reason) from error

    def _opened(self) -> Any:
        from pymilvus import MilvusClient

        with self._opening:
            if self._client is None:
                # It prints what it raises as well, with a traceback, to the error output.
                logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
                token = self._settings.milvus_token
                self._client = MilvusClient(
                    self._settings.milvus, token=token.get_secret_value() if token else "", timeout=_CONNECT_S
                )
            return self._client


def _id(document_id: str, index: int) -> str:
    return f"{document_id}:{index}"


def _ref(row: str) -> Ref:
    document_id, _, index = row.rpartition(":")
    return document_id, int(index)


def _among(ids: Sequence[str]) -> str:
    return f"document in {json.dumps(list(ids))}"


def _condition(within: Within | None) -> str:
    """What a chunk must be, as Milvus' filters have it."""
    if within is None:
        return ""
    whole = [key for key, indexes in within.rows.items() if indexes is None]
    some = [_id(key, index) for key, index in zip(*within.pairs(), strict=True) if index >= 0]
    parts = [_among(whole)] if whole else []
    return " or ".join([*parts, f"id in {json.dumps(some)}"] if some else parts)


def _parts(items: Sequence[Any]) -> Iterator[list[Any]]:
    for first in range(0, len(items), _ROWS):
        yield list(items[first : first + _ROWS])
