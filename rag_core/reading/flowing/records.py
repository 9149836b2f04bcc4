"""Values with names, as data files hold them, as a document: names are labels and headings, lists of like records are
tables, so that what is asked of them is asked of all their rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from rag_core.reading.flowing.blocks import Block, Row

_IDENTIFIER = re.compile(r"[A-Za-z][\w.-]*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONG_CHARS, _NAME_CHARS = 200, 120
_DEEPEST, _DEEPEST_CELL = 24, 2
_MOST_COLUMNS, _LEAST_FILLED = 100, 0.6
_NAMES = ("title", "name", "label", "id", "key", "date")


class Record(list[tuple[str, Any]]):
    """Names with their values, in order; a name may stand several times. A value is a text, a record, or a list."""


def record_blocks(value: Any, level: int = 1, depth: int = 0) -> Iterator[Block]:
    """A value as headings, lines, lists and tables."""
    if depth > _DEEPEST:
        yield Block("paragraph", "… (nested too deeply to be shown)")
    elif isinstance(value, Record):
        yield from _record(value, level, depth)
    elif isinstance(value, list):
        yield from _list(value, level, depth)
    else:
        yield Block("paragraph", str(value))


def title_of(value: Any) -> str:
    """What a record calls itself; nothing for one that does not."""
    said = {name.casefold(): one for name, one in value if isinstance(one, str)} if isinstance(value, Record) else {}
    found = (said.get(name, "").strip() for name in _NAMES)
    return next((name for name in found if 0 < len(name) <= _NAME_CHARS), "")


def label(name: str) -> str:
    """A name as words: customerName and customer_name as people would ask for them."""
    if not _IDENTIFIER.fullmatch(name):
        return " ".join(name.split())
    return " ".join(_HUMP.sub(" ", name).replace("_", " ").split())


def plain(value: Any) -> Any:
    """A value of JSON as one of these: texts, records and lists alone."""
    if isinstance(value, Record):
        return Record((name, plain(inner)) for name, inner in value)
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def as_text(text: str) -> Iterator[Block]:
    """A file as it is written, where it is not what its name says."""
    yield from (Block("paragraph", part) for part in re.split(r"\n\s*\n", text))


def _record(record: Record, level: int, depth: int) -> Iterator[Block]:
    lines = list[str]()
    for name, run in groupby(record, key=lambda pair: pair[0]):
        values = [value for _, value in run]
        value = values[0] if len(values) == 1 else values
        text = value if isinstance(value, str) else _joined(value)
        if text is not None and len(text) <= _LONG_CHARS and "\n" not in text:
            lines += [f"{label(name)}: {text}" if name else text] if text.strip() else []
            continue
        yield from _lines(lines)
        if text is not None:
            yield Block("paragraph", f"{label(name)}: {text}" if name else text)
        else:
            yield Block("heading", label(name), level)
            yield from record_blocks(value, level + 1, depth + 1)
    yield from _lines(lines)


def _lines(lines: list[str]) -> Iterator[Block]:
    """The lines so far as a paragraph; they are begun anew."""
    if lines:
        yield Block("paragraph", "\n".join(lines))
        lines.clear()


def _list(values: Sequence[Any], level: int, depth: int) -> Iterator[Block]:
    if (rows := _rows(values)) is not None:
        yield Block("table", rows=rows)
        return
    for number, value in enumerate(values, 1):
        if isinstance(value, list):
            yield Block("heading", title_of(value) or str(number), level)
            yield from record_blocks(value, level + 1, depth + 1)
        else:
            yield Block("item", str(value))


def _rows(values: Sequence[Any]) -> list[Row] | None:
    """The rows of a list that is a table: of records that are alike, or of lists of as many texts."""
    if len(values) < 2:
        return None
    if all(isinstance(value, Record) for value in values):
        return _record_rows(values)
    if not all(isinstance(value, list) and not isinstance(value, Record) for value in values):
        return None
    widths = {len(value) for value in values}
    is_flat = all(isinstance(cell, str) for value in values for cell in value)
    return [list(value) for value in values] if is_flat and len(widths) == 1 and min(widths) > 1 else None


def _record_rows(records: Iterable[Record]) -> list[Row] | None:
    found, columns, filled = list[dict[str, str]](), dict[str, None](), 0
    for record in records:
        cells = dict[str, str]()
        if not _put(record, "", cells, 0):
            return None
        columns |= dict.fromkeys(cells)
        filled += len(cells)
        found.append(cells)
        if len(columns) > _MOST_COLUMNS:
            return None
    if len(columns) < 2 or filled < _LEAST_FILLED * len(columns) * len(found):
        return None
    return [[label(name) for name in columns], *([cells.get(name, "") for name in columns] for cells in found)]


def _put(record: Record, before: str, cells: dict[str, str], depth: int) -> bool:
    """Put the values of a record into cells; no where one of them is no cell."""
    for name, value in record:
        key = f"{before}{name}"
        if isinstance(value, Record):
            if depth == _DEEPEST_CELL or not _put(value, f"{key}.", cells, depth + 1):
                return False
            continue
        text = value if isinstance(value, str) else _joined(value)
        if text is None or len(text) > _LONG_CHARS:
            return False
        cells[key] = f"{cells[key]}, {text}" if key in cells else text
    return True


def _joined(values: Any) -> str | None:
    """A list of texts as one; None for what has others in it."""
    if isinstance(values, Record) or not isinstance(values, list):
        return None
    texts = [value for value in values if isinstance(value, str)]
    return ", ".join(texts) if len(texts) == len(values) else None
