"""Where the place that a question names stands: in which documents, and from where to where in each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag_core.answering.passages import Quote, boxes_within, merge_hits, quotes
from rag_core.answering.question import Question
from rag_core.answering.summaries.sentence_scoring import Extent
from rag_core.answering.summaries.subject import ASKING, Found, extent_of, last_cited, named_by, names_of
from rag_core.domain import Document, Hit, Section
from rag_core.retrieval.contents import Contents
from rag_core.retrieval.identity import identity_terms
from rag_core.text import place_names
from rag_core.text.function_words import FUNCTION_WORDS
from rag_core.text.place_names import NumberedLine, PlaceName

MOST_SEARCHED = 10
"""Documents that are looked through for a place where none is named."""
_SKIPPED = 2  # numbers may be left out between a place and what ends it; "4.50 euros" does not end 4.2
_TITLE_WORDS = 8
_MOST_ALIKE = 3  # places of one label in one document
_MOST_ROWS = 12
_LEADERS, _PAGE_BEHIND = re.compile(r"\.{4,}|(?:\. ){3}|…"), re.compile(r"\s\d{1,4}$")  # lines of a list of contents


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a document: for each of its labels, in order, the chunks' parts that it covers.

    every: all chunks of the document that are within the scope. It is `exact` where the document calls it as it was
    called: an article, not just "2.".
    """

    document: Document
    pieces: tuple[tuple[Hit, ...], ...]
    every: tuple[Hit, ...]
    exact: bool

    @property
    def extent(self) -> Extent:
        """From where the first of them begins to where the last ends."""
        begin = min((hit.page, hit.start) for hit in self.hits)
        return begin, max((hit.page, hit.end) for hit in self.hits)

    @property
    def hits(self) -> tuple[Hit, ...]:
        """All of them."""
        return tuple(hit for piece in self.pieces for hit in piece)


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where a place is. asked: the documents that it was looked for in. It is `sure` where the question, the scope or
    the conversation says which those are."""

    spots: tuple[Spot, ...]
    asked: tuple[Document, ...]
    sure: bool


# Words that ask for all that stands in a place, those of a few languages that no list of function words has.
_SAYING = ASKING | frozenset(
    identity_terms(
        "say said says show shown stand stood state stated read reads write written contain contained content contents"
        " quote cite print display open go look see find depict describe illustrate mean exactly word wording full text"
        " explain present list lists entitled found begin steht stehen sagt besagt lautet zeigt inhalt fasse fass"
        " zusammen zusammenfassung nenne zeige lies dit disent montre contient contenu résume résumé affiche lis"
        + " ".join(word for language in ("de", "fr") for word in FUNCTION_WORDS[language])
    )
)


_OF_ONE_THING = re.compile(r"\b(?:how (?:many|much|long|often)|who|whom|when|why|wer|wann|wie viele?)\b", re.IGNORECASE)
# What people call the one document that they have, whatever its title is.
_DOCUMENT = frozenset(
    identity_terms(
        "lease contract agreement handbook manual book policy guide letter thesis act law essay deed story notes text"
        " vertrag mietvertrag handbuch buch contrat bail livre manuel"
    )
)


def said_beside(rest: str) -> list[str]:
    """The terms of a question without its place that do not ask for all of it."""
    return [term for term in dict.fromkeys(identity_terms(rest)) if term not in _SAYING]


def asks_more(place: PlaceName, where: Whereabouts) -> bool:
    """Whether a question asks for something of a place, and not just what stands there."""
    names = set().union(*map(names_of, where.asked))
    return bool(_OF_ONE_THING.search(place.rest)) or not set(said_beside(place.rest)) <= names | _DOCUMENT


def whereabouts(place: PlaceName, question: Question, contents: Contents, found: Found) -> Whereabouts:
    """Where a place is: in the documents that the question names, else in the only one, else in that talked about,
    else in those that `found` finds. Raises StoreUnavailable."""
    asked: tuple[Document, ...] = ()
    for documents, sure in _likely(place, question, contents, found):
        asked = asked or tuple(documents)
        looked_at = (_spot(place, document, contents) for document in documents[:MOST_SEARCHED])
        spots = [spot for spot in looked_at if spot is not None]
        if spots:
            best = max(spot.exact for spot in spots)
            return Whereabouts(tuple(spot for spot in spots if spot.exact == best), tuple(documents), sure)
    return Whereabouts((), asked, False)


def _likely(
    place: PlaceName, question: Question, contents: Contents, found: Found
) -> Iterator[tuple[Sequence[Document], bool]]:
    """Documents that may be meant, the likeliest first, and whether the question says so."""
    few, count = contents.documents(MOST_SEARCHED)
    if count == 1:
        yield few, True
        return
    candidates = contents.meant(place.rest)
    if named := named_by(candidates, said_beside(place.rest)):
        yield named, True
        return
    yield candidates, True
    cited = contents.some(last_cited(question.history))
    yield (cited if len(cited) == 1 else []), True
    yield found(), False
    yield (few if count <= MOST_SEARCHED else []), False


def _spot(place: PlaceName, document: Document, contents: Contents) -> Spot | None:
    """The place in one document; None where it has none of its labels."""
    hits = tuple(contents.beginning(document, document.chunk_count))
    by_count = place.kind == "page"
    extents, exact = (_pages(place, document, hits), True) if by_count else _numbered(place, document, hits)
    return Spot(document, tuple(tuple(cut(hits, extent)) for extent in extents), hits, exact) if extents else None


def cut(hits: Sequence[Hit], extent: Extent) -> list[Hit]:
    """What of some chunks lies within an extent; one that was corrected by hand is left whole."""
    found = []
    for hit in hits:
        (first, begin), (last, end) = extent
        start = max(hit.start, begin if hit.page == first else 0)
        stop = min(hit.end, end) if hit.page == last else hit.end
        if not first <= hit.page <= last or start >= stop:
            continue
        if (start, stop) != (hit.start, hit.end) and not hit.corrected:
            text = hit.text[start - hit.start : stop - hit.start]
            hit = replace(hit, text=text, start=start, end=stop, boxes=boxes_within(hit, start, stop))
        found.append(hit)
    return found


def _pages(place: PlaceName, document: Document, hits: Sequence[Hit]) -> list[Extent]:
    """Pages by what is printed on them where all have such a label, else by their count."""
    printed = {hit.page_label.casefold(): hit.page for hit in hits}
    labels = [label.casefold() for label in place.labels]
    if all(label in printed for label in labels):
        numbers = [printed[label] for label in labels]
    else:
        counts = [document.page_count if label == "last" else int(label) for label in labels if _is_count(label)]
        numbers = [count for count in counts if 1 <= count <= document.page_count]
    return [((number, 0), (number + 1, 0)) for number in numbers]


def _is_count(label: str) -> bool:
    return label.isdigit() or label == "last"


@dataclass(frozen=True, slots=True)
class _Line:
    """A numbered line, or the title of a section, and where it stands."""

    place: tuple[int, int]
    line: NumberedLine
    section: Section | None = None


def _numbered(place: PlaceName, document: Document, hits: Sequence[Hit]) -> tuple[list[Extent], bool]:
    """From the lines that begin with a place's labels to where each ends, the likeliest of each label; and whether
    all of them are called as the place is."""
    passages = merge_hits(hits)
    titles = [
        _Line((section.page, section.start), line, section)
        for section in document.sections
        for line in place_names.numbered_lines(section.title)
        if line.start == 0
    ]
    lines = [
        _Line((passage.hits[0].page, passage.start + line.start), line)
        for passage in passages
        for line in place_names.numbered_lines(passage.text)
        if not line.plain and not _LEADERS.search(line.text)
    ]
    every = quotes(passages) if place.kind in ("table", "figure") else []
    found, exact = [], True
    for label in place.labels:
        fitting = [one for one in (*titles, *lines) if _fits(one, place, label)]
        ranks = [_rank(one, place, lines) for one in fitting]
        best = [one for one, rank in zip(fitting, ranks, strict=True) if rank == max(ranks)][:_MOST_ALIKE]
        exact = exact and all(place_names.is_same_word(one.line.word, place.word) for one in best)
        if every:
            found += [_captioned(one, every) for one in best]
        else:
            found += [(one.place, _end(one, lines, titles, document)) for one in best]
    return found, exact


def _fits(one: _Line, place: PlaceName, label: str) -> bool:
    word = one.line.word
    bare = place.kind == "section" or (place.kind == "appendix" and one.section is not None)  # "B Details of ..."
    named = place_names.is_like(word, place.word) if word else bare
    return named and place_names.is_same(one.line.label, label)


def _rank(one: _Line, place: PlaceName, lines: Sequence[_Line]) -> tuple[bool, ...]:
    """How surely a numbered line is the place, and no item of a list within it nor the wrapped line of a sentence."""
    before = place_names.parts(one.line.label)
    kin = [place_names.parts(other.line.label) for other in lines]
    return (
        place_names.is_same_word(one.line.word, place.word),
        not one.line.word,
        one.section is not None,
        one.line.marked or not one.line.word,
        not before
        or before[:-1] in kin
        or (*before[:-1], before[-1] - 1) in kin
        or (*before[:-1], before[-1] + 1) in kin,
        not _PAGE_BEHIND.search(one.line.text),
        one.line.indent == 0,
    )


def _end(one: _Line, lines: Sequence[_Line], titles: Sequence[_Line], document: Document) -> tuple[int, int]:
    """Where a numbered line's text ends: at the next number of its kind, or a section that is none of its own."""
    if one.section is not None:  # titles may all be of one level, and other numbers of a level are none of its own
        behind = [other.place for other in titles if other.place > one.place and _is_beside(one.line, other.line)]
        return min(behind) if behind else extent_of(document, one.section)[1]
    behind = [other.place for other in lines if other.place > one.place and _follows(one.line, other.line)]
    own = {other.section for other in titles if _is_below(one.line, other.line)}
    behind += [
        (section.page, section.start)
        for section in document.sections
        if (section.page, section.start) > one.place and section not in own
    ]
    return min(behind, default=(document.page_count + 1, 0))


def _is_beside(line: NumberedLine, other: NumberedLine) -> bool:
    """Whether two titles are of a kind: Item 1A and Item 2."""
    if line.word and place_names.is_same_word(line.word, other.word):
        return True
    return _follows(line, other)


def _is_below(line: NumberedLine, other: NumberedLine) -> bool:
    """Whether 4.2.1 is of 4.2."""
    upper, lower = place_names.parts(line.label), place_names.parts(other.label)
    return len(lower) > len(upper) > 0 and lower[: len(upper)] == upper


def _follows(line: NumberedLine, other: NumberedLine) -> bool:
    """Whether another number ends the text of one: 4.3, 5 or 5.1 that of 4.2, and no item of a list within it."""
    if other.indent > line.indent:
        return False
    if place_names.kind_of_word(other.word) == "appendix" != place_names.kind_of_word(line.word):
        return len(other.text.split()) <= _TITLE_WORDS and not other.text.endswith(".")
    if line.word and not place_names.is_same_word(line.word, other.word):
        return False
    one, two = place_names.parts(line.label), place_names.parts(other.label)
    if not one or not two:
        return not one and not two and other.label > line.label
    level = next((level for level, (mine, its) in enumerate(zip(one, two, strict=False)) if mine != its), None)
    if level is None or not one[level] < two[level] <= one[level] + _SKIPPED:
        return False
    return all(number <= 1 + _SKIPPED for number in two[level + 1 :])


def _captioned(one: _Line, every: Sequence[Quote]) -> Extent:
    """A caption of a few words or sentences, with the rows of a table behind it."""
    page, start = one.place
    behind = [quote for quote in every if quote.hit.page == page and quote.end > start]
    taken = behind[:1]
    for quote in behind[1:]:
        same_line = quote.start - taken[-1].end <= 1 and taken[-1].kind != "row"
        if not (quote.kind == "row" or same_line) or len(taken) > _MOST_ROWS:
            break
        taken.append(quote)
    return one.place, (page, taken[-1].end)
