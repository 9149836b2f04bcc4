"""Who wrote a document: what its file says where that can be believed, else what stands below its title."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rag_core.reading.front import Front, FrontLine
from rag_core.reading.sections import bare_words

_NAME = r"[^\W\d_a-zß-ÿ][\w.’'\-]*(?:\s(?:[^\W\d_a-zß-ÿ][\w.’'\-]*|de|van|von|der|di|la)){1,3}"
_BY = re.compile(
    rf"(?:^|[.;,]\s)(?:(?i:written by|edited by|prepared by|by|authors?:?|von|par|por|autor:?))\s+"
    rf"(?P<names>{_NAME}(?:(?:,| and| &| und| et| y)\s{_NAME})*)"
)
_MARKS = re.compile(r"(?<=[^\W\d_])\s?(?:\d+(?:,\d+)*|[*∗†‡§¶⋆])+(?=[\s,]|$)|\[[\d-]+\]")
_JOINTS = {"and", "&", "und", "et", "y", "de", "van", "von", "der", "di", "la"}
_LINES = 25
_MOST_LINES = 9
_MOST_CHARS = 200
# Libraries that sign what they write.
_PROGRAMS = {"openpyxl", "python-docx", "xlsxwriter", "apache poi", "phpword", "phpoffice"}


def find_authors(said: str, title: str, kind: str, front: Front) -> str:
    """Names of authors on one line, or "". `said` is what the file says of itself, believed where the pages have it."""
    said = "" if said.casefold() in _PROGRAMS else said
    page = bare_words(front.text)
    if said and any(len(bare_words(part)) > 3 and bare_words(part) in page for part in re.split(r"[\s,;]+", said)):
        return said
    for line in front.first[:_LINES]:
        if match := _BY.search(line.text):
            return match["names"].rstrip(".,")
    below = list(_below_title(front.first, title)) if kind in ("paper", "thesis", "article", "white paper") else []
    return ", ".join(below)[:_MOST_CHARS] or said


def _below_title(lines: Sequence[FrontLine], title: str) -> Iterator[str]:
    """Lines of names that follow the title."""
    wanted = bare_words(title)
    ends = [
        number
        for number, line in enumerate(lines)
        if len(bare_words(line.text)) > 2 and bare_words(line.text) in wanted
    ]
    for line in lines[ends[-1] + 1 : ends[-1] + 1 + _MOST_LINES] if ends else ():
        names = _MARKS.sub("", line.text).strip(" ,")
        words = names.replace(",", " ").split()
        if not 2 <= len(words) <= 14 or not all(word[:1].isupper() or word in _JOINTS for word in words):
            return
        yield names
