"""The same question asked of each of several documents, "the total of each invoice": a row for each.

Each is asked by itself, so that none stands in the way of another, and is quoted whatever the model: rows that are set
side by side are to say the same thing in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rag_core.answering.encoding import Encoder
from rag_core.answering.question import Question, Search
from rag_core.answering.quotations import quoted
from rag_core.answering.strategies.base import Strategy
from rag_core.answering.strategies.extractive import extract_each
from rag_core.answering.strategies.mentioning import documents_called
from rag_core.answering.strategies.versions import within
from rag_core.answering.streaming import Progress
from rag_core.answering.written import Written
from rag_core.domain import Document, Hit, Retrieval, Sentence, Trace

_EACH = re.compile(
    r"\b(?:each|every|all)(?: of)?(?: the| my| our| these)?\s+(?P<noun>[^\W\d_]+)"
    r"|\b(?:jede[mnrs]?|alle[rn]?|chaque|tou(?:te)?s les|cada|tod[oa]s l[oa]s)\s+(?P<other>[^\W\d_]+)",
    re.IGNORECASE,
)
_LEAST, _MOST_DOCUMENTS, _MOST_NAMED = 2, 200, 5
# Of being right, for a row: one of many that is wrong is not noticed among the others.
_SURE = 0.5


class OfEach(Strategy):
    """Quotes what each of the documents of a kind says. Thread-safe."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def write(self, question: Question, search: Search, progress: Progress) -> Written | None:
        """A row for each document that says it; None where nothing is asked of each, or fewer than two say it.

        Raises StoreUnavailable.
        """
        query, contents = question.wordings[0], question.contents
        match = _EACH.search(query)
        if match is None or contents is None:
            return None
        noun = match["noun"] or match["other"]
        called = sorted(documents_called(noun, contents), key=lambda one: one.title)
        documents = called[:_MOST_DOCUMENTS]
        if len(documents) < _LEAST:
            return None
        progress.tell_stage("searching")
        asked = f"{query[: match.start()]}the {noun.removesuffix('s')}{query[match.end() :]}"
        each: dict[str, tuple[str, tuple[Hit, ...]]] = {}
        for name, document in _by_name(documents).items():
            progress.check()
            found = within(document, (noun, document.title), search(f"{asked} {document.title}"), contents)
            each[name] = (asked, found.hits)
        progress.lap("search")
        made = extract_each(query, each, self._encoder, least=_LEAST, sure=_SURE)
        if made is None:
            return None
        text, sentences, citations = quoted(made)
        silent = [name for name in each if name not in {row.name for row in made.rows}]
        last = [Sentence(_unsaid(silent))] if silent else []
        if len(called) > len(documents):
            last.append(Sentence(f"Only the first {len(documents)} of {len(called)} by title were asked."))
        hits = tuple(hit for _, some in each.values() for hit in some)
        return Written(
            Retrieval(hits, Trace(query=query)), hits, "\n\n".join([text, *(one.text for one in last)]),
            sentences=(*sentences, *last), citations=citations, confidence=made.confidence, told=made.told,
        )  # fmt: skip


def _by_name(documents: list[Document]) -> Mapping[str, Document]:
    """Documents by their titles, with their files' names where two have the same."""
    titles = [one.title for one in documents]
    return {
        one.title if titles.count(one.title) == 1 else f"{one.title} ({one.file_name})": one for one in documents
    }  # fmt: skip


def _unsaid(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"Not found in {', '.join(f'“{name}”' for name in names[:_MOST_NAMED])}{more}."
