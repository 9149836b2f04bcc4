"""Comparing two runs: how questions are paired, what is called a difference, and the sentences."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from rag_core.domain import Difference, Metric, Question, Result
from rag_core.evaluation.measuring.comparing import compare, summarise
from rag_core.evaluation.measuring.metrics import METRICS, WORDS
from tests.rag_core.evaluation.one_metric import estimate

SIZES = (30, 50, 80, 120, 200)


def result(name: object, metrics: Mapping[str, float | None], error: str = "") -> Result:
    return Result(Question(str(name), "Why?"), metrics=dict(metrics), error=error)


def run(values: dict[str, list[float]]) -> list[Result]:
    rows = zip(*values.values(), strict=True)
    return [result(i, dict(zip(values, row, strict=True))) for i, row in enumerate(rows)]


def only(a: list[Result], b: list[Result], name_a: str = "Old", name_b: str = "New") -> Difference:
    (found,) = compare(a, b, name_a, name_b)
    return found


def hits(right: int, wrong: int) -> list[float]:
    return [1.0] * right + [0.0] * wrong


def made_up(ease: np.ndarray, random: np.random.Generator) -> list[Result]:
    """A run of a configuration with luck in it: lists of 6 passages and answers, worse where a question is hard."""
    flags = random.random((len(ease), 6)) < ease[:, None] * np.array([0.5, 0.3, 0.2, 0.1, 0.1, 0.1])
    gains = 1 / np.log2(np.arange(6) + 2)
    right = random.random(len(ease)) < ease
    f1 = np.where(right, random.beta(8, 2, len(ease)), random.beta(1, 6, len(ease))).round(2)
    abstained = random.random(len(ease)) < 0.1
    found = []
    for i, row in enumerate(flags):
        first = int(row.argmax()) + 1 if row.any() else 0
        metrics = {
            "hit_rate": float(row.any()),
            "context_recall": min(1.0, row.sum() / 2),
            "mrr": 1 / first if first else 0.0,
            "ndcg": float(row @ gains / gains[:2].sum()),
            "context_precision": float(row.mean()),
            "correct": float(right[i]),
            "token_f1": float(f1[i]),
            "exact_match": float(right[i] and f1[i] > 0.95),
            "faithfulness": None if abstained[i] else float(random.integers(0, 4)) / 3,
            "search_ms": float(random.lognormal(2 + ease[i], 0.3)),
            "tokens": float(random.integers(200, 2000)),
        }
        found.append(result(f"q{i}", metrics))
    return found


@pytest.mark.slow
def test_two_equal_configurations_are_hardly_ever_called_different() -> None:
    random, called = np.random.default_rng(2024), 0
    for repetition in range(200):
        ease = random.beta(2, 1, SIZES[repetition % len(SIZES)])
        a, b = made_up(ease, random), made_up(ease, random)
        shuffled = [b[i] for i in random.permutation(len(b))]
        called += any(one.significant for one in compare(a, shuffled, "A", "B", seed=repetition))
    assert called <= 0.07 * 200


def test_a_true_difference_is_found() -> None:
    random, found = np.random.default_rng(1), 0
    for _ in range(20):
        ease = random.beta(2, 1, 200)
        better = {one.metric.key: one for one in compare(made_up(ease * 0.5, random), made_up(ease, random), "A", "B")}
        found += all(better[key].significant and better[key].difference > 0 for key in ("hit_rate", "ndcg", "token_f1"))
    assert found >= 18


def test_hundreds_of_questions_take_well_under_a_second() -> None:
    random = np.random.default_rng(0)
    ease = random.beta(2, 1, 500)
    a, b = made_up(ease, random), made_up(ease, random)
    compare(a[:20], b[:20], "A", "B")
    started = time.process_time()
    compare(a, b, "A", "B")
    assert time.process_time() - started < 1.0


def test_order_of_metrics_and_numbers() -> None:
    random = np.random.default_rng(7)
    a, b = made_up(random.random(60), random), made_up(random.random(60), random)
    found = compare(a, b, "A", "B")
    assert [one.metric for one in found] == [metric for metric in METRICS if metric.key in a[0].metrics]
    assert found == compare(a, b[::-1], "A", "B")
    for one in found:
        assert one.low <= one.difference <= one.high
        assert one.difference == pytest.approx(one.mean_b - one.mean_a)
        assert one.p <= one.p_corrected <= 1
        assert one.significant == (one.p_corrected < 0.05)


def test_questions_are_paired_by_id() -> None:
    a = [result(i, {"mrr": i / 100}) for i in range(60)]
    b = [result(i, {"mrr": i / 100 + 0.1}) for i in reversed(range(20, 90))]
    found = only(a, b)
    assert found.count == 40
    assert (found.difference, found.low, found.high) == pytest.approx((0.1, 0.1, 0.1))
    assert found.mean_a == pytest.approx(np.arange(20, 60).mean() / 100)


def test_a_better_one() -> None:
    found = only(run({"hit_rate": hits(60, 40)}), run({"hit_rate": hits(80, 20)}))
    assert found.significant
    assert re.fullmatch(
        r"“New” finds a right passage more often than “Old”: "
        r"\+20 points, 95 % interval \+1\d to \+2\d, 100 questions\.",
        found.sentence,
    )


def test_a_worse_one() -> None:
    found = only(run({"hit_rate": hits(80, 20)}), run({"hit_rate": hits(60, 40)}))
    assert found.sentence.startswith("“New” finds a right passage less often than “Old”: −20 points, 95 % interval −2")


def test_less_time_is_better() -> None:
    random = np.random.default_rng(0)
    slow, fast = random.gamma(9, 40, 50), random.gamma(9, 20, 50)
    sentence = only(run({"answer_ms": slow.tolist()}), run({"answer_ms": fast.tolist()})).sentence
    assert re.fullmatch(
        r"“New” answers faster than “Old”: −\d{3} ms a question, 95 % interval −\d{3} to −\d{3}, 50 questions\.",
        sentence,
    )
    assert "answers more slowly" in only(run({"answer_ms": fast.tolist()}), run({"answer_ms": slow.tolist()})).sentence


def test_what_may_be_chance() -> None:
    found = only(run({"hit_rate": hits(50, 50)}), run({"hit_rate": [1, 1, 0, 0, 0] * 5 + hits(28, 22) + hits(13, 12)}))
    assert not found.significant
    assert found.sentence.startswith(
        "No difference beyond chance in how often a right passage is found: +1 point in “New”"
    )
    assert re.search(
        r"may be chance; over many more questions it could turn out anything from [\d.]+ points worse to [\d.]+ points"
        r" better \(95 % interval, 100 questions\)\.$",
        found.sentence,
    )


def test_what_stands_out_alone_but_not_among_many() -> None:
    random = np.random.default_rng(0)
    noise = {key: random.random(40).tolist() for key in ("mrr", "ndcg", "token_f1", "rouge_1", "rouge_2")}
    other = {key: random.random(40).tolist() for key in noise}
    found = compare(run(noise | {"hit_rate": hits(20, 20)}), run(other | {"hit_rate": hits(27, 13)}), "Old", "New")[0]
    assert found.p < 0.05 < found.p_corrected
    assert "would stand out alone, but may be chance where 6 measures are compared at once" in found.sentence


def test_fewer_than_ten_questions_are_too_few() -> None:
    found = only(run({"hit_rate": hits(0, 9)}), run({"hit_rate": hits(9, 0)}))
    assert found.p < 0.01
    assert not found.significant
    assert found.sentence == (
        "Too few questions to tell about how often a right passage is found: "
        "+100 points in “New”, but only 9 questions have values in both runs."
    )
    assert "only 1 question has a value" in only(run({"mrr": [0.5]}), run({"mrr": [0.7]})).sentence


def test_no_difference_at_all() -> None:
    found = only(run({"mrr": [0.5] * 20}), run({"mrr": [0.5] * 20}))
    assert (found.difference, found.low, found.high, found.p, found.significant) == (0, 0, 0, 1, False)
    assert found.sentence == (
        "No difference in how high the first right passage stands: “Old” and “New” are equal in each of 20 questions."
    )


def test_rounding_is_no_difference() -> None:
    values = np.random.default_rng(0).random(40)
    found = only(run({"similarity": values.tolist()}), run({"similarity": (values + 2e-7).tolist()}))
    assert (found.difference, found.p) == (0, 1)
    assert found.sentence.startswith("No difference in how near the answer's meaning is to the reference:")


def test_failed_questions_are_left_out_and_counted() -> None:
    a, b = run({"mrr": [0.2] * 30}), run({"mrr": [0.3] * 30})
    a[0], b[1] = replace(a[0], error="no model"), replace(b[1], error="no model", metrics={})
    found = only(a, b)
    assert found.count == 28
    assert found.sentence.endswith("28 questions. 2 questions that failed are left out.")
    assert only(a, run({"mrr": [0.3] * 30})).sentence.endswith("29 questions. 1 question that failed is left out.")
    assert summarise(a)["mrr"].count == 29


def test_no_question_in_common() -> None:
    found = only([result("a", {"mrr": 0.5})], [result("b", {"mrr": 0.7})])
    assert (found.count, found.mean_a, found.mean_b, found.p, found.p_corrected) == (0, 0, 0, 1, 1)
    assert found.sentence == (
        "“Old” and “New” cannot be compared in how high the first right passage stands: "
        "no question has a value in both runs."
    )


def test_a_metric_of_one_run_alone() -> None:
    assert only(run({"mrr": [0.5] * 20}), [result(i, {}) for i in range(20)]).count == 0


@pytest.mark.parametrize(
    "results", [[], [result(1, {})], [result(1, {"mrr": 0.5}, "failed")], [result(1, {"mrr": None})]]
)
def test_nothing_measured(results: list[Result]) -> None:
    assert compare(results, results, "A", "B") == ()
    assert summarise(results) == {}


def test_what_is_no_number_is_no_value() -> None:
    a = run({"mrr": [math.nan, math.inf, *[0.5] * 20], "ndcg": [math.nan] * 22})
    found = only(a, a)
    assert found.count == 20
    assert "nan" not in str(found)
    assert list(summarise(a)) == ["mrr"]


def test_unknown_metrics_are_left_alone() -> None:
    assert compare([result(1, {"new": 1.0})], [result(1, {"new": 2.0})], "A", "B") == ()


def test_one_name_for_both() -> None:
    values = run({"mrr": [0.5] * 20})
    assert "“Default” (run A) and “Default” (run B)" in only(values, values, "Default", "Default ").sentence


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.06, "+6 points"), (0.0125, "+1.2 points"), (0.01, "+1 point"), (-0.01, "−1 point"), (0.0005, "+0.05 points"),
     (0.00001, "0 points"), (1.0, "+100 points")],
)  # fmt: skip
def test_points(value: float, shown: str) -> None:
    assert f": {shown} in “New”" in only(run({"mrr": [0.0] * 9}), run({"mrr": [value] * 9})).sentence


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.key)
def test_every_metric_has_its_sentences(metric: Metric) -> None:
    key = metric.key
    lows, highs = run({key: [0.1] * 30}), run({key: [0.6] * 30})
    up, down = only(lows, highs).sentence, only(highs, lows).sentence
    better, worse = (up, down) if metric.higher_is_better else (down, up)
    assert WORDS[key].better in better
    assert WORDS[key].worse in worse


def test_a_summary() -> None:
    random = np.random.default_rng(7)
    results = made_up(random.random(60), random)
    found = summarise(results)
    assert list(found) == [metric.key for metric in METRICS if metric.key in results[0].metrics]
    for key, one in found.items():
        values = [value for each in results if (value := each.metrics[key]) is not None]
        alone = estimate(values)
        assert (one.mean, one.low, one.high, one.count) == pytest.approx(
            (alone.mean, alone.low, alone.high, len(values))
        )
