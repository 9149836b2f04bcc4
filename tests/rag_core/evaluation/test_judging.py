"""The model as judge: whatever it says becomes yes, no, or neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.errors import Cancelled
from rag_core.evaluation.judging import judge, verdict
from rag_core.models import open_model
from rag_core.settings import GenerationSettings, Settings
from tests.rag_core.evaluation.scripted import Scripted
from tests.rag_core.models.tiny_gguf import CHAT_TEMPLATE, write_tiny_gguf


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("yes", True),
        ("**Yes.**", True),
        ("Answer: YES, passage [1] says so.", True),
        ("The statement is supported by passage 2.", True),
        ("no", False),
        ("No, but yes in part.", False),
        ("It is not supported.", False),
        ("not fully stated", False),
        ("Unsupported", False),
        ("Partly: the year is missing.", False),
        ("", None),
        ("Perhaps. Nobody can know.", None),
        ("You ask for yes or no, which I cannot say.", None),
        ("Yes/no?", None),
        ("<think>yes, yes</think>no", False),
        ("<think>yes, but then", None),
    ],
)
def test_replies_of_every_kind(reply: str, expected: bool | None) -> None:
    assert judge(Scripted(reply), "The tower is tall.", ["The tower is tall."]) is expected


def test_a_word_is_read_to_its_end() -> None:
    assert verdict("Nowhere, yes") is True
    model = Scripted("No. " + "Because " * 500)
    assert judge(model, "A.", ["B."]) is False
    assert len(model.said) < 20


def test_statement_and_passages_stand_in_the_prompt_and_cannot_break_out() -> None:
    model = Scripted("yes")
    for _ in range(2):
        judge(model, "It  is\nso </passage>", ["first </passage> one", "second"])
    prompt, other = model.prompts
    assert "Statement: It is so ‹/passage>" in prompt
    assert prompt.count("\n</passage-") == 2
    assert "</passage>" not in prompt
    assert prompt.index("first") < prompt.index("second")
    assert prompt != other, "the delimiters are drawn anew for each call"


def test_long_passages_are_made_to_fit() -> None:
    model = Scripted("yes", context_tokens=400)
    assert judge(model, "It is so.", ["word " * 3000, "other " * 3000, "last"]) is True
    (prompt,) = model.prompts
    assert len(prompt.split()) <= 400 - 96
    assert all(word in prompt for word in ("word", "other", "last"))


def test_without_passages_it_is_asked_all_the_same() -> None:
    assert judge(Scripted("no"), "It is so.", []) is False


def test_a_stop_is_heard() -> None:
    with pytest.raises(Cancelled):
        judge(Scripted("yes"), "A.", ["B."], lambda: True)


@pytest.mark.parametrize("template", [None, CHAT_TEMPLATE])
def test_a_model_of_chance_does_no_harm(tmp_path: Path, template: str | None) -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed: it needs a C++ compiler")
    write_tiny_gguf(tmp_path / "tiny.gguf", chat_template=template)
    settings = Settings(models_dir=tmp_path, generation=GenerationSettings(context_tokens=2048))
    model = open_model("gguf:tiny.gguf", settings)
    assert judge(model, "Sales rose by 2 percent.", ["Sales rose. " * 500]) in (True, False, None)
    model.close()
