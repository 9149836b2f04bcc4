"""What a request for a summary means: whole documents, a section of them, or a topic.

A comparison of documents by nothing but their names asks for one of each, side by side.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rag_core.answering.summaries.sentence_scoring import Extent
from rag_core.domain import Document, Message, Section
from rag_core.retrieval.contents import Content, Contents
from rag_core.retrieval.identity import identity_terms
from rag_core.retrieval.understanding import SUMMARISE, kind_of

MOST_DOCUMENTS = 10
_MOST_BESIDE = 1

_REQUEST = re.compile(
    r"\b(?:sum+ar+i[sz]e|summary of|(?:an?|the|short|brief) (?:summary|overview|outline)|overview of|gist of|tl;?dr"
    r"|sum (?:\w+ ){0,3}?up|outline|(?:main|key) (?:points?|ideas?|messages?|takeaways?)"
    r"|in (?:short|brief|a nutshell|a few (?:lines|words|sentences))|short (?:story|version)"
    rf"|what(?:['’]s| is| are| was| were) .{{0,60}}\babout\W*$)|{SUMMARISE.pattern}",
    re.IGNORECASE,
)
ASKING = frozenset(
    identity_terms(
        "summarise summarize sumarise sumarize summarrise summary summaries"
        " overview gist tldr tl dr sum up outline main key point points idea ideas"
        " message messages takeaway takeaways short brief briefly story version nutshell line lines word words sentence"
        " sentences about content contents give tell show please quick quickly whole entire all every everything each"
        " library documents files collection section chapter part item paragraph long know want need deal rule rules"
    )
)
"""Of the words of a request, those that ask; what is left says of what."""
_COMPARE = re.compile(r"\bcompar(?:e|ison)\b", re.IGNORECASE)
_COMPARING = frozenset(identity_terms("compare comparison both two reports papers filings contents"))
_ALL = re.compile(
    r"\b(?:library|everything|all of (?:it|them)"
    r"|(?:all|every|each|my|the|these|those) (?:\w+ )?(?:documents|files|papers|texts))\b",
    re.IGNORECASE,
)
_BRIEF = re.compile(
    r"\b(?:in short|in brief|briefly|brief|short|quick(?:ly)?|gist|tl;?dr|nutshell|few)\b", re.IGNORECASE
)
_THIS = re.compile(r"\b(?:this|that|it)\b", re.IGNORECASE)


Found = Callable[[], Sequence[Document]]


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be summarised: `documents`, of `found` in all, of those in `extents` that part alone, or, without
    documents, a topic. asked: terms that are more than names. It may be so short as a summary itself.
    """

    documents: tuple[Document, ...] = ()
    found: int = 0
    extents: Mapping[str, Extent] = field(default_factory=dict)
    asked: tuple[str, ...] = ()
    is_short: bool = False


def is_brief(question: str) -> bool:
    """Whether it asks for a few words."""
    return bool(_BRIEF.search(question))


def is_request(question: str) -> bool:
    """Whether a question asks for a summary, or compares what may be documents, which its subject tells."""
    form = {"summary": _REQUEST, "comparison": _COMPARE}.get(kind_of(question))
    return form is not None and bool(form.search(question))


def subject_of(
    question: str, contents: Contents, history: Sequence[Message] = (), found: Found = lambda: ()
) -> Subject:
    """What a request means among the documents of the scope.

    found: the documents of the passages that a search finds, which takes a moment. Raises StoreUnavailable.
    """
    terms = dict.fromkeys(identity_terms(SUMMARISE.sub(" ", question)))
    asked = [term for term in terms if term not in ASKING]
    if kind_of(question) == "comparison":
        return _compared(contents.meant(question), [term for term in asked if term not in _COMPARING])
    if not asked:
        return _unnamed(question, contents, history)
    candidates = contents.meant(question)
    if named := named_by(candidates, asked):
        return Subject(tuple(named[:MOST_DOCUMENTS]), len(named), asked=tuple(asked))
    return _section(candidates, asked) or _section(found(), asked) or Subject(asked=tuple(asked))


def extent_of(document: Document, section: Section) -> Extent:
    """From a section's title to where the next section of the same level or a higher one begins."""
    begin = (section.page, section.start)
    behind = [
        (other.page, other.start)
        for other in document.sections
        if other.level <= section.level and (other.page, other.start) > begin
    ]
    return begin, min(behind, default=(document.page_count + 1, 0))


def narrowed(content: Content, extent: Extent) -> Content | None:
    """A document's content with the chunks of one part alone; None where it has none."""
    begin, end = extent
    places = [
        place
        for place, hit in enumerate(content.hits)
        if begin <= (hit.page, hit.start) < end or (hit.page, hit.start) <= begin < (hit.page, hit.end)
    ]
    return content.taken(places) if places else None


def meant_documents(question: str, contents: Contents, history: Sequence[Message] = ()) -> list[Document]:
    """The documents that a question means which names none: what "this" is, or those of the scope where it is one, or
    where it says that all are meant."""
    found = _unnamed(question, contents, history)
    return list(found.documents) if found.found == 1 or _ALL.search(question) else []


def names_of(document: Document) -> set[str]:
    """The terms that a document may be called by."""
    card = document.card
    told = [document.title, document.authors, str(document.year or "")]
    told += (name.rpartition("/")[2].rpartition(".")[0] for name in document.sources)
    if card is not None:
        told += [card.title, card.organisation, card.kind, card.period]
    return set(identity_terms(" ".join(told)))


def _unnamed(question: str, contents: Contents, history: Sequence[Message]) -> Subject:
    """What "this", "everything" or no name at all means."""
    if _THIS.search(question) and not _ALL.search(question):
        cited = last_cited(history)
        if len(cited) == 1 and (found := contents.some(cited)):
            return Subject(tuple(found), 1)
    documents, count = contents.documents(MOST_DOCUMENTS)
    return Subject(tuple(documents), count)


def last_cited(history: Sequence[Message]) -> list[str]:
    """The documents that the last answer cites."""
    for message in reversed(history):
        if message.answer is not None and message.answer.citations:
            return list(dict.fromkeys(citation.document_id for citation in message.answer.citations))
    return []


def named_by(candidates: Sequence[Document], asked: Sequence[str]) -> list[Document]:
    """The documents that what was asked names, each by all of it or by a part that no other has more of; none where any
    word of it names none."""
    held = {one.id: names_of(one) & set(asked) for one in candidates}
    if not candidates or set().union(*held.values()) != set(asked):
        return []
    fullest = [one for one in candidates if held[one.id] and not any(held[one.id] < other for other in held.values())]
    # Title and file name say more than authors and periods.
    titled = {one.id: set(identity_terms(" ".join([one.title, *one.sources]))) & held[one.id] for one in fullest}
    return [one for one in fullest if titled[one.id] == held[one.id]] or fullest


def _compared(candidates: Sequence[Document], asked: Sequence[str]) -> Subject:
    """The documents that a comparison names apart from each other; none where it is of more than documents."""
    named = named_by(candidates, asked)
    if len({frozenset(names_of(one) & set(asked)) for one in named}) < 2:
        return Subject()
    return Subject(tuple(named[:MOST_DOCUMENTS]), len(named), asked=tuple(asked))


def _section(documents: Sequence[Document], asked: Sequence[str]) -> Subject | None:
    """The section that a request means beside its document's name, by its title save for a word."""
    best: tuple[float, Document, Section] | None = None
    for document in documents:
        wanted = set(asked) - names_of(document)
        for section in document.sections:
            score = _called(section, wanted, set(asked))
            if score > 0 and (best is None or score > best[0]):
                best = (score, document, section)
    if best is None:
        return None
    _, document, section = best
    return Subject((document,), 1, {document.id: extent_of(document, section)}, tuple(asked))


def _called(section: Section, wanted: set[str], asked: set[str]) -> float:
    """How well words fit a section's title, 0..1. wanted: those that are not their document's name."""
    held = set(identity_terms(section.title)) - ASKING
    if not held or not wanted or not held <= asked or len(wanted - held) > _MOST_BESIDE:
        return 0.0
    return len(held & wanted) / len(held | wanted)
