"""A server on 127.0.0.1 that speaks OpenAI's chat completions as a script tells it: streams, errors and silence."""

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
    """What the server does next, and what it was asked. `refuses` are words of a request that it answers with 400."""

    texts: Sequence[str] = ("Sales rose ", "by 12 percent [1].")
    models: Sequence[dict[str, Any]] = ({"id": "small"}, {"id": "big", "max_model_len": 9000})
    gone: Sequence[str] = ()  # models that it has no longer
    status: int = 200
    message: str = "went wrong"
    refuses: Sequence[str] = ()
    fails_after: int = -1  # an error comes amid the stream, before this part
    breaks_after: int = -1  # the connection ends before this part
    hang_before: int = -1
    usage: dict[str, int] = field(default_factory=dict)
    finish: str = ""
    release: threading.Event = field(default_factory=threading.Event)
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    url: str = ""


@contextmanager
def openai_server() -> Iterator[Script]:
    """Run the server on a free port; change the script between requests. `script.url` is its address."""
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            script.keys.append(self.headers.get("Authorization", ""))
            if self.path == "/v1/models" and script.status == 200:
                self._say(200, {"data": list(script.models)})
            else:
                self._say(script.status if script.status != 200 else 404, {"error": {"message": script.message}})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
            if self.path != "/v1/chat/completions":
                self._say(404, {"detail": "Not Found"})
                return
            script.requests.append(body)
            refused = next((word for word in script.refuses if word in body), "")
            if body["model"] in script.gone:
                self._say(404, {"error": {"message": f"The model {body['model']} does not exist"}})
            elif refused or script.status != 200:
                message = f"Unsupported parameter: {refused}. {script.message}"
                self._say(400 if refused else script.status, {"error": {"message": message}})
            else:
                self._stream()

        def _say(self, status: int, value: Any) -> None:
            self._head(status, "application/json")
            self.wfile.write(json.dumps(value).encode())

        def _head(self, status: int, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Connection", "close")
            self.end_headers()

        def _stream(self) -> None:
            if script.hang_before == 0:
                script.release.wait(30)
            self._head(200, "text/event-stream")
            self._event({"choices": [{"delta": {"role": "assistant", "content": None}}]})
            for place, text in enumerate(script.texts):
                if place and place == script.hang_before:
                    script.release.wait(30)
                if place == script.fails_after:
                    self._event({"error": {"message": script.message}})
                    return
                if place == script.breaks_after:
                    return
                self._event({"choices": [{"delta": {"content": text}}]})
            if script.finish:
                self._event({"choices": [{"delta": {}, "finish_reason": script.finish}]})
            if script.usage:
                self._event({"choices": [], "usage": script.usage})
            self._write("data: [DONE]\n\n")

        def _event(self, value: Any) -> None:
            self._write(f"data: {json.dumps(value)}\n\n")

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
