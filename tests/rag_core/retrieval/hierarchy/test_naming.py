"""Clusters named by their words."""

from __future__ import annotations

from rag_core.retrieval.hierarchy.naming import MOST_TERMS, count_words, name, together, weigh
from rag_core.text.stems import stem

TAX = ["Deferred taxes and the provision for income taxes.", "The company was taxed on its income."]
SEA = ["The harbour master closed the harbour.", "The company moved its ferries out of the harbour."]


def test_function_words_and_numbers_name_nothing() -> None:
    assert count_words(["The 12 boats of 1967 are in it, ok."]) == {"boats": 1}


def test_what_is_frequent_here_and_rare_elsewhere_comes_first() -> None:
    names = name([count_words(TAX), count_words(SEA)])
    assert names[0][:2] == ("taxes", "income")
    assert names[1][0] == "harbour"
    assert all(len(some) <= MOST_TERMS for some in names)


def test_forms_of_a_word_count_together() -> None:
    assert sum(word.startswith("tax") for word in name([count_words(TAX), count_words(SEA)])[0]) == 1


def test_a_word_of_every_class_weighs_less() -> None:
    weights = weigh([count_words([*TAX, *TAX]), count_words(["company harbour " * 4])])
    assert weights[1][stem("company")] < weights[1][stem("harbour")]


def test_a_long_document_says_no_more_than_a_short_one() -> None:
    long, short, other = count_words(["engine boiler " * 500]), count_words(["harbour harbour ferry"]), count_words(TAX)
    (named, _) = name([together([long, short, short]), together([other])])
    assert named[0] == "harbour"
    assert together([{"once": 1, "often": 100_000}])["once"] == 1
    assert together([{}]) == {}


def test_the_document_that_fits_least_does_not_name_the_others() -> None:
    ferries, others = count_words(["ferry harbour crew"]), count_words(["ferry harbour mast"])
    assert together([ferries, others, count_words(["tax tax tax ferry"])]).keys() == {"ferry", "harbour"}
    assert together([ferries, count_words(TAX)]), "no word is shared"


def test_one_class_is_named_by_what_is_frequent() -> None:
    assert name([count_words(SEA)])[0][0] == "harbour"


def test_no_words_no_names() -> None:
    assert name([count_words([]), count_words(["1 2 3"])]) == [(), ()]
    assert name([]) == []


def test_other_scripts_have_names() -> None:
    assert name([count_words(["東京 猫 東京"])])[0] == ("東京",)
    assert name([count_words(["Налог на прибыль и налог на землю"])])[0][0] == "налог"
