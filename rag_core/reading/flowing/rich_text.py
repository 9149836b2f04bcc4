"""Rich text (RTF), which striprtf turns into lines; its notes, comments, boxes, heads and feet are read beside it.

striprtf says nothing of type, pages, lists and cells: signs of our own are put where what is bold, hidden or deleted
begins and ends, where pages do, headings, the items of lists, and the rows and cells of tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from striprtf import striprtf

from rag_core.errors import LimitExceeded
from rag_core.reading.base import Details
from rag_core.reading.flowing.blocks import Block, Flow, Kind
from rag_core.reading.flowing.hidden import NOT_SHOWN, Hidden
from rag_core.reading.flowing.rich_asides import Asides, closed
from rag_core.reading.headings import reads_as_heading

_MOST_BYTES = 64 * 2**20
_BOLD, _PLAIN, _ROW, _CELL, _ROW_END, _PAGE = "\ue000", "\ue001", "\ue002", "\ue003", "\ue004", "\f"
_GONE, _KEPT, _UNSEEN, _SEEN, _ITEM, _MARKED = "\ue005", "\ue006", "\ue009", "\ue00a", "\ue007", "\ue008"
_LEVELS = "\ue010"  # and those behind it
_FLAGS = {"b": (_BOLD, _PLAIN), "deleted": (_GONE, _KEPT), "v": (_UNSEEN, _SEEN)}
_HIDDEN = re.compile(f"{_UNSEEN}([^{_SEEN}]*)(?:{_SEEN}|$)")
_DELETED = re.compile(f"{_GONE}([^{_KEPT}]*)(?:{_KEPT}|$)")
_STRUCTURE = re.compile(f"[^{_BOLD}{_PLAIN}{_ROW}{_CELL}{_ROW_END}{_PAGE}]")
_LISTED = re.compile(f"{_ITEM}([^{_MARKED}]*){_MARKED}")
_LEVEL = re.compile(f"[{_LEVELS}-\ue018]")
_OURS = re.compile("[\ue000-\uefff]")
_BULLET = re.compile(r"\{\s*(?:\\\*\s*)?\\(?:listtext|pntext)(?![a-z])")
_SIGN = re.compile(f"([{_BOLD}{_PLAIN}])")
# A row begins anew with each of its definitions; one without any begins with its line.
_ROWS = re.compile(f"({_ROW}[^{_ROW_END}{_PAGE}]*{_ROW_END}|[^{_ROW}{_ROW_END}{_PAGE}\n]*{_ROW_END})")
_STRAY = str.maketrans(dict.fromkeys((_ROW, _CELL, _ROW_END), " "))
_MARK_CHARS = 20
_NUMBERED = re.compile(r"\\u(-?\d+)")
_WORD = re.compile(
    r"\\[\\{}]|\\(b0?|deleted0?|v0?|plain|page|pagebb|sect|outlinelevel[0-8]|trowd|row|nestcell|cell)(?![a-z\d-])|[{}]"
)
_PAGES = ("page", "pagebb", "sect")
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
    """A line, or a row of a table, without signs. level: of a heading that is said to be one, else 0."""

    text: str
    is_heading: bool = False
    cells: list[str] | None = None
    level: int = 0
    mark: str = ""


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
    signed = _with_signs(_with_items(asides.source, plain))
    text = striprtf.rtf_to_text(signed, encoding, errors="replace")
    text = _DELETED.sub(lambda gone: _STRUCTURE.sub("", gone[1]), text)
    hidden = [Hidden(_OURS.sub("", found[1]), NOT_SHOWN) for found in _HIDDEN.finditer(text)]
    text = text.replace(_UNSEEN, "").replace(_SEEN, "")
    return Flow(chain(asides.around, _blocks(text, asides)), Details(title, author), hidden=hidden)


def _possible(found: re.Match[str]) -> str:
    """A character by its number, of 16 bits as rich text has them; the sign for none where there is none such."""
    is_one = len(found[1]) <= 6 and -0x8000 <= int(found[1]) <= 0xFFFF
    return found[0] if is_one else rf"\u{0xFFFD}"


def _with_signs(source: str) -> str:
    """The source with signs, as characters that it names by number; what a group sets ends with the group."""
    on: frozenset[str] = frozenset()
    around: list[frozenset[str]] = []

    def sign(found: re.Match[str]) -> str:
        nonlocal on
        before, word = on, found[1] or ""
        if found[0] == "{":
            around.append(on)
        elif found[0] == "}":
            on = around.pop() if around else frozenset()
        elif word in _PAGES:
            return rf"\u{ord(_PAGE)} {found[0]}"
        elif word in _PLACED:
            return rf"\u{ord(_PLACED[word])} {{}}"  # the braces keep what follows from being skipped
        elif word.startswith("outlinelevel"):
            return rf"\u{ord(_LEVELS) + int(word[-1])} {{}}"
        elif word == "plain":
            on = frozenset()
        elif word:
            on = on - {word.rstrip("0")} if word.endswith("0") else on | {word}
        signs = (_FLAGS[flag][flag not in on] for flag in _FLAGS if (flag in on) != (flag in before))
        return "".join(rf"\u{ord(one)} " for one in signs) + found[0]

    return _WORD.sub(sign, source)


def _with_items(source: str, plain: Callable[[str], str]) -> str:
    """The source with signs around the marks of lists: a number as it is, a dot for whatever else stands there."""
    pieces, position = list[str](), 0
    for found in _BULLET.finditer(source):
        if found.start() >= position:
            end = closed(source, found.start(), len(source))
            said = plain(_BULLET.sub("", source[found.start() : end - 1])).strip()
            mark = said if any(map(str.isalnum, said)) and len(said) <= _MARK_CHARS else ""
            pieces += [source[position : found.start()], rf"\u{ord(_ITEM)} {{}}{mark}\u{ord(_MARKED)} {{}}"]
            position = end
    return "".join([*pieces, source[position:]])


def _blocks(text: str, asides: Asides) -> Iterator[Block]:
    pages = [list(_pieces(page)) for page in text.split(_PAGE)]
    said = [piece.is_heading for pieces in pages for piece in pieces if piece.text.strip()]
    # Where most lines are bold, or others are said to be headings, they are none.
    has_headings = 2 * sum(said) <= len(said) and not any(piece.level for pieces in pages for piece in pieces)
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
            is_heading = piece.level or (piece.is_heading and has_headings)
            kind: Kind = "heading" if is_heading else "item" if piece.mark else "paragraph"
            yield Block(kind, bare, level=piece.level or 1, mark=piece.mark)
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
            cells = [
                " ".join(_SIGN.sub("", _LEVEL.sub("", cell)).translate(_STRAY).split())
                for cell in part.split(_CELL)[:-1]
            ]
            yield _Piece("\n".join(cells), cells=cells)
            bold = ([bold] + [sign == _BOLD for sign in _SIGN.findall(part)])[-1]
        elif part.strip():
            for line in part.translate(_STRAY).split("\n"):
                whole, is_bold, bold = _unsigned(line, bold)
                listed, levels = _LISTED.search(whole), _LEVEL.findall(whole)
                whole = _LEVEL.sub("", _LISTED.sub("", whole))
                level = ord(levels[-1]) - ord(_LEVELS) + 1 if levels and whole.strip() else 0
                mark = (listed[1].strip() or "•") if listed and not level else ""
                yield _Piece(whole, is_bold and not mark and reads_as_heading(whole), level=level, mark=mark)


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
