"""What was asked of a library and what came of it, counted over a period."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from rag_core.domain.search import Scope

TimeStep = Literal["day", "week", "month"]


@dataclass(frozen=True, slots=True)
class AskedIn:
    """Questions of one day, week or month that begins with `since`, by what came of them."""

    since: date
    answered: int = 0
    perhaps: int = 0
    not_found: int = 0
    stopped: int = 0
    failed: int = 0

    @property
    def asked(self) -> int:
        """All of them."""
        return self.answered + self.perhaps + self.not_found + self.stopped + self.failed


@dataclass(frozen=True, slots=True)
class NotFound:
    """A question that the library held no sure answer to. `query` is what was searched for: a follow-up made whole.

    `times` counts how often it was asked, `conversation` is where it was asked last.
    """

    question: str
    query: str
    times: int
    last: datetime
    conversation: str


@dataclass(frozen=True, slots=True)
class QuestionGroup:
    """Questions that mean about the same, the most central one first: it names the group."""

    questions: tuple[NotFound, ...]

    @property
    def name(self) -> str:
        """The most central question."""
        return self.questions[0].question

    @property
    def times(self) -> int:
        """How often its questions were asked."""
        return sum(question.times for question in self.questions)


@dataclass(frozen=True, slots=True)
class DocumentUse:
    """How many answers cite a document, with how many passages. `there` is False for one that was removed since."""

    document_id: str
    title: str
    answers: int
    passages: int
    last: datetime
    there: bool


@dataclass(frozen=True, slots=True)
class UnusedDocument:
    """A document that no answer cites."""

    document_id: str
    title: str
    added_at: datetime


@dataclass(frozen=True, slots=True)
class StageTime:
    """Percentiles of a stage's time over `count` answers, milliseconds."""

    stage: str
    count: int
    p50: float
    p90: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True)
class Trust:
    """Answers whose confidence is at least `low` and below `high`, by the thumbs they were given."""

    low: float
    high: float
    up: int
    down: int
    unrated: int


@dataclass(frozen=True, slots=True)
class TokenUse:
    """Tokens that a language model read and wrote in one day, week or month."""

    since: date
    model: str
    answers: int
    prompt: int
    answer: int


@dataclass(frozen=True, slots=True)
class JobCount:
    """Jobs of one kind by how they ended, and how long those that ended took, seconds; None where none has."""

    kind: str
    done: int
    failed: int
    cancelled: int
    unfinished: int
    p50_s: float | None
    p95_s: float | None


@dataclass(frozen=True, slots=True)
class JobFailure:
    """A job that failed, why, and what to do about it."""

    kind: str
    name: str
    message: str
    help: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Insights:
    """All of it, for the last `days` (None: all time), within `scope`, as of `until`.

    A question is within a scope where its answer cites a document of it, or where it cites nothing and the passage
    that came nearest is of one. `asked` and `tokens` are by `step`, without gaps in `asked`. Lists are cut: `not_found`
    to the newest of `not_found_count` different questions, `unused` to the oldest of `unused_count`, `failures` to the
    newest.
    """

    days: int | None
    scope: Scope
    until: datetime
    step: TimeStep
    asked: tuple[AskedIn, ...] = ()
    not_found: tuple[NotFound, ...] = ()
    not_found_count: int = 0
    used: tuple[DocumentUse, ...] = ()
    unused: tuple[UnusedDocument, ...] = ()
    unused_count: int = 0
    times: tuple[StageTime, ...] = ()
    trust: tuple[Trust, ...] = ()
    tokens: tuple[TokenUse, ...] = ()
    jobs: tuple[JobCount, ...] = ()
    failures: tuple[JobFailure, ...] = ()

    @property
    def total(self) -> AskedIn:
        """The questions of the whole period."""
        since = self.asked[0].since if self.asked else self.until.date()
        sums = (sum(getattr(part, name) for part in self.asked) for name in AskedIn.__slots__[1:])
        return AskedIn(since, *sums)


@dataclass(frozen=True, slots=True)
class Place:
    """A document's place on the map, where near is alike. `cluster` is its place in the tree, None while it has none.

    `chunks` is its size.
    """

    document_id: str
    title: str
    chunks: int
    x: float
    y: float
    cluster: int | None


@dataclass(frozen=True, slots=True)
class CorpusMap:
    """Documents in two dimensions. `clusters` are the words of each cluster of documents, in the tree's order.

    `waiting` documents are ready and have no place yet.
    """

    places: tuple[Place, ...] = ()
    clusters: tuple[tuple[str, ...], ...] = ()
    waiting: int = 0
