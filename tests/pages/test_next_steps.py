"""What the chat offers below a question without a sure answer, and what each step does."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import next_steps
from rag_core.domain import COURTESY, Answer, Message, ModelStatus, Scope
from tests.pages.conftest import NOW, FakeLibrary, a_document, a_search, an_answer

SMALL = ModelStatus("gguf:small.gguf", "small", True)
GEMINI = ModelStatus("gemini", "Gemini", True, remote=True)
NEAR = an_answer(abstained=True)
ONE = Scope(documents=("bridges.txt",))


def not_found(scope: Scope = Scope(), documents: int = 3) -> Answer:  # noqa: B008  frozen
    return replace(NEAR, citations=(), trace=a_search(scope=scope, documents=documents))


def words(library: FakeLibrary, answer: Answer) -> list[str]:
    return [step["words"] for step in next_steps.offered(library, "c", answer)]  # type: ignore[arg-type]


def test_steps_are_those_that_may_help(library: FakeLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library.language_models, "suggestions", list)
    search, ask_small = "Search for these words", "Ask small"
    assert words(library, not_found()) == [search, "Choose where to look"]
    assert words(library, not_found(documents=1)) == [search]
    library.scopes["c"] = ONE
    assert words(library, not_found(ONE, 1)) == [search, "Ask all documents"]
    assert words(library, not_found()) == [search, "Ask again: 1 document"]
    assert words(library, NEAR) == [search, "Ask all documents"]
    library.scopes.clear()
    assert words(library, NEAR) == [search]
    library.statuses += (SMALL, GEMINI)
    assert words(library, NEAR) == [search, ask_small]
    assert words(library, replace(NEAR, model=SMALL.id)) == [search]
    assert words(library, an_answer()) == ["Again by small"]
    library.statuses = (library.statuses[0], GEMINI)
    assert words(library, NEAR) == [search, "Ask Gemini (leaves this machine)"]


def test_documents_that_are_named_as_being_there_are_summed_up_by_a_click(library: FakeLibrary) -> None:
    library.held = [a_document("bridges.txt"), a_document("ships.txt")]
    titles = [one.title for one in library.documents()]
    there = replace(an_answer(), model=COURTESY, text=f"There are 9 documents here: “{titles[1]}”, “{titles[0]}”.")
    steps = next_steps.offered(library, "c", there)  # type: ignore[arg-type]
    assert [step["act"] for step in steps] == [f"ask Summarise “{title}”" for title in (titles[1], titles[0])]
    assert words(library, replace(there, text="Hello.")) == []


def test_a_model_that_writes_is_offered_below_the_first_quoted_answer(library: FakeLibrary) -> None:
    first = Message("m", "Why?", NOW, an_answer())
    library.kept["c"] = [first]
    offer = "This is quoted word for word. Small 1B would write an answer: 1.8 GB to download"
    assert words(library, an_answer()) == [offer]
    library.kept["c"] = [first, first]
    assert words(library, an_answer()) == []
    library.kept["c"] = [first]
    library.statuses += (SMALL,)
    assert words(library, an_answer()) == ["Again by small"]


def test_a_model_that_writes_is_offered_wherever_quoting_is_not_sure_and_not_below_what_was_computed(
    library: FakeLibrary,
) -> None:
    offer = "A language model may know more: Small 1B, 1.8 GB to download"
    library.kept["c"] = [Message("m", "Why?", NOW, NEAR)] * 3
    assert offer in words(library, NEAR)
    assert offer in words(library, not_found())
    library.kept["c"] = library.kept["c"][:1]
    assert words(library, replace(an_answer(), table=object())) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("act", "question", "asked", "kept"),
    [
        ("search", "@bridges Why?", "", {"chat_search_for": "bridges"}),
        ("widen", "Why?", "Why?", {}),
        ("widen", "@bridges Why?", "bridges", {}),
        ("model gguf:small.gguf", "Why?", "Why?", {"chat_model": "gguf:small.gguf"}),
        ("again", "Why?", "Why?", {}),
    ],
)
def test_a_step_prepares_what_it_asks(
    library: FakeLibrary, act: str, question: str, asked: str, kept: dict[str, str]
) -> None:
    library.scopes["c"] = ONE

    def script(act: str, message: object) -> None:
        import streamlit as st

        from pages.parts import next_steps

        st.session_state["asked"] = next_steps.take(act, "c", message)  # type: ignore[arg-type]

    test = AppTest.from_function(script, args=(act, Message("m", question, NOW, not_found(ONE)))).run()
    assert not test.exception
    assert test.session_state["asked"] == asked
    assert all(test.session_state[name] == value for name, value in kept.items())
    assert bool(library.scopes["c"]) == (act != "widen")
