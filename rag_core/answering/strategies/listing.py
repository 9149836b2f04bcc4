"""A list that answers as a whole: its items together, behind the line that introduces them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from rag_core.answering.passages import Quote

_MARK = re.compile(r"(?:[-*+•‣◦▪●]|\(?(?:\d{1,2}|[a-z])[.)])\s")
_FEWEST = 2


def whole_list(every: Sequence[Quote], place: int, most_words: int) -> Quote | None:
    """The list that a quote is an item of, or introduces, as one quote, as far as its items fit into so many words.

    every: the quotes of all passages, in order; place: the quote's. None where it stands in no list, or
    too far behind in one.
    """
    quote = every[place]
    first = last = place
    while first and _follows(every, first) and _is_item(every[first]) and _is_item(every[first - 1]):
        first -= 1
    if first and _follows(every, first) and _is_item(every[first]) and every[first - 1].text.endswith(":"):
        first -= 1
    while last + 1 < len(every) and _follows(every, last + 1) and _is_item(every[last + 1]):
        last += 1
    lengths = accumulate(len(one.text.split()) for one in every[first : last + 1])
    parts = [one for one, words in zip(every[first : last + 1], lengths, strict=True) if words <= most_words]
    if quote not in parts or sum(map(_is_item, parts)) < _FEWEST:
        return None
    head, *items = (part.text.rstrip(";,. ") for part in parts)
    text = f"{head}{' ' if head.endswith(':') else '; '}{'; '.join(items)}"
    return replace(quote, text=text, start=parts[0].start, end=parts[-1].end)


def _follows(every: Sequence[Quote], place: int) -> bool:
    """Whether the quote before one is of its passage."""
    return every[place - 1].passage == every[place].passage


def _is_item(quote: Quote) -> bool:
    return quote.kind == "fragment" or bool(_MARK.match(quote.exact))
