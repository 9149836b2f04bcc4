"""Which of several versions of a document a question means: the current one, that of a year, or what changed between
two.

Versions have the same title, or name of a file, but for years and words like "amended". What is said of the one that is
meant is looked for in it alone, whoever answers; the words that choose it count as its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from rag_core.answering.citations import CitationWriter
from rag_core.answering.encoding import Encoder
from rag_core.answering.question import Question, Search
from rag_core.answering.quotations import quoted
from rag_core.answering.strategies.base import Strategy
from rag_core.answering.strategies.extractive import extract_each
from rag_core.answering.strategies.query_intent import QueryIntent
from rag_core.answering.strategies.version_changes import told_changes
from rag_core.answering.streaming import Progress
from rag_core.answering.summaries.subject import names_of
from rag_core.answering.written import Written
from rag_core.domain import Document, Hit, Retrieval, Trace
from rag_core.models.registry import EXTRACTIVE
from rag_core.retrieval.contents import Contents
from rag_core.retrieval.identity import identity_terms
from rag_core.retrieval.understanding import kind_of
from rag_core.text.terms import terms

_LATEST = re.compile(
    r"\b(?:current(?:ly)?|latest|newest|most recent|in force|aktuell\w*|derzeit\w*|neueste\w*|geltende\w*|actuel\w*"
    r"|en vigueur)\b",
    re.IGNORECASE,
)
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_OF_YEAR = re.compile(
    rf"\b{_YEAR}\b(?:(?:,| and| or| to| und| oder| et)(?: the| der| die| das)? (?:19|20)\d\d)*\s+(?P<noun>[^\W\d_]+)"
    r"|(?P<before>[^\W\d_]+) (?:of|from|von|aus|de) (?:19|20)\d\d\b",
    re.IGNORECASE,
)
_VERSIONS = re.compile(r"\b(?:two|both|versions?|beiden?|zwei|fassungen|deux)\b", re.IGNORECASE)
_ANY_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_CHANGE = re.compile(r"\b(?:chang\w+|differ\w*|änder\w+|geändert|unterschied\w*|changé|diffère\w*)\b", re.IGNORECASE)
_MARKS = frozenset(identity_terms("amended restated revised updated version revision edition draft final new old copy"))
_NOUNS = frozenset(identity_terms("version edition revision agreement contract Vertrag Fassung Ausgabe contrat"))
_MOST_PASSAGES, _TWO = 12, 2


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Versions that a question means, in its order, and its words that say so."""

    documents: tuple[Document, ...]
    words: tuple[str, ...]


class Versions(Strategy):
    """Has `writer` answer from the version that is meant, or says what each of several says."""

    def __init__(self, writer: Strategy, encoder: Encoder) -> None:
        self._writer = writer
        self._encoder = encoder

    def write(self, question: Question, search: Search, progress: Progress) -> Written | None:
        """What the version says; None for a question that means none. Raises StoreUnavailable."""
        query, contents = question.wordings[0], question.contents
        asks_of_all = bool(_CHANGE.search(query) and _VERSIONS.search(query))
        if contents is None or not (asks_of_all or _LATEST.search(query) or _OF_YEAR.search(query)):
            return None
        chosen = _chosen(query, search(query).hits, contents)
        if chosen is None:
            return None
        if len(chosen.documents) > 1:
            is_quoted = question.model == EXTRACTIVE and _CHANGE.search(query)
            return self._changes(query, chosen, search, contents) if is_quoted else None
        (only,) = chosen.documents
        return self._writer.write(question, lambda text: within(only, chosen.words, search(text), contents), progress)

    def check(self, question: Question, written: Written, writer: CitationWriter, *, stopped: bool) -> Written:
        """What a model wrote of the version, by whoever had it written."""
        return self._writer.check(question, written, writer, stopped=stopped)

    def _changes(self, query: str, chosen: _Chosen, search: Search, contents: Contents) -> Written | None:
        """A row for each version of what the question is about, all that differs where that is nothing; None where any
        of them says nothing."""
        if not (topic := _topic(query, chosen)):
            return told_changes(query, chosen.documents, contents) if len(chosen.documents) == _TWO else None
        asked = f"What is the {topic}?"
        every, found = {}, search(asked)
        for document, year in zip(chosen.documents, chosen.words, strict=True):
            every[year] = (asked, within(document, chosen.words, found, contents).hits)
        made = extract_each(query, every, self._encoder, QueryIntent(narrowed=True))
        if made is None:
            return None
        text, sentences, citations = quoted(made)
        hits = tuple(hit for _, some in every.values() for hit in some)
        return Written(
            Retrieval(hits, Trace(query=query)), hits, text, sentences=sentences, citations=citations,
            confidence=made.confidence, told=made.told,
        )  # fmt: skip


def _chosen(query: str, hits: Sequence[Hit], contents: Contents) -> _Chosen | None:
    """By the first document found that the question's year stands beside, or, for the latest, the first found."""
    years = tuple(dict.fromkeys(_ANY_YEAR.findall(query)))
    if not years:
        alike = (
            _alike(hits[0].document, contents)
            if hits and (kind_of(query) != "comparison" or _CHANGE.search(query))
            else []
        )
        if len(alike) >= _TWO and _CHANGE.search(query) and _VERSIONS.search(query):
            return _Chosen(tuple(alike[-_TWO:]), tuple(str(one.year) for one in alike[-_TWO:]))
        latest = _LATEST.search(query)
        is_clear = len(alike) > 1 and _when(alike[-1]) > _when(alike[-2])
        return _Chosen((alike[-1],), (latest[0],)) if latest and is_clear else None
    beside = {term for match in _OF_YEAR.finditer(query) for term in identity_terms(match["noun"] or match["before"])}
    for document in {hit.document.id: hit.document for hit in hits}.values():
        if beside & (names_of(document) | _NOUNS):
            of_years = [[one for one in _alike(document, contents) if str(one.year) == year] for year in years]
            if all(len(some) == 1 for some in of_years):
                return _Chosen(tuple(one for (one,) in of_years), years)
    return None


def _alike(document: Document, contents: Contents) -> list[Document]:
    """The versions of a document that say of when they are, itself among them, the oldest first."""
    own, names = _bare_names(document), {document.title, *map(_file_name, document.sources)}
    meant = [one for name in sorted(names) for one in contents.meant(name)]
    found = {one.id: one for one in (document, *meant) if own & _bare_names(one)}
    return sorted((one for one in found.values() if _when(one)[0]), key=_when)


def _bare_names(document: Document) -> set[frozenset[str]]:
    """The words of its title without figures, and of its files' names without years: a title may be a text's first
    line in one version and not in the other."""
    title = frozenset(term for term in identity_terms(document.title) if not term.isdigit())
    files = (_ANY_YEAR.sub(" ", _file_name(source)) for source in document.sources)
    return {title - _MARKS, *(frozenset(identity_terms(name)) - _MARKS for name in files)} - {frozenset()}


def _file_name(source: str) -> str:
    return PurePosixPath(source).stem


def _when(document: Document) -> tuple[str, str]:
    """The year that a document is of, and the day that its file was last changed; "" where it is not known."""
    changed = document.card.modified if document.card else ""
    return str(document.year or changed[:4]), changed


def within(document: Document, names: Sequence[str], found: Retrieval, contents: Contents) -> Retrieval:
    """What was found in the document that a question means, or its first passages; words that choose it are names."""
    hits = [hit for hit in found.hits if hit.document.id == document.id]
    hits = hits or contents.beginning(document, _MOST_PASSAGES)
    named = tuple(replace(hit, called=(*hit.called, *names)) for hit in hits)
    searched = found.trace.searched
    if searched is not None:
        understood = replace(searched.understood, documents={document.id: 1.0})
        searched = replace(searched, understood=understood, documents=1)
    return Retrieval(named, replace(found.trace, searched=searched))


def _topic(query: str, chosen: _Chosen) -> str:
    """The words of a question about a change that are neither of the change nor of the versions."""
    names = set().union(*map(names_of, chosen.documents)) | _NOUNS
    words = (word for word in re.findall(r"[\w'’-]+", _VERSIONS.sub("", _CHANGE.sub("", query))) if terms(word))
    return " ".join(word for word in words if not word.isdigit() and not set(identity_terms(word)) <= names)
