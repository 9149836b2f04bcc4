"""Shares, milliseconds and tokens as a person reads them."""

from __future__ import annotations

from rag_core.domain import Difference, Estimate, Metric


def value(metric: Metric, number: float) -> str:
    """`83 %`, `12 ms`, `1,340`."""
    if metric.unit == "share":
        return f"{100 * number:.0f} %"
    return f"{number:,.1f} ms" if metric.unit == "ms" and number < 10 else f"{number:,.0f}{_unit(metric)}"


def interval(metric: Metric, found: Estimate) -> str:
    """`71 to 95`."""
    low, high = (value(metric, number).removesuffix(" %").removesuffix(" ms") for number in (found.low, found.high))
    return f"{low} to {high}"


def change(found: Difference) -> str:
    """`+6 points`, in percent points for shares."""
    if found.difference == found.low == found.high == 0:
        return "equal"
    if found.metric.unit == "share":
        points = round(100 * found.difference)
        return f"{signed(points)} {'point' if abs(points) == 1 else 'points'}"
    return f"{signed(round(found.difference, 1 if abs(found.difference) < 10 else None))}{_unit(found.metric)}"


def change_interval(found: Difference) -> str:
    """`+2 to +10`."""
    if found.low == found.high == 0:
        return ""
    scale = 100 if found.metric.unit == "share" else 1
    return f"{signed(round(scale * found.low))} to {signed(round(scale * found.high))}"


def signed(number: float) -> str:
    """`+6`, `−6`, `0`."""
    return f"{'+' if number > 0 else '−' if number < 0 else ''}{abs(number):,g}"


def better(found: Difference) -> bool:
    """Whether run B does better in this metric, be it by chance."""
    return (found.difference > 0) == found.metric.higher_is_better


def _unit(metric: Metric) -> str:
    return " ms" if metric.unit == "ms" else ""
