"""Questions of a document as a thing are answered by its card: who wrote it, when, how it is called, its pages; of a
mail by its heads: who sent it to whom, when, and what was attached; of tables which columns and how many rows.

Such a question has no words but the names of its document and those of the examples in `card_facts.json`; the example
that is nearest in meaning, names apart, tells which fact is asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path

from rag_core.answering.citations import Register
from rag_core.answering.encoding import Encode
from rag_core.answering.examples import Examples
from rag_core.answering.passages import Quote, merge_hits, quotes
from rag_core.answering.question import Question, Search
from rag_core.answering.strategies.base import Strategy
from rag_core.answering.streaming import Progress
from rag_core.answering.summaries.subject import meant_documents, names_of
from rag_core.answering.written import Written
from rag_core.domain import Document, Retrieval, Sentence, Trace
from rag_core.retrieval.contents import Contents
from rag_core.retrieval.identity import identity_terms
from rag_core.tables.table import WholeTable
from rag_core.text.coined import coined_names
from rag_core.text.place_names import place_in
from rag_core.text.terms import coverage, terms

_EXAMPLES: Mapping[str, Sequence[str]] = json.loads(
    Path(__file__).with_name("card_facts.json").read_text(encoding="utf-8")
)
_TEXTS = [text for some in _EXAMPLES.values() for text in some]
_THINGS = (
    "this it document paper book article report file mail email e-mail message Dokument tell name table sheet Tabelle"
)
"""What is asked of, which asks nothing."""
_NEAR = 0.6  # least cosine with an example
_LONGEST_WORDS = 24
_OPENING = 4  # chunks in which a document names itself
_MOST_DOCUMENTS = 10
_LETTER = "letter"
_MOST_TABLES, _MOST_HEADS = 5, 30
_CONFIDENCE = 0.9
_FIRST, _LAST = re.compile(r"\bfirst\b", re.IGNORECASE), re.compile(r"\blast\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fact:
    """What is said of a document, and the words of it that its first pages say; none where the library alone knows."""

    text: str
    said: str = ""


class CardFacts(Strategy):
    """Says what cards know. Thread-safe."""

    def __init__(self, encode: Encode) -> None:
        self._examples = Examples([_bare(text) for text in _TEXTS], encode)

    def write(self, question: Question, search: Search, progress: Progress) -> Written | None:
        """The fact asked for, of each document that is meant; None where anything else is asked for, or none knows it.

        Raises StoreUnavailable.
        """
        if question.contents is None or len(question.text.split()) > _LONGEST_WORDS:
            return None
        if not self._words & set(terms(question.text)) or place_in(question.text):  # page 7 is none of its facts
            return None
        documents = _documents(question, question.contents, set(identity_terms(question.text)) - self._said)
        if not documents:
            return None
        named = set().union(*(_names(one, question.contents) for one in documents))
        kind = self._asked(question.text, named)
        facts = [
            (one, fact) for one in documents if kind and (fact := _fact(kind, one, question.text, question.contents))
        ]
        return _written(question, facts, question.contents) if facts else None

    @cached_property
    def _words(self) -> set[str]:
        """The terms by which examples ask for a fact."""
        return {term for text in _TEXTS for term in terms(text)} - set(terms(_THINGS))

    @cached_property
    def _said(self) -> set[str]:
        return {term for text in _TEXTS for term in identity_terms(text)}

    def _asked(self, question: str, named: set[str]) -> str:
        """The fact of the nearest example; "" where none is near."""
        best, cosine = self._examples.nearest(_bare(question, named))
        return [kind for kind, some in _EXAMPLES.items() for _ in some][best] if cosine >= _NEAR else ""


def _bare(text: str, named: Set[str] = frozenset()) -> str:
    """A question without the names of what it asks of."""
    words = (word for word in text.split() if not set(terms(word)) & set(terms(_THINGS)))
    return " ".join(word for word in words if not (own := set(identity_terms(word))) or not own <= named)


def _documents(question: Question, contents: Contents, named: set[str]) -> list[Document]:
    """Those that are meant: by all the words that are left, or by none in a library of one, or as "this"."""
    if not named:
        return meant_documents(question.text, contents, question.history)[:_MOST_DOCUMENTS]
    return [one for one in contents.meant(question.text)[:_MOST_DOCUMENTS] if named <= _names(one, contents)]


def _names(document: Document, contents: Contents) -> set[str]:
    """The terms of all names that a document goes by; a letter by those to whom and of whom it is, too."""
    opening = " ".join(hit.text for hit in contents.beginning(document, _OPENING))
    is_letter = document.card is not None and document.card.kind == _LETTER
    coined = opening if is_letter else " ".join(coined_names(opening))
    return names_of(document) | set(identity_terms(coined))


def _fact(kind: str, document: Document, question: str, contents: Contents) -> Fact | None:
    """What the card says, or, of a mail, its heads, which are the lines below its subject."""
    if kind in _SHAPES:
        return _SHAPES[kind](document, contents)
    if kind not in _HEADS:
        return _FACTS[kind](document, question)
    if not document.is_mail:
        return None
    names, telling = _HEADS[kind]
    opening = "\n".join(hit.text for hit in contents.beginning(document, 1))
    found = [match[1].strip() for name in names if (match := re.search(rf"^{name}: (.+)$", opening, re.MULTILINE))]
    return Fact(telling.format(said=" and ".join(found), title=document.title), " ".join(found)) if found else None


def _authors(document: Document, question: str) -> Fact | None:
    names = [name.strip() for name in re.split(r",|;|\band\b|&", document.authors) if name.strip()]
    if not names:
        return None
    for word, place in ((_FIRST, 0), (_LAST, -1)):
        if word.search(question):
            return Fact(f"{names[place]} is the {word.pattern[2:-2]} author of “{document.title}”.", names[place])
    *most, last = names
    told = f"{', '.join(most)} and {last}" if most else last
    return Fact(f"{told} wrote “{document.title}”.", names[0])


def _year(document: Document, question: str) -> Fact | None:
    period = document.card.period if document.card else ""
    told = period or str(document.year or "")
    return Fact(f"“{document.title}” is of {told}.", told) if told else None


def _title(document: Document, question: str) -> Fact | None:
    return Fact(f"The title is “{document.title}”.", document.title)


def _pages(document: Document, question: str) -> Fact | None:
    count = document.page_count
    return Fact(f"“{document.title}” has {count} page{'s' * (count != 1)}.") if count else None


def _doi(document: Document, question: str) -> Fact | None:
    doi = document.card.doi if document.card else ""
    return Fact(f"The DOI of “{document.title}” is {doi}.", doi) if doi else None


def _modified(document: Document, question: str) -> Fact | None:
    with suppress(ValueError):  # the file may say anything
        day = date.fromisoformat(document.card.modified if document.card else "")
        return Fact(f"“{document.title}” was last changed on {day.day} {day:%B %Y}, as its file says.")
    return None


def _columns(document: Document, contents: Contents) -> Fact | None:
    """The heads of its tables, of as many as are told."""
    return _of_tables(document, contents, lambda table: f"{_count(len(table.heads), 'column')}: {_joined(table)}")


def _rows(document: Document, contents: Contents) -> Fact | None:
    """How many rows its tables have, without those that sum up others."""
    return _of_tables(document, contents, lambda table: _count(len(table) - int(table.totals.sum()), "row"))


def _of_tables(document: Document, contents: Contents, has: Callable[[WholeTable], str]) -> Fact | None:
    """What each of a document's tables has, and how many more there are."""
    tables = contents.tables(document)
    told = [f"{_called(table, document)} has {has(table)}." for table in tables[:_MOST_TABLES]]
    if len(tables) > _MOST_TABLES:
        told.append(f"It has {_count(len(tables) - _MOST_TABLES, 'more table')}.")
    return Fact(" ".join(told), " ".join(tables[0].heads[:_MOST_HEADS])) if told else None


def _called(table: WholeTable, document: Document) -> str:
    return f"“{document.title}”" + (f", {table.name}," if table.name and table.name != document.title else "")


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _joined(table: WholeTable) -> str:
    heads = [head or "–" for head in table.heads[:_MOST_HEADS]]
    more = len(table.heads) - len(heads)
    return ", ".join(heads) + (f" and {more} more" if more else "")


_SHAPES: Mapping[str, Callable[[Document, Contents], Fact | None]] = {"columns": _columns, "rows": _rows}
_FACTS: Mapping[str, Callable[[Document, str], Fact | None]] = {
    "authors": _authors, "year": _year, "title": _title, "pages": _pages, "doi": _doi, "modified": _modified
}  # fmt: skip
_HEADS: Mapping[str, tuple[Sequence[str], str]] = {
    "sender": (("From",), "{said} sent “{title}”."),
    "recipients": (("To", "Cc"), "“{title}” was sent to {said}."),
    "sent": (("Date",), "“{title}” was sent on {said}."),
    "attachments": (("Attachments",), "Attached to “{title}”: {said}."),
}
"""Of each fact of a mail, its heads, and how they are told."""


def _written(question: Question, facts: Sequence[tuple[Document, Fact]], contents: Contents) -> Written:
    """A sentence for each document, with the line of its opening that says so."""
    register = Register()
    sentences = []
    for document, fact in facts:
        quote = _line(fact.said, document, contents) if fact.said else None
        sentences.append(Sentence(fact.text, (register.number(quote),) if quote else ()))
    text = "\n\n".join(f"{one.text} {''.join(f'[{number}]' for number in one.citations)}".rstrip() for one in sentences)
    return Written(
        Retrieval((), Trace(query=question.wordings[0])), text=text, sentences=tuple(sentences),
        citations=tuple(register.citations), confidence=_CONFIDENCE,
    )  # fmt: skip


def _line(said: str, document: Document, contents: Contents) -> Quote | None:
    """The line that says most of some words."""
    every = quotes(merge_hits(contents.beginning(document, _OPENING)))
    wanted = terms(said)
    best = max(every, key=lambda quote: coverage(wanted, set(terms(quote.text))), default=None)
    return best if best is not None and coverage(wanted, set(terms(best.text))) > 0 else None
