"""A library's summaries and clusters: kept up to date in the background, and read by those who walk them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from rag_core.cancellation import Cancellation
from rag_core.domain import ChunkCluster, ClusterTree, DocumentCluster, Progress
from rag_core.errors import LecternError, ModelUnavailable
from rag_core.models import ChatModel, prompted
from rag_core.models.prompts import SUMMARY, new_mark, passages
from rag_core.runtime.low_priority import LowPriorityProcess, ProcessEnded
from rag_core.settings import HierarchySettings, Settings
from rag_core.storage import Storage
from rag_core.storage.indexes.background_loop import BackgroundLoop
from rag_core.storage.indexes.table_index import TableIndex

if TYPE_CHECKING:
    from rag_core.retrieval.hierarchy.building import Run
    from rag_core.retrieval.hierarchy.reducing import Floats

_SUMMARY_TOKENS, _LEAST_TOKENS = 1_000, 250
# Of the way from what is not about a document to the document itself, in cosines: so far a summary must come.
_ABOUT = 0.25
EXTRACTIVE = "extractive"

OpenModel = Callable[[str, Settings], ChatModel]


class Clustering:
    """Keeps the two levels of one library. Thread-safe; one update runs at a time.

    encode: gives the vectors of texts, float32 (n, d), rows of unit length. carry: has `run` done as a job, when
    something is due.
    """

    def __init__(
        self,
        storage: Storage,
        settings: Callable[[], Settings],
        model: OpenModel,
        encode: Callable[[Sequence[str]], Floats],
        carry: Callable[[], None] = lambda: None,
    ) -> None:
        self._storage = storage
        self._settings = settings
        self._model = model
        self._encode = encode
        self._carry = carry
        self._turn = threading.Lock()
        self._closing = threading.Event()
        self._process = LowPriorityProcess()
        self._feeder: BackgroundLoop | None = None
        if self._hierarchy.background:
            self._feeder = storage.background("Documents are clustered", self.follow)

    @property
    def _hierarchy(self) -> HierarchySettings:
        return self._settings().hierarchy

    @property
    def _made_by(self) -> str:
        """Names the settings that decide what is made."""
        return f"{self._hierarchy.method}, {self._hierarchy.reduction}, {self._hierarchy.summaries}"

    def follow(self) -> None:
        """Have everything brought up to date, unless documents are being added, which needs the processor more, or the
        tables of a long one written, which takes the memory.

        Raises StoreUnavailable.
        """
        from rag_core.retrieval.hierarchy.building import is_outdated

        is_busy = self._storage.documents.counts()[2] or self._storage.index(TableIndex).is_writing
        if is_busy or self._closing.is_set():
            return
        self._storage.hierarchy.forget_others(self._made_by)
        if self._storage.hierarchy.missing() or is_outdated(self._storage.hierarchy):
            self._carry()
        else:
            self._storage.hierarchy.publish()  # what was removed meanwhile

    def run(self, *, cancellation: Cancellation) -> Iterator[Progress]:
        """The same as `update` in a process of low priority: what a job of the kind `cluster` does."""
        try:
            yield from self._updated(cancellation, self._process)
        except ProcessEnded:
            if not self._closing.is_set():
                raise
        finally:
            self._process.rest()

    def update(self, *, anew: bool = False, cancellation: Cancellation | None = None) -> Iterator[Progress]:
        """Summarise and cluster what is due, as happens in the background; everything if `anew`.

        The last step is "done" or "cancelled"; whoever is stopped or killed goes on with the next call. A second update
        waits for the first. Raises StoreUnavailable, ConfigurationError (UMAP is not installed).
        """
        from rag_core.retrieval.hierarchy.building import here

        yield from self._updated(cancellation or Cancellation(), here, anew=anew)

    def _updated(self, token: Cancellation, run: Run, *, anew: bool = False) -> Iterator[Progress]:
        from rag_core.retrieval.hierarchy.building import update
        from rag_core.retrieval.hierarchy.clustering import Plan

        with self._turn:
            self._storage.hierarchy.forget_others(self._made_by)
            if anew:
                self._storage.hierarchy.clear()
            plan = Plan(method=self._hierarchy.method, reduction=self._hierarchy.reduction)
            write = None if self._hierarchy.summaries == EXTRACTIVE else self._written
            yield from update(
                self._storage, plan, write=write, made_by=self._made_by,
                stopped=lambda: token.is_set() or self._closing.is_set(), run=run,
            )  # fmt: skip

    def tree(self) -> ClusterTree:
        """Documents in clusters, named by their words; `of_document` goes on from there. Raises StoreUnavailable."""
        ids, groups = self._storage.hierarchy.document_groups()
        clusters = []
        for group in groups:
            typical = (-group.weights).argsort(kind="stable")
            clusters.append(DocumentCluster(group.terms, tuple(ids[place] for place in group.members[typical])))
        return ClusterTree(tuple(clusters), self._storage.hierarchy.missing())

    def of_document(self, document_id: str) -> tuple[ChunkCluster, ...]:
        """The chunks of a document in clusters, the largest first; none while it waits for them."""
        groups = self._storage.hierarchy.chunk_groups(document_id)
        return tuple(ChunkCluster(group.terms, tuple(map(int, group.members))) for group in groups)

    def summary(self, document_id: str) -> str:
        """A document's summary, extracted or written by the model of the settings; empty while it waits for one."""
        return self._storage.hierarchy.summary(document_id)

    def close(self) -> None:
        """Stop after the document that is being clustered; in the background at once."""
        self._closing.set()
        self._process.close()
        if self._feeder is not None:
            self._feeder.stop()

    def _written(self, extract: str) -> tuple[str, Floats]:
        """A summary by the model that was chosen, and its vector.

        Raises ModelUnavailable, LecternError (what it wrote is about as far from the document as the instructions,
        which say nothing of it: very small models go on about those).
        """
        settings = self._settings()
        model = self._model(settings.hierarchy.summaries, settings)
        messages = prompted(SUMMARY.fill(passages=passages([("", extract)], new_mark())))
        room = model.context_tokens - model.prompt_tokens(messages)
        if room < _LEAST_TOKENS:
            raise ModelUnavailable(f"{model.label} cannot hold an extract and its summary.")
        most = min(_SUMMARY_TOKENS, room)
        text = "".join(delta.text for delta in model.stream(messages, max_tokens=most, cancelled=self._closing.is_set))
        written, instructions, source = self._encode([text, SUMMARY.fill(passages=""), extract])
        foreign = float(instructions @ source)
        if text.strip() and written @ source < foreign + _ABOUT * (1 - foreign):
            raise LecternError(f"What {model.label} wrote is not about the document.")
        return text, written
