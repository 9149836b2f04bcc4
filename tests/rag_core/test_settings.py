from __future__ import annotations

import socket
import stat
from pathlib import Path

import pytest

from rag_core import Cancellation, Settings, port, secrets
from rag_core.errors import ConfigurationError


def test_a_misspelt_name_fails() -> None:
    with pytest.raises(ConfigurationError, match="dta_dir"):
        Settings.load(dta_dir="x")
    with pytest.raises(ConfigurationError, match="sze"):
        Settings.load(chunking={"sze": 1})


def test_values_are_checked() -> None:
    with pytest.raises(ConfigurationError, match="overlap"):
        Settings.load(chunking={"size": 100, "overlap": 100})
    with pytest.raises(ConfigurationError, match="k"):
        Settings.load().changed("retrieval", k=0)


def test_the_environment_and_env_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LECTERN_CHUNKING__SIZE", "800")
    (tmp_path / ".env").write_text("OTHER_PROGRAM=1\nGOOGLE_API_KEY=hidden\nLECTERN_RETRIEVAL__K=3\n")
    settings = Settings.load()
    assert (settings.chunking.size, settings.retrieval.k) == (800, 3)
    assert settings.google_api_key is not None
    assert "hidden" not in repr(settings)


def test_the_key_is_kept_for_its_owner_alone_and_forgotten(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("OTHER=1\nGOOGLE_API_KEY=old\n")
    secrets.keep_key("new")
    assert (tmp_path / ".env").read_text() == "OTHER=1\nGOOGLE_API_KEY=new\n"
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    secrets.forget_key()
    assert (tmp_path / ".env").read_text() == "OTHER=1\n"


def test_a_port_in_use_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        assert port.main([str(number)]) == 1
    assert "PORT=8502" in capsys.readouterr().err
    assert port.main([str(number)]) == 0
    assert port.main(["x"]) == 2


def test_a_cancellation_is_whole_or_for_one_source() -> None:
    token = Cancellation()
    token.cancel("a")
    assert token.is_set("a")
    assert not token.is_set("b")
    assert not token.is_set()
    token.cancel()
    assert token.is_set("b")
