"""JSON, also a value a line (JSON Lines): names as labels and headings, lists of like records as tables.

Figures are shown as they are written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag_core.reading.base import Details
from rag_core.reading.flowing.blocks import Flow
from rag_core.reading.flowing.records import Record, as_text, plain, record_blocks, title_of
from rag_core.reading.text import read_text

_MOST_LINES = 20  # that are told of one by one
_DECODER = json.JSONDecoder(object_pairs_hook=Record, parse_float=str, parse_int=str, parse_constant=str, strict=False)


def read(path: Path, max_chars: int) -> Flow:
    """Read a value, or a value for each line. What is neither is read as text. Raises LimitExceeded."""
    text, note = read_text(path, max_chars)
    notes = [note] if note else []
    try:
        value = plain(_DECODER.decode(text))
    except RecursionError:
        raise
    except ValueError as error:
        value = list(_lines(text, wrong := list[int]()))
        if len(wrong) >= max(len(value), 1):
            line = getattr(error, "lineno", 1)
            told = f"It is not written as JSON is, from line {line} on: it was read as text."
            return Flow(as_text(text), Details(notes=(*notes, told)))
        notes += [_told(wrong)] if wrong else []
    return Flow(record_blocks(value), Details(title_of(value), notes=tuple(notes)))


def _lines(text: str, wrong: list[int]) -> Iterator[Any]:
    """The values of lines. wrong: filled with the numbers of those that hold none."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                yield plain(_DECODER.decode(line.strip().rstrip(",")))
            except ValueError:
                wrong.append(number)


def _told(wrong: list[int]) -> str:
    more = f" and {len(wrong) - _MOST_LINES:,} more" if len(wrong) > _MOST_LINES else ""
    return f"Lines that hold no JSON and were not read: {', '.join(map(str, wrong[:_MOST_LINES]))}{more}."
