"""The window of `lectern app`: a real server behind it, which ends with it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
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


def test_a_window_shows_a_server_of_its_own(tmp_path: Path, new_database: Callable[[], str]) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "webview.py").write_text(WEBVIEW)
    port = free_port()
    environment = {
        **os.environ, "DATABASE_URL": new_database(), "LECTERN_DATA_DIR": str(tmp_path / "library"),
        "PYTHONPATH": os.pathsep.join((str(tmp_path / "parts"), str(PROJECT))), "SEEN": str(tmp_path / "seen"),
    }  # fmt: skip
    words = [sys.executable, "-m", "rag_core", "app", "--port", str(port)]
    done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "seen").read_text().startswith(f"Lectern 200 http://127.0.0.1:{port}")
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/api/v1/health")
