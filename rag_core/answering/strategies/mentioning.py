"""Which documents mention something, and how many: each is named, with the line that says it.

They are those with a chunk that holds every word of what is asked for; where none does, the question is asked of
passages, which may say it in other words. "Which recipe is vegan?" asks so too where recipes are documents here, by
their names, kind or folder: what one of them has is said by naming it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from rag_core.answering.citations import Register
from rag_core.answering.passages import Quote, merge_hits, quotes
from rag_core.answering.question import Question, Search
from rag_core.answering.strategies.base import Strategy
from rag_core.answering.streaming import Progress
from rag_core.answering.summaries.subject import names_of
from rag_core.answering.written import Written
from rag_core.domain import Document, Hit, Retrieval, Sentence, Trace
from rag_core.retrieval.contents import Contents
from rag_core.retrieval.identity import identity_terms
from rag_core.text.terms import coverage, terms

_WHICH = r"(?:which|what|how many|list|show me|name)(?: all)?(?: of)?(?: the| my| these| our)?"
_MENTION = (
    r"(?:mention|contain|include|discuss|talk about|refer to|cite|describe|deal with|cover|speak of"
    r"|say (?:any|some)thing (?:about|of)|(?:is|are) about)"
)
_REQUEST = re.compile(
    rf"(?:in |from )?{_WHICH} (?P<noun>[^\W\d_]+) (?:(?:do|does|that|which|have|has) )?{_MENTION}(?:s|es|ed|ing)?"
    rf" (?P<what>.+)"
    rf"|in {_WHICH} (?P<place>[^\W\d_]+) (?:is|are) (?P<named>.+?)(?: (?:mentioned|defined|described|named))?",
    re.IGNORECASE,
)
_HAVING = re.compile(
    r"which(?: of)?(?: the| my| these| our)? (?P<noun>[^\W\d_]+) "
    r"(?:is|are|has|have|needs?|uses?|takes?|offers?|allows?) (?!(?:not|no|never|without)\b)(?P<what>.+)",
    re.IGNORECASE,
)
_MOST_HAD = 4  # terms of what documents have; longer ones may stand apart in a chunk
_ANY_NOUN = frozenset(terms("document file paper page report text source"))
_MOST_DOCUMENTS, _MOST_SHOWN = 5_000, 20
_CONFIDENCE = 0.8


class Mentioning(Strategy):
    """Names the documents that hold some words. Thread-safe."""

    def write(self, question: Question, search: Search, progress: Progress) -> Written | None:
        """The documents; None where something else is asked for, or no document holds the words.

        Raises StoreUnavailable.
        """
        if question.contents is None:
            return None
        noun, what, hits = _asked(question.text.rstrip(" ?.!"), question.contents)
        if not hits:
            return None
        progress.lap("search")
        register = Register()
        told = [_told(hit, what, register) for hit in hits[:_MOST_SHOWN]]
        first = Sentence(f"{_counted(len(hits), noun)} “{what}”:")
        more = [Sentence(f"and {len(hits) - len(told)} more")] if len(hits) > len(told) else []
        lines = [
            f"- {one.text} {''.join(f'[{number}]' for number in one.citations)}".rstrip() for one in (*told, *more)
        ]
        found = Retrieval((), Trace(query=question.wordings[0]))
        return Written(
            found, tuple(hits[:_MOST_SHOWN]), "\n".join([first.text, *lines]),
            sentences=(first, *told, *more), citations=tuple(register.citations), confidence=_CONFIDENCE,
        )  # fmt: skip


def _asked(query: str, contents: Contents) -> tuple[str, str, Sequence[Hit]]:
    """What the documents are called that are asked for, the words that they are to hold, and a chunk of each that does;
    no chunks where something else is asked."""
    if match := _REQUEST.fullmatch(query):
        noun, what = match["noun"] or match["place"], match["what"] or match["named"]
        among = documents_called(noun, contents)
        return noun, what, contents.holding(terms(what), [one.id for one in among]) if among else ()
    match = _HAVING.fullmatch(query)
    if match is None or set(terms(match["noun"])) <= _ANY_NOUN or len(terms(match["what"])) > _MOST_HAD:
        return "", "", ()
    among, wanted = documents_called(match["noun"], contents), terms(match["what"])
    hits = contents.holding(wanted, [one.id for one in among]) if len(among) > 1 else ()
    held = [hit for hit in hits if _says_all(hit, wanted)]
    return match["noun"], match["what"], held if len(held) < len(among) else ()


def _says_all(hit: Hit, wanted: Sequence[str]) -> bool:
    """Whether a line of a chunk holds all of some terms."""
    line = best_line(hit, wanted)
    return line is not None and coverage(wanted, set(terms(line.text))) == 1


def documents_called(noun: str, contents: Contents) -> list[Document]:
    """The documents of the scope that a noun means: any, or those of that kind, title or folder."""
    documents, _ = contents.documents(_MOST_DOCUMENTS)
    wanted = set(terms(noun))
    if wanted <= _ANY_NOUN:
        return documents
    return [one for one in documents if wanted <= names_of(one) | _folders(one)]


def _folders(document: Document) -> set[str]:
    folders = (part for source in document.sources for part in PurePosixPath(source).parts[:-1])
    return set(identity_terms(" ".join(folders)))


def _counted(count: int, noun: str) -> str:
    if count > 1:
        return f"{count} {noun if noun.endswith('s') else f'{noun}s'} mention"
    return f"1 {noun.removesuffix('s')} mentions"


def best_line(hit: Hit, wanted: Sequence[str]) -> Quote | None:
    """The line of a chunk that holds most of some terms; None where it has none."""
    every: Sequence[Quote] = quotes(merge_hits([hit]))
    return max(
        every, key=lambda quote: (coverage(wanted, set(terms(quote.text))), quote.kind != "heading"), default=None
    )


def _told(hit: Hit, what: str, register: Register) -> Sentence:
    """A document's name with the line of its chunk that holds most of the words."""
    best = best_line(hit, terms(what))
    if best is None:
        return Sentence(hit.document.title)
    return Sentence(f"{hit.document.title}: {best.text}", (register.number(best),))
