"""Charts of runs, as Vega-Lite specifications made by Altair, each with its numbers as a table.

Altair takes a second to load, so this module is imported where charts are drawn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import altair as alt

from rag_core.chart_parts import (
    COLOURS,
    MIDDLE,
    Rows,
    chart_of,
    colour,
    dash,
    diagonal,
    legend,
    percent,
    shape,
    share_x,
    share_y,
    specification,
    table,
    tooltip,
)
from rag_core.domain import Drawing, MetricKind, Run
from rag_core.evaluation.measuring.calibration import calibration
from rag_core.evaluation.measuring.metrics import METRIC, METRICS
from rag_core.evaluation.reporting import figures
from rag_core.evaluation.reporting.figures import Tested

Shown = dict[str, Tested]
"""Runs with their results by their names."""

GROUPS = 20
LISTED = 100
TITLES = {"retrieval": "How well passages are found", "answer": "How good the answers are"}
WAYS = {"better": COLOURS[0], "worse": COLOURS[1], "the same": MIDDLE}


def drawings(runs: Sequence[Tested], history: Sequence[Run]) -> tuple[Drawing, ...]:
    """Every chart that has data: the first six of `runs` side by side, and `history`, all runs on their question set.

    Two runs are compared question by question too.
    """
    tried = list(runs)[: len(COLOURS)]
    shown = dict(zip(figures.names([run for run, _ in tried]), tried, strict=True))
    drawn = [
        _metrics(shown, "retrieval"),
        _metrics(shown, "answer"),
        _over_k(shown),
        _questions(shown),
        _reliability(shown),
        _latency(shown),
        _history(history),
    ]
    return tuple(drawing for drawing in drawn if drawing is not None)


def _metrics(shown: Shown, kind: MetricKind) -> Drawing | None:
    """Means with their intervals, a line for each metric and run."""
    rows: Rows = [
        {"metric": metric.label, "run": name, "mean": found.mean, "low": found.low, "high": found.high,
         "questions": found.count}
        for metric in METRICS
        if metric.kind == kind and metric.unit == "share"
        for name, (run, _) in shown.items()
        if (found := run.metrics.get(metric.key)) is not None
    ]  # fmt: skip
    if not rows:
        return None
    runs = list(shown)
    base = chart_of(rows).encode(
        y=alt.Y("metric:N", sort=None, title=None, axis=alt.Axis(labelLimit=230, ticks=False, domain=False)),
        yOffset=alt.YOffset("run:N", sort=runs), color=colour(runs), tooltip=tooltip(rows),
    )  # fmt: skip
    interval = base.mark_rule(strokeWidth=2).encode(x=share_x("low"), x2="high:Q")
    mean = base.mark_point(filled=True, size=60, opacity=1).encode(x=share_x("mean"), shape=shape(runs))
    return Drawing(
        f"metrics_{kind}", TITLES[kind],
        "The mark is the mean over the questions, the line its 95 % interval; further right is better.",
        specification(alt.layer(interval, mean), height=alt.Step(14 if len(runs) > 1 else 26)),
        *table(rows, "metric", "run", "mean", "low", "high", "questions"),
    )  # fmt: skip


def _over_k(shown: Shown) -> Drawing | None:
    """How much is found by the first passages alone."""
    rows: Rows = [{"run": name, **at} for name, (_, results) in shown.items() for at in figures.over_k(results)]
    runs, last = list(shown), max((row["k"] for row in rows), default=0)
    if last < 2:
        return None
    ticks = alt.Axis(tickMinStep=1, format="d", tickCount=min(last, 10), grid=False)
    base = chart_of(rows).encode(
        x=alt.X("k:Q", title="First passages looked at (k)", axis=ticks, scale=alt.Scale(domain=[1, last])),
        y=share_y("recall", "Places found"), color=colour(runs), tooltip=tooltip(rows),
    )  # fmt: skip
    line = base.mark_line(strokeWidth=2).encode(strokeDash=dash(runs))
    # Where runs agree the later mark is the smaller one, or the first would not be seen.
    size = alt.Size("run:N", scale=alt.Scale(domain=runs, range=[90, 30]), legend=None)
    mark = base.mark_point(filled=True, opacity=1).encode(shape=shape(runs), size=size)
    return Drawing(
        "over_k", "How far down the passages stand",
        "The share of the places that hold an answer which the first k passages cover; a curve that is still rising at "
        "its end says that more passages would help.",
        specification(alt.layer(line, mark)),
        *table(rows, "run", "k", "recall", "hits", "precision"),
    )  # fmt: skip


def _reliability(shown: Shown) -> Drawing | None:
    """How often answers are right for how sure they are."""
    measured = {name: calibration(results) for name, (_, results) in shown.items()}
    rows: Rows = [
        {"run": f"{name} (error {100 * found.error:.0f} points)", "confidence": part.confidence,
         "right": part.accuracy, "answers": part.count}
        for name, found in measured.items()
        for part in found.bins
        if part.count
    ]  # fmt: skip
    if not rows:
        return None
    runs = list(dict.fromkeys(row["run"] for row in rows))
    across, up = "Confidence", "Right"
    base = chart_of(rows).encode(x=share_x("confidence", across), y=share_y("right", up), color=colour(runs))
    line = base.mark_line(strokeWidth=1.5, opacity=0.6)
    size = alt.Size("answers:Q", scale=alt.Scale(range=[40, 400], domainMin=0), legend=None)
    mark = base.mark_point(filled=True, opacity=0.9).encode(shape=shape(runs), size=size, tooltip=tooltip(rows))
    return Drawing(
        "reliability", "How far confidence can be trusted",
        "Marks on the dashed line are right as often as they are sure; below it answers are too sure. Greater marks "
        "stand for more answers; the error is the expected calibration error.",
        specification(alt.layer(diagonal(across, up), line, mark)),
        *table(rows, "run", "confidence", "right", "answers"),
    )  # fmt: skip


def _latency(shown: Shown) -> Drawing | None:
    """Where the time goes."""
    rows: Rows = [
        {"run": name, "stage": figures.STAGES[stage], "ms": mean, "slow": slow, "place": place}
        for name, (_, results) in shown.items()
        for place, (stage, (mean, slow)) in enumerate(figures.latency(results).items())
    ]
    if not rows:
        return None
    stages = [label for label in figures.STAGES.values() if any(row["stage"] == label for row in rows)]
    bars = chart_of(rows).mark_bar(height=18, stroke=MIDDLE, strokeWidth=0.5).encode(
        x=alt.X("ms:Q", title="Milliseconds a question, mean", stack="zero", axis=alt.Axis(tickCount=6)),
        y=alt.Y("run:N", sort=list(shown), title=None, axis=alt.Axis(labelLimit=170, ticks=False, domain=False)),
        color=colour(stages, "stage"), order=alt.Order("place:Q"), tooltip=tooltip(rows),
    )  # fmt: skip
    return Drawing(
        "latency", "Where the time goes",
        "The mean time of a question by stage, in the order of the stages.",
        specification(bars, height=alt.Step(34)),
        *table(rows, "run", "stage", "ms", "slow"),
    )  # fmt: skip


def _questions(shown: Shown) -> Drawing | None:
    """Which questions the second of two runs does better and worse."""
    if len(shown) != 2:
        return None
    (name_a, (run_a, a)), (name_b, (run_b, b)) = shown.items()
    keys = ("token_f1", "similarity", "correct") if run_a.answers and run_b.answers else ()
    measured = ((METRIC[key].label, figures.shifts(a, b, key)) for key in (*keys, "ndcg", "hit_rate"))
    label, shifts = next((found for found in measured if found[1]), ("", []))
    if not shifts:
        return None
    rows, across, shapes = _places(shifts), f"{label}: {name_a}", ["triangle-up", "triangle-down", "circle"]
    marks = chart_of(rows).mark_point(filled=True, opacity=0.85).encode(
        x=share_x("before", across), y=share_y("after", name_b), tooltip=tooltip(rows),
        color=alt.Color("way:N", title=None, legend=legend(3),
                        scale=alt.Scale(domain=list(WAYS), range=list(WAYS.values()))),
        shape=alt.Shape("way:N", title=None, legend=legend(3), scale=alt.Scale(domain=list(WAYS), range=shapes)),
        size=alt.Size("questions:Q", scale=alt.Scale(range=[50, 700], domainMin=0), legend=None),
    )  # fmt: skip
    changed = sorted((item for item in shifts if item[1] != item[2]), key=lambda item: -abs(item[2] - item[1]))
    return Drawing(
        "questions", "Questions that got better and worse",
        "Above the dashed line stand questions that the second run does better; greater marks stand for more questions "
        f"with the same values. The table lists those that changed most, at most {LISTED}.",
        specification(alt.layer(diagonal(across, name_b), marks)),
        ("Question", f"{name_a} (%)", f"{name_b} (%)", "Change (points)"),
        tuple((text, *map(percent, (before, after, after - before))) for text, before, after in changed[:LISTED]),
    )  # fmt: skip


def _places(shifts: Sequence[tuple[str, float, float]]) -> Rows:
    """One mark for all questions with the same values, to a hundredth."""
    places: dict[tuple[float, float], list[str]] = defaultdict(list)
    for question, before, after in shifts:
        places[round(before, 2), round(after, 2)].append(question)
    return [
        {"before": before, "after": after, "questions": len(here), "example": here[0][:120],
         "way": "better" if after > before else "worse" if after < before else "the same"}
        for (before, after), here in places.items()
    ]  # fmt: skip


def _history(history: Sequence[Run]) -> Drawing | None:
    """One metric over the runs of a question set, those begun together above each other."""
    for key in ("correct", "context_recall"):
        together = list(figures.groups([run for run in history if key in run.metrics], GROUPS))
        if len(together) > 1:
            return _line_of(key, together)
    return None


def _line_of(key: str, together: Sequence[Sequence[Run]]) -> Drawing:
    rows: Rows = [
        {"at": f"{number}", "begun": figures.moment(runs[0].created_at), "run": run.configuration.name,
         "mean": run.metrics[key].mean, "low": run.metrics[key].low, "high": run.metrics[key].high}
        for number, runs in enumerate(together, 1)
        for run in runs
    ]  # fmt: skip
    newest = list(dict.fromkeys(row["run"] for row in reversed(rows)))[: len(COLOURS)]
    rows = [row for row in rows if row["run"] in newest]
    latest, up = list(dict.fromkeys(row["run"] for row in rows)), METRIC[key].label
    base = chart_of(rows).encode(
        x=alt.X("at:O", sort=None, title="Runs, oldest first", axis=alt.Axis(labelAngle=0)), color=colour(latest),
        xOffset=alt.XOffset("run:N", sort=latest), tooltip=tooltip(rows), y=share_y("mean", up),
    )  # fmt: skip
    line = base.mark_line(strokeWidth=1.5, opacity=0.6)
    interval = base.mark_rule(strokeWidth=2).encode(y=share_y("low", up), y2="high:Q")
    mean = base.mark_point(filled=True, size=60, opacity=1).encode(shape=shape(latest))
    return Drawing(
        "history", f"{METRIC[key].label} over time",
        f"{METRIC[key].help} Each mark is a run on this question set with its 95 % interval.",
        specification(alt.layer(line, interval, mean)),
        *table(rows, "at", "begun", "run", "mean", "low", "high"),
    )  # fmt: skip
