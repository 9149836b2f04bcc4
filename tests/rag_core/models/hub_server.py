"""A server on 127.0.0.1 that speaks the protocol of the hub of models: lists, redirects to files, ranges, etags."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Hub:
    """Files by "owner/repository/name", and how they are served."""

    files: dict[str, bytes] = field(default_factory=dict)
    sha256: str = ""  # told in the place of the true one
    linked: bool = True  # tells SHA-256 and size, as for large files
    ranges: bool = True
    elsewhere: str = ""  # where files are redirected to, in the place of this server
    breaks_after: list[int] = field(default_factory=list)  # bytes of the next bodies before the connection ends
    hang_after: int = -1
    release: threading.Event = field(default_factory=threading.Event)
    asked: list[tuple[str, str, str]] = field(default_factory=list)  # method, path, range
    url: str = ""


@contextmanager
def hub_server() -> Iterator[Hub]:
    """Run the server on a free port; `hub.url` is its address."""
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def _answer(self, *, body: bool) -> None:
            hub.asked.append((self.command, self.path, self.headers.get("Range", "")))
            parts = self.path.partition("?")[0].strip("/").split("/")
            if parts[:2] == ["api", "models"]:
                self._list("/".join(parts[2:4]))
            elif len(parts) == 5 and parts[2:4] == ["resolve", "main"]:
                self._redirect(f"{parts[0]}/{parts[1]}/{parts[4]}")
            elif parts[0] == "store":
                self._send("/".join(parts[1:]), body=body)
            else:
                self._head(404)

        def _head(self, status: int, **headers: Any) -> None:
            self.send_response(status)
            for name, value in {"Connection": "close", **headers}.items():
                self.send_header(name.replace("_", "-"), str(value))
            self.end_headers()

        def _list(self, repository: str) -> None:
            found = [{"path": name.split("/")[2]} for name in hub.files if name.startswith(f"{repository}/")]
            self._head(200 if found else 404, Content_Type="application/json")
            self.wfile.write(json.dumps(found).encode())

        def _redirect(self, name: str) -> None:
            if name not in hub.files:
                self._head(404)
                return
            content = hub.files[name]
            digest = hub.sha256 or hashlib.sha256(content).hexdigest()
            linked = {"X_Linked_Etag": f'"{digest}"', "X_Linked_Size": len(content)} if hub.linked else {}
            self._head(302, Location=hub.elsewhere or f"/store/{name}", **linked)

        def _send(self, name: str, *, body: bool) -> None:
            content, start = hub.files[name], 0
            wanted = self.headers.get("Range", "")
            etag = hashlib.md5(content).hexdigest()
            if wanted and hub.ranges:
                start = int(wanted.removeprefix("bytes=").rstrip("-"))
                place = f"bytes {start}-{len(content) - 1}/{len(content)}"
                self._head(206, Content_Length=len(content) - start, Content_Range=place, Etag=f'"{etag}"')
            else:
                self._head(200, Content_Length=len(content), Etag=f'"{etag}"')
            if body:
                self._write(content[start:])

        def _write(self, content: bytes) -> None:
            try:
                if hub.breaks_after:
                    self.wfile.write(content[: hub.breaks_after.pop(0)])
                    return
                if hub.hang_after >= 0:
                    self.wfile.write(content[: hub.hang_after])
                    self.wfile.flush()
                    hub.release.wait(30)
                    content = content[hub.hang_after :]
                self.wfile.write(content)
            except OSError:
                self.close_connection = True

        def log_message(self, *arguments: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield hub
    finally:
        hub.release.set()
        server.shutdown()
        server.server_close()
