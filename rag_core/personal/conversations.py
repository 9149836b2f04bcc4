"""A person's own conversations, and what comes of counting them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag_core.cancellation import Cancellation
from rag_core.domain import Conversation, Drawing, Insights, NotFound, QuestionGroup, Scope, StreamEvent
from rag_core.exporting import ConversationForm
from rag_core.personal.rights import Part


class PersonalHistory(Part):
    """What is done with conversations of their own; those of others are as ids that there are not."""

    def begin(self) -> str:
        """An id for a conversation of theirs that begins."""
        return self._rights.conversation(self._library.history.begin())

    def get(self, conversation_id: str) -> Conversation:
        """The heading of a conversation of theirs."""
        return self._library.history.get(self._rights.conversation(conversation_id))

    def begun_by(self, conversation_id: str) -> str | None:
        """Who began a conversation of theirs."""
        return self._library.history.begun_by(self._rights.conversation(conversation_id))

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title."""
        self._library.history.rename(self._rights.conversation(conversation_id), title)

    def pin(self, conversation_id: str, pinned: bool) -> None:
        """Keep a conversation before all others, or among them again."""
        self._library.history.pin(self._rights.conversation(conversation_id), pinned)

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation."""
        self._library.history.delete(self._rights.conversation(conversation_id))

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

    def agent(self, conversation_id: str) -> bool | None:
        """Whether an agent answers in a conversation."""
        return self._library.history.agent(self._rights.conversation(conversation_id))

    def set_agent(self, conversation_id: str, agent: bool) -> bool:
        """Have an agent answer in a conversation, or none."""
        return self._library.history.set_agent(self._rights.conversation(conversation_id), agent)

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

    def of(self, days: int | None = None, scope: Scope | None = None) -> Insights:
        """The numbers of their own conversations."""
        return self._library.insights.of(days, self._rights.scope(scope))

    def state(self) -> tuple[object, ...]:
        """Changes whenever the numbers do; it tells apart whose they are."""
        return (self._person, *self._library.insights.state())

    def groups(self, questions: Sequence[NotFound]) -> tuple[QuestionGroup, ...]:
        """Questions of theirs that found nothing, by meaning."""
        return self._library.insights.groups(questions)

    def drawings(self, insights: Insights, groups: Sequence[QuestionGroup] = ()) -> tuple[Drawing, ...]:
        """The charts of their numbers."""
        return self._library.insights.drawings(insights, groups)

    def as_csv(self, drawing: Drawing) -> bytes:
        """The numbers of a chart."""
        return self._library.insights.as_csv(drawing)

    def as_json(self, insights: Insights, groups: Sequence[QuestionGroup] = ()) -> bytes:
        """All their numbers."""
        return self._library.insights.as_json(insights, groups)
