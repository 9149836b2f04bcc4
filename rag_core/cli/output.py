"""What commands print: JSON lines, words with links, tables, progress, and errors with what to do.

Colours, links and bars are for terminals alone; NO_COLOR (no-color.org) leaves out the colours.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any, TextIO

import click

from rag_core.errors import LecternError

if TYPE_CHECKING:
    from rich.console import Console

    from rag_core.domain import AddEvent, Progress

_UNITS = {"fetching": "address ", "reading": "page ", "embedding": "chunk "}
_WIDE = 10_000
# Documents and names may hold what a terminal would obey, or what turns around how a line looks.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def emit(values: Any) -> None:
    """Print one JSON object, or a domain object as one, on a line of its own."""
    if is_dataclass(values):
        from rag_core.domain.serialiser import to_json

        values = to_json(values)
    click.echo(json.dumps(values, ensure_ascii=False))


def complain(error: LecternError) -> None:
    """Say on standard error what went wrong and what to do."""
    sys.stderr.write(f"{error} {error.help}".rstrip() + "\n")


def is_terminal(stream: TextIO | None = None) -> bool:
    """Whether a person looks at a stream, standard output without one."""
    return (stream or sys.stdout).isatty() and os.environ.get("TERM") != "dumb"


def clean(text: str) -> str:
    """A text without the controls of a terminal."""
    return _CONTROLS.sub("", text)


def say(text: str = "", *, end: str = "\n") -> None:
    """Print words."""
    sys.stdout.write(clean(text) + end)
    sys.stdout.flush()


def counts(**numbers: int) -> str:
    """`1 page, 12 chunks` for `page=1, chunk=12`."""
    return ", ".join(f"{number} {word if number == 1 else word + 's'}" for word, number in numbers.items())


def link(text: str, address: str) -> str:
    """A text that opens an address when it is clicked (OSC 8), where a terminal shows it."""
    text, address = clean(text), clean(address)
    return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\" if address and is_terminal() else text


def say_linked(*parts: str) -> None:
    """Print parts of which each is clean, or a link."""
    sys.stdout.write("".join(parts) + "\n")
    sys.stdout.flush()


def report(as_json: bool, values: object, line: str) -> None:
    """Print values as JSON, or the line that says the same."""
    if as_json:
        emit(values)
    else:
        say(line)


def console(stream: TextIO | None = None) -> Console:
    """Where tables and bars are drawn; as wide as need be where nobody looks."""
    from rich.console import Console

    stream = stream or sys.stdout
    width = None if stream.isatty() else _WIDE
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def table(columns: Mapping[str, bool], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; of each column, whether its values stand at the right."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD if is_terminal() else None, pad_edge=False, header_style="bold")
    for name, right in columns.items():
        made.add_column(name, justify="right" if right else "left", overflow="fold")
    for row in rows:
        made.add_row(*(clean(str(value)) for value in row))
    console().print(made)


@contextmanager
def bars(stream: TextIO | None = None, unit: str = "") -> Iterator[Callable[[str, int, int, str], None]]:
    """Bars below what is printed meanwhile: called with a key, what is done of how much, and what is being done.

    A key without a total is shown as busy; one with a negative total is over. Nothing where nobody looks.
    """
    stream = stream or sys.stdout
    if not is_terminal(stream):
        yield lambda key, done, total, text: None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeRemainingColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=30),
               TextColumn("{task.fields[told]}"), TimeRemainingColumn(compact=True))  # fmt: skip
    with Progress(*columns, console=console(stream), transient=True) as drawn:
        tasks: dict[str, TaskID] = {}

        def show(key: str, done: int, total: int, text: str) -> None:
            if total < 0:
                if key in tasks:
                    drawn.remove_task(tasks.pop(key))
                return
            if key not in tasks:
                tasks[key] = drawn.add_task("", told="")
            told = f"{done:,} of {total:,}{unit}" if total else ""
            drawn.update(tasks[key], description=clean(text), completed=done, total=total or None, told=told)

        yield show


@contextmanager
def adding(as_json: bool) -> Iterator[Callable[[AddEvent], None]]:
    """What shows the steps of adding: as JSON, or a line for each end and bars until then."""
    if as_json:
        from rag_core.domain.serialiser import event_to_json

        yield lambda event: emit(event_to_json(event))
        return
    with bars() as draw:

        def show(event: AddEvent) -> None:
            if event.stage in ("ready", "failed", "cancelled"):
                draw(event.source, 0, -1, "")
                say(" ".join(_ended(event).splitlines()))  # a name may have lines of its own
            else:
                what = event.note or event.stage
                unit = _UNITS.get(event.stage, "") if event.total else ""
                draw(event.source, event.done, event.total, f"{event.source}: {what} {unit}".rstrip())

        yield show


@contextmanager
def steps(as_json: bool, told: Collection[str] = (), unit: str = "") -> Iterator[Callable[[Progress], None]]:
    """What shows the steps of one long work: as JSON, as a bar, or as lines, of the stages `told` alone if any."""
    with bars(unit=unit) as draw:

        def show(step: Progress) -> None:
            if as_json:
                emit(step)
            elif is_terminal() and step.stage != "done":
                draw("", step.done, step.total, f"{step.stage} {step.note}".rstrip())
            elif not told or step.stage in told:
                count = f" {step.done:,} of {step.total:,}{unit}" if step.total and not told else ""
                say(f"{step.stage}{count} {step.note}".rstrip())

        yield show


def _ended(event: AddEvent) -> str:
    if event.error is not None:
        return f"{event.source}: failed. {event.error} {getattr(event.error, 'help', '')}".rstrip()
    if event.stage == "ready" and event.document is not None:
        one = event.document
        left = f"; text recognition has {counts(page=one.to_recognise)} to go" if one.to_recognise else ""
        return f"{event.source}: {event.note or 'ready'}, {counts(page=one.page_count, chunk=one.chunk_count)}{left}"
    return f"{event.source}: {event.note or event.stage}"
