"""Web pages: headings, paragraphs, lists and tables of HTML as lxml reads it. Nothing is run and nothing is fetched.

What stands around a page's main text (menus, notices, footers) is taken off by trafilatura (Barbaresi 2021), where a
page has such things.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lxml import etree, html

from rag_core.errors import UnreadableDocument
from rag_core.reading.base import Details
from rag_core.reading.data_uris import data_part
from rag_core.reading.encoding import decode_as
from rag_core.reading.flowing import archive
from rag_core.reading.flowing.blocks import Block, Flow, Kind, picture
from rag_core.reading.flowing.hidden import Hidden
from rag_core.reading.flowing.layout import is_figure
from rag_core.reading.flowing.sheet import Sheet
from rag_core.reading.flowing.unseen import UNSEEN, hidden_note, hidden_parts, hidden_texts, is_hidden
from rag_core.reading.flowing.web_around import drop_around
from rag_core.reading.headings import reads_as_heading
from rag_core.reading.text import clean, raised, read_text
from rag_core.text.invisible import taken_out

_BETWEEN_TAGS = (
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer"
    " form header hgroup hr html legend li main nav ol option p pre section summary table tbody td tfoot th thead tr ul"
    " h1 h2 h3 h4 h5 h6"
)
_BETWEEN = frozenset(_BETWEEN_TAGS.split())
_LEVELS = {f"h{level}": level for level in range(1, 7)}
_AROUND = "//nav|//footer|//aside|//*[@role='navigation' or @role='contentinfo' or @role='complementary']"
_PUBLISHED = "//meta[@property='article:published_time' or @itemprop='datePublished' or @name='date']/@content"
_DESCRIBED = "//meta[@name='description' or @property='og:description']/@content"
_DESCRIPTION_CHARS = 80  # of one that is cut short the beginning tells whether the text has it
_YEAR = re.compile(r"(?:19|20)\d\d(?=-|$)")
_HEADS, _ROWS = "//h2 | //h3", "//tr"
_PARTS = "//p | //li | //tr | //h1 | //h2 | //h3 | //pre"
_DECLARED = re.compile(rb"""(?:<meta[^>]{0,200}?charset|<\?xml[^>]{0,100}?encoding)\s*=\s*["']?([\w-]{2,40})""", re.I)
# Elements that XML closes as they open, for HTML would have them go on.
_XHTML = re.compile(r"<\?xml|xmlns=.http://www\.w3\.org/1999/xhtml")
_CLOSED = re.compile(r"<(?!(?:br|hr|img|input|meta|link|col|area|base|embed|source|track|wbr|param)\b)(\w++)([^<>]*)/>")
_BOLD = re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)", re.IGNORECASE)
_SPACES, _LINE_ENDS = re.compile(r"[ \t\r\n\f\xa0]+"), re.compile(r" *\n *")
# Less of a page's text, or of its tables' rows, than this share is not its main text: a part was taken for the whole.
_LEAST_MAIN = 0.25
_MAIN_CHARS = 2_000_000  # what is longer is no article, and finding its main text takes long
_MOST_COLUMNS, _MOST_ROWS, _MOST_IN_CELL = 256, 65_535, 2000
_ICON_PX, _TERM_CHARS = 48, 60


def read(path: Path, max_chars: int) -> Flow:
    """Read an HTML file. Raises LimitExceeded for one that is too large."""
    text, note = _decoded(path, max_chars)
    root = parsed(text)
    drop_around(root)
    main, title, author = (
        _main(root, len(text)),
        _said(root, "//title/text()"),
        _said(root, "//meta[@name='author']/@content"),
    )
    said = _YEAR.match(_said(root, _PUBLISHED))
    year = int(said[0]) if said else None
    notes = tuple(filter(None, (note, taken_out(text), hidden_note(hidden_texts(root)))))
    details = Details(title, author, year, language=root.get("lang", ""), notes=notes)
    return Flow(_described(root, main), details, _marked(root))


def _described(root: Any, main: Any) -> Iterator[Block]:
    """A page's blocks; below its heading what it says of itself for search engines, unless its text says that."""
    said, found = _said(root, _DESCRIBED), blocks(main)
    first = next(found, None)
    if first is not None and first.kind == "heading":
        yield first
        first = next(found, None)
    if said and said.rstrip(" .…")[:_DESCRIPTION_CHARS] not in " ".join("".join(main.itertext()).split()):
        yield Block("paragraph", said)
    if first is not None:
        yield first
    yield from found


def parsed(text: str) -> Any:
    """The root element of a page, or of a part of one; cells of its tables that reach over others are divided.

    Raises UnreadableDocument where tags are nested so deeply that a part of the text would be lost.
    """
    # A declaration of the encoding is about bytes, which these no longer are.
    source = re.sub(r"^\s*<\?xml[^>]*\?>", "", clean(text))
    if _XHTML.search(text, 0, 2000):
        source = _CLOSED.sub(r"<\1\2></\1>", source)
    parser = html.HTMLParser(no_network=True, remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        root = html.document_fromstring(source, parser=parser)
    except etree.ParserError:  # nothing but blanks and comments
        return html.document_fromstring("<p></p>")
    if any(error.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for error in parser.error_log):
        raise UnreadableDocument("The page's tags are nested more than 2,048 deep.", help="Save its text as a file.")
    for caption in root.xpath("//figure[.//table]/figcaption"):
        caption.getparent().insert(0, caption)  # one below its table would be parted from it
    for mark in root.iter("sup"):
        text = "".join(mark.itertext()).strip()
        if raised(text) != text:
            del mark[:]
            mark.text = raised(text)
    for term in list(root.iter("dt")):
        _join(term, term.getnext())
    for table in root.iter("table"):
        if next(table.iterdescendants("table"), None) is None:  # others are frames
            _divide(table)
    return root


def blocks(root: Any, part_of: Callable[[str], str] = data_part) -> Iterator[Block]:
    """The blocks of what is below an element, in order. part_of: from a picture's address to its name in the file."""
    return _Walk(root, part_of).blocks()


class _Walk:
    """Goes through elements without recursion: pages may nest as deeply as the parser allows."""

    def __init__(self, root: Any, part_of: Callable[[str], str]) -> None:
        self._part_of = part_of
        self._pictures: tuple[str, ...] = ()
        self._is_caption = False
        self._events = etree.iterwalk(root, events=("start", "end"))
        self._root = root
        self._skipped: Any = None  # the element whose inside is passed over: it ends without having begun
        self._words: list[str] = []
        self._kind: Kind = "paragraph"
        self._level = 1
        self._kept = 0
        # A page without headings has bold lines for them: how deep in bold it is, and whether all that was said is.
        self._is_plain = next(root.iter(*_LEVELS), None) is None
        self._bold = 0
        self._is_bold = True
        self._numbers: list[int | None] = []  # of the lists that are open; None for one of bullets

    def blocks(self) -> Iterator[Block]:
        for event, element in self._events:
            tag = element.tag
            if event == "end":
                yield from self._end(element, tag)
            elif tag in UNSEEN or is_hidden(element):
                self._skip(element)
            elif tag == "table" and element is not self._root and _has_cells(element):
                yield from self._told()
                yield from _table(element)
                self._skip(element)
            else:
                yield from self._start(element, tag)
        yield from self._told()
        if self._pictures:
            yield Block("paragraph", pictures=self._pictures)

    def _skip(self, element: Any) -> None:
        self._events.skip_subtree()
        self._skipped = element

    def _start(self, element: Any, tag: str) -> Iterator[Block]:
        if tag in _BETWEEN:
            yield from self._told()
        if tag in _LEVELS:
            self._kind, self._level = "heading", _LEVELS[tag]
        elif tag in ("ol", "ul"):
            self._numbers.append(0 if tag == "ol" else None)
        elif tag == "li":
            self._kind = "item"
            if self._numbers and (number := self._numbers[-1]) is not None:
                self._numbers[-1] = number + 1
        elif tag == "br":
            self._words.append("\n")
        elif tag == "img" and not _is_icon(element):
            self._pictures = (*self._pictures, self._part_of(element.get("src", "")))
            if told := picture(_alternative(element)):
                self._words.append(f" {told} ")
        elif tag == "figcaption":
            self._is_caption = True
        elif tag == "pre":
            self._kept += 1
        self._bold += _is_bold(element)
        self._say(element.text)

    def _end(self, element: Any, tag: str) -> Iterator[Block]:
        if tag in _BETWEEN:
            yield from self._told()
            self._kind, self._is_caption = "paragraph", self._is_caption and tag != "figcaption"
        if element is self._skipped:
            self._skipped = None
        else:
            self._kept -= tag == "pre"
            self._bold -= _is_bold(element)
            if tag in ("ol", "ul"):
                self._numbers.pop()
        if element is not self._root:
            self._say(element.tail)

    def _say(self, text: str | None) -> None:
        if text:
            self._words.append(text if self._kept else _SPACES.sub(" ", text))
            self._is_bold = self._is_bold and (self._bold > 0 or not text.strip())

    def _told(self) -> Iterator[Block]:
        """What was said since the last block, as one."""
        text = "".join(self._words)
        text = text.strip("\n") if self._kept else _LINE_ENDS.sub("\n", re.sub(" +", " ", text)).strip()
        self._words.clear()
        if text.strip():
            if self._is_plain and self._is_bold and self._kind == "paragraph" and reads_as_heading(text):
                self._kind, self._level = "heading", 1
            number = self._numbers[-1] if self._numbers else None
            mark = f"{number}." if number else "•"
            yield Block(
                self._kind, text, self._level, mark=mark, pictures=self._pictures, is_caption=self._is_caption
            )  # fmt: skip
            self._kind, self._pictures = "paragraph", ()
        self._is_bold = True


def _is_bold(element: Any) -> bool:
    return element.tag in ("b", "strong") or _BOLD.search(element.get("style", "")) is not None


def _table(table: Any) -> Iterator[Block]:
    for caption in table.iterchildren("caption"):
        yield Block("paragraph", _words(caption))
    rows = (row for row in table.iter("tr") if not is_hidden(row) and not is_hidden(row.getparent()))
    yield Block("table", rows=([_words(cell) for cell in row.iterchildren("td", "th")] for row in rows))


def _words(element: Any) -> str:
    if not len(element):  # most cells of tables
        return "" if is_hidden(element) else " ".join((element.text or "").split())
    return " ".join(block.text for block in blocks(element))


def _has_cells(table: Any) -> bool:
    """Whether a table holds cells beside each other and no more: others are frames around text."""
    rows = [list(row.iterchildren("td", "th")) for row in table.iter("tr")]
    framed = next(table.iterdescendants("table", "h1", "h2", "h3"), None) is not None
    return (
        not framed
        and any(len(cells) > 1 for cells in rows)
        and all(sum(map(len, cell.itertext())) <= _MOST_IN_CELL for cells in rows for cell in cells)
    )


def _join(term: Any, meaning: Any) -> None:
    """Put a short term into the line of what it means, "Due date: 1 May", where both are seen."""
    name = " ".join("".join(term.itertext()).split())
    is_named = meaning is not None and meaning.tag == "dd" and 0 < len(name) <= _TERM_CHARS
    if is_named and not is_hidden(term) and not is_hidden(meaning):
        term.tag = "span"  # with its class, by which a style sheet may hide it
        meaning.insert(0, term)
        term.tail = f"{'' if name.endswith(':') else ':'} {term.tail or ''}{meaning.text or ''}"
        meaning.text = None


def _divide(table: Any) -> None:
    """Give each place of a table a cell. A head that reaches over several columns stands over each, and what names
    several rows before each."""
    going_on: dict[int, tuple[int, str]] = {}
    for row in table.iter("tr"):
        column, cells = 0, list(row.iterchildren("td", "th"))
        for cell in [*cells, None]:
            while column in going_on:
                left, text = going_on.pop(column)
                _put(row, cell, text if not column else "")
                if left > 1:
                    going_on[column] = (left - 1, text)
                column += 1
            if cell is None:
                break
            columns, rows = _span(cell, "colspan", _MOST_COLUMNS), _span(cell, "rowspan", _MOST_ROWS)
            text = _words(cell) if columns > 1 or rows > 1 else ""
            is_head = len(cells) > 1 and (cell.tag == "th" or (cell is not cells[0] and not is_figure(text)))
            for place in range(columns):
                if rows > 1:
                    going_on[column + place] = (rows - 1, text)
                if place:
                    _put(row, cell.getnext(), text if is_head else "")
            column += columns


def _span(cell: Any, name: str, most: int) -> int:
    """How far a cell reaches, which it then no longer says."""
    return min(max(archive.number(cell.attrib.pop(name, None), 1), 1), most)


def _put(row: Any, before: Any, text: str) -> None:
    cell = etree.Element("td")
    cell.text = text
    if before is None:
        row.append(cell)
    else:
        before.addprevious(cell)


def _main(root: Any, chars: int) -> Any:
    """The main text of a page that has other things around it, else all of it."""
    if not root.xpath(_AROUND):
        return root
    rest = copy.deepcopy(root)
    for element in rest.xpath(_AROUND):
        if element.getparent() is not None:
            element.drop_tree()
    words = len(_words(rest))
    if not words:
        return root
    if chars < _MAIN_CHARS:
        found = _article(root)
        # Of a short page it gives the whole as one paragraph, of others all as paragraphs.
        main = html.document_fromstring(found) if found else root
        is_laid_out = len(main.xpath(_PARTS)) > 1
        is_flat = len(main.xpath(_ROWS)) < _LEAST_MAIN * len(rest.xpath(_ROWS))
        is_flat = is_flat or bool(rest.xpath(_HEADS) and not main.xpath(_HEADS))
        if found and is_laid_out and not is_flat and len(_words(main)) >= _LEAST_MAIN * words:
            return main
    return rest


def _article(root: Any) -> str:
    """What trafilatura finds to be the main text of a page, as HTML; nothing where it finds none."""
    import trafilatura  # takes a fifth of a second

    try:
        found = trafilatura.extract(
            _plainer(copy.deepcopy(root)), output_format="html", include_comments=False, include_images=True,
            favor_recall=True,
        )  # fmt: skip
    except Exception:  # noqa: BLE001 - whatever it stumbles over: the page is then read as a whole
        return ""
    return found or ""


def _plainer(root: Any) -> Any:
    """A page without what trafilatura would get wrong: it takes code out of its line and shows icons' words."""
    for element in list(root.iter("code", "kbd", "samp", "tt")):
        if next(element.iterancestors("pre"), None) is None:
            element.drop_tag()
    for image in root.iter("img"):
        image.set("alt", _alternative(image))
    for part in list(hidden_parts(root)):
        if part.getparent() is not None:
            part.drop_tree()
    return root


def _alternative(picture: Any) -> str:
    """What a picture says in words; nothing for icons."""
    return "" if _is_icon(picture) else " ".join(picture.get("alt", "").split())


def _is_icon(picture: Any) -> bool:
    width = picture.get("width", "").removesuffix("px")
    return width.isdecimal() and int(width) <= _ICON_PX


def _marked(root: Any) -> Iterator[Hidden]:
    """What the page's style sheets hide, which is read."""
    sheet = Sheet(root)
    walk = etree.iterwalk(root, events=("start",))
    for _, element in walk:
        if is_hidden(element):
            walk.skip_subtree()
        elif why := sheet.why(element):
            walk.skip_subtree()
            yield from (Hidden(block.text, why) for block in blocks(element))


def _said(root: Any, path: str) -> str:
    return " ".join(" ".join(root.xpath(path)[:1]).split())


def _decoded(path: Path, max_chars: int) -> tuple[str, str]:
    """The file's text: by its marks or as UTF-8, else as it declares itself, else as other texts."""
    text, note = read_text(path, max_chars)
    with path.open("rb") as file:
        declared = _DECLARED.search(file.read(4096))
    if note and declared:
        return decode_as(path.read_bytes(), declared[1].decode("ascii"))
    return text, note
