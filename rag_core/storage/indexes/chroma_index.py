"""Chroma as a derived index: it follows in the background, and is judged before it is opened."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Finding, Profile
from rag_core.errors import StoreUnavailable
from rag_core.storage.indexes.base import DerivedIndex, Surroundings
from rag_core.storage.indexes.chroma import ChromaBatch, ChromaRows, ChromaStore, ChromaUnavailable
from rag_core.storage.indexes.chroma_guard import ChromaGuard
from rag_core.storage.indexes.chroma_hierarchy import ChromaHierarchy
from rag_core.storage.indexes.chroma_probe import ProbeStopped
from rag_core.storage.indexes.comparison import Comparison, first_cosine
from rag_core.storage.postgres.contents import IndexedDocument
from rag_core.storage.postgres.new_vectors import NewVectors
from rag_core.storage.postgres.truth import Rows

_log = logging.getLogger(__name__)
# Its vectors have been through Chroma's arithmetic: a bit of float32 may differ.
_WITHIN = 1e-5
# Its graph is approximate: among chunks that are much alike it may lead past a few.
_SPARED = 1 / 8
_HIERARCHY = "Summaries or clusters differ from PostgreSQL's."
_SERVER = "Check CHROMA_URL and the server behind it; search goes on with the dump files."
_SHARED = "Another library may share this Chroma server. Give each library a server of its own."


class ChromaIndex(DerivedIndex):
    """The chunks with their vectors in a collection of Chroma, one for each profile."""

    name = "chroma"
    label = "Chroma"
    folders = ("chroma",)
    lull_s = 2.0  # it takes a processor from adding, and no answer needs it
    reads_texts = True
    reads_vectors = True

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(surroundings)
        self.store = ChromaStore(surroundings.folder / "chroma", surroundings.settings.chroma_url)
        self.guard = ChromaGuard(surroundings.database, self._documents, self.store, self._log, self.name, self.turn)
        self._new_vectors = NewVectors(surroundings.database)
        self._hierarchy = ChromaHierarchy(surroundings.database, self.store)
        self._counted = False

    def prepare(self) -> None:
        """Have it judged where that was not done yet; rebuild a damaged one, repair one that lost rows."""
        self.guard.heal()
        if self.waiting():
            self.requeue_lost()

    def put(self, documents: Sequence[IndexedDocument]) -> None:
        """Add the chunks of documents, in the place of those that it has of them. Raises ChromaUnavailable.

        The same bytes may come again under another name: their vectors and titles are others then, and Chroma leaves
        what it has of an id as it is.
        """
        profile = self._documents.profile()
        batch = ChromaBatch()
        for document in documents:
            if document.chunks:  # PostgreSQL has lost the chunks of a document otherwise
                batch.add(document)
        if profile is not None and batch.ids:
            self.store.remove(profile, [document.id for document in documents])
            self.store.add(profile, batch)

    def remove(self, ids: Sequence[str]) -> None:
        """Remove every chunk of documents. Raises ChromaUnavailable."""
        # The last document's row may be swept before Chroma answers again; its chunks are under the profile it had.
        profile = self._documents.profile() or self._documents.last_profile()
        if profile is not None:
            self.store.remove(profile, ids)

    def count(self) -> int:
        """How many chunks it holds. Raises ChromaUnavailable."""
        profile = self._documents.profile()
        return 0 if profile is None else self.store.count(profile)

    def tidy(self) -> None:
        """Bring summaries and clusters up to date, and delete collections of profiles that are in use no longer.

        Raises ChromaUnavailable.
        """
        present = self._documents.profile()
        if present is not None:
            self._hierarchy.follow(present)
            for profile in self._new_vectors.stale():
                self.store.forget(profile, present)
                self._new_vectors.forget(profile)

    def requeue_lost(self) -> bool:
        """Have every document given to it where it holds fewer chunks than it took, as after its folder was lost.

        Looked at once; no where it does not answer. Returns whether it was so. Raises StoreUnavailable.
        """
        with self.turn:
            if self._counted or self._documents.profile() is None:
                return False
            try:
                held = self.count()
            except ChromaUnavailable:
                return False  # said when it is asked for more than a count
            self._counted = True
            if held >= self._documents.followed(self.name)[0]:
                return False
            _log.warning("Chroma has lost chunks: every document is given to it again.")
            self._take_all()
            return True

    def verify(self, comparison: Comparison) -> Iterator[Finding]:
        """Judge the index, compare its rows' ids with the chunks, read a sample or all back, and ask it."""
        own = self.store.folder is not None
        with self.turn:
            try:
                fault = self.guard.judge(again=comparison.deep).fault
                if not fault:
                    yield from self._rows(comparison, own)
                    if self._hierarchy.is_damaged(comparison.profile):
                        yield comparison.finding(self.label, "", _HIERARCHY)
                    return
            except ProbeStopped:
                return
            except ChromaUnavailable as error:
                fault = str(error)
        help = "" if own else _SERVER
        yield comparison.finding(self.label, "", f"The index cannot be used: {fault}", repairable=own, help=help)

    def repair(self, findings: Sequence[Finding]) -> bool:
        """Remove foreign rows and take again what is missing or wrong; begin anew where it cannot be used."""
        if not findings:
            return False
        try:
            # An index that could not be used may be sound by now: the sync heals as well.
            if all(item.document_id for item in findings) or not self.guard.judge(again=True).fault:
                if any(item.message == _HIERARCHY for item in findings) and (profile := self._documents.profile()):
                    self._hierarchy.follow(profile, again=True)
                self.guard.repair(self.guard.compare(), {item.document_id for item in findings})
                return False
        except ProbeStopped:
            return False
        except ChromaUnavailable as error:
            _log.warning("Chroma's rows cannot be repaired: %s", error)
        reasons = "; ".join(item.message for item in findings if not item.document_id)
        try:
            self.rebuild(reasons or "its rows cannot be repaired")
        except StoreUnavailable as error:
            _log.warning("Chroma's index cannot be set aside: %s", error)
            return False
        return True

    def rebuild(self, reason: str) -> None:
        """Set the index aside and have every document given to a new one. Raises StoreUnavailable."""
        self.guard.rebuild(reason)

    def note(self) -> str | None:
        """What the user should know of a rebuild."""
        return self.guard.note()

    def describe(self) -> str:
        """Where it is."""
        return f"Chroma, {self.store.where()}"

    def stop(self) -> None:
        """End a judgement that is under way."""
        self.guard.stop()

    def close(self) -> None:
        """Let the client go, and note that this was in good order."""
        self.guard.leave()

    def _rows(self, comparison: Comparison, own: bool) -> Iterator[Finding]:
        difference = self.guard.compare({document.id for document in comparison.ready()})
        for document_id, missing in difference.missing.items():
            yield comparison.finding(self.label, document_id, f"{missing} chunks are missing.")
        for document_id, count in difference.strays.items():
            message = f"{count} rows belong to no chunk of the library."
            known = own or document_id in comparison.facts
            yield comparison.finding(
                self.label, document_id or "?", message, repairable=known, help="" if known else _SHARED
            )
        behind = self._log.waiting_ids(self.name) | difference.missing.keys()
        yield from self._contents(comparison, behind)
        if not behind:  # while rows are missing their own vectors cannot find them
            yield from comparison.queries(
                self.label, lambda query: self._nearest(comparison.profile, query), spared=_SPARED
            )

    def _contents(self, comparison: Comparison, behind: Collection[str]) -> Iterator[Finding]:
        """Texts and vectors read back: all of them, or those of a sample."""
        if not comparison.deep:
            yield from self._faults(
                comparison, [rows for rows in comparison.sample() if rows.document_id not in behind]
            )
            return
        for ids in comparison.truth.batches([item for item in comparison.ready() if item.id not in behind]):
            yield from self._faults(comparison, list(comparison.truth.rows(ids, vectors=True)))

    def _faults(self, comparison: Comparison, batch: list[Rows]) -> Iterator[Finding]:
        wanted = [f"{rows.document_id}:{index}" for rows in batch for index in rows.indexes]
        for rows, held in zip(batch, _parted(self.store.rows(comparison.profile, wanted), batch), strict=True):
            fault = _fault(rows, held)
            if fault:
                yield comparison.finding(self.label, rows.document_id, fault)

    def _nearest(self, profile: Profile, query: NDArray[np.float32]) -> float:
        return first_cosine(query, self._documents.vectors_at(self.store.nearest(profile, query, 1)))


def _parted(held: ChromaRows, batch: list[Rows]) -> Iterator[dict[int, tuple[NDArray[np.float32], str]]]:
    """What Chroma holds for each document of a batch: vector and text by index."""
    parts: dict[str, dict[int, tuple[NDArray[np.float32], str]]] = {rows.document_id: {} for rows in batch}
    for row, vector, text in zip(held.ids, held.vectors, held.texts, strict=True):
        document_id, _, index = row.rpartition(":")
        parts[document_id][int(index)] = (vector, text)
    return iter(parts.values())


def _fault(rows: Rows, held: dict[int, tuple[NDArray[np.float32], str]]) -> str:
    if rows.vectors is None or len(held) < len(rows.indexes):
        return "Chunks cannot be read back."
    for index, vector, md5 in zip(rows.indexes, rows.vectors, rows.hashes, strict=True):
        kept, text = held[index]
        if not np.allclose(kept, vector, rtol=0, atol=_WITHIN):
            return f"The vector of chunk {index + 1} is another."
        if hashlib.md5(text.encode(), usedforsecurity=False).digest() != md5.tobytes():
            return f"The text of chunk {index + 1} is another."
    return ""
