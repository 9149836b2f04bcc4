"""What papers say of themselves on their first pages: their DOI and their abstract, and where it begins."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.domain import Page, ParsedDocument, Section

# Pages that are looked at, and how far down.
_PAGES, _PAGE_CHARS = 3, 12_000
# As the DOI Handbook has them (2.2): the prefix of a registrant, and a suffix that ends before punctuation.
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{}|\\^`]+", re.IGNORECASE)
_SAID = re.compile(r"(?:doi\s*:?|doi\.org/|dx\.doi\.org/)\s*$", re.IGNORECASE)
_SAID_CHARS = 20
_AFTER = ".,;:!?'\"”’*†‡"
_HEADING = r"(?:abstract|summary|zusammenfassung|kurzfassung|résumé|resumen|resumo|riassunto|аннотация|摘要)"
_NAMED = re.compile(rf"(?:\d+\.?\s+)?{_HEADING}\W*", re.IGNORECASE)
_BEGINS = re.compile(
    rf"^[ \t#*_]*(?P<name>{_HEADING})\b[ \t]*[*_]*[ \t]*(?:[.:—–-][ \t]*|\n)", re.IGNORECASE | re.MULTILINE
)
_ENDS = re.compile(
    r"^[ \t#*_]*(?:(?:key\s?words?|index terms|schlüsselwörter|schlagwörter|mots[- ]clés|palabras clave|ccs concepts"
    r"|categories and subject|jel\b|©|copyright\b)|(?:\d{1,2}|I)?\.?[ \t]*(?:introduction|einleitung|background)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_LEAST_WORDS, _MOST_CHARS = 30, 3_000
# Sections that begin before an abstract: the paper's title, where an outline has it.
_BEFORE = 1


def find_doi(pages: Sequence[Page]) -> str:
    """The DOI that a document's first pages name, the first that is called one; else the first of page one, or none.

    A later page that names several lists what others wrote.
    """
    said, on_first = [], []
    for place, page in enumerate(pages[:_PAGES]):
        text = page.text[:_PAGE_CHARS]
        found = [(match.start(), _bare(match[0])) for match in _DOI.finditer(text)]
        if place == 0:
            on_first = [doi for _, doi in found]
        if place == 0 or len({doi for _, doi in found}) == 1:
            said += [doi for start, doi in found if _SAID.search(text[max(start - _SAID_CHARS, 0) : start])]
    return next(iter(said or on_first), "")


def find_abstract(parsed: ParsedDocument) -> str:
    """The abstract on one line, by its heading or the word that it begins with; empty where there is none."""
    sections = [section for section in parsed.sections if section.page <= _PAGES]
    for number, section in enumerate(sections):
        if _NAMED.fullmatch(section.title):
            behind = sections[number + 1] if number + 1 < len(sections) else None
            return _tidy(_between(parsed.pages, section, behind))
    for page in parsed.pages[:_PAGES]:
        if begins := _BEGINS.search(page.text[:_PAGE_CHARS]):
            return _tidy(page.text[begins.end() : begins.end() + 2 * _MOST_CHARS])
    return ""


def with_abstract(sections: Sequence[Section], pages: Sequence[Page]) -> tuple[Section, ...]:
    """The sections, and the abstract where a first page names it and they do not, as outlines of papers seldom do."""
    if not sections or any(_NAMED.fullmatch(section.title) for section in sections):
        return tuple(sections)
    for page in pages[:_PAGES]:
        begins = _BEGINS.search(page.text[:_PAGE_CHARS])
        if begins and _tidy(page.text[begins.end() : begins.end() + 2 * _MOST_CHARS]):
            place = (page.number, begins.start("name"))
            before = [section for section in sections if (section.page, section.start) < place]
            if len(before) > _BEFORE:
                break
            behind = sections[len(before) :]
            return (*before, Section(begins["name"], (*behind, *before)[0].level, *place), *behind)
    return tuple(sections)


def _bare(doi: str) -> str:
    """A DOI without what follows it: punctuation, and brackets that it did not open."""
    while doi and (doi[-1] in _AFTER or (doi[-1] in ")]" and doi.count(doi[-1]) > doi.count("(["[doi[-1] == "]"]))):
        doi = doi[:-1]
    return doi


def _between(pages: Sequence[Page], section: Section, behind: Section | None) -> str:
    page = next((page for page in pages if page.number == section.page), None)
    if page is None:
        return ""
    start = section.start + len(section.title)
    end = behind.start if behind and behind.page == section.page else len(page.text)
    return page.text[start:end]


def _tidy(text: str) -> str:
    ends = _ENDS.search(text)
    text = text[: ends.start()] if ends else text
    line = " ".join(text.replace("\u00ad", "").split()).lstrip("*_:.—–- ")
    if len(line) > _MOST_CHARS:
        line = line[: line.rfind(" ", 0, _MOST_CHARS)] + " …"
    return line if len(line.split()) >= _LEAST_WORDS else ""
