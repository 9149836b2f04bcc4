"""Chroma: an index that can be rebuilt from PostgreSQL at any time, kept in a process of its own.

Damaged index files can end the process that opens them, its graph is built on all cores, and while it adds, no other
thread of Python runs: so nothing of it is loaded here. A process that is spoken to by pipes has no port that others of
this machine could read all texts from, which Chroma's own server would have: that one asks nobody who they are.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from accelerator.atomic import write_atomically
from accelerator.faults import reach
from rag_core.domain import Profile
from rag_core.runtime.low_priority import LowPriorityProcess, ProcessEnded
from rag_core.runtime.precedence import PRECEDENCE
from rag_core.storage.indexes import chroma_client as client
from rag_core.storage.indexes.chroma_client import BATCH, ChromaPlace, ChromaRows, ChromaUnavailable, Metadata
from rag_core.storage.postgres.contents import IndexedChunk, IndexedDocument

__all__ = ["BATCH", "ChromaBatch", "ChromaRows", "ChromaStore", "ChromaUnavailable"]

_log = logging.getLogger(__name__)
# A search by Chroma waits for one such call.
_ADDED = 100
_CALL_S = 120.0
_LEFT = "left.sound"
UNFINISHED = "it was not left in good order"
"""The doubt about a folder whose Lectern was killed, or was of an earlier release: nothing is known to be wrong."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@dataclass(slots=True)
class ChromaBatch:
    """Chunks on their way to Chroma, under ids `document:index`, with their vectors, float32 (n, d) each.

    `metadatas` say of each its document, title, source, page, page_label, section and index.
    """

    ids: list[str] = field(default_factory=list)
    metadatas: list[Metadata] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    vectors: list[NDArray[np.float32]] = field(default_factory=list)

    def add(self, document: IndexedDocument) -> None:
        """Add all chunks of a document in order."""
        self.ids += [f"{document.id}:{chunk.index}" for chunk in document.chunks]
        self.metadatas += [_metadata(document, chunk) for chunk in document.chunks]
        self.texts += [chunk.text for chunk in document.chunks]
        self.vectors.append(document.vectors)


class ChromaStore:
    """One collection per embedding profile. Its process is started when it is first needed. Thread-safe.

    Whatever goes wrong with its folder is a doubt, and so is one that was not left in good order: it is then not
    opened again before `clear`. A server cannot be doubted, it can only be away.

    Raises on making: ConfigurationError, for what is not an address.
    """

    def __init__(self, folder: Path, url: str | None) -> None:
        self._place = ChromaPlace(folder, url or None)
        self.is_server = self._place.address is not None
        self._process = LowPriorityProcess(_CALL_S)
        self._stopped = threading.Event()
        self._opened = self.is_server
        self._used = time.monotonic()
        self.doubt = ""
        """Why its folder is not used as it is."""

    @property
    def folder(self) -> Path | None:
        """Where its files are; None for a server's."""
        return None if self.is_server else self._place.folder

    @property
    def is_open(self) -> bool:
        """Whether it was looked at and can be used."""
        return self._opened and not self.doubt

    @property
    def idle_s(self) -> float:
        """For how long it was asked nothing, in seconds."""
        return time.monotonic() - self._used

    def look(self) -> None:
        """Doubt a folder that was not left in good order, or is another than was left. Once, before it is opened."""
        if self._opened or self.doubt:
            return
        left = self._place.folder / _LEFT
        try:
            if not self._place.folder.exists():
                self._opened = True
            elif left.read_text(encoding="utf-8") == _state(self._place.folder):
                left.unlink()  # a kill from here on leaves none
                self._opened = True
            else:
                self.doubt = "its files are others than were left"
        except (OSError, ValueError):
            self.doubt = UNFINISHED

    def clear(self, profile: Profile | None) -> None:
        """Begin anew, empty; on a server without the collections of a profile. Raises ChromaUnavailable, OSError."""
        if self.is_server:
            if profile is not None:
                self._call(client.clear, profile)
            return
        self._process.rest()
        folder = self._place.folder
        if folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder)
        else:
            folder.unlink(missing_ok=True)
        self.doubt, self._opened = "", True

    def add(self, profile: Profile, batch: ChromaBatch) -> None:
        """Write chunks; those whose id is there already are left, as they are the same. Raises ChromaUnavailable."""
        vectors = np.concatenate(batch.vectors)
        for first in range(0, len(batch.ids), _ADDED):
            if self._stopped.is_set():
                raise ChromaUnavailable("The library is being closed.", help="It goes on when it is opened.")
            part = slice(first, first + _ADDED)
            PRECEDENCE.give_way()
            reach("chroma.adding")
            # Not upsert: in Chroma 1.5 deletions after upserts take half a minute in an unsynced index.
            self._call(client.add, profile, batch.ids[part], batch.metadatas[part], batch.texts[part], vectors[part])
            reach("chroma.added")

    def remove(self, profile: Profile, document_ids: Sequence[str]) -> None:
        """Remove every chunk of some documents. Raises ChromaUnavailable."""
        self._call(client.remove, profile, list(document_ids))
        reach("chroma.removed")

    def remove_rows(self, profile: Profile, ids: Sequence[str]) -> None:
        """Remove rows by their ids; unknown ones are no error. Raises ChromaUnavailable."""
        for first in range(0, len(ids), BATCH):
            self._call(client.remove_rows, profile, list(ids[first : first + BATCH]))

    def forget(self, stale: Profile) -> None:
        """Delete the collections of a profile that is in use no longer. Raises ChromaUnavailable."""
        self._call(client.clear, stale)

    def records(self, profile: Profile) -> Iterator[tuple[str, Metadata]]:
        """Every row: its id, and what is kept beside it. Raises ChromaUnavailable."""
        return self._all(client.records, profile)

    def rows(self, profile: Profile, ids: Sequence[str]) -> ChromaRows:
        """The rows among some ids, in any order. Raises ChromaUnavailable."""
        parts = [
            self._call(client.rows, profile, list(ids[first : first + BATCH])) for first in range(0, len(ids), BATCH)
        ]
        none = np.empty((0, profile.dimensions), np.float32)
        return ChromaRows(
            [row for part in parts for row in part.ids], [text for part in parts for text in part.texts],
            np.concatenate([none, *(part.vectors for part in parts)]),
        )  # fmt: skip

    def nearest(
        self, profile: Profile, query: NDArray[np.float32], k: int, *, documents: Sequence[str] | None = None,
        rows: Sequence[str] | None = None,
    ) -> list[tuple[str, int]]:  # fmt: skip
        """About the k nearest chunks: (document id, index). query: float32 (d,).

        documents, rows: ids of those alone that are searched. Raises ChromaUnavailable.
        """
        among = [None if ids is None else list(ids) for ids in (documents, rows)]
        found = (key.rpartition(":") for key in self._call(client.nearest, profile, query, k, *among))
        return [(document_id, int(index)) for document_id, _, index in found]

    def count(self, profile: Profile) -> int:
        """How many chunks it holds. Raises ChromaUnavailable."""
        return self._call(client.count, profile)

    def hierarchy(self, profile: Profile) -> Iterator[tuple[str, Metadata]]:
        """Every row of the collection of summaries and clusters, where there is one. Raises ChromaUnavailable."""
        return self._all(client.hierarchy, profile)

    def change_hierarchy(self, profile: Profile, wrong: Sequence[str], batch: ChromaBatch) -> None:
        """Delete rows of that collection by their ids, and add others. Raises ChromaUnavailable."""
        self._call(
            client.change_hierarchy, profile, list(wrong), batch.ids, batch.metadatas, batch.texts, batch.vectors
        )  # fmt: skip

    def where(self) -> str:
        """Where it is, for people."""
        return self._place.url or "embedded"

    def rest(self) -> None:
        """End its process until the next call; how its files are left is noted, so that they are opened as they are."""
        if self._process.runs:
            try:
                self._ask(client.close, self._place)
            except ProcessEnded as error:
                self._doubt(str(error))
            self._process.rest()
        folder = self._place.folder
        if self._opened and not self.is_server and not self.doubt and folder.is_dir():
            self._opened = False
            with contextlib.suppress(OSError):  # it is made anew then
                write_atomically(folder / _LEFT, [_state(folder).encode()])

    def stop(self) -> None:
        """Add no more than the part that is under way; a server's answer is not waited for."""
        self._stopped.set()
        if self.is_server:
            self._process.close()

    def _all(
        self, act: Callable[[ChromaPlace, Profile, int], dict[str, Metadata]], profile: Profile
    ) -> Iterator[tuple[str, Metadata]]:
        first = 0
        while part := self._call(act, profile, first):
            yield from part.items()
            first += len(part)

    def _call(
        self, act: Callable[Concatenate[ChromaPlace, Profile, Arguments], Result], profile: Profile,
        *arguments: Arguments.args, **named: Arguments.kwargs,
    ) -> Result:  # fmt: skip
        self.look()
        if self.doubt:
            raise ChromaUnavailable(f"Chroma's index is made anew: {self.doubt}.", help="It is there in a while.")
        self._used = time.monotonic()
        try:
            return self._ask(act, self._place, profile, *arguments)
        except ProcessEnded as error:
            self._doubt("its process has ended")
            raise ChromaUnavailable(f"Chroma failed: {error}") from error
        except ChromaUnavailable as error:
            self._doubt(str(error))
            raise

    def _ask(self, act: Callable[..., Result], *arguments: object) -> Result:
        if self._process.has_ended and not self.is_server:  # a new one would open what the other left midway
            raise ProcessEnded("A process that worked in the background has ended.")
        return self._process(act, *arguments)

    def _doubt(self, reason: str) -> None:
        if not self.is_server:
            _log.warning("Chroma's index is in doubt: %s", reason)
            self.doubt = reason
        self._process.rest()


def _metadata(document: IndexedDocument, chunk: IndexedChunk) -> Metadata:
    """What a client of LangChain filters by and cites."""
    return {
        "document": document.id, "title": document.title, "source": document.source, "page": chunk.page,
        "page_label": chunk.page_label, "section": chunk.section, "index": chunk.index,
    }  # fmt: skip


def _state(folder: Path) -> str:
    """A text that is another once any file is, by its size and when it changed. Raises OSError."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != _LEFT)
    seen = [(path.relative_to(folder), path.stat()) for path in files]
    return "\n".join(f"{name} {stat.st_size} {stat.st_ctime_ns}" for name, stat in seen)
