"""The road of a question to its answer: plan, find, write, check; streamed, and stoppable at any moment."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import cache

from rag_core.answering.citations import CitationWriter, Passages
from rag_core.answering.conversation import wordings
from rag_core.answering.encoding import Encode, Encoder
from rag_core.answering.question import Question, Search, check_question
from rag_core.answering.strategies.abbreviation import Abbreviation
from rag_core.answering.strategies.absent_key import AbsentKey
from rag_core.answering.strategies.base import PassageStrategy, Strategy
from rag_core.answering.strategies.card_facts import CardFacts
from rag_core.answering.strategies.changed_plan import ChangedPlan
from rag_core.answering.strategies.code import Code
from rag_core.answering.strategies.courtesy import Courtesy
from rag_core.answering.strategies.figures import Figures
from rag_core.answering.strategies.mentioning import Mentioning
from rag_core.answering.strategies.of_each import OfEach
from rag_core.answering.strategies.people import People
from rag_core.answering.strategies.place import Place
from rag_core.answering.strategies.quoted import Quoted
from rag_core.answering.strategies.summary import Summary
from rag_core.answering.strategies.tabular import Tabular
from rag_core.answering.strategies.versions import Versions
from rag_core.answering.strategies.written import WrittenByModel
from rag_core.answering.streaming import Progress, Worker
from rag_core.answering.written import Written, abstain, answer_of
from rag_core.domain import Answer, Message, Retrieval, Step, StreamEvent, Trace
from rag_core.errors import Cancelled
from rag_core.models.base import ChatModel
from rag_core.models.opened import OpenModels
from rag_core.models.registry import EXTRACTIVE
from rag_core.retrieval.contents import Contents
from rag_core.settings import Settings

Stop = Callable[[], bool]
Event = StreamEvent | Written | str


class Answerer:
    """Answers questions by one road for every model. Thread-safe.

    `encode` turns texts into vectors of unit length, float32 (n, d), `encoder` looks at passages.
    """

    def __init__(self, settings: Settings, encode: Encode, encoder: Encoder) -> None:
        self._settings = settings
        self._encode = encode
        self._encoder = encoder
        self.models = OpenModels()
        self._courtesy = Courtesy(encode)
        self._card_facts = CardFacts(encode)
        self._tabular = Tabular(encode, self._open_model)
        self._summary = Summary(encoder.tokens, self._open_model)
        self._quoted = Quoted(encoder)
        self._written = WrittenByModel(encoder, self._open_model)

    def warm(self) -> None:
        """Import what the first answer needs, so that it comes quickly; call it from a background thread."""
        import rag_core.answering.langchain  # noqa: F401

        self._courtesy.reply("warm")

    def model(self, model_id: str, settings: Settings | None = None) -> ChatModel:
        """A language model, opened where it is not yet. Raises ModelUnavailable."""
        return self.models.get(model_id, settings or self._settings)

    def forget_dialogues(self) -> None:
        """Forget what models were told: documents are gone."""
        self._written.dialogues.forget()

    def close(self) -> None:
        """Free the language models that were opened; waits for the request in progress."""
        self.models.close()

    def understand(
        self,
        question: str,
        *,
        history: Sequence[Message] = (),
        model: str | None = None,
        settings: Settings | None = None,
        contents: Contents | None = None,
        agent: bool | None = None,
    ) -> Question:
        """A question with the ways in which it can be searched for.

        `history` is the conversation so far, oldest first. Of `contents` whole documents are summarised where the
        question asks for that. With an `agent`, None for what the settings say, several searches are planned. Raises
        InvalidQuestion.
        """
        settings = settings or self._settings
        text = check_question(question, settings.answering.max_question_chars)
        asked = self._courtesy.asked(history)
        return Question(
            text, wordings(text, asked, self._encode), model or settings.generation.model, settings, asked, contents,
            agent=settings.answering.agent if agent is None else agent,
        )  # fmt: skip

    def plan(self, question: Question) -> list[Strategy]:
        """The strategies for a question, in the order in which they are tried."""
        writer: PassageStrategy = self._quoted if question.model == EXTRACTIVE else self._written
        last = self._agentic(writer) if question.agent else writer
        if question.beginning:  # a model wrote it, by one of these
            return [self._summary, Place(last), Versions(last, self._encoder), last]
        return [
            self._courtesy, ChangedPlan(self._encode), self._card_facts, Mentioning(), People(), Code(), Abbreviation(),
            self._summary, OfEach(self._encoder), Place(last), Figures(), AbsentKey(), self._tabular,
            Versions(last, self._encoder), last,
        ]  # fmt: skip

    def stream(self, question: Question, search: Search, cancelled: Stop = lambda: False) -> Iterator[StreamEvent]:
        """Answer a question from what `search` finds.

        Gives events with `stage` ("searching", "answering", an agent's steps), events with text, last the whole answer.
        The texts joined are the answer's text, save for citations that were found afterwards. When `cancelled` says so,
        the last event's answer is what was written until then, with `stopped`. Raises ModelUnavailable and whatever the
        search raises.
        """
        search = cache(search)  # a wording that several stops look at is searched for once
        for strategy in self.plan(question):
            answer = yield from _try(strategy, question, search, cancelled)
            if answer is not None:
                yield StreamEvent(answer=answer)
                return

    def _open_model(self, question: Question) -> ChatModel:
        return self.models.get(question.model, question.settings)

    def _agentic(self, writer: PassageStrategy) -> Strategy:
        from rag_core.answering.strategies.agent import Agentic

        return Agentic(writer, self._encoder, self._open_model)


def _try(
    strategy: Strategy, question: Question, search: Search, cancelled: Stop
) -> Generator[StreamEvent, None, Answer | None]:
    """The events of what a strategy writes, in a thread of its own; None where the question is not for it."""
    progress = _Shown(question)
    worker: Worker[Event, Written | None] = Worker(
        lambda emit, stopping: strategy.write(question, search, Progress(emit, stopping, progress.latency_ms))
    )
    stopped = False
    with worker:
        try:
            for event in worker.events(cancelled):
                yield from progress.take(event)
        except Cancelled:
            stopped = True
    stopped = stopped or cancelled()
    written = worker.result or progress.written
    if written is None:
        if not stopped:
            return None
        written = Written(Retrieval((), Trace(query=question.wordings[0], steps=tuple(progress.steps))))
    yield from progress.take(progress.writer.finish() if progress.writer else "")
    answer = progress.answer(strategy, written, stopped=stopped)
    if answer.text.startswith(progress.text) and (rest := answer.text[len(progress.text) :]):
        yield StreamEvent(text=rest)
    return answer


def _writer(written: Written) -> CitationWriter:
    """Reads what a model writes, behind what it goes on with."""
    begun = written.beginning
    return CitationWriter(Passages(written.hits), *((begun.text, begun.citations) if begun else ()))


class _Shown:
    """What whoever reads an answer has seen of it so far."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self.latency_ms: dict[str, float] = {}
        self.steps: list[Step] = []
        self.text = ""
        self.written: Written | None = None
        self.writer: CitationWriter | None = None

    def take(self, event: Event) -> Iterator[StreamEvent]:
        """What is shown of an event; a model's numbers become those of citations."""
        if isinstance(event, StreamEvent):
            self.steps += [event.step] if event.step else []
            yield event
        elif isinstance(event, Written):
            if self.written is None:
                yield StreamEvent(stage="answering")
            begun = event.beginning if self.written is None else None
            self.written, self.writer = event, None if event.cited else _writer(event)
            if begun:
                self.text = begun.text
                yield StreamEvent(text=begun.text)
        elif text := self.writer.feed(event) if self.writer else event:
            if not self.text:
                self._note("first_text", self._question.began)
            self.text += text
            yield StreamEvent(text=text)

    def answer(self, strategy: Strategy, written: Written, *, stopped: bool) -> Answer:
        """The whole answer, or what there is of it."""
        since = time.perf_counter()
        if self.writer is not None and not written.cited:
            written = strategy.check(self._question, written, self.writer, stopped=stopped)
        elif written.abstained and stopped:
            written = abstain(written, written.confidence, stopped=True)
        self._note("cite", since)
        self._note("total", self._question.began)
        return answer_of(self._question, written, self.latency_ms, stopped=stopped)

    def _note(self, stage: str, since: float) -> None:
        self.latency_ms[stage] = round((time.perf_counter() - since) * 1000, 2)
