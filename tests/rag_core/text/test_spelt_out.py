from __future__ import annotations

import pytest

from rag_core.text.acronyms import abbreviations, spelt_out


@pytest.mark.parametrize(
    ("text", "short", "said"),
    [
        ("We call this the Self-Taught Reasoner (STaR), which learns.", "STaR", ["Self-Taught Reasoner"]),
        ("STaR: Self-Taught Reasoner\nBootstrapping Reasoning", "STaR", ["Self-Taught Reasoner"]),
        ("Uses artificial intelligence (AI) and AI again.", "AI", ["artificial intelligence"]),
        ("AI: Artificial Intelligence is", "AI", ["Artificial Intelligence"]),
        ("Die Allgemeinen Geschäftsbedingungen („AGB“) gelten.", "AGB", []),
        ("Die DB (Deutsche Bahn) fährt.", "DB", ["Deutsche Bahn"]),
        ("The MOU stands for the Memorandum of Understanding.", "MOU", []),
        ("MOU - Memorandum of Understanding", "MOU", ["Memorandum of Understanding"]),
        ("Natural Language Processing, NLP, is old.", "NLP", []),
        ("The index (see STaR) is none.", "STaR", []),
        ("A random-access memory (RAM; 4 GB)", "RAM", ["random-access memory"]),
        ("PTO: 27 days", "PTO", []),
        ("ZeRO: Zero is best", "ZeRO", []),
    ],
)
def test_what_an_abbreviation_stands_for(text: str, short: str, said: list[str]) -> None:
    assert [text[start:end] for start, end in spelt_out(short, text)] == said


def test_abbreviations_have_two_capitals() -> None:
    assert abbreviations("What does STaR or an MOU stand for in Bern, I ask?") == ["STaR", "MOU"]
