"""A document's card: what a person would call it, made from its first pages, headings, names and information.

What a file says of itself is one witness among others: programs and filing services leave their own names there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.domain import DocumentCard, ParsedDocument
from rag_core.reading.base import CODE, CSV, SHEETS
from rag_core.reading.front import front_of
from rag_core.reading.kinds import Kind, find_kind, kind_words
from rag_core.reading.organisations import find_organisation, main_word
from rag_core.reading.papers import find_abstract, find_doi
from rag_core.reading.people import find_authors
from rag_core.reading.periods import Period, find_period
from rag_core.reading.sections import bare_words
from rag_core.reading.titles import find_title, readable
from rag_core.text.languages import language_of

_SAMPLE_PAGES, _SAMPLE_CHARS = 8, 4_000
# As of RFC 5646; a file may say anything.
_LANGUAGE = re.compile(r"[a-z]{2,3}(?=-|$)")
_YEARS = re.compile(r"\b(?:19|20)\d\d\b|\b[qQ][1-4]\b|\W")


def make_card(parsed: ParsedDocument, names: Sequence[str]) -> DocumentCard:
    """The card of a document that has these file names, its own first. Reads the first pages alone; never raises."""
    front = front_of(parsed.pages)
    title = find_title(parsed, names, front)
    kind = find_kind(title, names, front)
    organisation = find_organisation(front, title, names, parsed.authors)
    is_sheet = parsed.media_type in (CSV, *SHEETS)
    if organisation and is_sheet and main_word(organisation) not in bare_words(" ".join((title, *names))):
        organisation = ""  # a cell's: rows are about many
    is_code = parsed.media_type == CODE  # its dates and years are figures among others
    period = Period() if is_code else find_period(kind.period, title, names, front)
    return DocumentCard(
        title=_called(title, kind, organisation, period, [*map(readable, names)]),
        organisation=organisation,
        authors="" if kind.naming == "composed" else find_authors(parsed.authors, title, kind.name, front),
        kind=kind.name,
        period=period.words,
        year=period.year or parsed.year,
        language=_language(parsed),
        doi=find_doi(parsed.pages),
        abstract=find_abstract(parsed),
        modified=parsed.modified,
    )


def _language(parsed: ParsedDocument) -> str:
    """The language of the first pages. What a file says of it is often its program's: it decides where pages do not."""
    said = _LANGUAGE.match(parsed.language.lower())
    sample = "\n".join(page.text[:_SAMPLE_CHARS] for page in parsed.pages[:_SAMPLE_PAGES])
    return language_of(sample, said[0] if said else "en")


def _called(title: str, kind: Kind, organisation: str, period: Period, names: Sequence[str]) -> str:
    """The title, or one made of organisation, kind and period, where the page has none that says as much.

    names: the file's, made readable, of which one that tells which is better than the kind alone.
    """
    is_bare = not _YEARS.sub("", kind_words(title, kind))
    if organisation and kind.naming == "composed":
        return f"{organisation} {kind.name}{_when(kind, period)}"
    if organisation and kind.naming != "title" and main_word(organisation) not in bare_words(title):
        return f"{organisation} {kind.name}{_when(kind, period)}" if is_bare else f"{organisation} {title}"
    return next((name for name in names if _names_one(kind, name)), title) if is_bare else title


def _names_one(kind: Kind, name: str) -> bool:
    """Whether a name tells which one of a kind it is of, as "Invoice 2042" does."""
    rest = kind_words(name, kind)
    return rest != name and bool(rest.strip())


def _when(kind: Kind, period: Period) -> str:
    if kind.period in ("year", "none"):
        return f" {period.year}" if period.year else ""
    return f", {period.words or period.year}" if period.words or period.year else ""
