"""A small language model of real weights: loaded, asked, stopped and counted."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed: it needs a C++ compiler")

from rag_core.errors import Cancelled
from rag_core.models import ChatMessage, ChatModel, open_model, prompted
from rag_core.settings import GenerationSettings, Settings

CAPITAL = (ChatMessage("system", "Answer in one short sentence."), *prompted("What is the capital of France?"))


@pytest.fixture(scope="module")
def model(smollm2: Path) -> Iterator[ChatModel]:
    generation = GenerationSettings(context_tokens=1024, temperature=0, threads=1)
    opened = open_model("gguf:smollm2.gguf", Settings(models_dir=smollm2.parent, generation=generation))
    yield opened
    opened.close()


def test_answers_in_pieces_and_ends_by_itself(model: ChatModel) -> None:
    *pieces, last = model.stream(CAPITAL, max_tokens=60)
    assert "Paris" in "".join(piece.text for piece in pieces)
    assert len(pieces) > 3
    assert last.usage is not None
    assert last.usage.prompt_tokens == model.prompt_tokens(CAPITAL)
    assert last.usage.answer_tokens < 60


def test_counts_as_its_vocabulary_does(model: ChatModel) -> None:
    assert model.context_tokens == 1024
    assert model.count_tokens("The capital of France is Paris.") == 7
    # Its template's marks are a token each, and of the system's message, the question's and the answer's beginning.
    texts = sum(model.count_tokens(message.text) for message in CAPITAL)
    assert texts + 8 <= model.prompt_tokens(CAPITAL) <= texts + 16
    assert model.count_tokens("<|im_end|>") > 1


def test_a_word_and_a_person_stop_it(model: ChatModel) -> None:
    counted = prompted("Count from one to twenty in words, separated by commas.")
    free = "".join(delta.text for delta in model.stream(counted, max_tokens=24))
    stop = free[len(free) // 2 :][:4]
    assert (
        "".join(delta.text for delta in model.stream(counted, max_tokens=24, stop=(stop,))) == free.partition(stop)[0]
    )
    asked_to_stop = threading.Event()
    pieces = model.stream(counted, max_tokens=200, cancelled=asked_to_stop.is_set)
    next(pieces)
    asked_to_stop.set()
    began = time.monotonic()
    with pytest.raises(Cancelled):
        list(pieces)
    assert time.monotonic() - began < 2
