"""The numbers behind the charts: what is drawn is computed here, and how in `charts`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from rag_core.domain import Result, Run

Tested = tuple[Run, Sequence[Result]]
"""A run with its results."""

# How an answer comes about, in order. "first_text" is a moment amid a stage, "total" all of them.
STAGES = {
    "prepare": "Preparing",
    "embed": "Embedding the question",
    "search": "Searching",
    "generate": "Answering",
    "cite": "Checking citations",
}
SHOWN_K = 50


@dataclass(frozen=True, slots=True)
class KPoint:
    """How well the first `k` passages do, as means over questions."""

    k: int
    recall: float
    precision: float
    hit_rate: float


@dataclass(frozen=True, slots=True)
class Shift:
    """A question's value in run A and in run B."""

    question: str
    before: float
    after: float


def names(runs: Sequence[Run]) -> list[str]:
    """What to call each run: its configuration's name, with its time where two share one."""
    plain = [run.configuration.name for run in runs]
    timed = [f"{run.configuration.name}, {moment(run.created_at)}" for run in runs]
    chosen = [full if plain.count(name) > 1 else name for name, full in zip(plain, timed, strict=True)]
    return [
        f"{name} ({chosen[: place + 1].count(name)})" if chosen.count(name) > 1 else name
        for place, name in enumerate(chosen)
    ]


def moment(time: datetime) -> str:
    """`21 Nov 10:53`, in this machine's time zone."""
    local = time.astimezone()
    return f"{local.day} {local:%b %H:%M}"


def over_k(results: Sequence[Result]) -> list[KPoint]:
    """Recall, precision and hit rate for k from 1 to the most passages found (at most 50); empty without gold."""
    asked = [result for result in results if result.question.gold and not result.error]
    longest = min(SHOWN_K, max((len(result.found) for result in asked), default=0))
    return [_at(asked, k) for k in range(1, longest + 1)]


def _at(results: Sequence[Result], k: int) -> KPoint:
    recall = precision = hits = 0.0
    for result in results:
        first = [found for found in result.found if found.rank <= k]
        places = {place for found in first for place in found.gold}
        relevant = sum(bool(found.relevant) for found in first)
        recall += len(places) / len(result.question.gold)
        precision += relevant / k
        hits += relevant > 0
    count = len(results)
    return KPoint(k, recall / count, precision / count, hits / count)


def latency(results: Sequence[Result]) -> dict[str, tuple[float, float]]:
    """Milliseconds by stage, in order: the mean over questions, and the 95th percentile."""
    import numpy as np

    spent: dict[str, list[float]] = defaultdict(list)
    for result in results:
        if not result.error:
            for stage in STAGES.keys() & result.latency_ms.keys():
                spent[stage].append(result.latency_ms[stage])
    return {
        stage: (float(np.mean(spent[stage])), float(np.percentile(spent[stage], 95)))
        for stage in STAGES
        if any(spent[stage])
    }


def shifts(a: Sequence[Result], b: Sequence[Result], metric: str) -> list[Shift]:
    """Each question that both runs have a value of, in the order of run A."""
    after = {result.question.id: result.metrics.get(metric) for result in b}
    return [
        Shift(result.question.text, before, then)
        for result in a
        if (before := result.metrics.get(metric)) is not None and (then := after.get(result.question.id)) is not None
    ]


def groups(history: Sequence[Run], limit: int) -> Iterator[list[Run]]:
    """Runs that were begun together, the oldest group first, the newest `limit` of them."""
    together: dict[str, list[Run]] = defaultdict(list)
    for run in sorted(history, key=lambda run: run.created_at):
        together[run.group].append(run)
    yield from list(together.values())[-limit:]
