"""The title of a document: candidates from what it says of itself, its headings, its first lines and its file's name,
of which each is judged by how much it looks like a title."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path, PurePosixPath

from rag_core.domain import ParsedDocument
from rag_core.reading.assemble import title_from
from rag_core.reading.base import CODE, CSV, EPUB, PDF, SHEETS
from rag_core.reading.front import Front, FrontLine, bare, ink_share
from rag_core.reading.organisations import is_legal_name
from rag_core.reading.periods import DATE, MONTH
from rag_core.reading.sections import bare_words
from rag_core.text.languages import language_of
from rag_core.text.wordlists import stop_words

_FILE = Path(__file__).with_name("not_titles.txt")
_MOST_CHARS = 160
# What a candidate is worth by where it stands, before it is judged.
_SAID, _FIRST_HEADING, _HEADING, _LARGE, _ALONE, _LINE, _NAME = 3.0, 4.0, 2.2, 2.0, 2.2, 1.0, 0.75
_LEAST = 0.35
# What a title in the file's information is worth less where the first pages have none of its words.
_UNHEARD = 1.5
_AGREES = 1.0
# A line whose next one goes on in small letters is the beginning of a sentence; a long one is no title at all.
_RUNS_ON, _MOST_RUNNING_WORDS = 0.25, 14
_LARGE_SIZE = 1.25
_MERGED = 4
# What a large line is worth less for each one above it.
_LOWER = 0.2

_WORD = re.compile(r"[^\W_]+")
_ADDRESS = re.compile(r"https?:|www\.|\w\.(?:com|org|net|gov|edu|de)\b|\S@\S|\bISSN\b|\bISBN\b|\bdoi\b", re.IGNORECASE)
_CAPTION = re.compile(
    r"(?:figure|fig\.|table|listing|abbildung|tabelle|arxiv:|page \d|seite \d|vol(?:ume|\.)? ?\d|©|copyright|"
    r"header:|footer:|published as|for immediate release|for more information|"
    r"proceedings of|preprint|under review|received:?|date:|von:|from:|to:|to whom|dear\b|sehr geehrte|by\b|written by|"
    r"comment(?: by .{1,60})? on “|"
    r"\w+ (?:edition|printing|auflage|ausgabe)$|exhibit\b|version \d|release \d|revision \d|rev\.? ?\d)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?:[\dIVX]{1,4}\.)+\d*\s|§+\s?\d|\d{1,2}\s+[^\W\d]|\(\w\)|[•◦●▪☐☒☑✓►-]\s?")
_ONLY_DATE = re.compile(
    rf"\W*(?:[^\W\d_]+,\s+)?(?:{DATE}\d{{4}}|{MONTH}\s+\d{{4}}|[\d\s./:年月日-]+)\W*", re.IGNORECASE
)
_FILE_NAME = re.compile(
    r".*\.(?:pdf|docx?|pptx?|xlsx?|txt|md|html?|indd|qxd|tex|dvi|ps|rtf|odt|p65|fm)\b.*|\S*_\S*|[a-z]{0,4}[0-9]+[a-z0-9.-]*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"(?:(?<=[^.\s]{2})[.!?](?:\[\d+\])?\s+\W*[A-ZÀ-Þ].*[.!?]|(?:\d|[^.\s]{4})[.;])(?:\[\d+\])?$|[,:\u00ad-]$"
)
_CODE = re.compile(r"\"{3}|'{3}|[-=]>|[{}]|^(?:from [\w.]+ )?import\b")
# What a template, or a file that was saved many times, leaves in a title.
_LEFT_OVER = re.compile(r"\b(?:template|vorlage|draft|entwurf|v\d+|final|copy)\b", re.IGNORECASE)
_PROGRAM = re.compile(r"^(?:microsoft (?:word|powerpoint|excel)|word|acrobat|adobe \w+|slide) ?[-–:]? ", re.IGNORECASE)
_COPIES = re.compile(r"(?:\s*\(\d+\)|[\s-]+(?:copy|kopie|final|draft))+$", re.IGNORECASE)
_HYPHEN = re.compile(r"(?<=[^\W_])-(?=[^\W\d_])|(?<=[^\W\d_])-(?=\d)")
# A page's number behind a running title; elsewhere than in a PDF it belongs to the title, as in "Newsletter 12".
_RUNNING = re.compile(r"(?<=[^\d\W])\s+\d{1,3}$")
# Letters of a script without spaces: each weighs as half a word.
_DENSE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]")


def find_title(parsed: ParsedDocument, names: Sequence[str], front: Front) -> str:
    """The likeliest title of at most 160 characters; the file's name, made readable, where nothing looks like one,
    and for source code."""
    if parsed.media_type == CODE and names:
        return _cut(readable(names[0]))
    heard = set(_words(front.text))
    from_names = {readable(name) for name in names}
    named = set(_words(" ".join(from_names)))
    scores: dict[str, float] = {}
    best: dict[str, str] = {}
    for text, worth, runs_on in _candidates(parsed, names, front, heard):
        title = _PROGRAM.sub("", text).strip()
        title = _RUNNING.sub("", title) if parsed.media_type == PDF else title
        key = bare_words(title)
        if not key:
            continue
        shared = len(named & set(_words(title))) / max(len(named), 1)
        agrees = 0.0 if title in from_names or runs_on else _AGREES * shared
        score = (worth + agrees) * likeness(title) * (_RUNS_ON if runs_on else 1.0)
        scores[key] = max(score, scores.get(key, 0.0)) + (0.25 * min(score, scores[key]) if key in scores else 0.0)
        best.setdefault(key, title)
    top = max(scores, key=lambda key: scores[key], default="")
    fallback = readable(names[0]) if names else parsed.title
    title = best[top] if top and scores[top] > _LEAST else fallback
    return _cut(title) or "Untitled"


def likeness(text: str) -> float:
    """How much a text looks like a title, 0 to 1."""
    if not _is_possible(text):
        return 0.0
    words = text.split()
    count = max(len(words), len(_DENSE.findall(text)) / 2)
    like = 0.6 if count < 2 else 1.0 if count <= 14 else 0.6 if count <= 24 else 0.1
    letters = sum(character.isalpha() for character in text)
    like *= 1.0 if letters >= 0.6 * len(text.replace(" ", "")) else 0.4
    like *= 0.1 if _SENTENCE.search(text) and not is_legal_name(text) else 1.0
    like *= 0.3 if _NUMBERED.match(text) else 1.0
    like *= 0.1 if _CODE.search(text) else 1.0
    like *= 0.4 if _LEFT_OVER.search(text) else 1.0
    like *= 0.2 if _FILE_NAME.fullmatch(text) else 1.0
    like *= 0.4 if is_legal_name(text) else 1.0
    return like * (0.9 if text[0].islower() else 0.5 if text[0] in "([" else 1.0)


def readable(name: str) -> str:
    """A file's name as words: without folder, suffix, underscores and marks of copies."""
    base = PurePosixPath(name.replace("\\", "/")).name.replace("%20", " ").replace("+", " ")
    stem = title_from(base)
    stem = _COPIES.sub("", stem) or stem
    if " " not in _COPIES.sub("", PurePosixPath(base).stem):
        stem = _HYPHEN.sub(" ", stem)
    return stem[:1].upper() + stem[1:] if stem.islower() and " " in stem else stem


def _is_possible(text: str) -> bool:
    if sum(character.isalpha() for character in text) < 2 or _ADDRESS.search(text) or _CAPTION.match(text):
        return False
    words = " ".join(word for word in _words(text) if not word.isdigit())
    return words not in _not_titles() and not _ONLY_DATE.fullmatch(text)


def _candidates(
    parsed: ParsedDocument, names: Sequence[str], front: Front, heard: set[str]
) -> Iterator[tuple[str, float, bool]]:
    """Texts that may be the title, with what each is worth by its place, and whether a sentence begins with it that
    runs on."""
    if parsed.title and parsed.title not in {title_from(name) for name in names}:
        words = [word for word in _words(parsed.title) if len(word) > 2]
        is_checked = heard and parsed.media_type != EPUB  # a book's first chapter need not name the book
        unheard = sum(word not in heard for word in words) / max(len(words), 1) if is_checked else 0.0
        yield bare(parsed.title), _SAID - _UNHEARD * unheard, False
    yield from ((text, worth, False) for text, worth in _headings(parsed, front))
    if any(line.bottom for line in front.first):
        yield from _large(sorted((line for line in front.first if not line.is_sideways), key=lambda line: line.top))
    # A workbook is not called as its first sheet is.
    sheets = {bare(section.title) for section in parsed.sections} if parsed.media_type in SHEETS else set()
    first = [line for line in _above_rows(parsed, front) if not line.row and line.text not in sheets]
    for number, (line, below) in enumerate(zip(first[:6], (*first[1:], FrontLine("", 0)), strict=False)):
        is_running = _is_running(below.text) or (not line.alone and _is_cut(line.text))
        if is_running and len(line.text.split()) > _MOST_RUNNING_WORDS:
            continue
        worth = _ALONE if line.alone and parsed.media_type != PDF else _LINE
        yield line.text, worth - 0.1 * number, is_running
    yield from ((readable(name), _NAME, False) for name in names)


def _above_rows(parsed: ParsedDocument, front: Front) -> Sequence[FrontLine]:
    """The first lines; of tables those above their rows, as others are rows of one cell."""
    if parsed.media_type not in (CSV, *SHEETS):
        return front.first[:7]
    return list(takewhile(lambda line: not line.row, front.first[:7])) if any(one.row for one in front.first) else ()


def _is_running(below: str) -> bool:
    return below[:1].islower() and not _ADDRESS.search(below)


def _is_cut(text: str) -> bool:
    """Whether a line ends with a word that leads on to another, as "to" and "of the" do."""
    *before, last = _WORD.findall(text) or [""]
    return bool(before) and len(last) > 1 and last.islower() and last in stop_words(language_of(text))


def _headings(parsed: ParsedDocument, front: Front) -> Iterator[tuple[str, float]]:
    if parsed.media_type in SHEETS:
        return
    first = front.lines[0].page if front.lines else 1
    for number, section in enumerate([item for item in parsed.sections if item.page <= first][:4]):
        is_opening = not number and parsed.media_type not in (PDF, EPUB) and section.level == 1
        yield bare(section.title), _FIRST_HEADING if is_opening else _HEADING - 0.3 * number


def _large(lines: Sequence[FrontLine]) -> Iterator[tuple[str, float, bool]]:
    """Lines in larger type; those of one size that follow each other are one. A sentence runs on in a line of that size
    which is too far from it, or one too many, to be of the title."""
    run: list[FrontLine] = []
    place = 0.0
    for line in (*lines, FrontLine("", 0)):
        goes_on = run and len(run) < _MERGED and _is_next(run[-1], line)
        if run and not goes_on:
            size = max(item.size for item in run)
            runs_on = (_is_running(line.text) and _is_as_large(run[-1], line)) or _is_cut(run[-1].text)
            yield " ".join(item.text for item in run), _LARGE + min(size - 1.0, 1.5) - place, runs_on
            place += _LOWER * _is_possible(run[0].text)
            run = []
        if line.size >= _LARGE_SIZE:
            run.append(line)
        else:
            place += _LOWER


def _is_next(above: FrontLine, line: FrontLine) -> bool:
    height = (above.bottom - above.top) / ink_share(above.text)
    near = -0.5 * height <= line.top - above.bottom <= 0.95 * height
    return _is_as_large(above, line) and near and _is_possible(line.text) and _is_possible(above.text)


def _is_as_large(above: FrontLine, line: FrontLine) -> bool:
    return line.size >= _LARGE_SIZE and 0.85 <= line.size / above.size <= 1.18


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _cut(title: str) -> str:
    if len(title) <= _MOST_CHARS:
        return title
    head = title[:_MOST_CHARS].rpartition(" ")[0] or title[: _MOST_CHARS - 1]
    return head.rstrip(" ,;:") + "…"


@cache
def _not_titles() -> frozenset[str]:
    rows = _FILE.read_text(encoding="utf-8").splitlines()
    return frozenset(row for row in rows if not row.startswith("#"))
