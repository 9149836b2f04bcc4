"""A table's cell said as a sentence: "Greater China, Operating income, 2020: $15,261 million"."""

from __future__ import annotations

import re

from rag_core.answering.tables.tables import Cell

_FOOTNOTE = re.compile(r"\s*(?:\((?:\d{1,2}|[a-z])\)|[*†‡])+$")
_LONGEST_HEAD = 80  # characters: of several heads over each other the nearest


def said(cell: Cell) -> str:
    """The cell with what names it; "" where nothing does."""
    group = _bare(cell.group.text) if cell.group is not None else ""
    name = _bare(cell.name)
    names = [group, name if name != group else "", _bare(_head(cell))]
    return f"{', '.join(filter(None, names))}: {value(cell)}" if any(names) else ""


def _head(cell: Cell) -> str:
    found = ""
    for part in cell.heads:
        if len(found) + len(part.text) >= _LONGEST_HEAD:
            break
        found = f"{part.text} {found}"
    return found


def value(cell: Cell) -> str:
    """The figure as printed, with the scale and currency of its table."""
    text = re.sub(r"(?<=[$€£¥(]) | (?=[%)])", "", cell.part.text)
    if cell.scale and not re.search(r"[^\W\d_]{2}", text):
        text = f"{text} {cell.scale}"
    return text


def _bare(text: str) -> str:
    return _FOOTNOTE.sub("", text.strip(" :.…")).strip(" :.")
