"""A question to hits or to an answer, with a library's settings; answers are kept in their conversations."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from rag_core.answering import Answerer
from rag_core.answering.encoding import Encoder
from rag_core.answering.going_on import beginning, longer
from rag_core.answering.instructing import Instructions
from rag_core.answering.question import Question, check_question
from rag_core.cancellation import Cancellation
from rag_core.domain import Answer, Collection, Message, Scope, StreamEvent, answer_of
from rag_core.errors import (
    Cancelled,
    ConfigurationError,
    InvalidQuestion,
    LecternError,
    StoreUnavailable,
)
from rag_core.models.base import ChatModel
from rag_core.models.registry import EXTRACTIVE
from rag_core.retrieval import Rerankers, Retrieval, for_passages, for_search
from rag_core.retrieval.contents import Contents
from rag_core.retrieval.hierarchy.rewriting import Write
from rag_core.runtime.precedence import PRECEDENCE
from rag_core.services.answer_cache import AnswersAgain, Chosen, events_of
from rag_core.services.conversation_scope import Scoped, scoped
from rag_core.services.embedding_in_use import EmbeddingInUse
from rag_core.services.new_questions import written_anew
from rag_core.services.preferences import Preferences
from rag_core.services.search import SearchService
from rag_core.services.tried_chunks import TriedChunks
from rag_core.settings import RetrievalSettings, Settings
from rag_core.storage import Storage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_log = logging.getLogger(__name__)


class QuestionService:
    """Searches and answers for one library. Thread-safe. `library` is what is searched."""

    def __init__(self, storage: Storage, preferences: Preferences, embedding: EmbeddingInUse) -> None:
        self._storage = storage
        self._preferences = preferences
        self._embedding = embedding
        self._rerankers = Rerankers(preferences.settings.models_dir)
        self.library = SearchService(storage, embedding.get, self._rerankers, self._writer(None, None))
        self._again = AnswersAgain(storage)
        self._lock = threading.Lock()
        self._answerer: Answerer | None = None
        self._instructions = Instructions(lambda texts: self._embedding.get().encode_first(texts))

    def warm(self) -> None:
        """Load what the first question needs. Raises ModelUnavailable."""
        self._embedding.get()
        self._embedding.reader()
        self._answers().warm()
        self._instructions.warm()
        self._rerankers.warm(self._preferences.settings.retrieval.rerank)

    def loaded(self) -> tuple[str, ...]:
        """Ids of the language models in memory."""
        with self._lock:
            return () if self._answerer is None else self._answerer.models.loaded()

    def unload(self, model_id: str) -> None:
        """Take a language model out of memory, once the answer in progress is written."""
        with self._lock:
            answerer = self._answerer
        if answerer is not None:
            answerer.models.unload(model_id)

    def forget_dialogues(self) -> None:
        """Forget what models were told of documents that are gone."""
        with self._lock:
            answerer = self._answerer
        if answerer is not None:
            answerer.forget_dialogues()

    def close(self) -> None:
        """Free the language models; waits for the request in progress."""
        with self._lock:
            answerer, self._answerer = self._answerer, None
        if answerer is not None:  # not under the lock: an answer in progress may need it to end
            answerer.close()

    def search(self, question: str, scope: Scope | None = None, **wanted: object) -> Retrieval:
        """The same as `find` for a question that a person wrote. Raises InvalidQuestion."""
        asked = self._checked(question)
        with PRECEDENCE.question():
            understood = self.library.understood(asked, scope)
            found = self.find(understood, scope, **wanted)
            unknown = [] if scope and scope.sealed else self.library.unknown(understood)
        lacking: tuple[str, ...] = ()
        if unknown:
            named = " or ".join(f"“{word}”" for word in unknown)
            nearest = f"No document holds {named}. What follows comes nearest."
            lacking = (nearest if found.hits else f"No document holds {named}.",)
        if scope and not found.hits and (no_section := self.library.lacking(scope)):
            lacking = (no_section,)
        trace = replace(found.trace, query=understood, notes=(*lacking, *found.trace.notes))
        return replace(found, trace=trace)

    def find(self, question: str, scope: Scope | None = None, **wanted: object) -> Retrieval:
        """Search with the settings for retrieval, save for what is `wanted` and not None."""
        settings = self._settings(self._collection(None, scope))
        found = self._searched(question, for_search(settings, **wanted), scope)
        return self.library.with_texts_beside(found, scope or Scope())

    def passages(
        self, question: str, scope: Scope | None = None, settings: Settings | None = None, model: str | None = None
    ) -> Retrieval:
        """The passages that an answer is written from, by a model."""
        library = self._library_of(model, settings)
        return library.search([question], for_passages(settings or self._preferences.settings), scope or Scope())[0]

    def stream(
        self,
        question: str,
        *,
        conversation: str | None,
        model: str | None,
        cancellation: Cancellation | None,
        scope: Scope | None = None,
        replaces: str | None = None,
        agent: bool | None = None,
        begun_by: str = "",
        mode: str | None = None,
        k: int | None = None,
    ) -> Iterator[StreamEvent]:
        """Answer as a stream of events; see `Library.stream`."""
        question = self._checked(question)
        asked = scoped(self._storage, question, conversation, scope, replaces)
        chosen = self._chosen(asked, conversation, model, agent, mode, k)
        key = self._again.key(asked, chosen)
        again = None if replaces else self._again.find(key, question)
        begin = partial(
            self._storage.conversations.ask, conversation, question, asked.changed, replaces, begun_by,
            asked.scope.viewer,
        )  # fmt: skip
        if again is not None:
            conversation, message = begin()
            events, writer = events_of(again), again.model
        else:
            # Before the question is kept: one that cannot be answered at all is refused here.
            understood = self._understood(asked, chosen)
            conversation, message = begin()
            # Of another scope, what the model was told before may be outside of it.
            understood = replace(understood, message_id=message, goes_on=asked.changed is None)
            events, writer = self._answered(asked, understood, question, cancellation), understood.model
        with PRECEDENCE.question():
            for event in self._kept(events, _unfinished(question, "", conversation, message, writer)):
                if event.answer is not None:
                    self._again.keep(key, event.answer, self._preferences.settings.answering.cached_answers)
                yield event

    def go_on(
        self, conversation: str, message_id: str, cancellation: Cancellation | None = None, viewer: str = ""
    ) -> Iterator[StreamEvent]:
        """Go on with an answer that was cut, as a stream of events; see `History.go_on`."""
        messages = self._storage.conversations.messages(conversation)
        message = {one.id: one for one in messages}[message_id]
        before = message.answer
        if before is None or not before.cut:
            raise InvalidQuestion("This answer is whole: there is nothing to go on with.", help="Ask what is missing.")
        scope = before.trace.searched.scope if before.trace.searched else None
        if viewer:
            scope = replace(scope or Scope(), viewer=viewer, sealed=True)
        asked = replace(scoped(self._storage, message.question, conversation, scope, message_id), changed=None)
        chosen = self._chosen(asked, conversation, before.model, False, None, None)
        begun = beginning(before)
        understood = replace(self._understood(asked, chosen), beginning=begun)
        with PRECEDENCE.question():
            for event in self._answered(asked, understood, message.question, cancellation):
                if event.answer is None:
                    yield event
                else:
                    answer = longer(before, begun, event.answer)
                    self._storage.conversations.replace_answer(message_id, before, answer)
                    yield replace(event, answer=answer)

    def reply(
        self,
        question: str,
        history: Sequence[tuple[str, str]],
        *,
        conversation: str | None,
        model: str | None,
        cancellation: Cancellation | None,
        scope: Scope | None,
        agent: bool | None,
        mode: str | None = None,
        k: int | None = None,
    ) -> Iterator[StreamEvent]:
        """Answer as a stream of events and keep nothing; see `Library.reply`."""
        question = self._checked(question)
        now = datetime.now(UTC)
        past = [Message("", said, now, _unfinished(said, answer, "", "", model or "")) for said, answer in history]
        asked = Scoped(question, scope or Scope(), None, ())
        if conversation:
            asked = scoped(self._storage, question, conversation, scope)
        asked = replace(asked, history=(*asked.history, *past))
        # What is sealed off learns nothing of what others asked, not even by how quickly it is answered.
        chosen = self._chosen(asked, conversation, model, agent, mode, k)
        again = None if asked.scope.sealed else self._again.find(self._again.key(asked, chosen), question)
        if again is not None:
            yield from events_of(again)
            return
        with PRECEDENCE.question():
            yield from self._answered(asked, self._understood(asked, chosen), question, cancellation)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts, float32 (n, dimensions), rows of unit length."""
        return self._embedding.get().encode(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text in the embedding model's own, uncut."""
        return self._embedding.get().count_tokens(texts)

    def corpus(self, settings: Settings) -> SearchService | TriedChunks:
        """What a configuration is tested on."""
        if settings.chunking.key == self._preferences.settings.chunking.key:
            return self._library_of(settings.generation.model, settings)
        embedder, least = self._embedding.get(), settings.storage.min_free_bytes
        return TriedChunks(self._storage, embedder, settings.chunking, least, self._rerankers)

    def answer(
        self, question: str, settings: Settings, find: Callable[[str], Retrieval], stopped: Callable[[], bool],
        contents: Contents | None = None,
    ) -> Answer:  # fmt: skip
        """An answer from what `find` finds, kept nowhere; of `contents` whole documents are read. Raises
        ModelUnavailable, StoreUnavailable, Cancelled."""
        answerer = self._answers()
        understood = answerer.understand(question, settings=settings, contents=contents)
        return answer_of(answerer.stream(understood, find, stopped))

    def quoted(self, question: str, scope: Scope) -> Answer:
        """The extractive model's answer as the library is now, kept nowhere. Raises as `answer` does."""
        settings = self._preferences.settings.changed("generation", model=EXTRACTIVE)
        contents = self.library.contents(scope)
        return self.answer(question, settings, lambda text: self.passages(text, scope), lambda: False, contents)

    def language_model(self, model_id: str, settings: Settings) -> ChatModel:
        """A language model, opened where it is not yet. Raises ModelUnavailable."""
        return self._answers().model(model_id, settings)

    def _library_of(self, model: str | None, settings: Settings | None) -> SearchService:
        """The library, whose new questions are written by a model; None for the chosen one."""
        if model is None or model == self._preferences.model:
            return self.library
        return self.library.written_by(self._writer(model, settings))

    def _writer(self, model: str | None, settings: Settings | None) -> Write:
        """Writes a question anew from summaries, by a model; nothing where none is to write. None: what is chosen."""

        def write(question: str, summaries: Sequence[str]) -> str:
            writer = model or self._preferences.model
            if writer == EXTRACTIVE:
                return ""
            return written_anew(
                self.language_model(writer, settings or self._preferences.effective), question, summaries
            )

        return write

    def _chosen(
        self, asked: Scoped, conversation: str | None, model: str | None, agent: bool | None, mode: str | None,
        k: int | None,
    ) -> Chosen:  # fmt: skip
        """How a question is answered: by the settings, save for what was asked for with it."""
        collection = self._collection(conversation, asked.scope)
        wanted = {"mode": mode} if mode is not None else {}
        depth = {"k": k, "k_by_kind": False} if k is not None else {}
        settings = self._settings(collection).changed("retrieval", **wanted, **depth)
        agent = settings.answering.agent if agent is None else agent
        return Chosen(settings, model or self._preferences.model, agent, collection.instructions if collection else "")

    def _understood(self, asked: Scoped, chosen: Chosen) -> Question:
        """The question put right by the documents' own words, with the ways in which it can be searched for."""
        understood = self._answers().understand(
            self.library.understood(asked.text, asked.scope), history=asked.history,
            model=chosen.model, settings=chosen.settings, contents=self.library.contents(asked.scope),
            agent=chosen.agent,
        )  # fmt: skip
        return replace(understood, instructions=chosen.instructions)

    def _collection(self, conversation: str | None, scope: Scope | None) -> Collection | None:
        """The collection that is asked, if any."""
        if not conversation and not (scope and scope.tags):
            return None
        return self._storage.documents.collections.in_effect(conversation, scope or Scope())

    def _settings(self, collection: Collection | None) -> Settings:
        """The settings in effect, those of a collection in their place; what fits no longer is left out."""
        settings = self._preferences.effective
        with suppress(ConfigurationError):
            return settings.with_values(collection.settings) if collection else settings
        return settings

    def _answered(
        self, asked: Scoped, understood: Question, question: str, cancellation: Cancellation | None
    ) -> Iterator[StreamEvent]:
        """The events of the answer to `question`, as it was written."""
        stopped = (cancellation or Cancellation()).is_set

        def find(text: str) -> Retrieval:
            return self.passages(text, asked.scope, understood.settings, understood.model)

        for event in self._answers().stream(understood, find, stopped):
            yield self._told(event, asked, question)

    def _told(self, event: StreamEvent, asked: Scoped, question: str) -> StreamEvent:
        """An event; the answer with what is worth knowing of its scope, its query, and passages that instruct."""
        if event.answer is None:
            return event
        told = asked.told(event.answer, question, self.library.lacking, lambda: self._storage.documents.counts()[2])
        return replace(event, answer=self._instructions.marked(told))

    def _kept(self, events: Iterator[StreamEvent], begun: Answer) -> Iterator[StreamEvent]:
        """The events, while the answer, or what came of it, is kept as that of the message where it was `begun`."""
        written: list[str] = []
        kept = False
        try:
            for event in events:
                written.append(event.text)
                if event.answer is not None:
                    answer = replace(event.answer, conversation=begun.conversation, message_id=begun.message_id)
                    self._keep(answer)
                    kept = True
                    event = replace(event, answer=answer)
                yield event
        except Cancelled:
            _log.info("An answer was stopped before it began.")
        except LecternError as error:
            self._storage.conversations.fail(begun.message_id, f"{error} {error.help}".strip())
            kept = True
            raise
        finally:
            if not kept:
                self._keep(replace(begun, text="".join(written)))

    def _checked(self, question: str) -> str:
        return check_question(question, self._preferences.settings.answering.max_question_chars)

    def _searched(self, question: str, settings: RetrievalSettings, scope: Scope | None = None) -> Retrieval:
        return self.library.search([question], settings, scope or Scope())[0]

    def _answers(self) -> Answerer:
        with self._lock:
            if self._answerer is None:
                self._answerer = Answerer(
                    self._preferences.settings,
                    encode=lambda texts: self._embedding.get().encode_queries(texts),
                    encoder=Encoder(
                        tokens=lambda texts: self._embedding.get().encode_tokens(texts),
                        read=lambda question, passages: self._embedding.reader().read(question, passages),
                    ),
                )
            return self._answerer

    def _keep(self, answer: Answer) -> None:
        try:
            self._storage.conversations.answer(answer.message_id, answer)
        except StoreUnavailable as error:
            _log.warning("An answer could not be kept: %s", error)


def _unfinished(question: str, text: str, conversation: str, message: str, model: str) -> Answer:
    return Answer(
        question=question, text=text, sentences=(), citations=(), hits=(), confidence=0.0, abstained=False,
        model=model, conversation=conversation, message_id=message, stopped=True,
    )  # fmt: skip
