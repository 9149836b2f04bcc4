"""Plain text files: decoded, cleaned, one page for each form feed."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from rag_core.domain import Page
from rag_core.errors import LimitExceeded
from rag_core.reading.base import Details, OpenDocument, RawPage
from rag_core.reading.detect import guess_utf16
from rag_core.text.invisible import taken_out, visible

MAX_TITLE_CHARS = 80
_SAMPLE_BYTES, _LEAST_LETTERS = 2**16, 8

# UTF-32's little-endian mark begins with UTF-16's, so it stands first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_LOWERED = {high: low for low, high in _RAISED.items()}
_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")


def read_text(path: Path, max_chars: int) -> tuple[str, str]:
    """Return what `decode` makes of a file. Raises LimitExceeded for one that must hold more than `max_chars`."""
    # No encoding spends more than four bytes on a character.
    if path.stat().st_size > 4 * max_chars:
        raise LimitExceeded(f"The file holds more than {max_chars:,} characters.")
    return decode(path.read_bytes())


def decode(data: bytes) -> tuple[str, str]:
    """Return the text of `data` and a note, empty unless something had to be guessed or replaced."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode_marked(data, encoding)
    guessed = guess_utf16(data[:4096])
    if guessed:
        return data.decode(guessed, errors="replace"), "Read as UTF-16 without a byte order mark."
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError:
        return _decode_legacy(data)


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


def _decode_marked(data: bytes, encoding: str) -> tuple[str, str]:
    text = data.decode(encoding, errors="replace")
    damaged = text.count("\ufffd")
    return text, f"{damaged} damaged characters were replaced." if damaged else ""


def _decode_legacy(data: bytes) -> tuple[str, str]:
    """Tell slightly damaged UTF-8 from older encodings: that of Western languages, or what other letters say."""
    text = data.decode("utf-8", errors="replace")
    damaged = text.count("\ufffd")
    sound = sum(1 for character in text if character > "\x7f") - damaged
    if sound > 3 * damaged:
        return text, f"{damaged} damaged characters were replaced."
    if encoding := _of_another_script(data[:_SAMPLE_BYTES]):
        return data.decode(encoding, errors="replace"), f"Read as {encoding}, by its letters, as it is not UTF-8."
    try:
        return data.decode("cp1252"), "Read as Windows-1252, as it is not UTF-8."
    except UnicodeDecodeError:
        return data.decode("latin-1"), "Read as Latin-1, as it is not UTF-8."


def _of_another_script(sample: bytes) -> str:
    """The likeliest encoding of a text whose letters are mostly accented if they are Western; "" where they may be."""
    letters = [letter for letter in sample.decode("cp1252", errors="ignore") if letter.isalpha()]
    accented = sum(letter > "\x7f" for letter in letters)
    if accented < _LEAST_LETTERS or 2 * accented <= len(letters):
        return ""
    from charset_normalizer import from_bytes

    best = from_bytes(sample.rpartition(b"\n")[0] or sample).best()
    return best.encoding if best else ""
