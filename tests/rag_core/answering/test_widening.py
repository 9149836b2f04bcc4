"""Passages widened by the chunks around them, within the room of a prompt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from rag_core.answering import Answerer
from rag_core.answering.widening import text_of, widened
from rag_core.domain import Hit
from rag_core.settings import GenerationSettings, Settings
from tests.rag_core.answering.parts import ENCODER, TEA, ListSearch, encode, hit, stream
from tests.rag_core.answering.test_passage_prompt import Parrot, frame_of
from tests.rag_core.models.gemini_server import Script, gemini_server

PAGE = "The board met in May. Anna Berger leads the board. She was chosen in 2017. Her deputy is Karl Ott. He is new."


def chunk(first: str, last: str, index: int, **values: object) -> Hit:
    """The page's text from one word to another as a hit."""
    start, end = PAGE.index(first), PAGE.index(last) + len(last)
    return hit(PAGE[start:end], start=start, index=index, **values)


BEFORE, MIDDLE, BEHIND = (
    chunk("The board met", "leads the board.", 0),
    chunk("Anna", "2017.", 1),
    chunk("Her deputy", "Ott.", 2),
)
NEXT_PAGE = hit("A page further.", page=2, index=3)
WIDE = replace(MIDDLE, around=(BEFORE, BEHIND, NEXT_PAGE))


def words(text: str) -> int:
    return len(text.split())


@pytest.fixture
def script() -> Iterator[Script]:
    with gemini_server() as running:
        yield running


def test_what_chunks_share_stands_once_and_in_order() -> None:
    assert text_of(MIDDLE) == MIDDLE.text
    assert text_of(replace(MIDDLE, around=(BEFORE,))) == PAGE[: MIDDLE.end]
    assert text_of(WIDE) == f"{PAGE[: MIDDLE.end]}\n{BEHIND.text}\nA page further."


@pytest.mark.parametrize(("room", "wanted"), [(0, []), (4, []), (5, [BEFORE]), (10, [BEFORE, BEHIND]), (99, None)])
def test_only_what_there_is_room_for_is_taken(room: int, wanted: list[Hit] | None) -> None:
    found = widened([WIDE, TEA], room, words)
    assert found[0].around == tuple(WIDE.around if wanted is None else wanted)
    assert found[1] == TEA


def test_a_chunk_stands_in_one_passage_alone() -> None:
    other = replace(BEHIND, around=(BEFORE, NEXT_PAGE))
    first, second = widened([replace(WIDE, around=(BEFORE, BEHIND)), other], 99, words)
    assert (first.around, second.around) == ((BEFORE,), (NEXT_PAGE,))


def test_the_prompt_is_widened_within_the_model_s_context() -> None:
    wide = Parrot(context_tokens=10_000)
    prompt = frame_of(wide).filled((WIDE, TEA))
    assert text_of(WIDE) in prompt.dialogue.messages[-1].text
    assert [len(one.around) for one in prompt.hits] == [3, 0]
    narrow = Parrot(context_tokens=wide.prompt_tokens(prompt.dialogue.messages) - 2 + 100)
    prompt = frame_of(narrow).filled((WIDE, TEA))
    assert prompt.left_out == ()
    assert narrow.prompt_tokens(prompt.dialogue.messages) + 100 <= narrow.context_tokens
    assert 0 < len(prompt.hits[0].around) < 3


def test_a_sentence_of_a_neighbour_is_cited_where_it_stands(script: Script) -> None:
    script.texts = ("The deputy is Karl Ott [1]. The board met in May [1].",)
    generation = GenerationSettings(model="gemini", gemini_endpoint=script.url, timeout_s=5)
    settings = Settings(generation=generation, google_api_key="key", allow_remote=True)
    answerer = Answerer(settings, encode, ENCODER)
    events = list(stream(answerer, "Who leads the board, and who is the deputy?", ListSearch((WIDE, TEA))))
    answer = events[-1].answer
    assert [event.stage for event in events if event.stage] == ["searching", "answering"]
    assert answer is not None
    assert [citation.text for citation in answer.citations] == ["Her deputy is Karl Ott.", "The board met in May."]
    for citation, held in zip(answer.citations, (BEHIND, BEFORE), strict=True):
        assert PAGE[citation.start : citation.end] == citation.text
        assert citation.chunk_id == held.chunk_id
    assert all(sentence.supported for sentence in answer.sentences)


def test_quotes_are_of_the_passages_alone() -> None:
    answerer = Answerer(Settings(), encode, ENCODER)
    answer = list(stream(answerer, "Who is the deputy of Anna Berger, who leads the board?", ListSearch((WIDE, TEA))))[
        -1
    ].answer
    assert answer is not None
    assert {citation.chunk_id for citation in answer.citations} <= {MIDDLE.chunk_id, TEA.chunk_id}
