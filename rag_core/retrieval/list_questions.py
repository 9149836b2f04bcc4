"""Chunks that list what stands elsewhere, references and contents: they answer only who asks for such a list."""

from __future__ import annotations

import re

from rag_core.retrieval.query import Query

# Sections that say what a paper cites, and words of questions that mean these.
_REFERENCES = re.compile(
    r"(?:[\dIVX.]+\s+)?(?:references(?: cited)?|bibliography|(?:works|literature) cited|literatur(?:verzeichnis)?|"
    r"référen?ces|bibliographie|referencias|bibliografía|список литературы|参考文献)\W*",
    re.IGNORECASE,
)
_ASKS_FOR_REFERENCES = re.compile(
    r"\b(?:referenc|cit(?:e[ds]?|ing|ations?)\b|bibliogra|literatur|works? by|papers?\b|publi|et al\b|référ|referenci)",
    re.IGNORECASE,
)
_CONTENTS = re.compile(
    r"\W*(?:table of )?contents\b|\W*inhalt(?:sverzeichnis)?\b|\W*table des matières\b|\W*índice\b|\W*目录",
    re.IGNORECASE,
)
_ASKS_FOR_CONTENTS = re.compile(r"\b(?:contents|chapters?|sections?|outline|pages?|inhalt|kapitel)\b", re.IGNORECASE)
# From the line's start: tried from every word of a paragraph in one line, it would take longer than the search.
_ENTRY = re.compile(r"\W*\w.*[.\s](?:\d{1,4}|[ivxlc]{1,6})\s*$", re.IGNORECASE)
_LEADERS = re.compile(r"(?:\.[ \t]?){6,}")
_BEGINNING, _FEW, _SHARE = 3, 3, 0.5  # lines where it is called so; entries; entries among all lines


def lists_references(section: str, text: str) -> bool:
    """Whether a chunk of a section is of a paper's list of references, and of nothing that stands before that."""
    if not _REFERENCES.fullmatch(section.strip()):
        return False
    before, heading, _ = text.partition(section)
    return not (heading and before.strip("#*_ \n"))


def lists_contents(section: str, text: str) -> bool:
    """Whether a chunk of a section is of a table of contents: by rows of dots, or by its name and numbers of pages."""
    if len(_LEADERS.findall(text)) >= _FEW:
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    if not any(map(_CONTENTS.match, (section, *lines[:_BEGINNING]))):
        return False
    return sum(_ENTRY.match(line) is not None for line in lines) >= max(_FEW, _SHARE * len(lines))


def left_out(query: Query, section: str, text: str) -> bool:
    """Whether a chunk is such a list and the question, which names no section, asks for none."""
    if query.scope.sections:
        return False
    return (lists_references(section, text) and not _ASKS_FOR_REFERENCES.search(query.text)) or (
        lists_contents(section, text) and not _ASKS_FOR_CONTENTS.search(query.text)
    )
