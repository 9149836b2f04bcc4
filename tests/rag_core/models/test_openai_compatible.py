"""Servers that speak OpenAI's protocol: llama-cpp-python's own, and one that a script tells how to fail."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
import traceback
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_core.errors import Cancelled, ModelUnavailable
from rag_core.models import ChatMessage, ChatModel, Usage, model_statuses, open_model, prompted
from rag_core.models.addresses import server_address
from rag_core.models.openai_compatible import list_models
from rag_core.settings import GenerationSettings, ServerSettings, Settings
from tests.conftest import PROJECT
from tests.rag_core.models.openai_server import Script, openai_server
from tests.rag_core.models.tiny_gguf import CHAT_TEMPLATE, write_tiny_gguf

KEY = "sk-secret-0123456789"
DIALOGUE = [ChatMessage("system", "Be brief."), *prompted("What did sales do?")]


def settings_for(url: str, timeout_s: float = 5, **values: Any) -> Settings:
    server = ServerSettings(address=url, key=KEY, models=("small", "big"))
    return Settings(server=server, generation=GenerationSettings(timeout_s=timeout_s), **values)


def said(model: ChatModel, **wanted: Any) -> list[str]:
    return [delta.text for delta in model.stream(DIALOGUE, **{"max_tokens": 99, **wanted}) if delta.text]


@pytest.fixture(scope="module")
def llama_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """llama-cpp-python's own server with a tiny model; gives its address."""
    for package in ("llama_cpp", "fastapi", "sse_starlette", "starlette_context"):
        pytest.importorskip(package, reason=f"{package} is not installed; see requirements-dev.txt")
    folder = tmp_path_factory.mktemp("server")
    write_tiny_gguf(folder / "tiny.gguf", chat_template=CHAT_TEMPLATE)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "llama_cpp.server", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--model", str(folder / "tiny.gguf"), "--model_alias", "tiny", "--n_ctx", "2048", "--n_threads", "1"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=PROJECT, stdout=log, stderr=log, env=os.environ | {"USE_MLOCK": "0"})
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            assert process.poll() is None, (folder / "log").read_text()
            try:
                urllib.request.urlopen(f"{url}/v1/models", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture
def script() -> Iterator[Script]:
    with openai_server() as running:
        yield running


@pytest.fixture
def model(script: Script) -> Iterator[ChatModel]:
    opened = open_model("server:small", settings_for(script.url))
    script.keys.clear()
    yield opened
    opened.close()


def test_llama_cpp_s_own_server(llama_server: str) -> None:
    settings = settings_for(llama_server, timeout_s=30)
    assert list_models(settings) == ("tiny",)
    opened = open_model("server:tiny", settings)
    # A letter is a token of this vocabulary: an estimate would say 10.
    assert opened.count_tokens("passage answer found percent") > 27
    *pieces, last = opened.stream(DIALOGUE, max_tokens=20)
    assert pieces
    assert last.usage is not None
    assert last.usage.answer_tokens <= 20
    schema = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
    reply = json.loads("".join(said(opened, max_tokens=400, json_schema=schema)))
    assert isinstance(reply["sure"], bool)
    left = opened.stream(DIALOGUE, max_tokens=40)
    next(left)
    left.close()
    assert said(opened, max_tokens=5)
    opened.close()


def test_streams_in_pieces_with_settings(script: Script, model: ChatModel) -> None:
    script.usage = {"prompt_tokens": 40, "completion_tokens": 7}
    *deltas, last = model.stream(DIALOGUE, max_tokens=99, stop=["\nQ:"])
    assert [delta.text for delta in deltas] == ["Sales rose ", "by 12 percent [1]."]
    assert last.usage == Usage(40, 7)
    request = script.requests[0]
    assert request["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What did sales do?"},
    ]
    wanted = ("model", "max_tokens", "temperature", "stop", "stream")
    assert [request[key] for key in wanted] == ["small", 99, 0.3, ["\nQ:"], True]


def test_the_first_piece_does_not_wait_for_the_last(script: Script, model: ChatModel) -> None:
    script.hang_before = 1
    pieces = model.stream(DIALOGUE, max_tokens=9)
    assert next(pieces).text == "Sales rose "
    script.release.set()
    assert next(pieces).text == "by 12 percent [1]."


def test_stops_between_pieces(script: Script, model: ChatModel) -> None:
    stop = threading.Event()
    pieces = model.stream(DIALOGUE, max_tokens=9, cancelled=stop.is_set)
    assert next(pieces).text
    stop.set()
    with pytest.raises(Cancelled):
        next(pieces)


def test_contexts_are_the_server_s_own_where_it_tells_them(script: Script, model: ChatModel) -> None:
    assert model.context_tokens == 4096
    assert open_model("server:big", settings_for(script.url)).context_tokens == 9000


@pytest.mark.parametrize(
    ("status", "message", "words"),
    [
        (400, "This model's maximum context length is 2048 tokens", "too long for the model"),
        (400, "bad request", "refused the request.*bad request"),
        (401, f"Incorrect API key provided: {KEY}", "refused the key"),
        (404, "try pulling it first", "no model called small.*pulling"),
        (429, "slow down", "no more questions"),
        (500, f"crashed with {KEY}", "failed to answer.*crashed"),
        (302, "", "refused the request"),
    ],
)
def test_errors_in_plain_words_without_the_key(
    script: Script, model: ChatModel, status: int, message: str, words: str
) -> None:
    script.status, script.message = status, message
    with pytest.raises(ModelUnavailable, match=words) as caught:
        said(model)
    assert caught.value.help
    assert caught.value.retryable == (status in (429, 500))
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY not in repr(model) + str(settings_for(script.url))


def test_a_model_that_is_gone_is_said_with_those_there_are(script: Script, model: ChatModel) -> None:
    script.gone, script.models = ("small",), ({"id": "large"}, {"id": "big"})
    with pytest.raises(ModelUnavailable, match=r"no model called small\. It has: big, large\."):
        said(model)


def test_what_a_server_does_not_know_is_left_out(script: Script, model: ChatModel) -> None:
    script.refuses = ("stream_options", "response_format")
    assert said(model)
    script.refuses, script.message = ("max_tokens",), "Use 'max_completion_tokens' instead."
    assert said(model)
    assert "max_tokens" not in script.requests[-1]
    assert script.requests[-1]["max_completion_tokens"] == 99


def test_failures_amid_the_stream(script: Script, model: ChatModel) -> None:
    script.fails_after = 1
    pieces = model.stream(DIALOGUE, max_tokens=9)
    assert next(pieces).text
    with pytest.raises(ModelUnavailable, match="went wrong"):
        next(pieces)
    script.fails_after, script.hang_before = -1, 1
    slow = open_model("server:small", settings_for(script.url, timeout_s=0.3))
    with pytest.raises(ModelUnavailable, match=r"within 0\.3 seconds"):
        said(slow)


def test_nobody_there_and_somebody_else() -> None:
    with openai_server() as script:
        url = script.url
        with pytest.raises(ModelUnavailable, match="no models there"):
            open_model("server:small", settings_for(f"{url}/elsewhere"))
        script.models = ()
        assert list_models(settings_for(url)) == ()
    with pytest.raises(ModelUnavailable, match="cannot be reached") as caught:
        list_models(settings_for(url))
    assert "Start the server" in caught.value.help


@pytest.mark.parametrize(
    ("text", "url", "here"),
    [
        ("localhost:11434", "http://localhost:11434/v1", True),
        (" http://127.0.0.1:1234/v1/ ", "http://127.0.0.1:1234/v1", True),
        ("http://[::1]:80", "http://[::1]:80/v1", True),
        ("http://192.168.1.7:11434", "http://192.168.1.7:11434/v1", False),
        ("https://example.org/openai/v1", "https://example.org/openai/v1", False),
    ],
)
def test_addresses(text: str, url: str, here: bool) -> None:
    address = server_address(text)
    assert (address.url, address.here) == (url, here)


@pytest.mark.parametrize(
    "text",
    ["", "http://", "http://example.org", "ftp://127.0.0.1", "http://127.0.0.1.evil.org", "http://a:b@127.0.0.1",
     "http://127.0.0.1:99999", "local host"],
)  # fmt: skip
def test_what_is_no_address_or_sends_passages_in_the_clear(text: str) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        server_address(text)
    assert caught.value.help


def test_elsewhere_only_with_consent() -> None:
    asked = settings_for("https://10.255.255.1")
    assert [status.ready for status in model_statuses(asked) if status.id.startswith("server:")] == [False, False]
    with pytest.raises(ModelUnavailable, match="not on this machine") as caught:
        open_model("server:small", asked)
    assert "leave this machine" in caught.value.help
    agreed = asked.model_copy(update={"allow_remote": True})
    found = [status for status in model_statuses(agreed) if status.id.startswith("server:")]
    assert all(status.ready and status.remote for status in found)
    assert found[0].label == "small (10.255.255.1)"


def test_statuses_ask_nobody(script: Script, tmp_path: Path) -> None:
    model_statuses(settings_for(script.url))
    assert (script.requests, script.keys) == ([], [])
    assert not any(status.id.startswith("server") for status in model_statuses(Settings(models_dir=tmp_path)))


@pytest.mark.parametrize(("finish", "cut"), [("length", True), ("stop", False), ("", False)])
def test_what_was_cut_is_said(script: Script, model: ChatModel, finish: str, cut: bool) -> None:
    script.finish = finish
    *_, last = model.stream(DIALOGUE, max_tokens=9)
    assert last.cut is cut
    assert last.usage is not None


def test_a_cut_answer_is_gone_on_with_in_words_and_not_said_twice(script: Script, model: ChatModel) -> None:
    script.texts = ("by 12 percent", " [1]. Costs", " fell [2].")
    begun = ChatMessage("assistant", "Sales rose by 12 percent [1].")
    written = [delta.text for delta in model.stream([*DIALOGUE, begun], max_tokens=9)]
    assert "".join(written) == " Costs fell [2]."
    sent = script.requests[-1]["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "user"]
    assert sent[2]["content"] == begun.text
    assert "cut off" in sent[3]["content"]
