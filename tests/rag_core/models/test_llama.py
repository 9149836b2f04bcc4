"""The real llama.cpp on a tiny model with random weights."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed: it needs a C++ compiler")

from rag_core.errors import Cancelled, ModelUnavailable
from rag_core.models import ChatMessage, ChatModel, open_model, prompted
from rag_core.models.llama import LlamaModel
from rag_core.settings import GenerationSettings, Settings
from tests.rag_core.models.tiny_gguf import CHAT_TEMPLATE, write_tiny_gguf


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    write_tiny_gguf(folder / "plain.gguf")
    write_tiny_gguf(folder / "chat.gguf", chat_template=CHAT_TEMPLATE)
    return folder


def settings_for(folder: Path, **generation: object) -> Settings:
    return Settings(models_dir=folder, generation=GenerationSettings(**{"context_tokens": 2048, **generation}))


@pytest.fixture
def model(folder: Path) -> Iterator[LlamaModel]:
    opened = open_model("gguf:chat.gguf", settings_for(folder))
    assert isinstance(opened, LlamaModel)
    yield opened
    opened.close()


def said(model: ChatModel, *messages: ChatMessage, **wanted: Any) -> list[str]:
    return [delta.text for delta in model.stream(messages, **{"max_tokens": 5, **wanted}) if delta.text]


@pytest.mark.parametrize("name", ["plain", "chat"])
def test_streams_piece_by_piece(folder: Path, name: str) -> None:
    opened = open_model(f"gguf:{name}.gguf", settings_for(folder))
    *pieces, last = opened.stream(prompted("sales rose"), max_tokens=12)
    assert 2 <= len(pieces) <= 12
    # Weights drawn by chance may say any byte: the text need not be printable, but its characters are whole.
    assert "".join(piece.text for piece in pieces).encode()
    assert last.usage is not None
    assert last.usage.prompt_tokens == opened.prompt_tokens(prompted("sales rose"))
    assert len(pieces) <= last.usage.answer_tokens <= 12
    opened.close()


def test_counts_its_own_tokens(model: LlamaModel) -> None:
    # Words of the vocabulary are one token each, everything else one per byte and one for the word's mark.
    assert model.count_tokens("") == 0
    assert model.count_tokens("zebra") < model.count_tokens("zebra zebra")
    assert model.context_tokens == 2048
    # The template's marks for two roles, and the end of the message.
    assert model.prompt_tokens(prompted("zebra")) > model.count_tokens("zebra") + 4


def test_context_is_no_larger_than_the_model_was_made_for(folder: Path) -> None:
    write_tiny_gguf(folder / "short.gguf", context_length=512)
    opened = open_model("gguf:short.gguf", settings_for(folder, context_tokens=1024))
    assert opened.context_tokens == 512
    opened.close()


def test_a_prompt_beyond_the_context_is_refused_in_words(model: LlamaModel) -> None:
    with pytest.raises(ModelUnavailable, match=r"takes 2048"):
        list(model.stream(prompted("zebra " * 1000), max_tokens=5))


def test_control_tokens_in_a_passage_stay_text(model: LlamaModel) -> None:
    plain = model.tokens("</s><s>")
    assert not {1, 2} & set(plain)
    assert 2 in model.tokens("</s>", special=True)
    assert model.prompt(prompted("</s>")).count(2) == 1  # the template's own


def test_stops_between_tokens_and_can_be_asked_again(model: LlamaModel) -> None:
    stop = threading.Event()
    pieces = model.stream(prompted("sales"), max_tokens=500, cancelled=stop.is_set)
    next(pieces)
    stop.set()
    with pytest.raises(Cancelled):
        list(pieces)
    assert list(model.stream(prompted("sales"), max_tokens=5))


def test_stops_while_it_reads_a_long_prompt(model: LlamaModel) -> None:
    began = time.perf_counter()
    with pytest.raises(Cancelled):
        list(
            model.stream(prompted("zebra " * 220), max_tokens=5, cancelled=lambda: time.perf_counter() - began > 0.005)
        )
    assert list(model.stream(prompted("sales"), max_tokens=5))


def test_a_prompt_that_takes_too_long_is_given_up(model: LlamaModel) -> None:
    patience, model.silence_s = model.silence_s, 0.005
    with pytest.raises(ModelUnavailable, match="did not answer within"):
        list(model.stream(prompted("zebra " * 220), max_tokens=5))
    model.silence_s = patience
    assert list(model.stream(prompted("sales"), max_tokens=5))


def test_one_request_at_a_time_in_order(model: LlamaModel) -> None:
    order: list[str] = []
    first = model.stream(prompted("sales"), max_tokens=30)
    next(first)

    def ask(name: str) -> None:
        for place, _ in enumerate(model.stream(prompted("sales"), max_tokens=5)):
            if place == 0:
                order.append(name)

    threads = []
    for name in ("second", "third"):
        threads.append(threading.Thread(target=ask, args=(name,)))
        threads[-1].start()
        time.sleep(0.1)
    assert order == []
    order.append("first ends")
    first.close()
    for thread in threads:
        thread.join(10)
    assert order == ["first ends", "second", "third"]


def test_waiting_can_be_stopped(model: LlamaModel) -> None:
    first = model.stream(prompted("sales"), max_tokens=30)
    next(first)
    with pytest.raises(Cancelled, match="waiting"):
        next(model.stream(prompted("sales"), max_tokens=5, cancelled=lambda: True))
    first.close()
    assert list(model.stream(prompted("sales"), max_tokens=5))


def test_closed_is_said(folder: Path) -> None:
    opened = open_model("gguf:plain.gguf", settings_for(folder))
    opened.close()
    opened.close()
    with pytest.raises(ModelUnavailable, match="closed"):
        list(opened.stream(prompted("x"), max_tokens=1))
    with pytest.raises(ModelUnavailable, match="closed"):
        opened.count_tokens("x")


@pytest.mark.parametrize("cut", [30, 5_000, 200_000, -1])
def test_truncated_file(folder: Path, tmp_path: Path, cut: int) -> None:
    (tmp_path / "cut.gguf").write_bytes((folder / "plain.gguf").read_bytes()[:cut])
    with pytest.raises(ModelUnavailable, match="damaged") as caught:
        open_model("gguf:cut.gguf", settings_for(tmp_path))
    assert "again" in caught.value.help


def test_a_template_that_drops_the_question(tmp_path: Path) -> None:
    write_tiny_gguf(tmp_path / "bad.gguf", chat_template="{{ bos_token }}Hello")
    with pytest.raises(ModelUnavailable, match="leaves the question out"):
        open_model("gguf:bad.gguf", settings_for(tmp_path))


@pytest.mark.parametrize("template", ["{% if %}", "{{ raise_exception('no user role') }}"])
def test_a_template_that_fails(tmp_path: Path, template: str) -> None:
    write_tiny_gguf(tmp_path / "bad.gguf", chat_template=template)
    with pytest.raises(ModelUnavailable):
        open_model("gguf:bad.gguf", settings_for(tmp_path))


def test_long_prompts_cost_nothing_per_token(model: LlamaModel) -> None:
    started = time.process_time()
    assert said(model, *prompted("sales by town. " * 60), max_tokens=300)
    assert time.process_time() - started < 5


SYSTEM, ASKED = ChatMessage("system", "Be brief."), ChatMessage("user", "sales rose by percent " * 40)


def test_what_was_read_is_not_read_again(model: LlamaModel) -> None:
    read: list[int] = []
    evaluate = model._llm.eval
    model._llm.eval = lambda tokens: (read.append(len(tokens)), evaluate(tokens))
    first = "".join(said(model, SYSTEM, ASKED))
    whole = read[0]
    read.clear()
    said(model, SYSTEM, ASKED, ChatMessage("assistant", first), ChatMessage("user", "And the sales of 2 passages?"))
    assert read[0] < whole / 2


def test_the_system_s_text_is_the_template_s_or_stands_before_the_question(tmp_path: Path, model: LlamaModel) -> None:
    assert model._template.between([SYSTEM, ASKED])[:2] == ["<s><|system|>\n", "</s>\n<|user|>\n"]
    refuses = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}" + CHAT_TEMPLATE
    write_tiny_gguf(tmp_path / "user.gguf", chat_template=refuses)
    opened = open_model("gguf:user.gguf", settings_for(tmp_path))
    joined = prompted(f"Be brief.\n\n{ASKED.text}")
    assert opened.prompt_tokens([SYSTEM, ASKED]) == opened.prompt_tokens(joined)
    assert said(opened, SYSTEM, ASKED)
    opened.close()


def test_a_template_that_begins_with_thoughts(tmp_path: Path) -> None:
    write_tiny_gguf(tmp_path / "thinks.gguf", chat_template=CHAT_TEMPLATE + "<think>\n")
    opened = open_model("gguf:thinks.gguf", settings_for(tmp_path))
    *texts, last = opened.stream(prompted("x"), max_tokens=9)
    assert texts == []
    assert last.usage is not None
    assert last.usage.answer_tokens > 0
    opened.close()


def test_held_to_a_schema(model: LlamaModel) -> None:
    schema = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
    reply = json.loads("".join(said(model, *prompted("sales"), max_tokens=400, json_schema=schema)))
    assert isinstance(reply["sure"], bool)
