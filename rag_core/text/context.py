"""What of a chunk is embedded: before its text its document's title and its section, and of a long table's rows one."""

from __future__ import annotations

import re

from rag_core.text.sentences import tidy
from rag_core.text.tables import has_short_cells, is_of_long_table

# Both together take some 34 tokens at most, which a chunk of 220 leaves of a window of 256.
_LONGEST_NAME = 72
_LONG_TABLE = 200  # the chunk of a document from which on rows are those of a long table
# Names that were given by a counter tell documents apart and say nothing of what is in them.
_NUMBERED = re.compile(r"(?:[a-z]+-)?\d*")


def context_of(title: str, section: str, *others: str) -> str:
    """Title, section and other names as sentences of a line, ending in a blank; empty where none says anything."""
    names = dict.fromkeys(_short(tidy(name)) for name in (title, section, *others))
    return "".join(f"{name.rstrip('.')}. " for name in names if not _NUMBERED.fullmatch(name))


def embedded_text(text: str, index: int) -> str:
    """What of a chunk's text is embedded: all of it, but of the rows of a long table their head, and the first of few.

    What rows of short cells hold besides is codes, names and figures, which are found by words and by asking the whole
    table; the meaning is in the head, and the rows before are its samples. Tables of a usual length, and rows with
    sentences in them, are embedded whole.
    """
    if index < _LONG_TABLE or not has_short_cells(text):
        return text
    return "\n".join(text.split("\n", 2)[: 1 if is_of_long_table(text) else 2])


def _short(name: str) -> str:
    if len(name) <= _LONGEST_NAME:
        return name
    head, _, _ = name[: _LONGEST_NAME + 1].rpartition(" ")
    return head or name[:_LONGEST_NAME]
