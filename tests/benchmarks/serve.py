"""The doors under load: `python -m tests.benchmarks.serve --chunks 10000`. The load generator runs beside the server.

`search_above_own_ms` is the p50 of a search over REST on one connection less that of `Library.search` with the same
questions. `rate_*`: searches begun at a fixed rate, whatever the answers take, so that waiting counts. `stream_*`:
streams of extractive answers at once, until the first words of each. `ask_p50_ms`: `lectern ask` as a process, from
Python's start to its end, one after another. `grown_mb` is what the server's memory grew by over the last tenth of all
requests; `errors` counts answers other than 200. On a machine that is busy otherwise the rate is more than it can do,
and its figures say nothing.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil

from rag_core import Library
from tests.benchmarks.measure import PROJECT, emit, library_of, percentile, questions
from tests.benchmarks.start import free_port

_PATIENCE_S = 120
_ASKED_BY_SHELL = 15
_SETTINGS = {"LECTERN_DOORS__RATE_PER_S": "100000", "LECTERN_HIERARCHY__BACKGROUND": "false"}
_JSON = {"Content-Type": "application/json"}
_held = threading.local()


@contextmanager
def server(data_dir: Path) -> Iterator[tuple[int, int]]:
    """A server of a library; gives its port and process id."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port), "--server.headless", "true"],
        cwd=PROJECT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=os.environ | {"LECTERN_DATA_DIR": str(data_dir)} | _SETTINGS,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + _PATIENCE_S
        while _status(port, "GET", "/api/v1/health") != 200:
            if time.monotonic() > deadline:
                raise TimeoutError("the server does not open its library")
            time.sleep(0.1)
        yield port, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def _status(port: int, method: str, path: str, body: str | None = None) -> int:
    """The status of one request; this thread's connection is kept for the next."""
    connection = getattr(_held, "connection", None)
    again = connection is not None
    if connection is None:
        connection = _held.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_S)
    try:
        connection.request(method, path, body, _JSON if body else {})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    except http.client.RemoteDisconnected:  # the server had closed it for being silent (RFC 9112, 9.3.1)
        connection.close()
        _held.connection = None
        return _status(port, method, path, body) if again else 0
    except (OSError, http.client.HTTPException):
        connection.close()
        _held.connection = None
        return 0


def _search(port: int, question: str) -> int:
    return _status(port, "POST", "/api/v1/search", json.dumps({"question": question}))


def _own_ms(library: Library, asked: Sequence[str]) -> list[float]:
    took = []
    for question in asked:
        began = time.perf_counter()
        library.search(question)
        took.append((time.perf_counter() - began) * 1000)
    return took


def _one_after_another(port: int, asked: Sequence[str]) -> tuple[list[float], int]:
    took, errors = [], 0
    for question in asked:
        began = time.perf_counter()
        errors += _search(port, question) != 200
        took.append((time.perf_counter() - began) * 1000)
    return took, errors


def _at_rate(port: int, asked: Sequence[str], rate: float, seconds: float) -> tuple[list[float], int]:
    """Milliseconds from the moment at which each request was due, so that one late answer delays the next ones."""
    began = time.perf_counter() + 0.1

    def one(number: int) -> tuple[float, bool]:
        due = began + number / rate
        time.sleep(max(0.0, due - time.perf_counter()))
        failed = _search(port, asked[number % len(asked)]) != 200
        return (time.perf_counter() - due) * 1000, failed

    with ThreadPoolExecutor(16) as threads:
        done = list(threads.map(one, range(int(rate * seconds))))
    return [took for took, _ in done], sum(failed for _, failed in done)


def _first_words_ms(port: int, question: str) -> tuple[float, bool]:
    """Until the first words of a streamed answer; reads it to its end."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_S)
    began, first, whole = time.perf_counter(), 0.0, False
    try:
        connection.request("POST", "/api/v1/ask", json.dumps({"question": question, "stream": True}), _JSON)
        for line in connection.getresponse():
            whole = whole or line.startswith(b"event: answer")
            if not first and line.startswith(b"data: ") and json.loads(line[6:]).get("text"):
                first = (time.perf_counter() - began) * 1000
    finally:
        connection.close()
    return first, not whole


def _by_shell(data_dir: Path, asked: Sequence[str]) -> list[float]:
    """Milliseconds of `lectern ask` as a process of its own."""
    took = []
    for question in asked:
        command = [sys.executable, "-m", "rag_core", "ask", question, "--data-dir", str(data_dir)]
        began = time.perf_counter()
        subprocess.run(command, cwd=PROJECT, stdout=subprocess.DEVNULL, check=True)
        took.append((time.perf_counter() - began) * 1000)
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--searches", type=int, default=300)
    parser.add_argument("--rate", type=float, default=100)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--streams", type=int, default=8)
    parser.add_argument("--requests", type=int, default=10_000, help="searches for the look at memory")
    parser.add_argument("--library", type=Path, help="keep the library in this folder for another run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder:
        data_dir = options.library or Path(folder)
        asked = questions(options.searches)
        with library_of(options.chunks, data_dir, hierarchy={"background": False}) as library:
            library.warm_up()
            chunks = library.maintenance.status().chunks
            _own_ms(library, asked[:50])
            own = _own_ms(library, asked)
        with server(data_dir) as (port, pid):
            _one_after_another(port, asked[:50])
            _first_words_ms(port, asked[0])
            over, errors = _one_after_another(port, asked)
            rated, failed = _at_rate(port, asked, options.rate, options.seconds)
            with ThreadPoolExecutor(options.streams) as threads:
                streamed = list(
                    threads.map(lambda question: _first_words_ms(port, question), asked[: 10 * options.streams])
                )
            shell = _by_shell(data_dir, asked[:_ASKED_BY_SHELL])
            most, before = options.requests, 0
            for number in range(10):
                if number == 9:
                    before = psutil.Process(pid).memory_info().rss
                with ThreadPoolExecutor(4) as threads:
                    some = [asked[at % len(asked)] for at in range(most // 10)]
                    errors += sum(status != 200 for status in threads.map(lambda text: _search(port, text), some))
            grown = psutil.Process(pid).memory_info().rss - before
    emit(
        benchmark="serve", chunks=chunks, own_p50_ms=round(percentile(own, 0.5), 2),
        search_p50_ms=round(percentile(over, 0.5), 2),
        search_above_own_ms=round(percentile(over, 0.5) - percentile(own, 0.5), 2),
        rate_per_s=options.rate, rate_p50_ms=round(percentile(rated, 0.5), 1),
        rate_p95_ms=round(percentile(rated, 0.95), 1), streams=options.streams,
        stream_first_words_p50_ms=round(percentile([first for first, _ in streamed], 0.5), 1),
        stream_first_words_p95_ms=round(percentile([first for first, _ in streamed], 0.95), 1),
        ask_p50_ms=round(percentile(shell, 0.5)), requests=most, grown_mb=round(grown / 2**20, 1),
        errors=errors + failed + sum(broken for _, broken in streamed),
    )  # fmt: skip


if __name__ == "__main__":
    main()
