"""Library: the one facade that pages, command line and API call.

Opening starts PostgreSQL and maps the dumps; models are loaded when they are first needed, or by `warm_up`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rag_core.cancellation import Cancellation
from rag_core.domain import (
    AddEvent,
    Answer,
    BackupReport,
    Chunk,
    Conversation,
    Document,
    DocumentFilter,
    Hit,
    Message,
    Page,
    PageImage,
    Question,
    Retrieval,
    Scope,
    StreamEvent,
    Table,
    answer_of,
)
from rag_core.settings import Settings
from rag_core.wiring import Services

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag_core.jobs import Kind
    from rag_core.remote.library import RemoteLibrary
    from rag_core.sources import Source


class Library(Services):
    """A person's documents and conversations. Thread-safe: one library serves every session of an application.

    Use as a context manager, or call `close`. What is asked for one thing by its id raises KeyError where there is
    none; lists (`chunks`, `pages`, `messages`) are then empty.

    What is done less often stands with its service, as `Services` names them all.
    """

    @classmethod
    def open(cls, settings: Settings | None = None) -> Library:
        """Open the library of `settings.data_dir`, made where there is none.

        Raises LibraryInUse, ConfigurationError or StoreUnavailable.
        """
        from rag_core.reading import Reader
        from rag_core.runtime.allocator import keep_little
        from rag_core.runtime.interpreter import share_cores
        from rag_core.storage import Storage

        share_cores()
        keep_little()
        settings = settings or Settings.load()
        reader = Reader(settings.reading)  # which starts no process before it reads
        return cls(settings, Storage(settings), reader)

    @classmethod
    def connect(cls, url: str, *, key: str = "") -> RemoteLibrary:
        """The library of a server, such as http://127.0.0.1:8501, with the same methods as far as REST offers them.

        Raises ConfigurationError for what is no address; whether anybody answers shows with the first call.
        """
        from rag_core.remote.library import RemoteLibrary

        return RemoteLibrary(url, key)

    @classmethod
    def restore(cls, path: str | Path, settings: Settings | None = None) -> BackupReport:
        """Make a backup the content of the empty, closed library of `settings.data_dir`.

        The archive is checked before anything is touched, and nothing is embedded again. Raises StoreCorrupt (the
        archive is damaged), ConfigurationError (no archive of ours, or the library is not empty), LimitExceeded (the
        disk), LibraryInUse, StoreUnavailable.
        """
        from rag_core.services.maintenance import restore

        return restore(Path(path), settings or Settings.load())

    @classmethod
    def backup_beside(cls, path: str | Path, settings: Settings, *, replace: bool = False) -> BackupReport:
        """The same as `maintenance.backup` for a library that another process has open; neither disturbs the other."""
        from rag_core.storage import back_up_beside

        return back_up_beside(settings, Path(path).expanduser().absolute(), replace=replace)

    # Documents

    def add(
        self, sources: Iterable[Source], *, password: str | None = None, cancellation: Cancellation | None = None,
        owner: str = "",
    ) -> Iterator[AddEvent]:  # fmt: skip
        """Add files, folders, uploads and web addresses (text, or WebAddress with what it links to), telling each step.

        A file of a folder that did not change since is passed over; one that did takes its old version's place when it
        is ready. Every source ends with the stage ready, failed (its event has the error) or cancelled; one that fails
        does not keep the others. `password` opens encrypted documents. Whoever stops iterating leaves the rest pending.
        What is to go on without an iterator is a job: `jobs.submit("add", ...)`. `owner`: the person whose own they are
        (see `people`), "" for everybody's.
        """
        return self.ingest.run(sources, password=password, cancellation=cancellation, owner=owner)

    def accept(
        self, sources: Iterable[Source], *, password: str | None = None, cancellation: Cancellation | None = None,
        owner: str = "",
    ) -> Iterator[AddEvent]:  # fmt: skip
        """Keep the bytes of sources, so that they outlive this process, and leave the rest to `resume`.

        A source ends with the stage waiting (its event has the pending document, or none where another call is adding
        the same bytes), ready (it is in the library), failed or cancelled. `password` is kept with encrypted documents,
        which open with it then.
        """
        return self.ingest.accept(sources, password=password, cancellation=cancellation, owner=owner)

    def resume(
        self, documents: Mapping[str, str] | None = None, *, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """Finish accepted documents: those of an earlier process, or these ids, each with a name for its events."""
        return self.ingest.resume(documents, cancellation=cancellation)

    def retry(
        self, document_id: str, *, password: str | None = None, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """Read a failed document again, perhaps with its password, or the pages that text recognition failed at."""
        return self.ingest.retry(self.document(document_id), password=password, cancellation=cancellation)

    def documents(self) -> list[Document]:
        """Every document in whatever state, newest first."""
        return self.storage.documents.all()

    def document(self, document_id: str) -> Document:
        """One document."""
        document = self.storage.documents.get(document_id)
        if document is None or document.state == "removing":
            raise KeyError(document_id)
        return document

    def chunks(self, document_id: str, *, first: int = 0, limit: int | None = None) -> list[Chunk]:
        """Chunks of a document in order, from index `first` on."""
        return self.storage.documents.chunks(document_id, first, limit)

    def page(self, document_id: str, number: int) -> Page:
        """One page as text."""
        pages = self.storage.documents.pages(document_id, number)
        if not pages:
            raise KeyError((document_id, number))
        return pages[0]

    def pages(self, document_id: str) -> list[Page]:
        """All pages as text."""
        return self.storage.documents.pages(document_id)

    def tables(self, document_id: str) -> list[Table]:
        """The tables of a document's pages, in order, with their captions."""
        from rag_core.services.tables import tables

        return tables(self.pages(document_id), self.chunks(document_id))

    def page_image(
        self, document_id: str, page: int, *, span: tuple[int, int] | None = None, width_px: int = 1000
    ) -> PageImage:
        """A page as PNG, and the boxes of a span of its text, in fractions of its size. One whose text was recognised
        stands upright, whichever way it came.

        Raises UnsupportedDocument for documents that have no pages to draw.
        """
        return self.page_places.page_image(self.document(document_id), page, span=span, width_px=width_px)

    def original(self, document_id: str) -> Path:
        """The file that holds a document's own bytes; it is never changed."""
        return self.storage.files.path(self.document(document_id).id)

    def remove(self, document_id: str) -> None:
        """Remove a document from every store. Old answers keep the passages they cite."""
        self.storage.sources.leave_out(document_id)
        self.storage.remove(document_id)
        self._forget(document_id)

    # Questions

    def search(
        self, question: str, *, k: int | None = None, scope: Scope | None = None, mode: str | None = None,
        index: str | None = None, scan: str | None = None, mmr: bool | None = None,
    ) -> list[Hit]:  # fmt: skip
        """The best `k` chunks for a question, best first, from what `scope` leaves.

        mode: auto, hybrid, dense, lexical, clusters or scaler. index: where vectors are looked up: auto, dumps,
        pgvector or chroma. scan: auto, exact or fast. mmr: thin the hits, so that they differ from each other. What is
        None is as the settings for retrieval say. Raises InvalidQuestion, ConfigurationError, StoreUnavailable,
        ModelUnavailable.
        """
        found = self.retrieve(question, k=k, scope=scope, mode=mode, index=index, scan=scan, mmr=mmr)
        return list(found.hits)

    def retrieve(self, question: str, *, scope: Scope | None = None, **wanted: object) -> Retrieval:
        """The same with `trace`, which tells what was searched and what became of each candidate."""
        return self.asking.search(question, scope, **wanted)

    def ask(
        self, question: str, *, conversation: str | None = None, model: str | None = None, scope: Scope | None = None,
        agent: bool | None = None, mode: str | None = None, k: int | None = None,
    ) -> Answer:  # fmt: skip
        """Answer a question; the same as the end of `stream`."""
        return answer_of(
            self.stream(question, conversation=conversation, model=model, scope=scope, agent=agent, mode=mode, k=k)
        )

    def stream(
        self, question: str, *, conversation: str | None = None, model: str | None = None,
        cancellation: Cancellation | None = None, scope: Scope | None = None, replaces: str | None = None,
        agent: bool | None = None, begun_by: str = "", mode: str | None = None, k: int | None = None,
    ) -> Iterator[StreamEvent]:  # fmt: skip
        """Answer a question as a stream of events, of which the last holds the whole answer.

        The question is kept before the first event and the answer with the last one. An unknown `conversation` begins
        one under that id. `scope` is what is searched from now on in this conversation, None what it was narrowed to
        before; `@name` in the question stands for documents and tags and takes the place of both. A question that
        `replaces` a message of it, by its id, follows what was said before that; that and those after it are set aside.
        An `agent` plans several searches, reads and searches again; `mode` is how they go, as in `search`; `k` passages
        are answered from; None is as the settings say. `begun_by` is noted of a conversation that begins. What was
        answered before, of the same, is given again (`Trace.cached_at`), without hits, save where a message is
        replaced. Whoever stops iterating keeps what was answered so far. Raises InvalidQuestion, ModelUnavailable,
        StoreUnavailable.
        """
        return self.asking.stream(
            question, conversation=conversation, model=model, cancellation=cancellation, scope=scope,
            replaces=replaces, agent=agent, begun_by=begun_by, mode=mode, k=k,
        )  # fmt: skip

    def reply(
        self, question: str, *, history: Sequence[tuple[str, str]] = (), conversation: str | None = None,
        model: str | None = None, cancellation: Cancellation | None = None, scope: Scope | None = None,
        agent: bool | None = None, mode: str | None = None, k: int | None = None,
    ) -> Iterator[StreamEvent]:  # fmt: skip
        """The same as `stream` for a caller who keeps the conversation: `history` are questions with their answers.

        Nothing is kept. They follow what was said in `conversation`, whose scope holds where none is given; without
        one, no name after `@` widens the scope."""
        return self.asking.reply(
            question, history, conversation=conversation, model=model, cancellation=cancellation, scope=scope,
            agent=agent, mode=mode, k=k,
        )  # fmt: skip

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts, float32 (n, dimensions), rows of unit length. Raises ModelUnavailable."""
        return self.asking.embed(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text in the embedding model's own, uncut. Raises ModelUnavailable."""
        return self.asking.count_tokens(texts)

    def suggestions(self, given: Sequence[Question] = (), *, scope: Scope | None = None, limit: int = 4) -> list[str]:
        """At most `limit` questions that the library answers right within `scope`: of those `given`, else of drafts of
        its own. Takes some seconds; kept for a library as it is now. Raises StoreUnavailable, ModelUnavailable."""
        from rag_core.services.suggesting import suggestions

        return suggestions(self.storage, self.asking, self.settings, given, scope or Scope(), limit)

    def intake(self) -> tuple[int, int]:
        """How many documents can be searched, and how many are still on their way to that."""
        ready, _, pending, _ = self.storage.documents.counts()
        return ready, pending

    def scope_of(self, names: Iterable[str], *, seen: Sequence[str] = (), viewer: str = "") -> Scope:
        """Documents and tags by what a person calls them, as after `@`, where `seen` are given among the documents with
        any of these tags, and those that a viewer may see. Raises KeyError for a name that fits none."""
        from rag_core.services.conversation_scope import scope_named

        return scope_named(names, self.storage.documents.listed(DocumentFilter(seen=tuple(seen), viewer=viewer)))

    def conversations(self, words: str = "", *, owner: str = "") -> list[Conversation]:
        """Every conversation, pinned ones first, then the one used last; with `words`, those that hold them all; of an
        `owner`, those of that person."""
        wanted = words.split()
        return self.storage.conversations.find(wanted, owner) if wanted else self.storage.conversations.all(owner)

    def messages(self, conversation_id: str) -> list[Message]:
        """The messages of a conversation in order, without those set aside; their answers have citations, not hits."""
        return self.storage.conversations.messages(conversation_id)

    def warm_up(self) -> None:
        """Load the embedding model and what answers need, so that the first question finds them ready. Writes nothing
        to the library. Raises ModelUnavailable."""
        self.asking.warm()

    def _kinds(self) -> tuple[Kind, ...]:
        from rag_core.jobs.kinds import kinds

        return kinds(self)
