"""Org: headings, paragraphs, lists, tables, code; links as their words, without drawers, comments and tags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rag_core.reading.base import Details
from rag_core.reading.flowing.blocks import Block, Flow
from rag_core.reading.flowing.written_lines import code, joined, until
from rag_core.reading.text import read_text

_HEADING, _URGENCY, _TAGS = re.compile(r"(\*+)[ \t]+(.*)"), re.compile(r"\[#\w\][ \t]?"), re.compile(r":[\w@#%:]+:")
_KEY = re.compile(r"[ \t]*#\+(\w+)(?:\[[^\]]*\])?:?[ \t]*(.*)")
_ITEM = re.compile(r"[ \t]*(?:[-+]|[ \t]\*|(\d+[.)]))[ \t]+(?:\[([ xX-])\][ \t]+)?(.*)")
_OF_DRAWER, _RULE = re.compile(r"[ \t]*:[\w+-]+:(?:[ \t]|$)|[ \t]*CLOCK:"), re.compile(r"[ \t]*\|-[-+|]*[ \t]*$")
_COMMENT, _FIXED = re.compile(r"[ \t]*#(?:[ \t]|$)"), re.compile(r"[ \t]*:(?: (.*)|$)")
_AS_WRITTEN = ("src", "example", "export", "comment")
_SHOWN = {"author": "Author", "date": "Date", "subtitle": "", "caption": ""}
_LINK = re.compile(r"\[\[(?:file:)?([^\[\]\n]{1,2000})\](?:\[([^\[\]\n]{1,2000})\])?\]")
_STRESS = re.compile(r"(?<![^\s(\"'{-])([*/=~_])(?=\S)([^\n]{1,200}?)(?<=\S)\1(?!\w)")


def read(path: Path, max_chars: int) -> Flow:
    """Read a text in Org. Raises LimitExceeded for one that is too large."""
    text, note = read_text(path, max_chars)
    lines = text.splitlines()
    keys = (found for line in lines if (found := _KEY.match(line)))
    title = next((found[2].strip() for found in keys if found[1].lower() == "title"), "")
    first = [Block("heading", title), None] if title else []
    blocks = joined((*first, *_lines(iter(lines), 2 if title else 1)))
    return Flow(blocks, Details(title, notes=(note,) if note else ()))


def _lines(lines: Iterator[str], top: int) -> Iterator[Block | None]:
    """Each line as a block. top: the level of the first headings."""
    for line in lines:
        if found := _HEADING.match(line):
            yield Block("heading", said(_bare(found[2])), len(found[1]) + top - 1)
        elif found := _KEY.match(line):
            yield from _key(found[1].lower(), found[2].strip(), lines)
        elif not line.strip() or _OF_DRAWER.match(line) or _COMMENT.match(line):
            yield None
        elif line.lstrip().startswith("|"):
            cells = [said(cell.strip()) for cell in line.strip().strip("|").split("|")]
            yield Block("table", rows=[] if _RULE.match(line) else [cells])
        elif found := _FIXED.match(line):
            yield from code([found[1] or ""])
        elif found := _ITEM.match(line):
            done = {"x": "☑ ", "X": "☑ ", None: ""}.get(found[2], "☐ ")
            yield Block("item", done + said(found[3]).replace(" :: ", ": ", 1), mark=found[1] or "•")
        else:
            yield Block("paragraph", said(line.strip()))


def _bare(heading: str) -> str:
    """A heading without its tags and its urgency."""
    words = heading.split()
    return _URGENCY.sub("", " ".join(words[:-1] if words and _TAGS.fullmatch(words[-1]) else words), count=1)


def _key(key: str, value: str, lines: Iterator[str]) -> Iterator[Block | None]:
    """What a line of a keyword says, with what stands as it is written up to its end."""
    if key in _SHOWN:
        yield None
        yield Block("paragraph", f"{_SHOWN[key]}: {value}" if _SHOWN[key] else said(value), is_caption=key == "caption")
        yield None
    elif key.startswith("begin_"):
        kind = key.removeprefix("begin_")
        if kind not in _AS_WRITTEN:
            yield None
            return
        held = until(lines, f"#+end_{kind}")
        if kind != "comment":
            yield from code([re.sub(r"^([ \t]*),(?=[*#,])", r"\1", line) for line in held])


def said(text: str) -> str:
    """What a line says, without the marks of what is stressed, links as their words."""
    return _STRESS.sub(r"\2", _LINK.sub(lambda found: found[2] or found[1], text))
