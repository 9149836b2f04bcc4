"""Markdown files and notes: text whose headings are sections and whose first heading is the title."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rag_core.domain import Figure
from rag_core.reading.base import Details, Heading, RawPage
from rag_core.reading.data_uris import DATA_PART, DATA_URI, data_part
from rag_core.reading.text import PAGE_CHARS, TextDocument
from rag_core.text.figures import caption_likelihood
from rag_core.text.front_matter import FRONT_MATTER, note_title

MAX_HEADING_CHARS = 300

_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(?=\S)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
# A line of one of these kinds is never the text of an underlined heading.
_NOT_HEADING = re.compile(r"\s*$| {0,3}(?:[#>|]|[-*+] |\d+[.)] |```|~~~)| {4}|\t")
# Code, between fences or backticks, where it comes first; else a link.
_NOTE_LINK = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,}).*?(?:^ {0,3}(?P=fence)|\Z)"
    r"|(?<!`)(?P<ticks>`{1,2})(?!`)[^\n]{1,500}?(?<!`)(?P=ticks)(?!`)"
    r"|!?\[\[(?P<note>[^\s\[\]|][^\[\]|\n]{0,300})(?:\|(?P<label>[^\[\]\n]{1,300}))?\]\]",
    re.DOTALL | re.MULTILINE,
)
_PICTURE = re.compile(rf"!\[[^\[\]\n]{{0,500}}\]\(\s*({DATA_PART}[0-9a-f]{{16}})[^)\n]{{0,500}}\)")
_BELOW = re.compile(r"\s{0,9}\n[*_ ]{0,3}(\S[^\n]*)")
_MARKUP = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|[*`]{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|<[^>]+>")


class MarkdownDocument(TextDocument):
    """A Markdown file; its text is kept as written, but for links to other notes, of which the words stay."""

    def __init__(self, path: Path, password: str | None, max_chars: int) -> None:
        super().__init__(path, password, max_chars)
        self.pages = [_with_short_pictures(_without_links(page)) for page in self.pages]

    def read_page(self, number: int, max_chars: int) -> RawPage:
        """Return page `number` with the pictures that it holds. Raises LimitExceeded beyond `max_chars` characters."""
        raw = super().read_page(number, max_chars)
        return replace(raw, page=replace(raw.page, figures=tuple(_figures(raw.page.text))))

    @staticmethod
    def paged(text: str) -> Iterator[str]:
        """A long text in pages that end before a heading, and so within no code and no table."""
        start = 0
        for heading in find_headings(text, 1):
            if (end := heading.start or 0) - start > PAGE_CHARS:
                yield text[start:end].rstrip("\n")
                start = end
        yield text[start:]

    def details(self) -> Details:
        """Headings of all pages; the title is the first of them."""
        headings = tuple(
            heading for number, text in enumerate(self.pages, 1) for heading in find_headings(text, number)
        )
        title = headings[0].title if headings else note_title(self.pages[0])
        return Details(title=title, headings=headings, notes=super().details().notes)


def _without_links(text: str) -> str:
    """A page with the words of its links to notes: of "[[Ferns|the ferns]]" "the ferns". In code they stay."""
    return _NOTE_LINK.sub(lambda match: match["label"] or match["note"] or match[0], text) if "[[" in text else text


def _with_short_pictures(text: str) -> str:
    """A page with the names of pictures in the place of their bytes, which nobody reads."""
    return DATA_URI.sub(lambda match: data_part(match[0]), text)


def _figures(text: str) -> Iterator[Figure]:
    """The pictures that a page holds, each with the caption that stands below it."""
    for picture in _PICTURE.finditer(text):
        below = _BELOW.match(text, picture.end())
        end = below.end() if below and caption_likelihood(below[1]) > 1 else picture.end()
        yield Figure(picture.start(), end, part=picture[1], words=(end, end))


def find_headings(text: str, page: int) -> Iterator[Heading]:
    """Yield headings, marked by # or underlined, outside code blocks and front matter."""
    front = FRONT_MATTER.match(text) if page == 1 else None
    position = front.end() if front else 0
    fence = ""
    above: tuple[str, int] | None = None
    for line in text[position:].splitlines(keepends=True):
        bare = line.rstrip("\n")
        opened = _FENCE.match(bare)
        if fence or opened:
            fence = _after_fence(fence, bare, opened)
            above = None
        elif match := _ATX.match(bare):
            yield Heading(plain(bare[match.end() :].rstrip(" \t").rstrip("#")), len(match[1]), page, position)
            above = None
        elif above and (match := _UNDERLINE.match(bare)):
            yield Heading(plain(above[0]), 1 if match[1][0] == "=" else 2, page, above[1])
            above = None
        else:
            above = None if _NOT_HEADING.match(bare) else (bare, position)
        position += len(line)


def plain(text: str) -> str:
    """Return a heading's words without emphasis, code marks, links and tags."""
    return _MARKUP.sub(lambda match: match[1] or "", text[:MAX_HEADING_CHARS]).strip()


def _after_fence(fence: str, line: str, opened: re.Match[str] | None) -> str:
    """Return the fence still open after `line`: one closes by at least as many of its own marks and nothing else."""
    if not fence:
        return opened[1] if opened else ""
    closing = line.strip()
    closes = len(closing) >= len(fence) and set(closing) == {fence[0]}
    return "" if closes else fence
