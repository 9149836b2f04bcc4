"""People with a document each: who speaks Norwegian is answered by all whose documents have a line that says so.

A document is a person's where its title is a name, and its kind, file or folder says that it is of a person: a CV, a
profile, a folder of applicants.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.answering.citations import Register
from rag_core.answering.question import Question, Search
from rag_core.answering.strategies.base import Strategy
from rag_core.answering.strategies.mentioning import best_line
from rag_core.answering.streaming import Progress
from rag_core.answering.written import Written
from rag_core.domain import Document, Hit, Retrieval, Sentence, Trace
from rag_core.retrieval.contents import Contents
from rag_core.text.person_names import is_name
from rag_core.text.terms import coverage, terms

_WHO = re.compile(r"(?:who|wer|qui)(?:['’]s| is| are| has| have| can| ist| kann| hat| est| a)?\s+(?P<what>.+)", re.I)
_NEGATION = re.compile(r"\b(?:not|never|no|nobody|nicht|kein\w*|pas)\b|n['’]t\b", re.IGNORECASE)
# What a document of a person says without the word.
_SAID_BY_NONE = frozenset(
    terms(
        "know speak use master understand fluent familiar skilled skill qualified proficient good able experience"
        " experienced work study code program kennt kann spricht beherrscht arbeitet connaît parle maîtrise travaille"
    )
)
_OF_PEOPLE = frozenset(
    terms(
        "cv cvs resume résumé curriculum vitae lebenslauf profile biography bio applicant application candidate staff"
        " team people person employee member patient student bewerbung mitarbeiter"
    )
)
_MOST_DOCUMENTS, _MOST_SHOWN, _LONGEST_WORDS = 5_000, 20, 14
_CONFIDENCE = 0.8


class People(Strategy):
    """Names the people whose documents say something. Thread-safe."""

    def write(self, question: Question, search: Search, progress: Progress) -> Written | None:
        """The people, each with the line; None where something else is asked for, or no person's document says it.

        Raises StoreUnavailable.
        """
        query, contents = question.wordings[0], question.contents
        if contents is None or len(query.split()) > _LONGEST_WORDS or _NEGATION.search(query):
            return None
        who = _WHO.fullmatch(query.rstrip(" ?.!"))
        return _listed(query, who["what"], contents) if who else None


def person_of(document: Document) -> str:
    """The name of the person that a document is of; "" where it is of none."""
    kind = document.card.kind if document.card else ""
    name = " ".join(word for word in document.title.split() if not set(terms(word)) & _OF_PEOPLE)
    places = re.sub(r"[\W_]+", " ", " ".join([document.title, kind, *document.sources]))
    return name if is_name(name) and set(terms(places)) & _OF_PEOPLE else ""


def _listed(query: str, what: str, contents: Contents) -> Written | None:
    """The people whose documents have a line with all that is asked for; None where there are none."""
    documents, _ = contents.documents(_MOST_DOCUMENTS)
    people = {one.id: name for one in documents if (name := person_of(one))}
    asked = terms(what)
    bare = [term for term in asked if term not in _SAID_BY_NONE]
    for wanted in (asked, bare):
        hits = contents.holding(wanted, list(people)) if people and wanted else []
        found = [hit for hit in hits if (line := best_line(hit, wanted)) and _holds(line.text, wanted)]
        if found:
            return _written(query, found, [people[hit.document.id] for hit in found], wanted)
    return None


def _holds(text: str, wanted: Sequence[str]) -> bool:
    return coverage(wanted, set(terms(text))) == 1


def _written(query: str, hits: Sequence[Hit], names: Sequence[str], wanted: Sequence[str]) -> Written:
    register = Register()
    sentences = []
    for hit, name in list(zip(hits, names, strict=True))[:_MOST_SHOWN]:
        if line := best_line(hit, wanted):
            sentences.append(Sentence(f"{name}: {line.text}", (register.number(line),)))
    if len(hits) > _MOST_SHOWN:
        sentences.append(Sentence(f"and {len(hits) - _MOST_SHOWN} more"))
    lines = [f"- {one.text} {''.join(f'[{number}]' for number in one.citations)}".rstrip() for one in sentences]
    return Written(
        Retrieval((), Trace(query=query)), tuple(hits[:_MOST_SHOWN]), "\n".join(lines), sentences=tuple(sentences),
        citations=tuple(register.citations), confidence=_CONFIDENCE,
    )  # fmt: skip
