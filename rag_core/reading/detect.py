"""What a file is: by its content first, then by its name."""

from __future__ import annotations

import codecs
import re
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from rag_core.errors import UnreadableDocument, UnsupportedDocument
from rag_core.reading.base import (
    AAC,
    AMR,
    ASCIIDOC,
    AVIF,
    BMP,
    CALENDAR,
    CARD,
    CODE,
    CSV,
    DOC,
    DOCX,
    EPUB,
    FLAC,
    GIF,
    HEIC,
    HTML,
    JPEG,
    JSON,
    LATEX,
    M4A,
    MAIL,
    MARKDOWN,
    MP3,
    MP4,
    MSG,
    NOTEBOOK,
    ODP,
    ODS,
    ODT,
    OGG,
    ORG,
    PDF,
    PNG,
    PPT,
    PPTX,
    RST,
    RTF,
    SUBTITLES,
    SVG,
    TEXT,
    TIFF,
    WAV,
    WEBM,
    WEBP,
    XLS,
    XLSB,
    XLSX,
    XML,
    YAML,
)
from rag_core.reading.sound import is_installed

SAMPLE_BYTES = 64 * 1024
# PDF readers accept some bytes before the header.
PDF_HEADER_WITHIN = 1024
# Control characters that a text may hold by accident.
STRAY_CONTROLS = 4

_CODE_SUFFIXES = (
    ".py .js .mjs .ts .tsx .jsx .java .kt .swift .go .rs .c .h .cc .cpp .hpp .cs .rb .php .pl .lua .r .jl .scala .hs"
    " .ml .el .sql .sh .ps1 .vue .css"
)
# What a name says of a text, and of an archive whose entries do not say what it is.
_TEXT_SUFFIXES = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd"), MARKDOWN),
    **dict.fromkeys((".html", ".htm", ".xhtml"), HTML),
    **dict.fromkeys((".csv", ".tsv", ".tab"), CSV),
    **dict.fromkeys((".eml", ".mht", ".mhtml"), MAIL),
    **dict.fromkeys((".srt", ".vtt"), SUBTITLES),
    **dict.fromkeys((".ics", ".ical", ".vcs"), CALENDAR),
    **dict.fromkeys((".vcf", ".vcard"), CARD),
    **dict.fromkeys(_CODE_SUFFIXES.split(), CODE),
    **dict.fromkeys((".json", ".jsonl", ".ndjson", ".geojson"), JSON),
    **dict.fromkeys((".yaml", ".yml"), YAML),
    **dict.fromkeys((".xml", ".rss", ".atom"), XML),
    ".ipynb": NOTEBOOK,
    ".tex": LATEX,
    ".svg": SVG,
    ".org": ORG,
    **dict.fromkeys((".rst", ".rest"), RST),
    **dict.fromkeys((".adoc", ".asciidoc"), ASCIIDOC),
}
_ZIP_SUFFIXES = {".docx": DOCX, ".xlsx": XLSX, ".xlsm": XLSX, ".pptx": PPTX, ".epub": EPUB, ".odt": ODT}
_ZIP_SUFFIXES |= {".ods": ODS, ".odp": ODP, ".docm": DOCX, ".dotx": DOCX, ".pptm": PPTX, ".ppsx": PPTX, ".xlsb": XLSB}
_OFFICE_SUFFIXES = {suffix: kind for suffix, kind in _ZIP_SUFFIXES.items() if kind in (DOCX, XLSX, PPTX, XLSB)}
# Of compound files, whose list of streams may be anywhere in them.
_COMPOUND_SUFFIXES = {".doc": DOC, ".dot": DOC, ".xls": XLS, ".xlt": XLS, ".ppt": PPT, ".pps": PPT, ".msg": MSG}
# Texts that are read as they stand.
_PLAIN_SUFFIXES = (".txt", ".text", ".log", ".bib")
_IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".gif", ".avif")
_SOUND_SUFFIXES = (
    ".mp3", ".m4a", ".m4b", ".aac", ".amr", ".wav", ".ogg", ".oga", ".opus", ".flac",
    ".mp4", ".m4v", ".mov", ".3gp", ".webm", ".mkv",
)  # fmt: skip
SUFFIXES = frozenset({".pdf", ".rtf", *_TEXT_SUFFIXES, *_PLAIN_SUFFIXES, *_IMAGE_SUFFIXES})
SUFFIXES |= {*_ZIP_SUFFIXES, *_COMPOUND_SUFFIXES}
SUFFIXES |= {*_SOUND_SUFFIXES} if is_installed() else set()
SUFFIXES |= {".heic", ".heif"} if find_spec("pillow_heif") else set()
"""Of files that are taken from a folder; a file named by itself is judged by its content.
Recordings and HEIC pictures are taken where what they need is installed."""

_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<(?:!doctype\s+html|html[\s>])", re.IGNORECASE | re.DOTALL
)
_XML_BEGIN = b"<?xml "
_SVG = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*(?:<!DOCTYPE\s+svg\b[^>\[]*>\s*)?<(?:svg:)?svg[\s>]",
    re.DOTALL,
)
_BEGIN = re.compile(rb"\s*BEGIN[ \t]*:[ \t]*V(?:CALENDAR|(CARD))\b", re.IGNORECASE)
_ZIP, _ZIP_END = b"PK\x03\x04", b"PK\x05\x06"
# Books and OpenDocument files say what they are in the first entry.
_TYPE_WITHIN = 200
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (_ZIP, "a ZIP archive"),
    (_COMPOUND, "an old Microsoft Office file"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"II*\x00", "a TIFF picture"),
    (b"MM\x00*", "a TIFF picture"),
    (b"%!PS", "a PostScript file"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"SQLite format 3", "an SQLite database"),
    (b"GGUF", "a language model (GGUF)"),
)
_HEIC = re.compile(rb".{4}ftyp(?:hei|hev|mif|msf)", re.DOTALL)
# A frame of MPEG's sound begins with eleven set bits; what else begins so has a name that says otherwise.
_SOUNDS: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (re.compile(rb"ID3[\x02-\x04]"), MP3),
    (re.compile(rb"RIFF.{4}WAVE", re.DOTALL), WAV),
    (re.compile(rb"OggS\x00"), OGG),
    (re.compile(rb"fLaC\x00"), FLAC),
    (re.compile(rb"#!AMR(?:-WB)?\n"), AMR),
    (re.compile(rb".{4}ftypM4[AB]", re.DOTALL), M4A),
    (re.compile(rb".{4}ftyp", re.DOTALL), MP4),
    (re.compile(rb"\x1a\x45\xdf\xa3"), WEBM),
)
_FRAME = re.compile(rb"\xff[\xe2-\xe7\xf0-\xf7\xf8-\xfb]")
# The length of a bitmap's header, its fifteenth byte, is one of a few: a text that begins with BM has none.
_IMAGES: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), PNG),
    (re.compile(rb"\xff\xd8\xff"), JPEG),
    (re.compile(rb"GIF8[79]a"), GIF),
    (re.compile(rb"II[*+]\x00|MM\x00[*+]"), TIFF),
    (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), WEBP),
    (re.compile(rb".{4}ftypavi", re.DOTALL), AVIF),
    (re.compile(rb"BM.{4}\x00{4}.{4}[\x0c\x28\x34\x38\x40\x6c\x7c]\x00{3}", re.DOTALL), BMP),
)
_ZIP_KINDS = (
    (b"mimetypeapplication/epub+zip", EPUB),
    (b"mimetypeapplication/vnd.oasis.opendocument.text", ODT),
    (b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet", ODS),
    (b"mimetypeapplication/vnd.oasis.opendocument.presentation", ODP),
    (b"word/document", DOCX),
    (b"xl/workbook.xml", XLSX),
    (b"xl/workbook.bin", XLSB),
    (b"ppt/presentation.xml", PPTX),
    (b"META-INF/container.xml", EPUB),
)
# Streams of compound files, as they write names: of an Office file with a password, and of each kind its own.
_OFFICE_LOCKED = "EncryptedPackage".encode("utf-16-le")
_STREAMS_WITHIN = 4096  # of the beginning of their list
_COMPOUND_KINDS = tuple(
    (name.encode("utf-16-le"), kind)
    for name, kind in (
        ("PowerPoint Document", PPT), ("WordDocument", DOC), ("Workbook", XLS), ("Book\0", XLS), ("__substg1.0_", MSG),
    )
)  # fmt: skip
_UNICODE_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b\b")) + b"\x7f"


def detect(path: Path, name: str) -> str:
    """Return the media type of the file at `path`, one of those in `rag_core.reading.base`.

    `name` is the file's own name; it tells kinds of texts apart. Raises UnreadableDocument for an empty file and
    UnsupportedDocument, saying what the file really is, for everything else.
    """
    with path.open("rb") as file:
        head = file.read(SAMPLE_BYTES)
        file.seek(max(path.stat().st_size - SAMPLE_BYTES, 0))
        return _detect(head, file.read(SAMPLE_BYTES), name)


def detect_bytes(data: bytes, name: str) -> str:
    """The same as `detect` of a file's bytes."""
    return _detect(data[:SAMPLE_BYTES], data[-SAMPLE_BYTES:], name)


def _detect(head: bytes, tail: bytes, name: str) -> str:
    """tail: the file's last bytes, where archives and old Office files list what is in them."""
    suffix = PurePosixPath(name.replace("\\", "/")).suffix.lower()
    if not head:
        raise UnreadableDocument("The file is empty.", help="Choose a file that has content.")
    kind = _other_kind(head)
    if _is_pdf(head, suffix, kind):
        return PDF
    if found := _by_content(head, tail, suffix):
        return found
    if kind:
        kind = "an Office file with a password" if _OFFICE_LOCKED in head + tail else kind
        raise UnsupportedDocument(_told(suffix, kind), help=_help(kind))
    if suffix == ".pdf":
        if not head.strip(b"\x00 \r\n\t"):
            raise UnreadableDocument("The file is named .pdf but holds only blanks.")
        raise UnsupportedDocument(
            "The file is named .pdf but it is plain text.", help="If it is meant as text, rename it to end in .txt."
        )
    return _TEXT_SUFFIXES.get(suffix, TEXT)


def _by_content(head: bytes, tail: bytes, suffix: str) -> str | None:
    """The kind of flowing document or image that a file shows itself to be."""
    if head.startswith(_ZIP):
        names = head[:_TYPE_WITHIN] + (_listed(tail) or head + tail)
        return next((kind for mark, kind in _ZIP_KINDS if mark in names), _ZIP_SUFFIXES.get(suffix))
    if head.startswith(_COMPOUND):
        # What is in one with a password is told by its name alone.
        return _OFFICE_SUFFIXES.get(suffix) if _OFFICE_LOCKED in head + tail else _compound_kind(head, tail, suffix)
    if head.startswith(b"{\\rtf"):
        return RTF
    if suffix != ".pdf" and (image := next((kind for mark, kind in _IMAGES if mark.match(head)), None)):
        return image
    if _HEIC.match(head):
        return HEIC if find_spec("pillow_heif") else None
    if sound := next((kind for mark, kind in _SOUNDS if mark.match(head)), None):
        return sound
    if suffix in (".mp3", ".aac") and _FRAME.match(head):
        return MP3 if suffix == ".mp3" else AAC
    if suffix not in {".pdf", *_TEXT_SUFFIXES} - {".svg", ".xml"} and _SVG.match(head.removeprefix(codecs.BOM_UTF8)):
        return SVG
    if suffix not in SUFFIXES and head.removeprefix(codecs.BOM_UTF8).startswith(_XML_BEGIN):
        return XML
    if suffix != ".pdf" and (begun := _BEGIN.match(head.removeprefix(codecs.BOM_UTF8))):
        return CARD if begun[1] else CALENDAR
    # What a server said instead of the PDF is not what was meant to be read.
    return HTML if suffix != ".pdf" and _HTML.match(head.removeprefix(codecs.BOM_UTF8)) else None


def _compound_kind(head: bytes, tail: bytes, suffix: str) -> str | None:
    """What a compound file is by its streams; they may hold other files, so that its name decides between two."""
    start = (int.from_bytes(head[0x30:0x34], "little") + 1) << (int.from_bytes(head[0x1E:0x20], "little") & 15)
    names = head[start : start + _STREAMS_WITHIN] or head + tail
    kinds = [kind for mark, kind in _COMPOUND_KINDS if mark in names]
    named = _COMPOUND_SUFFIXES.get(suffix)
    return named if named in kinds or not kinds else kinds[0]


def _listed(tail: bytes) -> bytes:
    """An archive's own list of its entries, without those of files that are in it; empty where it has none."""
    end = tail.rfind(_ZIP_END)
    return tail[max(end - int.from_bytes(tail[end + 12 : end + 16], "little"), 0) : end] if end >= 0 else b""


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
    if _HEIC.match(sample):
        return "a HEIC picture"
    for signature, kind in _SIGNATURES:
        if sample.startswith(signature):
            return kind
    if sample.startswith(_UNICODE_MARKS) or guess_utf16(sample):
        return None
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return "binary data" if controls > max(STRAY_CONTROLS, len(sample) * 0.02) else None


def _told(suffix: str, kind: str) -> str:
    if suffix == ".pdf":
        return f"The file is named {suffix} but it is {kind}."
    return f"This kind of file is not read: it is {kind}."


def _help(kind: str) -> str:
    if "password" in kind:
        return "Open it in its own program, save it without a password and add it again."
    if "HTML" in kind or "Office" in kind:
        return "Open it in its own program, save it as .docx, .xlsx, .pptx or PDF, and add that file."
    if "HEIC" in kind:
        return "Save it as a JPEG picture and add that, or install what reads it: `pip install 'lectern[heic]'`."
    if "archive" in kind:
        return "Unpack it and add its folder, or pack it as .zip and add that, under a name that ends so."
    return UnsupportedDocument.default_help
