"""An answer in the making, and what becomes of it when the model is done or was stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from rag_core.answering import confidence
from rag_core.answering.citations import CitationWriter
from rag_core.answering.conversation import NOTHING_EARLIER, Earlier
from rag_core.answering.dialogues import NOTHING_SAID
from rag_core.answering.planning.parts import questions_of
from rag_core.answering.strategies.aim import Aim
from rag_core.domain import Answer, Citation, Hit, Message, Searched, Sentence, Step, Trace
from rag_core.models.base import ChatModel
from rag_core.models.prompts import NOT_FOUND, new_mark
from rag_core.retrieval import Retrieval
from rag_core.settings import Settings

_MOST_NAMED = 3


@dataclass(slots=True)
class Draft:
    """Filled in by the chain's thread, read by the caller's once the thread ended or was asked to stop.

    `query` is the question as it was searched for, one of its `wordings`, `combine` the part of the chain that makes
    the text, `message_id` what the answer is kept under, if anything. It `goes_on` where a model may be told what is
    new alone. `mark` stands in the delimiters of its passages, `earlier` is what a prompt says of the conversation.
    `steps` and `worked`, the sums, are an agent's; `parts` are its `questions` with what was found for each.
    """

    question: str
    query: str
    model: str
    settings: Settings
    history: Sequence[Message] = ()
    wordings: Sequence[str] = ()
    message_id: Callable[[], str] | None = None
    goes_on: bool = True
    mark: str = field(default_factory=new_mark)
    earlier: Earlier = NOTHING_EARLIER
    began: float = field(default_factory=time.perf_counter)
    hits: tuple[Hit, ...] = ()
    retriever: Any = None
    combine: Any = None
    latency_ms: dict[str, float] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    parts: dict[str, Retrieval] = field(default_factory=dict)
    worked: tuple[str, ...] = ()

    @property
    def aim(self) -> Aim:
        """What the question was taken to be aimed at, once the documents were searched."""
        return Aim.of(getattr(self.retriever, "trace", Trace()).searched)

    @property
    def questions(self) -> tuple[str, ...]:
        """The questions that the query consists of. A follow-up joined with the question before it is one still."""
        joined = self.query != self.question and self.query.endswith(self.question)
        return (self.query,) if joined else questions_of(self.query)

    def lap(self, stage: str, since: float) -> float:
        """Note the milliseconds of a stage that began at `since`; returns now, in seconds."""
        now = time.perf_counter()
        self.latency_ms[stage] = round((now - since) * 1000, 2)
        return now

    def trace(
        self,
        notes: Sequence[str] = (),
        writer: CitationWriter | None = None,
        citations: Sequence[Citation] = (),
        told: Mapping[str, float] = MappingProxyType({}),
    ) -> Trace:
        """What the retriever said of its search, joined with what happened since. `writer` has a model's text.

        told: what the confidence in an answer with these citations comes from.
        """
        removed = writer.removed if writer is not None else 0
        retrieval = getattr(self.retriever, "trace", None) or Trace()
        left_out: Sequence[Hit] = getattr(self.combine, "left_out", ())
        self.lap("total", self.began)
        return Trace(
            engine=retrieval.engine,
            query=self.query,
            latency_ms={**self.latency_ms, **retrieval.latency_ms},
            notes=(*retrieval.notes, *notes),
            left_out=retrieval.left_out + len(left_out),
            removed=removed,
            tokens=self._tokens(writer),
            searched=retrieval.searched and _without_room(retrieval.searched, left_out),
            steps=self.steps,
            confidence={**told, **confidence.cited(citations, self.hits, all_valid=not removed)},
        )

    def _tokens(self, writer: CitationWriter | None) -> dict[str, int]:
        model: ChatModel | None = getattr(self.combine, "model", None)
        if model is None or writer is None:
            return {}
        usage = self.combine.usage
        return {"prompt": usage.prompt_tokens, "answer": usage.answer_tokens or model.count_tokens(writer.text)}

    def abstention(self, found: float, *, stopped: bool = False, writer: CitationWriter | None = None) -> Answer:
        """The answer that says that there is none; `found` is the probability that there is one after all."""
        text = "" if stopped else NOT_FOUND
        sentences = () if stopped else (Sentence(NOT_FOUND),)
        return Answer(
            self.question, text, sentences, (), self.hits, found, not stopped, self.model,
            stopped=stopped, trace=self.trace(self.notes(writer) if writer is not None else (), writer),
        )  # fmt: skip

    def notes(self, writer: CitationWriter) -> list[str]:
        """What the reader should know about how the text was made."""
        notes = []
        left_out: Sequence[Hit] = getattr(self.combine, "left_out", ())
        if left_out:
            count = f"{len(left_out)} of {len(self.hits)} passages"
            notes.append(f"{count} did not fit into the prompt and were left out: {_named(left_out)}.")
        # A dialogue that goes on has its turns as they were, and a prompt of the user's own may want none.
        told = getattr(self.combine, "told", NOTHING_SAID).messages[-1:]
        if self.earlier.note and any(self.earlier.text in message.text for message in told):
            notes.append(self.earlier.note)
        if writer.removed:
            notes.append(f"{writer.removed} numbers that pointed at no passage were taken out of the answer.")
        return notes


def _named(hits: Sequence[Hit]) -> str:
    """The pages of the first few, and how many more there are."""
    names = [f"{hit.document.title}, p. {hit.page_label or hit.page}" for hit in hits[:_MOST_NAMED]]
    more = len(hits) - len(names)
    return "; ".join([*names, *([f"and {more} more"] if more else [])])


def _without_room(searched: Searched, left_out: Sequence[Hit]) -> Searched:
    """What was searched, with what became of the passages that are not in the prompt."""
    ids = {hit.chunk_id for hit in left_out}
    return replace(searched, candidates=tuple(
        replace(one, outcome="budget") if one.chunk_id in ids else one for one in searched.candidates
    ))  # fmt: skip
