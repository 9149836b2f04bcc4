"""What the charts are made of: axes, colours, shapes, legends, tables.

They stand on any background: it is transparent, and what is not data has a middle tone. The colours are those of Okabe
and Ito (jfly.uni-koeln.de/color, 2008), which the colour-blind can tell apart; shape and order say the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt

Rows = list[dict[str, Any]]

# The three that differ most on light and dark come first; yellow and black cannot be seen on one of the two.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES = ((1, 0), (7, 5), (2, 4), (10, 4, 2, 4), (4, 2), (1, 2))
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
MIDDLE = "#7b7f85"
WIDTH, HEIGHT = 560, 260
LABELS = {
    "metric": "Metric", "run": "Run", "k": "k", "stage": "Stage", "at": "Number", "begun": "Begun", "way": "Now",
    "mean": "Mean", "low": "From", "high": "To", "recall": "Recall", "precision": "Precision", "hits": "Hit rate",
    "confidence": "Confidence", "right": "Right", "before": "Before", "after": "After", "questions": "Questions",
    "answers": "Answers", "example": "For example", "ms": "Mean (ms)", "slow": "95th percentile (ms)",
    "since": "From", "outcome": "Outcome", "asked": "Asked", "document": "Document", "question": "Question",
    "passages": "Passages", "percentile": "Percentile", "took": "Milliseconds", "sure": "Confidence",
    "thumb": "Thumb", "part": "Part", "tokens": "Tokens", "job": "Work", "ended": "Ended", "jobs": "Jobs",
    "cluster": "Cluster", "chunks": "Chunks",
}  # fmt: skip
SHARES = {"mean", "low", "high", "recall", "precision", "hits", "confidence", "right", "before", "after"}


def chart_of(rows: Rows) -> alt.Chart:
    """A chart of rows, not drawn yet."""
    import altair as alt

    made: alt.Chart = alt.Chart(alt.InlineData(values=rows))
    return made


def diagonal(across: str, up: str) -> alt.Chart:
    """The line on which both axes agree. Layers share their axes, titles and all."""
    ends = chart_of([{"at": 0}, {"at": 1}]).mark_line(color=MIDDLE, strokeDash=[4, 4])
    line: alt.Chart = ends.encode(x=share_x("at", across), y=share_y("at", up))
    return line


def share_x(key: str, title: str | None = None) -> alt.X:
    """A share on the x axis, from 0 to 100 %."""
    import altair as alt

    return alt.X(f"{key}:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=_shares())


def share_y(key: str, title: str | None = None) -> alt.Y:
    """A share on the y axis, from 0 to 100 %."""
    import altair as alt

    return alt.Y(f"{key}:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=_shares())


def _shares() -> alt.Axis:
    import altair as alt

    return alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])


def colour(names: Sequence[str], key: str = "run") -> alt.Color:
    """A colour for each of at most six names."""
    import altair as alt

    scale = alt.Scale(domain=list(names), range=list(COLOURS[: len(names)]))
    return alt.Color(f"{key}:N", title=None, scale=scale, legend=legend(len(names)))


def shape(names: Sequence[str]) -> alt.Shape:
    """A shape for each of at most six runs."""
    import altair as alt

    scale = alt.Scale(domain=list(names), range=list(SHAPES[: len(names)]))
    return alt.Shape("run:N", title=None, scale=scale, legend=legend(len(names)))


def coloured(key: str, colours: Mapping[str, str]) -> alt.Color:
    """Colours that mean something by themselves, by name, with a legend in that order."""
    import altair as alt

    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color(f"{key}:N", title=None, scale=scale, legend=line_legend())


def line_legend() -> alt.Legend:
    """A list of a few short names on one line."""
    import altair as alt

    return alt.Legend(orient="top", direction="horizontal", symbolOpacity=1, symbolStrokeWidth=0)


def dash(names: Sequence[str]) -> alt.StrokeDash:
    """A dash for each of at most six runs, so that a line below another can be seen."""
    import altair as alt

    scale = alt.Scale(domain=list(names), range=[list(dash) for dash in DASHES[: len(names)]])
    return alt.StrokeDash("run:N", title=None, scale=scale, legend=None)


def legend(names: int) -> alt.Legend | None:
    """A list of one column, which fits on a telephone too; none for one name. Equal legends become one."""
    import altair as alt

    if names < 2:
        return None
    return alt.Legend(
        orient="top", direction="vertical", columns=1, labelLimit=420, symbolOpacity=1, symbolStrokeWidth=0
    )


def tooltip(rows: Rows) -> list[alt.Tooltip]:
    """What is said of the mark under the pointer: every value of its row."""
    import altair as alt

    return [
        alt.Tooltip(f"{key}:{'Q' if isinstance(value, int | float) else 'N'}", title=LABELS[key], **_form(key, value))
        for key, value in rows[0].items()
        if key in LABELS
    ]


def _form(key: str, value: object) -> dict[str, Any]:
    if key in SHARES:
        return {"format": ".1%"}
    return {"format": ",.1f"} if isinstance(value, float) else {}


def table(rows: Rows, *keys: str) -> tuple[tuple[str, ...], tuple[tuple[object, ...], ...]]:
    """The columns and rows of a drawing's table; shares are per cent."""
    columns = tuple(f"{LABELS[key]} (%)" if key in SHARES else LABELS[key] for key in keys)
    return columns, tuple(tuple(_value(key, row[key]) for key in keys) for row in rows)


def _value(key: str, value: Any) -> object:
    return percent(value) if key in SHARES else round(value, 1) if isinstance(value, float) else value


def percent(share: float) -> float:
    """A share in per cent, to a tenth."""
    return round(100 * share, 1)


def specification(chart: alt.LayerChart | alt.FacetChart | alt.Chart, height: Any = HEIGHT) -> Mapping[str, object]:
    """The specification, its data within."""
    whole = chart.properties(width=WIDTH, height=height, background="transparent").configure_view(stroke=None)
    whole = whole.configure_axis(
        labelColor=MIDDLE, titleColor=MIDDLE, domainColor=MIDDLE, tickColor=MIDDLE, gridColor=MIDDLE, gridOpacity=0.2,
        titleFontWeight="normal",
    ).configure_legend(labelColor=MIDDLE, titleColor=MIDDLE)  # fmt: skip
    spec: dict[str, object] = whole.to_dict()
    return spec
