"""Chroma: an index that can be rebuilt from PostgreSQL at any time."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import numpy as np
from numpy.typing import NDArray

from accelerator.faults import reach
from rag_core.domain import Profile
from rag_core.errors import ConfigurationError
from rag_core.storage.indexes.base import IndexUnavailable
from rag_core.storage.postgres.contents import IndexedChunk, IndexedDocument

BATCH = 5000
"""Rows in one call; Chroma takes at most 5461."""
# No other thread of Python runs while Chroma adds: a search waits for some 50 ms, not for seconds.
_ADDED = 100
_HEARTBEAT_S = 5.0
_TIMEOUT_S = 60.0
_NICENESS = 10
# Written early, its index files can be damaged by a kill for good; kept in its write-ahead log they are not.
_HNSW = {"space": "cosine", "sync_threshold": 10_000_000, "ef_search": 400}
# Summaries and centroids lie near their mean: with 16 neighbours each, up to 24 of 64 had none that led to them.
_CROWDED = {"max_neighbors": 64, "ef_construction": 200}
# How long a search that was asked for with Chroma waits for its index to be judged.
_PATIENCE_S = 15.0


class ChromaUnavailable(IndexUnavailable):
    """Chroma does not answer; the rest of the library does."""

    default_help = (
        "Search goes on with the dump files. Check CHROMA_URL; without it, close Lectern and remove the folder chroma"
        " of the library: it is made anew."
    )


@dataclass(slots=True)
class ChromaBatch:
    """Chunks on their way to Chroma, under ids `document:index`, with their vectors, float32 (n, d) each.

    `metadatas` say of each its document, title, source, page, page_label, section and index.
    """

    ids: list[str] = field(default_factory=list)
    metadatas: list[dict[str, str | int]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    vectors: list[NDArray[np.float32]] = field(default_factory=list)

    def add(self, document: IndexedDocument) -> None:
        """Add all chunks of a document in order."""
        self.ids += [f"{document.id}:{chunk.index}" for chunk in document.chunks]
        self.metadatas += [_metadata(document, chunk) for chunk in document.chunks]
        self.texts += [chunk.text for chunk in document.chunks]
        self.vectors.append(document.vectors)


@dataclass(frozen=True, slots=True)
class ChromaRows:
    """Rows as Chroma holds them. `vectors` is float32 (n, d)."""

    ids: list[str]
    texts: list[str]
    vectors: NDArray[np.float32]


class ChromaStore:
    """One collection per embedding profile, opened when it is first needed (importing Chroma takes a second).

    Its folder is opened once a guard has judged it: damaged index files can end the process. After a failure it is
    closed and must be judged again.
    """

    def __init__(self, folder: Path, url: str | None) -> None:
        self._folder = folder
        self._url = url or None
        self._address = _address(url) if url else None
        self._client: Any = None
        self._collection: Any = None
        self._lock = threading.RLock()
        self._trusted = threading.Event()
        self._told = threading.Event()
        if url is not None:
            self.trust()

    @property
    def folder(self) -> Path | None:
        """Where its files are; None for a server's."""
        return None if self._url else self._folder

    @property
    def trusted(self) -> bool:
        """Whether it may be opened in this process."""
        return self._trusted.is_set()

    def trust(self) -> None:
        """It was judged and may be opened."""
        self._trusted.set()
        self._told.set()

    def distrust(self) -> None:
        """Close it; it is opened again once it was judged. A server's is only closed: it cannot end this process."""
        with self._lock:
            if self._url is None:
                self._trusted.clear()
                self._told.clear()
            self.close()

    def await_judgement(self) -> bool:
        """Wait some seconds for an index that is being judged. Returns whether it may be opened."""
        self._told.wait(_PATIENCE_S)
        return self.trusted

    def set_aside(self, profile: Profile, moment: str) -> None:
        """Begin anew with an empty index; the old files are kept as `chroma.broken-MOMENT`, those before are removed.

        On a server the collection is deleted. Raises ChromaUnavailable, OSError.
        """
        with self._lock:
            self.distrust()
            if self._url is None:
                for older in self._folder.parent.glob(f"{self._folder.name}.broken-*"):
                    shutil.rmtree(older, ignore_errors=True)
                if self._folder.exists():
                    self._folder.rename(self._folder.with_name(f"{self._folder.name}.broken-{moment}"))
                self.trust()
                return
            with self._guarded():
                self._open(profile)
                self._client.delete_collection(collection_name(profile))
            self.close()

    def add(self, profile: Profile, batch: ChromaBatch) -> None:
        """Write chunks; those whose id is there already are left, as they are the same. Raises ChromaUnavailable."""
        vectors = np.concatenate(batch.vectors)
        with self._lock, self._guarded():
            collection = self._built(profile)
            for first in range(0, len(batch.ids), _ADDED):
                part = slice(first, first + _ADDED)
                reach("chroma.adding")
                # Not upsert: in Chroma 1.5 deletions after upserts take half a minute in an unsynced index.
                collection.add(
                    ids=batch.ids[part],
                    embeddings=vectors[part],
                    documents=batch.texts[part],
                    metadatas=batch.metadatas[part],  # type: ignore[arg-type]
                )
                reach("chroma.added")

    def remove(self, profile: Profile, document_ids: Sequence[str]) -> None:
        """Remove every chunk of some documents. Raises ChromaUnavailable."""
        with self._lock, self._guarded():
            self._built(profile).delete(where={"document": {"$in": list(document_ids)}})
        reach("chroma.removed")

    def remove_rows(self, profile: Profile, ids: Sequence[str]) -> None:
        """Remove rows by their ids; unknown ones are no error. Raises ChromaUnavailable."""
        with self._lock, self._guarded():
            collection = self._built(profile)
            for first in range(0, len(ids), BATCH):
                collection.delete(ids=list(ids[first : first + BATCH]))

    def forget(self, stale: Profile, present: Profile) -> None:
        """Delete the collection of a profile that is in use no longer. Raises ChromaUnavailable."""
        with self._lock, self._guarded():
            self._open(present)
            held = {item.name for item in self._client.list_collections()}
            for name in held & {collection_name(stale), hierarchy_name(stale)}:
                self._client.delete_collection(name)

    @contextlib.contextmanager
    def hierarchy(self, profile: Profile, *, create: bool) -> Iterator[Any]:
        """The collection of summaries and clusters; None where there is none and it is not to be created.

        Chroma's complaints within the block are raised as ChromaUnavailable.
        """
        with self._lock, self._guarded():
            self._open(profile)
            name = hierarchy_name(profile)
            if create or name in {item.name for item in self._client.list_collections()}:
                yield self._client.get_or_create_collection(
                    name, embedding_function=None, configuration={"hnsw": {**_HNSW, **_CROWDED}}
                )
            else:
                yield None

    def places(self, profile: Profile) -> Iterator[tuple[str, str]]:
        """Id and document of every row. Raises ChromaUnavailable."""
        first = 0
        while True:
            with self._lock, self._guarded():
                part = self._open(profile).get(include=["metadatas"], limit=BATCH, offset=first)
            if not part["ids"]:
                return
            for row, metadata in zip(part["ids"], part["metadatas"], strict=True):
                yield row, str((metadata or {}).get("document"))
            first += len(part["ids"])

    def rows(self, profile: Profile, ids: Sequence[str]) -> ChromaRows:
        """The rows among some ids, in any order. Raises ChromaUnavailable."""
        found: list[str] = []
        texts: list[str] = []
        vectors = [np.empty((0, profile.dimensions), np.float32)]
        for first in range(0, len(ids), BATCH):
            wanted = list(ids[first : first + BATCH])
            with self._lock, self._guarded():
                part = self._open(profile).get(ids=wanted, include=["documents", "embeddings"])
                vectors.append(np.asarray(part["embeddings"], dtype=np.float32).reshape(-1, profile.dimensions))
            found += part["ids"]
            texts += [text or "" for text in part["documents"]]
        return ChromaRows(found, texts, np.concatenate(vectors))

    def nearest(
        self,
        profile: Profile,
        query: NDArray[np.float32],
        k: int,
        *,
        documents: Sequence[str] | None = None,
        rows: Sequence[str] | None = None,
    ) -> list[tuple[str, int]]:
        """About the k nearest chunks: (document id, index). query: float32 (d,).

        documents, rows: ids of those alone that are searched. Raises ChromaUnavailable.
        """
        where = None if documents is None else {"document": {"$in": list(documents)}}
        only = None if rows is None else list(rows)
        with self._lock, self._guarded():
            found = self._open(profile).query(query_embeddings=[query], n_results=k, include=[], where=where, ids=only)
        places = (key.rpartition(":") for key in found["ids"][0])
        return [(document_id, int(index)) for document_id, _, index in places]

    def count(self, profile: Profile) -> int:
        """How many chunks it holds. Raises ChromaUnavailable."""
        with self._lock, self._guarded():
            return int(self._built(profile).count())

    def where(self) -> str:
        """Where it is, for people."""
        return self._url or "embedded"

    def close(self) -> None:
        """Let the client go."""
        with self._lock:
            if self._client is not None and self._url is None:
                with contextlib.suppress(AttributeError):
                    self._client.close()
            self._client = self._collection = None

    def _open(self, profile: Profile) -> Any:
        if not self.trusted:
            raise ChromaUnavailable("Chroma's index is being looked over.", help="It is ready in a moment.")
        if self._collection is None:
            self._client = self._connect()
            self._collection = self._client.get_or_create_collection(
                collection_name(profile), embedding_function=None, configuration={"hnsw": _HNSW}
            )
        return self._collection

    def _built(self, profile: Profile) -> Any:
        """The collection, its graph built: in any call but get and query all threads of Python would wait for that."""
        collection = self._open(profile)
        collection.get(limit=1, include=[])
        return collection

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """Chroma's complaints as ChromaUnavailable; an index that failed is not trusted any longer."""
        was_trusted = self.trusted
        try:
            with _translated():
                yield
        except ChromaUnavailable:
            if was_trusted:
                self.distrust()
            raise

    def _connect(self) -> Any:
        import chromadb
        from chromadb.config import Settings as ChromaSettings

        quiet = ChromaSettings(anonymized_telemetry=False)
        if self._address is None:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with _in_the_background() as apart:
                return apart.submit(chromadb.PersistentClient, str(self._folder), settings=quiet).result()
        # Chroma's own requests have no limit of time: a server that hangs would hang whoever closes the library.
        _await_heartbeat(*self._address)
        host, port, secure = self._address
        client = chromadb.HttpClient(host=host, port=port, ssl=secure, settings=quiet)
        with contextlib.suppress(AttributeError):
            client._server._session.timeout = _TIMEOUT_S  # type: ignore[attr-defined]
        return client


def _in_the_background() -> ThreadPoolExecutor:
    """A thread of low priority, which those that it starts inherit: Chroma's build its graph for minutes on all cores.

    Only Linux has priorities of threads.
    """
    if sys.platform == "linux":
        return ThreadPoolExecutor(1, initializer=os.nice, initargs=(_NICENESS,))
    return ThreadPoolExecutor(1)


def _metadata(document: IndexedDocument, chunk: IndexedChunk) -> dict[str, str | int]:
    """What a client of LangChain filters by and cites."""
    return {
        "document": document.id, "title": document.title, "source": document.source, "page": chunk.page,
        "page_label": chunk.page_label, "section": chunk.section, "index": chunk.index,
    }  # fmt: skip


def collection_name(profile: Profile) -> str:
    """The collection that holds the vectors of a profile."""
    return f"lectern-{profile.id}"


def hierarchy_name(profile: Profile) -> str:
    """The collection that holds summaries and clusters of a profile."""
    return f"{collection_name(profile)}-hierarchy"


def _address(url: str) -> tuple[str, int, bool]:
    """Host, port and whether it is HTTPS. Raises ConfigurationError."""
    address = urlparse(url if "//" in url else f"http://{url}")
    try:
        host, port = address.hostname, address.port
    except ValueError:
        host, port = None, None
    if not host or address.scheme not in ("http", "https"):
        raise ConfigurationError(f"CHROMA_URL is not an address: {url}", help="Write it like http://127.0.0.1:8000")
    secure = address.scheme == "https"
    return host, port or (443 if secure else 8000), secure


def _await_heartbeat(host: str, port: int, secure: bool) -> None:
    import httpx

    place = f"[{host}]" if ":" in host else host
    url = f"http{'s' if secure else ''}://{place}:{port}/api/v2/heartbeat"
    httpx.get(url, timeout=_HEARTBEAT_S).raise_for_status()


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    import httpx
    from chromadb.errors import ChromaError

    try:
        yield
    # Chroma raises ValueError where its server cannot be reached, RuntimeError for faults of its Rust core, and
    # AttributeError on clearing away what it could not open, a damaged folder.
    except (ChromaError, httpx.HTTPError, OSError, ValueError, RuntimeError, AttributeError) as error:
        raise ChromaUnavailable(f"Chroma does not answer: {error}") from error
    except BaseException as error:
        # A panic of its Rust core is no Exception, and its class cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        raise ChromaUnavailable(f"Chroma failed: {error}") from error
