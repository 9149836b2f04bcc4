"""Rich text (RTF), which striprtf turns into lines; its notes, comments, boxes, heads and feet are read beside it.

striprtf says nothing of type, pages and cells: signs of our own are put where bold begins and ends, where pages do, and
where the rows and cells of tables do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from striprtf import striprtf

from rag_core.errors import LimitExceeded
from rag_core.reading.base import Details
from rag_core.reading.flowing.blocks import Block, Flow
from rag_core.reading.flowing.rich_asides import Asides
from rag_core.reading.headings import reads_as_heading

_MOST_BYTES = 64 * 2**20
_BOLD, _PLAIN, _ROW, _CELL, _ROW_END, _PAGE = "\ue000", "\ue001", "\ue002", "\ue003", "\ue004", "\f"
_SIGN = re.compile(f"([{_BOLD}{_PLAIN}])")
# A row begins anew with each of its definitions; one without any begins with its line.
_ROWS = re.compile(f"({_ROW}[^{_ROW_END}{_PAGE}]*{_ROW_END}|[^{_ROW}{_ROW_END}{_PAGE}\n]*{_ROW_END})")
_STRAY = str.maketrans(dict.fromkeys((_ROW, _CELL, _ROW_END), " "))
_NUMBERED = re.compile(r"\\u(-?\d+)")
_WORD = re.compile(r"\\[\\{}]|\\(b0?|plain|page|trowd|row|nestcell|cell)(?![a-z\d-])|[{}]")
_PLACED = {"trowd": _ROW, "cell": _CELL, "nestcell": _CELL, "row": _ROW_END}
_TITLE = re.compile(r"\{\\title\b([^{}]*)\}")
_AUTHOR = re.compile(r"\{\\author\b([^{}]*)\}")
_MACHINE = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
_HEAD = re.compile(r"\{\\rtf\d?\s*\\(mac|pca?)(?![a-z])")
_CODE_PAGE, _SKIPPED = re.compile(r"\\ansicpg\d+"), re.compile(r"\\uc\d")
# Numbers of character sets for which striprtf names encodings that Python has not.
_SETS = {78: "cp932", 79: "big5", 80: "cp949", 81: "cp1256", 82: "cp1255", 85: "gb18030"}
_SETS |= {86: "mac_romanian", 87: "mac_cyrillic", 88: "cp874", 89: "mac_latin2"}


class _Piece(NamedTuple):
    """A line, or a row of a table, without signs."""

    text: str
    is_heading: bool = False
    cells: list[str] | None = None


def read(path: Path, max_chars: int) -> Flow:
    """Read a rich text file. Raises LimitExceeded for one that would take too long."""
    size = path.stat().st_size
    if size > _MOST_BYTES:
        raise LimitExceeded(f"The rich text has {size:,} bytes, more than {_MOST_BYTES:,}.")
    striprtf.charset_map |= _SETS
    source = striprtf.remove_pict_groups(path.read_bytes().decode("latin-1"))
    source = _NUMBERED.sub(_possible, source)
    machine = _HEAD.match(source)
    encoding = _MACHINE[machine[1]] if machine else "cp1252"
    code_page, skipped = ("".join(one.findall(source, 0, 1000)[:1]) for one in (_CODE_PAGE, _SKIPPED))
    fonts = striprtf.font_table_group(source)

    def plain(group: str, skipped: str = "") -> str:
        return str(striprtf.rtf_to_text(f"{{\\rtf1{code_page}{skipped} {fonts}{group}}}", encoding, errors="replace"))

    title, author = (plain(found[1]).strip() if (found := one.search(source)) else "" for one in (_TITLE, _AUTHOR))
    asides = Asides(source, partial(plain, skipped=skipped))
    text = striprtf.rtf_to_text(_with_signs(asides.source), encoding, errors="replace")
    return Flow(chain(asides.around, _blocks(text, asides)), Details(title, author))


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
        elif found[1] in _PLACED:
            return rf"\u{ord(_PLACED[found[1]])} {{}}"  # the braces keep what follows from being skipped
        elif found[1]:
            bold = found[1] == "b"
        return found[0] if bold == before else rf"\u{ord(_BOLD if bold else _PLAIN)} {found[0]}"

    return _WORD.sub(sign, source)


def _blocks(text: str, asides: Asides) -> Iterator[Block]:
    pages = [list(_pieces(page)) for page in text.split(_PAGE)]
    said = [piece.is_heading for pieces in pages for piece in pieces if piece.text.strip()]
    has_headings = 2 * sum(said) <= len(said)  # where most lines are bold, they are none
    for number, pieces in enumerate(pages):
        if number:
            yield Block("page")
        rows: list[list[str]] = []
        beside: list[Block] = []
        for piece in pieces:
            bare, found = asides.parted(piece.text)
            if piece.cells is not None:
                rows.append([asides.parted(cell)[0] for cell in piece.cells])
                beside += found
                continue
            yield from _table(rows, beside)
            yield Block("heading" if piece.is_heading and has_headings else "paragraph", bare)
            yield from found
        yield from _table(rows, beside)


def _table(rows: list[list[str]], beside: list[Block]) -> Iterator[Block]:
    """A table and what stands beside it, both of which are begun anew."""
    yield Block("table", rows=list(rows))
    yield from beside
    rows.clear()
    beside.clear()


def _pieces(text: str) -> Iterator[_Piece]:
    """The lines of a page, each with whether it is bold throughout and reads as a heading, and its tables' rows."""
    bold = False
    for place, part in enumerate(_ROWS.split(text)):
        if place % 2:
            cells = [" ".join(_SIGN.sub("", cell).translate(_STRAY).split()) for cell in part.split(_CELL)[:-1]]
            yield _Piece("\n".join(cells), cells=cells)
            bold = ([bold] + [sign == _BOLD for sign in _SIGN.findall(part)])[-1]
        elif part.strip():
            for line in part.translate(_STRAY).split("\n"):
                whole, is_bold, bold = _unsigned(line, bold)
                yield _Piece(whole, is_bold and reads_as_heading(whole))


def _unsigned(line: str, bold: bool) -> tuple[str, bool, bool]:
    """A line without signs, whether it is bold throughout, and whether what follows is."""
    pieces, is_bold = [], True
    for piece in _SIGN.split(line):
        if _SIGN.match(piece):
            bold = piece == _BOLD
        else:
            pieces.append(piece)
            is_bold = is_bold and (bold or not piece.strip())
    return "".join(pieces), is_bold, bold
