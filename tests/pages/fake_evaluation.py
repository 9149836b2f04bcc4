"""An evaluation played by a script: sets and runs in memory, results made up."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from rag_core.cancellation import Cancellation
from rag_core.domain import (
    Configuration,
    Difference,
    Drawing,
    Field,
    ImportReport,
    Metric,
    Progress,
    Question,
    QuestionSet,
    Result,
    RowProblem,
    Run,
)
from rag_core.errors import ConfigurationError, LecternError
from rag_core.evaluation.seeds import SEEDS
from tests.made_runs import BEGUN, a_result, a_run, summary

HIT_RATE = Metric("hit_rate", "Hit rate", "How often a right passage is found.", "retrieval")
ANSWER_MS = Metric("answer_ms", "Answer time", "How long an answer takes.", "cost", "ms", False)
FIELDS = (
    Field("retrieval.k", "Passages (k)", "hits returned", "integer", 6, low=1, high=100),
    Field("answering.mmr_lambda", "Relevance (lambda)", "1 is relevance", "number", 0.85, low=0, high=1),
    Field("retrieval.index", "Index", "where from", "choice", "auto", ("auto", "chroma")),
    Field("chunking.size", "Chunk size", "characters", "integer", 1000),
    Field("answering.prompt", "Prompt", "the prompt", "text", ""),
    Field("generation.model", "Model", "which", "choice", "extractive", ("extractive",)),
)


def a_difference(metric: Metric = HIT_RATE, difference: float = 0.06, **changes: Any) -> Difference:
    found = Difference(
        metric, 0.5, 0.5 + difference, difference, difference - 0.04, difference + 0.04, 0.01, 0.02, 120, True,
        f"“B” finds more: {difference:+.2f}, 120 questions.",
    )  # fmt: skip
    return replace(found, **changes)


class FakeEvaluation:
    """`problems` are what a check finds, `drafts` what is drafted, `past` what was asked, `error` what begin raises."""

    def __init__(self) -> None:
        self.kept: dict[str, QuestionSet] = {}
        self.held: dict[str, list[Question]] = {}
        self.made: list[Run] = []
        self.found: dict[str, list[Result]] = {}
        self.own: tuple[Field, ...] = FIELDS
        self.problems: tuple[RowProblem, ...] = ()
        self.drafts: list[Question] = []
        self.past: list[Question] = []
        self.report = ImportReport((), (), 0)
        self.differences: tuple[Difference, ...] = ()
        self.error: LecternError | None = None
        self.fails: Exception | None = None
        self.gate = threading.Event()
        self.gate.set()
        self.calls: list[tuple[str, Any]] = []

    def metrics(self) -> tuple[Metric, ...]:
        return (HIT_RATE, ANSWER_MS)

    def sets(self) -> list[QuestionSet]:
        return [replace(item, size=len(self.held[item.id])) for item in self.kept.values()]

    def create(self, name: str, questions: Sequence[Question] = ()) -> QuestionSet:
        made = QuestionSet(f"s{len(self.kept) + 1}", name, len(questions), BEGUN, BEGUN)
        self.kept[made.id], self.held[made.id] = made, list(questions)
        return made

    def rename(self, set_id: str, name: str) -> None:
        self.kept[set_id] = replace(self.kept[set_id], name=name)

    def delete(self, set_id: str) -> None:
        del self.kept[set_id]

    def questions(self, set_id: str) -> list[Question]:
        return list(self.held[set_id])

    def put(self, set_id: str, questions: Sequence[Question]) -> None:
        self.held[set_id] = [
            *(item for item in self.held[set_id] if item.id not in {q.id for q in questions}),
            *questions,
        ]

    def drop(self, set_id: str, question_ids: Collection[str]) -> None:
        self.held[set_id] = [item for item in self.held[set_id] if item.id not in question_ids]

    def read(self, name: str, data: bytes) -> ImportReport:
        return self.report

    def file_help(self) -> str:
        return "A column `question` is needed."

    def check(self, questions: Sequence[Question]) -> tuple[RowProblem, ...]:
        return self.problems

    def draft(self, count: int, *args: Any, cancellation: Cancellation, **named: Any) -> Iterator[Question]:
        for question in self.drafts[:count]:
            self.gate.wait(10)
            if cancellation.is_set():
                return
            yield question

    def asked(self) -> list[Question]:
        return list(self.past)

    def seeds(self) -> tuple[Configuration, ...]:
        return SEEDS

    def fields(self) -> tuple[Field, ...]:
        return self.own

    def check_configuration(self, configuration: Configuration) -> None:
        if configuration.changes.get("chunking.size") == 150:
            raise ConfigurationError("The overlap must be smaller.")

    def begin(
        self, set_id: str, configurations: Sequence[Configuration], *, answers: bool = False, judge: str = ""
    ) -> list[Run]:
        self.calls.append(("begin", ([item.name for item in configurations], answers, judge)))
        if self.error:
            raise self.error
        total, group = len(self.held[set_id]), f"g{len(self.made)}"
        runs = [
            a_run(
                f"r{len(self.made) + place}", configuration, [], group=group, set_id=set_id, answers=answers,
                state="waiting", total=total, metrics={}, finished_at=None,
            )
            for place, configuration in enumerate(configurations)
        ]  # fmt: skip
        self.made += runs
        return runs

    def steps(self, run_ids: Sequence[str], *, cancellation: Cancellation) -> Iterator[Progress]:
        self.calls.append(("carry_out", list(run_ids)))
        for run in [self.run(run_id) for run_id in run_ids]:
            if self.fails:
                raise self.fails
            asked = self.held.get(run.set_id, [])
            results = self.found.setdefault(run.id, [])
            for number in range(len(results), run.total):
                self.gate.wait(10)
                if cancellation.is_set() or cancellation.is_set(run.id):
                    break
                question = asked[number] if number < len(asked) else None
                result = a_result(number, answers=run.answers)
                results.append(replace(result, question=question) if question else result)
                yield Progress(run.configuration.name, number + 1, run.total, run.id)
            state = "done" if len(results) == run.total else "cancelled"
            self._change(run.id, state=state, done=len(results), metrics=summary(results))

    def cancel(self, run_id: str) -> None:
        self._change(run_id, state="cancelled")

    def runs(self, set_id: str | None = None) -> list[Run]:
        return [run for run in reversed(self.made) if set_id in (None, run.set_id)]

    def run(self, run_id: str) -> Run:
        return next(run for run in self.made if run.id == run_id)

    def results(
        self, run_id: str, question_ids: Collection[str] | None = None, *, passages: bool = True
    ) -> list[Result]:
        return [item for item in self.found.get(run_id, []) if question_ids is None or item.question.id in question_ids]

    def delete_run(self, run_id: str) -> None:
        self.made = [run for run in self.made if run.id != run_id]

    def compare(self, run_a: str, run_b: str) -> tuple[Difference, ...]:
        return self.differences

    def drawings(self, run_ids: Sequence[str]) -> tuple[Drawing, ...]:
        spec = {"mark": "bar", "height": 100, "config": {}, "data": {"values": [{"a": 1}]}}
        return (Drawing("latency", "Where the time goes", "By stage.", spec, ("Run", "ms"), (("A", 1.5),)),)

    def export(self, run_ids: Sequence[str], form: str) -> bytes:
        return form.encode()

    def export_questions(self, set_id: str, form: str) -> bytes:
        return form.encode()

    def apply(self, configuration: Configuration) -> tuple[str, ...]:
        self.calls.append(("apply", dict(configuration.changes)))
        changes = configuration.changes
        self.own = tuple(replace(field, value=changes.get(field.key, field.value)) for field in self.own)
        return ()

    def _change(self, run_id: str, **changes: Any) -> None:
        self.made = [replace(run, **changes) if run.id == run_id else run for run in self.made]
