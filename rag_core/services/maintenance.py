"""How a library is, and what keeps it well: comparing and repairing its stores, backups, re-embedding, re-chunking."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from rag_core.cancellation import Cancellation
from rag_core.domain import BackupReport, LibraryStatus, Progress, Report, TargetProfile
from rag_core.errors import LecternError
from rag_core.ingest import Ingest
from rag_core.ingest.stages import Model
from rag_core.services import rechunking
from rag_core.services.embedding_in_use import EmbeddingInUse
from rag_core.services.language_models import LanguageModels
from rag_core.services.preferences import Preferences
from rag_core.services.recognition import Recognising
from rag_core.services.reembedding import Reembedding, target_profile, target_settings
from rag_core.settings import EmbeddingSettings, Settings, not_settings
from rag_core.storage import Archive, Storage, check_known, report
from rag_core.storage.maintenance import doctor


class Maintenance:
    """The upkeep of one library. Thread-safe; raises StoreUnavailable. `closing()`: the library is being closed."""

    def __init__(
        self,
        storage: Storage,
        preferences: Preferences,
        embedding: EmbeddingInUse,
        ingest: Ingest,
        recognition: Recognising,
        language_models: LanguageModels,
        closing: Callable[[], bool],
    ) -> None:
        self._storage = storage
        self._preferences = preferences
        self._embedding = embedding
        self._ingest = ingest
        self._recognition = recognition
        self._language_models = language_models
        self._closing = closing
        self._remaking = threading.Lock()
        self._stepping = threading.Lock()

    def open_executor(self) -> str:
        """Begin what reads and embeds, or join it where that is a cluster. Returns what it is, for people. Raises
        ConfigurationError, StoreUnavailable."""
        return self._ingest.stages.open()

    def status(self) -> LibraryStatus:
        """Counts, profile, engine, stores, models, and whatever is worth saying."""
        ready, chunks, pending, failed = self._storage.documents.counts()
        profile = self._storage.documents.profile()
        told = self._storage.describe()
        target = self._target()
        return LibraryStatus(
            data_dir=str(self._storage.folder), documents=ready, chunks=chunks, pending=pending, failed=failed,
            profile=self._embedding.describe(profile),
            postgresql=told.pop("postgresql"), indexes=told, models=self._language_models.statuses(),
            notes=self._told(target), target=target, servers=self._storage.living(),
        )  # fmt: skip

    def notes(self) -> tuple[str, ...]:
        """What happened on opening that the user should know, one line each."""
        return self._told(self._target())

    def verify(self, deep: bool = False) -> Report:
        """Compare every document across PostgreSQL, Chroma, dumps and files; nothing is written.

        `deep` reads every text, vector and file; otherwise vectors are a sample.
        """
        return doctor.verify(self._storage, deep)

    def repair(self) -> Report:
        """Compare thoroughly and rebuild what differs, from PostgreSQL and without embedding anything.

        Returns the comparison after that: its findings could not be repaired.
        """
        return doctor.repair(self._storage, doctor.verify(self._storage, deep=True))

    def backup(self, path: str | Path, *, replace: bool = False) -> BackupReport:
        """Write one verified archive of documents, conversations and settings of the library, which stays in use.

        It holds the passwords of encrypted documents, but never the Gemini key. An existing file is kept unless
        `replace`. Raises ConfigurationError (the place), StoreUnavailable (nothing is left behind), StoreCorrupt.
        """
        return self._storage.backup(Path(path).expanduser().absolute(), replace=replace)

    def reembed(
        self, settings: EmbeddingSettings | None = None, *, cancellation: Cancellation | None = None
    ) -> Iterator[Progress]:
        """Re-embed every chunk with another model, from the stored texts, while the old vectors answer; then cut over.

        Without `settings` the model is that of the library's settings, or that of an interrupted run. The last step is
        "done" or "cancelled". Whoever stops iterating, or is killed, keeps what was embedded: the next call goes on.
        Raises ModelUnavailable, LimitExceeded (the disk), StoreUnavailable, and LecternError while another one runs.
        """
        from rag_core.embedding import open_embedder

        token = cancellation or Cancellation()
        own = self._preferences.settings
        with self._remade():
            self._ingest.stages.open()
            wanted = settings or target_settings(self._storage, own.embedding)
            embedder = open_embedder(wanted, own.models_dir)
            model = Model(embedder.profile, embedder.model, wanted, own.models_dir)
            run = Reembedding(
                self._storage, embedder, self._ingest.stages, model,
                turn=self._ingest.committing, applied=lambda: self._embedding.use(embedder),
                stopped=lambda: token.is_set() or self._closing(), min_free_bytes=own.storage.min_free_bytes,
            )  # fmt: skip
            try:
                yield from self._steps(run)
            finally:
                if self._embedding.embedder is not embedder:
                    embedder.close()

    def discard_reembedding(self) -> None:
        """Throw away what a stopped `reembed` has made. Raises LecternError while one runs."""
        with self._remade():
            self._storage.cutover.discard()

    def rechunk(self, *, cancellation: Cancellation | None = None) -> Iterator[Progress]:
        """Re-chunk the documents that a change of chunking left with other chunks, a few at a time.

        The last step is "done" or "cancelled"; whoever is stopped or killed goes on with the next call. Raises
        LecternError while the library is re-embedded or re-chunked already.
        """
        with self._remade():
            if self.can_rechunk():
                rechunking.settle(self._storage, self._chunking)
            token = cancellation or Cancellation()
            yield from rechunking.rechunk(self._storage, self._ingest, lambda: self._chunking, token, self._closing)

    def to_rechunk(self) -> int:
        """How many documents are to be re-chunked still."""
        return rechunking.left(self._storage, self._chunking)

    def can_rechunk(self) -> bool:
        """Whether the documents were chunked by another default than today's, and nobody has decided about it."""
        return rechunking.offered(self._storage, self._chunking)

    def keep_chunks(self) -> None:
        """Leave the documents that were, or could be, re-chunked as they are."""
        rechunking.keep(self._storage, self._chunking)

    def close(self) -> None:
        """Wait for the step of a re-embedding that is under way: its stores are closed after it."""
        with self._stepping:
            pass

    @property
    def _chunking(self) -> str:
        return self._preferences.settings.chunking.key

    @contextlib.contextmanager
    def _remade(self) -> Iterator[None]:
        """Re-embedded or re-chunked: one at a time. Raises LecternError."""
        if not self._remaking.acquire(blocking=False):
            raise LecternError(
                "The library is being re-embedded or re-chunked already.", help="Wait until it ends, or stop it."
            )
        try:
            yield
        finally:
            self._remaking.release()

    def _steps(self, run: Reembedding) -> Iterator[Progress]:
        """The steps of a re-embedding, none of which is amid when the library is closed."""
        steps = run.steps()
        while True:
            with self._stepping:
                step = next(steps, None)
            if step is None:
                return
            yield step

    def _target(self) -> TargetProfile | None:
        return target_profile(self._storage, self._preferences.settings.embedding)

    def _told(self, target: TargetProfile | None) -> tuple[str, ...]:
        found = (*self._storage.notes, *rechunking.note(self._storage, self._chunking), *self._recognition.notes())
        return (*found, *not_settings(), *([target.note] if target else ()))


def restore(path: Path, settings: Settings) -> BackupReport:
    """See `Library.restore`."""
    with Archive(path) as archive:
        check_known(archive)
        storage = Storage(settings)
        try:
            storage.restore(archive)
        finally:
            storage.close()
        Storage(settings).close()  # makes the dumps
        return report(archive)
