"""Domain objects as what JSON can say: one form for the command line's `--json`, REST and Python from afar."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

from rag_core.domain import AddEvent, Hit, Job

NOT_SHOWN = frozenset({"boxes", "png", "sections"})


def plain(value: Any, without: Collection[str] = ()) -> Any:
    """A domain object as what JSON can say."""
    if dataclasses.is_dataclass(value):
        names = [
            item.name for item in dataclasses.fields(value) if item.name not in NOT_SHOWN and item.name not in without
        ]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return value


def plain_hit(hit: Hit) -> dict[str, Any]:
    """A hit with its document's id and title alone."""
    return {
        **plain(hit, without={"document", "around"}),
        "document": {"id": hit.document.id, "title": hit.document.title},
    }


def plain_event(event: AddEvent) -> dict[str, Any]:
    """A step of adding, with the document's id and what went wrong."""
    document = event.document.id if event.document else None
    return {**plain(event, without={"document", "error"}), "document": document, "error": _error(event.error)}


def plain_job(job: Job) -> dict[str, Any]:
    """A job with what went wrong."""
    return {**plain(job, without={"error", "mark"}), "error": _error(job.error)}


def _error(error: Exception | None) -> dict[str, str] | None:
    if error is None:
        return None
    return {"message": str(error), "help": getattr(error, "help", ""), "kind": type(error).__name__}
