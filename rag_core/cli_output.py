"""What every command prints: JSON lines, and errors with what to do."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable, Collection, Mapping
from datetime import date
from typing import Any

from rag_core.domain import AddEvent
from rag_core.errors import LecternError

_NOT_SHOWN = {"boxes", "png", "sections"}


class WrongUsage(Exception):
    """Arguments that contradict what there is: exit code 2."""


def plain(value: Any, without: Collection[str] = ()) -> Any:
    """A domain object as what JSON can say."""
    if dataclasses.is_dataclass(value):
        names = [
            item.name for item in dataclasses.fields(value) if item.name not in _NOT_SHOWN and item.name not in without
        ]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return value


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
    values = plain(event, without={"document", "error"})
    values["document"] = event.document.id if event.document else None
    values["error"] = (
        None if event.error is None else {"message": str(event.error), "help": getattr(event.error, "help", "")}
    )
    emit(values)
