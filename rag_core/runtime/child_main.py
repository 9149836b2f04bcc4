"""A child process from within: answers requests until the parent closes its end. `child` says what goes over the pipes.

Started as `python -m rag_core.runtime.child_main LIMITS`. It may be killed at any time and holds nothing that is not on
disk.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

from rag_core.runtime.child import LENGTH, STAND_STILL, STILL_S
from rag_core.runtime.confinement import confine


def main() -> None:
    """Serve on standard input and output; what libraries print goes to standard error instead."""
    limits = json.loads(sys.argv[1])
    module, _, name = limits["service"].partition(":")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    make = getattr(import_module(module), name)
    if limits["confined"]:
        confine()
    with suppress(OSError):
        os.nice(limits["niceness"])
    signal.signal(STAND_STILL, lambda *_: time.sleep(STILL_S))
    if limits["memory_bytes"] is not None:
        limit_memory(limits["memory_bytes"])
    with suppress(BrokenPipeError, KeyboardInterrupt):  # the parent is gone or going; nobody is left to be told
        serve(make(lambda: _send(answers, b"")), sys.stdin.buffer, answers)
    os._exit(0)  # a library's threads may be stuck in what it was given


def serve(answer: Callable[[bytes], bytes], requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until the parent closes its end, as its own end does."""
    while head := requests.read(LENGTH.size):
        _send(answers, answer(requests.read(*LENGTH.unpack(head))))


def limit_memory(memory_bytes: int) -> None:
    """Let this process take `memory_bytes` more than it has, where the system can hold it to that.

    Elsewhere (macOS) the parent's watch alone holds the limit.
    """
    if sys.platform != "linux":
        return
    pages_held = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    wanted = memory_bytes + pages_held * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _send(answers: BinaryIO, frame: bytes) -> None:
    answers.write(LENGTH.pack(len(frame)) + frame)
    answers.flush()


if __name__ == "__main__":
    main()
