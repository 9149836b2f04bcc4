"""Shares, milliseconds and tokens as a person reads them."""

from __future__ import annotations

from pages.parts.language import _, figure, ngettext
from rag_core.domain import Difference, Estimate, Metric


def value(metric: Metric, number: float) -> str:
    """`83 %`, `12 ms`, `1,340`."""
    if metric.unit == "share":
        return f"{100 * number:.0f} %"
    form = ",.1f" if metric.unit == "ms" and number < 10 else ",.0f"
    return f"{figure(number, form)}{_unit(metric)}"


def interval(metric: Metric, found: Estimate) -> str:
    """`71 to 95`."""
    low, high = (value(metric, number).removesuffix(" %").removesuffix(" ms") for number in (found.low, found.high))
    return _("{first} to {last}").format(first=low, last=high)


def change(found: Difference) -> str:
    """`+6 points`, in percent points for shares."""
    if found.difference == found.low == found.high == 0:
        return _("equal")
    if found.metric.unit == "share":
        points = round(100 * found.difference)
        return ngettext("{points} point", "{points} points", abs(points)).format(points=signed(points))
    return f"{signed(round(found.difference, 1 if abs(found.difference) < 10 else None))}{_unit(found.metric)}"


def change_interval(found: Difference) -> str:
    """`+2 to +10`."""
    if found.low == found.high == 0:
        return ""
    scale = 100 if found.metric.unit == "share" else 1
    ends = (signed(round(scale * end)) for end in (found.low, found.high))
    return _("{first} to {last}").format(**dict(zip(("first", "last"), ends, strict=True)))


def signed(number: float) -> str:
    """`+6`, `−6`, `0`."""
    return f"{'+' if number > 0 else '−' if number < 0 else ''}{figure(abs(number), ',g')}"


def better(found: Difference) -> bool:
    """Whether run B does better in this metric, be it by chance."""
    return (found.difference > 0) == found.metric.higher_is_better


def _unit(metric: Metric) -> str:
    return " ms" if metric.unit == "ms" else ""
