"""Charts of what was asked, as Vega-Lite specifications, each with its numbers as a table.

Altair takes a second to load, so it is imported where a chart is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

from rag_core.chart_parts import (
    COLOURS,
    MIDDLE,
    SHAPES,
    Rows,
    chart_of,
    coloured,
    line_legend,
    specification,
    tooltip,
)
from rag_core.domain import Drawing, Insights, JobCount, QuestionGroup, TimeStep, TokenUse
from rag_core.evaluation.reporting.figures import STAGES

if TYPE_CHECKING:
    import altair as alt

Spec = Mapping[str, object]

BLUE, ORANGE, PINK, SKY = COLOURS[0], COLOURS[1], COLOURS[3], COLOURS[5]
OUTCOMES = {"answered": ("Answered", BLUE), "perhaps": ("Perhaps", SKY), "not_found": ("Not found", ORANGE),
            "stopped": ("Stopped", MIDDLE), "failed": ("Failed", PINK)}  # fmt: skip
TICKS_MS = [power * step for power in (1, 10, 100, 1_000, 10_000, 100_000) for step in (1, 3)]
PERCENTILES = {"p50": "50th", "p90": "90th", "p95": "95th", "p99": "99th"}
MOMENTS = {"first_text": "Until the first words", "total": "Until the whole answer"}
WORK = {
    "add": "Adding documents", "evaluate": "Evaluation runs", "draft": "Drafting questions", "verify": "Verifying",
    "repair": "Repairing", "backup": "Backups", "reembed": "Re-embedding", "discard": "Discarding vectors",
    "rechunk": "Re-chunking", "download": "Downloads of models", "visit": "Visits of sources",
    "recognise": "Text recognition", "cluster": "Clustering",
}  # fmt: skip
ENDS = {"done": ("Done", BLUE), "failed": ("Failed", ORANGE), "cancelled": ("Cancelled", MIDDLE),
        "unfinished": ("Unfinished", PINK)}  # fmt: skip
THUMBS = {"Up": BLUE, "Down": ORANGE}
TOKENS = {"Read": BLUE, "Written": ORANGE}
DRAWN = 15


def drawings(insights: Insights, groups: Sequence[QuestionGroup]) -> tuple[Drawing, ...]:
    """Every chart that has data."""
    drawn = [
        _asked(insights),
        _not_found(insights, groups),
        _documents(insights),
        _times(insights),
        _trust(insights),
        _tokens(insights),
        _jobs(insights),
    ]
    return tuple(drawing for drawing in drawn if drawing is not None)


def _asked(insights: Insights) -> Drawing | None:
    """Questions over time by what came of them."""
    if not insights.total.asked:
        return None
    rows: Rows = [
        {"since": _when(part.since, insights.step), "outcome": label, "asked": getattr(part, key), "place": place}
        for part in insights.asked
        for place, (key, (label, _)) in enumerate(OUTCOMES.items())
    ]
    there = [key for key in OUTCOMES if getattr(insights.total, key)]
    return Drawing(
        "asked", "Questions over time",
        f"Questions asked each {insights.step}, by what came of them. Greetings and evaluation runs are not counted.",
        _over_time(rows, "asked", "Questions", coloured("outcome", _only(OUTCOMES, there))),
        ("From", *(label for label, _ in OUTCOMES.values()), "Asked"),
        tuple((part.since, *(getattr(part, key) for key in OUTCOMES), part.asked) for part in insights.asked),
    )  # fmt: skip


def _not_found(insights: Insights, groups: Sequence[QuestionGroup]) -> Drawing | None:
    """Questions without a sure answer, by meaning."""
    if not groups:
        return None
    rows: Rows = [{"question": group.name, "asked": group.times} for group in groups[:DRAWN]]
    left = insights.not_found_count - len(insights.not_found)
    return Drawing(
        "not_found", "What was not found",
        "Questions without an answer, or with a perhaps. Those that mean about the same are one bar, named by the most"
        " central of them."
        + (f" The {left:,} oldest are left out." if left else ""),
        _bars(rows, "question", "asked", "Times asked"),
        ("Group", "Question", "Times asked", "Last asked"),
        tuple(
            (group.name, question.question, question.times, question.last.astimezone().date())
            for group in groups
            for question in group.questions
        ),
    )  # fmt: skip


def _documents(insights: Insights) -> Drawing | None:
    """Which documents answers stand on."""
    if not insights.used:
        return None
    rows: Rows = [
        {"document": title, "answers": use.answers, "passages": use.passages}
        for title, use in zip(_distinct([use.title for use in insights.used[:DRAWN]]), insights.used, strict=False)
    ]
    return Drawing(
        "documents", "Documents that answers stand on",
        "How many answers cite each document. One that was removed since is still counted.",
        _bars(rows, "document", "answers", "Answers"),
        ("Document", "Answers", "Passages", "Last used", "In the library"),
        tuple(
            (use.title, use.answers, use.passages, use.last.astimezone().date(), "yes" if use.there else "no")
            for use in insights.used
        ),
    )  # fmt: skip


def _times(insights: Insights) -> Drawing | None:
    """How long each stage takes."""
    by_stage = {time.stage: time for time in insights.times}
    stages = [(by_stage[key], label) for key, label in {**STAGES, **MOMENTS}.items() if key in by_stage]
    if not stages:
        return None
    import altair as alt

    rows: Rows = [
        {"stage": label, "percentile": name, "took": max(getattr(time, key), 0.01)}
        for time, label in stages
        for key, name in PERCENTILES.items()
    ]
    labels = alt.Y("stage:N", sort=None, title=None, axis=alt.Axis(labelLimit=170, ticks=False, domain=False))
    across = alt.X(
        "took:Q", title="Milliseconds", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s", values=TICKS_MS)
    )
    names = list(PERCENTILES.values())
    scale = alt.Scale(domain=names, range=list(COLOURS[: len(names)]))
    shapes = alt.Scale(domain=names, range=list(SHAPES[: len(names)]))
    base = chart_of(rows).encode(y=labels)
    line = base.mark_rule(strokeWidth=1.5, color=MIDDLE).encode(
        x=alt.X("min(took):Q", title="Milliseconds"), x2="max(took):Q"
    )
    mark = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=across, color=alt.Color("percentile:N", title=None, scale=scale, legend=line_legend()),
        shape=alt.Shape("percentile:N", title=None, scale=shapes, legend=line_legend()), tooltip=tooltip(rows),
    )  # fmt: skip
    return Drawing(
        "times", "How long answers take",
        "The 95th percentile is the time within which 95 of 100 answers had that stage behind them. The axis goes in "
        "powers of ten.",
        specification(alt.layer(line, mark), height=alt.Step(32)),
        ("Stage", "Answers", *(f"{name} (ms)" for name in names)),
        tuple(
            (label, time.count, *(round(getattr(time, key), 1) for key in PERCENTILES)) for time, label in stages
        ),
    )  # fmt: skip


def _trust(insights: Insights) -> Drawing | None:
    """Whether thumbs agree with confidence."""
    if not any(part.up or part.down for part in insights.trust):
        return None
    rows: Rows = [
        {"sure": f"{100 * part.low:.0f} to {100 * part.high:.0f} %", "thumb": thumb, "answers": number, "place": place}
        for part in insights.trust
        for place, (thumb, number) in enumerate((("Up", part.up), ("Down", part.down)))
    ]
    return Drawing(
        "trust", "Confidence against thumbs",
        "Answers that were given a thumb, by how sure they were. Where confidence can be trusted, thumbs down grow "
        "fewer to the right.",
        _over_time(rows, "answers", "Answers", coloured("thumb", THUMBS), "sure", "Confidence"),
        ("Confidence from (%)", "to (%)", "Thumbs up", "Thumbs down", "Without a thumb", "Up of those rated (%)"),
        tuple(
            (round(100 * part.low), round(100 * part.high), part.up, part.down, part.unrated,
             round(100 * part.up / (part.up + part.down), 1) if part.up + part.down else None)
            for part in insights.trust
        ),
    )  # fmt: skip


def _tokens(insights: Insights) -> Drawing | None:
    """What language models read and wrote."""
    if not insights.tokens:
        return None
    rows: Rows = [
        {"since": _when(part.since, insights.step), "part": label, "tokens": number, "place": place}
        for part in insights.asked
        for place, (label, number) in enumerate(_read_and_written(insights.tokens, part.since).items())
    ]
    return Drawing(
        "tokens", "Tokens of language models",
        f"Tokens read (the question, the passages, what was said before) and written each {insights.step}.",
        _over_time(rows, "tokens", "Tokens", coloured("part", TOKENS)),
        ("From", "Model", "Answers", "Read", "Written"),
        tuple((part.since, part.model, part.answers, part.prompt, part.answer) for part in insights.tokens),
    )  # fmt: skip


def _jobs(insights: Insights) -> Drawing | None:
    """Long work by how it ended."""
    if not insights.jobs:
        return None
    rows: Rows = [
        {"job": _work(job), "ended": label, "jobs": getattr(job, key), "place": place}
        for job in insights.jobs
        for place, (key, (label, _)) in enumerate(ENDS.items())
        if getattr(job, key)
    ]
    there = [key for key in ENDS if any(getattr(job, key) for job in insights.jobs)]
    return Drawing(
        "jobs", "Jobs and failures",
        "Long work by how it ended. Jobs that ended more than 30 days ago are forgotten.",
        _bars(rows, "job", "jobs", "Jobs", coloured("ended", _only(ENDS, there))),
        ("Work", *(label for label, _ in ENDS.values()), "50th (s)", "95th (s)"),
        tuple(
            (_work(job), *(getattr(job, key) for key in ENDS), _rounded(job.p50_s), _rounded(job.p95_s))
            for job in insights.jobs
        ),
    )  # fmt: skip


def _over_time(
    rows: Rows, key: str, title: str, colour: alt.Color, across: str = "since", across_title: str | None = None
) -> Spec:
    """Stacked bars side by side, in the order of the rows."""
    import altair as alt

    axis = alt.Axis(labelAngle=0, labelOverlap="greedy", labelSeparation=8, ticks=False)
    bars = chart_of(rows).mark_bar().encode(
        x=alt.X(f"{across}:O", sort=None, title=across_title, axis=axis),
        y=alt.Y(f"{key}:Q", title=title, stack="zero", axis=_counts(rows, across, key)),
        color=colour, order=alt.Order("place:Q"), tooltip=tooltip(rows),
    )  # fmt: skip
    return specification(bars)


def _bars(rows: Rows, by: str, key: str, title: str, colour: alt.Color | None = None) -> Spec:
    """Lying bars with a name each, the first on top."""
    import altair as alt

    names = alt.Axis(labelLimit=300, ticks=False, domain=False)
    bars = chart_of(rows).mark_bar(height=16, color=BLUE).encode(
        x=alt.X(f"{key}:Q", title=title, stack="zero", axis=_counts(rows, by, key)),
        y=alt.Y(f"{by}:N", sort=None, title=None, axis=names), tooltip=tooltip(rows),
    )  # fmt: skip
    if colour is not None:
        bars = bars.encode(color=colour, order=alt.Order("place:Q"))
    return specification(bars, height=alt.Step(28))


def _counts(rows: Rows, by: str, key: str) -> alt.Axis:
    """An axis of whole numbers, for bars that are sums of `key` over rows with the same `by`."""
    import altair as alt

    sums = Counter[str]()
    for row in rows:
        sums[row[by]] += row[key]
    most = max(sums.values())
    return alt.Axis(tickMinStep=1, format="~s" if most >= 10_000 else ",d", tickCount=max(1, min(most, 6)))


def _only(named: Mapping[str, tuple[str, str]], keys: Sequence[str]) -> dict[str, str]:
    """Colours by label, of some keys."""
    return dict(named[key] for key in keys)


def _read_and_written(uses: Sequence[TokenUse], since: date) -> dict[str, int]:
    here = [use for use in uses if use.since == since]
    return {"Read": sum(use.prompt for use in here), "Written": sum(use.answer for use in here)}


def _when(since: date, step: TimeStep) -> str:
    """`20 Nov`, `Nov 2026`."""
    return f"{since:%b %Y}" if step == "month" else f"{since.day} {since:%b}"


def _distinct(titles: Sequence[str]) -> list[str]:
    """Titles of which no two are the same."""
    return [
        title if title not in titles[:place] else f"{title} ({titles[: place + 1].count(title)})"
        for place, title in enumerate(titles)
    ]


def _work(job: JobCount) -> str:
    return WORK.get(job.kind, job.kind)


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)
