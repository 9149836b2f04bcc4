"""Plain text files: decoded, cleaned, one page for each form feed."""

from __future__ import annotations

import re
from pathlib import Path

from rag_core.domain import Page
from rag_core.errors import LimitExceeded
from rag_core.reading.base import Details, OpenDocument, RawPage
from rag_core.reading.encoding import decode
from rag_core.text.invisible import taken_out, visible

MAX_TITLE_CHARS = 80

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
        pages = [clean(part) for part in text.split("\f")]
        while len(pages) > 1 and not pages[-1].strip():
            pages.pop()
        super().__init__(pages)

    def details(self) -> Details:
        """Plain text says little about itself: a title, where it begins with one, and how it was decoded."""
        return Details(title=first_line_title(self.pages[0]), notes=self._notes)


def first_line_title(text: str) -> str:
    """Return the first line where it stands alone and reads as a title, else nothing."""
    line, _, rest = text.lstrip().partition("\n")
    line = line.strip()
    alone = not rest.partition("\n")[0].strip()
    is_title = alone and len(line) <= MAX_TITLE_CHARS and line[-1:].isalnum() and len(line.split()) > 1
    return line if is_title else ""
