"""The language models of this machine as a person sees them: files, suggestions, a server, and what is kept of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core import Library, Settings
from rag_core.errors import ConfigurationError, LecternError, ModelUnavailable
from tests.rag_core.models.hub_server import hub_server
from tests.rag_core.models.openai_server import Script, openai_server
from tests.rag_core.models.tiny_gguf import CHAT_TEMPLATE, write_tiny_gguf

KEY = "sk-secret"


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    return settings.model_copy(update={"models_dir": tmp_path / "models"})


@pytest.fixture
def script() -> Iterator[Script]:
    with openai_server() as running:
        yield running


def test_files_with_what_they_say_and_what_is_wrong_with_them(library: Library, settings: Settings) -> None:
    models = library.language_models
    assert models.files() == ()
    settings.models_dir.mkdir()
    write_tiny_gguf(settings.models_dir / "tiny.gguf", chat_template=CHAT_TEMPLATE, context_length=512)
    (settings.models_dir / "broken.gguf").write_bytes(b"<html>")
    (settings.models_dir / "gone.gguf").symlink_to(settings.models_dir / "nowhere")
    broken, gone, tiny = models.files()
    assert "damaged" in broken.problem
    assert "leads nowhere" in gone.problem
    models.remove(gone.id)
    assert [file.id for file in models.files()] == [broken.id, tiny.id]
    assert (tiny.title, tiny.architecture, tiny.context_tokens, tiny.has_template) == ("tiny", "llama", 512, True)
    assert tiny.fits
    assert tiny.memory_bytes > tiny.size_bytes
    assert not tiny.loaded
    machine = models.machine()
    assert machine.memory_bytes >= machine.free_bytes > 0


def test_a_model_is_in_memory_while_it_answers_and_goes_with_its_file(library: Library, settings: Settings) -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed: it needs a C++ compiler")
    settings.models_dir.mkdir()
    write_tiny_gguf(settings.models_dir / "tiny.gguf")
    models = library.language_models
    library.asking.language_model("gguf:tiny.gguf", settings)
    assert models.files()[0].loaded
    models.remove("gguf:tiny.gguf")
    assert models.files() == ()
    for name in ("gguf:tiny.gguf", "gguf:../tiny.gguf"):
        with pytest.raises(ModelUnavailable):
            models.remove(name)


def test_suggestions_fit_by_the_machine_s_memory(library: Library) -> None:
    found = library.language_models.suggestions()
    sizes = [model.memory_bytes for model in found]
    assert sizes == sorted(sizes)
    assert all(model.memory_bytes > model.size_bytes and model.wanted.endswith(".gguf") for model in found)
    assert found[0].fits
    assert not any(model.present for model in found)


def test_a_download_is_a_model_that_can_be_chosen(settings: Settings, tmp_path: Path) -> None:
    with hub_server() as hub:
        hub.files["me/tiny/tiny-Q4_K_M.gguf"] = write_tiny_gguf(tmp_path / "x.gguf").read_bytes()
        with Library.open(settings.model_copy(update={"hub_url": hub.url})) as library:
            *_, last = library.language_models.download("me/tiny")
            assert last.stage == "done"
            assert "gguf:tiny-Q4_K_M.gguf" in [model.id for model in library.language_models.statuses()]
            assert library.language_models.unfinished() == ()


def test_a_server_is_asked_used_kept_and_forgotten(
    library: Library, script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    models = library.language_models
    assert models.server().address == ""
    assert models.served(script.url, KEY) == ("big", "small")
    assert models.server().address == ""  # asking sets nothing
    models.use_server(script.url, KEY, ("small",), agreed=False, keep=True)
    server = models.server()
    assert (server.models, server.has_key, server.here, server.problem) == (("small",), True, True, "")
    assert "server:small" in [model.id for model in library.language_models.statuses() if model.ready]
    script.keys.clear()
    models.served(script.url)
    assert script.keys == [f"Bearer {KEY}"]  # the key that is set
    kept = Settings(_env_file=tmp_path / ".env").server
    assert (kept.address, kept.models) == (script.url, ("small",))
    assert kept.key is not None
    assert kept.key.get_secret_value() == KEY
    assert (tmp_path / ".env").stat().st_mode & 0o077 == 0
    models.forget_server()
    assert models.server().address == ""
    assert KEY not in (tmp_path / ".env").read_text()


def test_a_key_goes_to_the_address_that_it_was_given_for_alone(library: Library, script: Script) -> None:
    models = library.language_models
    models.use_server("http://127.0.0.1:9", KEY, ("x",), agreed=False, keep=False)
    models.served(script.url)
    assert script.keys == [""]


def test_a_server_elsewhere_needs_the_user_s_word(library: Library) -> None:
    models = library.language_models
    with pytest.raises(ModelUnavailable, match="not on this machine"):
        models.use_server("https://10.255.255.1", KEY, ("x",), agreed=False, keep=False)
    models.use_server("https://10.255.255.1", KEY, ("x",), agreed=True, keep=False)
    (status,) = [model for model in library.language_models.statuses() if model.id == "server:x"]
    assert status.ready
    assert status.remote


@pytest.mark.parametrize(
    ("address", "key", "names"),
    [("", KEY, ("x",)), ("local host", KEY, ("x",)), ("localhost", "a\nB=1", ("x",)), ("localhost", "", ("a'b",))],
)
def test_what_cannot_be_written_down_is_refused(
    library: Library, address: str, key: str, names: tuple[str, ...]
) -> None:
    with pytest.raises(LecternError) as caught:
        library.language_models.use_server(address, key, names, agreed=False, keep=False)
    assert isinstance(caught.value, ConfigurationError | ModelUnavailable)
    assert caught.value.help
