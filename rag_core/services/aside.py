"""A process of low priority for what takes the processor long: in a thread of this one, searches would wait for it.

`python -m rag_core.services.aside` takes calls from its standard input and gives back what they return, both pickled.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, TypeVar

from rag_core.errors import LecternError

_NICENESS = 10
Result = TypeVar("Result")


class AsideEnded(LecternError):
    """The process was ended, by whoever closes the library or by the system."""

    retryable = True


class Aside:
    """Calls functions of modules in a process of its own, which the first call starts. One call at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = threading.Event()

    def __call__(self, function: Callable[..., Result], /, *arguments: object) -> Result:
        """What a function returns. Raises what it raises, and AsideEnded."""
        self._process = process = self._process or _start()
        assert process.stdin and process.stdout  # noqa: S101 - both are pipes, see _start
        if self._closed.is_set():  # whoever closes it may not have seen the process
            process.kill()
        try:
            pickle.dump((function, arguments), process.stdin)
            process.stdin.flush()
            returned, value = pickle.load(process.stdout)  # noqa: S301 - of our own process
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            self.rest()
            raise AsideEnded("A process that worked in the background has ended.") from error
        if not returned:
            raise value
        result: Result = value
        return result

    def rest(self) -> None:
        """End the process until the next call."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(BrokenPipeError):  # of a call that it did not take
                process.communicate()

    def close(self) -> None:
        """End the process for good, in the midst of a call of another thread too, which then fails."""
        self._closed.set()
        process = self._process
        if process is not None:
            process.kill()


def _start() -> subprocess.Popen[bytes]:
    paths = [str(Path(__file__).resolve().parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, "-m", "rag_core.services.aside"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
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
        pickle.dump(answer, results)
        results.flush()


def main() -> None:
    """Serve on standard input and output; what libraries print goes to standard error instead."""
    with suppress(OSError):
        os.nice(_NICENESS)
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with suppress(BrokenPipeError, KeyboardInterrupt):
        serve(sys.stdin.buffer, results)


if __name__ == "__main__":
    main()
