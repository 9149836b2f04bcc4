"""The part of a passage that shows why it was found."""

from __future__ import annotations

from collections.abc import Sequence

Mark = tuple[int, int]


def snippet(text: str, matches: Sequence[Mark], length: int) -> tuple[str, list[Mark]]:
    """At most about `length` characters of a text, where most of its matches stand, and the matches within."""
    if len(text) <= length:
        return text, list(matches)
    start = _best_start(matches, length)
    start = 0 if start < length // 4 else text.rfind(" ", 0, max(start - length // 5, 1)) + 1
    end = min(start + length, len(text))
    end = end if end == len(text) else max(text.rfind(" ", start, end), start + length // 2)
    head = "… " if start else ""
    shown = head + text[start:end] + (" …" if end < len(text) else "")
    shift = len(head) - start
    return shown, [(a + shift, b + shift) for a, b in matches if start <= a and b <= end]


def _best_start(matches: Sequence[Mark], length: int) -> int:
    """The match from which on most others stand within `length` characters."""
    starts = [start for start, _ in matches]
    reach = length * 3 // 4
    return max(starts, key=lambda first: (sum(first <= other < first + reach for other in starts), -first), default=0)
