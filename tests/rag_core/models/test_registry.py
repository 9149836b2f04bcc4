"""Which models there are, and why some are not ready."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from rag_core.errors import ModelUnavailable
from rag_core.models import gemini, gguf, gguf_files, model_statuses, open_model
from rag_core.settings import Settings

HEAD = b"GGUF" + (3).to_bytes(4, "little") + (9).to_bytes(8, "little") + bytes(8)


def settings_for(folder: Path, **values: object) -> Settings:
    return Settings(**{"models_dir": folder, "google_api_key": None, **values})


def test_order_and_reasons(tmp_path: Path) -> None:
    (tmp_path / "b.gguf").write_bytes(HEAD)
    (tmp_path / "a.gguf").write_bytes(b"<html>not found</html>      ")
    (tmp_path / "notes.txt").write_text("x")
    statuses = model_statuses(settings_for(tmp_path))
    assert [status.id for status in statuses] == ["extractive", "gguf:a.gguf", "gguf:b.gguf", "gemini"]
    assert [status.ready for status in statuses[:2]] == [True, False]
    assert "damaged" in statuses[1].reason
    assert statuses[3].remote
    assert "key" in statuses[3].reason


@pytest.mark.parametrize("make", [True, False])
def test_no_file_says_which_folder(tmp_path: Path, make: bool) -> None:
    folder = tmp_path / "models"
    if make:
        folder.mkdir()
    status = model_statuses(settings_for(folder))[1]
    assert not status.ready
    assert str(folder) in status.reason


def test_missing_package_says_how_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.gguf").write_bytes(HEAD)
    for module in (gguf_files, gemini):
        monkeypatch.setattr(module, "find_spec", lambda name: None)
    _, local, remote = model_statuses(settings_for(tmp_path))
    assert "make llama" in local.reason
    assert "pip install google-generativeai" in remote.reason


def test_gemini_wants_consent(tmp_path: Path) -> None:
    asked = model_statuses(settings_for(tmp_path, google_api_key="k"))[-1]
    assert not asked.ready
    assert "leave this machine" in asked.reason
    assert model_statuses(settings_for(tmp_path, google_api_key="k", allow_remote=True))[-1].ready


@pytest.mark.parametrize(
    "name", ["../a.gguf", "/etc/passwd", "sub/a.gguf", "a.gguf\0", "", "..", "a.bin", "..\\a.gguf", "missing.gguf"]
)
def test_never_outside_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.gguf").write_bytes(HEAD)
    folder = tmp_path / "models"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.gguf").write_bytes(HEAD)
    with pytest.raises(ModelUnavailable) as caught:
        open_model(f"gguf:{name}", settings_for(folder))
    assert caught.value.help


def test_never_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(HEAD)
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "link.gguf").symlink_to(tmp_path / "a.gguf")
    with pytest.raises(ModelUnavailable, match="outside"):
        open_model("gguf:link.gguf", settings_for(folder))


def test_a_link_is_listed_as_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf, "llama_missing", lambda: "")
    (tmp_path / "a.gguf").write_bytes(HEAD)
    real = tmp_path / "models"
    (real / "sub").mkdir(parents=True)
    (real / "sub" / "a.gguf").write_bytes(HEAD)
    for name, target in (
        ("inside", real / "sub" / "a.gguf"),
        ("outside", tmp_path / "a.gguf"),
        ("nowhere", real / "b"),
    ):
        (real / f"{name}.gguf").symlink_to(target)
    (tmp_path / "link").symlink_to(real)
    for folder in (real, tmp_path / "link"):
        listed = {status.id: (status.ready, status.reason) for status in gguf.gguf_statuses(folder)}
        assert [ready for ready, _ in listed.values()] == [True, False, False]
        for model_id, (ready, reason) in listed.items():
            if ready:
                assert gguf_files.gguf_path(model_id.removeprefix("gguf:"), folder)
                continue
            with pytest.raises(ModelUnavailable) as caught:
                open_model(model_id, settings_for(folder))
            assert str(caught.value) in reason


@pytest.mark.parametrize("content", [b"", b"GGUF", b"PK\x03\x04" + bytes(60), b"GGUF" + bytes(60)])
def test_what_is_no_model_never_reaches_c_code(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.gguf").write_bytes(content)
    with pytest.raises(ModelUnavailable, match="not a model in GGUF form"):
        open_model("gguf:a.gguf", settings_for(tmp_path))


def test_unknown_model(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="no model called 'gpt'"):
        open_model("gpt", settings_for(tmp_path))


def test_fast_and_light(tmp_path: Path) -> None:
    code = (
        "import sys; from rag_core.models import model_statuses; from rag_core.settings import Settings;"
        f"model_statuses(Settings(models_dir={str(tmp_path)!r}));"
        "heavy = {'llama_cpp', 'google.generativeai', 'langchain_core', 'torch', 'sentence_transformers'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    began = time.perf_counter()
    model_statuses(settings_for(tmp_path))
    assert time.perf_counter() - began < 0.1
