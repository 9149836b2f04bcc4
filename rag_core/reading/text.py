"""Plain text files: decoded, cleaned, a page for each form feed, a long one in pages of a few thousand words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rag_core.domain import Page
from rag_core.errors import LimitExceeded
from rag_core.reading.base import Details, OpenDocument, RawPage
from rag_core.reading.encoding import decode
from rag_core.text.invisible import taken_out, visible

MAX_TITLE_CHARS = 80
PAGE_CHARS = 20_000
"""Characters after which a text that has no pages of its own begins a new one, where a paragraph does."""
_LEAST_PAGE = PAGE_CHARS // 4

_GAP = re.compile(r"\n[^\S\n]*\n(?:[^\S\n]*\n)*")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_LOWERED = {high: low for low, high in _RAISED.items()}
_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")


def read_text(path: Path, max_chars: int) -> tuple[str, str]:
    """Return what `decode` makes of a file. Raises LimitExceeded for one that must hold more than `max_chars`."""
    # No encoding spends more than four bytes on a character.
    if path.stat().st_size > 4 * max_chars:
        raise LimitExceeded(f"The file holds more than {max_chars:,} characters.")
    return decode(path.read_bytes())


def clean(text: str) -> str:
    """Unify line ends, put a space for each control character and take out what nobody sees; form feeds stay."""
    return _CONTROLS.sub(" ", visible(text.replace("\r\n", "\n").replace("\r", "\n")))


def raised(text: str) -> str:
    """Small raised text: figures keep their place, so that a mark of a note is no figure's last digit."""
    return text.translate(_RAISED) if text.isdecimal() else text


def lowered(text: str) -> str:
    """The text with raised figures as usual ones, of the same length."""
    return text.translate(_LOWERED)


class PagedText(OpenDocument):
    """Pages of text alone, without boxes; there is at least one."""

    def __init__(self, pages: list[str]) -> None:
        self.pages = pages
        self.page_count = len(pages)

    def read_page(self, number: int, max_chars: int) -> RawPage:
        """Return page `number` without boxes. Raises LimitExceeded beyond `max_chars` characters."""
        text = self.pages[number - 1]
        if len(text) > max_chars:
            raise LimitExceeded(f"The file holds more than {max_chars:,} characters.")
        return RawPage(Page(number, text))


class TextDocument(PagedText):
    """A text file. Each form feed begins a page; there is at least one page."""

    def __init__(self, path: Path, password: str | None, max_chars: int) -> None:
        text, note = read_text(path, max_chars)
        self._notes = tuple(filter(None, (note, taken_out(text))))
        pages = [page for part in text.split("\f") for page in self.paged(clean(part))]
        while len(pages) > 1 and not pages[-1].strip():
            pages.pop()
        super().__init__(pages)

    @staticmethod
    def paged(text: str) -> Iterator[str]:
        """A text without form feeds in pages: they end between paragraphs, where a paragraph goes on and on with a
        line."""
        start = 0
        while len(text) - start > PAGE_CHARS + _LEAST_PAGE:
            gap = _GAP.search(text, start + PAGE_CHARS, start + 2 * PAGE_CHARS)
            end = gap.end() if gap else text.find("\n", start + 2 * PAGE_CHARS) + 1
            if not start < end < len(text):
                break
            yield text[start:end].rstrip("\n")
            start = end
        yield text[start:]

    def details(self) -> Details:
        """Plain text says little about itself: a title, where it begins with one, and how it was decoded."""
        return Details(title=first_line_title(self.pages[0]), notes=self._notes)


class TextInOne(TextDocument):
    """Source code, whose lines are counted through, and the like: form feeds alone make pages."""

    @staticmethod
    def paged(text: str) -> Iterator[str]:
        """All of it."""
        yield text


def first_line_title(text: str) -> str:
    """Return the first line where it stands alone and reads as a title, else nothing."""
    line, _, rest = text.lstrip().partition("\n")
    line = line.strip()
    alone = not rest.partition("\n")[0].strip()
    is_title = alone and len(line) <= MAX_TITLE_CHARS and line[-1:].isalnum() and len(line.split()) > 1
    return line if is_title else ""
