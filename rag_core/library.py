"""Library: the one facade that pages, command line and API call.

Opening starts PostgreSQL and maps the dumps; models are loaded when they are first needed, or by `warm_up`.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace as with_changes
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from rag_core.cancellation import Cancellation
from rag_core.domain import (
    AddEvent,
    Answer,
    BackupReport,
    Chunk,
    ChunkCluster,
    ChunkEdit,
    ClusterTree,
    Conversation,
    Document,
    FollowedSource,
    Hit,
    LibraryStatus,
    Message,
    ModelStatus,
    Page,
    PagePicture,
    Piece,
    Progress,
    Question,
    Report,
    Scope,
    Successor,
    Table,
)
from rag_core.errors import (
    LecternError,
    ModelUnavailable,
    UnsupportedDocument,
)
from rag_core.settings import EmbeddingSettings, Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag_core.access import Access
    from rag_core.evaluation import Evaluation
    from rag_core.exporting import ConversationForm
    from rag_core.insights import InsightsService
    from rag_core.language_models import LanguageModels
    from rag_core.reading import Reader
    from rag_core.reembedding import Reembedding
    from rag_core.remote.library import RemoteLibrary
    from rag_core.retrieval import Retrieval
    from rag_core.sources import Source
    from rag_core.storage import Storage

_TITLE_CHARS = 300


class Library:
    """A person's documents and conversations. Thread-safe: one library serves every session of an application.

    Use as a context manager, or call `close`. What is asked for one thing by its id raises KeyError where there is
    none; lists (`chunks`, `pages`, `messages`) are then empty.
    """

    def __init__(self, settings: Settings, storage: Storage, reader: Reader) -> None:
        from rag_core.asking import Asking
        from rag_core.cards import make_cards
        from rag_core.choices import Choices
        from rag_core.clustering import Clustering
        from rag_core.editing import Editing
        from rag_core.embedding_in_use import EmbeddingInUse
        from rag_core.following import Following
        from rag_core.ingest import Ingest
        from rag_core.jobs import Jobs
        from rag_core.rechunking import look
        from rag_core.recognition import Recognising
        from rag_core.storage.indexes.feeder import Feeder
        from rag_core.work import kinds

        self._storage = storage
        self._reader = reader
        self._choices = Choices(settings, storage)
        look(storage, self._choices.settings.chunking.key)
        self._embedding = EmbeddingInUse(storage, self._choices)
        self._asking = Asking(storage, self._choices, self._embedding)
        self._ingest = Ingest(lambda: self.settings, storage, reader, self._embedding.for_new_documents, self._forget)
        self._editing = Editing(storage, self._ingest.committing, self._embedding.get, self._forget)
        self._following = Following(storage, self._ingest, self.settings)
        self._clustering = Clustering(storage, lambda: self.settings, self._asking.language_model)
        self._evaluation: Evaluation | None = None
        self._access: Access | None = None
        self._lock = threading.Lock()
        self._remaking = threading.Lock()
        self._stepping = threading.Lock()
        self._closing = threading.Event()
        self._cards = Feeder("Cards are made", lambda: make_cards(storage, self._closing.is_set))
        self._recognising = Recognising(storage, lambda: self.settings, self._ingest)
        made = kinds(self)
        self.jobs = Jobs(made, storage.jobs({kind.name: kind.result for kind in made if kind.result}))

    @property
    def settings(self) -> Settings:
        """The settings in effect: those it was opened with, and what was made the library's own."""
        return self._choices.settings

    @property
    def folder(self) -> Path:
        """The folder of its data."""
        return self._storage.folder

    @classmethod
    def open(cls, settings: Settings | None = None) -> Library:
        """Open the library of `settings.data_dir`, made where there is none.

        Raises LibraryInUse, ConfigurationError or StoreUnavailable.
        """
        from rag_core.reading import Reader
        from rag_core.storage import Storage

        settings = settings or Settings.load()
        return cls(settings, Storage(settings), Reader(settings.reading))

    @classmethod
    def connect(cls, url: str, *, key: str = "") -> RemoteLibrary:
        """The library of a server, such as http://127.0.0.1:8501, with the same methods for what is done most.

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
        from rag_core.storage import Archive, Storage, check_known, report

        settings = settings or Settings.load()
        with Archive(Path(path)) as archive:
            check_known(archive)
            storage = Storage(settings)
            try:
                storage.restore(archive)
            finally:
                storage.close()
            Storage(settings).close()  # makes the dumps
            return report(archive)

    @classmethod
    def backup_beside(cls, path: str | Path, settings: Settings, *, replace: bool = False) -> BackupReport:
        """The same as `backup` for a library that another process has open; neither disturbs the other."""
        from rag_core.storage import back_up_beside

        return back_up_beside(settings, Path(path).expanduser().absolute(), replace=replace)

    @property
    def is_closing(self) -> bool:
        """Whether `close` was called."""
        return self._closing.is_set()

    def close(self) -> None:
        """Stop what runs and close every store. What was accepted and not finished is resumed by the next owner."""
        self._closing.set()
        self.jobs.shut()
        self._recognising.interrupt()
        self._cards.stop()
        self._clustering.close()
        self._following.stop()
        self._ingest.close()
        self._following.join()
        self.jobs.close()
        self._recognising.close()
        self._reader.close()
        with self._stepping:  # a step of a re-embedding ends before its stores are closed
            pass
        self._asking.close()
        self._embedding.close()
        self._storage.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # Documents

    def add(
        self, sources: Iterable[Source], *, password: str | None = None, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """Add files, folders, uploads and web addresses (text, or WebAddress with what it links to), telling each step.

        A file of a folder that did not change since is passed over; one that did takes its old version's place when it
        is ready. Every source ends with the stage ready, failed (its event has the error) or cancelled; one that fails
        does not keep the others. `password` opens encrypted documents. Whoever stops iterating leaves the rest pending.
        What is to go on without an iterator is a job: `library.jobs.submit("add", ...)`.
        """
        return self._ingest.run(sources, password=password, cancellation=cancellation)

    def accept(self, sources: Iterable[Source], *, cancellation: Cancellation | None = None) -> Iterator[AddEvent]:
        """Keep the bytes of sources, so that they outlive this process, and leave the rest to `resume`.

        A source ends with the stage waiting (its event has the pending document, or none where another call is adding
        the same bytes), ready (it is in the library), failed or cancelled.
        """
        return self._ingest.accept(sources, cancellation=cancellation)

    def resume(
        self, documents: Mapping[str, str] | None = None, *, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """Finish accepted documents: those of an earlier process, or these ids, each with a name for its events."""
        return self._ingest.resume(documents, cancellation=cancellation)

    def retry(
        self, document_id: str, *, password: str | None = None, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """Read a failed document again, perhaps with its password."""
        return self._ingest.retry(self.document(document_id), password=password, cancellation=cancellation)

    @property
    def suffixes(self) -> frozenset[str]:
        """The endings of the files that are taken from folders, as ".pdf"; others are judged when they are named."""
        from rag_core.reading import SUFFIXES

        return SUFFIXES

    def update(
        self, locations: Iterable[str] | None = None, *, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """Look again at addresses, files and watched folders that were added, or at these; fetch only what changed.

        A newer version takes the old one's place when it is ready. What is gone from the web, or was one file, stays
        and is told of as failed; what is gone from a watched folder goes. What the user removed is not brought back.
        """
        return self._following.update(None if locations is None else set(locations), cancellation)

    def watch(self, folder: str | Path, *, tags: Iterable[str] = ()) -> FollowedSource:
        """Follow a folder from now on, also after a restart: additions, changes, renames and removals.

        Its documents get `tags`. Raises SourceUnavailable, ConfigurationError for one within another that is watched,
        ValueError for a tag that is none.
        """
        return self._following.watch(Path(folder), tuple(tags))

    def unwatch(self, location: str, *, remove: bool = False) -> None:
        """Follow a folder no longer. Its documents stay, unless `remove`. Raises KeyError for one that is not."""
        self._following.unwatch(location, remove)

    def followed(self) -> list[FollowedSource]:
        """Watched folders, with what keeps them from being followed, and addresses that were added."""
        return self._storage.sources.followed()

    def documents(self) -> list[Document]:
        """Every document in whatever state, newest first."""
        return self._storage.documents.all()

    def document(self, document_id: str) -> Document:
        """One document."""
        document = self._storage.documents.get(document_id)
        if document is None or document.state == "removing":
            raise KeyError(document_id)
        return document

    def chunks(self, document_id: str, *, first: int = 0, limit: int | None = None) -> list[Chunk]:
        """Chunks of a document in order, from index `first` on."""
        return self._storage.documents.chunks(document_id, first, limit)

    def correct_chunk(self, chunk_id: str, text: str) -> None:
        """Give a chunk another text, which is embedded and found from then on; the text as read takes that back.

        Raises KeyError, ValueError (no text, or more than 20,000 characters), ModelUnavailable, StoreUnavailable, and
        LecternError while the document is changed elsewhere.
        """
        self._editing.correct(chunk_id, text)

    def leave_out_chunk(self, chunk_id: str) -> None:
        """Have a chunk be found no longer; those behind it move up. Raises as `correct_chunk` does."""
        self._editing.leave_out(chunk_id)

    def chunk_edits(self, document_id: str) -> list[ChunkEdit]:
        """What the user made of a document's chunks, in the order of its pages, those that fit none any more too."""
        return self._storage.documents.edits.of(document_id)

    def undo_chunk_edit(self, document_id: str, page: int, start: int, end: int) -> None:
        """Take an edit back, named by its chunk's page and span: what was left out is found again, else the text is
        as read; one that fits no chunk is forgotten. Raises as `correct_chunk` does.
        """
        self._editing.undo(document_id, page, start, end)

    def neighbours(self, chunk_id: str) -> tuple[Chunk | None, Chunk | None]:
        """The chunks before and after one, None at the document's ends."""
        document_id, _, number = chunk_id.rpartition(":")
        if not (number.isascii() and number.isdigit()):
            raise KeyError(chunk_id)
        index = int(number)
        around = self._storage.documents.chunks_at([(document_id, index - 1), (document_id, index + 1)])
        found = {place[1]: chunk for place, (chunk, _) in around.items()}
        return found.get(index - 1), found.get(index + 1)

    def page(self, document_id: str, number: int) -> Page:
        """One page as text."""
        pages = self._storage.documents.pages(document_id, number)
        if not pages:
            raise KeyError((document_id, number))
        return pages[0]

    def pages(self, document_id: str) -> list[Page]:
        """All pages as text."""
        return self._storage.documents.pages(document_id)

    def tables(self, document_id: str) -> list[Table]:
        """The tables of a document's pages, in order, with their captions."""
        from rag_core.text.tables import tables_of

        return [table for page in self.pages(document_id) for table in tables_of(page)]

    def picture(
        self, document_id: str, page: int, *, span: tuple[int, int] | None = None, width_px: int = 1000
    ) -> PagePicture:
        """A page as PNG, and the boxes of a span of its text, in fractions of its size. One whose text was recognised
        stands upright, whichever way it came.

        Raises UnsupportedDocument for documents that have no pages to draw.
        """
        from rag_core.reading.ocr import span_boxes
        from rag_core.recognition import recognised_text

        document = self.document(document_id)
        if not document.has_pictures:
            raise UnsupportedDocument(
                "Only the pages of PDF documents and images have pictures.", help="Read the page's text."
            )
        recognised = recognised_text(self._storage, document_id, page)
        marked = None if recognised else span
        stored = self._storage.documents.pages(document_id, page) if marked else []
        picture = self._reader.picture(
            self._storage.files.path(document_id), document.media_type, page, width_px=width_px, span=marked,
            text=stored[0].text if stored else None, password=self._storage.documents.password(document_id),
            turned=recognised.turned if recognised else 0,
        )  # fmt: skip
        return with_changes(picture, boxes=span_boxes(recognised, *span)) if recognised and span else picture

    def original(self, document_id: str) -> Path:
        """The file that holds a document's own bytes; it is never changed."""
        return self._storage.files.path(self.document(document_id).id)

    def remove(self, document_id: str) -> None:
        """Remove a document from every store. Old answers keep the passages they cite."""
        self._storage.sources.leave_out(document_id)
        self._storage.remove(document_id)
        self._forget(document_id)

    def set_aside(self, ids: Iterable[str], *, undo_s: float = 60.0) -> list[str]:
        """Remove ready documents so that `take_back` can undo it for some seconds: they are found no longer at once.

        Returns those that there were. Raises StoreUnavailable.
        """
        wanted = list(ids)
        for document_id in wanted:
            self._storage.sources.leave_out(document_id)
        found = self._storage.set_aside(wanted, undo_s)
        for document_id in found:
            self._forget(document_id)
        return found

    def take_back(self, ids: Iterable[str]) -> list[str]:
        """Undo `set_aside`, embedding nothing. Returns the documents that are back; for others it is too late."""
        return self._storage.take_back(list(ids))

    def rename_document(self, document_id: str, title: str | None) -> None:
        """Call a document so, from now on and everywhere; None, or nothing but blanks, gives its found title back."""
        if not self._storage.documents.cards.rename(
            document_id, " ".join((title or "").split())[:_TITLE_CHARS] or None
        ):
            raise KeyError(document_id)
        self._storage.wake()

    def tag_documents(self, ids: Iterable[str], *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> None:
        """Put tags on documents and take others off; ids that are not there are passed over.

        Tags are compared without regard to case and keep the spelling that was first. Raises ValueError for one
        without letters or figures, or of more than 60 characters.
        """
        from rag_core.cards import clean_tag

        self._storage.documents.cards.tag([*ids], [clean_tag(tag) for tag in add], [clean_tag(tag) for tag in remove])

    def tags(self) -> list[tuple[str, int]]:
        """Every tag, in alphabetical order, with how many documents have it."""
        return self._storage.documents.cards.tags()

    def reembed(
        self, settings: EmbeddingSettings | None = None, *, cancellation: Cancellation | None = None
    ) -> Iterator[Progress]:
        """Embed every chunk anew with another model, from the stored texts, while the old vectors answer; then switch.

        Without `settings` the model is that of the library's settings, or that of an interrupted run. The last step is
        "done" or "cancelled". Whoever stops iterating, or is killed, keeps what was embedded: the next call goes on.
        Raises ModelUnavailable, LimitExceeded (the disk), StoreUnavailable, and LecternError while another one runs.
        """
        from rag_core.embedding import open_embedder
        from rag_core.reembedding import Reembedding, target

        token = cancellation or Cancellation()
        with self._remade():
            wanted = settings or target(self._storage, self.settings.embedding)
            embedder = open_embedder(wanted, self.settings.models_dir)
            run = Reembedding(
                self._storage, embedder, turn=self._ingest.committing, adopted=lambda: self._embedding.adopt(embedder),
                stopped=lambda: token.is_set() or self._closing.is_set(),
                min_free_bytes=self.settings.storage.min_free_bytes,
            )  # fmt: skip
            try:
                yield from self._steps(run)
            finally:
                if self._embedding.embedder is not embedder:
                    embedder.close()

    def forget_reembedding(self) -> None:
        """Throw away what a stopped `reembed` has made. Raises LecternError while one runs, StoreUnavailable."""
        with self._remade():
            self._storage.abandon_successor()

    def chunk_anew(self, *, cancellation: Cancellation | None = None) -> Iterator[Progress]:
        """Cut the documents that a change of chunking left with other chunks anew, a few at a time.

        The last step is "done" or "cancelled"; whoever is stopped or killed goes on with the next call. Raises
        LecternError while the library is embedded or cut anew already, StoreUnavailable.
        """
        from rag_core.rechunking import begin, cut_anew

        with self._remade():
            if self.chunking_offered():
                begin(self._storage, self.settings.chunking.key)
            yield from cut_anew(self._storage, self._ingest, cancellation or Cancellation(), self._closing.is_set)

    def chunking_left(self) -> int:
        """How many documents are to be cut anew still."""
        from rag_core.rechunking import left

        return left(self._storage)

    def chunking_offered(self) -> bool:
        """Whether the documents were cut by another default than today's, and could be cut anew: `chunk_anew`."""
        from rag_core.rechunking import offered

        return offered(self._storage, self.settings.chunking.key)

    def forget_chunking(self) -> None:
        """Leave the documents that were, or could be, cut anew as they are."""
        from rag_core.rechunking import forget, settle

        settle(self._storage, self.settings.chunking.key)
        forget(self._storage)

    def clusters(self) -> ClusterTree:
        """Documents in clusters, named by their words; `clusters_of` goes on from there. Raises StoreUnavailable."""
        return self._clustering.tree()

    def clusters_of(self, document_id: str) -> tuple[ChunkCluster, ...]:
        """The chunks of a document in clusters, the largest first; none while it waits for them."""
        return self._clustering.of_document(document_id)

    def summary(self, document_id: str) -> str:
        """A document's summary, extracted or written by the model of the settings; empty while it waits for one."""
        return self._storage.hierarchy.summary(document_id)

    def update_clusters(self, *, anew: bool = False, cancellation: Cancellation | None = None) -> Iterator[Progress]:
        """Summarise and cluster what is due, as happens in the background; everything if `anew`.

        The last step is "done" or "cancelled"; whoever is stopped or killed goes on with the next call. Raises
        StoreUnavailable, ConfigurationError (UMAP is not installed).
        """
        token = cancellation or Cancellation()
        yield from self._clustering.update(token.is_set, anew=anew)

    def recognise(self, *, cancellation: Cancellation | None = None) -> Iterator[Progress]:
        """Recognise the pages whose text is a picture, as happens in the background, telling pages done and in all.

        The last step is "done" or "cancelled"; whoever is stopped or killed goes on with the next call. Raises
        ModelUnavailable where the recogniser of the settings is missing, StoreUnavailable.
        """
        token = cancellation or Cancellation()
        yield from self._recognising.run(token.is_set)

    def to_recognise(self) -> int:
        """How many pages text recognition has yet to read."""
        return self._recognising.left()

    def backup(self, path: str | Path, *, replace: bool = False) -> BackupReport:
        """Write one verified archive of documents, conversations and settings of the library, which stays in use.

        It holds the passwords of encrypted documents, but never the Gemini key. An existing file is kept unless
        `replace`. Raises ConfigurationError (the place), StoreUnavailable (nothing is left behind), StoreCorrupt.
        """
        return self._storage.backup(Path(path).expanduser().absolute(), replace=replace)

    # Questions

    def search(
        self,
        question: str,
        *,
        k: int | None = None,
        scope: Scope | None = None,
        mode: str | None = None,
        index: str | None = None,
        scan: str | None = None,
        mmr: bool | None = None,
    ) -> list[Hit]:
        """The best `k` chunks for a question, best first, from what `scope` leaves.

        mode: auto, hybrid, dense, lexical or scaler. index: where vectors are looked up: auto, dumps, pgvector or
        chroma. scan: auto, exact or fast. mmr: thin the hits, so that they differ from each other. What is None is as
        the settings for retrieval say. Raises InvalidQuestion, ConfigurationError, StoreUnavailable, ModelUnavailable.
        """
        found = self.retrieve(question, k=k, scope=scope, mode=mode, index=index, scan=scan, mmr=mmr)
        return list(found.hits)

    def retrieve(self, question: str, *, scope: Scope | None = None, **wanted: object) -> Retrieval:
        """The same with `trace`, which tells what was searched and what became of each candidate."""
        return self._asking.search(question, scope, **wanted)

    def ask(
        self,
        question: str,
        *,
        conversation: str | None = None,
        model: str | None = None,
        scope: Scope | None = None,
        agent: bool | None = None,
    ) -> Answer:
        """Answer a question; the same as the end of `stream`."""
        answer = None
        for piece in self.stream(question, conversation=conversation, model=model, scope=scope, agent=agent):
            answer = piece.answer or answer
        if answer is None:
            raise ModelUnavailable("The model gave no answer.")
        return answer

    def stream(
        self,
        question: str,
        *,
        conversation: str | None = None,
        model: str | None = None,
        cancellation: Cancellation | None = None,
        scope: Scope | None = None,
        replaces: str | None = None,
        agent: bool | None = None,
    ) -> Iterator[Piece]:
        """Answer a question piece by piece; the last piece holds the whole answer.

        The question is kept before the first piece and the answer with the last one. An unknown `conversation` begins
        one under that id. `scope` is what is searched from now on in this conversation, None what it was narrowed to
        before; `@name` in the question stands for documents and tags and takes the place of both. A question that
        `replaces` a message, by its id, follows what was said before that; the message and those after it are set
        aside. An `agent` plans several searches, reads and searches again; None is as the settings say. Whoever stops
        iterating keeps what was answered so far. Raises InvalidQuestion, ModelUnavailable, StoreUnavailable.
        """
        return self._asking.stream(
            question, conversation=conversation, model=model, cancellation=cancellation, scope=scope,
            replaces=replaces, agent=agent,
        )  # fmt: skip

    def reply(
        self,
        question: str,
        *,
        history: Sequence[tuple[str, str]] = (),
        model: str | None = None,
        cancellation: Cancellation | None = None,
        scope: Scope | None = None,
    ) -> Iterator[Piece]:
        """The same as `stream` for a caller who keeps the conversation: `history` are questions with their answers.

        Nothing is kept, and no name after `@` widens the scope.
        """
        return self._asking.reply(question, history, model=model, cancellation=cancellation, scope=scope)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts, float32 (n, dimensions), rows of unit length. Raises ModelUnavailable."""
        return self._asking.embed(texts)

    def bring_back(self, message_id: str) -> None:
        """Show again what a message took the place of; it and those after it are set aside in turn."""
        self._storage.conversations.bring_back(message_id)

    def suggestions(self, given: Sequence[Question] = (), *, scope: Scope | None = None, limit: int = 4) -> list[str]:
        """At most `limit` questions that the library answers right: of those `given`, else of drafts of its own.

        Each is asked of the extractive model, within `scope`; takes some seconds, so the result for a library as it is
        now is kept. Raises StoreUnavailable, ModelUnavailable.
        """
        from rag_core.suggesting import suggestions

        return suggestions(self._storage, self._asking, self.settings, given, scope or Scope(), limit)

    def intake(self) -> tuple[int, int]:
        """How many documents can be searched, and how many are still on their way to that."""
        ready, _, pending, _ = self._storage.documents.counts()
        return ready, pending

    def scope(self, conversation_id: str) -> Scope:
        """What a conversation is narrowed to."""
        return self._storage.conversations.scope(conversation_id)

    def set_scope(self, conversation_id: str, scope: Scope) -> None:
        """Narrow a conversation; an empty scope is everything."""
        self._storage.conversations.set_scope(conversation_id, scope)

    def scope_of(self, names: Iterable[str]) -> Scope:
        """Documents and tags by what a person calls them, as after `@`. Raises KeyError for a name that fits none."""
        from rag_core.retrieval.mentions import either, named

        documents = [document for document in self.documents() if document.state == "ready"]
        scopes = []
        for name in names:
            scope = named(name, documents)
            if scope is None:
                raise KeyError(name)
            scopes.append(scope)
        return either(scopes, documents)

    def conversations(self, words: str = "") -> list[Conversation]:
        """Every conversation, pinned ones first, then the one used last; with `words`, those that hold them all."""
        wanted = words.split()
        return self._storage.conversations.find(wanted) if wanted else self._storage.conversations.all()

    def messages(self, conversation_id: str) -> list[Message]:
        """The messages of a conversation in order, without those set aside; their answers have citations, not hits."""
        return self._storage.conversations.messages(conversation_id)

    def rate(self, message_id: str, rating: int | None, reason: str = "") -> None:
        """Keep what the user thinks of an answer, 1 good, -1 bad, None neither, and why. Raises ValueError."""
        if rating not in (1, -1, None):
            raise ValueError("A rating is 1, -1 or None.")
        self._storage.conversations.rate(message_id, rating, reason.strip())

    def pin_conversation(self, conversation_id: str, pinned: bool) -> None:
        """Keep a conversation before all others, or among them again."""
        self._storage.conversations.pin(conversation_id, pinned)

    def export_conversation(self, conversation_id: str, form: ConversationForm) -> bytes:
        """A conversation as a file: "markdown", "pdf", "json", or "bibtex" for the documents that it cites."""
        from rag_core.exporting import Thread, export

        conversation = next((one for one in self.conversations() if one.id == conversation_id), None)
        if conversation is None:
            raise KeyError(conversation_id)
        messages = self.messages(conversation_id)
        cited = {citation.document_id for one in messages if one.answer for citation in one.answer.citations}
        return export(Thread(conversation, messages, self._storage.documents.some(sorted(cited))), form)

    def rename_conversation(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title."""
        self._storage.conversations.rename(conversation_id, title)

    def delete_conversation(self, conversation_id: str) -> None:
        """Delete a conversation with its messages."""
        self._storage.conversations.delete(conversation_id)

    # Models and state

    def models(self) -> tuple[ModelStatus, ...]:
        """Every model that can be chosen, with what is missing where one is not ready."""
        from rag_core.models import model_statuses

        return model_statuses(self._choices.effective)

    @property
    def language_models(self) -> LanguageModels:
        """The language models of this machine, downloads of more, and the server that has others."""
        from rag_core.language_models import LanguageModels

        return LanguageModels(self._choices, self._asking.loaded, self._asking.unload)

    def use_gemini(self, key: str, *, keep: bool) -> None:
        """Take a Gemini key and the user's word that passages may leave the machine.

        With `keep` both outlive this process: the key in `.env`, the word in the library. Raises ConfigurationError.
        """
        self._choices.use_gemini(key, keep=keep)

    def forget_gemini(self) -> None:
        """Forget the key and take back the word that passages may leave the machine."""
        self._choices.forget_gemini()

    @property
    def evaluation(self) -> Evaluation:
        """Question sets, runs of configurations on them, and what follows."""
        from rag_core.evaluation import Evaluation, Host

        with self._lock:
            if self._evaluation is None:
                host = Host(
                    settings=lambda: self._choices.chosen, models=self.models, closing=self._closing.is_set,
                    encode=lambda texts: self._embedding.get().encode(texts), corpus=self._asking.corpus,
                    answer=self._asking.answer, model=self._asking.language_model, adopt=self._choices.adopt,
                )  # fmt: skip
                self._evaluation = Evaluation(self._storage, host)
            return self._evaluation

    @property
    def access(self) -> Access:
        """Keys of the doors for other programs, and the audit of what was changed through them."""
        from rag_core.access import Access

        with self._lock:
            if self._access is None:
                self._access = Access(self._storage)
            return self._access

    @property
    def insights(self) -> InsightsService:
        """What was asked and what came of it, documents used and not, times, tokens, jobs; a map of the documents."""
        from rag_core.insights import InsightsService

        return InsightsService(self._storage, lambda texts: self._embedding.get().encode(texts))

    def preference(self, name: str) -> str | None:
        """A value that the user chose, or None."""
        return self._storage.conversations.preference(name)

    def set_preference(self, name: str, value: str | None) -> None:
        """Keep a value that the user chose; None forgets it."""
        self._storage.conversations.set_preference(name, value)

    def verify(self, deep: bool = False) -> Report:
        """Compare every document across PostgreSQL, Chroma, dumps and files; nothing is written.

        `deep` reads every text, vector and file; otherwise vectors are a sample. Raises StoreUnavailable.
        """
        from rag_core.storage.maintenance.doctor import verify

        return verify(self._storage, deep)

    def repair(self) -> Report:
        """Compare thoroughly and make again what differs, from PostgreSQL and without embedding anything.

        Returns the comparison after that: its findings could not be mended. Raises StoreUnavailable.
        """
        from rag_core.storage.maintenance.doctor import repair, verify

        return repair(self._storage, verify(self._storage, deep=True))

    def status(self) -> LibraryStatus:
        """Counts, profile, engine, stores, models, and whatever is worth saying."""
        ready, chunks, pending, failed = self._storage.documents.counts()
        profile = self._storage.documents.profile()
        told = self._storage.describe()
        successor = self._successor()
        return LibraryStatus(
            data_dir=str(self._storage.folder), documents=ready, chunks=chunks, pending=pending, failed=failed,
            profile=f"{profile.name}, {profile.dimensions} dimensions, {profile.precision}" if profile else "none yet",
            engine=told["dumps"], postgresql=told["postgresql"], chroma=told["chroma"],
            lexical=told["lexical"], models=self.models(),
            notes=self._told(successor), successor=successor,
        )  # fmt: skip

    def notes(self) -> tuple[str, ...]:
        """What happened on opening that the user should know, one line each."""
        return self._told(self._successor())

    def warm_up(self) -> None:
        """Load the embedding model and what answers need, so that the first question finds them ready. Writes nothing
        to the library. Raises ModelUnavailable."""
        self._asking.warm()

    def _forget(self, document_id: str) -> None:
        """Nothing is kept of a removed document beside the stores."""
        from rag_core.corpora import forget

        self._asking.forget_dialogues()
        forget(self._storage, document_id)

    @contextlib.contextmanager
    def _remade(self) -> Iterator[None]:
        """Embedded or cut anew: one at a time. Raises LecternError."""
        if not self._remaking.acquire(blocking=False):
            raise LecternError(
                "The library is being embedded or cut anew already.", help="Wait until it ends, or stop it."
            )
        try:
            yield
        finally:
            self._remaking.release()

    def _successor(self) -> Successor | None:
        from rag_core.reembedding import successor

        return successor(self._storage, self.settings.embedding)

    def _told(self, successor: Successor | None) -> tuple[str, ...]:
        from rag_core.rechunking import note

        found = (*self._storage.notes, *note(self._storage), *self._recognising.notes())
        return (*found, *([successor.note] if successor else ()))

    def _steps(self, run: Reembedding) -> Iterator[Progress]:
        """The steps of a re-embedding, none of which is amid when the library is closed."""
        steps = run.steps()
        while True:
            with self._stepping:
                step = next(steps, None)
            if step is None:
                return
            yield step
