"""The command `evaluate`: runs on a question set, their comparison, and an exit code for a build."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from rag_core.cli.output import bars, emit, say
from rag_core.cli.session import Session, command
from rag_core.domain import Configuration, Difference, Metric, QuestionSet, Run
from rag_core.errors import ConfigurationError, LecternError
from rag_core.library import Library

AS_IT_IS = Configuration("The library as it is")
_NAME_CHARS = 100
_FORMS = {".csv": "csv", ".json": "json", ".html": "html"}


@command("evaluate", help="Try configurations on a question set; the exit code is 1 when a metric falls below its bar.")
@click.argument("questions", metavar="SET")
@click.option(
    "--configuration",
    "files",
    metavar="FILE",
    multiple=True,
    type=click.Path(),
    help="JSON or TOML of settings that differ, or a list of such; without any the library as it is",
)
@click.option("--answers", is_flag=True, help="make answers too, not find passages alone")
@click.option("--model", help="who writes the answers: extractive, gguf:FILE or gemini")
@click.option("--judge", metavar="MODEL", default="", help="a model that judges faithfulness as well")
@click.option(
    "--fail-under",
    "bounds",
    metavar="METRIC=VALUE",
    multiple=True,
    help="exit with 1 where a run's mean is worse: below, or above for times and tokens",
)
@click.option("--report", metavar="FILE", help="write the runs to FILE.html, FILE.json or FILE.csv")
@click.option("--seed", type=int, default=0, help="seed of the intervals and tests")
def evaluate(
    session: Session, questions: str, files: tuple[str, ...], answers: bool, model: str | None, judge: str,
    bounds: tuple[str, ...], report: str | None, seed: int,
) -> int:  # fmt: skip
    """Run configurations on a question set SET: its name or id, or a CSV or JSON Lines file of one."""
    session.changes("evaluate", questions)
    library, answers = session.library, answers or bool(judge)
    evaluation = library.evaluation
    metrics = {metric.key: metric for metric in evaluation.metrics()}
    wanted = [_bar(text, metrics) for text in bounds]
    unmeasured = [metric.key for metric, _ in wanted if metric.kind != "retrieval"]
    if unmeasured and not answers:
        raise click.UsageError(f"--fail-under {unmeasured[0]}: that is measured with --answers alone.")
    form = _form(report)
    _check_place(report)
    configurations = _configurations(files, model)
    chosen = _set(library, questions)
    unknown = len(evaluation.check(evaluation.questions(chosen.id)))
    begun = evaluation.begin(chosen.id, configurations, answers=answers, judge=judge, seed=seed)
    ids = [run.id for run in begun]
    _carry_out(library, ids)
    runs = [evaluation.run(run_id) for run_id in ids]
    differences = [item for run_id in ids[1:] for item in evaluation.compare(ids[0], run_id)]
    _show(runs, differences, metrics, as_json=session.as_json)
    if report:
        _write(Path(report), evaluation.export(ids, form))
    failed = [run for run in runs if run.state != "done"]
    for run in failed:
        sys.stderr.write(f"{run.configuration.name}: {run.error or run.state}\n")
    missed = [line for run in runs for line in _missed(run, wanted)]
    if unknown:
        told = f"“{chosen.name}”: {unknown} of the places that its questions name are not in the library"
        if any(metric.kind == "retrieval" for metric, _ in wanted):
            missed.append(f"{told}, so the bars on passages say too little.")
        else:
            sys.stderr.write(f"{told}; they are left out.\n")
    for line in missed:
        sys.stderr.write(f"{line}\n")
    return 1 if failed or missed else 0


def _configurations(files: Sequence[str], model: str | None) -> list[Configuration]:
    found = [configuration for path in files for configuration in _read(Path(path))] or [AS_IT_IS]
    if model is not None:
        found = [Configuration(one.name, {"generation.model": model, **one.changes}) for one in found]
    return found


def _read(path: Path) -> list[Configuration]:
    """The configurations of one file. Raises ConfigurationError."""
    from rag_core.evaluation.configurations import parsed

    try:
        text = path.read_text(encoding="utf-8-sig")
        values: Any = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except OSError as error:
        raise LecternError(f"The configuration {path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"The configuration {path} cannot be read: {error}") from error
    if values == []:
        raise ConfigurationError(f"{path} holds no configuration.")
    return [parsed(value, path.stem) for value in (values if isinstance(values, list) else [values])]


def _set(library: Library, name: str) -> QuestionSet:
    """A set of the library by id or name, or one made of a file, under the file's name. Raises LecternError."""
    sets = library.evaluation.sets()
    path = Path(name)
    if os.path.isfile(name):  # noqa: PTH113  Path.is_file raises for a name that no file can have
        return _from_file(library, path, sets)
    found = [item for item in sets if name in (item.id, item.name)]
    if len(found) != 1:
        known = ", ".join(f"“{item.name}”" for item in sets) or "none yet"
        reason = "There is no file and no question set" if not found else f"{len(found)} question sets are called"
        raise LecternError(f"{reason} “{name}”.", help=f"Name one of these, or a file: {known}.")
    return found[0]


def _from_file(library: Library, path: Path, sets: Sequence[QuestionSet]) -> QuestionSet:
    """A set of the file's name with the file's questions. One that was not made from a file alone is left as it is."""
    evaluation = library.evaluation
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LecternError(f"{path} cannot be read: {error.strerror}.") from error
    report = evaluation.read(path.name, data)
    for problem in report.problems:
        where = f"{path.name}, row {problem.row}" if problem.row else path.name
        sys.stderr.write(f"{where}: {problem.message}\n")
    for note in report.notes:
        sys.stderr.write(f"{path.name}: {note}\n")
    if not report.questions:
        raise LecternError(f"{path} holds no question that can be used.")
    name = " ".join(path.name.split())[:_NAME_CHARS]
    kept = {question.id for question in report.questions}
    for same in (item for item in sets if item.name == name):
        there = evaluation.questions(same.id)
        if there == [*report.questions]:
            return same
        if all(question.origin == "uploaded" for question in there):
            evaluation.drop(same.id, [question.id for question in there if question.id not in kept])
            evaluation.put(same.id, report.questions)
            return evaluation.set(same.id)
    return evaluation.create(name, report.questions)


def _carry_out(library: Library, ids: Sequence[str]) -> None:
    """Carry out the runs; whoever stops this leaves none of them to go on by itself."""
    try:
        with bars(sys.stderr) as draw:
            for step in library.evaluation.carry_out(ids):
                draw("", step.done, step.total, step.stage)
    except (KeyboardInterrupt, SystemExit):
        for run_id in ids:
            library.evaluation.cancel(run_id)
        raise


def _show(runs: Sequence[Run], differences: Sequence[Difference], metrics: dict[str, Metric], *, as_json: bool) -> None:
    if as_json:
        from rag_core.domain.serialiser import to_json

        for run in runs:
            told = to_json(run, without={"id", "configuration"})
            emit({"run": run.id, "configuration": run.configuration.name, **told})
        for difference in differences:
            emit({**to_json(difference, without={"metric"}), "metric": difference.metric.key})
        return
    width = max(len(metric.label) for metric in metrics.values())
    for run in runs:
        say(f"{run.configuration.name}: {run.done} of {run.total} questions")
        for key, metric in metrics.items():
            if key in run.metrics:
                found = run.metrics[key]
                shown = [_number(value, metric) for value in (found.mean, found.low, found.high)]
                say(
                    f"  {metric.label:{width}} {shown[0]:>9}  95 % interval {shown[1]} to {shown[2]}, n = {found.count}"
                )
    for difference in differences:
        say(difference.sentence)


def _number(value: float, metric: Metric) -> str:
    return f"{value:.3f}" if metric.unit == "share" else f"{value:,.1f} {metric.unit}"


def _bar(text: str, metrics: dict[str, Metric]) -> tuple[Metric, float]:
    key, _, value = text.partition("=")
    if key.strip() not in metrics:
        raise click.UsageError(f"--fail-under: there is no metric “{key}”. There are: {', '.join(metrics)}.")
    metric = metrics[key.strip()]
    try:
        bar = float(value)
    except ValueError:
        raise click.UsageError(f"--fail-under: “{text}” has no number after the equals sign.") from None
    if metric.unit == "share" and not 0 <= bar <= 1:
        raise click.UsageError(f"--fail-under: {metric.key} is a share from 0 to 1, so {bar:g} cannot be its bar.")
    return metric, bar


def _form(report: str | None) -> Any:
    if report is None:
        return None
    form = _FORMS.get(Path(report).suffix.lower())
    if form is None:
        raise click.UsageError("--report: the file's name must end with .html, .json or .csv.")
    return form


def _check_place(report: str | None) -> None:
    """Raises LecternError where the report could not be written: before any run is made."""
    if report is not None and (Path(report).is_dir() or not Path(report).absolute().parent.is_dir()):
        raise LecternError(f"The report {report} cannot be written: there is no such folder, or a folder of that name.")


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise LecternError(f"The report {path} cannot be written: {error.strerror}. The runs are kept.") from error


def _missed(run: Run, bars: Sequence[tuple[Metric, float]]) -> list[str]:
    """What is to be said of the bars that a run misses; a metric without a value misses its bar."""
    lines = []
    for metric, bar in bars:
        found = run.metrics.get(metric.key)
        if found is None or not found.count:
            lines.append(f"{run.configuration.name}: {metric.key} has no value.")
        elif not (found.mean >= bar if metric.higher_is_better else found.mean <= bar):
            lines.append(f"{run.configuration.name}: {metric.key} is {found.mean:.4f}, the bar is {bar:g}.")
    return lines
