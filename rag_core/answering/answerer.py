"""A question to an answer: search, quote or write, cite, check; streamed, and stoppable at any moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_core.answering.citations import CitationWriter, Passages
from rag_core.answering.conversation import wordings
from rag_core.answering.courtesy import Courtesy
from rag_core.answering.draft import Draft
from rag_core.answering.encoding import Encode, Encoder
from rag_core.answering.questions import check_question
from rag_core.answering.strategies.base import Stop, Strategy
from rag_core.answering.strategies.extractive import Extractive, extract
from rag_core.answering.strategies.summary import Summarist
from rag_core.answering.strategies.written import Written
from rag_core.answering.streaming import Worker
from rag_core.answering.summaries.subject import is_request
from rag_core.domain import COURTESY, Answer, Hit, Message, Sentence, Step, StreamEvent
from rag_core.errors import Cancelled
from rag_core.models.base import ChatModel
from rag_core.models.opened import OpenModels
from rag_core.models.registry import EXTRACTIVE
from rag_core.retrieval import Retrieval
from rag_core.retrieval.contents import Contents
from rag_core.settings import Settings
from rag_core.text.terms import coverage, terms

if TYPE_CHECKING:  # LangChain takes a second to import, which the first page should not wait for
    from langchain_core.retrievers import BaseRetriever

Event = str | tuple[Hit, ...] | Step
"""What the chain's thread hands over: an agent's steps, then the hits, once more where the prompt widened them, and
text."""

Search = Callable[[Draft, Callable[[Step], None], Stop], None]


class Answerer:
    """Answers questions through one chain for every model. Thread-safe.

    `make_retriever()` gives a fresh LangChain retriever whose documents carry `metadata["hit"]`; `encode` turns texts
    into vectors of unit length, float32 (n, d), `encoder` looks at passages.
    """

    def __init__(
        self,
        settings: Settings,
        make_retriever: Callable[..., BaseRetriever],
        encode: Encode,
        encoder: Encoder,
    ) -> None:
        self._settings = settings
        self._make_retriever = make_retriever
        self._encode = encode
        self._encoder = encoder
        self._courtesy = Courtesy(encode)
        self._models = OpenModels()
        self._written = Written(encoder, self._models)
        self._strategies: Mapping[str, Strategy] = {EXTRACTIVE: Extractive(encoder)}  # any other model writes
        self._summarist = Summarist(encoder.tokens, self._models.get)

    def warm(self) -> None:
        """Import what the first answer needs, so that it comes quickly; call it from a background thread."""
        import rag_core.answering.chain  # noqa: F401

        self._courtesy.reply("warm")

    def model(self, model_id: str, settings: Settings | None = None) -> ChatModel:
        """A language model, opened where it is not yet. Raises ModelUnavailable."""
        return self._models.get(model_id, settings or self._settings)

    @property
    def models(self) -> OpenModels:
        """The language models that are open."""
        return self._models

    def forget_dialogues(self) -> None:
        """Forget what models were told: documents are gone."""
        self._written.dialogues.forget()

    def close(self) -> None:
        """Free the language models that were opened; waits for the request in progress."""
        self._models.close()

    def stream(
        self,
        question: str,
        *,
        history: Sequence[Message] = (),
        model: str | None = None,
        cancelled: Stop | None = None,
        settings: Settings | None = None,
        retriever: BaseRetriever | None = None,
        message_id: Callable[[], str] | None = None,
        goes_on: bool = True,
        contents: Contents | None = None,
        agent: bool | None = None,
    ) -> Iterator[StreamEvent]:
        """Answer a question: events with `stage` ("searching", "answering"), events with text, last the whole answer.

        The texts joined are the answer's text, save for citations that were found afterwards. `history` is the
        conversation so far, oldest first; `retriever` takes the place of a fresh one. `message_id` says what the answer
        is kept under: then a follow-up that `goes_on` tells the model only what is new. Of `contents` whole documents
        are summarised where the question asks for that. With an `agent`, None for what the settings say, several
        searches are planned, and events with a `step` tell of them. When `cancelled` says so, the last event's answer
        is what was written until then, with `stopped`. Raises InvalidQuestion at once, and while it is read
        ModelUnavailable and whatever the retriever raises.
        """
        settings = settings or self._settings
        asked = check_question(question, settings.answering.max_question_chars)
        if reply := self._courtesy.reply(asked):
            return iter(_said(asked, reply))
        history = self._courtesy.asked(history)
        queries = wordings(asked, history, self._encode)
        draft = Draft(asked, queries[0], model or settings.generation.model, settings, history)
        draft.retriever = retriever or self._make_retriever()
        draft.wordings, draft.message_id, draft.goes_on = queries, message_id, goes_on
        stop = cancelled or (lambda: False)
        wanted = settings.answering.agent if agent is None else agent
        search = self._agent(contents) if wanted else None

        def answered() -> Iterator[StreamEvent]:
            return self._stream(draft, stop, search)

        if contents is not None and is_request(asked):
            return self._summarist.stream(draft, contents, stop, instead=answered)
        return answered()

    def _stream(self, draft: Draft, cancelled: Stop, search: Search | None) -> Iterator[StreamEvent]:
        yield StreamEvent(stage="searching")
        writer: CitationWriter | None = None
        shown, stopped = "", False
        strategy = self._strategy(draft)
        worker: Worker[Event] = Worker(lambda emit, stopping: self._answer(draft, search, emit, stopping))
        with worker:
            try:
                for event in worker.events(cancelled):
                    if isinstance(event, Step):
                        yield StreamEvent(stage=event.text, step=event)
                    elif not isinstance(event, str):
                        if writer is None:
                            yield StreamEvent(stage="answering")
                        writer = CitationWriter(Passages(event))
                    elif text := event if strategy.cites or writer is None else writer.feed(event):
                        shown += text
                        yield StreamEvent(text=text)
            except Cancelled:
                stopped = True
        if writer is not None and (rest := writer.finish()):
            shown += rest
            yield StreamEvent(text=rest)
        stopped = stopped or cancelled()
        if writer is not None and draft.hits:
            answer = strategy.answer(draft, writer, stopped)
        else:
            answer = draft.abstention(0.0, stopped=stopped)
        if answer.text.startswith(shown) and (rest := answer.text[len(shown) :]):
            yield StreamEvent(text=rest)
        yield StreamEvent(answer=answer)

    def _strategy(self, draft: Draft) -> Strategy:
        return self._strategies.get(draft.model, self._written)

    def _answer(self, draft: Draft, search: Search | None, emit: Callable[[Event], None], stopping: Stop) -> None:
        """Run the chain, in the worker's thread; what is worth keeping goes to the draft."""
        from rag_core.answering import chain as chains

        since = draft.began

        def on_hits(hits: tuple[Hit, ...]) -> None:
            nonlocal since
            draft.hits = hits
            since = draft.lap("search", since)
            hand_over(hits)

        def on_text(text: str) -> None:
            if "first_text" not in draft.latency_ms:
                draft.lap("first_text", draft.began)
            hand_over(text)

        def hand_over(event: Event) -> None:
            if stopping():
                raise Cancelled("The answer was stopped.")
            emit(event)

        draft.query = self._better_query(draft, stopping)
        if search is not None:
            search(draft, hand_over, stopping)
            since = draft.lap("agent", since)
        elif len(questions := draft.questions) > 1:
            draft.retriever = self._each(draft, questions, stopping)
        strategy = self._strategy(draft)
        chain = strategy.chain(draft, stopping, hand_over)
        draft.combine = chain.combine_documents_chain
        since = draft.lap("prepare", draft.began)
        text = chains.run(chain, draft.query, chains.Listener(on_hits, on_text))
        draft.lap("generate", since)
        strategy.keep(draft, text)

    def _better_query(self, draft: Draft, stopping: Stop) -> str:
        """Of the wordings of a question, the one whose passages answer it the most surely.

        What was just answered is no answer to another question, where there is any, unless the phrase that was put into
        the question stands there.
        """
        if len(draft.wordings) < 2:
            return draft.query
        before = draft.history[-1].answer if draft.history else None
        sure: dict[str, tuple[bool, bool, bool, float]] = {}
        for query in draft.wordings:
            if stopping():
                raise Cancelled("The answer was stopped.")
            hits = [document.metadata["hit"] for document in draft.retriever.invoke(query)]
            found = extract(query, hits, self._encoder, aim=draft.aim, max_sentences=1)
            says = found.lead or next((quote.text for quote in found.quotes), "")
            swapped = not query.endswith(draft.question)
            news = before is None or says not in before.text
            news = news or (swapped and coverage(terms(draft.question), terms(says)) == 1)
            sure[query] = (not found.abstained, news, swapped, found.confidence)
            if all(sure[query][:3]):
                break
        return max(sure, key=lambda query: sure[query])

    def _each(self, draft: Draft, questions: Sequence[str], stopping: Stop) -> BaseRetriever:
        """A retriever that searches for each part of a question by itself, and lets the draft know what each found."""
        from rag_core.answering.planning.notebook import Notebook
        from rag_core.retrieval.langchain import LecternRetriever

        notebook = Notebook(draft.retriever, self._encoder)

        def find(text: str) -> Retrieval:
            for question in questions:
                if stopping():
                    raise Cancelled("The answer was stopped.")
                notebook.search(question)
            handed = notebook.each()
            keys = {hit.chunk_id for hit in handed}
            for question in questions:
                found = notebook.found(question)
                kept = tuple(hit for hit in found.hits if hit.chunk_id in keys)
                draft.parts[question] = replace(found, hits=kept)
            return Retrieval(handed, notebook.trace)

        return LecternRetriever(find=find)

    def _agent(self, contents: Contents | None) -> Search:
        """A search of several rounds; see `rag_core.answering.strategies.agent`."""

        def search(draft: Draft, on_step: Callable[[Step], None], stopping: Stop) -> None:
            from rag_core.answering.strategies.agent import Agent

            model = None if draft.model == EXTRACTIVE else self._models.get(draft.model, draft.settings)
            Agent(draft, self._encoder, model, contents, on_step, stopping).run()

        return search


def _said(question: str, reply: str) -> list[StreamEvent]:
    """The events of an answer that needs no document."""
    answer = Answer(question, reply, (Sentence(reply),), (), (), 1.0, False, COURTESY)
    return [StreamEvent(text=reply), StreamEvent(answer=answer)]
