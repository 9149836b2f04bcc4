"""What asks nothing of the documents, with the real embedding model."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_core.answering.strategies.courtesy import Courtesy
from rag_core.domain import COURTESY, Answer, Message
from rag_core.embedding import Embedder
from tests.rag_core.answering.test_conversation import message


@pytest.fixture(scope="module")
def courtesy(real_embedder: Embedder) -> Courtesy:
    return Courtesy(real_embedder.encode)


@pytest.mark.parametrize(
    ("said", "begins"),
    [
        ("Hello!", "Hello."),
        ("thanks", "You are welcome."),
        ("Thank you so much", "You are welcome."),
        ("bye bye", "Goodbye."),
        ("What can you do", "I answer questions"),
        ("how do I add a document", "Add documents"),
        ("upload a file", "Add documents"),
        ("do you store my files in the cloud?", "Your documents"),
        ("Is my data sent anywhere?", "Your documents"),
        ("Delete this conversation, please", "I only answer questions. New conversation"),
        ("export this", "I only answer"),
        ("clear the chat", "I only answer"),
        ("neue Unterhaltung", "I only answer"),
    ],
)
def test_each_gets_its_line(courtesy: Courtesy, said: str, begins: str) -> None:
    assert courtesy.reply(said).startswith(begins)


@pytest.mark.parametrize(
    "question",
    [
        "And the hotel?", "Why?", "how much?", "hello, what is the fare to Tolsund?", "Thanks, and for children?",
        "who runs merchandising at Costco?", "What does the handbook help with?", "word " * 20,
        "What did the country export?", "How do I delete a customer's data?", "Who can see my personal data?",
        "If my data is shared, will they allow me to control my privacy?", "Do you share my data with third parties?",
    ],
)  # fmt: skip
def test_questions_of_documents_are_searched(courtesy: Courtesy, question: str) -> None:
    assert courtesy.reply(question) == ""


def test_examples_are_encoded_again_when_the_model_changes() -> None:
    axis, calls = 0, 0

    def encode(texts: object) -> NDArray[np.float32]:
        nonlocal calls
        calls += 1
        rows = np.zeros((len(list(texts)), 4), dtype=np.float32)  # type: ignore[call-overload]
        rows[:, axis] = 1
        return rows

    courtesy = Courtesy(encode)
    assert courtesy.reply("hi")
    assert courtesy.reply("hi")
    assert calls == 3
    axis = 1
    courtesy.reply("hi")
    assert calls == 5


def test_a_conversation_without_what_was_said_in_courtesy(courtesy: Courtesy) -> None:
    thanked = Answer("thanks", "You are welcome.", (), (), (), 1.0, False, COURTESY)
    before = message("Who leads Acme?")
    polite = Message("n", "thanks", before.created_at, thanked)
    elsewhere, stopped = message("hello", courtesy.reply("hello")), message("Who leads Dell?", "")
    assert courtesy.asked([elsewhere, before, polite, stopped]) == (before, stopped)
