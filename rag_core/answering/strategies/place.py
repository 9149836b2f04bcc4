"""Questions that name a place of a document: "What is on page 7?", "What does clause 4.2 say?", "Where does it say …?".

A place is a fact, so that it is quoted as it stands, whatever the model: a model would only put it in other words, and
may leave some out. Where more is asked ("What deposit does clause 4.2 ask for?") whoever else would answer does, from
that place's passages alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, groupby, islice

from rag_core.answering.citations import CitationWriter, Register
from rag_core.answering.cues import asks_to_write
from rag_core.answering.passages import Quote, merge_hits, quotes, section_at
from rag_core.answering.places import Spot, Whereabouts, asks_more, said_beside, whereabouts
from rag_core.answering.question import Question, Search
from rag_core.answering.strategies.base import Strategy
from rag_core.answering.streaming import Progress
from rag_core.answering.written import Written
from rag_core.domain import Document, Hit, Retrieval, Sentence, Trace
from rag_core.models.prompts import NOT_FOUND
from rag_core.models.registry import EXTRACTIVE
from rag_core.retrieval.understanding import understand, unquoted
from rag_core.text.pages import counted
from rag_core.text.place_names import PlaceName, is_mentioned, place_in
from rag_core.text.terms import terms

MOST_WORDS, _LEAST_WORDS = 200, 40  # of an answer, and of each of several places
_MOST_DOCUMENTS, _MOST_PIECES = 3, 10
_MOST_PASSAGES = 12
_GOES_ON = " …"
# What stands in a place that was found is right; which of several documents was meant is half a guess.
_CONFIDENCE, _AMONG_OTHERS = 0.95, 0.6
_LOCATING = re.compile(
    r"\bwhere\b.*\b(?:say|says|said|states?|stands?|mention\w*|writ\w+|reads?|occurs?|appears?|find|found)\b"
    r"|\b(?:which|what) (?:page|section|clause|chapter|paragraph|document|part)\b|^\W*(?:find|locate|quote)\b"
    r"|\bwo (?:steht|heißt|stehen)\b|\bwelcher seite\b|\boù\b|\bquelle page\b",
    re.IGNORECASE,
)  # fmt: skip


class Place(Strategy):
    """Quotes a place of a document, or has `writer` answer from it."""

    def __init__(self, writer: Strategy) -> None:
        self._writer = writer

    def write(self, question: Question, search: Search, progress: Progress) -> Written | None:
        """What stands in the place; None for a question that names none. Raises StoreUnavailable."""
        if question.contents is None:
            return None
        if phrase := _sought(question.text):
            return _located(phrase, search(question.wordings[0]))
        place = place_in(question.text)
        if place is None:
            return None
        progress.tell_stage("searching")
        where = whereabouts(place, question, question.contents, lambda: _documents(search(question.wordings[0]).hits))
        more = asks_more(place, where)
        interprets = question.model != EXTRACTIVE and asks_to_write(place.rest)
        if not where.spots:
            return (
                None if _is_elsewhere(place, question, search, where, more=more) else _missing(place, question, where)
            )
        if not more and not interprets:
            return _quoted(place, question, where)
        if not where.sure and place.kind in ("table", "figure"):  # many documents have one of that number
            return None
        text = place.about if question.model == EXTRACTIVE else question.text
        narrowed = replace(question, text=text, wordings=(place.about,))
        return self._writer.write(narrowed, lambda query: _within(place, where, search(query)), progress)

    def check(self, question: Question, written: Written, writer: CitationWriter, *, stopped: bool) -> Written:
        """What a model wrote of the place, by whoever had it written."""
        return self._writer.check(question, written, writer, stopped=stopped)


def _documents(hits: Sequence[Hit]) -> list[Document]:
    return list({hit.document.id: hit.document for hit in hits}.values())


def _is_elsewhere(place: PlaceName, question: Question, search: Search, where: Whereabouts, *, more: bool) -> bool:
    """Whether passages may answer although no document has the place: they speak of it, or more is asked for."""
    if not where.asked or (more and place.kind != "page"):
        return True
    return any(is_mentioned(place, hit.text) for hit in search(question.wordings[0]).hits)


def _missing(place: PlaceName, question: Question, where: Whereabouts) -> Written:
    """That there is no such place, or no text in it, and what there is."""
    document = where.asked[0]
    if where.spots:
        why = f"{place.name.capitalize()} of “{document.title}” holds no text."
    elif len(where.asked) > 1:
        why = f"None of the documents that were looked at has a {place.name}."
    elif place.kind == "page":
        why = f"“{document.title}” has {document.page_count} page{'s' if document.page_count > 1 else ''}."
    else:
        why = f"“{document.title}” has no {place.name}."
    return _not_found(why, _retrieval(question))


def _not_found(why: str, retrieval: Retrieval) -> Written:
    sentences = (Sentence(NOT_FOUND), Sentence(why))
    return Written(retrieval, text=f"{NOT_FOUND} {why}", sentences=sentences, abstained=True, model=EXTRACTIVE)


def _quoted(place: PlaceName, question: Question, where: Whereabouts) -> Written:
    """What stands in the place, word for word: a line for each page or clause, and for each document that has it."""
    spots = where.spots[:_MOST_DOCUMENTS]
    pieces = [(spot, piece) for spot in spots for piece in spot.pieces[:_MOST_PIECES]]
    share = max(_LEAST_WORDS, MOST_WORDS // len(pieces))
    shown = [(spot, [*_shown(place, spot, piece, share)]) for spot, piece in pieces]
    register = Register()
    sentences: list[Sentence] = []
    lines: list[str] = []
    for spot, some in shown:
        made = [Sentence(quote.text, (register.number(quote),)) for quote in some]
        head = f"{spot.document.title}: " if len(spots) > 1 else ""
        marked = " ".join(f"{one.text} [{one.citations[0]}]" for one in made)
        lines += [f"- {head}{marked}" if len(shown) > 1 else marked] if made else []
        sentences += made
    if not lines:
        return _missing(place, question, where)
    left_out, notes = len(where.spots) - len(spots), []
    if left_out:
        notes.append(f"{left_out} more documents have a {place.name}; name the one that is meant.")
    if any(quote.text.endswith(_GOES_ON) for _, some in shown for quote in some):
        notes.append(f"This is how {place.name} begins; ask for a summary to read what all of it says.")
    return Written(
        _retrieval(question), tuple(quote.hit for _, some in shown for quote in some), "\n".join(lines),
        sentences=tuple(sentences), citations=tuple(register.citations),
        confidence=_CONFIDENCE if where.sure or len(where.spots) == 1 else _AMONG_OTHERS,
        notes=tuple(notes),
        model=EXTRACTIVE,
    )  # fmt: skip


def _retrieval(question: Question) -> Retrieval:
    return Retrieval((), Trace(query=question.wordings[0]))


def _shown(place: PlaceName, spot: Spot, piece: Sequence[Hit], most_words: int) -> Iterator[Quote]:
    """What of a piece is quoted, one quote for each chunk; beside a caption that says nothing, who tells of it."""
    every = quotes(merge_hits(piece))
    if place.kind in ("table", "figure") and not any(_says(quote.text) for quote in every):
        telling = (quote for quote in quotes(merge_hits(spot.every)) if is_mentioned(place, quote.text))
        own = place.word[:3].casefold()  # "Figure 2 shows" tells more than "as figure 2 tells"
        best = max(
            (quote for quote in telling if _says(quote.text)),
            key=lambda one: one.text[:3].casefold() == own,
            default=None,
        )
        every += [best] if best else []
    ends = accumulate(len(quote.text.split()) for quote in every)
    kept = [quote for quote, words in zip(every, ends, strict=True) if words <= most_words] or every[:1]
    for _, group in groupby(kept, key=lambda quote: quote.hit.chunk_id):
        some = list(group)
        more = _GOES_ON if some[-1] is kept[-1] and len(kept) < len(every) else ""
        yield replace(some[0], text=_joined(some) + more, end=some[-1].end)


def _says(caption: str) -> bool:
    """Whether it says more than its number."""
    named = place_in(caption)
    return bool(terms(named.rest if named else caption))


def _joined(some: Sequence[Quote]) -> str:
    """Sentences, headings and rows as one text, without a heading that the next line says again."""
    after = [*(quote.text for quote in some[1:]), ""]
    told = [quote for quote, text in zip(some, after, strict=True) if not text.startswith(quote.text)]
    *others, last = (quote.text.rstrip(":") + ":" if quote.kind == "heading" else quote.text for quote in told)
    return " ".join([*(text if text.endswith((".", "!", "?", ":", ";")) else f"{text};" for text in others), last])


def _within(place: PlaceName, where: Whereabouts, found: Retrieval) -> Retrieval:
    """What a search found of the place, then the rest of it in order, no nearer than the last that was found."""
    ranked = {hit.chunk_id: (rank, hit) for rank, hit in enumerate(found.hits)}
    least = min((hit.score for hit in found.hits), default=0.0)
    hits = []
    for spot in where.spots:
        pages = {hit.page for hit in spot.hits}
        for part in spot.every if place.kind in ("table", "figure") else spot.hits:
            if part.page in pages:
                rank, hit = ranked.get(part.chunk_id, (len(ranked), replace(part, score=least)))
                own = replace(
                    hit, text=part.text, start=part.start, end=part.end, boxes=part.boxes, matches=(), around=()
                )
                hits.append((rank, own))
    best = sorted(hits, key=lambda one: one[0])[:_MOST_PASSAGES]
    notes = (*found.trace.notes, f"Only {place.name} was read, as the question asks.")
    return replace(found, hits=tuple(hit for _, hit in best), parts={}, trace=replace(found.trace, notes=notes))


def _sought(question: str) -> str:
    """The words that a question asks the place of, "" for none: where does it say "..."?"""
    phrases, rest = understand(question).phrases, unquoted(question)
    return phrases[0] if len(phrases) == 1 and _LOCATING.search(rest) and not said_beside(rest) else ""


def _located(phrase: str, retrieval: Retrieval) -> Written:
    """The sentences that hold some words, each with its place and its neighbours."""
    words = (re.sub("['’]", "['’]", re.escape(word)) for word in phrase.split())
    form = re.compile(r"\s+".join(words), re.IGNORECASE)
    passages = merge_hits(retrieval.hits)
    every = quotes(passages)
    register = Register()
    sentences: list[Sentence] = []
    lines: list[str] = []
    for number, passage in enumerate(passages):
        own = [quote for quote in every if quote.passage == number]
        for match in islice(form.finditer(passage.text), _MOST_PIECES):
            start, end = passage.start + match.start(), passage.start + match.end()
            holding = [place for place, quote in enumerate(own) if quote.start < end and quote.end > start]
            if not holding or len(lines) == _MOST_DOCUMENTS:
                continue
            first, last = own[holding[0]], own[holding[-1]]
            cited = register.number(replace(first, end=last.end))
            near = own[max(holding[0] - 1, 0) : holding[-1] + 2]
            around = _joined([quote for quote in near if quote.kind != "heading" or first.start <= quote.start < end])
            made = Sentence(f"{_place_of(first)}: {around}", (cited,))
            sentences.append(made)
            lines.append(f"{made.text} [{cited}]")
    if not lines:
        return _not_found(
            "No passage has these words together.", replace(retrieval, hits=(), trace=Trace(query=phrase))
        )
    return Written(
        retrieval, retrieval.hits, "\n\n".join(lines), sentences=tuple(sentences), citations=tuple(register.citations),
        confidence=_CONFIDENCE, model=EXTRACTIVE,
    )  # fmt: skip


def _place_of(quote: Quote) -> str:
    """ "In “Essays”, p. 3, under “On gardens”"."""
    document = quote.hit.document
    page = f", {counted(quote.hit.page, quote.hit.page_label)}" if document.page_count > 1 else ""
    section = section_at(quote.hit, quote.start)
    return f"In “{document.title}”{page}" + (f", under “{section}”" if section not in ("", document.title) else "")
