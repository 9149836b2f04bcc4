"""What is done with Chroma, in the one process that has it loaded: functions that `ChromaStore` has called there.

Each takes the place of an index and the profile of its vectors. All raise ChromaUnavailable.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import urlparse

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Profile
from rag_core.errors import ConfigurationError
from rag_core.storage.indexes.base import IndexUnavailable

BATCH = 5000
"""Rows in one call; Chroma takes at most 5461."""
_HEARTBEAT_S = 5.0
_REQUEST_S = 60.0
_HNSW = {"space": "cosine", "ef_search": 400}
# Summaries and centroids lie near their mean: with 16 neighbours each, up to 24 of 64 had none that led to them.
_CROWDED = {"max_neighbors": 64, "ef_construction": 200}

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Metadata = dict[str, str | int]


class ChromaUnavailable(IndexUnavailable):
    """Chroma does not answer; the rest of the library does."""

    default_help = "Search goes on with the dump files. Where CHROMA_URL is set, check the server that it names."


@dataclass(frozen=True, slots=True)
class ChromaPlace:
    """Where an index is: in a folder, or on a server at an address."""

    folder: Path
    url: str | None = None

    @property
    def address(self) -> tuple[str, int, bool] | None:
        """Host, port and whether it is HTTPS; None for a folder. Raises ConfigurationError."""
        return None if self.url is None else _address(self.url)


@dataclass(frozen=True, slots=True)
class ChromaRows:
    """Rows as Chroma holds them. `vectors` is float32 (n, d)."""

    ids: list[str]
    texts: list[str]
    vectors: NDArray[np.float32]


_clients: dict[ChromaPlace, Any] = {}


def _guarded(
    act: Callable[Concatenate[ChromaPlace, Profile, Arguments], Result],
) -> Callable[Concatenate[ChromaPlace, Profile, Arguments], Result]:
    """A function whose complaints of Chroma are ChromaUnavailable."""

    @functools.wraps(act)
    def run(place: ChromaPlace, profile: Profile, /, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        with _translated():
            return act(place, profile, *arguments, **named)

    return run


@_guarded
def add(
    place: ChromaPlace, profile: Profile, ids: list[str], metadatas: list[Metadata], texts: list[str],
    vectors: NDArray[np.float32],
) -> None:  # fmt: skip
    """Write at most BATCH rows; those whose id is there already are left, as they are the same."""
    _collection(place, profile).add(ids=ids, embeddings=vectors, documents=texts, metadatas=metadatas)


@_guarded
def remove(place: ChromaPlace, profile: Profile, document_ids: list[str]) -> None:
    """Remove every row of some documents."""
    _collection(place, profile).delete(where={"document": {"$in": document_ids}})


@_guarded
def remove_rows(place: ChromaPlace, profile: Profile, ids: list[str]) -> None:
    """Remove at most BATCH rows by their ids; unknown ones are no error."""
    _collection(place, profile).delete(ids=ids)


@_guarded
def clear(place: ChromaPlace, profile: Profile) -> None:
    """Delete the collections of a profile, where there are any."""
    client = _client(place)
    for name in {item.name for item in client.list_collections()} & {collection_name(profile), hierarchy_name(profile)}:
        client.delete_collection(name)


@_guarded
def count(place: ChromaPlace, profile: Profile) -> int:
    """How many rows there are."""
    return int(_collection(place, profile).count())


@_guarded
def records(place: ChromaPlace, profile: Profile, first: int) -> dict[str, Metadata]:
    """At most BATCH rows from one on: what is kept beside each, by id."""
    part = _collection(place, profile).get(include=["metadatas"], limit=BATCH, offset=first)
    return dict(zip(part["ids"], part["metadatas"], strict=True))


@_guarded
def rows(place: ChromaPlace, profile: Profile, ids: list[str]) -> ChromaRows:
    """The rows among at most BATCH ids, in any order."""
    part = _collection(place, profile).get(ids=ids, include=["documents", "embeddings"])
    vectors = np.asarray(part["embeddings"], dtype=np.float32).reshape(-1, profile.dimensions)
    return ChromaRows(part["ids"], [text or "" for text in part["documents"]], vectors)


@_guarded
def nearest(
    place: ChromaPlace, profile: Profile, query: NDArray[np.float32], k: int, documents: list[str] | None,
    ids: list[str] | None,
) -> list[str]:  # fmt: skip
    """The ids of about the k nearest rows of those documents, or of those ids, alone. query: float32 (d,)."""
    where = None if documents is None else {"document": {"$in": documents}}
    found = _collection(place, profile).query(query_embeddings=[query], n_results=k, include=[], where=where, ids=ids)
    return list(found["ids"][0])


@_guarded
def hierarchy(place: ChromaPlace, profile: Profile, first: int) -> dict[str, Metadata]:
    """The same as `records` of the collection of summaries and clusters."""
    if hierarchy_name(profile) not in {item.name for item in _client(place).list_collections()}:
        return {}
    part = _hierarchy(place, profile).get(include=["metadatas"], limit=BATCH, offset=first)
    return dict(zip(part["ids"], part["metadatas"], strict=True))


@_guarded
def change_hierarchy(
    place: ChromaPlace, profile: Profile, wrong: list[str], ids: list[str], metadatas: list[Metadata],
    texts: list[str], vectors: Sequence[NDArray[np.float32]],
) -> None:  # fmt: skip
    """Delete rows of summaries and clusters by their ids, and add others."""
    collection = _hierarchy(place, profile)
    for first in range(0, len(wrong), BATCH):
        collection.delete(ids=wrong[first : first + BATCH])
    for first in range(0, len(ids), BATCH):
        part = slice(first, first + BATCH)
        collection.add(
            ids=ids[part], embeddings=list(vectors[part]), documents=texts[part], metadatas=metadatas[part]
        )  # fmt: skip


def close(place: ChromaPlace) -> None:
    """Let the client go, its files in good order."""
    client = _clients.pop(place, None)
    if client is not None and place.url is None:
        with contextlib.suppress(AttributeError):
            client.close()


def collection_name(profile: Profile) -> str:
    """The collection that holds the vectors of a profile."""
    return f"lectern-{profile.id}"


def hierarchy_name(profile: Profile) -> str:
    """The collection that holds summaries and clusters of a profile."""
    return f"{collection_name(profile)}-hierarchy"


def _collection(place: ChromaPlace, profile: Profile) -> Any:
    return _named(place, collection_name(profile), _HNSW)


def _hierarchy(place: ChromaPlace, profile: Profile) -> Any:
    return _named(place, hierarchy_name(profile), {**_HNSW, **_CROWDED})


def _named(place: ChromaPlace, name: str, hnsw: Mapping[str, object]) -> Any:
    return _client(place).get_or_create_collection(name, embedding_function=None, configuration={"hnsw": hnsw})


def _client(place: ChromaPlace) -> Any:
    if place not in _clients:
        _clients[place] = _connect(place)
    return _clients[place]


def _connect(place: ChromaPlace) -> Any:
    import chromadb
    from chromadb.config import Settings as ChromaSettings

    quiet = ChromaSettings(anonymized_telemetry=False)
    if place.address is None:
        place.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return chromadb.PersistentClient(str(place.folder), settings=quiet)
    _await_heartbeat(*place.address)
    host, port, secure = place.address
    client = chromadb.HttpClient(host=host, port=port, ssl=secure, settings=quiet)
    # Chroma's own requests have no limit of time: a server that hangs would hang whoever closes the library.
    with contextlib.suppress(AttributeError):
        client._server._session.timeout = _REQUEST_S  # type: ignore[attr-defined]
    return client


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
