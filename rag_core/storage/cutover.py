"""New vectors beside those in use, and the instant in which they take their place."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import psycopg
from psycopg import Connection
from psycopg.rows import TupleRow

from accelerator.faults import reach
from rag_core.domain import Profile
from rag_core.errors import StoreUnavailable
from rag_core.storage.indexes import DerivedIndex, DumpIndex
from rag_core.storage.indexes.dumps import DumpStore
from rag_core.storage.postgres.database import Database, unavailable
from rag_core.storage.postgres.documents import DocumentStore
from rag_core.storage.postgres.new_vectors import NewVectors, take_over
from rag_core.storage.vector_generation import VectorGeneration

TARGET = "dumps-new"
"""The folder of the target profile's dumps."""


class Cutover:
    """Puts the vectors of a re-embedding in the place of those in use, whole or not at all."""

    def __init__(
        self,
        folder: Path,
        database: Database,
        documents: DocumentStore,
        new_vectors: NewVectors,
        indexes: Sequence[DerivedIndex],
        epoch: VectorGeneration,
    ) -> None:
        self._folder = folder / TARGET
        self._database, self._documents, self._new_vectors, self._epoch = database, documents, new_vectors, epoch
        self._follow = [index.name for index in indexes if index.reads_vectors and not index.needed]
        self._dumps = next(index.store for index in indexes if isinstance(index, DumpIndex))

    def target_dumps(self, profile: Profile) -> DumpStore:
        """Dumps of another profile, beside those in use; what an earlier run left is kept."""
        dumps = DumpStore(self._folder)
        dumps.use(profile)
        return dumps

    def discard(self) -> None:
        """Remove what an unfinished re-embedding has made."""
        self._new_vectors.keep_only(None)
        shutil.rmtree(self._folder, ignore_errors=True)

    def run(self, profile: Profile, target: DumpStore, applied: Callable[[], None]) -> None:
        """Put new vectors in the place of the old ones, in PostgreSQL, dumps and, later, Chroma.

        The caller holds the turns of adding, dumps and Chroma. `applied` is called in the same instant. Raises
        StoreUnavailable; the old vectors then answer still.
        """
        cut = False
        try:
            with self._database.transaction() as connection:
                ready = take_over(connection, profile, self._follow)
                reach("cutover.uncommitted")
                with self._epoch.changing():
                    self._commit(connection, profile)
                    self._dumps.cut_over(target, ready)
                    applied()
                    cut = True
        except StoreUnavailable:
            if not cut:  # otherwise only the connection was lost, after its commit
                raise
        reach("cutover.committed")
        self._dumps.take_files(target, ready)
        reach("cutover.taken")

    def finish(self) -> None:
        """Take the dumps of a cutover that was committed before a kill; those of an unfinished one are kept."""
        if self._folder.exists() and self._new_vectors.unfinished() is None:
            self._dumps.take_files(DumpStore(self._folder), self._documents.ready_ids())

    def _commit(self, connection: Connection[TupleRow], profile: Profile) -> None:
        """Commit; one that is not acknowledged is looked up. Raises StoreUnavailable when it did not happen."""
        try:
            connection.commit()
        except psycopg.OperationalError as error:
            if self._documents.profile() != profile:
                raise unavailable(error) from error
