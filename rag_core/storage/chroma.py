"""Chroma: an index that can be made again from PostgreSQL at any time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Profile
from rag_core.errors import ConfigurationError, StoreUnavailable

# Chroma takes at most 5461 rows in one call.
_BATCH = 5000
# Written early, its index files can be damaged by a kill for good; kept in its write-ahead log they are not.
_HNSW = {"space": "cosine", "sync_threshold": 10_000_000, "ef_search": 400}


class ChromaUnavailable(StoreUnavailable):
    """Chroma does not answer; the rest of the library does."""

    default_help = (
        "Search goes on with the dump files. Check CHROMA_URL; without it, close Lectern and remove the folder chroma"
        " of the library: it is made anew."
    )


@dataclass(slots=True)
class ChromaBatch:
    """Chunks on their way to Chroma, under ids `document:index`, with their vectors, float32 (n, d) each."""

    ids: list[str] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    vectors: list[NDArray[np.float32]] = field(default_factory=list)

    def add(self, document_id: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Add all chunks of a document in order."""
        self.ids += [f"{document_id}:{index}" for index in range(len(texts))]
        self.documents += [document_id] * len(texts)
        self.texts += texts
        self.vectors.append(vectors)


class ChromaIndex:
    """One collection per embedding profile, opened when it is first needed (importing Chroma takes a second)."""

    def __init__(self, folder: Path, url: str | None) -> None:
        self._folder = folder
        self._url = url
        self._client: Any = None
        self._collection: Any = None
        self._lock = threading.RLock()

    def add(self, profile: Profile, batch: ChromaBatch) -> None:
        """Write chunks; those whose id is there already are left, as they are the same. Raises ChromaUnavailable."""
        vectors = np.concatenate(batch.vectors)
        with self._lock, _translated():
            collection = self._open(profile)
            for first in range(0, len(batch.ids), _BATCH):
                part = slice(first, first + _BATCH)
                # Not upsert: in Chroma 1.5 deletions after upserts take half a minute in an unsynced index.
                collection.add(
                    ids=batch.ids[part],
                    embeddings=vectors[part],
                    documents=batch.texts[part],
                    metadatas=[{"document": document} for document in batch.documents[part]],
                )

    def remove(self, profile: Profile, document_ids: Sequence[str]) -> None:
        """Remove every chunk of some documents. Raises ChromaUnavailable."""
        with self._lock, _translated():
            self._open(profile).delete(where={"document": {"$in": list(document_ids)}})

    def nearest(self, profile: Profile, query: NDArray[np.float32], k: int) -> list[tuple[str, int]]:
        """About the k nearest chunks: (document id, index). query: float32 (d,). Raises ChromaUnavailable."""
        with self._lock, _translated():
            found = self._open(profile).query(query_embeddings=[query], n_results=k, include=[])
        places = (key.rpartition(":") for key in found["ids"][0])
        return [(document_id, int(index)) for document_id, _, index in places]

    def count(self, profile: Profile) -> int:
        """How many chunks it holds. Raises ChromaUnavailable."""
        with self._lock, _translated():
            return int(self._open(profile).count())

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
        if self._collection is None:
            self._client = self._connect()
            self._collection = self._client.get_or_create_collection(
                f"lectern-{profile.id}", embedding_function=None, configuration={"hnsw": _HNSW}
            )
        return self._collection

    def _connect(self) -> Any:
        import chromadb
        from chromadb.config import Settings as ChromaSettings

        quiet = ChromaSettings(anonymized_telemetry=False)
        if self._url is None:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            return chromadb.PersistentClient(str(self._folder), settings=quiet)
        address = urlparse(self._url if "//" in self._url else f"http://{self._url}")
        if not address.hostname:
            raise ConfigurationError(
                f"CHROMA_URL is not an address: {self._url}", help="Write it like http://127.0.0.1:8000"
            )
        secure = address.scheme == "https"
        port = address.port or (443 if secure else 8000)
        return chromadb.HttpClient(host=address.hostname, port=port, ssl=secure, settings=quiet)


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
