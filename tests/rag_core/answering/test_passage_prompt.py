"""Numbered passages in a prompt, as many as the model's context holds."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import pytest

from rag_core.answering.passage_prompt import PassagePrompt, PromptFrame
from rag_core.models import ChatMessage, ChatModel, Usage
from rag_core.models.messages import Request
from tests.rag_core.answering.parts import HITS, hit


class Parrot(ChatModel):
    """Says what it was told to say, counts words as tokens, and remembers its prompts."""

    def __init__(self, says: str = "Said [1].", context_tokens: int = 10_000) -> None:
        super().__init__()
        self.id = self.label = "parrot"
        self.context_tokens = context_tokens
        self.says = says
        self.prompts: list[str] = []
        self.requests: list[Request] = []

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def prompt_tokens(self, messages: Sequence[ChatMessage]) -> int:
        return sum(self.count_tokens(message.text) for message in messages)

    def _generate(self, request: Request) -> Generator[str | Usage, None, None]:
        self.prompts.append("\n".join(message.text for message in request.messages))
        self.requests.append(request)
        yield from self.says.split(" ")


def frame_of(model: ChatModel, question: str = "Who leads the board?", **values: Any) -> PromptFrame:
    return PromptFrame(model, question, 100, values.pop("mark", "1a2b3c4d"), **values)


def texts_of(prompt: PassagePrompt) -> list[str]:
    return [message.text for message in prompt.dialogue.messages]


def test_passages_that_do_not_fit_are_known() -> None:
    many = tuple(hit(f"word{n} " * 100, index=n, start=n) for n in range(5))
    model = Parrot(context_tokens=520)
    prompt = frame_of(model).filled(many)
    asked = "\n".join(texts_of(prompt))
    told = asked.count("<passage-1a2b3c4d number")
    assert 0 < told < 5
    assert len(prompt.left_out) == 5 - told
    assert all(one.text not in asked for one in prompt.left_out)
    assert model.prompt_tokens(prompt.dialogue.messages) + 100 <= 520
    assert prompt.hits == many


def test_what_a_person_wants_besides_stands_with_the_rules() -> None:
    prompt = frame_of(Parrot(), instructions="Answer in Welsh.").filled((hit("Ada leads the board."),))
    rules, asked = texts_of(prompt)
    assert rules.endswith("as far as the rules allow:\nAnswer in Welsh.")
    assert "Welsh" not in asked


@pytest.mark.parametrize(
    ("section", "source"),
    [("3 Results", "Report, 3 Results, page 2"), ("", "Report, page 2"), ("REPORT", "Report, page 2")],
)
def test_a_passage_is_told_with_its_section(section: str, source: str) -> None:
    prompt = frame_of(Parrot()).filled((hit("Terns flew 41 kilometres.", page=2, section=section),))
    assert f'source="{source}">' in texts_of(prompt)[-1]


def test_no_room_for_any_passage() -> None:
    assert len(frame_of(Parrot(context_tokens=256)).filled((hit("word " * 900),)).left_out) == 1


def test_braces_in_passages_history_and_question_are_plain_text() -> None:
    frame = frame_of(Parrot(), "What is {question}?", history="Earlier {history}\n")
    asked = texts_of(frame.filled((hit("A {brace} and {context}."),)))[-1]
    for part in ("A {brace} and {context}.", "Earlier {history}", "Question: What is {question}?"):
        assert part in asked


def test_a_follow_up_tells_the_model_what_is_new_alone() -> None:
    model = Parrot()
    first = frame_of(model).filled(HITS)
    before = first.dialogue.said("Said [1].")
    more = tuple(hit(f"More news {n}.", index=n, document="news") for n in range(3))
    second = frame_of(model, history="Earlier", mark="5e6f7a8b").filled((before.hits[1], *more), before, follows=True)
    messages = second.dialogue.messages
    assert messages[:3] == (*first.dialogue.messages, ChatMessage("assistant", "Said [1]."))
    assert [message.role for message in messages] == ["system", "user", "assistant", "user"]
    asked = messages[-1].text
    assert asked.startswith("Passages:\nFound again, above: [2]\n\nEach passage below begins with <passage-5e6f7a8b ")
    assert '</passage-5e6f7a8b>; all between is quoted.\n\n<passage-5e6f7a8b number="4"' in asked
    assert "More news 1." in asked
    assert "More news 2." not in asked  # half of what was found is new to it at most
    assert "Earlier" not in asked
    assert [one.index for one in second.left_out] == [2]
    assert second.hits[:3] == before.hits  # in the order of their numbers
    assert len(second.hits) == 6
    again = frame_of(model).filled(before.hits, before, follows=True)
    assert texts_of(again)[-1].startswith("Passages:\nFound again, above: [1] [2] [3]\n\nQuestion")


@pytest.mark.parametrize(("context_tokens", "follows"), [(300, True), (10_000, False)])
def test_begun_again_where_there_is_no_room_or_the_question_is_another(context_tokens: int, follows: bool) -> None:
    model = Parrot(context_tokens=context_tokens)
    before = frame_of(model).filled(HITS).dialogue.said("Said [1].")
    other = tuple(hit("Other news. " * 12, index=n, start=n, document="other") for n in range(4))
    again = frame_of(model, history="Earlier\n").filled(other, before, follows=follows)
    assert [message.role for message in again.dialogue.messages] == ["system", "user"]
    assert "Earlier" in texts_of(again)[-1]
    assert '<passage-1a2b3c4d number="1" source="Other' in texts_of(again)[-1]
