"""What a text shows of the tables that it was cut from."""

from __future__ import annotations


def begins_in_table(text: str) -> bool:
    """Whether a text begins with a row, cells set apart by tabs and a figure among them: its head stands before it."""
    first = text.partition("\n")[0]
    return "\t" in first and any(character.isdigit() for character in first)
