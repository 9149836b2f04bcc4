"""Questions of names in source code, through the texts_library."""

from __future__ import annotations

import pytest

from rag_core import Library

TEXTS = {
    "tides.py": '''"""Tides of a harbour."""

MAX_GATES = 6  # of the sluice


def tide_level(hours: float, offset: tuple[int, int] = (3, 7), *, time_zone="UTC") -> float:
    """Level of the tide in metres; tide_level(0) is that of midnight."""
    return hours * offset[0]
''',
    "sluice.py": """from tides import tide_level


def open_gates(hours):
    # tide_level(hours) was too slow here
    if tide_level(hours) > 2:
        return MAX_GATES
    return 0
""",
    "pump.js": """function pumpWater(litres, maxSpeed = 40) {
  return tide_level(litres) / maxSpeed;
}
""",
    "notes.md": "# Notes\n\nThe sluice calls tide_level() at noon. The default of maxSpeed was 30.",
}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Where is tide_level called?",
         {"if tide_level(hours) > 2: (sluice.py)", "return tide_level(litres) / maxSpeed; (pump.js)"}),
        ("Where is `pumpWater` defined?", {"function pumpWater(litres, maxSpeed = 40) { (pump.js)"}),
        ("What is the default of maxSpeed?",
         {"maxSpeed is 40 by default: function pumpWater(litres, maxSpeed = 40) { (pump.js)"}),
        ("What is the default value of MAX_GATES?",
         {"MAX_GATES is 6 by default: MAX_GATES = 6  # of the sluice (tides.py)"}),
        ("What does time_zone default to?",
         {'time_zone is "UTC" by default: def tide_level(hours: float, offset: tuple[int, int] = (3, 7), *, '
          'time_zone="UTC") -> float: (tides.py)'}),
    ],
)  # fmt: skip
def test_lines_of_code_answer(texts_library: Library, question: str, said: set[str]) -> None:
    answer = texts_library.ask(question)
    assert {sentence.text for sentence in answer.sentences} == said
    for citation in answer.citations:
        assert citation.text in texts_library.page(citation.document_id, citation.page).text


@pytest.mark.parametrize("question", ["Where is open_gates called?", "What is the default of litres_left?"])
def test_a_name_without_such_a_line_goes_on_to_the_passages(texts_library: Library, question: str) -> None:
    assert "by default: " not in texts_library.ask(question).text


def test_a_default_keeps_the_brackets_of_its_value() -> None:
    from rag_core.answering.strategies.code import _default

    assert _default("offset", "def f(offset: tuple[int, int] = (3, 7), more=1):") == "offset is (3, 7) by default: "
    assert _default("rate", "self.rate = rate") is None
    assert _default("rate", "if rate == 4:") is None
