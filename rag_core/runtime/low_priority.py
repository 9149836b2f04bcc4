"""A process of low priority for what takes the processor long, or may end the process that it runs in.

In a thread of this process searches would wait for it: for the processor, and for Python's lock. `python -m
rag_core.runtime.low_priority` takes calls from its standard input and gives back what they return, both pickled.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, TypeVar

from rag_core.errors import LecternError
from rag_core.runtime.environment import bare

_NICENESS = 10
# One thread of its libraries computes, or a search would wait for all cores.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
# A server of Chroma's is reached as its own client is told to.
_OF_CHROMA = ("CHROMA_", "SSL_CERT_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
Result = TypeVar("Result")


class ProcessEnded(LecternError):
    """The process has ended: by whoever closes the library, by a limit of time, by the system, or by a fault of its own
    libraries."""

    retryable = True


class LowPriorityProcess:
    """Calls functions of modules in a process of its own, which the first call starts. Thread-safe: one call at a time.

    timeout_s: how long a call may take before the process is ended; None is for ever.
    """

    def __init__(self, timeout_s: float | None = None) -> None:
        self._timeout_s = timeout_s
        self._process: subprocess.Popen[bytes] | None = None
        self._calling = threading.Lock()
        self._closed = threading.Event()

    @property
    def runs(self) -> bool:
        """Whether the process was started."""
        return self._process is not None

    def __call__(self, function: Callable[..., Result], /, *arguments: object) -> Result:
        """What a function returns. Raises what it raises, and ProcessEnded."""
        with self._calling:
            self._process = process = self._process or _start()
            if self._closed.is_set():  # whoever closes it may not have seen the process
                process.kill()
            try:
                returned, value = self._answer(process, function, arguments)
            except (OSError, EOFError, pickle.UnpicklingError) as error:
                self._end()
                raise ProcessEnded("A process that worked in the background has ended.") from error
            if not returned:
                raise value
            result: Result = value
            return result

    def rest(self) -> None:
        """End the process until the next call."""
        with self._calling:
            self._end()

    def close(self) -> None:
        """End the process for good, in the midst of a call of another thread too, which then fails."""
        self._closed.set()
        process = self._process
        if process is not None:
            process.kill()

    def _answer(self, process: subprocess.Popen[bytes], *call: object) -> tuple[bool, Any]:
        assert process.stdin and process.stdout  # noqa: S101 - both are pipes, see _start
        limit = threading.Timer(self._timeout_s, process.kill) if self._timeout_s is not None else None
        if limit is not None:
            limit.daemon = True
            limit.start()
        try:
            pickle.dump(call, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
            answer: tuple[bool, Any] = pickle.load(process.stdout)  # noqa: S301 - of our own process
            return answer
        finally:
            if limit is not None:
                limit.cancel()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(BrokenPipeError):  # of a call that it did not take
                process.communicate()


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "rag_core.runtime.low_priority"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        env=bare(*_OF_CHROMA, **_ONE_THREAD),
    )  # fmt: skip


def serve(calls: IO[bytes], results: IO[bytes]) -> None:
    """Answer calls until the parent closes its end, as its own end does."""
    while True:
        try:
            function, arguments = pickle.load(calls)  # noqa: S301 - of the parent
        except EOFError:
            return
        answer: tuple[bool, Any]
        try:
            answer = True, function(*arguments)
        except Exception as error:  # noqa: BLE001 - the parent raises it
            answer = False, error
        pickle.dump(answer, results, protocol=pickle.HIGHEST_PROTOCOL)
        results.flush()


def main() -> None:
    """Serve on standard input and output; what libraries print goes to standard error instead."""
    with suppress(OSError):
        os.nice(_NICENESS)
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with suppress(BrokenPipeError, KeyboardInterrupt):
        serve(sys.stdin.buffer, results)
    os._exit(0)  # a library's threads may be stuck in what it was given


if __name__ == "__main__":
    main()
