"""A person's own conversations, and what comes of counting them."""

from __future__ import annotations

from collections.abc import Iterator

from rag_core.cancellation import Cancellation
from rag_core.domain import Insights, Scope, StreamEvent
from rag_core.exporting import ConversationForm
from rag_core.personal.rights import Offered, Part, Rights


class PersonalHistory(Part):
    """What is done with conversations of their own; those of others are as ids that there are not."""

    service = "history"
    get = Offered(Rights.conversation)
    begun_by = Offered(Rights.conversation)
    rename = Offered(Rights.conversation)
    pin = Offered(Rights.conversation)
    delete = Offered(Rights.conversation)
    agent = Offered(Rights.conversation)
    set_agent = Offered(Rights.conversation)

    def begin(self) -> str:
        """An id for a conversation of theirs that begins."""
        return self._rights.conversation(self._library.history.begin())

    def export(self, conversation_id: str, form: ConversationForm) -> bytes:
        """A conversation as a file."""
        own = self._rights.conversation(conversation_id)
        return self._library.history.export(own, form, viewer=self._person)

    def go_on(
        self, conversation_id: str, message_id: str, cancellation: Cancellation | None = None
    ) -> Iterator[StreamEvent]:
        """Go on with an answer that was cut, from what they see now."""
        own = self._rights.conversation(conversation_id)
        return self._rights.discreetly(self._library.history.go_on(own, message_id, cancellation, viewer=self._person))

    def scope(self, conversation_id: str) -> Scope:
        """What a conversation is narrowed to."""
        return self._rights.scope(self._library.history.scope(self._rights.conversation(conversation_id)))

    def set_scope(self, conversation_id: str, scope: Scope) -> None:
        """Narrow a conversation."""
        self._library.history.set_scope(self._rights.conversation(conversation_id), self._rights.scope(scope))

    def rate(self, message_id: str, rating: int | None, reason: str = "") -> None:
        """Keep what they think of an answer of theirs."""
        if self._rights.message(message_id):
            self._library.history.rate(message_id, rating, reason)

    def bring_back(self, message_id: str) -> None:
        """Show again what a message of theirs took the place of."""
        if self._rights.message(message_id):
            self._library.history.bring_back(message_id)


class PersonalInsights(Part):
    """What they asked, and what came of it."""

    service = "insights"
    groups = Offered()
    drawings = Offered()
    as_csv = Offered()
    as_json = Offered()

    def of(self, days: int | None = None, scope: Scope | None = None) -> Insights:
        """The numbers of their own conversations."""
        return self._library.insights.of(days, self._rights.scope(scope))

    def state(self) -> tuple[object, ...]:
        """Changes whenever the numbers do; it tells apart whose they are."""
        return (self._person, *self._library.insights.state())
