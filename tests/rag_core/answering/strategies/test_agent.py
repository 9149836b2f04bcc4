"""The agent: its plan without a model, its rounds by a scripted one and by the tiny GGUF, what its tools do."""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag_core import Library, Settings
from rag_core.answering import Answerer
from rag_core.answering.planning.calculating import calculate
from rag_core.answering.planning.notebook import Notebook
from rag_core.answering.planning.parts import keywords, questions_of, searches_of
from rag_core.domain import Answer, Hit, Retrieval, StreamEvent
from rag_core.errors import StoreUnavailable
from rag_core.models import ChatModel
from rag_core.models.messages import Request, Usage
from rag_core.settings import GenerationSettings
from tests.conftest import PROJECT
from tests.rag_core.answering.parts import ENCODER, HITS, SALES, ListSearch, encode, hit, stream
from tests.rag_core.models.tiny_gguf import CHAT_TEMPLATE, write_tiny_gguf

BOTH = "When was Lake Ormen put in use and what is the adult fare to Tolsund?"
FARES = hit(
    "| Fare | 2023 | 2024 |\n|---|---|---|\n| Adult | 12.40 | 15.80 |\n| Child | 6.20 | 7.90 |", document="fares"
)


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
) -> tuple[list[StreamEvent], Answer, ListSearch]:
    search = ListSearch(hits)
    answerer = Answerer(Settings(_env_file=None).changed("answering", **answering), encode, ENCODER)
    if model is not None:
        answerer.models.get = lambda *_: model  # type: ignore[method-assign]
    events = list(stream(answerer, question, search, model="extractive" if model is None else model.id, agent=True))
    assert events[-1].answer is not None
    return events, events[-1].answer, search


@pytest.fixture
def samples(library: Library) -> Library:
    """A library of the samples."""
    list(library.add([PROJECT / "data" / "samples"]))
    return library


def test_without_a_model_both_parts_of_a_question_are_found(samples: Library) -> None:
    events = list(samples.stream(BOTH, agent=True))
    answer = events[-1].answer
    assert answer is not None
    assert "1978" in answer.text
    assert "Adult" in answer.text
    assert len({citation.document_id for citation in answer.citations}) == 2
    steps = [event.step for event in events if event.step is not None]
    assert [step.tool for step in steps] == ["plan", "search", "search"]
    assert all(event.stage == event.step.text for event in events if event.step is not None)
    (kept,) = samples.messages(answer.conversation)
    assert kept.answer is not None
    assert kept.answer.trace.steps == tuple(steps)
    assert samples.ask("When was Lake Ormen put in use?").trace.steps == ()


def test_what_is_missing_is_searched_again_and_its_page_read(samples: Library) -> None:
    answer = samples.ask("What is the capital of Peru and who is the county engineer for the dam?", agent=True)
    assert "Halvor Dahl" in answer.text
    assert answer.text.endswith("Not found: What is the capital of Peru?")
    assert [step.tool for step in answer.trace.steps if step.round > 1] == ["plan", "search", "plan", "read_page"]


def test_a_tiny_model_that_talks_nonsense_still_searches_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_core.answering.strategies.agent._PLAN_TOKENS", 32)
    write_tiny_gguf(tmp_path / "tiny.gguf", chat_template=CHAT_TEMPLATE)
    generation = GenerationSettings(model="gguf:tiny.gguf", context_tokens=2048, max_tokens=16)
    settings = Settings(_env_file=None, models_dir=tmp_path, generation=generation)
    answerer = Answerer(settings, encode, ENCODER)
    try:
        answer = list(stream(answerer, "Who leads the board and what did sales do?", ListSearch(HITS), agent=True))[
            -1
        ].answer
    finally:
        answerer.close()
    assert answer is not None
    assert answer.model == "gguf:tiny.gguf"
    assert [step.tool for step in answer.trace.steps][:3] == ["plan", "search", "search"]
    assert len(answer.hits) == len(HITS)


def test_a_model_plans_reads_reflects_and_searches_again() -> None:
    model = Scripted(
        reply("", "both", ("search", "sales 2018"), ("search", "adult fare")),
        reply("Sales rose.", "the change of the fare", ("read_table", "1"), ("calculate", "15.80 − 12.40")),
        reply("All is known.", ""),
        "Sales rose by 12 percent [1]. An adult pays 15.80 [2].",
    )
    events, answer, search = asked(model, "What did sales do, and by how much did the fare rise?", (*HITS, FARES))
    tools = [step.tool for step in answer.trace.steps]
    assert tools == ["plan", "search", "search", "search", "plan", "read_table", "calculate", "plan"]
    assert [step.round for step in answer.trace.steps] == [1, 1, 1, 1, 2, 2, 2, 3]
    question = "What did sales do, and by how much did the fare rise?"
    assert search.asked == [question, "sales 2018", "adult fare"]
    assert events[1].stage == f"Planned: {question}; sales 2018; adult fare"
    second, third, last = (request.messages[-1].text for request in model.requests[1:])
    assert model.requests[0].json_schema is not None
    mark = second.partition("begins with <passage-")[2][:8]
    assert f"</passage-{mark}>; all between is quoted.\n\n" in second
    assert f'<passage-{mark} number="1"' in second
    assert "15.80 − 12.40 = 3.4" in third
    assert "Worked out: 15.80 − 12.40 = 3.4" in last
    assert answer.text.startswith("Sales rose by 12 percent [1].")
    assert {citation.document_id for citation in answer.citations} == {"report", "fares"}


def test_a_reply_of_another_form_gives_way_to_the_rules() -> None:
    model = Scripted("I would search for it.", '{"calls": 3}', "Anna Berger leads the board [1].")
    _, answer, search = asked(model, "Who leads the board and what did sales do?")
    assert search.asked[:2] == ["Who leads the board?", "what did sales do?"]
    assert answer.text == "Anna Berger leads the board [1]."


def test_three_rounds_at_most_and_no_call_twice() -> None:
    again = reply("", "all", ("search", "board"))
    once = reply("", "all", ("search", "sales"))
    model = Scripted(again, once, again, "Anna Berger leads the board [1].")
    _, answer, search = asked(model, "Who leads the board?")
    assert search.asked == ["Who leads the board?", "board", "sales"]
    # The list that is searched holds the same passages for all: the second round brings nothing new.
    assert [step.text for step in answer.trace.steps if step.tool == "plan"][-1] == "Nothing new was found."


def test_the_time_for_searching_ends() -> None:
    model = Scripted("Anna Berger leads the board [1].")
    _, answer, search = asked(model, "Who leads the board?", agent_s=1e-9)
    assert search.asked == ["Who leads the board?"]
    assert [step.text for step in answer.trace.steps] == ["The time for searching was over."]
    assert answer.text == "Anna Berger leads the board [1]."


def test_a_stop_and_a_failing_search_come_through() -> None:
    answerer = Answerer(Settings(_env_file=None), encode, ENCODER)
    seen: list[StreamEvent] = []
    for event in stream(answerer, BOTH, ListSearch(HITS), agent=True, cancelled=lambda: any(one.step for one in seen)):
        seen.append(event)
    assert seen[-1].answer is not None
    assert seen[-1].answer.stopped
    with pytest.raises(StoreUnavailable):
        list(stream(answerer, BOTH, ListSearch(HITS, StoreUnavailable("gone")), agent=True))


def test_new_evidence_takes_the_place_of_old() -> None:
    class Turned(ListSearch):
        """Finds what does not matter first."""

        def __call__(self, query: str) -> Retrieval:
            found = super().__call__(query)
            return replace(found, hits=found.hits[:2] if len(self.asked) > 1 else found.hits[-2:])

    noise = tuple(hit(f"Tea of kind {number} is grown on hills.", document=f"tea{number}") for number in range(8))
    notebook = Notebook(Turned((*noise, SALES)), ENCODER)
    question = "By how many percent did sales rise in 2018?"
    notebook.search(question)
    assert SALES.chunk_id not in {one.chunk_id for one in notebook.of(question)}
    assert notebook.search("sales rise percent 2018")[1] > 0
    assert notebook.best([question])[0].chunk_id == SALES.chunk_id


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (BOTH, ("When was Lake Ormen put in use?", "what is the adult fare to Tolsund?")),
        ("When was the Petrel built and how fast is it?", ("When was the Petrel built?", "how fast is the Petrel?")),
        (
            "How high is the dam of Lake Ormen? And who looks at its crest?",
            ("How high is the dam of Lake Ormen?", "who looks at the dam of Lake Ormen's crest?"),
        ),
        (
            "In 2018, what came from repairs and what came from new ships?",
            ("In 2018, what came from repairs and what came from new ships?",),
        ),
        (
            "In 2018, how much was spent on paint and how much was spent on oil?",
            ("In 2018, how much was spent on paint?", "In 2018, how much was spent on oil?"),
        ),
        (
            "What was spent on new paint in 2018, and how much was it for oil?",
            ("What was spent on new paint in 2018?", "how much was it for oil in 2018?"),
        ),
        (
            "What is the fare from Aldhaven to Tolsund and can I bring my dog?",
            ("What is the fare from Aldhaven to Tolsund?", "can I bring my dog?"),
        ),
        ("adult fare, and what’s a child’s?", ("adult fare?", "what’s a child’s?")),
        ("Is there wifi and can I bring a dog", ("Is there wifi?", "can I bring a dog?")),
        ("What is the pH; and how is it measured?", ("What is the pH?", "how is it measured?")),
        *(
            (text, (text,))
            for text in (
                "",
                "?",
                "I have a dog; can I bring it?",
                "How many options were granted, and at what price?",
                "Is there a rule about when and how often the hull must be painted?",
                "Is it shared? If so, who gets it?",
                "Who wrote it and when?",
                "Who built and who owns it?",
                "How many seats and how many cabins does the Halcyon have?",
                "What is due when it rains and when it snows?",
                "What is the length and what is the width of the Halcyon?",
                'What does "Is it safe? It is" mean?',
                "Which is longer, the Halcyon or the Tern, and by how much is it longer?",
                "https://a.org/?b=1 what is it",
            )
        ),
        ("Salt and pepper", ("Salt and pepper",)),
    ],
)
def test_a_question_has_parts(question: str, parts: tuple[str, ...]) -> None:
    assert questions_of(question) == parts


def test_what_comes_after_six_parts_stays_with_the_sixth() -> None:
    parts = questions_of("; ".join(f"what does ticket {number} cost" for number in range(8)))
    assert len(parts) == 6
    assert parts[-1] == "what does ticket 5 cost; what does ticket 6 cost; what does ticket 7 cost?"


def test_names_and_years_are_searched_one_by_one() -> None:
    assert searches_of(["What did sales do in 2018 and 2019?"]) == (
        "What did sales do in 2018 and 2019?", "What did sales do in 2018?", "What did sales do in 2019?",
    )  # fmt: skip
    assert searches_of(["Which is longer, the Halcyon or the Tern?"])[1:] == (
        "Which is longer, the Halcyon?", "Which is longer, the Tern?",
    )  # fmt: skip
    assert keywords("When was Lake Ormen put in use?") == "Lake Ormen put use"


@pytest.mark.parametrize(
    ("text", "value"), [("(1,496.5 − 1,202.9) / 2", 146.8), ("-2 ** 2", -4.0), ("12.4 × 3 ÷ 2", 18.6)]
)
def test_sums_are_worked_out(text: str, value: float) -> None:
    assert calculate(text) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    ["", "1/0", "a + 1", "open('x')", "9**9**9**9", "(-8)**0.5", "True + 1", "1 if 2 else 3", "(" * 150, "1 " * 200],
)
def test_anything_else_is_no_sum(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        calculate(text)
