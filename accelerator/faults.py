"""Named points at which a fault test kills the process, or has a stage fail. Nothing happens unless one is armed.

LECTERN_FAULT=dump.synced:3 has the process end itself with SIGKILL when it comes to the point dump.synced for the third
time; LECTERN_FAULT=chunking=ID,NAME has the stage chunking fail wherever it is about one of those documents. Tests
alone set it: they find the points by reading the code for calls of `reach`, and try every one.
"""

from __future__ import annotations

import os
import signal
import threading

VARIABLE = "LECTERN_FAULT"

_reached: dict[str, int] = {}
_lock = threading.Lock()


class InjectedFault(Exception):
    """What a stage fails with where a test says so."""


def reach(point: str, *about: str) -> None:
    """Say that the process has come to a point of this name, about some documents or none."""
    armed = os.environ.get(VARIABLE)
    if armed is None:
        return
    name, is_about, wanted = armed.partition("=")
    if is_about:
        if name == point and not set(wanted.split(",")).isdisjoint(about):
            raise InjectedFault(point)
        return
    name, _, times = armed.partition(":")
    if name == point:
        with _lock:
            _reached[point] = _reached.get(point, 0) + 1
            if _reached[point] >= int(times or 1):
                os.kill(os.getpid(), signal.SIGKILL)
