"""Open models: kept while they are used, closed when nobody asks or their settings change."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed: it needs a C++ compiler")

from rag_core.errors import ModelUnavailable
from rag_core.models import opened as module
from rag_core.models import prompted
from rag_core.models.opened import OpenModels
from rag_core.settings import GenerationSettings, Settings
from tests.rag_core.models.tiny_gguf import write_tiny_gguf

TINY = "gguf:tiny.gguf"


@pytest.fixture
def models() -> Iterator[OpenModels]:
    opened = OpenModels()
    yield opened
    opened.close()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    write_tiny_gguf(tmp_path / "tiny.gguf")
    return Settings(models_dir=tmp_path, generation=GenerationSettings(context_tokens=512, idle_s=0.2))


def test_unloads_when_nobody_asks(models: OpenModels, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOOK_S", 0.05)
    model = models.get(TINY, settings)
    stream = model.stream(prompted("sales"), max_tokens=400)
    next(stream)
    time.sleep(0.4)
    assert models.loaded() == (TINY,)  # an answer is being written
    stream.close()
    until = time.monotonic() + 5
    while models.loaded() and time.monotonic() < until:
        time.sleep(0.05)
    assert models.loaded() == ()
    with pytest.raises(ModelUnavailable, match="closed"):
        model.count_tokens("x")
    assert models.get(TINY, settings) is not model


def test_kept_for_other_questions_and_opened_again_for_other_settings(models: OpenModels, settings: Settings) -> None:
    settings = settings.changed("generation", idle_s=0)
    model = models.get(TINY, settings)
    assert models.get(TINY, settings.changed("generation", max_tokens=7, model=TINY)) is model
    models.unload_idle()
    assert models.loaded() == (TINY,)
    assert models.get(TINY, settings.changed("generation", context_tokens=300)) is not model
    models.unload(TINY)
    models.unload(TINY)
    assert models.loaded() == ()
