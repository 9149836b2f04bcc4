"""Re-embedding a library with another model, from the stored texts, while the old vectors answer.

New vectors are kept in PostgreSQL in committed batches and new dumps beside the old ones, so that whoever is stopped or
killed goes on where it was. The cutover is one transaction; whatever was added or removed until then is taken along.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from itertools import groupby
from pathlib import Path

from rag_core.domain import Profile, Progress, TargetProfile
from rag_core.embedding import PACKAGED, Embedder, open_profile
from rag_core.errors import (
    Cancelled,
    LecternError,
    LimitExceeded,
    ModelUnavailable,
    StoreCorrupt,
    StoreUnavailable,
)
from rag_core.ingest.stages import Model, Stages
from rag_core.settings import EmbeddingSettings, Settings
from rag_core.storage import Storage
from rag_core.storage.indexes.dumps import DumpStore
from rag_core.storage.postgres.new_vectors import Text
from rag_core.text.context import context_of, embedded_text
from rag_core.unexpected import each, stage

_BATCH = 128
_FLOAT_BYTES = 4
_PROBE = "A sentence that any model can embed."
# New vectors in a table, again in the chunks that they replace, in Chroma and in the dumps.
_COPIES = 4
_WAYS = "on the System page, or with python -m rag_core reembed"


class Reembedding:
    """One run. Its steps are told as they are done; whoever stops iterating stops it, and a later run goes on.

    `stages` embed by `model`, which `embedder` is here. `turn` is held while the library cuts over: it keeps documents
    from being committed. `applied` is called in that very instant, when questions must be embedded with the new model.
    """

    def __init__(
        self,
        storage: Storage,
        embedder: Embedder,
        stages: Stages,
        model: Model,
        *,
        turn: AbstractContextManager[object],
        applied: Callable[[], None],
        stopped: Callable[[], bool],
        min_free_bytes: int,
    ) -> None:
        self._storage = storage
        self._vectors = storage.new_vectors
        self._embedder = embedder
        self._stages = stages
        self._model = model
        self._turn = turn
        self._applied = applied
        self._stopped = stopped
        self._min_free_bytes = min_free_bytes
        self._dumps: DumpStore
        self._written: dict[str, str] = {}
        self._left_out: set[str] = set()

    @property
    def profile(self) -> Profile:
        """What the library is to be embedded with."""
        return self._embedder.profile

    def steps(self) -> Iterator[Progress]:
        """Embed, write dumps, cut over. The last step is "done", or "cancelled" with what is kept.

        Raises LimitExceeded (the disk), ModelUnavailable, StoreUnavailable.
        """
        present = self._storage.documents.profile()
        if present in (None, self.profile):
            self._storage.cutover.discard()
            self._applied()
            yield Progress("done", note="Nothing was to be re-embedded.")
            return
        self._begin()
        try:
            yield from self._embed(self._stopped)
            yield from self._write_dumps(self._stopped)
        except Cancelled:
            done, total = self._vectors.counts()
            yield Progress("cancelled", done, total, "What was embedded is kept; the next time goes on from there.")
            return
        yield Progress("cutting over")
        chunks = self._cut_over()
        told = f"{len(self._left_out)} could not be embedded: the Library page says why." if self._left_out else ""
        yield Progress("done", chunks, chunks, told)

    def _begin(self) -> None:
        self._vectors.keep_only(self.profile)
        done, total = self._vectors.counts()
        if not done:
            self._storage.cutover.discard()
        self._dumps = self._storage.cutover.target_dumps(self.profile)
        needed = (total - done) * self.profile.dimensions * _FLOAT_BYTES * _COPIES
        free = shutil.disk_usage(self._storage.folder).free
        if free - needed < self._min_free_bytes:
            raise LimitExceeded(
                f"Re-embedding needs about {needed / 2**20:.0f} MB; {free / 2**20:.0f} MB are free.",
                help="Make room on the disk and start it again. Searching goes on.",
            )

    def _embed(self, stopped: Callable[[], bool]) -> Iterator[Progress]:
        """Embed every chunk that has no new vector, those that come in meanwhile too. Raises Cancelled."""
        last: Text | None = None
        done, total = self._vectors.counts()
        yield Progress("embedding", done, total)
        while True:
            texts = self._vectors.missing(last, _BATCH * self._stages.embedders)
            if texts:
                self._embed_batch(texts, stopped)
                last, done = texts[-1], done + len(texts)
            elif last is None:
                return
            else:  # once more from the beginning, for what came in meanwhile
                last = None
                done, total = self._vectors.counts()
            yield Progress("embedding", min(done, total), total)

    def _embed_batch(self, texts: list[Text], stopped: Callable[[], bool]) -> None:
        if stopped():
            raise Cancelled("Re-embedding was stopped.")
        failed: dict[str, LecternError] = {}

        def embed(parts: Sequence[list[Text]]) -> None:
            with stage("re-embedding", *(part[0].document_id for part in parts)):
                self._embed_texts([text for part in parts for text in part], stopped)

        def fail(part: list[Text], error: LecternError) -> None:
            failed[part[0].document_id] = error

        parts = [list(part) for _, part in groupby(texts, key=lambda text: text.document_id)]
        each(parts, embed, fail, of_all=(Cancelled, ModelUnavailable, StoreUnavailable))
        self._leave_out(failed)

    def _embed_texts(self, texts: list[Text], stopped: Callable[[], bool]) -> None:
        contexts = [context_of(text.title, text.section) for text in texts]
        embedded = [embedded_text(text.text, text.index) for text in texts]
        made = self._stages.embed(embedded, contexts, self._model, embedder=self._embedder, stopped=stopped)
        for document_id in {text.document_id for text in texts}:
            # First of all, so that a dump is never older than the vectors in PostgreSQL.
            self._dumps.remove(document_id)
            self._written.pop(document_id, None)
        self._vectors.put(self.profile, self._embedder.model, texts, made.vectors, made.pieces)

    def _leave_out(self, failed: Mapping[str, LecternError]) -> None:
        """Documents that the new model fails at fail by themselves, and can be tried again. Raises what the model
        fails with where it fails at anything."""
        if not failed:
            return
        if again := self._left_out.intersection(failed):  # it could not be taken out of sight
            raise failed[again.pop()]
        with stage("probe"):
            self._embedder.encode([_PROBE])
        self._storage.read_again(list(failed))
        for document_id, error in failed.items():
            self._dumps.remove(document_id)
            self._storage.documents.fail(document_id, error)
        self._left_out.update(failed)

    def _write_dumps(self, stopped: Callable[[], bool]) -> Iterator[Progress]:
        """Write the dumps that are not there yet. Raises Cancelled."""
        wanted = self._vectors.documents()
        lacking = [key for key, digest in wanted.items() if self._written.get(key) != digest]
        for done, document_id in enumerate(lacking):
            if stopped():
                raise Cancelled("Re-embedding was stopped.")
            if done % _BATCH == 0:
                yield Progress("writing", done, len(lacking))
            try:
                if not self._fits(document_id, wanted[document_id]):
                    self._dumps.write(document_id, *self._vectors.of(document_id))
            except StoreCorrupt:
                if document_id in self._vectors.documents():
                    raise
                continue  # it was removed meanwhile
            self._dumps.show(document_id)
            self._written[document_id] = wanted[document_id]

    def _fits(self, document_id: str, digest: str) -> bool:
        """Whether an earlier run has left a dump that can be used."""
        try:
            hashes = self._dumps.open(document_id).hashes.tobytes().hex()
        except StoreCorrupt:
            return False
        return hashlib.md5(hashes.encode(), usedforsecurity=False).hexdigest() == digest

    def _cut_over(self) -> int:
        """Take along what came in meanwhile and cut over, while nothing is committed or synced. Returns the chunks."""
        with ExitStack() as held:
            held.enter_context(self._storage.following_stopped())
            held.enter_context(self._turn)
            held.enter_context(self._storage.needed_turn)
            for _ in self._embed(_never):
                pass
            for _ in self._write_dumps(_never):
                pass
            chunks = self._vectors.counts()[1]
            self._storage.cutover.run(self.profile, self._dumps, self._applied)
        self._storage.wake()
        return chunks


def open_for(profile: Profile, noted: str, settings: Settings) -> Embedder:
    """The model that a library was made with, wherever it is found: in the settings, where it was last, packaged.

    Raises ModelUnavailable.
    """
    models = (settings.embedding.model, noted, PACKAGED if profile.name == PACKAGED else "")
    try:
        return open_profile(profile, models, settings.embedding, settings.models_dir)
    except ModelUnavailable as error:
        raise ModelUnavailable(
            f"This library was made with {_named(profile)}, which cannot be loaded: {error}.",
            help="Put that model back in its place, or have the library re-embedded with the model of the settings:"
            f" {_WAYS}",
        ) from error


def target_settings(storage: Storage, wanted: EmbeddingSettings) -> EmbeddingSettings:
    """What to embed with when nobody says so: the settings' model if it is another one, else an interrupted run's."""
    profile = storage.documents.profile()
    unfinished = storage.new_vectors.unfinished()
    if profile is None or _is_another(wanted, profile):
        return wanted
    if unfinished is not None:
        other, model = unfinished
        return wanted.model_copy(
            update={"model": model, "precision": other.precision, "backend": "auto", "context": other.in_context}
        )
    return wanted.model_copy(update={"precision": profile.precision})


def target_profile(storage: Storage, wanted: EmbeddingSettings) -> TargetProfile | None:
    """The model that is to take the present one's place: that of the settings, or of an unfinished run."""
    profile = storage.documents.profile()
    unfinished = storage.new_vectors.unfinished()
    if profile is None or (unfinished is None and not _is_another(wanted, profile)):
        return None
    done, total = storage.new_vectors.counts()
    present = _told(profile.name, profile.precision, profile.in_context)
    if unfinished is not None and (not _is_another(wanted, profile) or not _is_another(wanted, unfinished[0])):
        name = _told(unfinished[0].name, unfinished[0].precision, unfinished[0].in_context)
        note = (
            f"The library is being re-embedded with {name}: {done} of {total} chunks are done. If that was"
            f" interrupted, it goes on from there: {_WAYS}"
        )
        return TargetProfile(present, name, done, total, begun=True, note=note)
    name = _told(_short(wanted.model), wanted.precision, wanted.context)
    note = (
        f"The settings ask for the embedding model {name}; this library was made with {present}, which goes on"
        f" answering until it is re-embedded: {_WAYS}"
    )
    return TargetProfile(present, name, 0, total, begun=False, note=note)


def _is_another(wanted: EmbeddingSettings, profile: Profile) -> bool:
    """Whether settings ask for another model than a library's, as far as names tell."""
    return (
        _short(wanted.model) != profile.name
        or wanted.precision not in ("auto", profile.precision)
        or wanted.context != profile.in_context
    )


def _short(model: str) -> str:
    """The name that a profile gives to a model of the settings."""
    return PACKAGED if model == PACKAGED else Path(model).expanduser().resolve().name


def _told(name: str, precision: str, in_context: bool) -> str:
    """A model as people are told of it: with what it does beyond its name."""
    said = [*([] if precision == "auto" else [precision]), *(["titles and sections"] if in_context else [])]
    return f"{name} ({', '.join(said)})" if said else name


def _named(profile: Profile) -> str:
    return f"{profile.name} ({profile.precision}, revision {profile.revision})"


def _never() -> bool:
    return False
