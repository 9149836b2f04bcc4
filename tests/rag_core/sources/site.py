"""A web server for tests: pages by path, and answers of every bad kind."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Site:
    """`pages` are given with an ETag of their text; `answers` do what they like. `asked` notes every path."""

    pages: dict[str, str] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    host: str = ""

    def url(self, path: str = "/") -> str:
        """The address of a path."""
        return f"http://{self.host}{path}"


@contextmanager
def serving() -> Iterator[Site]:
    """A site on a free port of this machine."""
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            site.asked.append(self.path)
            try:
                if self.path in site.answers:
                    site.answers[self.path](self)
                elif self.path in site.pages:
                    _give(self, site)
                else:
                    self.send_error(404)
            except OSError:  # the other side hung up, as it should
                self.close_connection = True

        def log_message(self, format: str, *values: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site.host = f"127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        site.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


def page(title: str, text: str, *links: str, head: str = "") -> str:
    """A page of HTML."""
    items = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    body = f"<body><h1>{title}</h1><p>{text}</p><ul>{items}</ul></body>"
    return f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head>{body}</html>"


def moved(to: str) -> Answer:
    """A redirect."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", to)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def bytes_of(data: bytes, kind: str = "text/html", **headers: str) -> Answer:
    """These bytes with these headers; `content_length` may lie."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", kind)
        told = {"Content-Length": str(len(data))} | {k.replace("_", "-").title(): v for k, v in headers.items()}
        for name, value in told.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)
        handler.close_connection = True

    return answer


def endless(site: Site, pause_s: float) -> Answer:
    """Bytes without an end, a few at a time."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/html")
        handler.send_header("Connection", "close")
        handler.end_headers()
        while not site.over.wait(pause_s):
            handler.wfile.write(b"<p>more" * (1 if pause_s else 10_000))
            handler.wfile.flush()

    return answer


def bomb(megabytes: int) -> Answer:
    """A little that unpacks to much."""
    return bytes_of(gzip.compress(bytes(megabytes * 2**20)), content_encoding="gzip")


def _give(handler: BaseHTTPRequestHandler, site: Site) -> None:
    data = site.pages[handler.path].encode()
    etag = f'"{hash(data)}"'
    if handler.headers.get("If-None-Match") == etag:
        site.unchanged.append(handler.path)
        handler.send_response(304)
        handler.send_header("ETag", etag)
        handler.end_headers()
        return
    kind = (
        "text/plain"
        if handler.path.endswith(".txt")
        else "application/xml"
        if handler.path.endswith(".xml")
        else "text/html"
    )
    bytes_of(data, kind, etag=etag)(handler)
