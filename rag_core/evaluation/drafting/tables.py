"""Rows of tables to questions: tables of Markdown, and lines of figures below a line of years as in annual reports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_core.evaluation.drafting.words import Speech

Line = tuple[int, str]

_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)+\|?\s*$")
_EDGE = re.compile(r"^\s*\||\|\s*$")
_EMPTY = frozenset(("", "-", "–", "—", "n/a", "none", "?"))
_NO_COLUMN = re.compile(
    r"(?:what|who|when|where|why|how|in|on|at|from|to|for|is|are|was|has|no|not|yes|#|no\.|\d|notes?|remarks?|comments?"
    r"|description|name|status|example|link|reference)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_FIGURE = re.compile(r"(?P<unit>[$€£]?)\s?(?P<minus>\(?)(?P<number>\d[\d,]*(?:\.\d+)?)\)?\s?(?P<percent>%?)|—")
_BETWEEN = re.compile(r"[\s$€£%()]*")
_PART_OF_YEAR = re.compile(r"quarter|months|weeks|thereafter|maturit|expir", re.IGNORECASE)
_LABEL = re.compile(r"[A-Za-z][A-Za-z ,’'&/-]{4,58}[a-z]")
# What a figure of a report measures; other labels ("Greater China") say it in a heading that is not at hand.
_MEASURE = re.compile(
    r"\b(?:sales|revenues?|income|expenses?|costs?|assets|liabilit(?:y|ies)|earnings|cash|debt|equity|margin|profit"
    r"|loss(?:es)?|shares|tax(?:es)?|rate|memberships|employees|fees|inventor(?:y|ies)|dividends?|depreciation"
    r"|compensation|payables?|receivables?|cardholders|customers|members|stores|warehouses|goodwill|equipment)\b",
    re.IGNORECASE,
)
_NO_LABEL = re.compile(
    r"(?:other|less|add|and|including|of|net|in|as|on|balance|change|increase|decrease)\b", re.IGNORECASE
)
_HEAD_ENDS = re.compile(
    r",| (?:for|of|from|in|on|to|per|before|after|and|by|as|at|used|provided|attributable|excluding|including)\b"
)


@dataclass(frozen=True, slots=True)
class Cell:
    """A question for one cell: its answers, and the span of its row in the page's text."""

    text: str
    references: tuple[str, ...]
    start: int
    end: int


def cells(text: str, speech: Speech, title: str) -> Iterator[Cell]:
    """Questions for the cells of every table of a page; `title` is the document's, for figures of years."""
    lines = [(match.start(), match.group()) for match in re.finditer(r"[^\n]+", text)]
    yield from _of_markdown(lines, speech)
    yield from _of_years(lines, title)


def _of_markdown(lines: Sequence[Line], speech: Speech) -> Iterator[Cell]:
    """Cells of tables whose columns are qualities ("Yield", "Height") and not names ("Halcyon", "2020")."""
    head: list[str] = []
    for place, (start, line) in enumerate(lines):
        if _RULE.match(line) and place:
            head = _split(lines[place - 1][1])
        elif "|" not in line:
            head = []
        elif head:
            row = _split(line)
            if len(row) == len(head) > 1 and _names_something(row[0]):
                yield from _row(head, row, start + len(line) - len(line.lstrip()), start + len(line.rstrip()), speech)


def _row(head: Sequence[str], row: Sequence[str], start: int, end: int, speech: Speech) -> Iterator[Cell]:
    label = speech.within(row[0]) or row[0]
    for column, value in zip(head[1:], row[1:], strict=True):
        if _is_quality(column, speech) and value.lower() not in _EMPTY and len(value) <= 60:
            quality = column if column.split()[0].isupper() else column[0].lower() + column[1:]
            yield Cell(f"What {_be(quality.split()[0], 'is', 'are')} the {quality} for {label}?", (value,), start, end)


def _split(line: str) -> list[str]:
    return [cell.strip().replace("**", "").strip("*_`") for cell in _EDGE.sub("", line.strip()).split("|")]


def _names_something(text: str) -> bool:
    return 2 <= len(text) <= 60 and text[0].isalpha() and len(text.split()) <= 8 and "total" not in text.lower()


def _is_quality(column: str, speech: Speech) -> bool:
    """Whether a column's head reads as something that a thing has."""
    words = re.findall(r"[A-Za-z][\w'-]*", column)
    if not 1 <= len(words) <= 7 or _NO_COLUMN.match(column) or re.search(r"[?:;<>]", column):
        return False
    return speech.is_common(words[0]) or (len(words) > 1 and any(word[0].islower() for word in words))


def _be(noun: str, one: str, many: str) -> str:
    return many if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) else one


def _of_years(lines: Sequence[Line], title: str) -> Iterator[Cell]:
    """Figures of lines below a line of years; those for parts of years, and losses in brackets, are left out."""
    years: list[str] = []
    for place, (start, line) in enumerate(lines):
        if named := _years_named(line):
            above = " ".join(text for _, text in lines[max(0, place - 3) : place + 1])
            years = [] if _PART_OF_YEAR.search(above) else named
        elif years:
            found = list(_FIGURE.finditer(line))
            if found and _is_row(line, found):
                yield from _figures(line, start, found, years, title)
            elif len(line.split()) > 8:
                years = []


def _years_named(line: str) -> list[str]:
    """The years that a line of column heads names, in its order; [] for any other line."""
    words = line.replace("%", " ").split()
    years = [word for word in words if _YEAR.fullmatch(word)]
    alone = all(_YEAR.fullmatch(word) or word in ("Change", "vs.", "Fiscal", "Year") for word in words)
    return years if alone and len(years) >= 2 and len(set(years)) == len(years) else []


def _is_row(line: str, found: Sequence[re.Match[str]]) -> bool:
    """Whether a line is a label and figures, with nothing between and after them."""
    gaps = [line[before.end() : after.start()] for before, after in pairwise(found)]
    return all(map(_BETWEEN.fullmatch, (*gaps, line[found[-1].end() :])))


def _figures(line: str, start: int, found: Sequence[re.Match[str]], years: Sequence[str], title: str) -> Iterator[Cell]:
    """A question for each year of a line whose label says what is measured."""
    label = re.sub(r"\s*\(\d\)$", "", line[: found[0].start()].strip(" $:"))
    values = list(found) if len(found) == len(years) else [match for match in found if not match["percent"]]
    if len(values) != len(years) or not _LABEL.fullmatch(label) or len(label.split()) < 2:
        return
    if not _MEASURE.search(label) or _NO_LABEL.match(label):
        return
    thing = label if label.split()[0].isupper() or label[:2].isupper() else label[0].lower() + label[1:]
    be = _be(_HEAD_ENDS.split(thing)[0], "was", "were")
    thing = f"the {thing}" if be == "was" and not thing.startswith("cash") else thing
    for year, match in zip(years, values, strict=True):
        if match["number"] and not match["minus"]:
            number = match["number"] + match["percent"]
            answers = (f"{match['unit']}{number}", number) if match["unit"] else (number,)
            yield Cell(f"In “{title}”, what {be} {thing} in {year}?", answers, start, start + len(line.rstrip()))
