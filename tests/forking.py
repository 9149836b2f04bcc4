"""Processes that a library starts, forked from a server that has done their imports, which take a second each time.

A library reads documents and keeps Chroma in processes of their own, each a fresh interpreter, and the tests open a
library a thousand times. What such a process does is the same either way. Fresh interpreters are had by the tests of
reading, all that run Lectern as a program, and `make test-faults`.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest

from rag_core.reading import worker  # noqa: F401  what reads, imported before it is forked
from rag_core.reading.ocr import worker as recognising  # noqa: F401
from rag_core.runtime import child, child_main

PROJECT = Path(__file__).resolve().parents[1]
# Where the server listens; processes that a test starts find it here.
VARIABLE = "TESTS_FORK_SERVER"
_REQUEST_BYTES = 1 << 17
_PIECE_BYTES = 1 << 16


def wanted() -> bool:
    """Whether this run does so: elsewhere than on Linux what has loaded Chroma is not forked."""
    return sys.platform == "linux" and not os.environ.get("ALL_FAULTS")


def install(patch: pytest.MonkeyPatch) -> None:
    """Have the libraries of this process start theirs by way of the server."""
    patch.setattr(child, "subprocess", SimpleNamespace(**{**vars(subprocess), "Popen": Forked}))


def uninstall(patch: pytest.MonkeyPatch) -> None:
    """Have them start fresh interpreters, as users have them."""
    patch.setattr(child, "subprocess", subprocess)


@functools.cache
def start() -> str:
    """Start the server, unless this process or the one that started it has one; returns its address."""
    if VARIABLE in os.environ:
        return os.environ[VARIABLE]
    folder = tempfile.TemporaryDirectory(prefix="forks")
    address = str(Path(folder.name, "socket"))
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.forking", address],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=PROJECT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    os.environ[VARIABLE] = address

    def stop() -> None:
        server.communicate()  # it ends when its input does
        folder.cleanup()

    atexit.register(stop)
    return address


class Forked:
    """As much of subprocess.Popen as a library needs, of a process that runs one of its modules."""

    def __init__(
        self, args: Sequence[str], *, stdin: int, stdout: int, stderr: int, env: Mapping[str, str],
        start_new_session: bool, bufsize: int = -1,
    ) -> None:  # fmt: skip
        assert start_new_session
        *_, limits = self.args = args
        self.returncode: int | None = None
        self._lock = threading.Lock()
        theirs, ours = zip(
            *(_ends(number, wanted) for number, wanted in enumerate((stdin, stdout, stderr))), strict=True
        )
        self.stdin = None if ours[0] is None else os.fdopen(ours[0], "wb", bufsize)
        self.stdout, self.stderr = (None if end is None else os.fdopen(end, "rb", bufsize) for end in ours[1:])
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._server.connect(start())
        request = {"limits": limits, "environment": dict(env), "folder": str(Path.cwd())}
        socket.send_fds(self._server, [json.dumps(request).encode()], theirs)
        for end in theirs:
            os.close(end)
        self.pid = int(self._server.recv(_PIECE_BYTES))

    def poll(self) -> int | None:
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return code

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def send_signal(self, number: int) -> None:
        if self.returncode is None:  # its own number is kept until its end was heard of
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _ended(self, timeout_s: float | None) -> int | None:
        with self._lock:
            if self.returncode is None:
                self._server.settimeout(timeout_s)
                with suppress(BlockingIOError, TimeoutError):
                    self.returncode = int(self._server.recv(_PIECE_BYTES) or -signal.SIGKILL)
                    self._server.close()
            return self.returncode


def _ends(number: int, wanted: int) -> tuple[int, int | None]:
    """The other process's end of one of its streams, and ours if it is a pipe."""
    if wanted == subprocess.DEVNULL:
        return os.open(os.devnull, os.O_RDWR), None
    assert wanted == subprocess.PIPE
    reading_end, writing_end = os.pipe()
    return (reading_end, writing_end) if number == 0 else (writing_end, reading_end)


def serve(address: str) -> None:
    """Fork a process for every request, until the one that started this closes its end of the standard input."""
    import chromadb  # noqa: F401  for the process of Chroma, which imports it when it must

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that keep the processes
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener, selectors.DefaultSelector() as selector:
        listener.bind(address)
        listener.listen(64)
        for source in (listener, sys.stdin):
            selector.register(source, selectors.EVENT_READ)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while all(key.fileobj is listener for key, _ in selector.select()):
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _keep(connection)
            connection.close()


def _keep(connection: socket.socket) -> NoReturn:
    """Fork the process, say its number and then its exit code; it stays a zombie until that was taken notice of."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    message, ends, _, _ = socket.recv_fds(connection, _REQUEST_BYTES, 3)
    pid = os.fork()
    if pid == 0:
        connection.close()
        _become(json.loads(message), ends)
    for end in ends:
        os.close(end)
    with suppress(OSError):
        connection.send(str(pid).encode())
        ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert ended is not None
        code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
        connection.send(str(code).encode())
        connection.recv(1)
    os._exit(0)


def _become(request: dict[str, object], ends: Sequence[int]) -> NoReturn:
    """Be what `python -m module arguments` is, its imports done."""
    code = 0
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setsid()
        for number, end in enumerate(ends):
            os.dup2(end, number)
            os.close(end)
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
        os.chdir(str(request["folder"]))
        os.environ.clear()
        os.environ.update(request["environment"])  # type: ignore[call-overload]
        sys.argv = ["child", str(request["limits"])]
        child_main.main()
    except BaseException:  # noqa: BLE001  the last that this process does
        traceback.print_exc()
        code = 1
    os._exit(code)


if __name__ == "__main__":
    serve(sys.argv[1])
