"""Domain objects as what JSON can say: one form for the command line's `--json`, REST and Python from afar."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

from rag_core.domain import AddEvent, Hit, Job, Scope

_NOT_SHOWN = frozenset({"boxes", "png", "sections", "sealed"})


def plain(value: Any, without: Collection[str] = ()) -> Any:
    """A domain object as what JSON can say; a number that is none, or without end, is null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in shown_fields(type(value)) if name not in without}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return value


def shown_fields(kind: Any) -> list[str]:
    """The fields of a domain object that are told of. The sections of a scope are titles, those of a document more."""
    hidden = _NOT_SHOWN - {"sections"} if kind is Scope else _NOT_SHOWN
    return [item.name for item in dataclasses.fields(kind) if item.name not in hidden]


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
