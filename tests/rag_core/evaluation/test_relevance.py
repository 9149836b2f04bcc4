"""Which passages hold gold, however the documents are cut."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rag_core.chunking import chunk_document
from rag_core.domain import Chunk, Document, Found, Gold, Hit, Page, ParsedDocument, Question
from rag_core.evaluation.gold.locating import Locator, Place, Span
from rag_core.evaluation.gold.relevance import Wanted, found_of, ranked_of
from rag_core.evaluation.measuring.ranking import Ranked, ranked
from rag_core.settings import ChunkingSettings

DOCUMENT = Document("d" * 32, "Report", "text/plain", 1, "ready")


def cut(size: int, overlap: int, *texts: str) -> list[Chunk]:
    pages = tuple(Page(number, text) for number, text in enumerate(texts, start=1))
    return chunk_document(
        DOCUMENT.id,
        ParsedDocument("text/plain", pages),
        ChunkingSettings(size=size, overlap=overlap),
        lambda texts: [0] * len(texts),
    )


def hit(page: int, start: int, end: int, document: Document = DOCUMENT) -> Hit:
    return Hit(f"{document.id}:{start}", document, 0, page, str(page), "", "x" * (end - start), start, end, (), 0.5)


def wanted(places: Sequence[Place], *chunks: tuple[int, int, int]) -> Wanted:
    return Wanted(places, {DOCUMENT.id: np.array(chunks, np.int64).reshape(-1, 3)})


def measured(places: Sequence[Place], *chunks: tuple[int, int, int]) -> tuple[tuple[Found, ...], Ranked]:
    """A ranking that finds every chunk in order."""
    gold = wanted(places, *chunks)
    found = found_of([hit(*chunk) for chunk in chunks], gold)
    return found, ranked_of(found, gold)


def excerpt(page: int, start: int, end: int, number: int = 0) -> Place:
    return Place(number, DOCUMENT.id, page, (Span(page, start, end),))


@pytest.mark.parametrize(
    ("chunk", "belongs"),
    [
        ((1, 100, 200), True),  # the excerpt itself
        ((1, 0, 1000), True),  # holds it
        ((1, 120, 150), True),  # within it
        ((1, 0, 150), True),  # holds half of it
        ((1, 0, 149), False),
        ((1, 150, 1000), True),
        ((1, 151, 1000), False),
        ((1, 190, 210), True),  # half of the chunk lies in it
        ((1, 191, 211), False),
        ((1, 200, 300), False),  # touches it
        ((1, 0, 100), False),
        ((2, 100, 200), False),
    ],
)
def test_a_chunk_belongs_that_holds_half_or_is_half_filled(chunk: tuple[int, int, int], belongs: bool) -> None:
    gold = wanted([excerpt(1, 100, 200)], (1, 100, 200), chunk)
    assert gold.gold(hit(*chunk)) == ((0,) if belongs else ())


def test_where_no_chunk_holds_half_the_one_with_most_belongs() -> None:
    found, ranks = measured([excerpt(1, 0, 100)], (1, 0, 30), (1, 60, 500), (1, 96, 800))
    assert [item.relevant for item in found] == [True, False, False]
    found, ranks = measured([excerpt(1, 100, 200)], (1, 0, 120), (1, 170, 500), (1, 196, 800))
    assert [item.relevant for item in found] == [False, True, False]
    assert ranks.relevant_total == 1


def test_a_few_letters_on_the_next_page_are_not_the_excerpt() -> None:
    place = Place(0, DOCUMENT.id, 1, (Span(1, 800, 1000), Span(2, 0, 5)))
    found, ranks = measured([place], (1, 0, 1000), (2, 0, 1000))
    assert [item.relevant for item in found] == [True, False]
    assert (ranks.span_chars, ranks.span_chars_found, ranks.gold_found, ranks.relevant_total) == (205, 205, 1, 1)


def test_pages_and_documents_as_gold() -> None:
    other = Document("e" * 32, "Other", "text/plain", 1, "ready")
    chunks = ((1, 0, 10), (2, 0, 10), (2, 8, 20))
    page, whole = Place(0, DOCUMENT.id, 2), Place(1, DOCUMENT.id)
    found, ranks = measured([page, whole], *chunks)
    assert [item.gold for item in found] == [(1,), (0, 1), (0, 1)]
    assert (ranks.relevant_total, ranks.gold_found, ranks.gold_total, ranks.span_chars) == (3, 2, 2, 0)
    assert wanted([page, whole], *chunks).gold(hit(2, 0, 10, other)) == ()


def test_without_gold_nothing_is_known_and_with_gold_that_has_no_chunk_nothing_is_relevant() -> None:
    found, ranks = measured([], (1, 0, 10))
    assert found[0].relevant is None
    assert ranked([ranks])[0]["hit_rate"] is None
    gold = Wanted([Place(0, "gone"), Place(1, DOCUMENT.id, 9)], {})
    found = found_of([hit(1, 0, 10)], gold)
    assert (found[0].relevant, gold.total) == (False, 0)
    metrics = ranked([ranked_of(found, gold)])[0]
    assert (metrics["hit_rate"], metrics["context_recall"], metrics["span_recall"]) == (0.0, 0.0, None)


def test_nothing_found_is_no_fault() -> None:
    gold = wanted([excerpt(1, 0, 10)], (1, 0, 10))
    metrics = ranked([ranked_of((), gold)])[0]
    assert (metrics["hit_rate"], metrics["context_recall"], metrics["span_recall"]) == (0.0, 0.0, 0.0)


def test_overlapping_passages_and_places_are_counted_once() -> None:
    places = [excerpt(1, 0, 100), excerpt(1, 50, 150, 1), excerpt(1, 0, 100, 2)]
    _, ranks = measured(places, (1, 0, 80), (1, 40, 120), (1, 40, 120))
    assert (ranks.span_chars, ranks.span_chars_found) == (150, 120)
    assert (ranks.gold_found, ranks.gold_total, ranks.relevant_total) == (3, 3, 2)


def test_a_whole_book_as_gold_takes_little_time() -> None:
    spans = np.array([(page, start, start + 900) for page in range(1, 2001) for start in (0, 700, 1400)], np.int64)
    began = time.perf_counter()
    for number in range(100):
        gold = Wanted([Place(number, DOCUMENT.id)], {DOCUMENT.id: spans})
        assert gold.total == 6000
        assert gold.gold(hit(7, 700, 1600)) == (number,)
    assert time.perf_counter() - began < 4


TEXTS = st.text(alphabet=st.sampled_from("ab1é \n.\n "), min_size=20, max_size=600)


@settings(max_examples=200, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=3), size=st.integers(50, 150), data=st.data())
def test_however_a_document_is_cut_a_chunk_belongs_to_each_excerpt(
    texts: list[str], size: int, data: st.DataObject
) -> None:
    chunks = cut(size, data.draw(st.integers(0, size - 1)), *texts)
    page = data.draw(st.integers(1, len(texts)))
    start = data.draw(st.integers(0, len(texts[page - 1]) - 1))
    text = texts[page - 1][start : data.draw(st.integers(start + 1, len(texts[page - 1])))]
    assume(re.search(r"[^\W_]", text))
    pages = [Page(number, page_text) for number, page_text in enumerate(texts, start=1)]
    places, _ = Locator([DOCUMENT], lambda _: pages).places(Question("q", "Q?", gold=(Gold("Report", page, text),)))
    found, ranks = measured(places, *((chunk.page, chunk.start, chunk.end) for chunk in chunks))
    assert ranks.relevant_total >= 1
    assert sum(bool(item.relevant) for item in found) >= ranks.relevant_total
    assert ranks.gold_found == 1
    assert 0 < ranks.span_chars_found <= ranks.span_chars
    # Chunks leave out blanks alone.
    span = places[0].spans[0]
    assert ranks.span_chars_found >= len("".join(texts[span.page - 1][span.start : span.end].split()))


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_metrics_stay_within_their_bounds_and_grow_with_what_is_found(data: st.DataObject) -> None:
    spans = st.tuples(st.integers(1, 3), st.integers(0, 60), st.integers(1, 40)).map(
        lambda s: (s[0], s[1], s[1] + s[2])
    )
    chunks = data.draw(st.lists(spans, min_size=1, max_size=12, unique=True))
    places = [excerpt(*span, number) for number, span in enumerate(data.draw(st.lists(spans, min_size=1, max_size=4)))]
    gold = wanted(places, *chunks)
    order = data.draw(st.permutations(chunks))
    least = (0.0, 0.0)
    for k in range(len(order) + 1):
        ranks = ranked_of(found_of([hit(*chunk) for chunk in order[:k]], gold), gold)
        assert 0 <= ranks.span_chars_found <= ranks.span_chars
        assert sum(ranks.flags) <= ranks.relevant_total
        metrics = ranked([ranks])[0]
        assert all(value is None or 0 <= value <= 1 for value in metrics.values())
        recalls = (metrics["span_recall"] or 0.0, metrics["context_recall"] or 0.0)
        assert recalls[0] >= least[0]
        assert recalls[1] >= least[1]
        least = recalls
