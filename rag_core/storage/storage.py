"""The stores as one: opened together, recovered on opening, closed together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from accelerator.backends.choosing import choose
from rag_core.domain import BackupReport, LibraryServer, Profile
from rag_core.errors import StoreUnavailable
from rag_core.runtime.closing import closed_on_failure
from rag_core.settings import Settings
from rag_core.storage.blobs import Blobs, prepared_originals
from rag_core.storage.blobs.notes import leftover_notes
from rag_core.storage.blobs.removals import Removals
from rag_core.storage.cutover import TARGET, Cutover
from rag_core.storage.data_dir_lock import DataDirLock
from rag_core.storage.data_dir_mark import pair
from rag_core.storage.embedded.server import FOLDER, EmbeddedServer, LeakedServers
from rag_core.storage.indexes import INDEXES, DerivedIndex, DumpIndex, LexicalIndex, check_dense
from rag_core.storage.indexes.background_loop import BackgroundLoop
from rag_core.storage.indexes.base import IndexContext
from rag_core.storage.indexes.dense import DenseIndex, TruthSearch
from rag_core.storage.indexes.dumps import Loaded
from rag_core.storage.indexes.sync import Sync
from rag_core.storage.maintenance.archive import Archive
from rag_core.storage.maintenance.backup import Backup
from rag_core.storage.maintenance.restore import Restore
from rag_core.storage.postgres.answer_cache import AnswerCache
from rag_core.storage.postgres.changes import ChangeLog
from rag_core.storage.postgres.conversations import ConversationStore
from rag_core.storage.postgres.database import Database
from rag_core.storage.postgres.documents import DocumentStore
from rag_core.storage.postgres.evaluation_runs import EvaluationRuns
from rag_core.storage.postgres.hierarchy import HierarchyStore
from rag_core.storage.postgres.insights import InsightsStore
from rag_core.storage.postgres.jobs import JobStore
from rag_core.storage.postgres.new_vectors import NewVectors
from rag_core.storage.postgres.notices import Notices
from rag_core.storage.postgres.question_sets import QuestionSets
from rag_core.storage.postgres.rows import Stored
from rag_core.storage.postgres.servers import BEAT_S, Servers
from rag_core.storage.postgres.sources import SourceStore
from rag_core.storage.status_notes import dead_letters, described, left_alone, told
from rag_core.storage.vector_generation import VectorGeneration

_LONGEST_LULL_S = 60.0
Kind = TypeVar("Kind", bound=DerivedIndex)


class Storage:
    """Every store of one library. Thread-safe. A worker's (`settings.jobs.taken`) follows nothing with its indexes.

    Raises on opening: LibraryInUse, ConfigurationError (the folder cannot be written), StoreUnavailable.
    """

    def __init__(self, settings: Settings) -> None:
        self.folder = folder = Path(settings.data_dir).expanduser().absolute()
        self._server: EmbeddedServer | None = None
        self.indexes: tuple[DerivedIndex, ...] = ()
        self._made: tuple[DerivedIndex, ...] = ()
        self._left = settings.jobs.left
        self.is_worker, self.is_shared = bool(settings.jobs.taken), settings.storage.shared
        """Whether jobs alone are taken here, and whether others may have the database."""
        self._opened = ExitStack()  # closes what was opened, the last first, however far opening came
        self._interrupts: list[Callable[[], None]] = []
        self._feeders: list[BackgroundLoop] = []
        self._listening: list[BackgroundLoop] = []
        self._others: list[BackgroundLoop] = []
        self._backend_chosen, self._choosing = False, threading.Lock()
        self.min_free_bytes = settings.storage.min_free_bytes
        self._backend_wanted = settings.retrieval.backend
        check_dense(settings.retrieval.index)
        self.epoch = VectorGeneration()
        self._leaked = LeakedServers()
        self._closed = False
        ownership = DataDirLock(folder)
        ownership.take()
        self._opened.callback(ownership.release)
        with closed_on_failure(self.close):
            self._open(folder, settings)

    def commit(self, batch: Sequence[Stored], profile: Profile, leases: Mapping[str, int] | None = None) -> None:
        """Make documents part of the library: whole, in every store, ready when this returns.

        leases: the jobs that this is done for, each with the token it was taken with. Raises LeaseLost,
        StoreUnavailable; what was not committed is then still pending.
        """
        if self.documents.profile() not in (None, profile):
            raise StoreUnavailable("The library's embedding model was changed meanwhile.", help="Add it once more.")
        self.dumps.use(profile)
        self.documents.commit(batch, profile, leases)
        self._acknowledge([item.document_id for item in batch])
        self.wake()

    def remove(self, document_id: str) -> None:
        """Remove a document from every store; it is found no longer from the first instant on.

        Raises StoreUnavailable, also where its files cannot be removed yet: that is tried again by itself.
        """
        self.documents.removals.start(document_id)
        self.dumps.hide(document_id)
        self.sync.acknowledge()
        failed = self.removals.sweep()
        self.wake()
        if reason := failed.get(document_id) or self.stuck(document_id):
            raise StoreUnavailable(
                f"The document is found no longer, but its files are not removed yet. {reason}",
                help="Lectern tries again by itself, at the latest when it starts.",
            )

    def set_aside(self, ids: Sequence[str], seconds: float) -> list[str]:
        """Have ready documents be found no longer, and removed for good after some seconds. Returns those there were.

        Raises StoreUnavailable.
        """
        found = self.documents.removals.set_aside(ids, seconds)
        for document_id in found:
            self.dumps.hide(document_id)
        self.sync.acknowledge()
        self.wake()
        return found

    def take_back(self, ids: Sequence[str]) -> list[str]:
        """Have documents that were set aside be found again. Returns those that could be. Raises StoreUnavailable."""
        found = self.documents.removals.take_back(ids)
        self.sync.acknowledge()
        self.wake()
        return found

    def supersede(self, ids: Sequence[str]) -> list[str]:
        """Have ready documents take the places of older versions. Returns those that go. Raises StoreUnavailable."""
        return self._let_go(self.sources.supersede(ids))

    def forget_sources(self, locations: Sequence[str]) -> list[str]:
        """Forget places that are no more. Returns the documents that go with them. Raises StoreUnavailable."""
        return self._let_go(self.sources.forget(locations))

    def _let_go(self, ids: list[str]) -> list[str]:
        """Follow up documents whose removal is logged; a file that cannot be removed yet is tried again by itself."""
        if ids:
            self.documents.forget(ids)
            for document_id in ids:
                self.dumps.hide(document_id)
            self.sync.acknowledge()
            self.removals.sweep()
            self.wake()
        return ids

    def read_again(self, ids: Sequence[str]) -> None:
        """Have documents read again: they are pending from this instant on, and found no longer until they are ready.

        Raises StoreUnavailable.
        """
        self.documents.read_again(ids)
        for document_id in ids:
            self.dumps.hide(document_id)
        self.sync.acknowledge()

    def follow_edit(self, document_id: str) -> None:
        """Have the indexes follow a change of a document's chunks; it is ready again when this returns.

        Raises StoreUnavailable where an index that answers need did not take it yet: that is tried again by itself.
        """
        self.dumps.hide(document_id)
        self.sync.acknowledge()
        self.wake()
        if reason := self.stuck(document_id):
            raise StoreUnavailable(f"The change is kept, but not found yet. {reason}", help="It is tried again.")

    def finish(self, ids: Collection[str]) -> None:
        """Bring documents to an end that are half in or half out, also those that back off. Raises StoreUnavailable."""
        self._acknowledge(ids, retry=ids)
        self.removals.sweep()

    def _acknowledge(self, ids: Collection[str], retry: Collection[str] = ()) -> None:
        """Have documents be ready: for a server once its dumps hold them, for a worker, which has none, at once."""
        self.sync.acknowledge(retry=retry)
        if self.is_worker:
            self.log.acknowledge(ids)

    def stuck(self, document_id: str) -> str | None:
        """Why an index that answers need has not followed a document, where it was tried."""
        reasons = (self.log.reason(index.name, document_id) for index in self.indexes if index.needed)
        return next(filter(None, reasons), None)

    @contextmanager
    def following_stopped(self) -> Iterator[None]:
        """Nothing is given meanwhile to the indexes that follow in the background."""
        with ExitStack() as held:
            for index in self.indexes:
                if not index.needed:
                    held.enter_context(index.turn)
            yield

    def settle(self) -> None:
        """Wait until every index has followed as far as it can, also what backs off, and dead letters.

        Raises StoreUnavailable for PostgreSQL alone.
        """
        self.sync.retry_now()
        self._keep_up()
        for index in self.indexes:
            self.sync.follow(index)

    @property
    def notes(self) -> tuple[str, ...]:
        """What happened, on opening and to the indexes since, that the user should know. Raises StoreUnavailable."""
        notes = [*told(self._loaded, self.dumps.searched())]
        for index in self.indexes:
            notes += [index.note() or "", dead_letters(index.label, self.sync.waiting(index.name))]
        notes += [feeder.fault for feeder in (*self._feeders, *self._others)]
        notes.append(left_alone(self._left, self.living() if self._left else ()))
        return tuple(note for note in notes if note)

    def living(self) -> tuple[LibraryServer, ...]:
        """The processes that have the database, where it may be several; with what each has yet to find."""
        needed = [index.name for index in self._made if index.needed]
        return tuple(self.servers.living(needed)) if self.is_shared else ()

    def describe(self) -> dict[str, str]:
        """PostgreSQL and each index by name, in a few words. May take the time that finding a compute backend takes."""
        self._choose_backend()
        where = "embedded" if self._server else "by DATABASE_URL"
        told = {index.name: described(index, self.sync.waiting(index.name)) for index in self.indexes}
        return {"postgresql": f"{self.database.version()}, {where}", **told}

    def background(self, what: str, work: Callable[[], None], *, woken: bool = False) -> BackgroundLoop:
        """A thread for what another does in the background, whose faults are among the notes; whose it is stops it.

        woken: whenever something was committed.
        """
        feeder = BackgroundLoop(what, work)
        self._others.append(feeder)
        if woken:
            self._listening.append(feeder)
        return feeder

    def wake(self, *, hurry: bool = False) -> None:
        """There is something to follow, and maybe something to compact; `hurry`: somebody waits for it."""
        for feeder in (*self._feeders, *self._listening):
            feeder.wake(hurry=hurry)

    def compact(self) -> None:
        """Find out what backend is best here, the first time, and compact dumps into segments where there are enough.

        Called in the background, woken by every change. Raises StoreUnavailable; what is there is searched as before.
        """
        self._choose_backend()
        self.dumps.compact(self.documents.ready_ids, self.min_free_bytes, lambda: self._closed)

    def backup(self, path: Path, *, replace: bool = False) -> BackupReport:
        """Write an archive of everything while the library is in use. See `backup.Backup.write` for the errors."""
        return Backup(self.database.transaction, self.files.open).write(path, replace=replace)

    def restore(self, archive: Archive) -> None:
        """Fill this empty library from an archive; then close it: the next owner makes what is derived.

        See `restore.Restore.run` for the errors.
        """
        self.stop_following()
        Restore(self.database, self.files).run(archive, self.min_free_bytes)

    def close(self) -> None:
        """Close every store and let the folder go, whatever fails meanwhile; harmless when done twice."""
        self._closed = True
        for interrupt in self._interrupts:
            interrupt()
        self._opened.close()

    def stop_following(self) -> None:
        """Have the indexes follow in the background no longer."""
        for feeder in self._feeders:
            feeder.stop()

    def index(self, kind: type[Kind]) -> Kind:
        """The index of a kind."""
        return next(index for index in self._made if isinstance(index, kind))

    def _open(self, folder: Path, settings: Settings) -> None:
        database = self.database = self._connected(folder, settings)
        self.files: Blobs = prepared_originals(settings)
        self.removals = Removals(database, self.documents, self.files)
        derived = (*(name for kind in INDEXES for name in kind.folders), TARGET)
        database.belongs_to(pair(folder, derived, self.servers))
        self.servers.beat()
        self._opened.callback(self.servers.leave)
        self.jobs.outlive()
        self.notices = self._listening_to_others(database)
        self.log = ChangeLog(database)
        self.needed_turn = threading.RLock()
        surroundings = IndexContext(
            folder, settings, database, self.documents, self.log, self.needed_turn, partial(self.wake, hurry=True)
        )
        for kind in (kind for kind in INDEXES if kind.is_kept(settings)):
            index = kind(surroundings)
            self._made = (*self._made, index)
            self._interrupts.append(index.stop)
            self._opened.callback(index.close)
        self.indexes = () if self.is_worker else self._made
        self.documents.cards.titled_in = [index.name for index in self._made if index.reads_texts]
        self.dumps = self.index(DumpIndex).store
        self.lexical = self.index(LexicalIndex)
        searches: list[DenseIndex] = [index.dense for index in self._made if index.dense is not None]
        self.dense = {search.name: search for search in (*searches[:1], TruthSearch(self.documents), *searches[1:])}
        self.cutover = Cutover(folder, database, self.documents, self.new_vectors, self._made, self.epoch)
        self.sync = Sync(database, self.documents, self.log, self.indexes)
        self._interrupts.append(self.sync.stop)
        self.log.enrol([index.name for index in self.indexes])
        self._loaded = self._recover()
        self._opened.callback(self.stop_following)
        self._opened.callback(self.notices.stop)
        self.notices.start()
        self._feeders.append(BackgroundLoop("The library is kept up", self._keep_up))
        for index in self.indexes:
            if not index.needed:
                self._feeders.append(BackgroundLoop(
                    f"{index.label} follows", partial(self.sync.follow, index), first_s=index.first_s,
                    lull_s=index.lull_s, longest_s=_LONGEST_LULL_S,
                ))  # fmt: skip
        if not self.is_worker:
            self._opened.callback(self.background("Dumps are compacted", self.compact, woken=True).stop)

    def _connected(self, folder: Path, settings: Settings) -> Database:
        """The database with its stores."""
        if settings.database_url is None or not settings.database_url.get_secret_value().strip():
            self._server = EmbeddedServer(folder / FOLDER)
            self._opened.callback(self._server.stop)
            database = Database(self._server.start(), settings.storage, self._server.revive)
        else:
            database = Database(settings.database_url.get_secret_value(), settings.storage)
        self._opened.callback(database.close)
        self.servers = Servers(database, settings.jobs.taken)
        self.documents = DocumentStore(database)
        self.conversations = ConversationStore(database)
        self.answer_cache = AnswerCache(database)
        self.question_sets = QuestionSets(database)
        self.evaluation_runs = EvaluationRuns(database)
        self.jobs = JobStore(database)
        self._opened.callback(self.jobs.deafen)
        self.new_vectors = NewVectors(database)
        self.hierarchy = HierarchyStore(database)
        self.sources = SourceStore(database)
        self.insights = InsightsStore(database)
        return database

    def _listening_to_others(self, database: Database) -> Notices:
        """What is remembered of the tables is forgotten when another server has changed them."""
        notices = Notices(database, self.servers.beat, BEAT_S)
        notices.on(self.documents.forget_all, "documents", "document_tags", "sources", "recognised_pages",
                   "table_readings")  # fmt: skip
        notices.on(self.hierarchy.publish, "document_summaries", "document_clusters", "chunk_clusters")
        notices.on(self.wake, "changes")
        return notices

    def _keep_up(self) -> None:
        """Finish what a broken connection, or a disk that failed, left behind."""
        self.database.check()
        self.servers.beat()
        self.sync.acknowledge()
        self.removals.sweep()
        self.files.tidy()
        self._leaked.stop()

    def _choose_backend(self) -> None:
        with self._choosing:
            if not self._backend_chosen:
                self.dumps.use_backend(*choose(self._backend_wanted, self.folder / "segments"))
                self._backend_chosen = True

    def _recover(self) -> Loaded:
        """Finish what was committed and map the dumps, repairing what is missing."""
        for note in leftover_notes(self.files, self.database.server):
            there = self.documents.some(note.read()).values()
            # One that is being removed has let go of its original, or will.
            note.clear(known=[document.id for document in there if document.state != "removing"])
        if self.is_worker:
            return Loaded()
        profile = self.documents.profile()
        if profile is not None:
            self.dumps.use(profile)
            self.cutover.finish()
        self.sync.retry_now()
        self.sync.acknowledge()
        self.sources.supersede()
        self.sync.acknowledge()
        self.removals.sweep()
        if profile is None:
            return Loaded()
        ready = self.documents.ready_ids()
        return self.dumps.load(ready, self.documents.vectors.of)
