"""PersonalLibrary: the facade of the library for one person, with the names and arguments of `Library`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag_core.cancellation import Cancellation
from rag_core.domain import (
    AddEvent,
    Answer,
    Chunk,
    Conversation,
    Document,
    DocumentFilter,
    Hit,
    Message,
    Page,
    Question,
    Retrieval,
    Scope,
    StreamEvent,
    Table,
    Upload,
    answer_of,
)
from rag_core.errors import NotAllowed
from rag_core.library import Library
from rag_core.personal.conversations import PersonalHistory, PersonalInsights
from rag_core.personal.documents import (
    PersonalCatalogue,
    PersonalChunkEdits,
    PersonalClusters,
    PersonalGuides,
    PersonalPagePlaces,
)
from rag_core.personal.jobs import PersonalJobs
from rag_core.personal.rights import Offered, Part, Rights
from rag_core.personal.sharing import (
    PersonalAccess,
    PersonalCollections,
    PersonalModels,
    PersonalPeople,
    PersonalPreferences,
)
from rag_core.personal.tables import PersonalTablePlans, PersonalTableViews
from rag_core.settings import Settings
from rag_core.sources import Source


class PersonalLibrary(Part):
    """What one person sees of a library. What they do not see is as if there were no such thing."""

    page = Offered(Rights.see)
    page_image = Offered(Rights.see)
    original = Offered(Rights.see)
    retry = Offered(Rights.own)
    remove = Offered(Rights.own)
    embed = Offered()
    count_tokens = Offered()

    def __init__(self, library: Library, person: str) -> None:
        rights = Rights(library, person)
        super().__init__(rights)
        self.catalogue = PersonalCatalogue(rights)
        self.chunk_edits = PersonalChunkEdits(rights)
        self.clusters = PersonalClusters(rights)
        self.collections = PersonalCollections(rights)
        self.guides = PersonalGuides(rights)
        self.history = PersonalHistory(rights)
        self.insights = PersonalInsights(rights)
        self.jobs = PersonalJobs(rights)
        self.language_models = PersonalModels(rights)
        self.page_places = PersonalPagePlaces(rights)
        self.people = PersonalPeople(rights)
        self.preferences = PersonalPreferences(rights)
        self.table_plans = PersonalTablePlans(rights)
        self.table_views = PersonalTableViews(rights)
        self.access = PersonalAccess(rights)

    @property
    def settings(self) -> Settings:
        """The settings in effect."""
        return self._library.settings

    @property
    def folder(self) -> Path:
        """The folder of the library's data, where uploads come in."""
        return self._library.folder

    @property
    def is_closing(self) -> bool:
        """Whether the library is being closed."""
        return self._library.is_closing

    # Documents

    def add(
        self, sources: Iterable[Source], *, password: str | None = None, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """Add uploads as their own; what lies on the server's machine or elsewhere is not theirs to have read."""
        return self._library.add(
            _uploads(sources), password=password, cancellation=cancellation, owner=self._person
        )  # fmt: skip

    def accept(
        self, sources: Iterable[Source], *, password: str | None = None, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """Keep the bytes of uploads as their own, and leave the rest to `resume`."""
        return self._library.accept(
            _uploads(sources), password=password, cancellation=cancellation, owner=self._person
        )  # fmt: skip

    def resume(
        self, documents: Mapping[str, str] | None = None, *, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """Finish documents of their own."""
        for document_id in documents or {}:
            self._rights.own(document_id)
        return self._library.resume(documents or {}, cancellation=cancellation)

    def documents(self) -> list[Document]:
        """Every document that they see, newest first."""
        return self._library.catalogue.documents(self._rights.documents(DocumentFilter()))[0]

    def document(self, document_id: str) -> Document:
        """One document that they see."""
        self._rights.see(document_id)
        return self._library.people.seen(self._person, [self._library.document(document_id)])[0]

    def chunks(self, document_id: str, *, first: int = 0, limit: int | None = None) -> list[Chunk]:
        """Chunks of a document that they see."""
        return self._library.chunks(document_id, first=first, limit=limit) if self._sees(document_id) else []

    def pages(self, document_id: str) -> list[Page]:
        """All pages as text."""
        return self._library.pages(document_id) if self._sees(document_id) else []

    def tables(self, document_id: str) -> list[Table]:
        """The tables of a document that they see."""
        return self._library.tables(document_id) if self._sees(document_id) else []

    def intake(self) -> tuple[int, int]:
        """How many documents that they see can be searched, and how many are on their way to that."""
        of_state = {state: DocumentFilter(state=state) for state in ("ready", "pending", "stored")}
        ready, *pending = [self.catalogue.documents(wanted, limit=1)[1] for wanted in of_state.values()]
        return ready, sum(pending)

    # Questions

    def search(self, question: str, *, scope: Scope | None = None, **wanted: Any) -> list[Hit]:
        """The best passages among what they see."""
        return list(self.retrieve(question, scope=scope, **wanted).hits)

    def retrieve(self, question: str, *, scope: Scope | None = None, **wanted: Any) -> Retrieval:
        """The same with its notes."""
        found = self._library.retrieve(question, scope=self._rights.scope(scope), **wanted)
        return replace(found, hits=self._rights.hits(found.hits), trace=replace(found.trace, searched=None))

    def ask(self, question: str, **wanted: Any) -> Answer:
        """Answer a question; the same as the end of `stream`."""
        return answer_of(self.stream(question, **wanted))

    def stream(
        self, question: str, *, conversation: str | None = None, scope: Scope | None = None, **wanted: Any
    ) -> Iterator[StreamEvent]:
        """Answer a question from what they see, in a conversation of their own."""
        return self._asked(self._library.stream, question, conversation, scope, wanted)

    def reply(
        self, question: str, *, conversation: str | None = None, scope: Scope | None = None, **wanted: Any
    ) -> Iterator[StreamEvent]:
        """The same, kept nowhere."""
        return self._asked(self._library.reply, question, conversation, scope, wanted)

    def _asked(
        self, ask: Callable[..., Iterator[StreamEvent]], question: str, conversation: str | None, scope: Scope | None,
        wanted: Mapping[str, Any],
    ) -> Iterator[StreamEvent]:  # fmt: skip
        own = self._rights.conversation(conversation) if conversation else None
        if scope is None and own:
            scope = self._library.history.scope(own)
        return self._rights.discreetly(ask(question, conversation=own, scope=self._rights.scope(scope), **wanted))

    def suggestions(self, given: Sequence[Question] = (), *, scope: Scope | None = None, limit: int = 4) -> list[str]:
        """Questions that what they see answers."""
        return self._library.suggestions(given, scope=self._rights.scope(scope), limit=limit)

    def scope_of(self, names: Iterable[str], *, seen: Sequence[str] = ()) -> Scope:
        """Documents and tags by their names, among those that they see."""
        return self._library.scope_of(names, seen=seen, viewer=self._person)

    def conversations(self, words: str = "") -> list[Conversation]:
        """Their own conversations."""
        return self._library.conversations(words, owner=self._person)

    def messages(self, conversation_id: str) -> list[Message]:
        """The messages of a conversation of theirs."""
        found = self._library.messages(self._rights.conversation(conversation_id))
        return [replace(one, answer=self._rights.discreet(one.answer)) if one.answer else one for one in found]

    def _sees(self, document_id: str) -> bool:
        return self._library.people.role(self._person, document_id) is not None


def _uploads(sources: Iterable[Source]) -> Iterator[Source]:
    """What was sent. Raises NotAllowed for whatever else."""
    for source in sources:
        if not isinstance(source, Upload):
            raise NotAllowed("A person adds files that they send.", help="Send the file itself.")
        yield source
