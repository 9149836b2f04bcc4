"""Words of a question found in sentences."""

from __future__ import annotations

import numpy as np
import pytest

from rag_core.answering.encoding import Encoder
from rag_core.answering.matching import Matches, content_words, matched
from rag_core.answering.passages import merge_hits, quotes
from tests.rag_core.answering.parts import hit

TEXT = "The ferry costs 12 crowns in 2019. The captain is Anna Berger. Boats leave at noon."


def match(question: str, real_encoder: Encoder) -> Matches:
    passages = merge_hits([hit(TEXT, section="Fares")])
    return matched(question, passages, quotes(passages), real_encoder.tokens)


def test_content_words_are_names_numbers_and_others() -> None:
    words = content_words("What did Anna Berger pay in 2019?")
    assert [word.text for word in words] == ["Anna", "Berger", "pay", "2019"]
    assert [word.is_name for word in words] == [True, True, False, False]
    assert [word.is_number for word in words] == [False, False, False, True]


def test_the_same_stem_is_a_whole_match_and_a_like_word_a_good_one(real_encoder: Encoder) -> None:
    found = match("ferries ships", real_encoder)
    assert found.own[0, 0] == 1
    assert found.own[2, 1] > found.own[1, 1]


def test_another_figure_is_no_match(real_encoder: Encoder) -> None:
    found = match("fare in 2018", real_encoder)
    assert found.own[:, 1].max() <= 0.5
    assert match("fare in 2019", real_encoder).own[0, 1] == 1


def test_title_and_section_are_the_prefix(real_encoder: Encoder) -> None:
    found = match("report fares", real_encoder)
    assert found.prefix[0].tolist() == [1, 1]


def test_shapes_without_any_content_word(real_encoder: Encoder) -> None:
    found = match("What is it?", real_encoder)
    assert found.own.shape == (3, 0)
    assert found.nearness.shape == found.asked.shape == (3,)


@pytest.mark.parametrize("question", ["Who is the captain?", "captain"])
def test_the_nearest_sentence_is_the_one_about_it(question: str, real_encoder: Encoder) -> None:
    assert int(np.argmax(match(question, real_encoder).own.mean(axis=1))) == 1


@pytest.mark.parametrize("day", ["6 May", "May 6th", "6. Mai", "06.05.2025"])
def test_a_day_is_one_word_and_met_in_any_form(day: str, real_encoder: Encoder) -> None:
    passages = merge_hits([hit("Gates close at 6 pm. On 6 May 2025 the train goes to Sintra. On 8 May all may rest.")])
    found = matched(f"What is planned for {day}?", passages, quotes(passages), real_encoder.tokens)
    assert [word.text for word in found.words] == ["planned", day]
    assert found.own[1, 1] == 1
    assert found.own[[0, 2], 1].max() <= 0.5
