"""Quoting what answers, and saying when nothing does, with the real embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_core.answering.encoding import Encoder
from rag_core.answering.passages import merge_hits, quotes
from rag_core.answering.strategies.candidates import gather
from rag_core.answering.strategies.composing import MOST_WORDS, choose, compose, scored
from rag_core.answering.strategies.confidence_model import SIGNS
from rag_core.answering.strategies.doubt import doubt
from rag_core.answering.strategies.extractive import believed, extract
from rag_core.answering.strategies.features import FEATURES
from rag_core.answering.strategies.query_intent import QueryIntent
from rag_core.answering.strategies.weights import reader
from rag_core.domain import Retrieval, Scope, Searched, Trace
from tests.rag_core.answering.parts import ENCODER, HITS, SALES, hit

PAGE = (
    "Bridges \nThe Old Bridge crosses the river at Mostar. It was built in 1566 by the architect Hayruddin. The bridge "
    "\nwas destroyed in the war. A new one was opened in 2004. Visitors come from everywhere to see it."
)


def test_quotes_the_sentence_with_its_exact_span(real_encoder: Encoder) -> None:
    found = extract("How many people did the company employ?", HITS, real_encoder)
    quote = found.quotes[0]
    assert not found.abstained
    assert quote.text == "The company employed 2,310 people at the end of 2018."
    assert quote.hit.text[quote.start : quote.end] == quote.text == quote.exact


def test_a_quote_that_leans_back_brings_what_it_leans_on(real_encoder: Encoder) -> None:
    found = extract("When was the bridge built, by which architect?", [hit(PAGE, start=500)], real_encoder)
    first = found.quotes[0]
    assert first.text == (
        "The Old Bridge crosses the river at Mostar. It was built in 1566 by the architect Hayruddin."
    )
    assert first.start == 500 + PAGE.index("The Old")


def test_overlapping_chunks_give_each_sentence_once(real_encoder: Encoder) -> None:
    first, second = hit(PAGE[:160], start=0), hit(PAGE[100:], start=100, index=1)
    merged = merge_hits([second, first])
    assert [passage.text for passage in merged] == [PAGE]
    assert len(quotes(merged)) == len(quotes(merge_hits([hit(PAGE)])))
    found = extract("When was the Old Bridge built?", [second, first], real_encoder)
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


SEGMENTS = [
    hit(
        "Segments of Northwind (dollars in millions):\n\t2020\t2019\nJapan:\nNet sales\t$ 21,418\t$ 21,506\n"
        "Operating income\t9,279\t9,369\nEurope:\nNet sales\t$ 68,640\t$ 60,288\nOperating income\t22,170\t19,195\n"
    ),
    hit(
        "Net sales of Northwind by segment (in millions):\n\t2020\t2019\nEurope\t$ 68,640\t$ 60,288\n"
        "Japan\t21,418\t21,506\nTotal net sales\t$ 90,058\t$ 81,794\n",
        page=2,
    ),
]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What were Northwind's net sales in 2020?", "Total net sales, 2020: $90,058 million"),
        ("What were Northwind's net sales in Japan in 2020?", "Japan, Net sales, 2020: $21,418 million"),
    ],
)
def test_the_whole_is_said_where_no_part_is_asked_for(real_encoder: Encoder, question: str, said: str) -> None:
    found = extract(question, SEGMENTS, real_encoder, aim=QueryIntent(narrowed=True))
    assert found.lead.endswith(said)
    assert len(found.quotes) == 1  # its row, and no row of another segment


MACHINES = "Data\n\tBrixa 300\tBrixa 300 Duo\nPower\t1,350 W\t1,800 W\nWater tank\t1.8 l\t2.5 l\nWeight\t7.2 kg\t9.6 kg"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How big is the water tank of the Brixa 300 Duo?", "Water tank, Brixa 300 Duo: 2.5 l"),
        ("How many watts does the Duo need?", "Power, Brixa 300 Duo: 1,800 W"),
        ("How heavy is the Brixa 300?", "Weight, Brixa 300: 7.2 kg"),
    ],
)
def test_a_column_is_meant_whose_head_has_the_word_that_its_neighbours_lack(
    real_encoder: Encoder, question: str, said: str
) -> None:
    assert extract(question, [hit(MACHINES)], real_encoder).lead == said


def test_a_heading_is_never_an_answer(real_encoder: Encoder) -> None:
    found = extract(
        "What are the results of sales?", [hit("Results of sales\n\nSales results were fine.")], real_encoder
    )
    assert [quote.text for quote in found.quotes] == ["Sales results were fine."]
    assert extract("Results of sales?", [hit("Results of Sales")], real_encoder).abstained


def test_the_heading_counts_as_what_a_sentence_leans_on(real_encoder: Encoder) -> None:
    alike = "Opening in spring, closing in autumn, with guided tours."
    hits = [hit(f"# Castle\n{alike}", document="a"), hit(f"# Museum\n{alike}", document="b")]
    evidence = gather("When does the museum open?", hits, real_encoder)
    assert evidence is not None
    near = {
        unit.quote.hit.document.id: value for unit, value in zip(evidence.units, evidence.column("near"), strict=True)
    }
    assert near["b"] > near["a"]


def test_documents_that_differ_are_both_quoted(real_encoder: Encoder) -> None:
    hits = [
        hit("The notice period is four weeks.", document="old-contract"),
        hit("The notice period is six weeks.", document="new-contract"),
        hit("The notice period is six weeks.", document="copy"),
    ]
    found = extract("How long is the notice period?", hits, real_encoder)
    assert sorted(quote.text for quote in found.quotes) == [
        "The notice period is four weeks.",
        "The notice period is six weeks.",
    ]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_never_more_than_asked_for(most: int, real_encoder: Encoder) -> None:
    hits = [hit(f"Sales in region {n} rose by {n} percent.", index=n, document=f"d{n}") for n in range(9)]
    found = extract("How much did sales in region 3 rise?", hits, real_encoder, max_sentences=most)
    assert not found.abstained
    assert 1 <= len(found.quotes) <= most


def test_an_answer_is_short(real_encoder: Encoder) -> None:
    long = [hit(f"The mill of {n} stands " + "by the river and turns its wheel " * 6 + ".", index=n) for n in range(4)]
    evidence = gather("Where does the mill stand?", long, real_encoder)
    assert evidence is not None
    chosen = choose(evidence, scored(evidence), 3)
    assert sum(len(evidence.units[one].quote.text.split()) for one in chosen) <= MOST_WORDS


def test_a_further_quote_is_of_what_the_first_leaves_out(real_encoder: Encoder) -> None:
    text = "The Halcyon carries 34 cars.\nThe Halcyon carries 280 people and 34 cars in all.\nThe Tern carries 10 cars."
    found = extract("Which ship carries more cars, the Halcyon or the Tern?", [hit(text)], real_encoder)
    assert "The Tern carries 10 cars." in [quote.text for quote in found.quotes[:2]]


@pytest.mark.parametrize(("odds", "kept"), [(3.5, 2), (-1.0, 1)])
def test_a_further_quote_earns_its_place_where_the_first_surely_answers(odds: float, kept: int) -> None:
    def read(question: str, passages: Sequence[tuple[str, Sequence[str]]]) -> list[NDArray[np.float64]]:
        return [np.array([(one, one, 0, 0) for one in (4.0, odds)])]

    found = extract(
        "When does the miller Hans grind barley and flour?",
        [hit("The miller Hans grinds barley on Monday. The miller Hans grinds flour on Tuesday.")],
        replace(ENCODER, read=read),
    )
    assert len(found.quotes) == kept


def test_quotes_behind_the_best_stand_as_in_their_documents() -> None:
    hits = [
        hit("A leaflet tells of the mill.", document="leaflet"),
        hit("The miller closes the sluice. Nobody sleeps in a flood.", page=2),
        hit("The wheel of the mill turns.", page=3, index=1),
    ]
    evidence = gather("What of the mill?", hits, ENCODER)
    assert evidence is not None
    made = compose("What of the mill?", evidence, np.array([2.5, 1.0, 2.0, 3.0]), 4)
    assert [quote.text.split()[1] for quote in made.quotes] == ["wheel", "miller", "sleeps", "leaflet"]


@pytest.mark.parametrize(
    "question",
    ["Which club won the football cup in Lisbon?", "How deep is the Pacific Ocean?", "Who painted Guernica?"],
)
def test_abstains_from_what_is_not_there(question: str, real_encoder: Encoder) -> None:
    found = extract(question, HITS, real_encoder)
    assert found.abstained
    assert not found.quotes
    assert found.confidence < reader().closest_from


def test_an_abstention_shows_what_comes_near_and_what_that_lacks(real_encoder: Encoder) -> None:
    found = extract("How many people did the company employ at the end of 2016?", HITS, real_encoder, max_sentences=1)
    assert found.abstained
    assert [quote.text for quote in found.quotes] == ["The company employed 2,310 people at the end of 2018."]
    assert found.doubt == "Not sure: it does not say “2016”."
    named = [replace(hit, document=replace(hit.document, sources=("figures 2016.txt",))) for hit in HITS]
    again = extract("How many people did the company employ at the end of 2016?", named, real_encoder, max_sentences=1)
    assert again.doubt == "Not sure: the passage may be about something else."


@pytest.mark.parametrize(
    ("question", "asking"),
    [("Wie hoch ist der Fahrpreis nach Tolsund?", "Wie"), ("List the ferries to Tolsund", "List")],
)
def test_a_doubt_names_no_word_that_asks(question: str, asking: str, real_encoder: Encoder) -> None:
    evidence = gather(question, HITS, real_encoder)
    assert evidence is not None
    told = doubt(evidence, compose(question, evidence, scored(evidence), 1))
    assert asking not in told
    assert "“Tolsund”" in told


def test_a_doubt_names_nothing_that_is_said(real_encoder: Encoder) -> None:
    table = hit("2019\nSegment\tCanada\tOther\nTotal income\t924\t750\n")
    question = "What was the total income of the business in Canada in 2019?"
    evidence = gather(question, [table], real_encoder)
    assert evidence is not None
    made = replace(compose(question, evidence, scored(evidence), 1), lead="2019, Total income, Canada: 924")
    assert "2019" not in doubt(evidence, made)
    assert "Canada" not in doubt(evidence, made)


def test_beside_the_row_of_a_code_stands_no_other(real_encoder: Encoder) -> None:
    codes = hit("Code\tMeaning\tWhat to do\nE1\tNo water comes in\tOpen the tap\nE4\tWater in the tray\tCall service\n")
    found = extract("What does E4 mean?", [codes], real_encoder, aim=QueryIntent(narrowed=True))
    assert all("E4" in quote.text for quote in found.quotes)
    assert "Water in the tray" in f"{found.lead} {found.quotes[0].text}"


def test_the_figure_that_a_question_has_is_not_its_answer(real_encoder: Encoder) -> None:
    table = hit("Model\tMachines\tParameters (billions)\nLargest model\t400\t170\nSmaller model\t64\t20\n")
    found = extract("How many parameters were trained on 400 machines?", [table], real_encoder)
    assert not found.lead.endswith(": 400")
    assert "170" in f"{found.lead} {found.quotes[0].text}"


@pytest.mark.parametrize("question", ["How many people did Acme employ in 2011?", "Who leads the museum?"])
def test_another_year_or_thing_is_believed_less(question: str, real_encoder: Encoder) -> None:
    known = believed("How many people did the company employ at the end of 2018?", HITS, real_encoder)
    assert believed(question, HITS, real_encoder).right < known.right


def test_one_chosen_document_is_believed_more(real_encoder: Encoder) -> None:
    question = "How many people did the company employ at the end of 2018?"
    anywhere = believed(question, HITS, real_encoder)
    chosen = believed(question, HITS, real_encoder, QueryIntent(narrowed=True))
    assert chosen.right > anywhere.right
    assert chosen.answerable == anywhere.answerable
    assert reader().narrowed_from < reader().answer_from
    searched = Searched("hybrid", Scope(documents=("a",)), documents=1)
    for only in (searched, replace(searched, scope=Scope())):
        assert QueryIntent.of(Retrieval((), Trace(searched=only))).narrowed
    for other in (replace(searched, documents=2), None):
        assert not QueryIntent.of(Retrieval((), Trace(searched=other))).narrowed


def test_nothing_to_quote_from(real_encoder: Encoder) -> None:
    assert extract("What?", [], real_encoder).abstained
    assert extract("What?", [hit("  \n ")], real_encoder).abstained
    assert gather("What?", [], real_encoder) is None
    assert believed("What?", [], real_encoder).answerable == 0


def test_same_input_same_answer_whatever_stands_beside(real_encoder: Encoder) -> None:
    question = "What did sales do in 2018?"
    one, other = extract(question, HITS, real_encoder), extract(question, HITS, real_encoder)
    assert one == other
    assert SALES.chunk_id == one.quotes[0].hit.chunk_id


def test_every_feature_and_sign_has_its_weight() -> None:
    assert set(reader().rank) == set(FEATURES)
    assert set(reader().right) == set(reader().answerable) == {*SIGNS, "bias"}
    assert 0 < reader().answer_from < 1
    assert 0 < reader().closest_from < 1
    assert 0 < reader().narrowed_from < 1


def test_what_another_document_says_is_left_out_where_one_is_surely_meant(real_encoder: Encoder) -> None:
    hits = [
        hit("The alarm code of this depot is kept by Ines Kolar.", document="north"),
        hit("The alarm code of this depot is kept by Piet Hamre.", document="south"),
    ]
    question = "Who keeps the alarm code of the depot?"
    assert len(extract(question, hits, real_encoder).quotes) > 1
    north = QueryIntent(meant={"north": 0.8, "south": 0.1})
    found = extract(question, hits, real_encoder, aim=north)
    assert [quote.text for quote in found.quotes] == ["The alarm code of this depot is kept by Ines Kolar."]
