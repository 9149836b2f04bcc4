"""Who wrote a document: what its file says where that can be believed, else what stands below its title."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from rag_core.reading.front import Front, FrontLine
from rag_core.reading.sections import bare_words
from rag_core.text.person_names import is_name

_NAME = r"[^\W\d_a-zß-ÿ][\w.’'\-]*(?:\s(?:[^\W\d_a-zß-ÿ][\w.’'\-]*|de|van|von|der|di|la)){1,3}"
_BY = re.compile(
    rf"(?:^|[.;,]\s)(?:(?i:written by|edited by|prepared by|by|authors?:?|von|par|por|autor:?))\s+"
    rf"(?P<names>{_NAME}(?:(?:,| and| &| und| et| y)\s{_NAME})*)"
)
# What stands above the name of whoever signs a letter.
_CLOSING = re.compile(
    r"(?:[^\W\d_]+\s){0,4}(?:regards|sincerely|faithfully|truly|wishes|grü(?:ß|ss)en?|hochachtungsvoll|cordialement"
    r"|salutations|saludos?|atentamente|saluti|groeten?)(?:\s[^\W\d_]+)?\W*",
    re.IGNORECASE,
)
_OF_ONE = re.compile(r"^(?:(?:dr|mr|mrs|ms|prof|herr|frau|m|mme|sr|sra)\b\.?\s+)+", re.IGNORECASE)
_SIGNED = ("letter",)
_LINES = 25
_MOST_CHARS = 1_000
# Libraries that sign what they write.
_PROGRAMS = {"openpyxl", "python-docx", "xlsxwriter", "apache poi", "phpword", "phpoffice"}
_WRITTEN_BY_PEOPLE = ("paper", "thesis", "article", "white paper")

# Signs that refer to notes and institutions; ¹, ², ³ are digits to Unicode, but not to `\d`.
_MARK = r"[\d*∗†‡§¶⋆♠♣♦♥¹²³⁴⁵⁶⁷⁸⁹⁰]"
_MARKS = re.compile(rf"(?:,?\s?{_MARK})+(?=[\s,;]|$)|\[[\d-]+\]")
_MARKED_FIRST = re.compile(rf"\s*{_MARK}")
_BETWEEN = re.compile(r"\s*(?:[,;&·•|]|\b(?:and|und|et|y)\b|\s{2,})\s*")
_SAME_LINE = 0.006  # of the page's height
_ENDS_FRONT = 9  # words of a line that is a sentence rather than names or a place


def find_authors(said: str, title: str, kind: str, front: Front) -> str:
    """Names of authors on one line, or "". `said` is what the file says of itself, believed where the pages have it."""
    said = "" if said.casefold() in _PROGRAMS else said
    page = bare_words(front.text)
    if said and any(len(bare_words(part)) > 3 and bare_words(part) in page for part in re.split(r"[\s,;]+", said)):
        return said
    for line in front.first[:_LINES]:
        if match := _BY.search(line.text):
            return match["names"].rstrip(".,")
    if kind in _SIGNED and (name := _signed_by(front.lines)):
        return name
    below = dict.fromkeys(_below_title(front.first, title)) if kind in _WRITTEN_BY_PEOPLE else ()
    names = ", ".join(below)
    names = names if len(names) <= _MOST_CHARS else names[:_MOST_CHARS].rpartition(", ")[0]
    return names or said


def _signed_by(lines: Sequence[FrontLine]) -> str:
    """The name below the closing of a letter, which may run on into what its bearer is; "" where there is none."""
    for line, below in pairwise(lines):
        name = _OF_ONE.sub("", below.text).partition(",")[0].strip()
        if _CLOSING.fullmatch(line.text.strip()) and is_name(name):
            return name
    return ""


def _below_title(lines: Sequence[FrontLine], title: str) -> Iterator[str]:
    """The names in the lines that follow the title: of each group that an address of electronic mail ends, the first
    lines, before where these people work; later ones where they have marks."""
    rows = list(_rows_below(lines, title))
    times = Counter(part for row in rows for part in row)
    in_names = True
    for row in rows:
        text = " ".join(row)
        if "@" in text:
            in_names = True
            continue
        if sum(word.islower() for word in text.split()) >= _ENDS_FRONT / 2 or bare_words(text) == "abstract":
            return
        names = [name for part in row for name in _BETWEEN.split(_MARKS.sub(",", part)) if name.strip()]
        are_names = bool(names) and all(map(is_name, names)) and max(times[part] for part in row) == 1
        if are_names and (in_names or _MARKS.search(text)) and not _MARKED_FIRST.match(text):
            yield from names
        elif names:
            in_names = False


def _rows_below(lines: Sequence[FrontLine], title: str) -> Iterator[list[str]]:
    """What stands side by side, from below the title on; of a page without boxes each line."""
    wanted = bare_words(title)
    ends = [
        place for place, line in enumerate(lines) if len(bare_words(line.text)) > 2 and bare_words(line.text) in wanted
    ]
    if not ends:
        return
    place = next(place for place in ends if place + 1 not in ends)
    last = lines[place]
    below = [line for line in lines if line.top > last.top and not line.is_sideways]
    below = below if last.bottom else list(lines[place + 1 :])
    row: list[str] = []
    top = 0.0
    for line in sorted(below, key=lambda line: line.top)[:_LINES]:
        if row and not (line.bottom and line.top - top < _SAME_LINE):
            yield row
            row = []
        row, top = [*row, *line.parts], line.top
    yield row
