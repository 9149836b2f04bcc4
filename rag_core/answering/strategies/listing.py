"""A list that answers as a whole: its items together, behind the line that introduces them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rag_core.answering.passages import Quote

_MARK = re.compile(r"(?:[-*+•‣◦▪●]|\(?(?:\d{1,2}|[a-z])[.)])\s")
_FEWEST = 2


def whole_list(every: Sequence[Quote], place: int, most_words: int) -> Quote | None:
    """The list that a quote is an item of, or introduces, as one quote of at most so many words.

    every: the quotes of all passages, in order; place: the quote's. None where it stands in no list, or in one that is
    longer.
    """
    quote = every[place]
    first = place
    if _is_item(quote):
        while first and _is_item(every[first - 1]) and every[first - 1].passage == quote.passage:
            first -= 1
    elif place + 1 == len(every) or every[place + 1].passage != quote.passage or not _is_item(every[place + 1]):
        return None
    last = max(first, place)
    while last + 1 < len(every) and _is_item(every[last + 1]) and every[last + 1].passage == quote.passage:
        last += 1
    before = every[first - 1] if first else None
    if before is not None and before.passage == quote.passage and before.text.endswith(":"):
        first -= 1
    parts = every[first : last + 1]
    text = f"{parts[0].text}{' ' if parts[0].text.endswith(':') else '; '}" + "; ".join(
        part.text.rstrip(";,. ") for part in parts[1:]
    )
    if sum(map(_is_item, parts)) < _FEWEST or len(text.split()) > most_words:
        return None
    return replace(quote, text=text, start=parts[0].start, end=parts[-1].end)


def _is_item(quote: Quote) -> bool:
    return quote.kind == "fragment" or bool(_MARK.match(quote.exact))
