"""What text recognition read in the pictures of a page that has text of its own: lines of the page, at their figures.

A page of a PDF is recognised as a whole. Of what was read, a figure has the lines that stand in its box, but for those
that the page's own text has there. Where a document has no pages of its own each picture is recognised by itself, and
its figure has the lines that its caption does not say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rag_core.domain import Box, Figure, Line, Page
from rag_core.reading.base import Face, RawPage
from rag_core.reading.hyphens import SOFT_HYPHEN
from rag_core.reading.sections import bare_words

# Fewer letters than this are a stain or a part of a photograph.
_LEAST_LETTERS = 4
Span = tuple[int, int]


def with_words(raw: RawPage, recognised: RawPage) -> RawPage:
    """The page with the words of its figures behind their captions; none of its pictures waits any longer."""
    figures = raw.page.figures
    own = raw.page.lines
    for at in sorted(range(len(figures)), key=lambda at: figures[at].end, reverse=True):
        if figures[at].awaits and figures[at].part:
            raw = _with_words_of(raw, at, _unsaid(recognised.page, figures[at], raw.page.text), ())
        elif figures[at].awaits:
            found = () if recognised.page.turned else tuple(_found(recognised.page, figures[at], own))
            words = "\n".join(recognised.page.text[line.start : line.end] for line in found)
            raw = _with_words_of(raw, at, words, found)
    return raw


def pictures_page(number: int, read: Sequence[tuple[str, Page]]) -> RawPage:
    """The pictures of a page, each by its name with how it was recognised, as one page."""
    text, figures = "", []
    for part, page in read:
        text += "\n\n" if text else ""
        figures.append(Figure(0, 0, part=part, words=(len(text), len(text) + len(page.text))))
        text += page.text
    name = next((page.recogniser for _, page in read), "")
    return RawPage(Page(number, text, recogniser=name, figures=tuple(figures)))


def picture_lines(page: Page, read: Page) -> Iterator[Line]:
    """The lines of a page's text that stand in its pictures. read: the page as it was recognised."""
    text, said = (each.text.replace(SOFT_HYPHEN, "-") for each in (page, read))
    for figure in page.figures:
        at, end = figure.words or (0, 0)
        for line in read.lines:
            at += len(text[at:end]) - len(text[at:end].lstrip("\n"))
            words = said[line.start : line.end]
            if figure.box and _within(line.box, figure.box) and text.startswith(words, at, end):
                yield line.moved(at - line.start)
                at += len(words)


def own_text(page: Page) -> str:
    """A page's text without the words in its pictures."""
    return "".join(page.text[start:end] for start, end in outside(page, (0, len(page.text))))


def outside(page: Page, span: Span) -> Iterator[Span]:
    """The parts of a span of a page's text that are not in its pictures."""
    start, end = span
    for words in _words(page):
        if start < words[0] < end:
            yield start, words[0]
        if words[0] < end:
            start = max(start, words[1])
    if start < end:
        yield start, end


def own_span(page: Page, span: Span) -> Span:
    """A span that is not in a picture, in the page's own text."""
    gone = sum(words[1] - words[0] for words in _words(page) if words[1] <= span[0])
    return span[0] - gone, span[1] - gone


def _words(page: Page) -> list[Span]:
    return sorted(figure.words for figure in page.figures if figure.words and not figure.awaits)


def behind_words(page: Page, start: int) -> int:
    """Where a place of the page's own text is, now that its pictures have their words."""
    for words in _words(page):
        if words[0] <= start:
            start += words[1] - words[0]
    return start


def _unsaid(read: Page, figure: Figure, text: str) -> str:
    """What was read in a picture that a file holds, but for what its caption or the words for it say."""
    at, end = next((one.words for one in read.figures if one.part == figure.part and one.words), (0, 0))
    said = bare_words(text[figure.start : figure.end])
    lines = read.text[at:end].replace(SOFT_HYPHEN, "").split("\n")
    return "\n".join(line for line in lines if (bare := bare_words(line)) and bare not in said)


def _found(read: Page, figure: Figure, own: Sequence[Line]) -> Iterator[Line]:
    for line in read.lines:
        is_own = any(_within(line.box, one.box) or _within(one.box, line.box) for one in own)
        if figure.box and _within(line.box, figure.box) and not is_own:
            yield line


def _with_words_of(raw: RawPage, which: int, words: str, found: Sequence[Line]) -> RawPage:
    """The page with the words of one of its figures. found: their lines, where the page has places for them."""
    page, figure = raw.page, raw.page.figures[which]
    if sum(map(str.isalnum, words)) < _LEAST_LETTERS:
        kept = replace(figure, words=None)
        return replace(raw, page=replace(page, figures=(*page.figures[:which], kept, *page.figures[which + 1 :])))
    gap = "\n" if figure.box else "\n\n"
    at = page.text.find(gap, figure.end) if figure.end else 0
    at = len(page.text) if at < 0 else at
    at = max([at, *(one.words[1] for one in page.figures if one.words and not one.awaits and one.words[0] == at)])
    piece = f"{gap}{words}" if at else f"{words}\n\n"
    figures = [one.behind(at, len(piece)) for one in page.figures]
    figures[which] = replace(figure, words=(at, at + len(piece)))
    first = next((place for place, line in enumerate(page.lines) if line.start >= at), len(page.lines))
    face = raw.faces[max(first - 1, 0)] if raw.faces else Face(0.0, False)
    lines = list(_placed(found, at + (1 if at else 0)))
    made = replace(
        page,
        text=page.text[:at] + piece + page.text[at:],
        lines=(*page.lines[:first], *lines, *(line.moved(len(piece)) for line in page.lines[first:])),
        hidden=tuple(span.behind(at, len(piece)) for span in page.hidden),
        figures=tuple(figures),
    )
    faces = [Face(face.size, False)] * len(lines)  # as of words that are no heading
    return replace(raw, page=made, faces=(*raw.faces[:first], *faces, *raw.faces[first:]))


def _placed(lines: Sequence[Line], at: int) -> Iterator[Line]:
    """The lines one below the other from a place of the text on."""
    for line in lines:
        yield line.moved(at - line.start)
        at += line.end - line.start + 1


def _within(inner: Box, outer: Box) -> bool:
    """Whether the middle of a box stands in another."""
    across = (inner.left + inner.right) / 2
    return outer.left <= across <= outer.right and outer.top <= inner.middle <= outer.bottom
