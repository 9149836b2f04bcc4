"""A reading process seen from its parent: started when needed, watched while it works, killed at a limit."""

from __future__ import annotations

import logging
import math
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psutil

from rag_core.errors import Cancelled, LecternError, LimitExceeded, UnexpectedFailure, UnreadableDocument
from rag_core.reading import wire
from rag_core.runtime.environment import bare

_log = logging.getLogger(__name__)
# How often memory and cancellation are looked at while waiting.
WATCH_S = 0.02
# A cancelled request is given this long to end by itself before the process is killed.
CANCEL_GRACE_S = 1.0
MIB = 2**20
_PIECE_BYTES = 1 << 20


class ChildDied(LecternError):
    """The reading process was killed at a limit or ended by itself. `cause` is what to tell the user."""

    def __init__(self, cause: LecternError) -> None:
        super().__init__(str(cause), help=cause.help)
        self.cause = cause

    @property
    def at_limit(self) -> bool:
        """Whether a limit was reached, so that asking again would only reach it again."""
        return isinstance(self.cause, LimitExceeded)


@dataclass(frozen=True, slots=True)
class Watch:
    """What ends a request early besides memory: seconds without a sign of life, seconds in all, and the user."""

    silence_s: float
    cancelled: Callable[[], bool] | None = None
    whole_s: float = math.inf


class Child:
    """One process that reads. Not thread-safe: `Pool` lets one request at a time through."""

    def __init__(self, memory_bytes: int, module: str = "rag_core.reading.worker") -> None:
        self._memory_bytes = memory_bytes
        self._module = module
        self._process: subprocess.Popen[bytes] | None = None
        self._watched: psutil.Process | None = None
        self._peak = 0

    @property
    def pid(self) -> int | None:
        """Process id, or None while none runs."""
        return self._process.pid if self._process else None

    def ask(self, request: wire.Message, watch: Watch) -> dict[str, Any]:
        """Send a request and return its response.

        Raises ChildDied when the process was killed at a limit, died or failed at something that nobody foresaw,
        Cancelled when the user stopped it, and the document's own error (a LecternError) as the process reported it.
        """
        process = self._running()
        try:
            response = wire.load(self._exchange(process, wire.dump(request), watch))
        except (OSError, EOFError) as error:
            raise ChildDied(self._died()) from error
        except ValueError as error:
            self.kill()
            raise ChildDied(UnreadableDocument("The document confused the reading process.")) from error
        if "error" in response:
            raise self._error(response["error"])
        return response

    def _error(self, told: wire.Message) -> LecternError:
        """What the process reported. One that failed unforeseen may not be fit for the next request."""
        error = wire.error_in(told)
        if not isinstance(error, UnexpectedFailure):
            return error
        _log.error("%s\n%s", error, told.get("traceback", ""))
        self.kill()
        return ChildDied(error)

    def slim(self) -> None:
        """End the process if it holds much memory after its work; the next request starts a fresh one."""
        if self._resident() > self._memory_bytes // 2:
            self.kill()

    def start(self) -> None:
        """Start the process if none runs."""
        self._running()

    def interrupt(self) -> None:
        """End the process from another thread: the request under way, if any, then fails by itself."""
        process = self._process
        if process is not None:
            process.kill()

    def kill(self) -> None:
        """End the process at once and wait for it."""
        process, self._process, self._watched = self._process, None, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                if pipe:
                    pipe.close()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.kill()
        self._process = subprocess.Popen(
            [sys.executable, "-m", self._module, str(self._memory_bytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=bare(),
            # Ctrl-C in the terminal is for the parent, which then ends this process in its own time.
            start_new_session=True,
        )
        with suppress(psutil.Error):
            self._watched = psutil.Process(self._process.pid)
        return self._process

    def _exchange(self, process: subprocess.Popen[bytes], request: bytes, watch: Watch) -> bytes:
        assert process.stdin and process.stdout  # noqa: S101 - both are pipes, see _running
        self._peak = 0
        process.stdin.write(request)
        process.stdin.flush()
        began = heard = time.monotonic()
        answer = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while not answer.endswith(b"\n"):
                if selector.select(WATCH_S):
                    piece = os.read(process.stdout.fileno(), _PIECE_BYTES)
                    if not piece:
                        raise EOFError
                    answer += piece
                    heard = time.monotonic()
                self._check(watch, began, heard, len(answer))
        return bytes(answer)

    def _check(self, watch: Watch, began: float, heard: float, answered_bytes: int) -> None:
        waited_s, silence_s = time.monotonic() - began, time.monotonic() - heard
        if watch.cancelled and waited_s > CANCEL_GRACE_S and watch.cancelled():
            self.kill()
            raise Cancelled("Reading was stopped.")
        for passed_s, limit_s, how in (
            (silence_s, watch.silence_s, " without an answer"),
            (waited_s, watch.whole_s, ""),
        ):
            if passed_s > limit_s:
                self.kill()
                raise ChildDied(LimitExceeded(f"Reading took longer than {limit_s:.3g} seconds{how}."))
        self._peak = max(self._peak, self._resident(), answered_bytes)
        if self._peak > self._memory_bytes:
            self.kill()
            raise ChildDied(self._too_much_memory())

    def _resident(self) -> int:
        if self._watched is None:
            return 0
        try:
            return int(self._watched.memory_info().rss)
        except psutil.Error:
            return 0

    def _too_much_memory(self) -> LimitExceeded:
        return LimitExceeded(f"Reading took more memory than {self._memory_bytes // MIB:,} MiB.")

    def _died(self) -> LecternError:
        """Say why the process ended by itself. PDFium ends it when the system refuses memory."""
        process = self._process
        code: int | None = None
        if process is not None:
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(timeout=1)
        self.kill()
        if self._peak > self._memory_bytes // 2:
            return self._too_much_memory()
        how = f"signal {-code}" if code is not None and code < 0 else f"code {code}"
        return UnreadableDocument(f"The document made the reading process end ({how}).")
