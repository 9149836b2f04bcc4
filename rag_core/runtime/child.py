"""A process of Lectern's own code seen from its parent: started when needed, watched while it works, killed at a limit.

What goes over its pipes are frames: eight bytes that say how long, then as many bytes. A request is one frame and so is
its answer; a frame of nothing before the answer says that the process is at work. `child_main` is the other side.

A new kind of process is a function that makes what answers, and where it is asked one line:

    child = Child(Program("rag_core.reading.worker:read_service", memory_bytes=limit, confined=True))
"""

from __future__ import annotations

import json
import math
import os
import selectors
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field

import psutil

from rag_core.errors import Cancelled, LecternError, LimitExceeded, UnreadableDocument
from rag_core.runtime.environment import bare
from rag_core.runtime.precedence import PRECEDENCE

LENGTH = struct.Struct("<Q")
# How often memory and cancellation are looked at while waiting.
WATCH_S = 0.02
# Tells a process to stand still for so long, time and again while there is a question. It goes on by itself, so that
# one whose parent was killed meanwhile does not stand for ever; one that knows nothing of the signal ignores it.
STAND_STILL, STILL_S = signal.SIGURG, 2 * WATCH_S
# A cancelled request is given this long to end by itself before the process is killed.
CANCEL_GRACE_S = 1.0
MIB = 2**20
_PIECE_BYTES = 1 << 20
_LAST_WORDS_BYTES = 1 << 12


class ChildDied(LecternError):
    """The process was killed at a limit or ended by itself. `cause` is what to tell the user.

    last_words: the last line that it wrote to standard error, empty where there is none.
    """

    def __init__(self, cause: LecternError, last_words: str = "") -> None:
        super().__init__(str(cause), help=cause.help)
        self.cause = cause
        self.last_words = last_words

    @property
    def at_limit(self) -> bool:
        """Whether a limit was reached, so that asking again would only reach it again."""
        return isinstance(self.cause, LimitExceeded)


@dataclass(frozen=True, slots=True)
class Program:
    """What a process runs, and what it may.

    service: "module:function"; given a function to call now and then while it is at work, it makes the one that answers
    requests, bytes to bytes. task: what it does, as messages name it. memory_bytes: how much it may take, None for as
    much as there is; reserves: how many times as much it may have the system promise. niceness: how far it stands back;
    one that does stands still while there is a question. confined: whether it gives up connections and the like
    (`confinement`). needs: the beginnings of the environment's names that it is told beside those that all are; more:
    what it is told beside.
    """

    service: str
    task: str = "Reading"
    memory_bytes: int | None = None
    reserves: int = 1
    niceness: int = 0
    confined: bool = False
    needs: tuple[str, ...] = ()
    more: Mapping[str, str] = field(default_factory=dict)

    def command(self) -> list[str]:
        """How it is started."""
        limits = {
            "service": self.service, "niceness": self.niceness, "confined": self.confined,
            "memory_bytes": None if self.memory_bytes is None else self.memory_bytes * self.reserves,
        }  # fmt: skip
        return [sys.executable, "-m", "rag_core.runtime.child_main", json.dumps(limits)]


@dataclass(frozen=True, slots=True)
class Watch:
    """What ends a request early besides memory: seconds without a sign of life, seconds in all, and the user."""

    silence_s: float = math.inf
    cancelled: Callable[[], bool] | None = None
    whole_s: float = math.inf


class Child:
    """One process, for one request at a time. Not thread-safe, save `interrupt`."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None
        self._watched: psutil.Process | None = None
        self._peak = 0

    @property
    def pid(self) -> int | None:
        """Process id, or None while none runs."""
        return self._process.pid if self._process else None

    @property
    def has_ended(self) -> bool:
        """Whether it has ended by itself since the last request; the next one starts a fresh one."""
        return self._process is not None and self._process.poll() is not None

    def ask(self, request: bytes, watch: Watch) -> bytes:
        """Send a request and return its answer, which is not empty.

        Raises ChildDied when the process was killed at a limit or died, and Cancelled when the user stopped it.
        """
        process = self._running()
        self._peak = 0
        with closing(_Exchange(process, request)) as exchange:
            try:
                while (answer := exchange.step()) is None:
                    self._check(watch, exchange)
                    if self._program.niceness and PRECEDENCE.is_asked():
                        process.send_signal(STAND_STILL)
            except (OSError, EOFError) as error:
                died = ChildDied(self._cause(process), exchange.last_words())
                self.kill()
                raise died from error
            return answer

    def end_confused(self) -> ChildDied:
        """End the process, which answers what makes no sense."""
        self.kill()
        return ChildDied(UnreadableDocument(f"The document confused the {self._program.task.lower()} process."))

    def slim(self) -> None:
        """End the process if it holds much memory after its work; the next request starts a fresh one."""
        if self._program.memory_bytes is not None and self._resident() > self._program.memory_bytes // 2:
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
        for pipe in (process.stdin, process.stdout, process.stderr):
            with suppress(OSError):
                if pipe:
                    pipe.close()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.kill()
        self._process = subprocess.Popen(
            self._program.command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=bare(*self._program.needs, **self._program.more),
            # Ctrl-C in the terminal is for the parent, which then ends this process in its own time.
            start_new_session=True,
        )
        with suppress(psutil.Error):
            self._watched = psutil.Process(self._process.pid)
        return self._process

    def _check(self, watch: Watch, exchange: _Exchange) -> None:
        waited_s, silence_s = time.monotonic() - exchange.began, time.monotonic() - exchange.heard
        if watch.cancelled and waited_s > CANCEL_GRACE_S and watch.cancelled():
            self.kill()
            raise Cancelled(f"{self._program.task} was stopped.")
        for passed_s, limit_s, how in (
            (silence_s, watch.silence_s, " without an answer"),
            (waited_s, watch.whole_s, ""),
        ):
            if passed_s > limit_s:
                self.kill()
                raise ChildDied(LimitExceeded(f"{self._program.task} took longer than {limit_s:.3g} seconds{how}."))
        if self._program.memory_bytes is not None:
            self._peak = max(self._peak, self._resident(), exchange.answered_bytes)
            if self._peak > self._program.memory_bytes:
                self.kill()
                raise ChildDied(self._too_much_memory(self._program.memory_bytes))

    def _resident(self) -> int:
        if self._watched is None:
            return 0
        try:
            return int(self._watched.memory_info().rss)
        except psutil.Error:
            return 0

    def _too_much_memory(self, limit_bytes: int) -> LimitExceeded:
        return LimitExceeded(f"{self._program.task} took more memory than {limit_bytes // MIB:,} MiB.")

    def _cause(self, process: subprocess.Popen[bytes]) -> LecternError:
        """Say why the process ended by itself. PDFium ends it when the system refuses memory."""
        most = self._program.memory_bytes
        code: int | None = None
        with suppress(subprocess.TimeoutExpired):
            code = process.wait(timeout=1)
        if most is not None and self._peak > most // 2:
            return self._too_much_memory(most)
        how = f"signal {-code}" if code is not None and code < 0 else f"code {code}"
        return UnreadableDocument(f"The document made the {self._program.task.lower()} process end ({how}).")


class _Exchange:
    """One request under way: written and answered at once, so that neither side waits for the other to read."""

    def __init__(self, process: subprocess.Popen[bytes], request: bytes) -> None:
        assert process.stdin and process.stdout and process.stderr  # noqa: S101 - all are pipes, see _running
        self._errors = process.stderr.fileno()
        self._left = memoryview(LENGTH.pack(len(request)) + request)
        self._answer, self._words = bytearray(), b""
        self.began = self.heard = time.monotonic()
        self._selector = selectors.DefaultSelector()
        os.set_blocking(process.stdin.fileno(), False)
        self._selector.register(process.stdin, selectors.EVENT_WRITE, self._write)
        self._selector.register(process.stdout, selectors.EVENT_READ, self._read)
        self._selector.register(process.stderr, selectors.EVENT_READ, self._listen)

    @property
    def answered_bytes(self) -> int:
        """How much of the answer is here."""
        return len(self._answer)

    def step(self) -> bytes | None:
        """Write and read what can be without waiting long: the answer once it is whole. Raises OSError, EOFError."""
        for key, _ in self._selector.select(WATCH_S):
            key.data(key.fd)
        while len(self._answer) >= LENGTH.size:
            end = LENGTH.size + LENGTH.unpack_from(self._answer)[0]
            if end > LENGTH.size:
                return bytes(self._answer[LENGTH.size : end]) if len(self._answer) >= end else None
            del self._answer[:end]
        return None

    def last_words(self) -> str:
        """The last line of what a process that has ended wrote to standard error."""
        while self._errors in self._selector.get_map() and any(
            key.fd == self._errors for key, _ in self._selector.select(0)
        ):
            self._listen(self._errors)
        lines = self._words.decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def close(self) -> None:
        """Let go of the pipes."""
        self._selector.close()

    def _write(self, pipe: int) -> None:
        self._left = self._left[os.write(pipe, self._left) :]
        if not self._left:
            self._selector.unregister(pipe)

    def _read(self, pipe: int) -> None:
        piece = os.read(pipe, _PIECE_BYTES)
        if not piece:
            raise EOFError
        self._answer += piece
        self.heard = time.monotonic()

    def _listen(self, pipe: int) -> None:
        piece = os.read(pipe, _PIECE_BYTES)
        self._words = (self._words + piece)[-_LAST_WORDS_BYTES:]
        if not piece:
            self._selector.unregister(pipe)
