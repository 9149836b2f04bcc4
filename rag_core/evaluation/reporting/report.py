"""An evaluation as one HTML file that opens by itself: no script, nothing loaded, light and dark.

The page is `report.html.jinja`, which escapes whatever comes from documents, questions and settings; a
Content-Security-Policy lets nothing but the file's own style act. Charts are SVG made by vl-convert.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from rag_core.chart_parts import MIDDLE
from rag_core.domain import Difference, Drawing, Estimate, Question, Result, Run
from rag_core.evaluation.measuring.metrics import METRIC
from rag_core.evaluation.reporting.figures import Tested, names

MAX_QUESTIONS = 500
MAX_PASSAGES = 5
MAX_TEXT_BYTES = 6_000_000
"""About what all passages together may take; each gets its share."""

Asked = tuple[Question, list[tuple[Run, Result]]]

_SIZES = {name: {"labelFontSize": 12, "titleFontSize": 12} for name in ("axis", "legend", "header")}
_SVG_ID = re.compile(r'(\bid="|url\(#|href="#)')


def as_html(runs: Sequence[Tested], differences: Sequence[Difference], drawings: Sequence[Drawing]) -> bytes:
    """The report of runs as UTF-8: summary, differences, charts with their tables, settings, and each question.

    `differences` compares the first two runs. The file stays below some 10 MB: passages are shortened, and 500
    questions are shown one by one.
    """
    runs = [
        (replace(run, configuration=replace(run.configuration, name=name)), results)
        for (run, results), name in zip(runs, names([run for run, _ in runs]), strict=True)
    ]
    asked = _asked(runs)
    shown = asked[:MAX_QUESTIONS]
    passages = sum(min(len(result.found), MAX_PASSAGES) for _, tried in shown for _, result in tried)
    html = _template().render(
        title=f"Evaluation: {', '.join(dict.fromkeys(run.set_name for run, _ in runs))}".removesuffix(": "),
        runs=[run for run, _ in runs],
        most=max((len(results) for _, results in runs), default=0),
        days=sorted({f"{run.created_at:%d %B %Y}".lstrip("0") for run, _ in runs}),
        summary=list(_summary([run for run, _ in runs])),
        differences=sorted(differences, key=lambda difference: not difference.significant),
        charts=[(drawing, _svg(number, drawing)) for number, drawing in enumerate(drawings)],
        facts={run.id: list(_facts(run)) for run, _ in runs},
        questions=shown,
        left=len(asked) - len(shown),
        passages=MAX_PASSAGES,
        share=max(100, min(700, MAX_TEXT_BYTES // max(passages, 1))),
    )
    return html.encode("utf-8", errors="replace")


def _template() -> Template:
    folder = FileSystemLoader(Path(__file__).parent)
    page = Environment(
        autoescape=True, loader=folder, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )  # fmt: skip
    page.filters |= {"value": _figure, "flat": _flat}
    return page.get_template("report.html.jinja")


def _asked(runs: Sequence[Tested]) -> list[Asked]:
    """Every question in order, with what each run made of it."""
    asked: dict[str, Asked] = {}
    for run, results in runs:
        for result in results:
            asked.setdefault(result.question.id, (result.question, []))[1].append((run, result))
    return list(asked.values())


def _summary(runs: Sequence[Run]) -> Iterator[list[str]]:
    """Metrics by configuration, in the order of `METRICS`; others last."""
    present = dict.fromkeys(key for run in runs for key in run.metrics)
    for key in (*(key for key in METRIC if key in present), *(key for key in present if key not in METRIC)):
        yield [METRIC[key].label if key in METRIC else key, *(_estimate(run.metrics.get(key), key) for run in runs)]


def _estimate(estimate: Estimate | None, key: str) -> str:
    if estimate is None:
        return "–"
    form = {"ms": "{:,.1f} ms", "tokens": "{:,.0f}", "share": "{:.1%}"}[METRIC[key].unit] if key in METRIC else "{:.3f}"
    mean, low, high = (form.format(value).replace("%", " %") for value in (estimate.mean, estimate.low, estimate.high))
    return f"{mean} ({low} to {high}; {estimate.count:,})"


def _svg(number: int, drawing: Drawing) -> Markup:
    """A chart as SVG in the page's own colours; its ids are those of no other chart. Nothing is loaded for it."""
    import vl_convert

    try:
        svg = vl_convert.vegalite_to_svg(dict(drawing.spec), config=_SIZES, allowed_base_urls=[])
    except ValueError:
        return Markup()
    svg = svg[svg.index("<svg") :].replace(f'"{MIDDLE}"', '"currentColor"')
    return Markup(_SVG_ID.sub(rf"\1c{number}-", svg))


def _facts(run: Run) -> Iterator[tuple[str, str]]:
    """All that a run was tried with."""
    yield "Begun", f"{run.created_at:%Y-%m-%d %H:%M} {run.created_at.tzname() or ''}".strip()
    yield "Answers", "made" if run.answers else "not made: passages alone"
    yield "Judge", run.judge or "none"
    yield "Seed", str(run.seed)
    yield from sorted(_flat(run.library, "Library: "))
    yield from sorted(_flat(run.settings))
    yield from _flat(run.versions, "Version of ")


def _flat(settings: Mapping[str, object], path: str = "") -> Iterator[tuple[str, str]]:
    """Settings within settings as `group.name`, each with its value as text."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _figure(value: object) -> str:
    """A value as a cell says it."""
    return f"{value:,}" if isinstance(value, int | float) else str(value)
