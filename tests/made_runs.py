"""Made-up runs of an evaluation, for charts and pages."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from rag_core.domain import Configuration, Estimate, Found, Gold, Question, Result, Run, Sentence

BEGUN = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
AS_IT_IS = Configuration("The library as it is")
MORE = Configuration("More passages", {"retrieval.k": 10})


def a_question(number: int, **changes: Any) -> Question:
    question = Question(
        f"q{number}", f"Of what is bridge {number} made?", ("Of steel.",), (Gold("bridges.txt", 2, "made of steel"),)
    )
    return replace(question, **changes)


def a_result(number: int = 0, k: int = 6, *, at: int | None = 1, answers: bool = True, **changes: Any) -> Result:
    """A result with `k` passages, the one of rank `at` relevant."""
    found = tuple(
        Found(
            rank,
            "bridges.txt",
            "Bridges",
            rank,
            "",
            0,
            26,
            f"Passage {rank} on steel.",
            0.8 - rank / 100,
            rank == at,
            (0,) if rank == at else (),
        )
        for rank in range(1, k + 1)
    )
    hit = float(at is not None and at <= k)
    metrics: dict[str, float | None] = {
        "context_recall": hit, "hit_rate": hit, "context_precision": hit / k, "mrr": hit / at if at else 0.0,
        "ndcg": hit / (1 + (at or 1) / 3), "search_ms": 3.0 + k / 10,
    }  # fmt: skip
    latency = {"embed": 2.5, "search": 1 + k / 10}
    if answers:
        metrics |= {"correct": hit, "token_f1": 0.3 + hit / 2, "faithfulness": 0.5}
        latency |= {"prepare": 0.2, "generate": 40.0 + k, "first_text": 41.0}
    result = Result(
        a_question(number), found, "It is made of steel. [1] It is red." if answers else "",
        (Sentence("It is made of steel.", (1,)), Sentence("It is red.", (), False)) if answers else (),
        False if answers else None, 0.2 + 0.6 * hit + number % 10 / 60 if answers else None, metrics, latency,
    )  # fmt: skip
    return replace(result, **changes)


def results(count: int, seed: int, k: int = 6, *, answers: bool = True) -> list[Result]:
    """Results of `count` questions, most of them with a relevant passage among the first."""
    chance = random.Random(seed)
    return [a_result(n, k, at=chance.choice([1, 1, 1, 2, 3, 5, 8, None]), answers=answers) for n in range(count)]


def a_run(
    run_id: str = "a", configuration: Configuration = AS_IT_IS, found: list[Result] | None = None, **changes: Any
) -> Run:
    found = results(20, 1) if found is None else found
    run = Run(
        id=run_id, group="g1", set_id="s1", set_name="Bridges", configuration=configuration, answers=True, state="done",
        done=len(found), total=len(found), seed=0, created_at=BEGUN, finished_at=BEGUN + timedelta(seconds=9),
        metrics=summary(found),
    )  # fmt: skip
    return replace(run, **changes)


def summary(found: list[Result]) -> dict[str, Estimate]:
    """Means, with an interval of a made-up width."""
    keys = dict.fromkeys(key for result in found for key in result.metrics)
    means = {}
    for key in keys:
        values = [value for result in found if (value := result.metrics.get(key)) is not None]
        mean = sum(values) / len(values)
        means[key] = Estimate(
            mean, max(0.0, mean - 0.08), mean + 0.08 if mean > 1 else min(1.0, mean + 0.08), len(values)
        )
    return means
