"""What is done with conversations once they are kept: named, narrowed, rated, exported, deleted."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

from rag_core.cancellation import Cancellation
from rag_core.domain import Conversation, DocumentFilter, StreamEvent
from rag_core.exporting import ConversationForm, Thread, export
from rag_core.services.questions import QuestionService
from rag_core.storage import Storage
from rag_core.storage.postgres.conversations import ConversationStore


class History(ConversationStore):
    """The kept conversations of one library. Thread-safe; raises StoreUnavailable.

    An id that there is not changes nothing.
    """

    def __init__(self, storage: Storage, questions: QuestionService) -> None:
        super().__init__(storage.database)
        self._storage = storage
        self._questions = questions

    def begin(self) -> str:
        """An id for a conversation that begins."""
        return str(uuid.uuid4())

    def get(self, conversation_id: str) -> Conversation:
        """A conversation's heading. Raises KeyError."""
        conversation = super().get(conversation_id)
        if conversation is None:
            raise KeyError(conversation_id)
        return conversation

    def export(self, conversation_id: str, form: ConversationForm, *, viewer: str = "") -> bytes:
        """A conversation as a file: "markdown", "pdf", "json", or "bibtex" for the documents that it cites; of those
        that a viewer sees no longer there is what the answers say of them.

        Raises KeyError.
        """
        conversation = self.get(conversation_id)
        messages = self.messages(conversation_id)
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
