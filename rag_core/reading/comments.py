"""How a comment that people wrote beside a text is named in it, whatever the format."""

from __future__ import annotations

_BESIDE_CHARS = 100


def comment_label(author: str = "", beside: str = "") -> str:
    """What stands before a comment: who wrote it, and the beginning of the words that it stands beside."""
    about = " ".join(beside.split())
    about = about if len(about) <= _BESIDE_CHARS else f"{about[:_BESIDE_CHARS].rpartition(' ')[0]}…"
    return f"Comment{f' by {author}' if author else ''}{f' on “{about}”' if about else ''}"
