"""Markers in, exact citations out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.answering.citations import (
    CitationWriter,
    Passages,
    Register,
    cited_numbers,
    is_not_found,
    renumbered,
    sentences_of,
    without_markers,
)
from rag_core.answering.passages import boxes_within, citation
from rag_core.domain import Section, Sentence
from tests.rag_core.answering.parts import HITS, SALES, STAFF, hit, line_boxes


def write(*pieces: str) -> CitationWriter:
    writer = CitationWriter(Passages(HITS))
    shown = "".join(writer.feed(piece) for piece in pieces) + writer.finish()
    assert shown == writer.text
    return writer


@pytest.mark.parametrize(
    ("inner", "wanted"),
    [
        ("1", [1]),
        ("1, 2", [1, 2]),
        ("2;1", [2, 1]),
        ("1-3", [1, 2, 3]),
        ("1 and 3", [1, 3]),
        ("1,1", [1]),
        ("1-999", []),
    ],
)
def test_numbers_of_a_marker(inner: str, wanted: list[int]) -> None:
    assert cited_numbers(inner) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Anna Berger leads the board [2].", "Anna Berger leads the board [1]."),
        ("Anna Berger leads the board. [2]", "Anna Berger leads the board. [1]"),
        ("Anna Berger leads the board [passage 2].", "Anna Berger leads the board [1]."),
        ("Anna Berger leads the board 【2】.", "Anna Berger leads the board [1]."),
        ("Anna Berger leads the board [2][2].", "Anna Berger leads the board [1]."),
        ("Sales rose by 12 percent [1, 2].", "Sales rose by 12 percent [1][2]."),
        ("Sales rose by 12 percent [1][2].", "Sales rose by 12 percent [1][2]."),
        ("Sales rose [0].", "Sales rose."),
        ("Sales rose [99] well [7, 8].", "Sales rose well."),
        ("An array a[i] and [see above] stay.", "An array a[i] and [see above] stay."),
        ("An open [ bracket", "An open [ bracket"),
    ],
)
def test_markers_are_renumbered_or_taken_out(text: str, wanted: str) -> None:
    assert write(text).text == wanted


def test_same_sentence_same_number_other_sentence_other_number() -> None:
    writer = write("Sales rose by 12 percent [1]. Two plants were opened in the north [1]. Sales rose 12 percent [1].")
    assert writer.text == (
        "Sales rose by 12 percent [1]. Two plants were opened in the north [2]. Sales rose 12 percent [1]."
    )
    first, second = writer.register.citations
    assert first.text == "Sales rose by 12 percent to 480 million euros in 2018."
    assert second.text.startswith("The growth came from the north")
    assert SALES.text[second.start : second.end] == second.text


def test_numbers_that_point_at_nothing_are_counted() -> None:
    assert write("Sales rose [1][8][9].").removed == 2


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["Sales rose", " ", "[1]", "[2, 3]", "[9]", ".", "[", "]", "\n", "x", "[1"]), max_size=14),
    st.integers(1, 5),
)
def test_streaming_in_any_pieces_is_the_same(parts: list[str], size: int) -> None:
    text = "".join(parts)
    whole = write(text)
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    cut = write(*pieces)
    assert cut.text == whole.text
    assert cut.register.citations == whole.register.citations


def test_a_marker_is_never_shown_in_part() -> None:
    writer = CitationWriter(Passages(HITS))
    assert writer.feed("Sales rose by 12 percent [") == "Sales rose by 12 percent"
    assert writer.feed("1") == ""
    assert writer.feed("].") == " [1]."


def test_sentences_with_what_they_cite() -> None:
    written = sentences_of("Sales rose [1]. Anna leads. [2][3] Tea grows [1] on hills [2].")
    assert [(one.text, one.cited) for one in written] == [
        ("Sales rose.", (1,)),
        ("Anna leads.", (2, 3)),
        ("Tea grows on hills.", (1, 2)),
    ]


def test_renumbering_puts_citations_found_later_in_their_place() -> None:
    text = "Tea grows. Sales rose [1]."
    written = sentences_of(text)
    register = Register()
    passages = Passages(HITS)
    for sentence, passage in (("Sales rose by 12 percent", 1), ("Tea is grown on hills", 3)):
        quote = passages.best(sentence, passage)
        assert quote is not None
        register.number(quote)
    checked = [Sentence("Tea grows.", (2,)), Sentence("Sales rose.", (1,))]
    text, sentences, citations = renumbered(text, written, checked, register)
    assert text == "Tea grows. [1] Sales rose [2]."
    assert [sentence.citations for sentence in sentences] == [(1,), (2,)]
    assert [(one.number, one.document_id) for one in citations] == [(1, "tea"), (2, "report")]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Not found in these documents.", True),
        (" not found in these documents [1]. ", True),
        ("Not found in these documents", True),
        ("Not found.", True),
        ("It was not found in these documents of 1999.", False),
        ("The passage does not provide the number of data breaches in 2013 alone. [1]", True),
        ("The excerpts do not mention a fee.", True),
        ("The provided context doesn't specify who wrote it.", True),
        ("There is no information about Henrik's payment.", True),
        ("The document is not valid without a signature.", False),
        ("The text was not printed until 1902.", False),
        ("The passages do not say when. They say that it closed in 1990.", False),
        ("", False),
    ],
)
def test_is_not_found(text: str, wanted: bool) -> None:
    assert is_not_found(text) == wanted


def test_without_markers() -> None:
    assert without_markers("Sales rose [1][2]. Yes. [3]") == "Sales rose. Yes."


def test_boxes_of_the_lines_that_a_span_touches() -> None:
    boxed = hit("First line \nsecond line. Third \nline.", start=100, boxes=line_boxes(3))
    assert boxes_within(boxed, 113, 125) == boxed.boxes[1:2]
    assert boxes_within(boxed, 125, 140) == boxed.boxes[1:]
    made = citation(1, boxed, 100, 112, "x")
    assert (made.start, made.end, made.boxes) == (100, 112, boxed.boxes[:1])
    odd = hit("First line \nsecond line.", boxes=line_boxes(5))
    assert boxes_within(odd, 0, 3) == odd.boxes


def test_a_citation_names_the_section_of_its_sentence_where_the_document_has_any() -> None:
    within = hit("The crew is ten. REFUNDS Money comes back.", page=2, start=100, section="Crew")
    sections = tuple(Section(title, 1, page, start) for title, page, start in [
        ("Crew", 1, 40), ("Part two", 2, 117), ("Refunds", 2, 117), ("Parking", 2, 150), ("Boats", 3, 0)
    ])  # fmt: skip
    known = replace(within, document=replace(within.document, sections=sections))
    assert [citation(1, known, start, start + 10, "x").section for start in (100, 125)] == ["Crew", "Refunds"]
    assert citation(1, within, 125, 135, "x").section == "Crew"


def test_best_of_nothing() -> None:
    assert Passages(()).best("x", 1) is None
    assert Passages((hit("   "),)).best("x", 1) is None
    assert Passages((STAFF,)).best("Anna leads", 0) is None
