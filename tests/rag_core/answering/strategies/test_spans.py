"""Sentences and rows with what they lean on."""

from __future__ import annotations

from dataclasses import replace

from rag_core.answering.passages import merge_hits, quotes
from rag_core.answering.strategies.spans import Unit, stands_alone, units
from rag_core.domain import Section
from tests.rag_core.answering.parts import hit

TABLE = """Segments
The following table shows information by segment (in millions):
2020 2019 2018
Americas:
Net sales $ 124,556 $ 116,914 $ 112,093
Operating income $ 37,722 $ 35,099 $ 34,864
Greater China:
Net sales $ 40,308 $ 43,678 $ 51,942
Operating income $ 15,261 $ 16,232 $ 19,742
The Company has offices in many places. It owns most of them."""


def read(text: str) -> tuple[list[str], dict[str, Unit]]:
    every = quotes(merge_hits([hit(text)]))
    return [quote.text for quote in every], {unit.quote.text: unit for unit in units(every)}


def test_a_row_leans_on_its_head_and_its_group() -> None:
    texts, found = read(TABLE)
    row = found["Operating income $ 15,261 $ 16,232 $ 19,742"]
    near = [texts[place] for place in row.near]
    assert any(text.endswith("2020 2019 2018") for text in near)
    assert "Greater China:" in near
    assert row.group is not None
    assert texts[row.group] == "Greater China:"
    assert row.tabular


def test_a_sentence_leans_on_the_one_before_only_where_it_points_back() -> None:
    texts, found = read(TABLE)
    leaning, plain = found["It owns most of them."], found["The Company has offices in many places."]
    assert texts[leaning.near[0]] == plain.quote.text
    assert "2020 2019 2018" not in [texts[place] for place in plain.near]
    assert not leaning.tabular


def test_a_sentence_leans_on_the_question_before_it() -> None:
    texts, found = read("Those in favour? Seven. Against? Two of them. The bridge stays closed.")
    assert [texts[place] for place in found["Seven."].near] == ["Those in favour?"]
    assert [texts[place] for place in found["Two of them."].near] == ["Against?"]
    assert found["The bridge stays closed."].near == ()


def test_what_a_named_item_says_leans_on_its_name() -> None:
    texts, found = read("1. Minutes were approved.\n2. Water. The pump failed. Ann got two offers.\nBo left.")
    assert list(found) == ["1. Minutes were approved.", "2. Water. The pump failed.", "Ann got two offers.", "Bo left."]
    assert [texts[place] for place in found["Ann got two offers."].near] == ["2. Water. The pump failed."]
    assert found["Bo left."].near == ()


def test_headings_are_no_units() -> None:
    assert "Segments" not in read(TABLE)[1]
    assert units([]) == []


def test_the_foot_of_a_page_is_no_unit() -> None:
    text = "Net sales rose by a tenth in the year.\n\nAnnual Report | 2020 Form | 27"
    every = quotes(merge_hits([hit(text, document="annual report 2020")]))
    assert [unit.quote.text for unit in units(every)] == ["Net sales rose by a tenth in the year."]


def test_a_line_of_heads_answers_nothing() -> None:
    _, found = read(
        "Our taxes for 2020, 2019 and 2018 were as follows: 2020 2019 2018\nEffective tax rate 14.4 % 15.9 % 18.3 %"
    )
    assert list(found) == ["Effective tax rate 14.4 % 15.9 % 18.3 %"]


def test_what_stands_alone() -> None:
    text = (
        "# About this book\nIt was made for crews.\n\n1. What was foretold\n\nVeyra Harbour office 12\n"
        "| Fare | 2023 | 2024 |\n|---|---|---|\n| Adult | 12.40 | 15.80 |\n"
    )
    every = quotes(merge_hits([hit(text)]))
    assert [quote.text for quote in every if stands_alone(quote)] == [
        "It was made for crews.", "Adult | 12.40 | 15.80",
    ]  # fmt: skip


def test_a_label_with_what_it_says_stands_alone() -> None:
    assert [
        quote.text for quote in quotes(merge_hits([hit("Apologies: Bernard Quill\n\nPresent:")])) if stands_alone(quote)
    ] == ["Apologies: Bernard Quill"]


LANGUAGES = "## Languages\nIgbo and English (native), Dutch (C1)\n\n## Other\nShe plays the piano."


def test_a_short_line_is_no_heading_where_a_document_marks_its_own() -> None:
    """One of capitals and no full stop looks like one: "Languages" has it below, as it stands."""
    made = hit(LANGUAGES)
    sections = (Section("Languages", 2, 1), Section("Other", 2, 1, 52))
    marked = replace(made, document=replace(made.document, media_type="text/markdown", sections=sections))
    line = "Igbo and English (native), Dutch (C1)"
    assert {quote.text: quote.kind for quote in quotes(merge_hits([made]))}[line] == "heading"
    found = {quote.text: quote.kind for quote in quotes(merge_hits([marked]))}
    assert (found[line], found["Languages"], found["Other"]) == ("fragment", "heading", "heading")


GOALS = """Table as of 12 April 2025
No	Team	Goals	Next match
1	HC Penmoor	548	3 May 2025
2	Wexcombe Wolves	521	4 May 2025
4	Reserves	none	none
3	Tallis Town	498	2 May 2025"""


def test_rows_of_words_and_of_dates_stay_in_their_table() -> None:
    texts, found = read(GOALS)
    heads = {tuple(texts[place] for place in unit.head) for text, unit in found.items() if text[0] in "123"}
    assert len(heads) == 1
    assert "Team" in " ".join(*heads)
    assert all(unit.group is None for unit in found.values())


def test_a_head_that_stands_there_again_answers_nothing() -> None:
    head = GOALS.split("\n")[1]
    _, found = read(f"{GOALS}\n{head}\n5\tPort Elma\t475\t1 May 2025")
    assert not any("Team" in text for text in found)


def test_a_row_is_nobodys_head() -> None:
    texts, found = read("Fares\nAdult\t12.40\nChild\t6.20\n\nDogs travel free\n\nTolsund\t15.80\nAldhaven\t9.10")
    assert not any("12.40" in texts[place] for unit in found.values() for place in unit.head)
