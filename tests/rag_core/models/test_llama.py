"""The real llama.cpp on a tiny model with random weights."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed: it needs a C++ compiler")

from rag_core.errors import Cancelled, ModelUnavailable
from rag_core.models import open_model
from rag_core.models.llama import LlamaModel, until_stop
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


@pytest.mark.parametrize("name", ["plain", "chat"])
def test_streams_piece_by_piece(folder: Path, name: str) -> None:
    opened = open_model(f"gguf:{name}.gguf", settings_for(folder))
    pieces = list(opened.stream("sales rose", max_tokens=12))
    assert 2 <= len(pieces) <= 12
    # Weights drawn by chance may say any byte: the text need not be printable, but its characters are whole.
    assert "".join(pieces).encode()
    opened.close()


def test_counts_its_own_tokens(model: LlamaModel) -> None:
    # Words of the vocabulary are one token each, everything else one per byte and one for the word's mark.
    assert model.count_tokens("") == 0
    assert model.count_tokens("zebra") < model.count_tokens("zebra zebra")
    assert model.context_tokens == 2048
    assert model.prompt_overhead() > 4


def test_context_is_no_larger_than_the_model_was_made_for(folder: Path) -> None:
    write_tiny_gguf(folder / "short.gguf", context_length=512)
    opened = open_model("gguf:short.gguf", settings_for(folder, context_tokens=1024))
    assert opened.context_tokens == 512
    opened.close()


def test_a_prompt_beyond_the_context_is_refused_in_words(model: LlamaModel) -> None:
    with pytest.raises(ModelUnavailable, match=r"takes 2048"):
        list(model.stream("zebra " * 1000, max_tokens=5))


def test_control_tokens_in_a_passage_stay_text(model: LlamaModel) -> None:
    plain = model._tokens("</s><s>")
    assert not {1, 2} & set(plain)
    assert 2 in model._tokens("</s>", special=True)
    assert 2 in model._before + model._after


def test_stops_between_tokens_and_can_be_asked_again(model: LlamaModel) -> None:
    stop = threading.Event()
    pieces = model.stream("sales", max_tokens=500, cancelled=stop.is_set)
    next(pieces)
    stop.set()
    with pytest.raises(Cancelled):
        list(pieces)
    assert list(model.stream("sales", max_tokens=5))


def test_stops_while_it_reads_a_long_prompt(model: LlamaModel) -> None:
    began = time.perf_counter()
    with pytest.raises(Cancelled):
        list(model.stream("zebra " * 220, max_tokens=5, cancelled=lambda: time.perf_counter() - began > 0.005))
    assert list(model.stream("sales", max_tokens=5))


def test_one_request_at_a_time_in_order(model: LlamaModel) -> None:
    order: list[str] = []
    first = model.stream("sales", max_tokens=30)
    next(first)

    def ask(name: str) -> None:
        for place, _ in enumerate(model.stream("sales", max_tokens=5)):
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
    first = model.stream("sales", max_tokens=30)
    next(first)
    with pytest.raises(Cancelled, match="waiting"):
        next(model.stream("sales", max_tokens=5, cancelled=lambda: True))
    first.close()
    assert list(model.stream("sales", max_tokens=5))


def test_closed_is_said(folder: Path) -> None:
    opened = open_model("gguf:plain.gguf", settings_for(folder))
    opened.close()
    opened.close()
    with pytest.raises(ModelUnavailable, match="closed"):
        list(opened.stream("x", max_tokens=1))
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


@pytest.mark.parametrize(
    ("pieces", "written"),
    [
        (["An ans", "wer."], "An answer."),
        (["One", "\nQues", "tion: two"], "One"),
        (["One\n", "Quest", "s go on"], "One\nQuests go on"),
        (["All of it\nQuestion:"], "All of it"),
        (["ends with\n"], "ends with\n"),
        ([], ""),
    ],
)
def test_text_ends_before_a_stop_that_comes_in_pieces(pieces: list[str], written: str) -> None:
    assert "".join(until_stop(pieces, ["\nQuestion:"])) == written


def test_long_prompts_cost_nothing_per_token(model: LlamaModel) -> None:
    started = time.process_time()
    assert "".join(model.stream("sales by town. " * 60, max_tokens=300, cancelled=lambda: False))
    assert time.process_time() - started < 5
