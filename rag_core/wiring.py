"""What a library is made of: its services, each given what it needs, and how they are closed."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rag_core.runtime.closing import Closing, close_parts, closed_on_failure
from rag_core.settings import Settings

if TYPE_CHECKING:
    from rag_core.jobs import Kind
    from rag_core.reading import Reader
    from rag_core.storage import Storage

# How it is closed: its parts in order, each with what ends it.
_ENDS = (
    ("jobs", "shut"), ("recognition", "interrupt"), ("catalogue", "close"), ("clusters", "close"), ("sources", "stop"),
    ("ingest", "close"), ("sources", "join"), ("jobs", "close"), ("recognition", "close"), ("reader", "close"),
    ("maintenance", "close"), ("asking", "close"), ("embedding", "close"), ("storage", "close"),
)  # fmt: skip


class Services(Closing, ABC):
    """The services of one library. What is asked of it less often stands with them: `sources` that are followed, the
    `catalogue` of titles and tags, `collections`, `people` whose things are, `chunk_edits`, `dump_files` of vectors,
    `page_places` of text, `guides`, `clusters`, `recognition`, the `history` of conversations, `table_plans` over whole
    tables, `table_views` of their rows and how they are read, `language_models`, `preferences`, `maintenance`,
    `evaluation`, `insights`, `access` of other programs, `jobs`."""

    def __init__(self, settings: Settings, storage: Storage, reader: Reader) -> None:
        self.storage, self.reader = storage, reader
        self._closing = threading.Event()
        with closed_on_failure(self.close):
            self._wire(settings, storage, reader)

    def _wire(self, settings: Settings, storage: Storage, reader: Reader) -> None:
        """What keeps documents, and what both roads share; then what is asked of them, and what works beside."""
        from rag_core.ingest import Ingest, open_stages
        from rag_core.services.catalogue import Catalogue
        from rag_core.services.collections import Collections
        from rag_core.services.dump_files import DumpFiles
        from rag_core.services.editing import ChunkEdits
        from rag_core.services.embedding_in_use import EmbeddingInUse
        from rag_core.services.following import FollowedSources
        from rag_core.services.page_places import PagePlaces
        from rag_core.services.preferences import Preferences

        self.preferences = Preferences(settings, storage)
        self.embedding = EmbeddingInUse(storage, self.preferences)
        self.ingest = Ingest(
            lambda: self.settings, storage, open_stages(settings, reader), self.embedding.for_new_documents,
            self._forget,
        )  # fmt: skip
        self.sources = FollowedSources(storage, self.ingest, self.settings)
        self.catalogue = Catalogue(storage, self._forget)
        self.collections = Collections(storage, lambda: self.settings)
        self.people = storage.documents.people
        self.chunk_edits = ChunkEdits(storage, self.ingest.committing, self.embedding.get, self._forget)
        self.dump_files = DumpFiles(storage, self.ingest.committing)
        self.page_places = PagePlaces(storage, reader)
        self._wire_questions(storage)
        self._wire_work(settings, storage)

    def _wire_questions(self, storage: Storage) -> None:
        from rag_core.evaluation import Evaluation, Host
        from rag_core.insights import InsightsService
        from rag_core.jobs.kinds import follow_runs
        from rag_core.services.access import Access
        from rag_core.services.guides import Guides
        from rag_core.services.history import History
        from rag_core.services.language_models import LanguageModels
        from rag_core.services.questions import QuestionService
        from rag_core.services.table_plans import TablePlans
        from rag_core.services.table_views import TableViews

        self.asking = asking = QuestionService(storage, self.preferences, self.embedding)
        self.guides = Guides(storage, asking)
        self.history = History(storage, asking)
        self.table_plans = TablePlans(storage, self.preferences, asking)
        self.table_views = TableViews(storage, asking)
        self.language_models = LanguageModels(self.preferences, asking.loaded, asking.unload)
        self.evaluation = Evaluation(storage, Host(
            settings=lambda: self.preferences.chosen, models=self.language_models.statuses, encode=asking.embed,
            corpus=asking.corpus, answer=asking.answer, model=asking.language_model, apply=self.preferences.apply,
            closing=self._closing.is_set, follow=partial(follow_runs, self),
        ))  # fmt: skip
        self.access = Access(storage)
        self.insights = InsightsService(storage, asking.embed)

    def _wire_work(self, settings: Settings, storage: Storage) -> None:
        from rag_core.jobs import Jobs
        from rag_core.jobs.kinds import keep_up
        from rag_core.jobs.lanes import carries
        from rag_core.services.clustering import Clustering
        from rag_core.services.maintenance import Maintenance
        from rag_core.services.recognition import Recognising

        kept_up = partial(partial, keep_up, self)
        self.clusters = Clustering(
            storage, lambda: self.settings, self.asking.language_model, self.asking.embed, kept_up("cluster")
        )
        self.recognition = Recognising(storage, lambda: self.settings, self.ingest, kept_up("recognise"))
        self.maintenance = Maintenance(
            storage, self.preferences, self.embedding, self.ingest, self.recognition, self.language_models,
            self._closing.is_set,
        )  # fmt: skip
        self.jobs = Jobs(self._kinds(), storage.jobs, carries=partial(carries, settings.jobs))

    @abstractmethod
    def _kinds(self) -> tuple[Kind, ...]:
        """The kinds of its jobs."""

    @property
    def settings(self) -> Settings:
        """The settings in effect: those it was opened with, and what was made the library's own."""
        return self.preferences.settings

    @property
    def folder(self) -> Path:
        """The folder of its data."""
        return self.storage.folder

    @property
    def is_closing(self) -> bool:
        """Whether `close` was called."""
        return self._closing.is_set()

    def close(self) -> None:
        """Stop what runs and close every store. What was accepted and not finished is resumed by the next owner."""
        self._closing.set()
        close_parts(self, _ENDS)

    def _forget(self, document_id: str) -> None:
        """Nothing is kept of a removed document beside the stores."""
        from rag_core.services.tried_chunks import forget

        self.asking.forget_dialogues()
        forget(self.storage, document_id)
