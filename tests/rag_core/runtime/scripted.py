"""What the tests of child processes have one do: each request says it in a word and what it is about."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable


def service(alive: Callable[[], None]) -> Callable[[bytes], bytes]:
    """Answers `WORD` or `WORD ABOUT`."""

    def answer(request: bytes) -> bytes:
        word, _, about = request.partition(b" ")
        if word == b"sleep":
            time.sleep(float(about))
        elif word == b"work":
            for _ in range(int(about)):
                alive()
                time.sleep(0.1)
        elif word == b"fill":
            filled = bytearray(int(about))
            filled[::4096] = b"x" * len(filled[::4096])
            time.sleep(60)
        elif word == b"write":
            sys.stderr.buffer.write(b"x" * int(about))
        elif word == b"die":
            print(about.decode())  # noqa: T201  libraries do
            raise SystemExit(7)
        elif word == b"fail":
            raise ValueError(about.decode())
        elif word == b"nice":
            return str(os.nice(0)).encode()
        elif word == b"variables":
            return " ".join(os.environ).encode()
        return about or b"done"

    return answer
