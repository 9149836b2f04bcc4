"""A list that answers as a whole: its items together, behind the line or the heading that introduces them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, takewhile

from rag_core.answering.passages import Quote
from rag_core.text.sentences import LIST_ITEM

_FEWEST = 2


def whole_list(every: Sequence[Quote], place: int, most_words: int) -> Quote | None:
    """The list that a quote is an item of, or introduces, as one quote, as far as its items fit into so many words.

    every: the quotes of all passages, in order; place: the quote's. None where it stands in no list within its chunk,
    or too far behind in one.
    """
    quote = every[place]

    def goes_with(other: Quote) -> bool:
        return _is_item(other) and _is_beside(other, quote)

    before = list(takewhile(goes_with, reversed(every[:place]))) if _is_item(quote) else []
    behind = list(takewhile(goes_with, every[place + 1 :]))
    found = [*reversed(before), quote, *behind]
    first = place - len(before)
    if first and _is_item(quote) and _introduces(every[first - 1], quote):
        found.insert(0, every[first - 1])
    if not (_introduces(found[0], quote) or all(map(_is_marked, found[1:]))):
        return None
    lengths = accumulate(len(one.text.split()) for one in found)
    parts = [one for one, words in zip(found, lengths, strict=True) if words <= most_words]
    if quote not in parts or sum(map(_is_item, parts)) < _FEWEST:
        return None
    *others, last = (
        f"{part.text.rstrip(':')}:" if part.kind == "heading" else part.text.rstrip(";, ") for part in parts
    )
    said = (text if text.endswith((".", "!", "?", ":")) else f"{text};" for text in others)
    text = f"{' '.join(said)} {last}{'; …' if len(parts) < len(found) else ''}"
    return replace(quote, text=text, start=parts[0].start, end=parts[-1].end)


def _introduces(quote: Quote, other: Quote) -> bool:
    return (quote.text.endswith(":") or quote.kind == "heading") and _is_beside(quote, other)


def _is_beside(quote: Quote, other: Quote) -> bool:
    """Whether a quote stands wholly in another's chunk, which is what a citation shows."""
    hit = other.hit
    return quote.passage == other.passage and hit.start <= quote.start and quote.end <= hit.end


def _is_item(quote: Quote) -> bool:
    """Whether it is a marked line, or a short one that neither introduces others nor holds a figure, as rows do."""
    plain = quote.kind == "fragment" and not any(map(str.isdigit, quote.text))
    return (_is_marked(quote) or plain) and not quote.text.endswith(":")


def _is_marked(quote: Quote) -> bool:
    return bool(LIST_ITEM.match(quote.exact))
