"""What stands before a chunk's text when it is embedded: its document's title and its section."""

from __future__ import annotations

import re

from rag_core.text.sentences import tidy

# Both together take some 34 tokens at most, which a chunk of 220 leaves of a window of 256.
_LONGEST_NAME = 72
# Names that were given by a counter tell documents apart and say nothing of what is in them.
_NUMBERED = re.compile(r"(?:[a-z]+-)?\d*")


def context_of(title: str, section: str, *others: str) -> str:
    """Title, section and other names as sentences of a line, ending in a blank; empty where none says anything."""
    names = dict.fromkeys(_short(tidy(name)) for name in (title, section, *others))
    return "".join(f"{name.rstrip('.')}. " for name in names if not _NUMBERED.fullmatch(name))


def _short(name: str) -> str:
    if len(name) <= _LONGEST_NAME:
        return name
    head, _, _ = name[: _LONGEST_NAME + 1].rpartition(" ")
    return head or name[:_LONGEST_NAME]
