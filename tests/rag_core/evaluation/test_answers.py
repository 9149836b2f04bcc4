"""Answer metrics: equal to SQuAD's script and to rouge-score, and put together for one question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_core.domain import Found, Gold, Question, Result, Sentence
from rag_core.evaluation.measuring.answers import (
    ANSWER_KEYS,
    answer_metrics,
    contains,
    exact_match,
    normalised,
    not_latin,
    relevance,
    rouge,
    similarity,
    token_scores,
)
from tests.rag_core.answering.parts import encode

NEAR = pytest.approx
PIECES = "the a an The ferry Ferry runs at 7 7.30 o'clock café naïve Über straße don't — ... !? A.M. x_y 1,200 €5"
LATIN = st.lists(st.sampled_from(PIECES.split()), max_size=12).map(" ".join)
ANY = (
    LATIN | st.text(max_size=30) | st.sampled_from(["", " ", "the", "a, an; the!", "...", "Η Αθήνα", "北京", "\u0130x"])
)


@pytest.fixture(scope="module")
def squad() -> Any:
    from transformers.data.metrics import squad_metrics

    return squad_metrics


@settings(max_examples=400, deadline=None)
@given(prediction=ANY, references=st.lists(ANY, max_size=4))
@example(prediction="", references=[])
@example(prediction="", references=[""])
@example(prediction="The", references=["a"])
@example(prediction="?!", references=["ferry"])
def test_equal_to_the_script_of_squad(squad: Any, prediction: str, references: list[str]) -> None:
    question = SimpleNamespace(qas_id="q", answers=[{"text": text} for text in references])
    exact, f1 = squad.get_raw_scores([question], {"q": prediction})
    assert normalised(prediction) == squad.normalize_answer(prediction)
    assert exact_match(prediction, references) == exact["q"]
    precision, recall, both = token_scores(prediction, references)
    assert both == NEAR(f1["q"], abs=1e-9)
    assert both == NEAR(2 * precision * recall / (precision + recall) if both else 0, abs=1e-9)


@pytest.fixture(scope="module")
def scorer() -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rouge1", "rouge2", "rougeL"])


@settings(max_examples=300, deadline=None)
@given(prediction=ANY, references=st.lists(LATIN, min_size=1, max_size=4))
@example(prediction="", references=[""])
@example(prediction="", references=["the ferry"])
@example(prediction="the the the", references=["the"])
@example(prediction="Η Αθήνα", references=["Athens (Αθήνα)"])
def test_equal_to_rouge_score(scorer: Any, prediction: str, references: list[str]) -> None:
    scores = scorer.score_multi(references, prediction)
    wanted = tuple(scores[kind].fmeasure for kind in ("rouge1", "rouge2", "rougeL"))
    assert rouge(prediction, references) == NEAR(wanted, abs=1e-9)


def test_rouge_in_other_alphabets() -> None:
    assert rouge("Η Αθήνα είναι πρωτεύουσα", ["Η Αθήνα είναι πρωτεύουσα"]) == (1.0, 1.0, 1.0)
    assert rouge("Αθήνα", ["Η Αθήνα"]) == NEAR((2 / 3, 0, 2 / 3))
    assert rouge("首都は東京です", ["東京"]) == NEAR((4 / 9, 2 / 7, 4 / 9))
    assert rouge("the capital is 北京", ["北京"]) == NEAR((4 / 7, 2 / 5, 4 / 7))
    assert rouge("Paris", ["Η Αθήνα"]) == (0.0, 0.0, 0.0)
    assert rouge("anything", []) == (0.0, 0.0, 0.0)


def test_which_texts_have_no_latin_letters() -> None:
    assert [not_latin(text) for text in ("Η Αθήνα", "北京", "東京 2020")] == [True, True, True]
    assert [not_latin(text) for text in ("Öl", "é", "2020", "", "!?", "Αθήνα (Athens)")] == [False] * 6


@pytest.mark.parametrize(
    ("prediction", "reference", "held"),
    [
        ("The ferry runs at 7 o'clock.", "7 o'clock", True),
        ("The ferry runs at seven.", "The  FERRY", True),
        ("In 2012 it closed.", "12", False),
        ("in", "inn", False),
        ("It rose to 480,000.", "480000", True),
        ("It says “Berger” there", "Berger", True),
        ("首都は東京です", "東京", True),
        ("anything", "", False),
        ("", "", True),
        ("the", "", True),
        ("", "ferry", False),
        ("it costs € 5", "€", True),
        ("it costs 5", "€", False),
        ("La cafe\u0301 noir", "caf\u00e9", True),
    ],
)
def test_a_reference_stands_in_the_answer(prediction: str, reference: str, held: bool) -> None:
    assert contains(prediction, ["no such words", reference] if reference else [reference]) == float(held)


def test_meanings() -> None:
    assert similarity("ferry timetable", ["tea", "ferry timetable"], encode) == NEAR(1.0)
    assert similarity("ferry timetable", ["tea"], encode) < 0.1
    assert similarity("", ["tea"], encode) == 0.0
    assert similarity("tea", [], encode) == similarity("tea", ["", " "], encode) == 0.0
    assert relevance("When does the ferry run?", "The ferry runs at 7.", encode) > 0.5
    assert relevance("When?", "", encode) == 0.0


def test_a_cosine_is_a_share() -> None:
    def opposite(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[1, 0], [-1, 0]], dtype=np.float32)

    def broken(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.full((len(texts), 2), np.nan, dtype=np.float32)

    assert similarity("a", ["b"], opposite) == 0.0
    assert similarity("a", ["b"], broken) == 0.0


FOUND = (
    Found(1, "d", "Tea", 1, "1", 0, 9, "Tea grows", 0.9, relevant=False),
    Found(2, "d", "Ferry", 2, "2", 0, 20, "The ferry runs at 7.", 0.8, relevant=True, gold=(0,)),
)
QUESTION = Question("1", "When does the ferry run?", references=("at 7", "seven"), gold=(Gold("Ferry", 2),))
ANSWERED = Result(
    QUESTION,
    FOUND,
    answer="The ferry runs at 7 [2]. Tea is hot [1].",
    sentences=(Sentence("The ferry runs at 7.", (2,)), Sentence("Tea is hot.", (1,), supported=False)),
    abstained=False,
    confidence=0.8,
)
ABSTAINED = replace(ANSWERED, answer="I could not find this in your documents.", sentences=(), abstained=True)
NO_ANSWER = Question("2", "Who is the king?", answerable=False)


def test_an_answer() -> None:
    metrics = answer_metrics(ANSWERED, encode)
    assert list(metrics) == list(ANSWER_KEYS)
    text = "The ferry runs at 7. Tea is hot."
    assert (metrics["correct"], metrics["contains"], metrics["exact_match"], metrics["abstention"]) == (1, 1, 0, 1)
    words = [metrics[key] for key in ("token_precision", "token_recall", "token_f1")]
    assert words == NEAR([*token_scores(text, QUESTION.references)])
    assert (metrics["rouge_1"], metrics["rouge_2"], metrics["rouge_l"]) == NEAR(rouge(text, QUESTION.references))
    assert metrics["similarity"] == NEAR(similarity(text, QUESTION.references, encode), abs=1e-6)
    assert metrics["relevance"] == NEAR(relevance(QUESTION.text, text, encode), abs=1e-6)
    assert metrics["faithfulness"] == 0.5


def test_an_abstention_where_there_is_an_answer() -> None:
    metrics = answer_metrics(ABSTAINED, encode)
    assert metrics.pop("faithfulness") is None
    assert metrics == dict.fromkeys(metrics, 0.0)


def test_an_abstention_where_there_is_none() -> None:
    metrics = answer_metrics(replace(ABSTAINED, question=NO_ANSWER), encode)
    right = {"correct", "abstention", "contains", "exact_match", "token_precision", "token_recall", "token_f1"}
    assert metrics == {key: 1.0 if key in right else None for key in ANSWER_KEYS}


def test_an_answer_where_there_is_none() -> None:
    metrics = answer_metrics(replace(ANSWERED, question=NO_ANSWER), encode)
    wrong = {"correct", "abstention", "contains", "exact_match", "token_precision", "token_recall", "token_f1"}
    assert metrics == {key: 0.0 if key in wrong else None for key in ANSWER_KEYS} | {"faithfulness": 0.5}


def test_an_empty_answer_is_wrong() -> None:
    metrics = answer_metrics(replace(ANSWERED, answer=" [1]", sentences=()), encode)
    assert (metrics["correct"], metrics["similarity"], metrics["relevance"], metrics["faithfulness"]) == (0, 0, 0, None)


def test_gold_alone_judges_by_the_passages_cited() -> None:
    question = replace(QUESTION, references=())
    wrong = (Sentence("Tea is hot.", (1,)),)
    assert answer_metrics(replace(ANSWERED, question=question), encode)["correct"] == 1
    assert answer_metrics(replace(ANSWERED, question=question, sentences=wrong), encode)["correct"] == 0
    assert answer_metrics(replace(ABSTAINED, question=question, sentences=ANSWERED.sentences), encode)["correct"] == 0
    assert answer_metrics(replace(ANSWERED, question=question, found=()), encode)["correct"] == 0
    assert answer_metrics(replace(ANSWERED, question=question), encode)["exact_match"] is None


def test_gold_that_is_not_in_the_library_judges_nothing() -> None:
    question, unknown = replace(QUESTION, references=()), tuple(replace(one, relevant=None) for one in FOUND)
    assert answer_metrics(replace(ANSWERED, question=question, found=unknown), encode)["correct"] is None


@pytest.mark.parametrize("references", [(), ("the",), ("", "?!")])
def test_nothing_known_says_nothing(references: tuple[str, ...]) -> None:
    metrics = answer_metrics(replace(ANSWERED, question=Question("3", "Why?", references)), encode)
    assert {key for key, value in metrics.items() if value is not None} == {"abstention", "relevance", "faithfulness"}


@pytest.mark.parametrize("result", [replace(ANSWERED, error="no model"), Result(QUESTION, FOUND)])
def test_no_answer_made(result: Result) -> None:
    def never(texts: Sequence[str]) -> NDArray[np.float32]:
        raise AssertionError("nothing to embed")

    assert answer_metrics(result, never) == dict.fromkeys(ANSWER_KEYS)


def test_accents_in_one_piece_or_two_are_equal() -> None:
    question = Question("4", "Drink?", ("caf\u00e9",))
    assert answer_metrics(replace(ANSWERED, question=question, answer="cafe\u0301 [1]"), encode)["exact_match"] == 1
