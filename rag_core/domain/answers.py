"""Hits, answers with their citations, and the conversations that keep them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from rag_core.domain.documents import Document
from rag_core.domain.pages import AmountNote, Box
from rag_core.domain.search import Searched
from rag_core.domain.tables import TableAnswer
from rag_core.errors import ModelUnavailable

ScoreKind = Literal["cosine", "bm25", "fused", "rerank"]
COURTESY = "courtesy"
"""What an answer to a greeting has for its model."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found for a question. `score` is of the kind `score_kind`; kinds are never compared.

    `scores` has those of each ranker that found it, by name. `matches` are the spans of the question's words within
    `text`. `similar` counts the near-duplicates that it stands for. `around` are the chunks before and behind it, the
    nearest first, where an answer may be given those too. `called` are the question's names by which the document goes,
    in its file names or on its first page ("Jonas", who signed it). Hits of a search have what stands before and behind
    them, to the ends of the chunks beside, as `preceding_text` and `following_text`. `amounts` are the notes of its
    document on what amounts are in that may hold on its page.
    """

    chunk_id: str
    document: Document
    index: int
    page: int
    page_label: str
    section: str
    text: str
    start: int
    end: int
    boxes: tuple[Box, ...]
    score: float
    score_kind: ScoreKind = "cosine"
    scores: Mapping[str, float] = field(default_factory=dict)
    matches: tuple[tuple[int, int], ...] = ()
    similar: int = 0
    around: tuple[Hit, ...] = ()
    called: tuple[str, ...] = ()
    corrected: bool = False
    hidden: bool = False
    preceding_text: str = ""
    following_text: str = ""
    amounts: tuple[AmountNote, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage in an answer: what the number behind a sentence opens. The span is on the page, boxes within it.

    One that `instructs` has text that reads like an instruction to the model that answers. corrected, hidden: of its
    chunk, as `Chunk` says.
    """

    number: int
    chunk_id: str
    document_id: str
    title: str
    page: int
    page_label: str
    section: str
    text: str
    start: int
    end: int
    boxes: tuple[Box, ...]
    score: float
    score_kind: ScoreKind = "cosine"
    instructs: bool = False
    corrected: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of an answer with the numbers of its citations. `supported` is False where no passage holds it."""

    text: str
    citations: tuple[int, ...] = ()
    supported: bool = True


@dataclass(frozen=True, slots=True)
class Step:
    """What an agent did for an answer: in which round from 1 on, by which tool ("plan" for a thought), in one line."""

    round: int
    tool: str
    text: str


@dataclass(frozen=True, slots=True)
class Trace:
    """How an answer came about: engine, search query, milliseconds by stage, and whatever was left out or replaced.

    `tokens` are those of a language model's "prompt" and "answer". `removed` numbers in its text pointed at no passage.
    `searched` says what the search covered, where it is known. `steps` are an agent's, in order. It is `restated`
    where the query says another thing than the question: put right, spelt out, or joined with the one before. An
    answer of `cached_at` was given then to the same question of the same documents, and is given again; one that is
    `provisional` is not, as what it lacked is being made. What `confidence` comes from is there by name, 0..1; see
    `rag_core.answering.confidence`.
    """

    engine: str = ""
    query: str = ""
    latency_ms: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    left_out: int = 0
    removed: int = 0
    tokens: Mapping[str, int] = field(default_factory=dict)
    searched: Searched | None = None
    steps: tuple[Step, ...] = ()
    restated: bool = False
    cached_at: datetime | None = None
    provisional: bool = False
    confidence: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The hits for a question, best first or in the order of MMR's picks, and how they were found.

    `parts` are the questions that it consists of, each with what was found for it, where there are several; `sums` what
    an agent worked out.
    """

    hits: tuple[Hit, ...]
    trace: Trace
    parts: Mapping[str, Retrieval] = field(default_factory=dict)
    sums: tuple[str, ...] = ()


Outcome = Literal["answered", "perhaps", "not found"]
"""What became of a question: it is answered; something near was read that may answer it; nothing comes near."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with all that is needed to check it. `conversation` and `message_id` say where it is kept.

    It is `abstained` where it is not answered. `outcome` then is "perhaps" where its first sentence says, with its
    citation, what comes near. It is `cut` where the language model reached its limit of tokens amid it, and can be gone
    on with. `table` has the rows where it is of a whole table, and by which plan they were found.
    """

    question: str
    text: str
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    hits: tuple[Hit, ...]
    confidence: float
    abstained: bool
    model: str
    conversation: str = ""
    message_id: str = ""
    stopped: bool = False
    trace: Trace = field(default_factory=Trace)
    table: TableAnswer | None = None
    cut: bool = False
    outcome: Outcome = field(init=False)

    def __post_init__(self) -> None:
        near: Outcome = "perhaps" if self.citations else "not found"
        object.__setattr__(self, "outcome", near if self.abstained else "answered")


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """A part of a streamed answer: new text, a stage that begins, an agent's step, or, last of all, the answer."""

    text: str = ""
    stage: str = ""
    step: Step | None = None
    answer: Answer | None = None


def answer_of(events: Iterable[StreamEvent]) -> Answer:
    """The whole answer at the end of a stream. Raises ModelUnavailable where none came."""
    answer = None
    for event in events:
        answer = event.answer or answer
    if answer is None:
        raise ModelUnavailable("The model gave no answer.")
    return answer


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation's heading; its messages are fetched apart. Pinned ones stand before all others.

    `listed` is False for a single question that was asked without a conversation, until it is gone on with.
    `collection` is the id of the one that it is in, "" for none.
    """

    id: str
    title: str
    created_at: datetime
    updated_at: datetime
    pinned: bool = False
    listed: bool = True
    collection: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One question and, unless it failed or was never given, its answer.

    `rating` is 1 for good, -1 for bad, with the user's `reason`. `replaced` counts the answers that were set aside when
    this question was asked in the place of an earlier one.
    """

    id: str
    question: str
    created_at: datetime
    answer: Answer | None = None
    error: str | None = None
    rating: int | None = None
    reason: str = ""
    replaced: int = 0
