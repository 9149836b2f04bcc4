"""Quoting the sentences that answer, and saying when there are none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_core.generation.extractive import WEIGHTS, choose, extract, gather
from rag_core.generation.passages import merge_hits, quotes
from tests.rag_core.answering.parts import HITS, SALES, encode, hit

PAGE = (
    "Bridges \nThe Old Bridge crosses the river at Mostar. It was built in 1566 by the architect Hayruddin. The bridge "
    "\nwas destroyed in the war. A new one was opened in 2004. Visitors come from everywhere to see it."
)


def test_quotes_the_sentence_with_its_exact_span() -> None:
    found = extract("How many people did the company employ?", HITS, encode)
    quote = found.quotes[0]
    assert not found.abstained
    assert quote.text == "The company employed 2,310 people at the end of 2018."
    assert quote.hit.text[quote.start : quote.end] == quote.text == quote.exact


def test_a_quote_that_leans_back_brings_what_it_leans_on() -> None:
    found = extract("When was the Old Bridge at Mostar built, by which architect?", [hit(PAGE, start=500)], encode)
    first = found.quotes[0]
    assert first.text == (
        "The Old Bridge crosses the river at Mostar. It was built in 1566 by the architect Hayruddin."
    )
    assert first.start == 500 + PAGE.index("The Old")


def test_overlapping_chunks_give_each_sentence_once() -> None:
    first, second = hit(PAGE[:160], start=0), hit(PAGE[100:], start=100, index=1)
    merged = merge_hits([second, first])
    assert [passage.text for passage in merged] == [PAGE]
    assert len(quotes(merged)) == len(quotes(merge_hits([hit(PAGE)])))
    found = extract("When was the Old Bridge built?", [second, first], encode)
    assert len({quote.text for quote in found.quotes}) == len(found.quotes)


def test_chunks_of_other_pages_and_with_gaps_stay_apart() -> None:
    hits = [hit("One.", start=0), hit("Two.", start=50, index=1), hit("Three.", page=2), hit("Four.", document="b")]
    assert len(merge_hits(hits)) == 4
    assert len(merge_hits([hit("One. ", start=0), hit("Two.", start=5, index=1)])) == 1


def test_a_span_belongs_to_the_hit_that_holds_most_of_it() -> None:
    first, second = hit(PAGE[:130], start=0, score=0.9), hit(PAGE[60:], start=60, index=1, score=0.5)
    by_text = {quote.text: quote for quote in quotes(merge_hits([first, second]))}
    assert by_text["The bridge was destroyed in the war."].hit == second
    assert by_text["The Old Bridge crosses the river at Mostar."].hit == first


def test_a_heading_is_never_an_answer() -> None:
    found = extract("What are the results of sales?", [hit("Results of sales\n\nSales results were fine.")], encode)
    assert [quote.text for quote in found.quotes] == ["Sales results were fine."]
    assert extract("Results of sales?", [hit("Results of Sales")], encode).abstained


def test_the_heading_counts_as_context() -> None:
    alike = "Opening in spring, closing in autumn, with guided tours."
    hits = [hit(f"# Castle\n{alike}", document="a"), hit(f"# Museum\n{alike}", document="b")]
    evidence = gather("When does the museum open?", hits, encode)
    context = dict(zip((q.hit.document.id for q in evidence.candidates), evidence.features[:, 1], strict=True))
    assert context["b"] > context["a"]


def test_documents_that_differ_are_both_quoted() -> None:
    hits = [
        hit("The notice period is four weeks.", document="old-contract"),
        hit("The notice period is six weeks.", document="new-contract"),
        hit("The notice period is six weeks.", document="copy"),
    ]
    found = extract("How long is the notice period?", hits, encode)
    assert sorted(quote.text for quote in found.quotes) == [
        "The notice period is four weeks.",
        "The notice period is six weeks.",
    ]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_never_more_than_asked_for(most: int) -> None:
    hits = [hit(f"Sales in region {n} rose by {n} percent.", index=n, document=f"d{n}") for n in range(9)]
    assert 1 <= len(extract("How did sales rise?", hits, encode, max_sentences=most).quotes) <= most


def test_one_when_the_first_is_clearly_best() -> None:
    evidence = gather("x", HITS, encode)
    scores = evidence.features[:, 0] * 0
    scores[2] = 9
    assert choose(evidence.candidates, scores, 3) == [2]


@pytest.mark.parametrize(
    "question",
    ["Which club won the football cup in Lisbon?", "How deep is the Pacific Ocean?", "Who painted Guernica?"],
)
def test_abstains_from_what_is_not_there(question: str) -> None:
    found = extract(question, HITS, encode)
    assert found.abstained
    assert found.quotes == ()
    assert found.confidence < 0.12


def test_nothing_to_quote_from() -> None:
    assert extract("What?", [], encode).abstained
    assert extract("What?", [hit("  \n ")], encode).abstained
    assert gather("What?", [], encode).features.shape == (0, len(WEIGHTS))


def test_scores_of_another_kind_are_not_taken_for_cosines() -> None:
    question = "By how many percent did sales rise?"
    ranked = [replace(one, score=17.0, score_kind="rerank") for one in HITS]
    cosines = encode([one.text for one in HITS]) @ encode([question])[0]
    plain = [replace(one, score=float(cosine)) for one, cosine in zip(HITS, cosines, strict=True)]
    assert extract(question, ranked, encode).confidence == pytest.approx(extract(question, plain, encode).confidence)


def test_same_input_same_answer_whatever_the_order() -> None:
    question = "What did sales do in 2018?"
    one, other = extract(question, HITS, encode), extract(question, HITS[::-1], encode)
    assert [quote.text for quote in one.quotes] == [quote.text for quote in other.quotes]
    assert one.confidence == pytest.approx(other.confidence)
    assert SALES.chunk_id == one.quotes[0].hit.chunk_id
