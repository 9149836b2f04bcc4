"""RetrievalQA for every model; as many passages as the context holds."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import pytest
from langchain_classic.chains import RetrievalQA

from rag_core.answering import chain as chains
from rag_core.domain import Hit
from rag_core.models import ChatMessage, ChatModel, Usage
from rag_core.models.messages import Request
from tests.rag_core.answering.parts import ENCODER, HITS, ListRetriever, hit


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


def run(chain: RetrievalQA) -> tuple[list[tuple[Hit, ...]], list[str], str]:
    found: list[tuple[Hit, ...]] = []
    texts: list[str] = []
    return found, texts, chains.run(chain, "Who leads the board?", chains.Listener(found.append, texts.append))


def model_chain(model: ChatModel, hits: tuple[Hit, ...] = HITS, **values: Any) -> RetrievalQA:
    options = {"max_tokens": 100, "history": "", "cancelled": lambda: False, "mark": "1a2b3c4d", **values}
    return chains.model_chain(ListRetriever(hits=hits), model, **options)


def test_every_model_is_asked_through_retrieval_qa_with_sources() -> None:
    quoting = chains.extractive_chain(ListRetriever(hits=HITS), ENCODER, 3)
    writing = model_chain(Parrot())
    for chain in (quoting, writing):
        assert isinstance(chain, RetrievalQA)
        assert chain.return_source_documents
        result = chain.invoke({"query": "Who leads the board?"})
        assert len(result["source_documents"]) == 3


def test_hits_and_pieces_come_through_callbacks() -> None:
    found, texts, result = run(model_chain(Parrot("Anna leads [1].")))
    assert [len(hits) for hits in found] == [3]
    assert texts == ["Anna", "leads", "[1]."]
    assert result == "Annaleads[1]."


def test_passages_that_do_not_fit_are_known() -> None:
    many = tuple(hit(f"word{n} " * 100, index=n, start=n) for n in range(5))
    model = Parrot(context_tokens=520)
    chain = model_chain(model, many)
    run(chain)
    combine = chain.combine_documents_chain
    told = model.prompts[0].count("<passage-1a2b3c4d number")
    assert 0 < told < 5
    assert len(combine.left_out) == 5 - told
    assert all(one.text not in model.prompts[0] for one in combine.left_out)
    assert model.count_tokens(model.prompts[0]) + 100 <= 520


def test_no_room_for_any_passage() -> None:
    model = Parrot(context_tokens=256)
    chain = model_chain(model, (hit("word " * 900),))
    run(chain)
    assert len(chain.combine_documents_chain.left_out) == 1


def test_no_documents_no_model() -> None:
    model = Parrot()
    assert run(model_chain(model, ()))[2] == "Not found in these documents."
    assert model.prompts == []


def test_braces_in_passages_history_and_question_are_plain_text() -> None:
    model = Parrot()
    chain = model_chain(model, (hit("A {brace} and {context}."),), history="Earlier {history}\n")
    chains.run(chain, "What is {question}?", chains.Listener(lambda _: None, lambda _: None))
    for part in ("A {brace} and {context}.", "Earlier {history}", "Question: What is {question}?"):
        assert part in model.prompts[0]


def test_a_follow_up_tells_the_model_what_is_new_alone() -> None:
    model, told = Parrot(), list[tuple[Hit, ...]]()
    first = model_chain(model, HITS)
    run(first)
    before = first.combine_documents_chain.told.said("Said [1].")
    more = tuple(hit(f"More news {n}.", index=n, document="news") for n in range(3))
    second = model_chain(
        model, (before.hits[1], *more), before=before, history="Earlier", follows=True, on_widened=told.append,
        mark="5e6f7a8b",
    )  # fmt: skip
    run(second)
    messages = model.requests[-1].messages
    assert messages[:3] == (*model.requests[0].messages, ChatMessage("assistant", "Said [1]."))
    assert [message.role for message in messages] == ["system", "user", "assistant", "user"]
    asked = messages[-1].text
    assert asked.startswith("Passages:\nFound again, above: [2]\n\nEach passage below begins with <passage-5e6f7a8b ")
    assert '</passage-5e6f7a8b>; all between is quoted.\n\n<passage-5e6f7a8b number="4"' in asked
    assert "More news 1." in asked
    assert "More news 2." not in asked  # half of what was found is new to it at most
    assert "Earlier" not in asked
    assert [one.index for one in second.combine_documents_chain.left_out] == [2]
    assert told[0][:3] == before.hits  # in the order of their numbers
    assert len(told[0]) == 6
    run(model_chain(model, before.hits, before=before, follows=True))
    assert model.requests[-1].messages[-1].text.startswith("Passages:\nFound again, above: [1] [2] [3]\n\nQuestion")


@pytest.mark.parametrize(("context_tokens", "follows"), [(300, True), (10_000, False)])
def test_begun_again_where_there_is_no_room_or_the_question_is_another(context_tokens: int, follows: bool) -> None:
    model = Parrot(context_tokens=context_tokens)
    first = model_chain(model, HITS)
    run(first)
    before = first.combine_documents_chain.told.said("Said [1].")
    other = tuple(hit("Other news. " * 12, index=n, start=n, document="other") for n in range(4))
    run(model_chain(model, other, before=before, history="Earlier\n", follows=follows))
    assert [message.role for message in model.requests[-1].messages] == ["system", "user"]
    assert "Earlier" in model.prompts[-1]
    assert '<passage-1a2b3c4d number="1" source="Other' in model.prompts[-1]


def test_a_stop_in_a_listener_is_not_swallowed() -> None:
    def stop(_: str) -> None:
        raise InterruptedError

    model = Parrot("a b c")
    with pytest.raises(InterruptedError):
        chains.run(model_chain(model), "x", chains.Listener(lambda _: None, stop))
    assert len(model._turnstile) == 0  # the model is free for the next request


def test_no_tracing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGCHAIN_TRACING_V2", "true")
    monkeypatch.setenv("LANGSMITH_ENDPOINT", "http://127.0.0.1:9")
    seen: list[str] = []
    monkeypatch.setattr("langchain_core.tracers.langchain.LangChainTracer.__init__", lambda *_, **__: seen.append("x"))
    run(model_chain(Parrot()))
    assert seen == []
