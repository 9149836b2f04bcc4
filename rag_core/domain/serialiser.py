"""Domain objects as JSON and back: for the command line's `--json`, REST, Python from afar, and for PostgreSQL."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping
from datetime import date
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

from rag_core.domain.answers import Hit
from rag_core.domain.documents import AddEvent
from rag_core.domain.jobs import Job
from rag_core.domain.search import Scope
from rag_core.errors import LecternError

Kind = TypeVar("Kind")
_NOT_SHOWN = frozenset({"boxes", "png", "sections", "sealed", "viewer"})


def to_json(value: Any, without: Collection[str] = (), *, whole: bool = False) -> Any:
    """A domain object as what JSON can say, without what is for no reader unless `whole`, which is how it is kept.

    A number that is none, or without end, is shown as null.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [item.name for item in dataclasses.fields(value)] if whole else shown_fields(type(value))
        return {name: to_json(getattr(value, name), whole=whole) for name in names if name not in without}
    if isinstance(value, float) and not (whole or math.isfinite(value)):
        return None
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(item, whole=whole) for item in value]
    if isinstance(value, Mapping):
        return {key: to_json(item, whole=whole) for key, item in value.items()}
    return value


def from_json(kind: type[Kind], value: Any) -> Kind:
    """An object of a kind, or a list or tuple of such, of what JSON says. Raises pydantic's ValidationError."""
    adapter: TypeAdapter[Kind] = _adapter(kind)  # type: ignore[arg-type]
    return adapter.validate_python(value)


def shown_fields(kind: Any) -> list[str]:
    """The fields of a domain object that are told of. The sections of a scope are titles, those of a document more."""
    hidden = _NOT_SHOWN - {"sections"} if kind is Scope else _NOT_SHOWN
    return [item.name for item in dataclasses.fields(kind) if item.name not in hidden]


def hit_to_json(hit: Hit) -> dict[str, Any]:
    """A hit with its document's id and title alone."""
    document = {"id": hit.document.id, "title": hit.document.title}
    return {**to_json(hit, without={"document", "around"}), "document": document}


def event_to_json(event: AddEvent) -> dict[str, Any]:
    """A step of adding, with the document's id and what went wrong."""
    document = event.document.id if event.document else None
    return {**to_json(event, without={"document", "error"}), "document": document, "error": _error(event.error)}


def job_to_json(job: Job) -> dict[str, Any]:
    """A job with what went wrong."""
    return {**to_json(job, without={"error", "mark", "owner", "token"}), "error": _error(job.error)}


def _error(error: LecternError | None) -> dict[str, str] | None:
    return None if error is None else {"message": str(error), "help": error.help, "kind": type(error).__name__}


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
