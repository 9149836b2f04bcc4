"""Question sets, the configurations they are run on, and what the runs found.

A share is between 0 and 1. A metric's value of one question is None where it says nothing there: recall without gold,
ROUGE without a reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from rag_core.domain.answers import Outcome, Sentence

Origin = Literal["typed", "uploaded", "drafted", "asked", "sample"]
RunState = Literal["waiting", "running", "done", "cancelled", "failed"]
MetricKind = Literal["retrieval", "answer", "cost"]
MetricUnit = Literal["share", "ms", "tokens"]
FieldKind = Literal["choice", "integer", "number", "text"]


@dataclass(frozen=True, slots=True)
class Gold:
    """Where an answer stands: a document, and where they are known its page and an excerpt of its text.

    `document` is its id (or the id's first 8 or more characters), its title, or the name of one of its sources. `page`
    counts from 1. `excerpt` is text as it stands in the document, save for white space.
    """

    document: str
    page: int | None = None
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a set and what is known of its right answer.

    `references` are right answers, each of them alone. `gold` are the places that hold one; all of them are wanted.
    Where `answerable` is False the library holds no answer, and to say so is right. `id` is unique within its set.
    """

    id: str
    text: str
    references: tuple[str, ...] = ()
    gold: tuple[Gold, ...] = ()
    answerable: bool = True
    origin: Origin = "typed"
    note: str = ""


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A question set's heading; its questions are fetched apart."""

    id: str
    name: str
    size: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class RowProblem:
    """What is wrong with one row of a file of questions, or with one question of a set.

    `row` counts from 1 as the file's lines, a spreadsheet's rows or the members of a JSON list do; 0 where the whole
    file is meant. `kept` says whether the row was taken nevertheless.
    """

    row: int
    column: str
    message: str
    kept: bool = False


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What a file of questions holds: the questions that can be used, and what is wrong with the rest.

    `lines` are the rows of the questions, counted as in `RowProblem`.
    """

    questions: tuple[Question, ...]
    problems: tuple[RowProblem, ...]
    rows: int
    notes: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings that differ from the library's own: `{"retrieval.k": 10}`. Without any it is the library as it is."""

    name: str
    changes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Field:
    """A setting that a configuration may change. `value` is the library's own; `low` and `high` are bounds, if any."""

    key: str
    label: str
    help: str
    kind: FieldKind
    value: object
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """What a number of an evaluation means. `help` is one sentence for people."""

    key: str
    label: str
    help: str
    kind: MetricKind
    unit: MetricUnit = "share"
    higher_is_better: bool = True


@dataclass(frozen=True, slots=True)
class Estimate:
    """A metric over the questions of a run: its mean and the 95 % interval of that mean (bootstrap over questions)."""

    mean: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Found:
    """A passage found for a question of a run.

    `relevant` says whether it holds any of the question's gold, None where there is none; `gold` which, by place.
    """

    rank: int
    document_id: str
    title: str
    page: int
    page_label: str
    start: int
    end: int
    text: str
    score: float
    relevant: bool | None = None
    gold: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """What a run found for one question, kept so that it can be read after its documents are gone.

    `sentences` carry the numbers of the passages they cite: ranks of `found`. `latency_ms` is by stage. `error` says
    why there is no result, `notes` what is to be known of it.
    """

    question: Question
    found: tuple[Found, ...] = ()
    answer: str = ""
    sentences: tuple[Sentence, ...] = ()
    abstained: bool | None = None
    confidence: float | None = None
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    latency_ms: Mapping[str, float] = field(default_factory=dict)
    tokens: Mapping[str, int] = field(default_factory=dict)
    error: str = ""
    notes: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """As an answer's: an abstention that cites something says what comes near."""
        near: Outcome = "perhaps" if any(one.citations for one in self.sentences) else "not found"
        return near if self.abstained else "answered"


@dataclass(frozen=True, slots=True)
class Run:
    """One configuration tried on one question set. Runs begun together share a `group`.

    `settings` are all settings in effect, `versions` those of the packages that matter, `library` tells of documents
    and profile. `answers` says whether answers were made or passages found alone. `judge` is the model that judged
    faithfulness, or empty. `metrics` are there once questions are done; `done` of `total` are.
    """

    id: str
    group: str
    set_id: str
    set_name: str
    configuration: Configuration
    answers: bool
    state: RunState
    done: int
    total: int
    seed: int
    created_at: datetime
    finished_at: datetime | None = None
    judge: str = ""
    error: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    library: Mapping[str, object] = field(default_factory=dict)
    metrics: Mapping[str, Estimate] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric of run B less that of run A, over the questions that both have: a paired comparison.

    `low` and `high` bound the 95 % interval of the mean difference (bootstrap), `p` is the permutation test's, and
    `p_corrected` Holm's over all metrics compared. `significant` is `p_corrected` below 0.05. `sentence` says it all.
    """

    metric: Metric
    mean_a: float
    mean_b: float
    difference: float
    low: float
    high: float
    p: float
    p_corrected: float
    count: int
    significant: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Answers whose confidence lies from `low` to `high`: how many, their mean confidence, and the share that is right.

    `confidence` and `accuracy` are 0 in an empty bin.
    """

    low: float
    high: float
    count: int
    confidence: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """A reliability diagram and its expected calibration error (Naeini et al. 2015)."""

    bins: tuple[CalibrationBin, ...]
    error: float
    count: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart as a Vega-Lite specification with its data in it, and the same numbers as a table.

    `caption` is one sentence that says how to read it.
    """

    key: str
    title: str
    caption: str
    spec: Mapping[str, object]
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
