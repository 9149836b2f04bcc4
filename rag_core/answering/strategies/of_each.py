"""The same question asked of each of several documents, "the total of each invoice", "Apple's and Costco's revenue",
"which invoice is the highest": a row for each.

Each is asked by itself, so that none stands in the way of another, and is quoted whatever the model: rows that are set
side by side are to say the same thing in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rag_core.answering.encoding import Encoder
from rag_core.answering.question import Question, Search
from rag_core.answering.quotations import quoted
from rag_core.answering.strategies.base import Strategy
from rag_core.answering.strategies.comparing import asked_of_each, called_otherwise
from rag_core.answering.strategies.extractive import Extraction, extract_each
from rag_core.answering.strategies.mentioning import documents_called
from rag_core.answering.strategies.query_intent import QueryIntent
from rag_core.answering.strategies.versions import within
from rag_core.answering.streaming import Progress
from rag_core.answering.tables.comparatives import LESS, MORE
from rag_core.answering.tables.computing import sets_side_by_side
from rag_core.answering.written import Written
from rag_core.domain import Document, Hit, Retrieval, Sentence, Trace
from rag_core.retrieval.contents import Contents

_EACH = re.compile(
    r"\b(?:each|every|all)(?: of)?(?: the| my| our| these)?\s+(?P<noun>[^\W\d_]+)"
    r"|\b(?:jede[mnrs]?|alle[rn]?|chaque|tou(?:te)?s les|cada|tod[oa]s l[oa]s)\s+(?P<other>[^\W\d_]+)",
    re.IGNORECASE,
)
_MOST_OF = re.compile(
    rf"which(?: of)?(?: the| my| our| these)?\s+(?P<noun>[^\W\d_]+)\s+"
    r"(?:(?P<costs>(?:is|was)(?: the)?\s+(?:highest|lowest|cheapest|(?:most|least)\s+(?:expensive|costly)))"
    rf"|(?:has|had|have)(?: the)?\s+(?P<how>{MORE}|{LESS})\s+(?P<what>.+))",
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
        """A row for each document that says it; None where nothing is asked of each, or too few say it: two of a kind,
        all of those that are named.

        Raises StoreUnavailable.
        """
        query, contents = question.wordings[0], question.contents
        if contents is None:
            return None
        if named := asked_of_each(query, contents.meant(query)):
            wordings = {wording: asked_of_each(wording, contents.meant(query)) for wording in called_otherwise(query)}
            tried = [
                self._ask(wording, each, (), search, progress, contents)
                for wording, each in ({query: named} | wordings).items()
            ]
            made, hits = max(tried, key=lambda one: (_is_said(one[0]), one[0].confidence if one[0] else 0.0))
            return _table(query, made, hits) if made else None
        noun, asked = _asked_of_a_kind(query)
        if not noun:
            return None
        called = sorted(documents_called(noun, contents), key=lambda one: one.title)
        each = {name: (asked, one) for name, one in _by_name(called[:_MOST_DOCUMENTS]).items()}
        if len(each) < _LEAST:
            return None
        made, hits = self._ask(query, each, (noun,), search, progress, contents, least=_LEAST, sure=_SURE)
        if made is None:
            return None
        silent = [name for name in each if name not in {row.name for row in made.rows}]
        last = [Sentence(_unsaid(silent))] if silent else []
        if len(called) > len(each):
            last.append(Sentence(f"Only the first {len(each)} of {len(called)} by title were asked."))
        return _table(query, made, hits, last)

    def _ask(
        self, query: str, each: Mapping[str, tuple[str, Document]], words: Sequence[str], search: Search,
        progress: Progress, contents: Contents, *, least: int = 0, sure: float = 0.0,
    ) -> tuple[Extraction | None, tuple[Hit, ...]]:  # fmt: skip
        """What each document says to what it is asked, with the passages; `words` are those that mean any of them."""
        progress.tell_stage("searching")
        found: dict[str, tuple[str, tuple[Hit, ...]]] = {}
        for name, (asked, document) in each.items():
            progress.check()
            within_it = within(document, (*words, document.title), search(f"{asked} {document.title}"), contents)
            found[name] = (asked, within_it.hits)
        progress.lap("search")
        aim = QueryIntent(narrowed=sets_side_by_side(query) and not least)  # each as if it were the only one
        made = extract_each(query, found, self._encoder, aim, least=least, sure=sure)
        return made, tuple(hit for _, some in found.values() for hit in some)


def _asked_of_a_kind(query: str) -> tuple[str, str]:
    """What documents are called of which each is asked, and what is asked of one; "", "" where it is of none.

    Which is the highest or the cheapest is asked as what each costs.
    """
    if match := _EACH.search(query):
        noun = match["noun"] or match["other"]
        return noun, f"{query[: match.start()]}the {noun.removesuffix('s')}{query[match.end() :]}"
    match = _MOST_OF.fullmatch(query.rstrip(" ?.!"))
    if match is None:
        return "", ""
    one = f"the {match['noun'].removesuffix('s')}"
    if match["costs"]:
        return match["noun"], f"What is the total cost of {one}?"
    if match["how"].casefold() in ("most", "least", "fewest"):
        return match["noun"], f"How much {match['what']} does {one} have?"
    return match["noun"], f"What is the {match['what']} of {one}?"


def _is_said(made: Extraction | None) -> tuple[bool, bool]:
    """Whether it answers, and whether in one sentence."""
    return (made is not None and not made.abstained, made is not None and bool(made.lead))


def _table(query: str, made: Extraction, hits: tuple[Hit, ...], last: Sequence[Sentence] = ()) -> Written:
    text, sentences, citations = quoted(made)
    return Written(
        Retrieval(hits, Trace(query=query)), hits, "\n\n".join([text, *(one.text for one in last)]),
        sentences=(*sentences, *last), citations=citations, confidence=made.confidence, told=made.told,
        abstained=made.abstained,
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
