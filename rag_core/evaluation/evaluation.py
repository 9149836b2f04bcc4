"""Evaluation: question sets, runs of configurations on them, and what follows. Reached by `Library.evaluation`."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata
from typing import TYPE_CHECKING, Literal

from rag_core.cancellation import Cancellation
from rag_core.domain import (
    Calibration,
    Configuration,
    Difference,
    Drawing,
    Field,
    ImportReport,
    Metric,
    Progress,
    Question,
    QuestionSet,
    RowProblem,
    Run,
)
from rag_core.errors import ConfigurationError, LecternError, ModelUnavailable
from rag_core.evaluation import configurations as configuring
from rag_core.evaluation.host import Host
from rag_core.evaluation.measuring.metrics import METRICS
from rag_core.evaluation.run_work import RESUMED, RunWork, library_now
from rag_core.evaluation.seeds import SEEDS

if TYPE_CHECKING:
    from rag_core.evaluation.gold.locating import Locator
    from rag_core.storage import Storage

Form = Literal["csv", "json", "html"]
PACKAGES = (
    "numpy", "simsimd", "openvino", "sentence-transformers", "langchain-classic", "llama-cpp-python", "ir-measures",
    "rouge-score",
)  # fmt: skip
_ID_CHARS = 200
_OPEN = ("waiting", "running")


class Evaluation:
    """Question sets and runs of one library. Thread-safe. What is asked for by an id raises KeyError without one.

    Every method raises StoreUnavailable when PostgreSQL does not answer.
    """

    def __init__(self, storage: Storage, host: Host) -> None:
        self._storage = storage
        self._sets = storage.question_sets
        self._runs = storage.evaluation_runs
        self.set, self.sets, self.questions = self._sets.get, self._sets.all, self._sets.questions
        self.delete = self._sets.delete
        self.runs, self.results, self.delete_run = self._runs.all, self._runs.results, self._runs.delete
        self.host = host
        self._work = RunWork(storage, host, self._locator)

    def metrics(self) -> tuple[Metric, ...]:
        """Every metric, in the order in which it is shown."""
        return METRICS

    # Question sets

    def create(self, name: str, questions: Sequence[Question] = ()) -> QuestionSet:
        """Make a question set. Raises LecternError for a question that `put` refuses."""
        _check(questions)
        return self.set(self._sets.create(name, questions))

    def rename(self, set_id: str, name: str) -> None:
        """Give a set another name; an empty one changes nothing."""
        self.set(set_id)
        self._sets.rename(set_id, name)

    def put(self, set_id: str, questions: Sequence[Question]) -> None:
        """Add questions to a set; those whose ids it has already take the place of the old ones.

        Raises LecternError for one without a text, or whose id is empty or longer than 200 characters.
        """
        _check(questions)
        self.set(set_id)
        self._sets.put(set_id, questions)

    def drop(self, set_id: str, question_ids: Collection[str]) -> None:
        """Delete questions of a set."""
        self.set(set_id)
        self._sets.drop(set_id, question_ids)

    def read(self, name: str, data: bytes) -> ImportReport:
        """The questions of a CSV or JSON Lines file and what is wrong with its rows; nothing is written.

        Gold that is not in the library is told as well; those questions are kept.
        """
        from rag_core.evaluation.files.importing import read_questions

        report = read_questions(name, data)
        missing = [replace(item, row=report.lines[item.row - 1]) for item in self.check(report.questions)]
        return replace(report, problems=tuple(sorted((*report.problems, *missing), key=lambda item: item.row)))

    def file_help(self) -> str:
        """What a file of questions may hold, as Markdown with a table of its columns."""
        from rag_core.evaluation.files.importing import HELP_TEXT

        return HELP_TEXT

    def check(self, questions: Sequence[Question]) -> tuple[RowProblem, ...]:
        """Gold documents, pages and excerpts that are not in the library; `row` is the question's number, from 1."""
        return self._locator().problems(questions)

    def draft(
        self,
        count: int,
        document_ids: Sequence[str] | None = None,
        model: str | None = None,
        seed: int = 0,
        cancellation: Cancellation | None = None,
    ) -> Iterator[Question]:
        """Questions drawn up from the library's documents, or some of them, each with its gold; nothing is written.

        With a `model` it writes them; without one they come from definitions, numbers, headings and tables. Raises
        ModelUnavailable.
        """
        from rag_core.evaluation.drafting.by_model import draft_by_model
        from rag_core.evaluation.drafting.draft import draft_from

        token = cancellation or Cancellation()
        wanted = None if document_ids is None else set(document_ids)
        documents = [item for item in self._storage.documents.all() if item.state == "ready"]
        documents = [item for item in documents if wanted is None or item.id in wanted]
        pages = self._storage.documents.pages
        if model is None or model == "extractive":
            yield from draft_from(documents, pages, count, seed=seed, cancelled=token.is_set)
        else:
            opened = self.host.model(model, self.host.settings())
            yield from draft_by_model(opened, documents, pages, count, seed=seed, cancelled=token.is_set)

    def asked(self) -> list[Question]:
        """Past questions that have a rating: good answers are references, their passages gold."""
        from rag_core.evaluation.past import question_of

        return [question_of(message) for message in self._storage.conversations.rated()]

    # Runs

    def seeds(self) -> tuple[Configuration, ...]:
        """The five systems that Lectern grew from, as configurations to try."""
        return SEEDS

    def fields(self) -> tuple[Field, ...]:
        """The settings that a configuration may change, with the library's own values."""
        return configuring.fields(self.host.settings(), self.host.models())

    def check_configuration(self, configuration: Configuration) -> None:
        """Raises ConfigurationError for one that cannot be tried, with the reason."""
        configuring.applied(configuration, self.host.settings())

    def begin(
        self,
        set_id: str,
        configurations: Sequence[Configuration],
        *,
        answers: bool = False,
        judge: str = "",
        seed: int = 0,
    ) -> list[Run]:
        """Note a run for each configuration; `carry_out` has them done.

        Raises ConfigurationError, ModelUnavailable for a model that is not ready, LecternError for an empty set.
        """
        if not 0 <= seed < 2**63:
            raise ConfigurationError(f"The seed {seed} is not a number from 0 to 2^63 - 1.")
        asked, of = self.questions(set_id), self.set(set_id)
        if not asked:
            raise LecternError(f"“{of.name}” has no questions.", help="Add some, or take another set.")
        group, now = uuid.uuid4().hex, datetime.now(UTC)
        runs = []
        for configuration in configurations:
            settings = configuring.applied(configuration, self.host.settings())
            self._check_models(answers, settings.generation.model, judge)
            runs.append(
                Run(
                    id=uuid.uuid4().hex, group=group, set_id=set_id, set_name=of.name, configuration=configuration,
                    answers=answers, state="waiting", done=0, total=len(asked), seed=seed, created_at=now,
                    judge=judge if answers else "", settings=settings.tunable(), versions=_versions(),
                    library=library_now(self._storage),
                )
            )  # fmt: skip
        self._runs.add(runs, asked)
        return [self.run(run.id) for run in runs]

    def carry_out(
        self, run_ids: Sequence[str] | None = None, *, cancellation: Cancellation | None = None
    ) -> Iterator[Progress]:
        """Have the runs done that wait or were left in their middle, or these, as jobs: `steps` tells of what.

        They are cancelled where the caller does not listen to the end.
        """
        runs = self.runs()
        wanted = [run for run in runs if (run.state in _OPEN if run_ids is None else run.id in run_ids)]
        yield from self.host.follow(wanted[::-1], cancellation or Cancellation())

    def steps(
        self, run_ids: Sequence[str] | None = None, *, cancellation: Cancellation | None = None
    ) -> Iterator[Progress]:
        """Do the runs that wait or were left in their middle, or these, in the caller's thread.

        Runs begun together take turns, question by question, so that a busy moment of the machine falls on all of them
        alike; those with another model follow, for a model takes its time to load. A step's stage is the
        configuration's name, its note the run's id; "preparing" counts documents. A run that goes wrong, or is stopped,
        does not keep the others; stopping all by the token stops those behind it too. Questions that have a result are
        not asked again, and what another call is at is passed over.
        """
        yield from self._work.steps(run_ids, cancellation or Cancellation())

    def cancel(self, run_id: str) -> None:
        """Have a run that nobody carries out count as cancelled, so that it does not go on by itself."""
        self.run(run_id)
        self._work.cancel(run_id)

    def run(self, run_id: str) -> Run:
        """One run."""
        found = self._runs.get(run_id)
        if found is None:
            raise KeyError(run_id)
        return found

    def compare(self, run_a: str, run_b: str) -> tuple[Difference, ...]:
        """What run B does better or worse than run A on the questions that both have, asked in the same way."""
        from rag_core.evaluation.measuring.comparing import compare

        a, b = self.run(run_a), self.run(run_b)
        of_a, of_b = (self.results(run.id, passages=False) for run in (a, b))
        asked = {_asked(result.question) for result in of_a}
        of_b = [result for result in of_b if _asked(result.question) in asked]
        found = compare(of_a, of_b, a.configuration.name, b.configuration.name, seed=a.seed)
        if a.group == b.group and not any(RESUMED in run.notes for run in (a, b)):
            return found
        return tuple(_of_other_moments(item) if item.metric.unit == "ms" else item for item in found)

    def calibration(self, run_id: str) -> Calibration:
        """How far the confidence of a run's answers can be trusted."""
        from rag_core.evaluation.measuring.calibration import calibration

        return calibration(self.results(run_id, passages=False))

    def drawings(self, run_ids: Sequence[str]) -> tuple[Drawing, ...]:
        """The charts of some runs, of one set's history among them, each with its numbers as a table."""
        from rag_core.evaluation.reporting.charts import drawings

        runs = [self.run(run_id) for run_id in run_ids]
        history = self.runs(runs[0].set_id) if runs else []
        return drawings([(run, self.results(run.id, passages=False)) for run in runs], history)

    def export(self, run_ids: Sequence[str], form: Form) -> bytes:
        """Runs as one file: CSV (a row for each question), JSON (everything), or an HTML page that opens by itself."""
        from rag_core.evaluation.files.exporting import as_csv, as_json
        from rag_core.evaluation.reporting.report import as_html

        runs = [(self.run(run_id), self.results(run_id)) for run_id in run_ids]
        if form == "csv":
            return as_csv(runs)
        if form == "json":
            return as_json(runs)
        first, *others = run_ids
        differences = [difference for other in others for difference in self.compare(first, other)]
        return as_html(runs, differences, self.drawings(run_ids))

    def export_questions(self, set_id: str, form: Literal["csv", "jsonl"]) -> bytes:
        """A question set as a file that `read` reads back."""
        from rag_core.evaluation.files.exporting import questions_as_csv, questions_as_jsonl

        questions = self.questions(set_id)
        return questions_as_csv(questions) if form == "csv" else questions_as_jsonl(questions)

    def apply(self, configuration: Configuration) -> tuple[str, ...]:
        """Make a configuration's settings the library's, here and whenever it is opened. Returns what is to be known.

        With another chunking the documents are to be re-chunked: `Maintenance.rechunk`. Raises ConfigurationError.
        """
        settings = configuring.applied(configuration, self.host.settings())
        before = self.host.settings()
        changed = {key: value for key, value in settings.tunable().items() if value != before.tunable()[key]}
        self.host.apply(changed)
        if any(key.startswith("chunking.") for key in changed):
            return ("New documents are chunked so from now on. Those that are here have to be re-chunked.",)
        return ()

    def _locator(self) -> Locator:
        from rag_core.evaluation.gold.locating import Locator

        documents = [item for item in self._storage.documents.all() if item.state == "ready"]
        return Locator(documents, self._storage.documents.pages)

    def _check_models(self, answers: bool, model: str, judge: str) -> None:
        statuses = {status.id: status for status in self.host.models()}
        if judge == "extractive":
            raise ModelUnavailable("The extractive model quotes, it cannot judge.", help="Choose a language model.")
        for name in (model, judge) if answers else ():
            status = statuses.get(name)
            if name and (status is None or not status.ready):
                raise ModelUnavailable(
                    f"The model {name} is not ready.", help=status.reason if status else "Choose one of the others."
                )


def _of_other_moments(time: Difference) -> Difference:
    """A difference of times between runs that were not made side by side, which says little."""
    sentence = f"{time.metric.label}: the two runs were not made side by side, so the machine may be the reason."
    return replace(time, significant=False, sentence=sentence)


def _check(questions: Sequence[Question]) -> None:
    if any(not question.text.strip() for question in questions):
        raise LecternError("A question has no text.", help="Write one, or leave the question out.")
    for question in questions:
        if not 0 < len(question.id.strip()) <= _ID_CHARS:
            raise LecternError(f"The id of “{question.text[:60]}” is empty or longer than {_ID_CHARS} characters.")


def _asked(question: Question) -> tuple[object, ...]:
    """What makes two questions the same, whatever was noted of them."""
    return question.id, question.text, question.references, question.gold, question.answerable


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
