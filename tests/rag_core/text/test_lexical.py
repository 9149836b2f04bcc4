"""Words, stems, numbers, BM25 and answer types."""

from __future__ import annotations

import math

import pytest

from rag_core.generation.cues import answer_type, holds_answer
from rag_core.text.lexical import Bm25, coverage, normalise_number, numbers, stem, terms, words


@pytest.mark.parametrize(
    "forms",
    [
        ("plant", "plants", "planted", "planting"),
        ("study", "studies", "studied"),
        ("class", "classes"),
        ("invest", "invested", "investing", "investment", "investments"),
        ("run", "running"),
        ("company", "companies"),
    ],
)
def test_forms_of_a_word_share_a_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize(("one", "other"), [("policy", "police"), ("bus", "business")])
def test_other_words_do_not(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1,200.50", "1200.5"),
        ("480", "480"),
        ("3,5", "3.5"),
        ("007", "7"),
        ("0", "0"),
        ("1,234,567", "1234567"),
        ("12.", "12"),
    ],
)
def test_one_spelling_of_numbers(text: str, wanted: str) -> None:
    assert normalise_number(text) == wanted


def test_numbers_in_figures_and_words() -> None:
    assert numbers("Twelve of 1,200 in 2018, i.e. 1.0 %") == {"12", "1200", "2018", "1"}


def test_terms_leave_function_words_out() -> None:
    assert terms("What were the sales of the plants in 2018?") == [stem("sales"), "plant", "2018"]
    assert terms("experi-\nence") == terms("experience")
    assert terms("日本語 text") == ["日", "本", "語", "text"]
    assert words("Don’t STOP") == ["don", "t", "stop"]
    assert coverage(["a", "a", "b"], ["a"]) == 0.5
    assert coverage([], ["a"]) == 1


def test_bm25_by_hand() -> None:
    texts = [["a", "b"], ["a", "a", "c", "d"], ["e", "f"]]
    engine = Bm25(texts)
    idf = math.log(1 + (3 - 1 + 0.5) / 1.5)
    norm = 0.9 * (1 - 0.4 + 0.4 * 2 / (8 / 3))
    assert engine.scores(["b"])[0] == pytest.approx(idf * 1.9 / (1 + norm) / (idf * 1.9))
    assert engine.scores(["b"])[1:] == [0, 0]
    assert engine.scores(["a"])[0] > 0
    assert engine.scores([]) == [0, 0, 0]
    assert Bm25([]).scores(["a"]) == []


@pytest.mark.parametrize(
    ("question", "kind", "yes", "no"),
    [
        ("When was it built?", "date", "It was built in 1885.", "It was built of stone."),
        ("In what year did he die?", "date", "He died in May.", "He died at home."),
        ("How many plants are there?", "number", "There are twelve plants.", "There are plants."),
        ("Who leads the board?", "name", "The board is led by Anna Berger.", "the board is led well."),
        ("Where is the plant?", "place", "The plant is in Lyon.", "the plant is old."),
        ("Why did sales fall?", "reason", "They fell because of rain.", "They fell by ten."),
        ("How much money did it cost?", "money", "It cost $ 5.", "It cost much."),
        ("What percentage was lost?", "percent", "Some 5 % was lost.", "Some was lost."),
        ("What is photosynthesis?", "definition", "Photosynthesis is a process.", "Plants grow."),
    ],
)
def test_kinds_of_answer(question: str, kind: str, yes: str, no: str) -> None:
    assert answer_type(question) == kind
    assert holds_answer(answer_type(question), yes)
    assert not holds_answer(answer_type(question), no)


def test_other_questions_ask_for_anything() -> None:
    assert answer_type("Describe the process of making tea in detail") == "other"
    assert holds_answer("other", "")
