"""AsciiDoc: headings, paragraphs, lists, tables, code; links as their words. No file is taken in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rag_core.reading.base import Details
from rag_core.reading.flowing.blocks import Block, Flow, picture
from rag_core.reading.flowing.written_lines import code, joined, until
from rag_core.reading.text import read_text

_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
_ATTRIBUTE = re.compile(r":(!?[\w-]+!?):(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"[ \t]*(?:(-|\*{1,5})|(\.{1,5}|\d+\.))[ \t]+(?:\[([ *x])\][ \t]+)?(\S.*)")
_TERM = re.compile(r"[ \t]*(\S.{0,300}?)(?:::|;;)(?:[ \t]+(.*))?$")
_FENCE = re.compile(r"(-{4,}|\.{4,}|\+{4,}|/{4,}|```+)\w*[ \t]*$")
_FRAME = re.compile(r"(?:={4,}|\*{4,}|_{4,}|--|'{3,}|<{3,})[ \t]*$")
_TABLE, _COLUMNS = re.compile(r"\|===+[ \t]*$"), re.compile(r"\bcols=\"?([^\"\]]+)")
_MACRO = re.compile(r"(image|video|audio|ifdef|ifndef|ifeval|endif|toc)::([^\[\s]*)\[(.*)\][ \t]*$")
_CELL = re.compile(r"(?:^|(?<=\s))(?:(\d{1,2})?(?:\.\d{1,2})?[+*])?(?:\.?[<^>]){0,2}[adehlmsv]?(?<!\\)\|")
_REPEATED, _MOST_COLUMNS, _MOST_MEANT = re.compile(r"(\d{1,2})\*"), 100, 200
_TITLE, _OPTIONS = re.compile(r"\.([^\s.].*)$"), re.compile(r"\[.*\][ \t]*$")
_LINK = re.compile(r"(?:link:|xref:|mailto:|(?=https?://))([^\s\[\]]{1,2000})\[([^\[\]\n]{0,1000})\]")
_CROSS = re.compile(r"<<([^<>,\n]{1,300})(?:,[ \t]*([^<>\n]{1,300}))?>>")
_SHOWN, _NOTE = (
    re.compile(r"image:([^\s\[\]:]{1,500})\[([^\[\]\n]{0,500})\]"),
    re.compile(r"footnote:\w*\[([^\[\]\n]{1,2000})\]"),
)
_STRESS = re.compile(r"(?<![\w*_`])(\*\*?|__?|``?)(?=\S)([^\n]{1,200}?)(?<=\S)\1(?!\w)")
_NAME = re.compile(r"\{([\w-]{1,60})\}")


def read(path: Path, max_chars: int) -> Flow:
    """Read a text in AsciiDoc. Raises LimitExceeded for one that is too large."""
    text, note = read_text(path, max_chars)
    found = _HEADING.match(text.lstrip("\ufeff\r\n"))
    title = _said(found[2].rstrip("= \t"), {}) if found and len(found[1]) == 1 else ""
    return Flow(joined(_lines(iter(text.splitlines()))), Details(title, notes=(note,) if note else ()))


def _lines(lines: Iterator[str]) -> Iterator[Block | None]:
    """Each line as a block."""
    meant: dict[str, str] = {}
    options = ""
    for line in lines:
        before, options = options, line if _OPTIONS.match(line) else ""
        if not line.strip() or line.strip() == "+" or options or _FRAME.match(line):
            yield None
        elif found := _FENCE.match(line):
            held = until(lines, found[1])
            yield from code(held) if found[1][0] in "-.`" else [None]
        elif _TABLE.match(line):
            yield from _table(until(lines, line.strip()), before, meant)
        elif line.startswith("//"):
            continue
        elif found := _ATTRIBUTE.match(line):
            meant[found[1]] = (found[2] or "")[:_MOST_MEANT]
        else:
            yield from _line(line, meant)


def _line(line: str, meant: dict[str, str]) -> Iterator[Block | None]:
    if found := _HEADING.match(line):
        yield Block("heading", _said(found[2].rstrip("= \t"), meant), len(found[1]))
    elif found := _MACRO.match(line):
        yield None
        yield Block("paragraph", picture(found[3].split(",")[0]), pictures=("",) if found[1] == "image" else ())
        yield None
    elif found := _ITEM.match(line):
        done = {"x": "☑ ", "*": "☑ ", " ": "☐ "}.get(found[3], "")
        number = found[2] if found[2] and found[2][0].isdigit() else "•"
        yield Block("item", done + _said(found[4], meant), mark=number)
    elif found := _TERM.match(line):
        yield None
        yield Block("paragraph", f"{_said(found[1], meant)}: {_said(found[2] or '', meant)}".strip())
    elif found := _TITLE.match(line):
        yield from (None, Block("paragraph", _said(found[1], meant), is_caption=True), None)
    else:
        yield Block("paragraph", _said(line.strip(), meant))


def _table(lines: list[str], options: str, meant: dict[str, str]) -> Iterator[Block | None]:
    """A table, whose cells begin with a stroke; it has as many columns as are named, or as its first line has cells."""
    cells, width = list[str | None](), _width(options)
    for line in lines:
        found = list(_CELL.finditer(line))
        if not found and cells:
            cells[-1] = f"{cells[-1] or ''} {line.strip()}".strip()
        ends = [*(cell.start() for cell in found[1:]), len(line)]
        for cell, end in zip(found, ends, strict=False):
            text = line[cell.end() : end].strip().replace("\\|", "|")
            cells += [_said(text, meant), *[None] * (min(int(cell[1] or 1), _MOST_COLUMNS) - 1)]
        width = width or len(cells)
    rows = [cells[at : at + width] for at in range(0, len(cells), max(width, 1))]
    yield from (None, Block("table", rows=rows), None)


def _width(options: str) -> int:
    """How many columns a table's options name: as "1,2", or as "3*"."""
    found = _COLUMNS.search(options)
    named = found[1].split(",") if found else []
    repeated = (_REPEATED.match(one.strip()) for one in named)
    return min(sum(int(one[1]) if one else 1 for one in repeated), _MOST_COLUMNS)


def _said(text: str, meant: dict[str, str]) -> str:
    """What a line says, without the marks of what is stressed, links as their words."""
    text = _NAME.sub(lambda found: meant.get(found[1], found[0]), text)
    text = _SHOWN.sub(lambda found: picture(found[2].split(",")[0]), text)
    text = _LINK.sub(lambda found: found[2].rstrip("^") or found[1], _NOTE.sub(r" (\1)", text))
    return _STRESS.sub(r"\2", _CROSS.sub(lambda found: found[2] or found[1], text))
