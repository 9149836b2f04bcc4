"""The window of `lectern app`: a real server behind it, which ends with it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.conftest import PROJECT

# A stand-in for pywebview: its window is a request, and closes at once.
WEBVIEW = """
import os, urllib.request
_asked = []
def create_window(title, address, **options):
    _asked.append((title, address))
def start():
    title, address = _asked[0]
    with urllib.request.urlopen(address.partition("?")[0]) as found:
        open(os.environ["SEEN"], "w").write(f"{title} {found.status} {address}")
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


Environment = Callable[..., dict[str, str]]


@pytest.fixture
def environment(tmp_path: Path, new_database: Callable[[], str]) -> Environment:
    """What the command runs in: a screen, a stand-in for pywebview, and a browser that writes down its address."""
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path / "browsed"}\n')
    browser.chmod(0o755)

    def of(webview: str, **more: str) -> dict[str, str]:
        (tmp_path / "parts").mkdir()
        (tmp_path / "parts" / "webview.py").write_text(webview)
        return {
            **os.environ, "DATABASE_URL": new_database(), "LECTERN_DATA_DIR": str(tmp_path / "library"),
            "PYTHONPATH": os.pathsep.join((str(tmp_path / "parts"), str(PROJECT))), "SEEN": str(tmp_path / "seen"),
            "DISPLAY": ":9", "BROWSER": f"{browser} %s",
        } | more  # fmt: skip

    return of


def words(port: int) -> list[str]:
    return [sys.executable, "-m", "rag_core", "app", "--port", str(port)]


def test_a_window_shows_a_server_of_its_own(tmp_path: Path, environment: Environment) -> None:
    port, place = free_port(), environment(WEBVIEW)
    done = subprocess.run(words(port), env=place, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "seen").read_text().startswith(f"Lectern 200 http://127.0.0.1:{port}")
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/api/v1/health")


def test_where_no_toolkit_opens_a_window_a_browser_does_and_the_server_stays(
    tmp_path: Path, environment: Environment
) -> None:
    broken = WEBVIEW.partition("def start")[0] + "def start():\n    raise RuntimeError('You must have GTK.')\n"
    port = free_port()
    with begun(words(port), environment(broken), tmp_path) as process:
        assert process.stdout is not None
        told = process.stdout.readline()
        assert told.startswith(
            f"No window could be opened: You must have GTK. Opened in the browser: http://127.0.0.1:{port}"
        )
        assert httpx.get(f"http://127.0.0.1:{port}/api/v1/health").status_code == 200
        assert told.strip().endswith((tmp_path / "browsed").read_text().strip())
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/api/v1/health")


def test_without_a_screen_that_is_said_and_the_server_comes(tmp_path: Path, environment: Environment) -> None:
    port = free_port()
    with begun(words(port), environment(WEBVIEW, DISPLAY="", WAYLAND_DISPLAY=""), tmp_path) as process:
        assert process.stdout is not None
        told = [process.stdout.readline() for _ in range(2)]
    assert told == ["There is no screen here for a window or a browser.\n", f"Lectern: http://127.0.0.1:{port}\n"]
    assert not (tmp_path / "seen").exists()
    assert not (tmp_path / "browsed").exists()


@contextmanager
def begun(command: list[str], environment: dict[str, str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A command that goes on until it is told to end."""
    process = subprocess.Popen(
        command, env={**environment, "PYTHONUNBUFFERED": "1"}, cwd=folder, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=60)
