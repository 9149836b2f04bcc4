"""Answers as blocks of runs, which the face draws as plain text: no link is followed, no image loaded, no HTML read.

A block is a paragraph, a list item, a heading or a table; its runs are stretches of text in one style, numbers of
citations, the hosts that links lead to, and the ends of sentences that no passage holds. The same layout serves the
growing answer and the whole one, so that nothing moves when it is finished. Lines are put into blocks here, since
Markdown's own rules lose text: cells that have no head, a number that is alone on its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NotRequired, TypedDict
from urllib.parse import urlsplit

from markdown_it import MarkdownIt

from pages.parts.language import _
from rag_core.domain import Sentence

# All that is read of Markdown within a line; HTML, addresses and the rest stay the text that they are.
_PARSER = MarkdownIt("zero").enable(["emphasis", "backticks", "link", "image"])
_PARSER.normalizeLink = lambda url: url  # type: ignore[method-assign]
_BULLET = re.compile(r"\s*([-*•]|\d{1,2}[.)])\s+")
_HEADING = re.compile(r"#{1,6}\s+")
_ROW = re.compile(r"\s*\|")
_RULE = re.compile(r"[\s|:-]+")
_CELL = re.compile(r"[^|\s](?:[^|]*[^|\s])?|(?<=\|)\s*(?=\|)")
_CITES_OR_ADDRESS = re.compile(r"\s*\[(?P<cites>\d{1,3}(?:\s*,\s*\d{1,3})*)\]|(?P<address>https?://[^\s<>\"'\])]+)")
_SKIPPED = re.compile(r"[\s*`|]")


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


def blocks(text: str, sentences: Sequence[Sentence] = ()) -> list[Block]:
    """Lay out an answer. Without sentences (while it grows) the `[1]` in the text stand for citations."""
    found = list(_group(text))
    sentences = [one for one in sentences if _letters(_runs(one.text))]
    if not sentences:
        return found
    spans = _place(found, sentences)
    if spans is None:  # the text has not all of them, word for word: they are the answer
        joined = [run for one in sentences for run in (Run(text=" ", style=""), *_runs(one.text))][1:]
        found = [Block(kind="p", label="", runs=joined)]
        spans = _place(found, sentences) or []
    at = 0
    owners = {place: number for number, span in enumerate(spans) for place in range(*span)}
    for runs in _stretches(found):
        marked: list[Run] = []
        for run in runs:
            before = len(marked)
            while "host" in run and before and not marked[before - 1].keys() & {"text", "host"}:
                before -= 1  # where a sentence's last word leads comes before its numbers
            marked[before:before] = _marked(run, at, owners, sentences)
            at += len(_letters([run]))
        runs[:] = marked
    return found


def _group(text: str) -> Iterator[Block]:
    """Lines to blocks: an empty line, a bullet, a heading or a table's first row begins a new one."""
    kind, label, lines = "p", "", list[str]()
    for line in [*text.splitlines(), ""]:
        opening = _BULLET.match(line) or _HEADING.match(line)
        is_row = _ROW.match(line) is not None
        goes_on = line.strip() and not opening and kind != "h" and is_row == (kind == "table")
        if not lines or not goes_on:
            yield from _block(kind, label, lines)
            bullet = opening[1] if opening and opening.re is _BULLET else ""
            kind = "li" if bullet else "h" if opening else "table" if is_row else "p"
            label, lines = "•" if bullet in ("-", "*", "•") else bullet, []
        if rest := line[opening.end() if opening else 0 :].strip():
            lines.append(rest)


def _block(kind: str, label: str, lines: Sequence[str]) -> Iterator[Block]:
    if kind == "table" and lines:
        rows = [[list(_runs(cell)) for cell in _CELL.findall(line)] for line in lines if not _RULE.fullmatch(line)]
        yield Block(kind="table", label="", runs=[], rows=rows)
    elif runs := list(_runs(" ".join(lines))):
        yield Block(kind=kind, label=label, runs=runs)


def _runs(text: str) -> Iterator[Run]:
    """What a line of Markdown holds, one style after the other. What leads nowhere else stays as it is written."""
    style, led_to = "", [""]
    for token in _PARSER.parseInline(text)[0].children or ():
        if token.type in ("strong_open", "strong_close") and token.markup == "**":
            style = "strong" if token.type == "strong_open" else ""
        elif token.type == "code_inline":
            yield Run(text=token.content, style="code")
        elif token.type == "link_open":
            led_to.append(str(token.attrs["href"]))
            if not _host(led_to[-1]):
                yield Run(text="[", style=style)
        elif token.type == "link_close":
            address = led_to.pop()
            host = _host(address)
            yield Run(host=host, address=address) if host else Run(text=f"]({address})", style=style)
        elif token.type == "image":
            yield from _image(token.content, str(token.attrs["src"]))
        else:
            yield from _text(token.content or token.markup, style)


def _image(label: str, address: str) -> Iterator[Run]:
    """An image is said to be left out."""
    if host := _host(address):
        yield Run(text=label, style="")
        yield Run(host=_("image at {host}, not loaded").format(host=host), address=address)
    else:
        yield Run(text=f"![{label}]({address})", style="")


def _text(text: str, style: str) -> Iterator[Run]:
    """Plain words, with the citations and addresses among them."""
    cursor = 0
    for match in _CITES_OR_ADDRESS.finditer(text):
        end = match.start() if match["cites"] else match.end()
        if end > cursor:
            yield Run(text=text[cursor:end], style=style)
        cursor = match.end()
        if match["cites"]:
            yield from (Run(cite=int(number)) for number in match["cites"].split(","))
        elif (host := _host(match["address"])) != re.split("[/?#]", match["address"])[2]:
            yield Run(host=host, address=match["address"])  # not what it looks like, perhaps
    if cursor < len(text):
        yield Run(text=text[cursor:], style=style)


def _host(address: str) -> str:
    """The host of a web address as it is asked for (RFC 3490), in ASCII; empty where there is none."""
    try:
        host = urlsplit(address).hostname or ""
        return host.encode("idna").decode()
    except (ValueError, UnicodeError):
        return _("an odd address") if "://" in address else ""


def _stretches(found: Sequence[Block]) -> Iterator[list[Run]]:
    """The runs of blocks, cell by cell where they are tables."""
    for block in found:
        yield from (cell for row in block.get("rows", [[block["runs"]]]) for cell in row)


def _letters(runs: Iterable[Run]) -> str:
    """Text without spaces and marks."""
    return _SKIPPED.sub("", "".join(run.get("text", "") for run in runs))


def _place(found: Sequence[Block], sentences: Sequence[Sentence]) -> list[tuple[int, int]] | None:
    """Where each sentence stands among the letters of the blocks; None where one is not there."""
    letters = "".join(map(_letters, _stretches(found)))
    spans, cursor = [], 0
    for sentence in sentences:
        wanted = "".join(map(_letters, _stretches(list(_group(sentence.text)))))
        start = letters.find(wanted, cursor)
        if start < 0 or not wanted:
            return None
        cursor = start + len(wanted)
        spans.append((start, cursor))
    return spans


def _marked(run: Run, at: int, owners: Mapping[int, int], sentences: Sequence[Sentence]) -> Iterator[Run]:
    """A run, whose first letter is the one at `at`, cut at the ends of sentences, each with its own citations."""
    if "cite" in run:
        return  # each sentence brings its own
    if "text" not in run:
        yield run
        return
    placed, last = [], at
    for char in run["text"]:
        is_letter = not _SKIPPED.match(char)
        within = is_letter or owners.get(last - 1) == owners.get(last)
        placed.append((char, owners.get(last) if within else None))
        last += is_letter
    for owner, chars in groupby(placed, key=itemgetter(1)):
        part = Run(text="".join(char for char, _ in chars), style=run["style"])
        at += len(_letters([part]))
        if owner is None:
            yield part
            continue
        yield part | Run(doubt=not sentences[owner].supported)
        if owners.get(at) != owner:
            yield from (Run(cite=number) for number in sentences[owner].citations)
            yield from () if sentences[owner].supported else (Run(end_of_doubt=True),)
