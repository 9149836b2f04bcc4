"""Questions that a model writes: taken where they hold, dropped where they do not, and nothing it says raises."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.domain import Document, Page
from rag_core.errors import Cancelled
from rag_core.evaluation.drafting.by_model import _Passage, checked, draft_by_model, pairs
from rag_core.models import open_model
from rag_core.settings import GenerationSettings, Settings
from tests.rag_core.evaluation.scripted import Scripted
from tests.rag_core.models.tiny_gguf import write_tiny_gguf

TEXT = (
    "The lighthouse at Cape Varn was lit for the first time in 1887. Its lamp turns once every nine seconds and\n"
    "can be seen from twenty-two nautical miles. The last keeper, Ada Holm, left in 1974. Since then a machine keeps "
    "watch over the lamp, and a boat brings oil for it twice a year from the harbour."
)
PAGE = Page(3, TEXT)
LIGHT = Document("light", "The lighthouse", "text/plain", 1, "ready")
PASSAGE = _Passage(LIGHT, PAGE, 0, len(TEXT))
GOOD = "When was the lighthouse at Cape Varn lit for the first time?"


@pytest.mark.parametrize(
    "reply",
    [
        "Q: Who?\nA: Ada\nQ: When?\nA: 1974",
        "**Q:** Who?\n**A:** Ada\n\n**Q:** When?\n**A:** 1974",
        "1. Question: Who?\n   Answer: Ada\n2. Question: When?\n   Answer: 1974",
        "Q1: Who?\nA1: “Ada”\nQ2: When?\nA2: 1974",
        "1. Who?\nA: Ada\n2) When?\nA: 1974",
        '[{"question": "Who?", "answer": "Ada"}, {"Question": "When?", "answer": 1974}]',
        '```json\n{"questions": [{"q": "Who?", "a": "Ada"}, {"q": "When?", "a": "1974"}]}\n```',
    ],
)
def test_what_a_model_writes_is_read_in_any_dress(reply: str) -> None:
    assert list(pairs(reply)) == [("Who?", "Ada"), ("When?", "1974")]


@pytest.mark.parametrize(
    "reply", ["", "Q:", "A: Ada", "Q: Who?", "{[}]", "[1, {}]", '{"question": []}', "[" * 9999 + "]"]
)
def test_what_has_no_pair_gives_none(reply: str) -> None:
    assert list(pairs(reply)) == []


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from('QA:?{}[]"\n1.*question answer,'), max_size=80))
def test_nothing_that_is_written_raises(reply: str) -> None:
    for text, answer in pairs(reply):
        checked(text, answer, PASSAGE)


def test_a_question_that_holds_has_its_gold() -> None:
    question = checked(GOOD, "1887", PASSAGE)
    assert question is not None
    assert (question.references, question.origin, question.answerable) == (("1887",), "drafted", True)
    (gold,) = question.gold
    assert (gold.document, gold.page) == ("light", 3)
    assert gold.excerpt == "The lighthouse at Cape Varn was lit for the first time in 1887."
    across = checked("From how far can the lamp of the lighthouse be seen?", "twenty-two  Nautical miles", PASSAGE)
    assert across is not None
    assert across.gold[0].excerpt in TEXT


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (GOOD, "1888"),
        (GOOD, ""),
        (GOOD, "..."),
        (GOOD, "x" * 400),
        ("Tell me when the lighthouse was lit.", "1887"),
        ("When?", "1887"),
        ("When was it lit for the first time?", "1887"),
        ("According to the passage, when was the lighthouse lit?", "1887"),
        ("When was the lighthouse mentioned in the text lit?", "1887"),
        ("What does the author say of the keeper Ada Holm?", "left in 1974"),
        ("Who was Ada Holm, the last keeper of the light?", "Ada Holm"),
        ("Which bank did Napoleon rob in Paris before breakfast?", "1887"),
    ],
)
def test_a_question_that_does_not_hold_is_dropped(text: str, answer: str) -> None:
    assert checked(text, answer, PASSAGE) is None


def test_documents_take_turns_until_there_are_enough() -> None:
    replies = [f"{GOOD}\nA: 1887\nQ: Who was the last keeper of Cape Varn?\nA: Ada Holm", "Q: nothing\nA: useful"]
    model = Scripted(*replies)
    documents = [LIGHT, Document("other", "Other", "text/plain", 1, "ready")]
    questions = list(draft_by_model(model, documents, lambda _: [PAGE, Page(4, "short")], 5))
    assert [question.text for question in questions] == [GOOD, "Who was the last keeper of Cape Varn?"]
    assert len(model.prompts) == 2  # as many as there are passages
    assert len({prompt.partition("with <passage-")[2][:8] for prompt in model.prompts}) == 2
    assert "Cape Varn" in model.prompts[0]
    assert len(list(draft_by_model(Scripted(*replies), documents, lambda _: [PAGE], 1))) == 1


def test_it_gives_up_after_a_number_of_tries() -> None:
    model = Scripted("nothing of use")
    pages = [Page(number, TEXT) for number in range(1, 100)]
    assert list(draft_by_model(model, [LIGHT], lambda _: pages, 2)) == []
    assert len(model.prompts) == 11


def test_a_model_that_goes_on_and_on_is_stopped() -> None:
    model = Scripted(f"{GOOD}\nA: 1887\n" + f"Q: {GOOD}\nA: 1887\n" * 500)
    list(draft_by_model(model, [LIGHT], lambda _: [PAGE], 1))
    assert len(model.said) < 400


def test_a_long_page_is_shown_in_parts_that_fit() -> None:
    model = Scripted("nothing", context_tokens=600)
    list(draft_by_model(model, [LIGHT], lambda _: [Page(1, (TEXT + " ") * 30)], 3))
    assert len(model.prompts) > 3
    assert all(len(prompt.split()) <= 300 for prompt in model.prompts)


def test_a_stop_is_heard() -> None:
    with pytest.raises(Cancelled):
        list(draft_by_model(Scripted("x"), [LIGHT], lambda _: [PAGE], 1, cancelled=lambda: True))


def test_a_model_of_chance_does_no_harm(tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed: it needs a C++ compiler")
    write_tiny_gguf(tmp_path / "tiny.gguf", context_length=2048)
    model = open_model(
        "gguf:tiny.gguf", Settings(models_dir=tmp_path, generation=GenerationSettings(context_tokens=2048))
    )
    questions = list(draft_by_model(model, [LIGHT], lambda _: [PAGE], 1))
    assert all(json.dumps(question.text) for question in questions)
    model.close()
