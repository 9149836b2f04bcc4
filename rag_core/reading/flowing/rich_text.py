"""Rich text (RTF), which striprtf turns into lines; its tables' cells end in upright strokes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from striprtf.striprtf import rtf_to_text

from rag_core.errors import LimitExceeded
from rag_core.reading.flowing.blocks import Block, Flow

_MOST_BYTES = 64 * 2**20


def read(path: Path, max_chars: int) -> Flow:
    """Read a rich text file. Raises LimitExceeded for one that would take too long."""
    size = path.stat().st_size
    if size > _MOST_BYTES:
        raise LimitExceeded(f"The rich text has {size:,} bytes, more than {_MOST_BYTES:,}.")
    text = rtf_to_text(path.read_bytes().decode("latin-1"), errors="replace")
    return Flow(_blocks(text))


def _blocks(text: str) -> Iterator[Block]:
    for is_row, lines in groupby(text.split("\n"), key=lambda line: line.rstrip().endswith("|")):
        if is_row:
            yield Block("table", rows=[line.rstrip()[:-1].split("|") for line in lines])
        else:
            for line in lines:
                yield Block("paragraph", line)
