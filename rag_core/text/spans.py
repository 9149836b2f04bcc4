"""Spans, each its begin and its end."""

from collections.abc import Iterable
from typing import TypeVar

Number = TypeVar("Number", int, float)


def united(spans: Iterable[tuple[Number, Number]]) -> list[tuple[Number, Number]]:
    """Spans in order, those that overlap or follow upon each other as one."""
    found: list[tuple[Number, Number]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
