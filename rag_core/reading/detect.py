"""What a file is: by its content first, then by its name."""

from __future__ import annotations

import codecs
import re
from pathlib import Path, PurePosixPath

from rag_core.errors import UnreadableDocument, UnsupportedDocument
from rag_core.reading.base import MARKDOWN, PDF, TEXT

SAMPLE_BYTES = 64 * 1024
# PDF readers accept some bytes before the header.
PDF_HEADER_WITHIN = 1024
# Control characters that a text may hold by accident.
STRAY_CONTROLS = 4
MARKDOWN_SUFFIXES = {".md", ".markdown", ".mdown", ".mkd"}

_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<(?:!doctype\s+html|html[\s>])", re.IGNORECASE | re.DOTALL
)
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Microsoft Office file"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"II*\x00", "a TIFF picture"),
    (b"MM\x00*", "a TIFF picture"),
    (b"{\\rtf", "a rich text (RTF) file"),
    (b"%!PS", "a PostScript file"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"SQLite format 3", "an SQLite database"),
    (b"GGUF", "a language model (GGUF)"),
    (b"ID3", "a sound file"),
    (b"OggS", "a sound file"),
)
_ZIP_KINDS = ((b"word/", "a Word document"), (b"xl/", "an Excel workbook"), (b"ppt/", "a PowerPoint file"))
_UNICODE_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b\b")) + b"\x7f"


def detect(path: Path, name: str) -> str:
    """Return the media type of the file at `path`: application/pdf, text/plain or text/markdown.

    `name` is the file's own name; it tells Markdown from plain text. Raises UnreadableDocument for an empty file and
    UnsupportedDocument, saying what the file really is, for everything else.
    """
    with path.open("rb") as file:
        return detect_bytes(file.read(SAMPLE_BYTES), name)


def detect_bytes(data: bytes, name: str) -> str:
    """The same as `detect` of a file's bytes, or of as many of them as say what it is."""
    sample = data[:SAMPLE_BYTES]
    suffix = PurePosixPath(name.replace("\\", "/")).suffix.lower()
    if not sample:
        raise UnreadableDocument("The file is empty.", help="Choose a file that has content.")
    kind = _other_kind(sample)
    if _is_pdf(sample, suffix, kind):
        return PDF
    if kind:
        raise UnsupportedDocument(f"{_named(suffix)}it is {kind}.", help=_help(kind))
    if suffix == ".pdf":
        if not sample.strip(b"\x00 \r\n\t"):
            raise UnreadableDocument("The file is named .pdf but holds only blanks.")
        raise UnsupportedDocument(
            "The file is named .pdf but it is plain text.", help="If it is meant as text, rename it to end in .txt."
        )
    return MARKDOWN if suffix in MARKDOWN_SUFFIXES else TEXT


def _is_pdf(sample: bytes, suffix: str, kind: str | None) -> bool:
    if sample.lstrip().startswith(b"%PDF-"):
        return True
    # A text may speak of %PDF- in its first lines; only a name ending in .pdf makes that a late header.
    return suffix == ".pdf" and b"%PDF-" in sample[:PDF_HEADER_WITHIN] and kind in (None, "binary data")


def guess_utf16(sample: bytes) -> str | None:
    """Return 'utf-16-le' or 'utf-16-be' for text without a mark whose every other byte is mostly zero."""
    even, odd = sample[0:4096:2], sample[1:4096:2]
    if not odd:
        return None
    zeros_even, zeros_odd = even.count(0) / len(even), odd.count(0) / len(odd)
    if zeros_odd > 0.4 and zeros_even < 0.05:
        return "utf-16-le"
    if zeros_even > 0.4 and zeros_odd < 0.05:
        return "utf-16-be"
    return None


def _other_kind(sample: bytes) -> str | None:
    if _HTML.match(sample.removeprefix(codecs.BOM_UTF8)):
        return "a web page (HTML)"
    for signature, kind in _SIGNATURES:
        if sample.startswith(signature):
            return next((name for mark, name in _ZIP_KINDS if mark in sample), kind)
    if sample.startswith(_UNICODE_MARKS) or guess_utf16(sample):
        return None
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return "binary data" if controls > max(STRAY_CONTROLS, len(sample) * 0.02) else None


def _named(suffix: str) -> str:
    return f"The file is named {suffix} but " if suffix == ".pdf" else "This kind of file is not read: "


def _help(kind: str) -> str:
    if "HTML" in kind or "Office" in kind or kind.startswith(("a Word", "an Excel", "a PowerPoint")):
        return "Open it in its own program, save or print it as PDF, and add that file."
    return UnsupportedDocument.default_help
