"""What every derived index can do. One is added by one file and one line, in `INDEXES` of `indexes/__init__.py`:

    INDEXES: tuple[type[DerivedIndex], ...] = (DumpIndex, ChromaIndex, LexicalIndex, MyIndex)

A subclass says in its class data what it is called and what it reads, and takes and lets go of documents; `sync.py`
calls it with what was committed, in order, and deals with what fails. From then on it is synced, verified, repaired and
rebuilt as the others are, told of on the System page, and the fault tests kill it at every point that it names by
`reach`. Where it says what it `serves`, it is searched: "dense" by what it gives as `dense` (see `dense.py`), under its
name in the settings, doors and commands; "lexical" by the methods of `LexicalIndex`.
"""

# ruff: noqa: B027  hooks that an index leaves as they are
from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from rag_core.domain import Finding
from rag_core.errors import StoreUnavailable
from rag_core.settings import Settings
from rag_core.storage.indexes.dense import DenseIndex
from rag_core.storage.postgres.changes import ChangeLog
from rag_core.storage.postgres.contents import IndexedDocument
from rag_core.storage.postgres.database import Database
from rag_core.storage.postgres.documents import DocumentStore

if TYPE_CHECKING:
    from rag_core.storage.indexes.comparison import Comparison


class IndexUnavailable(StoreUnavailable):
    """An index as a whole does not answer, whatever it is given; the rest of the library does."""


@dataclass(frozen=True, slots=True)
class IndexContext:
    """What an index is made with: the library's folder and settings, its tables, and the log that it follows.

    `needed_turn` is the lock that indexes share whose acknowledgement makes documents ready. `wake` has what follows in
    the background begin at once.
    """

    folder: Path
    settings: Settings
    database: Database
    documents: DocumentStore
    log: ChangeLog
    needed_turn: AbstractContextManager[object]
    wake: Callable[[], None]


class DerivedIndex(ABC):
    """An index that is made from PostgreSQL, and can be at any time. One thread at a time writes to it."""

    name: ClassVar[str]
    """Its cursor's name."""
    label: ClassVar[str]
    """What people know it as; its findings name it so."""
    folders: ClassVar[tuple[str, ...]] = ()
    """Where its files are in the data directory."""
    needed: ClassVar[bool] = False
    """Whether an answer needs it: a document is not ready before such an index has taken it."""
    lull_s: ClassVar[float] = 0.0
    """How long nothing more should be committed before it follows in the background, within a minute."""
    first_s: ClassVar[float] = 5.0
    """How long after the start it first follows: the first page and answer need the processor more."""
    serves: ClassVar[Literal["", "dense", "lexical"]] = ""
    """The role in which it is searched."""
    dense: DenseIndex | None = None
    """How vectors are looked up in it, where that is its role."""
    reads_texts: ClassVar[bool] = False
    """Whether documents are given to it with their texts, sections and labels of pages."""
    reads_vectors: ClassVar[bool] = False
    """Whether documents are given to it with their vectors; it then takes all of them again after a cut-over."""

    def __init__(self, surroundings: IndexContext) -> None:
        self._log = surroundings.log
        self._documents = surroundings.documents
        self.turn = surroundings.needed_turn if self.needed else threading.RLock()
        """Held by whoever writes to it or compares it."""

    @abstractmethod
    def put(self, documents: Sequence[IndexedDocument]) -> None:
        """Take documents; harmless where it holds them. Raises IndexUnavailable, or LecternError for one at fault."""

    @abstractmethod
    def remove(self, ids: Sequence[str]) -> None:
        """Let documents go; harmless where it does not hold them. Raises as `put` does."""

    @abstractmethod
    def count(self) -> int:
        """How many chunks it holds. Raises IndexUnavailable."""

    @abstractmethod
    def verify(self, comparison: Comparison) -> Iterator[Finding]:
        """Compare it with PostgreSQL; nothing is written. Raises StoreUnavailable for PostgreSQL alone."""

    @abstractmethod
    def repair(self, findings: Sequence[Finding]) -> bool:
        """Repair what its findings say, by what it finds by then. Returns whether that was by beginning anew.

        Raises StoreUnavailable for PostgreSQL alone.
        """

    @abstractmethod
    def rebuild(self, reason: str) -> None:
        """Begin anew, empty, and be given every document. Raises StoreUnavailable."""

    def prepare(self) -> None:
        """Look, before it is given anything, whether it can be used; begin anew where it cannot.

        Raises as `put` does.
        """

    def acknowledged(self, ids: Sequence[str]) -> None:
        """Documents that it took are ready: committed, and held by every index that an answer needs."""

    def tidy(self) -> None:
        """Clear away what nobody needs, once it has followed."""

    def waiting(self) -> int:
        """How many documents it has yet to follow. Raises StoreUnavailable."""
        return self._log.waiting(self.name).documents

    @classmethod
    def is_kept(cls, settings: Settings) -> bool:
        """Whether a library with these settings has it."""
        return True

    def note(self) -> str | None:
        """What the user should know of it. Raises StoreUnavailable."""
        return None

    def describe(self) -> str:
        """Where it is and what it holds, in a few words."""
        return ""

    def stop(self) -> None:
        """The library is being closed: end what takes long."""

    def close(self) -> None:
        """Let files and connections go; harmless when done twice."""

    def _take_all(self) -> None:
        """Have every document given to it, due at once."""
        self._log.queue([self.name])
