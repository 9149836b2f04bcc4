"""A list that answers as a whole: its items together, behind the line or the heading that introduces them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, takewhile

from rag_core.answering.passages import Quote
from rag_core.text.sentences import LIST_ITEM

_FEWEST = 2
_NUMBER = re.compile(r"\(?(\d{1,2})[.)]\s")


def whole_list(every: Sequence[Quote], place: int, most_words: int) -> Quote | None:
    """The list that a quote is an item of, or introduces, as one quote, as far as its items fit into so many words.

    every: the quotes of all passages, in order; place: the quote's. Behind a line that ends in a colon lines that
    look like titles are items. None where it stands in no list within its chunk, or too far behind in one.
    """
    quote = every[place]
    is_item = _is_item
    if quote.kind != "heading" and quote.text.endswith(":") and _is_short_line(every[min(place + 1, len(every) - 1)]):
        is_item = _is_short_line

    def goes_with(other: Quote) -> bool:
        return is_item(other) and _is_beside(other, quote)

    before = list(takewhile(goes_with, reversed(every[:place]))) if _is_item(quote) else []
    found = [*reversed(before), quote]
    for other in every[place + 1 :]:
        if not goes_with(other) and not (_is_beside(other, quote) and _is_next(other, found)):
            break
        found.append(other)
    first = place - len(before)
    if first and _is_item(quote) and _introduces(every[first - 1], quote):
        found.insert(0, every[first - 1])
    if not (_introduces(found[0], quote) or all(map(_is_marked, found[1:]))):
        return None
    lengths = accumulate(len(one.text.split()) for one in found)
    parts = [one for one, words in zip(found, lengths, strict=True) if words <= most_words]
    if quote not in parts or sum(map(is_item, parts)) < _FEWEST:
        return None
    return _as_one(quote, parts, is_whole=len(parts) == len(found))


def whole_steps(every: Sequence[Quote], place: int, most_words: int) -> Quote | None:
    """The numbered steps among which a quote stands, or which follow it as their title, as one quote: of each the first
    sentence, as far as they fit into so many words; None where it stands among none, or too far behind."""
    quote = every[place]
    for steps in _numbered([one for one in every if _is_beside(one, quote)]):
        is_title = quote.kind == "heading" and steps[0].position == quote.position + 1
        lengths = accumulate(len(one.text.split()) for one in steps)
        parts = [one for one, words in zip(steps, lengths, strict=True) if words <= most_words]
        is_among = len(parts) >= _FEWEST and parts[0].position <= quote.position <= parts[-1].position
        if is_among or (is_title and len(parts) >= _FEWEST):
            return _as_one(quote, parts, is_whole=len(parts) == len(steps))
    return None


def _numbered(quotes: Sequence[Quote]) -> list[list[Quote]]:
    """What is numbered one after the other, other sentences between them, and no title."""
    runs: list[list[Quote]] = [[]]
    for quote in quotes:
        number = _NUMBER.match(quote.exact)
        if quote.kind == "heading" or (number and int(number[1]) == 1):
            runs.append([])
        if number and int(number[1]) == len(runs[-1]) + 1:
            runs[-1].append(quote)
    return [steps for steps in runs if len(steps) >= _FEWEST]


def _as_one(quote: Quote, parts: Sequence[Quote], *, is_whole: bool) -> Quote:
    """Parts of a list as one quote in the place of one of them."""
    *others, last = (
        announced(part.text) if part.kind == "heading" and part is parts[0] else part.text.rstrip(";, ")
        for part in parts
    )
    said = [text if text.endswith((".", "!", "?", ":")) else f"{text};" for text in others]
    text = f"{' '.join(_nested([*said, last], parts))}{'' if is_whole else '; …'}"
    return replace(quote, text=text, start=parts[0].start, end=parts[-1].end)


def announced(heading: str) -> str:
    """A heading as what comes before the text under it: "What is covered:", "What may I bring?"."""
    return heading if heading.endswith(("?", "!", ":")) else f"{heading}:"


def _is_next(quote: Quote, found: Sequence[Quote]) -> bool:
    """Whether it is the next step of a numbered list, though it introduces something: "3. Run the script:"."""
    number = _NUMBER.match(quote.exact)
    before = [one for one in found if _indent(one) == _indent(quote) and _NUMBER.match(one.exact)]
    last = _NUMBER.match(before[-1].exact) if before else None
    is_beside = bool(before) and before[-1] is found[0] and found[0].text.endswith(":")  # items below it are the list
    return bool(number and last and not is_beside and int(number[1]) == int(last[1]) + 1)


def _nested(texts: Sequence[str], parts: Sequence[Quote]) -> list[str]:
    """The texts of a list's parts, those of items within an item in brackets: numbers would seem to be doubled."""
    items = [_indent(part) for part in parts if _is_marked(part)]
    inner = [False, *(_is_marked(part) and _indent(part) > min(items) for part in parts), False]
    return [
        f"{'(' if here and not before else ''}{text}{')' if here and not behind else ''}"
        for text, before, here, behind in zip(texts, inner, inner[1:], inner[2:], strict=False)
    ]


def _indent(quote: Quote) -> int:
    """How far into its line it begins."""
    return len(quote.hit.text[: max(quote.start - quote.hit.start, 0)].rpartition("\n")[2])


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


def _is_short_line(quote: Quote) -> bool:
    """Whether it is a line that would be a title, were it one of its document's: an item whose mark was lost."""
    titles = {section.title for section in quote.hit.document.sections}
    return quote.kind == "heading" and quote.text not in titles and not quote.text.endswith(":")


def _is_marked(quote: Quote) -> bool:
    return bool(LIST_ITEM.match(quote.exact))
