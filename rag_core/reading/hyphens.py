"""Hyphens at the ends of lines: whether they divide a word or belong to it, by how the whole document writes it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rag_core.domain import Page

SOFT_HYPHEN = "\u00ad"

_WORD = re.compile(r"[^\W\d_]+")
_DIVIDED = re.compile(rf"([^\W\d_]+)([-{SOFT_HYPHEN}])([^\W\d_]+)")


def with_whole_words(pages: Sequence[Page]) -> tuple[Page, ...]:
    """The pages, what is divided at the ends of their lines written as elsewhere in the document, where it is.

    A page by itself (rag_core.reading.pdf_text) knows its own words alone. No character moves: a hyphen that divides a
    word is a soft one. Of what is written both ways, or nowhere else, the page's choice stays.
    """
    ends = [list(_at_line_ends(page)) for page in pages]
    if not any(ends):
        return tuple(pages)
    words: set[str] = set()
    compounds: set[str] = set()
    for page, divided in zip(pages, ends, strict=True):
        text = page.text.casefold()
        at_ends = {one.start() for one in divided}
        words.update(_WORD.findall(text))
        compounds.update(one[0] for one in _DIVIDED.finditer(text) if one[2] == "-" and one.start() not in at_ends)
    return tuple(_written(page, divided, words, compounds) for page, divided in zip(pages, ends, strict=True))


def _at_line_ends(page: Page) -> Iterator[re.Match[str]]:
    """What is divided at the end of a line by a hyphen that no break follows."""
    for line in page.lines:
        if page.text[line.end - 1 : line.end] in ("-", SOFT_HYPHEN):
            start = line.end - 1
            while start > line.start and page.text[start - 1].isalpha():
                start -= 1
            if found := _DIVIDED.match(page.text, start):
                yield found


def _written(page: Page, divided: Sequence[re.Match[str]], words: set[str], compounds: set[str]) -> Page:
    characters = list(page.text)
    for one in divided:
        is_word = f"{one[1]}{one[3]}".casefold() in words
        is_compound = f"{one[1]}-{one[3]}".casefold() in compounds
        if is_word != is_compound:
            characters[one.start(2)] = SOFT_HYPHEN if is_word else "-"
    return replace(page, text="".join(characters))
