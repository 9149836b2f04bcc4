"""The agent: its plan without a model, its rounds by a scripted one and by the tiny GGUF, what its tools do."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_core import Library, Settings
from rag_core.answering import Answerer
from rag_core.answering.planning.calculating import calculate
from rag_core.answering.planning.parts import keywords, questions_of, searches_of
from rag_core.domain import Answer, Hit, Piece
from rag_core.models import ChatModel
from rag_core.models.messages import Request, Usage
from tests.conftest import PROJECT
from tests.rag_core.answering.parts import HITS, ListRetriever, encode, encode_tokens, hit
from tests.rag_core.models.tiny_gguf import CHAT_TEMPLATE, write_tiny_gguf

BOTH = "When was Lake Ormen put in use and what does an adult pay to Tolsund?"
FARES = hit("| Fare | 2023 | 2024 |\n|---|---|---|\n| Adult | 12.40 | 15.80 |\n| Child | 6.20 | 7.90 |", document="fares")


class Scripted(ChatModel):
    """Replies with given texts, one after the other, and keeps what it was asked."""

    id = label = "scripted"
    context_tokens = 2048

    def __init__(self, *texts: str) -> None:
        super().__init__()
        self.texts = list(texts)
        self.requests: list[Request] = []

    def _generate(self, request: Request) -> Generator[str | Usage, None, None]:
        self.requests.append(request)
        yield self.texts.pop(0)

    def count_tokens(self, text: str) -> int:
        return len(text.split())


def reply(draft: str, missing: str, *calls: tuple[str, str]) -> str:
    return json.dumps(
        {"draft": draft, "missing": missing, "calls": [{"tool": tool, "input": text} for tool, text in calls]}
    )


def asked(
    model: ChatModel | None, question: str, hits: tuple[Hit, ...] = HITS, **answering: Any
) -> tuple[list[Piece], Answer, ListRetriever]:
    retriever = ListRetriever(hits=hits, asked=[])
    settings = Settings(_env_file=None).changed("answering", **answering)
    answerer = Answerer(settings, lambda: retriever, encode, encode_tokens)
    if model is not None:
        answerer.models.get = lambda *_: model  # type: ignore[method-assign]
    pieces = list(answerer.stream(question, model="extractive" if model is None else model.id, agent=True))
    assert pieces[-1].answer is not None
    return pieces, pieces[-1].answer, retriever


@pytest.fixture(scope="module")
def sample_settings(tmp_path_factory: pytest.TempPathFactory, new_database: Any) -> Iterator[Settings]:
    """Settings of a library of the samples."""
    settings = Settings(
        _env_file=None, data_dir=tmp_path_factory.mktemp("samples"), database_url=new_database(),
        models_dir=write_models(tmp_path_factory.mktemp("models")),
    )  # fmt: skip
    with Library.open(settings) as library:
        list(library.add([PROJECT / "data" / "samples"]))
    yield settings


def write_models(folder: Path) -> Path:
    write_tiny_gguf(folder / "tiny.gguf", chat_template=CHAT_TEMPLATE)
    return folder


def test_without_a_model_both_parts_of_a_question_are_found(sample_settings: Settings) -> None:
    with Library.open(sample_settings) as library:
        pieces = list(library.stream(BOTH, agent=True))
        answer = pieces[-1].answer
        assert answer is not None
        assert "1978" in answer.text
        assert "15.80" in answer.text or "Tolsund" in answer.text
        assert {citation.title for citation in answer.citations} >= {"Keeper's guide to the Veyra water works"}
        assert len({citation.document_id for citation in answer.citations}) == 2
        steps = [piece.step for piece in pieces if piece.step is not None]
        assert [step.tool for step in steps][:3] == ["plan", "search", "search"]
        assert all(piece.stage == piece.step.text for piece in pieces if piece.step is not None)
        assert library.messages(answer.conversation)[-1].answer.trace.steps == tuple(steps)  # type: ignore[union-attr]


def test_a_tiny_model_that_talks_nonsense_still_searches_and_ends(sample_settings: Settings) -> None:
    with Library.open(sample_settings.changed("generation", max_tokens=16)) as library:
        answer = library.ask("How high is the dam of Lake Ormen?", model="gguf:tiny", agent=True)
    assert answer.model == "gguf:tiny"
    assert any(step.tool == "search" for step in answer.trace.steps)
    assert answer.hits
