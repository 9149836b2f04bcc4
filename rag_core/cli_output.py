"""What every command prints: JSON lines, and errors with what to do."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

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
