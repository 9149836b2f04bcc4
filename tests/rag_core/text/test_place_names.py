"""Places as people name them, and the numbers that lines begin with."""

from __future__ import annotations

import time

import pytest

from rag_core.text.place_names import is_mentioned, is_same, numbered_lines, place_in


@pytest.mark.parametrize(
    ("question", "kind", "labels"),
    [
        ("What is on page 7?", "page", ("7",)),
        ("pp. 3-5", "page", ("3", "4", "5")),
        ("from page 3 to page 5", "page", ("3", "4", "5")),
        ("pages 3, 5 and 9", "page", ("3", "5", "9")),
        ("page iv of the lease", "page", ("iv",)),
        ("page 3 of 10", "page", ("3",)),
        ("the first page", "page", ("1",)),
        ("Was steht auf Seite 7?", "page", ("7",)),
        ("clauses 4.1-4.3", "section", ("4.1", "4.2", "4.3")),
        ("§4 Abs. 2", "section", ("4",)),
        ("Item 1A", "section", ("1A",)),
        ("chapter three", "section", ("3",)),
        ("Fig. 3a on page 2", "figure", ("3a",)),
        ("appendix b", "appendix", ("b",)),
    ],
)
def test_a_place_is_found(question: str, kind: str, labels: tuple[str, ...]) -> None:
    place = place_in(question)
    assert place is not None
    assert (place.kind, place.labels) == (kind, labels)


@pytest.mark.parametrize(
    "question",
    [
        "How many pages does a passport have?",
        "which section of the market grew",
        "What is step-up rent?",
        "page turner",
        "Which page did he write?",
        "the page I read",
        "the table a friend made",
        "U.S. 5",
        "figure out 3",
        "What is Rule Forty-two?",
    ],
)
def test_words_alone_are_no_place(question: str) -> None:
    assert place_in(question) is None


def test_what_is_asked_of_it_stays() -> None:
    cases = {
        "What deposit does clause 4.2 ask for?": "What deposit does it ask for?",
        "According to section 3, who pays?": "who pays?",
        "Who pays under clause 7?": "Who pays?",
    }
    for question, about in cases.items():
        place = place_in(question)
        assert place is not None
        assert place.about == about


def test_lines_and_labels() -> None:
    text = "4. Liability\n14 November\n4.2\t5.3\n4.2 %\n  (b) a mast\nArticle IV\n## 3. Rent\nplain words"
    found = [(line.word, line.label, line.indent) for line in numbered_lines(text) if not line.plain]
    assert found == [("", "4", 0), ("", "b", 2), ("Article", "IV", 0), ("", "3", 0)]
    assert is_same("IV", "4")
    assert is_same("b", "B")
    assert not is_same("4.2", "4")
    place = place_in("section 4")
    assert place is not None
    assert is_mentioned(place, "as sec. 4 says")
    assert not is_mentioned(place, "as section 4.2 says")


@pytest.mark.parametrize("run", ["#", " ", "* ", "4.", "i", "\t", "(", "section ", "page 1, ", "1 to ", "§"])
def test_long_runs_take_no_longer_than_their_length(run: str) -> None:
    text = run * (100_000 // len(run))
    began = time.perf_counter()
    list(numbered_lines(text))
    place_in(text[:20_000])
    assert time.perf_counter() - began < 2
