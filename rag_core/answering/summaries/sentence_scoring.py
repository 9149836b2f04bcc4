"""A document's telling sentences: what it is, then what its clusters are about, in its own order.

Radev et al., "Centroid-based summarization of multiple documents", 2004: a sentence counts by its nearness to the
centroid of its cluster, its place, and what it repeats; and Edmundson, "New methods in automatic extracting", 1969: by
the headings it stands under, and by words of stating or of hedging. The vectors are those of the chunks' pieces, kept
from adding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from rag_core.answering.passages import Quote, merge_hits, quotes
from rag_core.answering.summaries import wording
from rag_core.domain import Hit
from rag_core.retrieval.contents import Content
from rag_core.retrieval.hierarchy.clustering import unit
from rag_core.retrieval.hierarchy.summaries import in_turn
from rag_core.text.numbers import numbers
from rag_core.text.sentences import tidy
from rag_core.text.terms import coverage, terms

Floats = NDArray[np.float32]
Extent = tuple[tuple[int, int], tuple[int, int]]
"""From a page and a place on it to another, which is left out."""

EVERYWHERE: Extent = ((0, 0), (1 << 62, 0))

_SHORTEST_WORDS, _LONGEST_WORDS = 8, 45
_OPENING_CHUNKS, _OPENING_SHARE, _LOOKED_AT = 8, 0.08, 96
_SAME = 0.5
_MOST_FIGURES = 0.3  # of a sentence's words; a line with more is of a table
_MOST_CAPITALS = 0.7  # of its words of four letters and more; a line with more is of a list of contents, or of names
_HEAD_CHARS = 60
_LENGTH = 0.005  # what an opening pays for each word
_COVER_CHARS, _COVERED_PAGES = 500, 3  # a cover has little text, and pages behind it
_LONG_WORD, _LONG_TITLE = 4, 4  # characters; words
_UNSPACED_CHARS = 15  # for each space; a text with fewer spaces is in a script without them
_CROWDED = 0.12  # what it pays for each that was chosen from its section
_NEAR = 0.4  # what a sentence pays for its nearness to one that was chosen

_ITEM = re.compile(r"(?:[•▪●‣◦]\s*|^[-*]\s+|^\(?(?:\d{1,2}|[a-z])[.)]\s+)?(?P<text>[^•▪●‣◦]+)")
_MARKS = re.compile(r"\s*\[\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\]")  # a paper's citations would be taken for the answer's
_LEADERS = re.compile(r"\s*\.(?:\s?\.)+|\s*…")
_NUMBERED = re.compile(r"\W*\d")


@dataclass(frozen=True, slots=True, eq=False)
class Telling:
    """A sentence that may stand in a summary. vector: float32 (d,), of unit length. words: how long it is."""

    quote: Quote
    held: frozenset[str]
    vector: Floats
    score: float
    opening: float
    words: int


def telling(
    content: Content, most_words: int, *, most: int = 8, asked: Sequence[str] = (), extent: Extent = EVERYWHERE
) -> list[Quote]:
    """Sentences of a document that tell what it is and what stands in it, in its order, `most_words` together.

    most: so many sentences. asked: terms of the question, whose sentences gain. extent: where they stand.
    """
    candidates = _candidates(content, asked, extent)
    if not candidates:
        return []
    opening = [one for one in candidates if one.opening > 0] or candidates
    chosen = [max(opening, key=lambda one: one.opening)]
    left = most_words - chosen[0].words
    while len(chosen) < most:
        fitting = [one for one in candidates if one.words <= left and not any(_same(one, other) for other in chosen)]
        if not fitting:
            break
        best = max(fitting, key=lambda one: one.score - _price(one, chosen))
        chosen.append(best)
        left -= best.words
    ordered = sorted(chosen, key=lambda one: (one.quote.hit.page, one.quote.start))
    first = [] if extent != EVERYWHERE else chosen[:1]
    return [*(one.quote for one in first), *(one.quote for one in ordered if one not in first)]


def _price(one: Telling, chosen: Sequence[Telling]) -> float:
    """What a sentence pays for being like those chosen, and from the same section (Carbonell and Goldstein 1998)."""
    section = one.quote.hit.section
    crowd = sum(section == other.quote.hit.section for other in chosen) if section else 0
    return _NEAR * max(float(one.vector @ other.vector) for other in chosen) + _CROWDED * crowd


def _candidates(content: Content, asked: Sequence[str], extent: Extent) -> list[Telling]:
    """The whole, plain sentences of the chunks nearest to their clusters' centroids, and of the first ones."""
    nearest = [number for number, _ in islice(in_turn(content.vectors, content.clusters), _LOOKED_AT)]
    first = max(_OPENING_CHUNKS, int(_OPENING_SHARE * len(content.hits)))
    stating = [number for number, hit in enumerate(content.hits) if wording.states(_heading(hit))]
    looked_at = sorted({*range(min(first, len(content.hits))), *nearest, *stating[:_LOOKED_AT]} - _cover(content))
    places = {content.hits[number].chunk_id: number for number in looked_at}
    strongest = _strongest(content)
    centre = unit(content.vectors.mean(axis=0))
    named = terms(_named(content))
    found = []
    every = quotes(merge_hits([content.hits[number] for number in looked_at]))
    for quote in (item for sentence in every for item in _items(sentence)):
        length = _words(quote.text)
        if not plain(quote) or not _SHORTEST_WORDS <= length <= _LONGEST_WORDS:
            continue
        if not extent[0] <= (quote.hit.page, quote.start) < extent[1]:
            continue
        number = places[quote.hit.chunk_id]
        cluster, vector = int(strongest[number]), _vector(content, number, quote)
        central = float(vector @ centre)
        score = 0.6 * float(vector @ content.clusters.centroids[cluster]) + 0.8 * central
        score += 0.2 * len(content.clusters.members[cluster]) / len(content.hits)
        score += _worth(quote, asked) + 0.1 * (1 - number / len(content.hits))
        opening = _opening(quote, 1 - number / first, named) + 0.5 * central if number < first else 0.0
        found.append(Telling(quote, frozenset(terms(quote.text)), vector, score, opening, length))
    return found


def _cover(content: Content) -> set[int]:
    """The chunks of a first page that is a cover."""
    first = [number for number, hit in enumerate(content.hits) if hit.page == 1]
    told = sum(len(content.hits[number].text) for number in first)
    return set(first) if content.document.page_count >= _COVERED_PAGES and told < _COVER_CHARS else set()


def _items(quote: Quote) -> Iterator[Quote]:
    """A sentence, or the items of a list that stands in it, each without its mark or number."""
    exact = quote.exact
    if quote.kind != "sentence" or len(exact) < quote.end - quote.start:  # it runs on in another chunk
        return
    for part in _ITEM.finditer(exact):
        text = _MARKS.sub("", tidy(part["text"])).replace("**", "")
        if text:
            start = quote.start + part.start("text")
            whole = text[:-1] + "." if text.endswith(";") else text
            yield replace(quote, text=whole, start=start, end=start + len(part["text"].rstrip()))


def _words(text: str) -> int:
    """How many words it has, or would have in a script that puts spaces between them."""
    count = len(text.split())
    return count if len(text) < _UNSPACED_CHARS * count else len(text) // 2


def plain(quote: Quote) -> bool:
    """Whether a quote is a whole sentence that stands alone: no row, heading, footer, question or broken line."""
    text = quote.text
    said = text.split()
    figures = sum(any(character.isdigit() for character in word) for word in said)
    behind = quote.hit.text[quote.end - quote.hit.start :][:8]
    return (
        quote.kind == "sentence"
        and quote.complete
        and (text[:1].isupper() or text[:1].isdigit() or text[:1] in "\"“'‘(" or not text[:1].isascii())
        and text.rstrip("\"”'’)]")[-1:] in ".!。！"
        and "\t" not in quote.exact
        and "|" not in text
        and "\u2003" not in text
        and figures <= _MOST_FIGURES * len(said)
        and not text.isupper()
        and not _LEADERS.match(behind)
        and not _runs_on_from_title(text, quote.hit.document.title)
        and (not wording.leans(text) or wording.of_itself(text, quote.hit.document))
        and _capitals(said) <= _MOST_CAPITALS
        and text.count("(") == text.count(")")
        and text.count("“") == text.count("”")
    )


def _runs_on_from_title(text: str, title: str) -> bool:
    """Whether it is a page's running title and the rest of a sentence from the page before."""
    return len(title.split()) >= _LONG_TITLE and text.casefold().startswith(title.casefold())


def _capitals(said: Sequence[str]) -> float:
    """The share of long words that begin with a capital, the sentence's first left out."""
    long = [word for word in said[1:] if len(word) >= _LONG_WORD and word[0].isalpha()]
    return sum(word[0].isupper() for word in long) / len(long) if long else 0.0


def _heading(hit: Hit) -> str:
    """The title that a chunk stands under, and its first words."""
    return f"{hit.section} {hit.text[:_HEAD_CHARS]}"


def _worth(quote: Quote, asked: Sequence[str]) -> float:
    """What speaks for a sentence besides its vector: where it stands, what it states, what of the question it holds."""
    text, figures = quote.text, numbers(quote.text)
    worth = 0.25 * wording.states(_heading(quote.hit))
    worth -= 0.1 * wording.hedged(text) + 0.3 * wording.points_elsewhere(text) + 0.3 * bool(_NUMBERED.match(text))
    worth += 0.06 / (1 + quote.position) + 0.04 * min(2, len(figures))
    if figures:
        worth += 0.45 * wording.sought(text, quote.hit.document)
    elif quote.exact.rstrip().endswith(";"):  # an item without a figure, which mostly has no verb either
        worth -= 0.3
    return worth + 0.15 * coverage(asked, set(terms(text))) if asked else worth


def _opening(quote: Quote, early: float, named: Sequence[str]) -> float:
    """How well a sentence says what its document is: near the beginning, naming it, in words of being.

    early: 0..1, 1 at the very beginning. named: the terms of what it is called.
    """
    text = quote.text
    said = wording.says_what(text, quote.hit.document, named) + 0.3 / (1 + quote.position)
    return early + said - _LENGTH * len(text.split()) - 0.5 * wording.hedged(text) - wording.points_elsewhere(text)


def _named(content: Content) -> str:
    """What a document's sentences call it: its organisation, else its title."""
    card = content.document.card
    return (card.organisation if card else "") or content.document.title


def _vector(content: Content, number: int, quote: Quote) -> Floats:
    """Of the piece that holds the sentence's middle; its chunk's where there are no pieces."""
    pieces, hit = content.pieces[number], content.hits[number]
    if not len(pieces):
        whole: Floats = content.vectors[number]
        return whole
    middle = ((quote.start + quote.end) / 2 - hit.start) / max(1, hit.end - hit.start)
    place = min(len(pieces) - 1, max(0, int(middle * len(pieces))))
    found: Floats = pieces[place]
    return found


def _strongest(content: Content) -> NDArray[np.intp]:
    """The cluster that each chunk belongs to most."""
    found = np.zeros(len(content.hits), dtype=np.intp)
    best = np.full(len(content.hits), -1.0, dtype=np.float32)
    for number, (rows, weights) in enumerate(zip(content.clusters.members, content.clusters.weights, strict=True)):
        better = weights > best[rows]
        found[rows[better]], best[rows[better]] = number, weights[better]
    return found


def _same(one: Telling, other: Telling) -> bool:
    """Whether two sentences say the same."""
    return len(one.held & other.held) >= _SAME * max(1, min(len(one.held), len(other.held)))
