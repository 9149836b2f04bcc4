"""Answers as blocks of runs, which the face draws as plain text: no link is followed, no image loaded, no HTML read.

A block is a paragraph, a list item, a heading or a table; its runs are stretches of text in one style, numbers of
citations, the hosts that links lead to, and the ends of sentences that no passage holds. The same layout serves the
growing answer and the whole one, so that nothing moves when it is finished.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NotRequired, TypedDict
from urllib.parse import urlsplit

from rag_core.domain import Sentence

Span = tuple[int, int]

_BULLET = re.compile(r"\s*([-*•]|\d{1,2}[.)])\s+")
_HEADING = re.compile(r"#{1,6}\s+")
_INLINE = re.compile(
    r"(?P<image>!?)\[(?P<label>[^\]\[\n]*)\]\((?P<address>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)[^()\n]*\)"
    r"|(?P<bare>https?://[^\s<>\"'\])]+)"
    r"|\*\*(?P<strong>[^*\n]+)\*\*|`(?P<code>[^`\n]+)`|\s*\[(?P<cite>\d{1,3}(?:\s*,\s*\d{1,3})*)\]",
    re.UNICODE,
)
_ROW = re.compile(r"\s*\|")
_RULE = re.compile(r"[\s|:-]+")
_CELL = re.compile(r"[^|\s](?:[^|]*[^|\s])?|(?<=\|)\s*(?=\|)")
_SKIPPED = re.compile(r"\s|[*`|]|\[\d{1,3}(?:\s*,\s*\d{1,3})*\]")


class Run(TypedDict):
    """Text in one style, the number of a citation, where the link before leads, or the end of a sentence in doubt."""

    text: NotRequired[str]
    style: NotRequired[str]
    doubt: NotRequired[bool]
    cite: NotRequired[int]
    end_of_doubt: NotRequired[bool]
    host: NotRequired[str]
    address: NotRequired[str]


class Block(TypedDict):
    """One paragraph (`p`), list item (`li`, with its label), heading (`h`) or table, whose `rows` hold cells' runs."""

    kind: str
    label: str
    runs: list[Run]
    rows: NotRequired[list[list[list[Run]]]]


class _Lines(TypedDict):
    kind: str
    label: str
    spans: list[Span]


def blocks(text: str, sentences: Sequence[Sentence] = ()) -> list[Block]:
    """Lay out an answer. Without sentences (while it grows) the `[1]` in the text stand for citations."""
    text, placed = _place(text, sentences)
    laid_out = []
    for lines in _group(text):
        if lines["kind"] == "table":
            laid_out.append(_table(text, lines["spans"], placed))
            continue
        runs = _join(text, lines["spans"], placed)
        if runs:
            laid_out.append(Block(kind=lines["kind"], label=lines["label"], runs=runs))
    return laid_out


def _table(text: str, spans: Sequence[Span], placed: Sequence[tuple[Span, Sentence]]) -> Block:
    rows = []
    for span in spans:
        if not _RULE.fullmatch(text, *span):
            cells = [match.span() for match in _CELL.finditer(text, *span)]
            rows.append([_join(text, [cell], placed) for cell in cells])
    return Block(kind="table", label="", runs=[], rows=rows)


def _place(text: str, sentences: Sequence[Sentence]) -> tuple[str, list[tuple[Span, Sentence]]]:
    """Find each sentence in the text, whatever marks and spaces stand between its letters; where one is not there, the
    sentences alone become the text."""
    letters, places = _letters(text)
    placed: list[tuple[Span, Sentence]] = []
    cursor = 0
    for sentence in sentences:
        wanted, _ = _letters(sentence.text)
        start = letters.find(wanted, cursor)
        if start < 0 or not wanted:
            return _join_sentences(sentences)
        cursor = start + len(wanted)
        placed.append(((places[start], places[cursor - 1] + 1), sentence))
    return text, placed


def _letters(text: str) -> tuple[str, list[int]]:
    """The text without spaces and marks, and where each of its characters stands."""
    skipped = {place for match in _SKIPPED.finditer(text) for place in range(*match.span())}
    places = [place for place in range(len(text)) if place not in skipped]
    return "".join(text[place] for place in places), places


def _join_sentences(sentences: Sequence[Sentence]) -> tuple[str, list[tuple[Span, Sentence]]]:
    text, placed = "", []
    for sentence in sentences:
        text += " " if text else ""
        placed.append(((len(text), len(text) + len(sentence.text)), sentence))
        text += sentence.text
    return text, placed


def _group(text: str) -> Iterator[_Lines]:
    """Lines to blocks: an empty line, a bullet, a heading or a table's first row begins a new one."""
    block: _Lines | None = None
    offset = 0
    for line in text.splitlines(keepends=True):
        start, end = offset, offset + len(line.rstrip())
        offset += len(line)
        opening = _BULLET.match(line) or _HEADING.match(line)
        is_row = _ROW.match(line) is not None
        goes_on = block is not None and block["kind"] != "h" and is_row == (block["kind"] == "table")
        if opening is not None or start >= end or block is None or not goes_on:
            if block is not None and block["spans"]:
                yield block
            block = _Lines(kind="table", label="", spans=[]) if is_row else _begin(opening)
            start += opening.end() if opening else 0
        if start < end:
            block["spans"].append((start, end))
    if block is not None and block["spans"]:
        yield block


def _begin(opening: re.Match[str] | None) -> _Lines:
    if opening is None:
        return _Lines(kind="p", label="", spans=[])
    if opening.re is _HEADING:
        return _Lines(kind="h", label="", spans=[])
    label = opening.group(1)
    return _Lines(kind="li", label="•" if label in "-*•" else label, spans=[])


def _join(text: str, spans: Sequence[Span], placed: Sequence[tuple[Span, Sentence]]) -> list[Run]:
    runs: list[Run] = []
    for number, span in enumerate(spans):
        if number:
            runs.append(Run(text=" "))
        for part, style, cites in _inline(text, span):
            if style == "address":
                runs.extend(_led_to(text[slice(*part)]))
            elif cites and not placed:
                runs.extend(Run(cite=cite) for cite in cites)
            elif not cites:
                runs.extend(_decorate(text, part, style, placed))
    return _citations_of(runs, spans, placed)


def _inline(text: str, span: Span) -> Iterator[tuple[Span, str, tuple[int, ...]]]:
    """Cut a line into stretches of one style and citation marks."""
    cursor = span[0]
    for match in _INLINE.finditer(text, *span):
        if (address := match["address"] or match["bare"]) and not _host(address):
            continue  # leads nowhere else: text like any other
        if match.start() > cursor:
            yield (cursor, match.start()), "", ()
        cursor = match.end()
        if match["address"]:
            yield match.span("label"), "", ()
            yield (match.start(), match.end()) if match["image"] else match.span("address"), "address", ()
        elif match["bare"]:
            yield match.span(), "", ()
            if urlsplit(match["bare"]).netloc != _host(match["bare"]):  # not what it looks like, perhaps
                yield match.span(), "address", ()
        elif match.lastgroup == "cite":
            yield match.span(), "", tuple(int(number) for number in match["cite"].split(","))
        elif match.lastgroup is not None:
            yield match.span(match.lastgroup), match.lastgroup, ()
    if cursor < span[1]:
        yield (cursor, span[1]), "", ()


def _led_to(link: str) -> Iterator[Run]:
    """Where a link leads; an image is said to be left out."""
    image = link.startswith("![")
    address = link[link.index("](") + 2 :].split()[0].rstrip(")") if image else link
    host = _host(address)
    yield Run(host=f"image at {host}, not loaded" if image else host, address=address)


def _host(address: str) -> str:
    """The host of a web address as it is asked for (RFC 3490), in ASCII; empty where there is none."""
    try:
        host = urlsplit(address).hostname or ""
        return host.encode("idna").decode()
    except (ValueError, UnicodeError):
        return "an odd address" if "://" in address else ""


def _decorate(text: str, part: Span, style: str, placed: Sequence[tuple[Span, Sentence]]) -> Iterator[Run]:
    """One stretch, cut at the ends of sentences, each followed by its citations."""
    cursor = part[0]
    for (start, end), sentence in placed:
        if end <= part[0] or start >= part[1]:
            continue
        if start > cursor:
            yield Run(text=text[cursor:start], style=style)
            cursor = start
        stop = min(end, part[1])
        if stop > cursor:
            yield Run(text=text[cursor:stop], style=style, doubt=not sentence.supported)
        cursor = max(cursor, stop)
        if end <= part[1]:
            yield from _marks(sentence)
    if cursor < part[1]:
        yield Run(text=text[cursor : part[1]], style=style)


def _marks(sentence: Sentence) -> Iterator[Run]:
    yield from (Run(cite=number) for number in sentence.citations)
    if not sentence.supported:
        yield Run(end_of_doubt=True)


def _citations_of(runs: list[Run], spans: Sequence[Span], placed: Sequence[tuple[Span, Sentence]]) -> list[Run]:
    """Add the citations of sentences whose last character was part of a mark and therefore was not drawn."""
    drawn = sum(1 for run in runs if "cite" in run or "end_of_doubt" in run)
    if not placed or not spans:
        return runs
    here = [sentence for (_, end), sentence in placed if spans[0][0] < end <= spans[-1][1]]
    expected = [mark for sentence in here for mark in _marks(sentence)]
    return runs + expected[drawn:] if drawn < len(expected) else runs
