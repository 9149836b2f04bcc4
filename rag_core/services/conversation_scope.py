"""A question with what it is to be searched in: named in it, given with it, or kept with its conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from rag_core.domain import Answer, Document, DocumentFilter, Message, Scope
from rag_core.errors import InvalidQuestion
from rag_core.retrieval.mentions import either, named, read
from rag_core.storage import Storage
from rag_core.text.acronyms import contracted
from rag_core.text.tokens import words

_NONE_YET = "There are no documents to search yet. Add some on the Library page, or by `lectern add`."
_NONE_WITHIN = "No document is within what the question is narrowed to."
_ONE_AWAITED = "A document is still being added: what it holds is not searched yet."


@dataclass(frozen=True, slots=True)
class Scoped:
    """A question as it is searched and answered.

    `text` is without the names after `@` that are its scope, and so are the questions of `history`. `changed` is the
    scope that becomes the conversation's own, if any.
    """

    text: str
    scope: Scope
    changed: Scope | None
    history: tuple[Message, ...]
    notes: tuple[str, ...] = ()

    def told(
        self, answer: Answer, question: str, lacking: Callable[[Scope], str], awaited: Callable[[], int]
    ) -> Answer:
        """The answer to the question as it was written, with what is worth knowing of its scope and its query.

        lacking: what to say where a scope names sections that no document of it has, else "". awaited: how many
        documents are being added.
        """
        notes = self.notes
        # Of documents that are named, and to whoever may know of nothing else, others do not matter.
        number = awaited() if answer.abstained and not (self.scope.documents or self.scope.sealed) else 0
        if answer.trace.searched is not None and not answer.trace.searched.documents and (self.scope or not number):
            notes += (lacking(self.scope) or _NONE_WITHIN if self.scope else _NONE_YET,)
        if number:
            several = f"{number} documents are still being added: what they hold is not searched yet."
            notes += (_ONE_AWAITED if number == 1 else several,)
        # An acronym that was written out is the same question.
        trace = replace(answer.trace, provisional=answer.trace.provisional or number > 0)
        asked = {*map(tuple, (words(contracted(self.text)), words(self.text), []))}
        restated = not {tuple(words(query)) for query in (trace.query, contracted(trace.query))} & asked
        return replace(
            answer, question=question, trace=replace(trace, notes=(*trace.notes, *notes), restated=restated)
        )  # fmt: skip


def scoped(
    storage: Storage, question: str, conversation: str | None, scope: Scope | None, replaces: str | None = None
) -> Scoped:
    """The question read for its scope. Raises InvalidQuestion for one of names alone, StoreUnavailable.

    One that takes the place of the message `replaces` follows what was said before that.
    """
    messages = storage.conversations.messages(conversation) if conversation else []
    history = tuple(takewhile(lambda message: message.id != replaces, messages))
    documents, viewer = [], scope.viewer if scope else ""
    if "@" in question or any("@" in message.question for message in history):
        seen = storage.documents.listed(DocumentFilter(viewer=viewer))
        documents = [document for document in seen if document.state == "ready"]
        history = tuple(replace(message, question=read(message.question, documents).text) for message in history)
    mentions = read(question, documents)
    if not any(character.isalnum() for character in mentions.text):
        raise InvalidQuestion("The question names documents and asks nothing of them.", help="Write what to look for.")
    changed = scope
    if mentions.scope is not None:
        changed = replace(mentions.scope, viewer=viewer, sealed=mentions.scope.sealed or bool(viewer))
    kept = storage.conversations.scope(conversation) if changed is None and conversation else Scope()
    return Scoped(mentions.text, kept if changed is None else changed, changed, history, _notes(mentions.unknown))


def scope_named(names: Iterable[str], documents: Iterable[Document]) -> Scope:
    """Documents and tags by what a person calls them, as after `@`. Raises KeyError for a name that fits none."""
    ready = [document for document in documents if document.state == "ready"]
    scopes = []
    for name in names:
        scope = named(name, ready)
        if scope is None:
            raise KeyError(name)
        scopes.append(scope)
    return either(scopes, ready)


def _notes(unknown: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"No document or tag is called “{name}”: it was left in the question." for name in unknown)
