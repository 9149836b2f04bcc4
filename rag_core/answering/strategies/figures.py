"""Questions for a picture: "Show me the chart about rainfall", "Which diagrams are in the report?".

Answered by the captions of the figures that are about what is asked, each cited where it stands, so that the page shows
the picture as its evidence. Where no caption is about it, whoever else answers does, from the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.answering.citations import Register
from rag_core.answering.passages import Quote
from rag_core.answering.question import Question, Search
from rag_core.answering.strategies.base import Strategy
from rag_core.answering.streaming import Progress
from rag_core.answering.written import Written
from rag_core.domain import Document, Retrieval, Sentence, Trace
from rag_core.models.registry import EXTRACTIVE
from rag_core.retrieval.contents import Caption, Contents
from rag_core.text.terms import coverage, terms

# "The figures for 2020" are numbers: of those words only what says that it shows something is a picture.
_PICTURE = (
    r"(?:charts?|graphs?|diagrams?|photo(?:graph)?s?|pictures?|images?|illustrations?|drawings?"
    r"|figures?(?=\s+(?:about|showing|on|that|which|are|is|in)\b)"
    r"|abbildung(?:en)?|bild(?:er)?|grafik(?:en)?|diagramme?|schaubild(?:er)?|fotos?|graphiques?|schémas?"
    r"|gráfic[oa]s?|imágen(?:es)?|imagen|diagramas?)"
)
_ASKING = (
    r"(?:show|see|find|display|open|give|which|what|is there|are there|where|list|zeigt?e?|gibt es|welche[rs]?|was"
    r"|montrez?|quelle?s?|y a-t-il|muestra|muéstra\w*|mostrar|qué)"
)
# A picture that is asked for stands right behind what asks: "what do the class photos cost" asks for a price.
_ASKS = re.compile(
    rf"(?<!\w){_ASKING}(?:\W+\w+){{0,2}}?\W+{_PICTURE}(?!\w)"
    rf"|^\W*(?:the )?{_PICTURE}\s(?:of|about|showing)\b",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    rf"(?<!\w)(?:{_PICTURE}|{_ASKING}|me|us|please|about|showing|shows?|there|look|mir|über|von|bitte|moi|de|sur|sobre)(?!\w)",
    re.IGNORECASE,
)
_LONGEST_WORDS, _MOST_DOCUMENTS, _MOST_SHOWN, _MOST_LISTED = 25, 10, 3, 12
_LEAST_COVERED = 0.6
_WHOLE, _IN_PART = 0.85, 0.6


@dataclass(frozen=True, slots=True)
class _Found:
    """A caption with how much of what is asked it says, and whether that is by its document's title alone."""

    caption: Caption
    covered: float
    by_title: bool


def asks_for_picture(text: str) -> bool:
    """Whether a question asks to see a picture or chart, and not for something that one may say."""
    return _ASKS.search(text) is not None


class Figures(Strategy):
    """Shows the figures that a question asks for. Thread-safe."""

    def write(self, question: Question, search: Search, progress: Progress) -> Written | None:
        """Their captions; None where something else is asked for, or none is about it. Raises StoreUnavailable."""
        text, contents = question.text, question.contents
        if contents is None or len(text.split()) > _LONGEST_WORDS or not asks_for_picture(text):
            return None
        progress.tell_stage("searching")
        wanted = list(dict.fromkeys(terms(_BESIDE.sub(" ", text))))
        captions = contents.captions(_documents(question, search, contents))
        found = _about(wanted, captions)
        progress.lap("search")
        return _written(question.wordings[0], found) if found else None


def _documents(question: Question, search: Search, contents: Contents) -> list[Document]:
    hits = search(question.wordings[0]).hits
    documents = {one.id: one for one in (*(hit.document for hit in hits), *contents.meant(question.text)[:3])}
    return list(documents.values())[:_MOST_DOCUMENTS]


def _about(wanted: Sequence[str], captions: Sequence[Caption]) -> list[_Found]:
    """The captions that say the most of what is asked; all of a document's where nothing but that is named."""
    found = []
    for one in captions:
        own = terms(one.text, one.hit.document.main_language)
        title = terms(one.hit.document.title, one.hit.document.main_language)
        covered = coverage(wanted, [*own, *title]) if wanted else 1.0
        by_title = not wanted or not coverage(wanted, own)
        if covered >= _LEAST_COVERED and (not by_title or covered == 1):
            found.append(_Found(one, covered, by_title))
    named = [one for one in found if not one.by_title]
    best = max((one.covered for one in named), default=0.0)
    return [one for one in named if one.covered == best][:_MOST_SHOWN] if named else found[:_MOST_LISTED]


def _written(query: str, found: Sequence[_Found]) -> Written:
    register = Register()
    sentences: list[Sentence] = []
    for place, one in enumerate(found):
        caption = one.caption
        quote = Quote(caption.text, caption.start, caption.end, "fragment", caption.hit, place, 0)
        sentences.append(Sentence(caption.text, (register.number(quote),)))
    lines = [f"{one.text} [{one.citations[0]}]" for one in sentences]
    return Written(
        Retrieval((), Trace(query=query)), tuple({one.caption.hit.chunk_id: one.caption.hit for one in found}.values()),
        lines[0] if len(lines) == 1 else "\n".join(f"- {line}" for line in lines), sentences=tuple(sentences),
        citations=tuple(register.citations), confidence=_WHOLE if found[0].covered == 1 else _IN_PART, model=EXTRACTIVE,
    )  # fmt: skip
