"""Gemini against a local server that speaks its protocol."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_core import Library
from rag_core.errors import Cancelled, ModelUnavailable
from rag_core.models import ChatMessage, ChatModel, Usage, open_model, prompted
from rag_core.models.gemini import list_models
from rag_core.settings import GenerationSettings, Settings
from tests.conftest import PROJECT
from tests.rag_core.models.gemini_server import Script, gemini_server

KEY = "AIzaSecretKey-0123456789"


@pytest.fixture
def script() -> Iterator[Script]:
    with gemini_server() as running:
        yield running


def settings_for(url: str, **values: Any) -> Settings:
    name, timeout_s = values.pop("name", "gemini-test"), values.pop("timeout", 5)
    generation = GenerationSettings(gemini_endpoint=url, gemini_model=name, timeout_s=timeout_s)
    return Settings(generation=generation, **{"google_api_key": KEY, "allow_remote": True, **values})


@pytest.fixture
def model(script: Script) -> ChatModel:
    return open_model("gemini", settings_for(script.url))


def ask(model: ChatModel) -> str:
    return "".join(delta.text for delta in model.stream(prompted("What did sales do?"), max_tokens=99))


def test_streams_in_pieces_with_settings(script: Script, model: ChatModel) -> None:
    *deltas, last = model.stream(prompted("What did sales do?"), max_tokens=99)
    assert [delta.text for delta in deltas] == ["Sales rose ", "by 12 percent [1]."]
    assert last.usage is not None
    request = script.requests[0]
    assert "models/gemini-test:streamGenerateContent" in request["path"]
    assert request["generationConfig"] == {"maxOutputTokens": 99, "temperature": pytest.approx(0.3)}
    assert request["contents"][0]["parts"][0]["text"] == "What did sales do?"
    assert script.keys == [KEY]


def test_a_dialogue_a_schema_and_what_gemini_counted(script: Script, model: ChatModel) -> None:
    script.usage = {"promptTokenCount": 40, "candidatesTokenCount": 7}
    dialogue = [ChatMessage("system", "Be brief."), *prompted("a"), ChatMessage("assistant", "b"), *prompted("c")]
    *_, last = model.stream(dialogue, max_tokens=9, json_schema={"type": "object"})
    assert last.usage == Usage(40, 7)
    request = script.requests[0]
    assert request["systemInstruction"]["parts"][0]["text"] == "Be brief."
    assert [content["role"] for content in request["contents"]] == ["user", "model", "user"]
    assert request["generationConfig"]["responseMimeType"] == "application/json"


def test_the_first_piece_does_not_wait_for_the_last(script: Script, model: ChatModel) -> None:
    script.hang_before = 1
    pieces = model.stream(prompted("x"), max_tokens=9)
    assert next(pieces).text == "Sales rose "
    script.release.set()
    assert next(pieces).text == "by 12 percent [1]."


@pytest.mark.parametrize(
    ("status", "message", "words"),
    [
        (400, "API key not valid. Please pass a valid API key.", "refused the key"),
        (400, "Invalid value at contents", "refused the request"),
        (401, "no", "refused the key"),
        (403, f"Permission denied for {KEY}", "refused the key"),
        (404, "models/gemini-test is not found", "no model called gemini-test"),
        (429, "Resource has been exhausted", "quota"),
        (500, "internal", "failed to answer"),
        (503, "overloaded", "failed to answer"),
    ],
)
def test_errors_in_plain_words_without_the_key(
    script: Script, model: ChatModel, status: int, message: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    script.status, script.message = status, message
    with caplog.at_level(logging.DEBUG), pytest.raises(ModelUnavailable, match=words) as caught:
        ask(model)
    assert caught.value.help
    assert caught.value.retryable == (status in (429, 500, 503))
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY not in caplog.text


def test_silence_is_a_timeout(script: Script) -> None:
    script.hang_before = 0
    model = open_model("gemini", settings_for(script.url, timeout=0.3))
    with pytest.raises(ModelUnavailable, match=r"within 0\.3 seconds"):
        ask(model)


def test_silence_in_the_middle_is_a_timeout(script: Script) -> None:
    script.hang_before = 1
    model = open_model("gemini", settings_for(script.url, timeout=0.3))
    pieces = model.stream(prompted("x"), max_tokens=9)
    assert next(pieces).text == "Sales rose "
    with pytest.raises(ModelUnavailable, match="did not answer"):
        next(pieces)


def test_nobody_there() -> None:
    with gemini_server() as script:
        url = script.url
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        ask(open_model("gemini", settings_for(url)))


def test_blocked_question(script: Script, model: ChatModel) -> None:
    script.block = "SAFETY"
    with pytest.raises(ModelUnavailable, match="blocked the question"):
        ask(model)


@pytest.mark.parametrize("reason", ["SAFETY", "RECITATION"])
def test_blocked_answer(script: Script, model: ChatModel, reason: str) -> None:
    script.finish = reason
    with pytest.raises(ModelUnavailable, match=f"blocked its own answer.*{reason}"):
        ask(model)


def test_the_longest_answer_is_no_failure(script: Script, model: ChatModel) -> None:
    script.finish = "MAX_TOKENS"
    assert ask(model) == "Sales rose by 12 percent [1]."
    assert [*model.stream(prompted("x"), max_tokens=9)][-1].cut
    script.finish = "STOP"
    assert not [*model.stream(prompted("x"), max_tokens=9)][-1].cut


def test_not_gemini_at_all(script: Script, model: ChatModel) -> None:
    script.texts = ()
    assert ask(model) == ""


def test_stops_between_pieces(script: Script, model: ChatModel) -> None:
    stop = threading.Event()
    pieces = model.stream(prompted("x"), max_tokens=9, cancelled=stop.is_set)
    assert next(pieces)
    stop.set()
    with pytest.raises(Cancelled):
        next(pieces)


def test_two_requests_at_once(script: Script, model: ChatModel) -> None:
    first, second = model.stream(prompted("a"), max_tokens=9), model.stream(prompted("b"), max_tokens=9)
    assert next(first).text == next(second).text == "Sales rose "


def test_the_key_is_not_in_its_repr(model: ChatModel) -> None:
    assert KEY not in repr(model) + str(vars(model))


def test_needs_key_and_consent(script: Script, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="may leave this machine"):
        open_model("gemini", settings_for(script.url, allow_remote=False))
    with pytest.raises(ModelUnavailable, match="needs a key"):
        open_model("gemini", settings_for(script.url, google_api_key=None))
    assert not script.requests


@pytest.mark.parametrize(
    "url", ["http://example.org", "ftp://127.0.0.1", "http://10.0.0.1:80", "http://127.0.0.1.evil.org"]
)
def test_key_and_passages_are_never_sent_in_the_clear(url: str) -> None:
    with pytest.raises(ModelUnavailable, match="not an https address"):
        open_model("gemini", settings_for(url))


def test_counts_on_the_safe_side(model: ChatModel) -> None:
    assert model.count_tokens("Sales rose by twelve percent.") >= 7
    began = time.perf_counter()
    model.count_tokens("x" * 1_000_000)
    assert time.perf_counter() - began < 0.5


TODAY = (
    "gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-3.5-flash-lite-001", "gemini-3.5-flash-lite",
    "gemini-3.5-flash",
    "gemini-3.5-pro", "gemini-3.8-flash-preview", "gemini-3.8-flash-image", "gemini-3.8-flash-preview-tts",
    "gemini-embedding-2", "gemini-flash-latest", "gemini-live-3.8-flash", "gemma-4-27b-it", "imagen-5",
)  # fmt: skip


@pytest.mark.parametrize(
    ("more", "first"),
    [
        ((), "gemini-3.5-flash-lite"),
        (("gemini-3.8-flash",), "gemini-3.8-flash"),
        (("gemini-4-pro", "gemini-4-flash-001"), "gemini-4-flash-001"),
        (("gemini-10-flash-lite", "gemini-10-flash", "gemini-9-flash"), "gemini-10-flash-lite"),
    ],
)
def test_the_newest_small_one_is_proposed(script: Script, more: tuple[str, ...], first: str) -> None:
    script.models = (*TODAY, *more)
    names = list_models(settings_for(script.url))
    assert names[0] == first
    assert {"gemini-3.5-pro", "gemini-2.5-flash-lite", "gemini-flash-latest"} <= {*names}
    assert not [name for name in names if any(word in name for word in ("preview", "image", "tts", "embed", "gemma"))]


def test_where_none_is_named_the_list_decides(script: Script) -> None:
    script.models = TODAY
    model = open_model("gemini", settings_for(script.url, name=""))
    assert model.label == "Gemini (gemini-3.5-flash-lite)"
    assert ask(model) == "Sales rose by 12 percent [1]."
    assert "models/gemini-3.5-flash-lite:streamGenerateContent" in script.requests[0]["path"]


def test_a_model_that_is_gone_is_said_with_those_there_are(script: Script) -> None:
    script.models, script.gone = TODAY, ("gemini-test",)
    with pytest.raises(
        ModelUnavailable, match=r"no model called gemini-test\. It has: gemini-3\.5-flash-lite"
    ) as caught:
        ask(open_model("gemini", settings_for(script.url)))
    assert "Models page" in caught.value.help
    assert not caught.value.retryable


@pytest.mark.parametrize(
    ("status", "message", "words"),
    [(400, "API key not valid", "refused the key"), (404, "no", "no list"), (500, "", "failed")],
)
def test_a_list_that_is_not_had(script: Script, status: int, message: str, words: str) -> None:
    script.status, script.message = status, f"{message} {KEY}"
    with pytest.raises(ModelUnavailable, match=words) as caught:
        open_model("gemini", settings_for(script.url, name=""))
    assert KEY not in "".join(traceback.format_exception(caught.value))
    script.status, script.models = 200, ("embedding-9",)
    with pytest.raises(ModelUnavailable, match="no model for this key"):
        open_model("gemini", settings_for(script.url, name=""))


def test_a_choice_is_kept_and_gives_way_to_the_settings(script: Script, settings: Settings) -> None:
    script.models, script.gone = TODAY, ("gemini-2.5-flash",)
    plain = settings_for(script.url, name="", data_dir=settings.data_dir, database_url=settings.database_url)
    with Library.open(plain) as library:
        assert library.language_models.gemini_model == ""
        assert library.language_models.gemini_models()[0] == "gemini-3.5-flash-lite"
        library.language_models.choose_gemini_model("gemini-2.5-flash")
    with Library.open(plain) as library:
        status = library.language_models.statuses()[-1]
        assert status.label == "Gemini (gemini-2.5-flash)"
        with pytest.raises(ModelUnavailable, match=r"no model called gemini-2\.5-flash"):
            ask(open_model("gemini", library.preferences.chosen))
        library.language_models.choose_gemini_model("")
        assert ask(open_model("gemini", library.preferences.chosen))
        library.language_models.choose_gemini_model("gemini-3.5-pro")
    with Library.open(plain.changed("generation", gemini_model="gemini-3.5-flash")) as library:
        assert library.language_models.gemini_model == "gemini-3.5-flash"


def test_who_asks_is_told_nothing_of_packages_whose_support_ends() -> None:
    code = "from rag_core.models.gemini import _client; _client('key', '')"
    done = subprocess.run([sys.executable, "-W", "default", "-c", code], cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 0
    assert "FutureWarning" not in done.stderr
