"""The numbers behind the charts: what is drawn is computed here, and how in `charts`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from statistics import fmean
from typing import Any

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


def over_k(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Recall, precision and hit rate for k from 1 to the most passages found (at most 50); empty without gold."""
    asked = [result for result in results if result.question.gold and not result.error]
    longest = min(SHOWN_K, max((len(result.found) for result in asked), default=0))
    return [_at(asked, k) for k in range(1, longest + 1)]


def _at(asked: Sequence[Result], k: int) -> dict[str, Any]:
    first = [[found for found in result.found if found.rank <= k] for result in asked]
    places = [len({place for found in several for place in found.gold}) for several in first]
    relevant = [sum(bool(found.relevant) for found in several) for several in first]
    return {
        "k": k,
        "recall": fmean(there / len(result.question.gold) for there, result in zip(places, asked, strict=True)),
        "hits": fmean(number > 0 for number in relevant),
        "precision": fmean(relevant) / k,
    }


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


def shifts(a: Sequence[Result], b: Sequence[Result], metric: str) -> list[tuple[str, float, float]]:
    """Each question that both runs have a value of, in the order of run A, with its value in A and in B."""
    after = {result.question.id: result.metrics.get(metric) for result in b}
    return [
        (result.question.text, before, then)
        for result in a
        if (before := result.metrics.get(metric)) is not None and (then := after.get(result.question.id)) is not None
    ]


def groups(history: Sequence[Run], limit: int) -> Iterator[list[Run]]:
    """Runs that were begun together, the oldest group first, the newest `limit` of them."""
    together: dict[str, list[Run]] = defaultdict(list)
    for run in sorted(history, key=lambda run: run.created_at):
        together[run.group].append(run)
    yield from list(together.values())[-limit:]
