"""What every command prints: JSON lines, and errors with what to do."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from rag_core.domain import AddEvent
from rag_core.errors import LecternError
from rag_core.plain import plain as plain
from rag_core.plain import plain_event


class WrongUsage(Exception):
    """Arguments that contradict what there is: exit code 2."""


def emit(values: Any) -> None:
    """Print one JSON object on a line of its own."""
    print(json.dumps(values, ensure_ascii=False), flush=True)


def complain(error: LecternError) -> None:
    """Say on standard error what went wrong and what to do."""
    sys.stderr.write(f"{error} {error.help}".rstrip() + "\n")


def shown(as_json: bool) -> Callable[[AddEvent], None]:
    """What draws the steps of adding."""
    return _show_json if as_json else _progress()


def _progress() -> Callable[[AddEvent], None]:
    """Draws events: in a terminal one line a document that changes, elsewhere one line for each end."""
    live = sys.stdout.isatty()

    def show(event: AddEvent) -> None:
        if event.error is not None:
            line = f"{event.source}: failed. {event.error} {getattr(event.error, 'help', '')}".rstrip()
        elif event.stage == "ready" and event.document is not None:
            d = event.document
            line = f"{event.source}: {event.note or 'ready'}, {d.page_count} pages, {d.chunk_count} chunks"
        else:
            unit = {"fetching": "address ", "reading": "page ", "embedding": "chunk "}.get(event.stage, "")
            line = f"{event.source}: {event.note or event.stage}" + (
                f" {unit}{event.done} of {event.total}" if event.total else ""
            )
        over = event.stage in ("ready", "failed", "cancelled")
        if live:
            sys.stdout.write(f"\r\x1b[K{line}" + ("\n" if over else ""))
            sys.stdout.flush()
        elif over:
            print(line)

    return show


def _show_json(event: AddEvent) -> None:
    emit(plain_event(event))
