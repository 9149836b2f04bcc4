"""The server of the pages as strangers find it: framed, commanded, half asked, behind a key that has ended."""

from __future__ import annotations

import base64
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from rag_core import Library, Settings
from tests.browser.conftest import Server
from tests.conftest import PROJECT

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@contextmanager
def framing(url: str) -> Iterator[str]:
    """A page of another site that has Lectern in a frame."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(f"<h1>Win a prize</h1><iframe src='{url}' width=900 height=700></iframe>".encode())

        def log_message(self, *arguments: object) -> None:
            return

    site = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=site.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{site.server_address[1]}/"
    finally:
        site.shutdown()
        site.server_close()


def test_another_site_can_neither_frame_nor_command_the_pages(server: Server, browser: Browser) -> None:
    assert httpx.get(f"{server.url}/_stcore/host-config").json()["allowedOrigins"] == []
    for path in ("", "chat", "api/v1/docs", "_stcore/health"):
        with framing(f"{server.url}/{path}") as address, closing(browser.new_page()) as page:
            page.goto(address)
            page.wait_for_timeout(1500)
            (frame,) = page.main_frame.child_frames
            assert "Lectern" not in frame.content()
            assert not frame.locator("#root, details").count()


def test_a_head_that_does_not_end_is_cut_off(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])), timeout=60) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        began = time.monotonic()
        assert slow.recv(1) == b""
        assert 10 < time.monotonic() - began < 30


def test_started_from_anywhere_it_is_as_shut(tmp_path: Path) -> None:
    with started(tmp_path, "run", "--no-browser") as url:
        assert httpx.get(f"{url}/_stcore/host-config").json()["allowedOrigins"] == []
        assert httpx.get(url).headers["X-Frame-Options"] == "DENY"


@contextmanager
def started(folder: Path, *command: str) -> Iterator[str]:
    """`lectern ...` from a folder that has nothing of Lectern in it, until the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {"PYTHONPATH": str(PROJECT), "LECTERN_DATA_DIR": str(folder / "library")}
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "rag_core", *command, "--port", str(port)],
            cwd=folder, stdout=output, stderr=subprocess.STDOUT, env=environment,
        )  # fmt: skip
    try:
        url = f"http://127.0.0.1:{port}"
        _reached(port, process, log)
        yield url
    finally:
        process.terminate()
        process.wait(30)


def _reached(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        assert process.poll() is None, log.read_text()
        try:
            httpx.get(f"http://127.0.0.1:{port}/_stcore/health", timeout=5)
        except httpx.HTTPError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(log.read_text())


def test_a_page_that_is_open_ends_with_its_key(tmp_path: Path) -> None:
    with Library.open(Settings(_env_file=None, data_dir=tmp_path / "library")) as library:
        owner, chief = library.access.create("owner", "admin")[1], library.access.create("chief", "admin")
    with started(tmp_path, "serve", "--address", "0.0.0.0") as url:
        keyed = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {owner}"}, timeout=60)
        with keyed, drawn(url, chief[1]) as page:
            assert page.recv(30)
            for _ in range(200):
                if keyed.get("/api/v1/health").status_code == 200:
                    break
                time.sleep(0.2)
            assert keyed.delete(f"/api/v1/keys/{chief[0].id}").status_code == 204
            with pytest.raises(ConnectionClosed):
                page.send(_rerun())
                for _ in range(1000):  # what was on its way already
                    page.recv(10)
            assert page.close_code == 1008
            with pytest.raises(InvalidStatus):
                drawn(url, chief[1])


def drawn(url: str, key: str) -> ClientConnection:
    """The connection of an open page that has asked to be drawn."""
    basic = base64.b64encode(f"me:{key}".encode()).decode()
    socket = connect(
        f"ws{url.removeprefix('http')}/_stcore/stream",
        subprotocols=["streamlit"],  # type: ignore[list-item]
        additional_headers={"Authorization": f"Basic {basic}"},
    )
    socket.send(_rerun())
    return socket


def _rerun() -> bytes:
    message = BackMsg()
    message.rerun_script.query_string = ""
    return message.SerializeToString()
