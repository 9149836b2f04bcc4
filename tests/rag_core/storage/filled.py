"""A library filled without reading or embedding anything, and ways to damage a file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from rag_core.domain import Chunk, Finding, Page, ParsedDocument, Profile
from rag_core.storage import Accepted, Storage, Stored
from rag_core.storage.indexes import ChromaIndex, DumpIndex, LexicalIndex
from rag_core.storage.indexes.comparison import Comparison
from rag_core.storage.postgres.contents import IndexedDocument


class IdleChroma(ChromaIndex):
    """Chroma left out, for tests of what has nothing to do with it: it takes seconds."""

    def prepare(self) -> None: ...

    def put(self, documents: Sequence[IndexedDocument]) -> None: ...

    def remove(self, ids: Sequence[str]) -> None: ...

    def tidy(self) -> None: ...

    def verify(self, comparison: Comparison) -> Iterator[Finding]:
        yield from ()


WITHOUT_CHROMA = (DumpIndex, IdleChroma, LexicalIndex)
PROFILE = Profile("test", "test", "1", 8, "mean", "float32")


def fill(storage: Storage, count: int = 4, chunks: int = 3) -> list[str]:
    """Add documents with vectors drawn by chance to every store. Returns their ids."""
    batch = [stored(storage, number, chunks) for number in range(count)]
    storage.commit(batch, PROFILE)
    storage.settle()
    return [item.document_id for item in batch]


def stored(storage: Storage, number: int, count: int) -> Stored:
    data = f"document {number}".encode()
    sha256 = hashlib.sha256(data).hexdigest()
    document_id = sha256[:32]
    storage.files.write(document_id, [data])
    storage.documents.accept([Accepted(document_id, sha256, f"{number}.txt", "text/plain", len(data))])
    texts = [f"chunk {index} of document {number}" for index in range(count)]
    chunks = [
        Chunk(document_id, i, 1, 0, 5, text, hashlib.md5(text.encode()).hexdigest()) for i, text in enumerate(texts)
    ]
    vectors = np.random.default_rng(number).standard_normal((count, PROFILE.dimensions)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return Stored(
        document_id, ParsedDocument("text/plain", (Page(1, data.decode()),), title=f"Title {number}"), chunks, vectors
    )


def truncate(share: float) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        data = path.read_bytes()
        path.write_bytes(data[: int(len(data) * share)])

    return damage


def cut_to(size: int) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(path.read_bytes()[:size])


def flip(place: int) -> Callable[[Path], None]:
    """One bit, in the byte at `place`, counted from the end where negative."""

    def damage(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[place] ^= 0x10
        path.write_bytes(data)

    return damage


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def delete(path: Path) -> None:
    path.unlink()


def make_unreadable(path: Path) -> None:
    """By its mode, or, for a user whom no mode stops, by a folder in its place."""
    if os.geteuid():
        path.chmod(0)
    else:
        path.unlink()
        path.mkdir()
