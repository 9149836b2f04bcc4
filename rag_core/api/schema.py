"""The schema of what is answered, made from the domain's own objects: what `domain.serialiser` says of them."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any, Union

from pydantic import BaseModel, create_model

from rag_core.domain.serialiser import shown_fields

Shown = type[BaseModel]


class Problem(BaseModel):
    """An error as RFC 9457 says: `detail` is what happened, `help` what to do about it."""

    type: str
    title: str
    status: int
    detail: str
    help: str
    retryable: bool


class AssistantError(BaseModel):
    """An error as the research assistant tells it: `status` is "error", `timestamp` of ISO 8601."""

    status: str
    detail: str
    help: str
    timestamp: str


_PROBLEM = {"description": "It was not done", "content": {"application/problem+json": {
    "schema": Problem.model_json_schema()}}}  # fmt: skip
PROBLEMS: dict[int | str, dict[str, Any]] = {"4XX": _PROBLEM, "5XX": _PROBLEM}
_ERROR = {"description": "It was not done", "model": AssistantError}
ASSISTANT_ERRORS: dict[int | str, dict[str, Any]] = {"4XX": _ERROR, "5XX": _ERROR}


@cache
def shown(kind: type, *, without: tuple[str, ...] = (), name: str = "", **more: Any) -> Shown:
    """The model of a domain object as it is answered, without what is not shown, and with `more` fields.

    Of what holds others of its kind, those are not described.
    """
    hints = typing.get_type_hints(kind, localns={kind.__name__: Any})
    fields: dict[str, Any] = {
        field: (_shown_type(hints[field]), ...) for field in shown_fields(kind) if field not in without
    }
    fields |= {field: (_shown_type(hint), ...) for field, hint in more.items()}
    doc = (kind.__doc__ or "").strip()
    return _made(name or kind.__name__, fields, doc)


def object_of(name: str, **fields: Any) -> Shown:
    """A model of named fields, each a type; those of domain objects are shown."""
    return _made(name, {field: (_shown_type(kind), ...) for field, kind in fields.items()})


def answers(model: Any, status: int = 200, **more: Any) -> dict[str, Any]:
    """The part of a route that says what it answers; the answer itself is made by hand, which is quicker."""
    return {"response_model": None, "status_code": status, "responses": {status: {"model": model}}, **more}


def sends(*kinds: str, description: str = "The bytes") -> dict[str, Any]:
    """The part of a route that says which kinds of file or stream it answers."""
    content = {kind: {"schema": {"type": "string"}} for kind in kinds}
    return {"response_model": None, "responses": {200: {"description": description, "content": content}}}


def _shown_type(hint: Any) -> Any:
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return shown(hint)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is object or (isinstance(hint, type) and issubclass(hint, Exception)):
        return Any
    if origin in (Union, types.UnionType):
        return Union[tuple(_shown_type(one) for one in arguments)]  # noqa: UP007  made of parts
    if origin is tuple:
        parts = [one for one in arguments if one is not Ellipsis]
        return list[_shown_type(parts[0])]  # type: ignore[misc]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[str, _shown_type(arguments[1])]  # type: ignore[misc]
    if isinstance(origin, type) and issubclass(origin, Collection):
        return list[_shown_type(arguments[0])]  # type: ignore[misc]
    return hint


def _made(name: str, fields: dict[str, Any], doc: str | None = None) -> Shown:
    make: Any = create_model
    model: Shown = make(name, __doc__=doc, **fields)
    return model
