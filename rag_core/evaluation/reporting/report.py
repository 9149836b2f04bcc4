"""An evaluation as one HTML file that opens by itself: no script, nothing loaded, light and dark.

Charts are SVG made by vl-convert. Everything that comes from documents, questions and settings is escaped, and a
Content-Security-Policy lets nothing but the file's own style act.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path

from rag_core.chart_parts import MIDDLE
from rag_core.domain import Difference, Drawing, Estimate, Metric, Result, Run
from rag_core.evaluation.measuring.metrics import METRIC
from rag_core.evaluation.reporting.figures import names
from rag_core.evaluation.reporting.report_questions import questions

Tested = tuple[Run, Sequence[Result]]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = Path(__file__).with_name("report.css")
_SIZES = {name: {"labelFontSize": 12, "titleFontSize": 12} for name in ("axis", "legend", "header")}
_SVG_ID = re.compile(r'(\bid="|url\(#|href="#)')


def as_html(runs: Sequence[Tested], differences: Sequence[Difference], drawings: Sequence[Drawing]) -> bytes:
    """The report of runs as UTF-8: summary, differences, charts with their tables, settings, and each question.

    `differences` compares the first two runs. The file stays below some 10 MB: passages are shortened, and 500
    questions are shown one by one (`report_questions`).
    """
    runs = _told_apart(runs)
    sets = dict.fromkeys(run.set_name for run, _ in runs)
    title = f"Evaluation: {', '.join(sets)}" if sets else "Evaluation"
    parts = (
        _opening(title, runs), _summary(runs), _compared(differences), _charts(drawings), _settings(runs),
        questions(runs), "</main></body></html>\n",
    )  # fmt: skip
    head = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE.read_text('utf-8')}</style></head><body><main>"
    )
    return "\n".join((head, *(part for part in parts if part))).encode("utf-8", errors="replace")


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], caption: str = "", *, figures: bool = True) -> str:
    """A table whose first column names the rows; where it is one of figures, these stand at the right."""
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "".join(f"<tr>{''.join(_cells(row, figures))}</tr>" for row in rows)
    told = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f'<div class="scroll"><table>{told}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def shown(value: float, metric: Metric | None) -> str:
    """A metric's value in its unit."""
    unit = metric.unit if metric else "share"
    if unit == "share":
        return f"{100 * value:.1f} %" if metric else f"{value:.3f}"
    return f"{value:,.1f} ms" if unit == "ms" else f"{value:,.0f}"


def _told_apart(runs: Sequence[Tested]) -> list[Tested]:
    """The runs, their configurations named so that each has a name of its own."""
    named = zip(runs, names([run for run, _ in runs]), strict=True)
    return [
        (replace(run, configuration=replace(run.configuration, name=name)), results) for (run, results), name in named
    ]


def _cells(row: Sequence[object], figures: bool) -> Iterator[str]:
    for place, value in enumerate(row):
        text = f"{value:,}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
        if place == 0:
            yield f'<th scope="row">{escape(text)}</th>'
        else:
            number = figures and (isinstance(value, int | float) or text[:1].isdigit())
            yield f"<td{' class=number' if number else ''}>{escape(text)}</td>"


def _opening(title: str, runs: Sequence[Tested]) -> str:
    if not runs:
        return f"<h1>{escape(title)}</h1><p>There are no runs in this report.</p>"
    days = sorted({f"{run.created_at:%d %B %Y}".lstrip("0") for run, _ in runs})
    most = max(len(results) for _, results in runs)
    counted = f"{len(runs)} run{'s' if len(runs) > 1 else ''}, {most:,} question{'s' if most != 1 else ''}"
    lines = [f"<h1>{escape(title)}</h1>", f'<p class="quiet">{counted}, {escape(", ".join(days))}.</p>']
    unfinished = [run for run, _ in runs if run.state != "done"]
    lines += [
        f"<p>“{escape(run.configuration.name)}” is not finished ({run.done:,} of {run.total:,} questions)."
        f" {escape(run.error)}</p>"
        for run in unfinished
    ]
    return "\n".join(lines)


def _summary(runs: Sequence[Tested]) -> str:
    """Metrics by configuration, in the order of `METRICS`; others last."""
    present = dict.fromkeys(key for run, _ in runs for key in run.metrics)
    keys = [*(key for key in METRIC if key in present), *(key for key in present if key not in METRIC)]
    if not keys:
        return ""
    rows = [
        [METRIC[key].label if key in METRIC else key, *(_estimate(run.metrics.get(key), key) for run, _ in runs)]
        for key in keys
    ]
    columns = ["", *(run.configuration.name for run, _ in runs)]
    caption = "The mean over the questions, its 95 % interval, and how many questions it says something about."
    return f"<h2>Summary</h2>{table(columns, rows, caption)}"


def _estimate(estimate: Estimate | None, key: str) -> str:
    if estimate is None:
        return "–"
    mean, low, high = (shown(value, METRIC.get(key)) for value in (estimate.mean, estimate.low, estimate.high))
    return f"{mean} ({low} to {high}; {estimate.count:,})"


def _compared(differences: Sequence[Difference]) -> str:
    if not differences:
        return ""
    told = sorted(differences, key=lambda difference: not difference.significant)
    lines = "".join(
        f"<li{' class=lead' if difference.significant else ''}>{escape(difference.sentence)}</li>"
        for difference in told
    )
    return f"<h2>What differs</h2><ul>{lines}</ul>"


def _charts(drawings: Sequence[Drawing]) -> str:
    if not drawings:
        return ""
    figures = [_figure(number, drawing) for number, drawing in enumerate(drawings)]
    return "\n".join(("<h2>Charts</h2>", *figures))


def _figure(number: int, drawing: Drawing) -> str:
    numbers = f"<details><summary>The numbers</summary><div>{table(drawing.columns, drawing.rows)}</div></details>"
    return (
        f"<figure><h3>{escape(drawing.title)}</h3><figcaption>{escape(drawing.caption)}</figcaption>"
        f"{_svg(number, drawing)}{numbers}</figure>"
    )


def _svg(number: int, drawing: Drawing) -> str:
    """A chart as SVG in the page's own colours; its ids are those of no other chart. Nothing is loaded for it."""
    import vl_convert

    try:
        svg = vl_convert.vegalite_to_svg(dict(drawing.spec), config=_SIZES, allowed_base_urls=[])
    except ValueError:
        return "<p>This chart could not be drawn; its numbers are below.</p>"
    svg = svg[svg.index("<svg") :].replace(f'"{MIDDLE}"', '"currentColor"')
    return _SVG_ID.sub(rf"\1c{number}-", svg)


def _settings(runs: Sequence[Tested]) -> str:
    return "\n".join(("<h2>Runs</h2>", *(_run(run) for run, _ in runs))) if runs else ""


def _run(run: Run) -> str:
    """What a run was tried with: its changes first, then everything."""
    changes = [[key, _value(value)] for key, value in run.configuration.changes.items()]
    changed = (
        table(("Changed", "to"), changes, figures=False)
        if changes
        else "<p>Without changes: the library's own settings.</p>"
    )
    facts = [
        ("Begun", f"{run.created_at:%Y-%m-%d %H:%M} {run.created_at.tzname() or ''}".strip()),
        ("Answers", "made" if run.answers else "not made: passages alone"),
        ("Judge", run.judge or "none"),
        ("Seed", str(run.seed)),
        *((f"Library: {key}", _value(value)) for key, value in sorted(run.library.items(), key=lambda item: item[0])),
        *((key, _value(value)) for key, value in sorted(_flat(run.settings), key=lambda item: item[0])),
        *((f"Version of {key}", value) for key, value in run.versions.items()),
    ]
    notes = "".join(f"<p>{escape(note)}</p>" for note in run.notes)
    everything = table(("", ""), facts, figures=False)
    everything = f"<details><summary>All settings</summary><div>{everything}</div></details>"
    return f'<section class="run"><h3>{escape(run.configuration.name)}</h3>{notes}{changed}{everything}</section>'


def _flat(settings: Mapping[str, object], path: str = "") -> Iterator[tuple[str, object]]:
    """Settings within settings as `group.name`."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
