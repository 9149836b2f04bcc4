from __future__ import annotations

from pathlib import Path

import pytest

from rag_core import Library, Settings
from rag_core.errors import ConfigurationError, ModelUnavailable


def gemini(library: Library) -> tuple[bool, str]:
    (status,) = [model for model in library.language_models.statuses() if model.id == "gemini"]
    assert status.remote
    return status.ready, status.reason


def test_a_key_alone_sends_nothing(settings: Settings) -> None:
    with Library.open(settings.with_key("a-key")) as library:
        ready, reason = gemini(library)
        assert not ready
        assert reason
        with pytest.raises(ModelUnavailable):
            library.ask("Anything?", model="gemini")


def test_key_and_word_make_it_ready_and_can_be_taken_back(
    library: Library, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert not gemini(library)[0]
    library.language_models.use_gemini(" a-key ", keep=True)
    assert gemini(library) == (True, "")
    assert (tmp_path / ".env").read_text() == "GOOGLE_API_KEY=a-key\n"
    library.language_models.forget_gemini()
    assert not gemini(library)[0]
    assert "a-key" not in (tmp_path / ".env").read_text()


def test_the_word_is_kept_only_when_asked(settings: Settings) -> None:
    with Library.open(settings) as library:
        library.language_models.use_gemini("a-key", keep=False)
        assert gemini(library)[0]
    with Library.open(settings.with_key("a-key")) as library:
        assert not gemini(library)[0]


def test_an_odd_key_is_refused(library: Library) -> None:
    for key in ("", "  ", "line\nbreak"):
        with pytest.raises(ConfigurationError):
            library.language_models.use_gemini(key, keep=False)
