"""The command `models`: what there is, and getting more from a server that speaks the hub's protocol."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_core.cli import main
from tests.rag_core.models.hub_server import hub_server
from tests.rag_core.models.tiny_gguf import write_tiny_gguf


def test_listed_downloaded_and_removed(
    tmp_path: Path,
    new_database: Callable[[], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", new_database())
    monkeypatch.setenv("LECTERN_DATA_DIR", str(tmp_path / "library"))
    monkeypatch.setenv("LECTERN_MODELS_DIR", str(tmp_path / "models"))

    def run(*arguments: str) -> tuple[int, str, str]:
        return main(["models", *arguments]), *capsys.readouterr()

    with hub_server() as hub:
        monkeypatch.setenv("LECTERN_HUB_URL", hub.url)
        hub.files["me/tiny/tiny-F16.gguf"] = write_tiny_gguf(tmp_path / "x.gguf").read_bytes()
        code, out, _ = run("--download", "me/tiny")
        assert (code, out.splitlines()) == (0, ["finding me/tiny", "done tiny-F16.gguf"])
        code, _, error = run("--download", "me/tiny", "--sha256", "0" * 64)
        assert code == 1
        assert "already" in error
    found = [json.loads(line) for line in run("--json")[1].splitlines()]
    (tiny,) = [model for model in found if model["id"] == "gguf:tiny-F16.gguf"]
    assert tiny["file"]["context_tokens"] == 2048
    assert "2048 tokens" in run()[1]
    assert run("--remove", "tiny-F16.gguf")[:2] == (0, "Removed tiny-F16.gguf.\n")
    assert run("--remove", "tiny-F16.gguf")[0] == 1
