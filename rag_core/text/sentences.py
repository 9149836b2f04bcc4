"""Text to sentences with their exact spans, through line breaks of PDFs, headings, lists, tables and abbreviations.

The method: lines are joined into blocks wherever a line runs on, blocks are cut at full stops that are not part of an
abbreviation, an initial or a number, and what is longer than `LONGEST` characters is cut again at semicolons, commas
or spaces. Each piece says what it is, since a heading names an answer and never is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rag_core.text.wordlists import BEFORE_ORDINALS, NEVER_ENDS, SOMETIMES_ENDS, STARTERS

Kind = Literal["sentence", "row", "heading", "fragment"]

LONGEST = 480
"""Most characters of one sentence; longer ones are cut into parts."""

_LONGEST_REMEMBERED = 20_000  # characters: more than what is cut at a time
_LONGEST_CELL_LINE = 60  # characters: a longer line behind a row of cells is no part of its last cell


@dataclass(frozen=True, slots=True)
class Span:
    """A sentence (or row, heading, fragment) of a text: `text[start:end]`, and that text with its breaks joined."""

    start: int
    end: int
    text: str
    kind: Kind


# Where a run of signs may begin anywhere within itself, the work grows with the square of its length.
_STOP = re.compile(r"(?<![.!?…])[.!?…]+[\"'”’»)\]]*(?:\[\d{1,3}\])*(?=\s)|[。！？]+[」』”]*")
_WORD_BEFORE, _WORD_CHARS = re.compile(r"(\w+(?:\.\w+)*)$"), 40
_ORDINAL_DIGITS = 2
_OPENER = re.compile(r"\s*([\"'“‘«(\[]*)(\w*)")
_LINE = re.compile(r"[^\r\n]+")
ITEM_LABEL = re.compile(r"\(?\d{1,2}[.)]\s+(?:[^\s.!?:]+\s+){0,2}[^\s.!?:]+\.(?=\s)")
"""The name that a numbered item has before what it says: "2. Water. The pump failed."."""
LIST_ITEM = re.compile(r"(?:[-*+•‣◦▪●–—]|\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)])\s+\S")
_CODE = re.compile(r"(`{1,3})[^`\n]+\1")
# Marks of what is bold. Those in code, of powers ("2**3") and of names ("__init__") are kept.
_EMPHASIS = re.compile(
    r"(?P<kept>(?P<ticks>`{1,3})[^`\n]+(?P=ticks)|(?<!\w)__[a-z]+(?:_[a-z]+)*__(?!\w))"
    r"|(?<!\w)(?:\*\*|__)(?=\S)|(?<=\S)(?:\*\*|__)(?!\w)"
)
_BYLINE = re.compile(r"(?:written|compiled|edited|prepared|translated|reported|issued)\s+by\s+\S", re.IGNORECASE)
_MARKDOWN_HEADING = re.compile(r"#{1,6}\s+\S")
_RULE = re.compile(r"[\s|:+=_*~.\-–—]*")
_PAGE_NUMBER = re.compile(r"(?:page\s*)?[\divxlc]{1,5}(?:\s*(?:of|/)\s*\d+)?", re.IGNORECASE)
_NUMBERED_TITLE = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,2}){1,3}\.?|[IVX]{1,5}\.|(?:chapter|part|section|item)\s+\w+)\s", re.I
)
_DAY = r"(?:\d{4}-\d{2}-\d{2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4})"
_HOUR = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[ap]\.?m\.?)?"
_STAMPED = re.compile(rf"(?:(?P<full>\[?{_DAY}(?:,?\s+|T){_HOUR}|\[{_HOUR}\])|{_HOUR}\s)", re.I)
"""The time with which a message of a conversation or a line of a log begins: "[12/03/2024, 18:02] Leo: ..."."""
_LABEL = re.compile(r"[A-Z][\w().,/'’&-]*(?: [\w().,/'’&-]+){0,3}:\s+\S")
_CELL_GAP, _TAB_GAP = re.compile(r"\s*\|\s*|\t+|\s{3,}"), re.compile(r"\t+|\s{3,}")
_WIDE_GAP = re.compile(r"\S {3,}\S")
_FIGURE = re.compile(r"(?<!\w)[($€£+-]{0,8}\d[\d.,]*[%)]*(?!\w)")
_DATE = re.compile(
    r"(?:\d{1,2}\s+)?(?:January|February|March|April|May|June|July|August|September|October|November|December)\s+"
    r"(?:\d{1,2},?\s+)?\d{4}",
    re.I,
)
_ENDS_OPEN = re.compile(
    r"(?:[,;(–—-]|\b(?:and|or|of|the|a|an|in|to|for|with|by|on|at|from|as|is|are|was|were|that|its))$"
)
KEPT_HYPHEN = re.compile(
    r"\b(?:all|anti|co|cross|full|half|high|long|low|mid|multi|non|off|on|part|post|pre|self|short|so|well|year)-$",
    re.I,
)


def tidy(text: str) -> str:
    """One line of display text: line breaks joined, hyphenation at line ends undone, runs of spaces made one."""
    parts: list[str] = []
    for line in text.replace("\u00ad", "").splitlines():
        line = " ".join(line.split())
        if parts and re.search(r"[a-z]{2}-$", parts[-1]) and line[:1].islower():
            head = parts.pop()
            parts.append((head if KEPT_HYPHEN.search(head) else head[:-1]) + line)
        elif line:
            parts.append(line)
    return " ".join(parts)


def split_sentences(text: str) -> tuple[Span, ...]:
    """Cut a text into sentences, rows, headings and fragments, in order; rules and page numbers are left out.

    Remembered, since a long document is cut while it is read and once more as a whole; save for a text so long that
    many like it would fill memory.
    """
    return _remembered(text) if len(text) <= _LONGEST_REMEMBERED else _split(text)


def _split(text: str) -> tuple[Span, ...]:
    spans: list[Span] = []
    for start, end in _blocks(text):
        block = text[start:end]
        # A heading can hang on to the paragraph before it, so every piece is judged anew; rows of cells stay whole.
        is_whole = _is_row(block.strip()) or _block_kind(block) == "heading" or _is_message(block)
        pieces = _parts(text, start, end) if is_whole else _sentences(text, start, end)
        for first, last in pieces:
            shown = _display(text[first:last])
            if shown:
                spans.append(Span(first, last, shown, _block_kind(text[first:last])))
    return tuple(spans)


_remembered = lru_cache(maxsize=1024)(_split)


def _display(raw: str) -> str:
    """A span as a reader should see it, without the marks of headings, lists and table cells."""
    if "|" in _CODE.sub("", raw) or "\t" in raw:
        bare = raw.strip()
        is_tabbed = "\t" in bare and not bare[0] == bare[-1] == "|"  # a stroke is then of its cell
        between, gaps = ("\u2003", _TAB_GAP) if is_tabbed or "|" not in raw else (" | ", _CELL_GAP)
        shown = between.join(cell for cell in map(tidy, gaps.split(raw)) if cell)
    else:
        shown = tidy(raw)
    return _EMPHASIS.sub(lambda mark: mark["kept"] or "", re.sub(r"^(?:#{1,6}|[-*+•‣◦▪●])\s+", "", shown))


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Runs of lines that belong together, as spans without white space at their ends."""
    lines = [(m.start() + len(m[0]) - len(m[0].lstrip()), m.start() + len(m[0].rstrip())) for m in _LINE.finditer(text)]
    lines = [(start, end) for start, end in lines if end > start]
    width = max((end - start for start, end in lines), default=0)
    begin = previous = None
    for start, end in lines:
        line = text[start:end]
        if _RULE.fullmatch(line) or (_PAGE_NUMBER.fullmatch(line) and "\n" in text):
            if begin is not None and previous is not None:
                yield begin, previous[1]
            begin = previous = None
            continue
        if previous is not None and begin is not None and _breaks(text, previous, (start, end), width):
            yield begin, previous[1]
            begin = None
        begin = start if begin is None else begin
        previous = (start, end)
    if begin is not None and previous is not None:
        yield begin, previous[1]


def _breaks(text: str, before: tuple[int, int], after: tuple[int, int], width: int) -> bool:
    """Whether a new block begins with the second of two neighbouring lines."""
    upper, lower = text[before[0] : before[1]], text[after[0] : after[1]]
    if text.count("\n", before[1], after[0]) > 1:
        return True
    if _MARKDOWN_HEADING.match(upper) or _MARKDOWN_HEADING.match(lower) or LIST_ITEM.match(lower):
        return True
    if (stamp := _STAMPED.match(lower)) and (stamp["full"] or _STAMPED.match(upper)):
        return True
    if "|" in upper or "|" in lower or (_is_row(upper) and _is_row(lower)):
        return True
    begins = not lower[:1].islower()
    if "\t" in lower and "\t" not in upper and (begins or upper[-1] in ".!?:"):
        return True
    if "\t" in upper and "\t" not in lower and begins and len(lower) > _LONGEST_CELL_LINE:
        return True
    if begins and _LABEL.match(lower):
        return True
    if _ENDS_OPEN.search(upper) or not begins:
        return False
    # A line that stops well before the margin ends its block: a heading, a short item, the end of a paragraph.
    return len(upper) < 0.7 * width


def _is_message(block: str) -> bool:
    """Whether a block is what somebody or something said at a time: who said it holds for all of its sentences."""
    stamp = _STAMPED.match(block)
    return bool(stamp and stamp["full"])


def _is_row(line: str) -> bool:
    """Whether a line looks like a row of a table: cells, or mostly figures."""
    if line.count("|") >= 2 or "\t" in line or ("   " in line and _WIDE_GAP.search(line)):
        return True
    if len(_FIGURE.findall(line)) < 2:
        return False
    # "December 31, 2018" is no figure: a row of dates is a table's head, and a title may hold one.
    figures = len(_FIGURE.findall(_DATE.sub("", line)))
    return figures >= 2 and figures >= 0.3 * len(line.split()) and line[-1] not in ".!?"


def _block_kind(block: str) -> Kind:
    """What a block is, seen as a whole."""
    line = tidy(block)
    if _MARKDOWN_HEADING.match(line):
        return "heading"
    if _is_row(block.strip()):
        return "row"
    if (
        _BYLINE.match(line)
        or (LIST_ITEM.match(line) and not line[0].isdigit())
        or re.search(r"[.!?…。！？][\"'”’»)\]]*(?:\[\d{1,3}\])*$", line)
    ):
        return "sentence"
    count = len(line.split())
    if ":" in line[:-1] and count <= 30:
        return "row"
    if count <= 12 and len(line) <= 120 and not LIST_ITEM.match(line) and _looks_like_title(line):
        return "heading"
    return "fragment" if count <= 12 else "sentence"


def _looks_like_title(line: str) -> bool:
    """Capitals where a heading has them, or a number in front."""
    if _NUMBERED_TITLE.match(line):
        return True
    long_words = [word for word in re.findall(r"[^\W\d_]+", line) if len(word) >= 4]
    capitals = sum(word[0].isupper() for word in long_words)
    return not long_words or capitals >= 0.6 * len(long_words) or len(long_words) <= 2


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Sentences of one block."""
    begin = start
    for match in _STOP.finditer(text, start, end):
        if match.end() < end and _ends_sentence(text, begin, match, end):
            yield from _parts(text, begin, match.end())
            begin = match.end() + len(text[match.end() : end]) - len(text[match.end() : end].lstrip())
    yield from _parts(text, begin, end)


def _ends_sentence(text: str, begin: int, stop: re.Match[str], end: int) -> bool:
    """Whether this punctuation ends a sentence, judged by the words on either side."""
    if (label := ITEM_LABEL.match(text, begin, end)) and stop.end() <= label.end():
        return False
    opener = _OPENER.match(text, stop.end(), end)
    following = opener[2] if opener else ""
    if stop[0][0] in "。！？":
        return True
    if following[:1].islower() and not (opener and opener[1]):
        return False
    if stop[0][0] != ".":
        return True
    before = _WORD_BEFORE.search(text, max(begin, stop.start() - _WORD_CHARS), stop.start())
    word = before[1] if before else ""
    if before and len(word) <= _ORDINAL_DIGITS and word.isdigit() and following.casefold() not in BEFORE_ORDINALS:
        *_, behind = text[max(begin, before.start() - _WORD_CHARS) : before.start()].split() or [""]
        if behind.casefold() in BEFORE_ORDINALS:
            return False
    if len(word) == len(following) == 1 and word.islower():  # "e. V.", "z. B."
        return False
    if word.casefold() in NEVER_ENDS or (word.isdigit() and before is not None and before.start() == begin):
        return word.casefold() in {"no", "art", "mt"} and following in STARTERS
    if word.casefold() in SOMETIMES_ENDS or (len(word) == 1 and word.isupper()):
        return following in STARTERS and not (len(word) == 1 and following == "A")
    return True


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The span itself, or its parts where it is too long to be read as one sentence."""
    while end - start > LONGEST:
        window = text[start : start + LONGEST]
        cut = max(
            window.rfind("; "), window.rfind(";\n"), window.rfind(" \n", LONGEST // 2) if "\n\n" in window else -1
        )
        if cut < LONGEST // 3:
            cut = max(window.rfind(", "), window.rfind(",\n"))
        if cut < LONGEST // 3:
            cut = max(window.rfind(" "), window.rfind("\n"))
        cut = LONGEST - 1 if cut < LONGEST // 3 else cut
        yield start, start + len(window[: cut + 1].rstrip())
        start += cut + 1
        start += len(text[start:end]) - len(text[start:end].lstrip())
    if end > start:
        yield start, end
