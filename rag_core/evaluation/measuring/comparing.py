"""Two runs question by question: what differs, whether that is more than chance, and a sentence that says so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.domain import Difference, Estimate, Metric, Result
from rag_core.evaluation.measuring.metrics import METRICS, WORDS
from rag_core.evaluation.measuring.statistics import Floats, holm, intervals, paired_columns

SIGNIFICANT = 0.05
"""A corrected p below this is called a difference."""

FEWEST = 10
"""With fewer questions than this in common nothing is called a difference."""

_SAME = 1e-6  # a cosine of float32 vectors differs by less for no reason
_FEWEST_CHANGED = 6  # with 5 differences other than 0 the least p is 2 / 2^5, above 0.05


def compare(
    a: Sequence[Result], b: Sequence[Result], name_a: str, name_b: str, seed: int = 0
) -> tuple[Difference, ...]:
    """Each metric that either run has, in the order of METRICS: run B less run A, over the questions of both.

    Questions are paired by id; one that failed in either run is left out, and the sentences count those. Holm's
    correction is over the metrics that could be called different at all: those with 10 or more questions, 6 or more of
    which differ. This depends on the sizes of the differences alone and not on their signs, so that the test keeps its
    level (Tarone 1990). The corrected p of the others is 1.
    """
    pairs, failed = _pairs(a, b)
    keys = {key for result in (*a, *b) if not result.error for key in result.metrics if _value(result, key) is not None}
    tested = _tested([metric for metric in METRICS if metric.key in keys], pairs, seed)
    able = [one for one in tested if one.count >= FEWEST and one.changed >= _FEWEST_CHANGED]
    corrected = dict(zip((one.metric.key for one in able), holm([one.p for one in able]), strict=True))
    names = _names(name_a, name_b)
    return tuple(_difference(one, corrected.get(one.metric.key, 1.0), len(able), names, failed) for one in tested)


def summarise(results: Sequence[Result], seed: int = 0) -> dict[str, Estimate]:
    """Each metric that a run has, in the order of METRICS: its mean over the questions where it has a value."""
    done = [result for result in results if not result.error]
    columns = {metric.key: [_value(result, metric.key) for result in done] for metric in METRICS}
    found: dict[str, Estimate] = {}
    for keys, places in _alike(columns):
        table = np.array([[columns[key][place] for key in keys] for place in places], dtype=np.float64)
        means, low, high = intervals(table, seed)
        for i, key in enumerate(keys):
            found[key] = Estimate(float(means[i]), float(low[i]), float(high[i]), len(places))
    return {key: found[key] for key in columns if key in found}


@dataclass(frozen=True, slots=True)
class _Tested:
    """A metric compared, before the correction. `changed` questions have another value in B than in A."""

    metric: Metric
    mean_a: float = 0.0
    mean_b: float = 0.0
    difference: float = 0.0
    low: float = 0.0
    high: float = 0.0
    p: float = 1.0
    count: int = 0
    changed: int = 0


def _pairs(a: Sequence[Result], b: Sequence[Result]) -> tuple[list[tuple[Result, Result]], int]:
    """The results of the questions that both runs have, and how many of them failed in one."""
    others = {result.question.id: result for result in b}
    common = [(result, others[result.question.id]) for result in a if result.question.id in others]
    pairs = [(one, other) for one, other in common if not (one.error or other.error)]
    return pairs, len(common) - len(pairs)


def _value(result: Result, key: str) -> float | None:
    """A metric of a result; None where it says nothing or is no number."""
    value = result.metrics.get(key)
    return value if value is not None and math.isfinite(value) else None


def _alike(columns: dict[str, list[float | None]]) -> list[tuple[list[str], list[int]]]:
    """Metrics that have values at the same places, with those places: they share their resamples."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for key, values in columns.items():
        places = tuple(place for place, value in enumerate(values) if value is not None)
        groups.setdefault(places, []).append(key)
    return [(keys, list(places)) for places, keys in groups.items() if places]


def _tested(metrics: Sequence[Metric], pairs: Sequence[tuple[Result, Result]], seed: int) -> list[_Tested]:
    """The metrics compared over the pairs where both have a value."""
    both = {
        metric.key: [(_value(one, metric.key), _value(other, metric.key)) for one, other in pairs] for metric in metrics
    }
    complete = {key: [None if None in pair else 1.0 for pair in values] for key, values in both.items()}
    named = {metric.key: metric for metric in metrics}
    found: dict[str, _Tested] = {}
    for keys, places in _alike(complete):
        table = np.array([[both[key][place] for key in keys] for place in places], dtype=np.float64)  # (n, m, 2)
        found |= _columns([named[key] for key in keys], table[:, :, 0], table[:, :, 1], seed)
    return [found.get(metric.key, _Tested(metric)) for metric in metrics]


def _columns(metrics: Sequence[Metric], a: Floats, b: Floats, seed: int) -> dict[str, _Tested]:
    """Compare the columns of two tables, float64 (n, m), by the metrics' keys."""
    differences = np.where(np.abs(b - a) < _SAME, 0.0, b - a)
    test, changed = paired_columns(differences, seed), np.count_nonzero(differences, axis=0)
    means_a, means_b = a.mean(axis=0), b.mean(axis=0)
    return {
        metric.key: _Tested(
            metric,
            mean_a=float(means_a[i]),
            mean_b=float(means_b[i]),
            difference=float(test.difference[i]),
            low=float(test.low[i]),
            high=float(test.high[i]),
            p=float(test.p[i]),
            count=len(a),
            changed=int(changed[i]),
        )
        for i, metric in enumerate(metrics)
    }


def _difference(one: _Tested, corrected: float, tests: int, names: tuple[str, str], failed: int) -> Difference:
    return Difference(
        metric=one.metric,
        mean_a=one.mean_a,
        mean_b=one.mean_b,
        difference=one.difference,
        low=one.low,
        high=one.high,
        p=one.p,
        p_corrected=corrected,
        count=one.count,
        significant=corrected < SIGNIFICANT,
        sentence=_sentence(one, corrected, tests, names, failed),
    )


def _sentence(one: _Tested, corrected: float, tests: int, names: tuple[str, str], failed: int) -> str:
    """What follows from one metric, for people who never heard of a p value."""
    a, b = names
    words, left_out = WORDS[one.metric.key], f" {_counted(failed, 'that failed is', 'that failed are')} left out."
    rest = left_out if failed else ""
    if not one.count:
        return f"{a} and {b} cannot be compared in {words.topic}: no question has a value in both runs.{rest}"
    if one.count < FEWEST:
        only = f"only {_counted(one.count, 'has a value', 'have values')} in both runs"
        return f"Too few questions to tell about {words.topic}: {_change(one)} in {b}, but {only}.{rest}"
    if not one.changed:
        return f"No difference in {words.topic}: {a} and {b} are equal in each of {one.count:,} questions.{rest}"
    if corrected < SIGNIFICANT:
        better = (one.difference > 0) == one.metric.higher_is_better
        return f"{b} {words.better if better else words.worse} than {a}: {_measured(one)}.{rest}"
    return f"No difference beyond chance in {words.topic}: {_unclear(one, tests, b)}{rest}"


def _measured(one: _Tested) -> str:
    """The change with its interval: "+6 points, 95 % interval +2 to +10, 120 questions"."""
    interval = f"{_signed(one.low, one.metric)} to {_signed(one.high, one.metric)}"
    return f"{_change(one)}, 95 % interval {interval}, {one.count:,} questions"


def _unclear(one: _Tested, tests: int, b: str) -> str:
    """Why a change may be chance, and how large the difference may nevertheless be."""
    why = "may be chance"
    if one.p < SIGNIFICANT and tests > 1:
        why = f"would stand out alone, but may be chance where {tests} measures are compared at once"
    could = f"from {_side(one.low, one.metric)} to {_side(one.high, one.metric)}"
    return (
        f"{_change(one)} in {b} {why}; over many more questions it could turn out anything {could} "
        f"(95 % interval, {one.count:,} questions)."
    )


def _change(one: _Tested) -> str:
    """The mean difference with its sign and unit."""
    value = _signed(one.difference, one.metric)
    if one.metric.unit == "share":
        return f"{value} point" if value in ("+1", "−1") else f"{value} points"
    return f"{value} {one.metric.unit} a question"


def _side(value: float, metric: Metric) -> str:
    """One end of an interval in words: "2 points worse"."""
    amount = _signed(value, metric)
    if amount == "0":
        return "no different"
    better = (value > 0) == metric.higher_is_better
    unit, adjectives = {
        "share": (" point" if amount[1:] == "1" else " points", ("better", "worse")),
        "ms": (" ms", ("faster", "slower")),
        "tokens": (" tokens", ("fewer", "more")),
    }[metric.unit]
    return f"{amount[1:]}{unit} {adjectives[0] if better else adjectives[1]}"


def _signed(value: float, metric: Metric) -> str:
    """A difference with its sign, shares in points (hundredths); "0" where it rounds to that."""
    scaled = abs(value * 100 if metric.unit == "share" else value)
    decimals = 2 if scaled < 0.095 else 1 if scaled < 99.95 else 0
    text = f"{scaled:,.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text if text == "0" else f"{'+' if value > 0 else '−'}{text}"


def _counted(count: int, one: str, more: str) -> str:
    return f"{count:,} question {one}" if count == 1 else f"{count:,} questions {more}"


def _names(a: str, b: str) -> tuple[str, str]:
    """How two configurations are called, told apart where they have one name."""
    a, b = a.strip(), b.strip()
    return (f"“{a}”", f"“{b}”") if a != b else (f"“{a}” (run A)", f"“{b}” (run B)")
