"""Tables as text (CSV, TSV): the mark between their cells is found out; empty rows set tables apart."""

from __future__ import annotations

import csv
import re
from itertools import chain
from pathlib import Path
from typing import Literal

from rag_core.reading.base import Details
from rag_core.reading.flowing.blocks import Block, Flow
from rag_core.reading.flowing.sheet_tables import tables
from rag_core.reading.text import read_text

_MARKS = ",;\t|"
_SAMPLE_CHARS = 8192
# What tells Excel the mark.
_TOLD = re.compile(r"sep=(.)\s*\n", re.IGNORECASE)

# Lines before the head that programs leave to people.
_REMARKS = re.compile(r"(?:[ \t]*#[ \t!].*\r?\n)+")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


def read(path: Path, max_chars: int) -> Flow:
    """Read a table. Raises LimitExceeded for one that is too large."""
    text, note = read_text(path, max_chars)
    csv.field_size_limit(max_chars)
    # With a quotation mark too many all that follows would be one cell.
    quoting: Literal[0, 3] = csv.QUOTE_NONE if text.count('"') % 2 else csv.QUOTE_MINIMAL
    told = _TOLD.match(text)
    text, mark = (text[told.end() :], told[1]) if told else (text, "")
    remarks = _REMARKS.match(text)
    said, text = (remarks[0], text[remarks.end() :]) if remarks else ("", text)
    lines = (line[0] for line in _LINE.finditer(text))  # a file in memory has four bytes for each character
    rows = csv.reader(lines, delimiter=mark or _mark(text), quoting=quoting)
    above = [Block("paragraph", said)] if said.strip() else []
    return Flow(chain(above, tables(rows)), Details(notes=(note,) if note else ()))


def _mark(text: str) -> str:
    """The mark between cells: the commonest of those that csv's Sniffer knows where it finds none."""
    sample = text[:_SAMPLE_CHARS].rpartition("\n")[0] or text[:_SAMPLE_CHARS]
    try:
        return csv.Sniffer().sniff(sample, _MARKS).delimiter
    except csv.Error:
        return max(_MARKS, key=sample.count)
