"""Chroma as a derived index: it follows in the background, and is made anew on any doubt."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accelerator.faults import reach
from accelerator.scanner import Mode
from rag_core.domain import Finding, Profile
from rag_core.errors import StoreUnavailable
from rag_core.storage.disk import disk_failure
from rag_core.storage.indexes.base import DerivedIndex, IndexContext
from rag_core.storage.indexes.chroma import UNFINISHED, ChromaBatch, ChromaRows, ChromaStore, ChromaUnavailable
from rag_core.storage.indexes.chroma_hierarchy import ChromaHierarchy
from rag_core.storage.indexes.comparison import Comparison, first_cosine
from rag_core.storage.indexes.dense import Ref, TruthSearch, Vectors, Within, stacked
from rag_core.storage.postgres.contents import IndexedDocument
from rag_core.storage.postgres.documents import DocumentStore
from rag_core.storage.postgres.new_vectors import NewVectors
from rag_core.storage.postgres.truth import Rows

_log = logging.getLogger(__name__)
# Its vectors have been through Chroma's arithmetic: a bit of float32 may differ.
_WITHIN = 1e-5
# Its graph is approximate: among chunks that are much alike it may lead past a few.
_SPARED = 1 / 8
# How long its process, some 200 MB, is kept for what may come.
_IDLE_S = 60.0
_HIERARCHY = "Summaries or clusters differ from PostgreSQL's."
_SERVER = "Check CHROMA_URL and the server behind it; search goes on with the dump files."
_SHARED = "Another library may share this Chroma server. Give each library a server of its own."


@dataclass(frozen=True, slots=True)
class _Difference:
    """How Chroma's rows differ from the chunks that it took.

    `missing` counts the rows that each document lacks; `foreign` are the ids of rows that belong to no chunk.
    """

    missing: dict[str, int]
    foreign: list[str]

    @property
    def strays(self) -> dict[str, int]:
        """How many foreign rows name each document."""
        counts: dict[str, int] = {}
        for row in self.foreign:
            document_id = row.rpartition(":")[0]
            counts[document_id] = counts.get(document_id, 0) + 1
        return counts


class ChromaSearch(TruthSearch):
    """Chroma's HNSW graph: approximate, for comparison or a shared server."""

    name = "chroma"
    label = "Chroma"
    exact = False

    def __init__(self, index: ChromaIndex, documents: DocumentStore) -> None:
        super().__init__(documents)
        self._index = index

    def find(
        self, queries: Vectors, k: int, within: Within | None, scan: Mode = "auto"
    ) -> list[tuple[list[Ref], Vectors]]:
        """See the base class."""
        return [self._found(query, k, within) for query in queries]

    def lacking(self) -> int:
        """See the base class."""
        return self._index.lacking()

    def _found(self, query: Vectors, k: int, within: Within | None) -> tuple[list[Ref], Vectors]:
        only: dict[str, list[str]] = {}
        if within is not None and within.whole:
            only["documents"] = within.documents
        elif within is not None:
            only["rows"] = [f"{key}:{index}" for key, index in zip(*within.pairs(), strict=True)]
        refs = self._index.store.nearest(self._profile(), query, k, **only)
        # Chroma's own vectors have been through its arithmetic; PostgreSQL's are those of the dumps, bit for bit.
        return stacked(self._documents.vectors.at(refs), len(query))


class ChromaIndex(DerivedIndex):
    """The chunks with their vectors in a collection of Chroma, one for each profile."""

    name = "chroma"
    label = "Chroma"
    folders = ("chroma",)
    lull_s = 2.0  # it takes a processor from adding, and no answer needs it
    reads_texts = True
    reads_vectors = True
    serves = "dense"

    def __init__(self, surroundings: IndexContext) -> None:
        super().__init__(surroundings)
        self.store = ChromaStore(surroundings.folder / "chroma", surroundings.settings.chroma_url)
        self._database = surroundings.database
        self._new_vectors = NewVectors(surroundings.database)
        self._hierarchy = ChromaHierarchy(surroundings.database, self.store)
        self._is_compared = False
        self._rebuilt = ""
        self._wake = surroundings.wake
        self.dense = ChromaSearch(self, surroundings.documents)

    def prepare(self) -> None:
        """Make it anew where it is in doubt, and have given to it again what it lost."""
        with self.turn:
            self.store.look()
            if self.store.doubt:
                self.rebuild(self.store.doubt)
            elif self.waiting():
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
        """Bring summaries and clusters up to date, delete collections of profiles that are in use no longer, and let
        the process go that has had nothing to do for a while. Raises ChromaUnavailable.
        """
        present = self._documents.profile()
        if present is not None:
            self._hierarchy.follow(present)
            for profile in self._new_vectors.stale():
                self.store.forget(profile)
                self._new_vectors.forget(profile)
        if self.store.idle_s > _IDLE_S:
            self.store.rest()

    def lacking(self) -> int:
        """How many documents it has yet to follow; what it lost is queued once more first. Raises StoreUnavailable."""
        if self._documents.profile() is None:
            return 0
        if not self.store.is_open:
            self._wake()  # whoever asks does not wait for the background's leisure
            self.prepare()
        self.requeue_lost()
        if waiting := self.waiting():
            self._wake()
        return waiting

    def requeue_lost(self) -> None:
        """Have every document given to it where it holds fewer chunks than it took, as after its folder was lost.

        Looked at once; nothing where it does not answer. Raises StoreUnavailable.
        """
        with self.turn:
            if self._is_compared or self._documents.profile() is None:
                return
            try:
                held = self.count()
            except ChromaUnavailable:
                return  # said when it is asked for more than a count
            self._is_compared = True
            if held < self._documents.followed(self.name)[0]:
                _log.warning("Chroma has lost chunks: every document is given to it again.")
                self._take_all()

    def verify(self, comparison: Comparison) -> Iterator[Finding]:
        """Compare its rows' ids with the chunks, read a sample or all back, and ask it."""
        own = not self.store.is_server
        try:
            with self.turn:
                self.store.look()
                if self.store.doubt == UNFINISHED:
                    self.prepare()
                yield from self._rows(comparison, own)
                if self._hierarchy.is_damaged(comparison.profile):
                    yield comparison.finding(self.label, "", _HIERARCHY)
        except ChromaUnavailable as error:
            help = "" if own else _SERVER
            yield comparison.finding(self.label, "", f"The index cannot be used: {error}", repairable=own, help=help)

    def repair(self, findings: Sequence[Finding]) -> bool:
        """Make it anew; on a server, which others may use, remove foreign rows and take again what is wrong."""
        wrong = [item for item in findings if item.message != _HIERARCHY]
        try:
            if len(wrong) < len(findings) and (profile := self._documents.profile()):
                self._hierarchy.follow(profile, again=True)
            if wrong and self.store.is_server:
                self._replace({item.document_id for item in wrong})
            elif wrong:
                self.rebuild("; ".join(item.message for item in wrong if not item.document_id) or "rows were wrong")
        except StoreUnavailable as error:
            _log.warning("Chroma cannot be repaired: %s", error)
            return False
        return bool(wrong) and not self.store.is_server

    def rebuild(self, reason: str) -> None:
        """Begin anew, empty, and have every document given to it. Raises StoreUnavailable."""
        with self.turn:
            _log.warning("Chroma's index is made anew: %s", reason)
            self._take_all()
            reach("rebuild.queued")
            try:
                self.store.clear(self._documents.profile() or self._documents.last_profile())
            except OSError as error:
                raise disk_failure(error) from error
            reach("rebuild.cleared")
            self._rebuilt, self._is_compared = reason, True

    def note(self) -> str | None:
        """What the user should know of a rebuild. Raises StoreUnavailable."""
        waiting = self._log.waiting(self.name).documents if self._rebuilt else 0
        if not waiting:
            return None
        return f"Chroma's index is being made anew: {waiting} documents to go. The dump files answer meanwhile."

    def describe(self) -> str:
        """Where it is."""
        return f"Chroma, {self.store.where()}"

    def stop(self) -> None:
        """Add no more than the part that is under way."""
        self.store.stop()

    def close(self) -> None:
        """Let the process go, and note that this was in good order."""
        self.store.rest()

    def _replace(self, suspects: Collection[str]) -> None:
        """Remove foreign rows, and take documents again that lack rows or are suspect. Raises StoreUnavailable."""
        with self.turn:
            profile, difference = self._documents.profile(), self._compare()
            if profile is None:
                return
            wrong = {*difference.missing, *suspects}
            self._log.queue([self.name], wrong)
            counts = self._counts()
            # Rows of unknown documents may be another library's.
            foreign = [row for row in difference.foreign if row.rpartition(":")[0] in counts]
            self.store.remove_rows(profile, sorted(foreign))

    def _compare(self, among: Collection[str] | None = None) -> _Difference:
        """Compare the ids of all rows with the chunks of ready documents, or some of them; what waits is left out.

        Raises ChromaUnavailable, StoreUnavailable.
        """
        with self.turn:
            profile = self._documents.profile()
            if profile is None:
                return _Difference({}, [])
            counts, waiting = self._counts(), self._log.waiting_ids(self.name)
            expected = {key: n for key, n in counts.items() if key not in waiting and (among is None or key in among)}
            seen: dict[str, int] = dict.fromkeys(expected, 0)
            foreign: list[str] = []
            for row, record in self.store.records(profile):
                document_id, _, index = row.rpartition(":")
                if document_id in waiting or (document_id in counts and document_id not in expected):
                    continue
                known = (record or {}).get("document") == document_id
                if known and index.isdecimal() and int(index) < expected.get(document_id, 0):
                    seen[document_id] += 1
                else:
                    foreign.append(row)
            return _Difference({key: n - seen[key] for key, n in expected.items() if seen[key] < n}, foreign)

    def _counts(self) -> dict[str, int]:
        """How many chunks each document has that it holds, or will."""
        rows: Sequence[tuple[str, int]] = self._database.rows(
            "SELECT c.document_id, count(*) FROM chunks c JOIN documents d ON d.id = c.document_id"
            " WHERE d.state IN ('stored', 'ready') GROUP BY c.document_id"
        )
        return dict(rows)

    def _rows(self, comparison: Comparison, own: bool) -> Iterator[Finding]:
        difference = self._compare({document.id for document in comparison.ready()})
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
        return first_cosine(query, self._documents.vectors.at(self.store.nearest(profile, query, 1)))


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
