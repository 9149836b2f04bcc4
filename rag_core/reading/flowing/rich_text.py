"""Rich text (RTF), which striprtf turns into lines; its tables' cells end in upright strokes.

striprtf says nothing of type and pages: signs of our own are put where bold begins and ends, and where pages do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from striprtf.striprtf import rtf_to_text

from rag_core.errors import LimitExceeded
from rag_core.reading.base import Details
from rag_core.reading.flowing.blocks import Block, Flow
from rag_core.reading.headings import reads_as_heading

_MOST_BYTES = 64 * 2**20
_BOLD, _PLAIN, _PAGE = "\ue000", "\ue001", "\f"
_SIGN = re.compile(f"([{_BOLD}{_PLAIN}])")
_NUMBERED = re.compile(r"\\u(-?\d+)")
_WORD = re.compile(r"\\[\\{}]|\\(b0?|plain|page)(?![a-z\d-])|[{}]")
_TITLE = re.compile(r"\{\\title\b([^{}]*)\}")


def read(path: Path, max_chars: int) -> Flow:
    """Read a rich text file. Raises LimitExceeded for one that would take too long."""
    size = path.stat().st_size
    if size > _MOST_BYTES:
        raise LimitExceeded(f"The rich text has {size:,} bytes, more than {_MOST_BYTES:,}.")
    source = _NUMBERED.sub(_possible, path.read_bytes().decode("latin-1"))
    title = _TITLE.search(source)
    details = Details(rtf_to_text(title[1], errors="replace").strip() if title else "")
    return Flow(_blocks(rtf_to_text(_with_signs(source), errors="replace")), details)


def _possible(found: re.Match[str]) -> str:
    """A character by its number, of 16 bits as rich text has them; the sign for none where there is none such."""
    is_one = len(found[1]) <= 6 and -0x8000 <= int(found[1]) <= 0xFFFF
    return found[0] if is_one else rf"\u{0xFFFD}"


def _with_signs(source: str) -> str:
    """The source with signs, as characters that it names by number; what a group sets ends with the group."""
    bold = False
    around: list[bool] = []

    def sign(found: re.Match[str]) -> str:
        nonlocal bold
        before = bold
        if found[0] == "{":
            around.append(bold)
        elif found[0] == "}":
            bold = around.pop() if around else False
        elif found[1] == "page":
            return rf"\u{ord(_PAGE)} {found[0]}"
        elif found[1]:
            bold = found[1] == "b"
        return found[0] if bold == before else rf"\u{ord(_BOLD if bold else _PLAIN)} {found[0]}"

    return _WORD.sub(sign, source)


def _blocks(text: str) -> Iterator[Block]:
    pages = [list(_lines(page)) for page in text.split(_PAGE)]
    said = [is_heading for lines in pages for line, is_heading in lines if line.strip()]
    has_headings = 2 * sum(said) <= len(said)  # where most lines are bold, they are none
    for number, lines in enumerate(pages):
        if number:
            yield Block("page")
        for is_row, found in groupby(lines, key=lambda line: line[0].rstrip().endswith("|")):
            if is_row:
                yield Block("table", rows=[line.rstrip()[:-1].split("|") for line, _ in found])
            else:
                for line, is_heading in found:
                    yield Block("heading" if is_heading and has_headings else "paragraph", line)


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """The lines of a page without signs, each with whether it is bold throughout and reads as a heading."""
    bold = False
    for line in text.split("\n"):
        pieces, is_bold = [], True
        for piece in _SIGN.split(line):
            if _SIGN.match(piece):
                bold = piece == _BOLD
            else:
                pieces.append(piece)
                is_bold = is_bold and (bold or not piece.strip())
        whole = "".join(pieces)
        yield whole, is_bold and reads_as_heading(whole)
