"""What a strategy wrote of a question, and the answer that becomes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rag_core.answering import confidence
from rag_core.answering.going_on import Beginning
from rag_core.answering.question import Question
from rag_core.domain import Answer, Citation, Hit, Retrieval, Searched, Sentence, TableAnswer, Trace
from rag_core.models.messages import ChatMessage, Usage
from rag_core.models.prompts import NOT_FOUND
from rag_core.text.pages import counted

_MOST_NAMED = 3
NOTHING_RETRIEVED = Retrieval((), Trace())


@dataclass(frozen=True, slots=True)
class Written:
    """What was written of a question, whole or until it was stopped.

    retrieval: how its passages were found. hits: the passages, number n of the text being `hits[n - 1]` where it is not
    `cited`, that is where a model put numbers of its prompt there. sentences, citations: those of a text that is cited,
    or was checked. confidence: 0..1; told: what it comes from, see `rag_core.answering.confidence`. left_out: passages
    without room in the prompt. prompt, usage: what a language model was told, and the tokens where it came to an end.
    tokens: those, where they are known or were counted. removed: numbers that pointed at no passage. model: "" for the
    question's. table: what a plan found in a whole table. cut: whether a language model reached its limit of tokens.
    beginning: the part of a kept answer that this goes on with.
    """

    retrieval: Retrieval = NOTHING_RETRIEVED
    hits: tuple[Hit, ...] = ()
    text: str = ""
    cited: bool = True
    sentences: tuple[Sentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    confidence: float = 0.0
    abstained: bool = False
    told: Mapping[str, float] = field(default_factory=dict)
    left_out: tuple[Hit, ...] = ()
    notes: tuple[str, ...] = ()
    prompt: tuple[ChatMessage, ...] = ()
    usage: Usage | None = None
    tokens: Mapping[str, int] = field(default_factory=dict)
    removed: int = 0
    model: str = ""
    table: TableAnswer | None = None
    cut: bool = False
    beginning: Beginning | None = None


def abstain(written: Written, found: float, *, stopped: bool = False) -> Written:
    """The same with the text that there is no answer; `found` is the probability that there is one after all."""
    return replace(
        written, text="" if stopped else NOT_FOUND, sentences=() if stopped else (Sentence(NOT_FOUND),),
        citations=(), confidence=found, abstained=not stopped, told={}, table=None, cut=False,
    )  # fmt: skip


def answer_of(question: Question, written: Written, latency_ms: Mapping[str, float], *, stopped: bool) -> Answer:
    """The answer, with what its retriever said of the search and what happened since."""
    trace = written.retrieval.trace
    told = confidence.cited(written.citations, written.hits, all_valid=not written.removed)
    return Answer(
        question=question.text,
        text=written.text,
        sentences=written.sentences,
        citations=written.citations,
        hits=written.hits,
        confidence=written.confidence,
        abstained=written.abstained,
        model=written.model or question.model,
        stopped=stopped,
        table=written.table,
        cut=(written.cut or (stopped and written.beginning is not None)) and not written.abstained,
        trace=replace(
            trace,
            latency_ms={**latency_ms, **trace.latency_ms},
            notes=(*trace.notes, *_notes(written)),
            left_out=trace.left_out + len(written.left_out),
            removed=written.removed,
            tokens=written.tokens,
            searched=trace.searched and _without_room(trace.searched, written.left_out),
            confidence={**written.told, **told},
        ),
    )


def _notes(written: Written) -> list[str]:
    """What the reader should know about how the text was made."""
    notes = []
    if written.left_out:
        count = f"{len(written.left_out)} of {len(written.hits)} passages"
        notes.append(f"{count} did not fit into the prompt and were left out: {_named(written.left_out)}.")
    notes += written.notes
    if written.removed:
        notes.append(f"{written.removed} numbers that pointed at no passage were taken out of the answer.")
    return notes


def _named(hits: Sequence[Hit]) -> str:
    """The pages of the first few, and how many more there are."""
    names = [f"{hit.document.title}, {counted(hit.page, hit.page_label)}" for hit in hits[:_MOST_NAMED]]
    more = len(hits) - len(names)
    return "; ".join([*names, *([f"and {more} more"] if more else [])])


def _without_room(searched: Searched, left_out: Sequence[Hit]) -> Searched:
    """What was searched, with what became of the passages that are not in the prompt."""
    ids = {hit.chunk_id for hit in left_out}
    return replace(searched, candidates=tuple(
        replace(one, outcome="budget") if one.chunk_id in ids else one for one in searched.candidates
    ))  # fmt: skip
