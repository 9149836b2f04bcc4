"""What stands before a chunk's text when it is embedded: its document's title and its section."""

from __future__ import annotations

from rag_core.text.sentences import tidy

# A title that is a paragraph, or a section's that is a sentence, would outweigh what stands below it.
_LONGEST_NAME = 120


def context_of(title: str, section: str) -> str:
    """Title and section as sentences of a line, ending in a blank; empty where there is neither."""
    names = dict.fromkeys(tidy(name)[:_LONGEST_NAME].strip() for name in (title, section))
    return "".join(f"{name.rstrip('.')}. " for name in names if name)
