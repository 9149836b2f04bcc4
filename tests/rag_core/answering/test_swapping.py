"""A phrase in the place of the nearest one, with the real embedding model."""

from __future__ import annotations

import pytest

from rag_core.answering.swapping import swapped_phrase
from rag_core.embedding import Embedder

FARE = "What does an adult pay to Tolsund?"


@pytest.mark.parametrize(
    ("previous", "phrase", "wanted"),
    [
        (FARE, "a child?", "What does a child pay to Tolsund?"),
        (FARE, "to Skarvey?", "What does an adult pay to Skarvey?"),
        ("What is the entrance fee for cats?", "for dogs?", "What is the entrance fee for dogs?"),
        ("When is the museum open on weekdays?", "weekends?", "When is the museum open on weekends?"),
        ("When does the first ferry leave in summer?", "in winter?", "When does the first ferry leave in winter?"),
        ("When does the first ferry leave in summer?", "the last ferry?", "When does the last ferry leave in summer?"),
        ("How much does the black model weigh?", "the white one?", "How much does the white model weigh?"),
        ("What salary does a nurse earn?", "a doctor?", "What salary does a doctor earn?"),
        ("How much from Aldhaven to Tolsund?", "from Little Marn?", "How much from Little Marn to Tolsund?"),
        (FARE, "in the first half year?", ""),  # nothing there is led by the same word
        (FARE, "how thick is its wall?", ""),
        (FARE, "since when?", ""),
        ("¿?", "a child?", ""),
        (f"{'Ships sail. ' * 30}{FARE}", "a child?", ""),  # too much to look through
    ],
)
def test_swapped(real_embedder: Embedder, previous: str, phrase: str, wanted: str) -> None:
    assert swapped_phrase(phrase, previous, real_embedder.encode) == wanted
