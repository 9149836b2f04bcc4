"""Text that nobody sees in a flowing document, and where on its pages it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from rag_core.domain import HiddenText
from rag_core.reading.text import clean

# Less is no more than what writers set things apart by, and is found in too many places.
_LEAST_CHARS = 8
_MOST = 100

NOT_SHOWN, WHITE, TINY = "set as hidden", "white", "tiny"


class Hidden(NamedTuple):
    """A text as a format gives it, in the order of the document, and why it is not seen."""

    text: str
    why: str


def located(pages: Sequence[str], hidden: Iterable[Hidden]) -> dict[int, tuple[HiddenText, ...]]:
    """The spans of at most a hundred hidden lines, by the number of their page."""
    found: dict[int, list[HiddenText]] = {}
    number, at = 1, 0
    for line, why in islice(_lines(hidden), _MOST):
        places = ((page, at if page == number else 0) for page in (*range(number, len(pages) + 1), *range(1, number)))
        for page, begin in places:
            start = pages[page - 1].find(line, begin)
            if start >= 0:
                number, at = page, start + len(line)
                found.setdefault(page, []).append(HiddenText(start, at, why))
                break
    return {page: tuple(sorted(spans, key=lambda span: span.start)) for page, spans in found.items()}


def _lines(hidden: Iterable[Hidden]) -> Iterator[Hidden]:
    for text, why in hidden:
        for line in clean(text).split("\n"):
            if len(line.strip()) >= _LEAST_CHARS:
                yield Hidden(line.strip(), why)
