"""What a server gave as bytes that tell by themselves what they are, as those of files do."""

from __future__ import annotations

import codecs
import re

from rag_core.sources.web.fetching import Fetched

_HTML = ("text/html", "application/xhtml+xml")
_BEGINS = re.compile(rb"\s*<(?:!doctype\s+html|html[\s>]|\?xml)", re.IGNORECASE)
# Others are UTF-8 or no encodings of pages; some of Python's take very long.
_ENCODINGS = ("iso8859", "cp", "euc", "gb", "big5", "shift", "koi8", "mac", "utf-16")


def is_html(media_type: str, data: bytes) -> bool:
    """Whether bytes are a page: as their server said, or, where it did not, as they begin."""
    return media_type in _HTML or (not media_type and _BEGINS.match(data) is not None)


def as_document(answer: Fetched) -> bytes:
    """A page in UTF-8, whatever encoding only its server told of, that begins like one; all else as it came."""
    data = answer.data
    if answer.media_type not in _HTML or data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data
    try:
        name = codecs.lookup(answer.charset).name if answer.charset else ""
        data = data.decode(name).encode() if name.startswith(_ENCODINGS) else data
    except (LookupError, UnicodeError):
        pass  # the reader finds out by itself
    data = data.removeprefix(codecs.BOM_UTF8)
    return data if _BEGINS.match(data) else b"<!DOCTYPE html>\n" + data
