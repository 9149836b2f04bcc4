"""Domain objects made again from what `rag_core.plain` said of them; what is not told of is empty."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from datetime import date, datetime
from functools import cache
from typing import Any, TypeVar, Union

from rag_core import errors
from rag_core.domain import BackupReport, Document, Job, Progress, Question, Report
from rag_core.errors import LecternError

Kind = TypeVar("Kind")
# What a document is told of as where it is a hit's alone.
_UNTOLD: Mapping[type, Mapping[str, Any]] = {Document: {"media_type": "", "byte_size": 0, "state": "ready"}}
# What jobs make by their kind; the others make progress alone, or nothing.
_RESULTS: Mapping[str, Any] = {
    "verify": Report, "repair": Report, "backup": BackupReport, "draft": tuple[Question, ...],
}  # fmt: skip


def revived(kind: type[Kind], value: Any, **more: Any) -> Kind:
    """An object of a kind, or a list of such; `more` are fields that are known otherwise."""
    found: Kind = _revived(kind, value, more)
    return found


def _revived(hint: Any, value: Any, more: Mapping[str, Any] = types.MappingProxyType({})) -> Any:
    if value is None:
        return None
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        if hint is Job:
            more = {"result": _revived(_RESULTS.get(value["kind"], Progress), value["result"])}
        told = {name: _revived(kind, value[name]) for name, kind in _hints(hint).items() if name in value}
        return hint(**{**_untold(hint), **told, **more})
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return _revived(next(one for one in arguments if one is not type(None)), value)
    if origin in (tuple, list):
        return origin(_revived(arguments[0], one) for one in value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {key: _revived(arguments[1], one) for key, one in value.items()}
    if hint in (datetime, date):
        return hint.fromisoformat(value)
    if hint is Exception:
        return error_of(value["kind"], value["message"], value["help"])
    return value


def error_of(kind: str, message: str, help: str) -> LecternError:
    """The error of a name in `rag_core.errors`."""
    found = getattr(errors, kind, None)
    made = found if isinstance(found, type) and issubclass(found, LecternError) else LecternError
    return made(message, help=help)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _untold(kind: Any) -> dict[str, Any]:
    """What fields without a value of their own have where they are not told of."""
    none = dataclasses.MISSING
    needed = [item.name for item in dataclasses.fields(kind) if item.default is none and item.default_factory is none]
    return {name: _UNTOLD.get(kind, {}).get(name, ()) for name in needed}
