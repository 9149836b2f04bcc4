"""Where something stands in a document, as a person reads it."""

from __future__ import annotations


def counted(page: int, label: str = "") -> str:
    """`p. 12`: as the document calls its page where it has a label (`p. ix`), else by its count from 1. The label of a
    recording's minute is the time: `2:00`."""
    return label if ":" in label else f"p. {label or page}"
