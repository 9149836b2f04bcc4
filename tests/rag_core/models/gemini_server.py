"""A server on 127.0.0.1 that speaks Gemini's REST protocol: streaming, errors, blocked answers and silence."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Script:
    """What the server does next, and what it was asked. `status` other than 200 is an error with `message`.

    `models` is its list, and `gone` are models that it has no longer.
    """

    models: Sequence[str] = ("gemini-test", "embedding-9", "gemini-9.9-flash-image")
    gone: Sequence[str] = ()
    texts: Sequence[str] = ("Sales rose ", "by 12 percent [1].")
    status: int = 200
    message: str = "went wrong"
    finish: str = "STOP"
    block: str = ""
    usage: dict[str, int] = field(default_factory=dict)
    hang_before: int = -1  # hangs before this part of the stream; 0 is before the first
    release: threading.Event = field(default_factory=threading.Event)
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    url: str = ""


@contextmanager
def gemini_server() -> Iterator[Script]:
    """Run the server on a free port; change the script between requests. `script.url` is its address."""
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            script.requests.append({"path": self.path, **json.loads(body)})
            script.keys.append(self.headers.get("x-goog-api-key", ""))
            gone = [name for name in script.gone if f"/{name}:" in self.path]
            if gone:
                self._fail(404, f"models/{gone[0]} is no longer available.")
            elif script.status != 200:
                self._fail(script.status, script.message)
            else:
                self._stream()

        def do_GET(self) -> None:
            script.keys.append(self.headers.get("x-goog-api-key", ""))
            if script.status != 200:
                self._fail(script.status, script.message)
                return
            self._head(200)
            methods = {"embedding": ["embedContent"]}
            listed = [
                {
                    "name": f"models/{name}",
                    "supportedGenerationMethods": methods.get(name.partition("-")[0], ["generateContent"]),
                }
                for name in script.models
            ]
            self.wfile.write(json.dumps({"models": listed}).encode())

        def _head(self, status: int) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=UTF-8")
            self.send_header("Connection", "close")
            self.end_headers()

        def _fail(self, status: int, message: str) -> None:
            self._head(status)
            error = {"code": status, "message": message, "status": "ERROR"}
            self.wfile.write(json.dumps({"error": error}).encode())

        def _stream(self) -> None:
            if script.hang_before == 0:
                script.release.wait(30)
            self._head(200)
            self._write(
                "[" if not script.block else f"[{json.dumps({'promptFeedback': {'blockReason': script.block}})}"
            )
            for place, text in enumerate(() if script.block else script.texts):
                if place and place == script.hang_before:
                    script.release.wait(30)
                self._write(("," if place else "") + json.dumps(self._part(text, place == len(script.texts) - 1)))
            self._write("]")

        def _part(self, text: str, last: bool) -> dict[str, Any]:
            candidate: dict[str, Any] = {"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}
            if last:
                candidate["finishReason"] = script.finish
            return {"candidates": [candidate], **({"usageMetadata": script.usage} if last and script.usage else {})}

        def _write(self, text: str) -> None:
            try:
                self.wfile.write(text.encode())
                self.wfile.flush()
            except OSError:
                self.close_connection = True

        def log_message(self, *arguments: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    script.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield script
    finally:
        script.release.set()
        server.shutdown()
        server.server_close()
