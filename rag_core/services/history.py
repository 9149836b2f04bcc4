"""What is done with conversations once they are kept: named, narrowed, rated, exported, deleted."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

from rag_core.cancellation import Cancellation
from rag_core.domain import Conversation, DocumentFilter, Scope, StreamEvent
from rag_core.exporting import ConversationForm, Thread, export
from rag_core.services.questions import QuestionService
from rag_core.storage import Storage


class History:
    """The kept conversations of one library. Thread-safe; raises StoreUnavailable.

    An id that there is not changes nothing.
    """

    def __init__(self, storage: Storage, questions: QuestionService) -> None:
        self._storage = storage
        self._questions = questions
        self._kept = storage.conversations

    def begin(self) -> str:
        """An id for a conversation that begins."""
        return str(uuid.uuid4())

    def get(self, conversation_id: str) -> Conversation:
        """A conversation's heading. Raises KeyError."""
        conversation = self._kept.get(conversation_id)
        if conversation is None:
            raise KeyError(conversation_id)
        return conversation

    def begun_by(self, conversation_id: str) -> str | None:
        """Who began a conversation, "" for the pages and commands; None where there is none."""
        return self._kept.begun_by(conversation_id)

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title."""
        self._kept.rename(conversation_id, title)

    def pin(self, conversation_id: str, pinned: bool) -> None:
        """Keep a conversation before all others, or among them again."""
        self._kept.pin(conversation_id, pinned)

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation with its messages."""
        self._kept.delete(conversation_id)

    def export(self, conversation_id: str, form: ConversationForm, *, viewer: str = "") -> bytes:
        """A conversation as a file: "markdown", "pdf", "json", or "bibtex" for the documents that it cites; of those
        that a viewer sees no longer there is what the answers say of them.

        Raises KeyError.
        """
        conversation = self.get(conversation_id)
        messages = self._kept.messages(conversation_id)
        cited = {citation.document_id for one in messages if one.answer for citation in one.answer.citations}
        seen = self._storage.documents.listed(DocumentFilter(viewer=viewer, ids=tuple(sorted(cited))))
        return export(Thread(conversation, messages, {one.id: one for one in seen}), form)

    def go_on(
        self, conversation_id: str, message_id: str, cancellation: Cancellation | None = None, *, viewer: str = ""
    ) -> Iterator[StreamEvent]:
        """Go on with an answer that was cut at its limit of tokens, by the model that wrote it.

        The events are as of `Library.stream`: the text begins with what stays, all but the sentence that was broken
        off. What comes is checked as what stands there was, its citations are numbered on, and the longer answer is
        kept in the place of the cut one. Raises KeyError, InvalidQuestion for an answer that is whole, and what
        `Library.stream` raises; the answer then stays as it is.
        """
        yield from self._questions.go_on(conversation_id, message_id, cancellation, viewer)

    def scope(self, conversation_id: str) -> Scope:
        """What a conversation is narrowed to."""
        return self._kept.scope(conversation_id)

    def set_scope(self, conversation_id: str, scope: Scope) -> None:
        """Narrow a conversation; an empty scope is everything."""
        self._kept.set_scope(conversation_id, scope)

    def agent(self, conversation_id: str) -> bool | None:
        """Whether an agent answers in a conversation; None for what the settings say."""
        return self._kept.agent(conversation_id)

    def set_agent(self, conversation_id: str, agent: bool) -> bool:
        """Have an agent answer in a conversation, or none. Returns whether there is such a conversation."""
        return self._kept.set_agent(conversation_id, agent)

    def rate(self, message_id: str, rating: int | None, reason: str = "") -> None:
        """Keep what the user thinks of an answer, 1 good, -1 bad, None neither, and why. Raises ValueError."""
        if rating not in (1, -1, None):
            raise ValueError("A rating is 1, -1 or None.")
        self._kept.rate(message_id, rating, reason.strip())

    def bring_back(self, message_id: str) -> None:
        """Show again what a message took the place of; it and those after it are set aside in turn."""
        self._kept.bring_back(message_id)
