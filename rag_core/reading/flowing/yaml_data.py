"""YAML: names as labels and headings, lists of like records as tables, values as they are written.

Tags, by which YAML makes objects, mean nothing here; names that stand for parts elsewhere (aliases) are followed within
reason, and never into themselves.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from rag_core.errors import LimitExceeded
from rag_core.reading.base import Details
from rag_core.reading.flowing.blocks import Flow
from rag_core.reading.flowing.records import Record, as_text, record_blocks, title_of
from rag_core.reading.text import read_text

_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_MOST_CHARS, _MOST_VALUES, _DEEPEST = 10_000_000, 1_000_000, 200
_MERGED = "<<"


def read(path: Path, max_chars: int) -> Flow:
    """Read one or several values. What is none is read as text. Raises LimitExceeded."""
    text, note = read_text(path, min(max_chars, _MOST_CHARS))
    try:
        nodes = list(yaml.compose_all(text, Loader=_LOADER))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark else ""
        told = f"It is not written as YAML is{where}: it was read as text."
        return Flow(as_text(text), Details(notes=tuple(filter(None, (note, told)))))
    values = _Values()
    found = [values.of(node, ()) for node in nodes if node is not None]
    value = found[0] if len(found) == 1 else found
    return Flow(record_blocks(value), Details(title_of(value), notes=(note,) if note else ()))


class _Values:
    """Turns nodes into texts, records and lists, as many as a file may have."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def of(self, node: Any, within: tuple[int, ...]) -> Any:
        """The value of a node. within: the nodes that hold it, which it cannot hold."""
        self._left -= 1
        if self._left < 0 or len(within) > _DEEPEST:
            raise LimitExceeded(f"The file's names stand for more than {_MOST_VALUES:,} values, or too deep ones.")
        if id(node) in within:
            return "… (holds itself)"
        inner = (*within, id(node))
        if isinstance(node, yaml.MappingNode):
            return self._record(node, inner)
        if isinstance(node, yaml.SequenceNode):
            return [self.of(one, inner) for one in node.value]
        return "" if node.value in ("null", "~") and not node.style else str(node.value)

    def _record(self, node: Any, inner: tuple[int, ...]) -> Record:
        found = Record()
        for name, value in node.value:
            said = self.of(name, inner)
            read = self.of(value, inner)
            if said == _MERGED and isinstance(read, Record):
                found.extend(read)
            else:
                found.append((said if isinstance(said, str) else str(said), read))
        return found
