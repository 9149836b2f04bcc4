"""Where something stands in a document, as a person reads it."""

from __future__ import annotations


def counted(page: int, label: str = "") -> str:
    """`p. 12`, with the printed label where it differs: `p. 12 (printed ix)`. page: its count, from 1."""
    return f"p. {page}{printed(page, label)}"


def printed(page: int, label: str) -> str:
    """A page's printed label where that is not its count, as it stands behind the count; else "" ."""
    return f" (printed {label})" if label not in ("", str(page)) else ""
