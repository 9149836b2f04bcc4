"""Search terms of texts and of questions, the places where they stand, and how fast they are made."""

from __future__ import annotations

import time

import pytest

from rag_core.text.stems import stem
from rag_core.text.terms import coverage, query_terms, spans, terms


def test_terms_leave_function_words_out() -> None:
    assert terms("What were the sales of the plants in 2018?") == [stem("sales"), "plant", "2018"]
    assert terms("experi-\nence") == terms("experience")
    assert terms("Welche Pläne hat der Verein?", "de") == ["plan", "verein"]
    assert terms("twelve plants") == ["12", "plant"]
    assert terms("twelve", "de") != ["12"]
    assert terms("") == terms("the of a") == []


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("Form 10-K", "form 10K", "en"),
        ("1,577 units", "1577 unit", "en"),
        ("1.577 Stück", "1577 Stück", "de"),
        ("§ 4.2", "§4.2", "en"),
        ("3.50 %", "3.5%", "en"),
        ("3,5 %", "3.5%", "de"),
        ("naïve cafés", "naive cafes", "en"),
        ("Groesse", "Größe", "de"),
        ("ＡＰＰＬＥ ﬁne", "apple fine", "en"),
    ],
)
def test_spellings_of_one_thing(one: str, other: str, language: str) -> None:
    assert terms(one, language) == terms(other, language)


def test_codes_come_with_their_parts() -> None:
    assert terms("the A320-200") == ["a320200", "320", "200"]
    assert terms("日本") == ["日", "日本", "本"]


def test_a_long_run_has_terms() -> None:
    assert terms("漢" * 100).count("漢漢") == 99


def test_a_question_is_cut_for_every_language_of_the_library() -> None:
    question = "Which meetings cost 1.577?"
    assert query_terms(question, ["en"]) == [{"meet"}, {"cost"}, {"1.577"}]
    both = query_terms(question, ["en", "de"])
    assert both[0] == {"meet", "meeting"}
    assert both[2] == {"1.577", "1577"}
    assert query_terms(question, []) == query_terms(question, ["en"])
    assert query_terms("plants, plants and the plant", ["en"]) == [{"plant"}]


def test_function_words_are_those_of_the_question() -> None:
    german = query_terms("Was kostet die Karte für das Museum?", ["en", "de"])
    assert not any({"die", "das", "für", "fur"} & forms for forms in german)
    assert any("museum" in forms for forms in german)
    english = query_terms("Where did he die in the war?", ["en", "de"])
    assert {"die"} <= english[0]


def test_accents_left_out_of_a_question() -> None:
    held = set(terms("La sequía en la guardería de Cancún", "es"))
    assert all(forms & held for forms in query_terms("sequia guarderia cancun", ["es"]))


def test_compounds_of_a_question() -> None:
    held = set(terms("Die Pumpen im Keller laufen", "de"))
    wanted = query_terms("Wann laufen die Kellerpumpen?", ["de"], held.__contains__)
    assert {"kell"} in wanted
    assert {"pump"} in wanted
    assert {"kell"} not in query_terms("Wann laufen die Kellerpumpen?", ["de"])


def test_where_terms_stand() -> None:
    text = "The planted trees; a 10-K, plants."
    assert [text[a:b] for a, b in spans(text, {"plant", "10k", "10"})] == ["planted", "10-K", "plants"]
    assert [("日本語版")[a:b] for a, b in spans("日本語版", {"日本", "本語"})] == ["日本語"]
    assert spans(text, set()) == []


def test_coverage() -> None:
    assert coverage(["a", "a", "b"], ["a"]) == 0.5
    assert coverage([], ["a"]) == 1


def test_a_long_document_takes_well_under_a_second() -> None:
    text = " ".join(
        f"Net sales of product{i % 3000} rose 3.{i % 10}% to $1,{i % 900 + 100} million." for i in range(5_000)
    )
    begun = time.perf_counter()
    assert len(terms(text)) > 30_000
    assert time.perf_counter() - begun < 2
