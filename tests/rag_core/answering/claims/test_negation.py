"""What a text denies."""

from __future__ import annotations

import pytest

from rag_core.answering.claims.negation import negations


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("The ship does not sail today.", ["sail", "today"]),
        ("It takes no less than six tonnes.", []),
        ("Data include, without limitation, your address.", []),
        ("The patents are invalid.", ["invalid"]),
        ("The ship sails.", []),
    ],
)
def test_negations(text: str, denied: list[str]) -> None:
    found = negations(text, {"valid"})
    assert {text[start:end] for one in found for start, end in one} == set(denied)
