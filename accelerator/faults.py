"""Named points at which a fault test kills the process. Nothing happens unless the environment arms one.

LECTERN_FAULT=dump.synced:3 has the process end itself with SIGKILL when it comes to the point dump.synced for the third
time. Tests alone set it: they find the points by reading the code for calls of `reach`, and try every one.
"""

from __future__ import annotations

import os
import signal
import threading

VARIABLE = "LECTERN_FAULT"

_reached: dict[str, int] = {}
_lock = threading.Lock()


def reach(point: str) -> None:
    """Say that the process has come to a point of this name."""
    armed = os.environ.get(VARIABLE)
    if armed is None:
        return
    name, _, times = armed.partition(":")
    if name == point:
        with _lock:
            _reached[point] = _reached.get(point, 0) + 1
            if _reached[point] >= int(times or 1):
                os.kill(os.getpid(), signal.SIGKILL)
