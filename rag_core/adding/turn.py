"""Who may change the library: many windows side by side, or one who wants it alone."""

from __future__ import annotations

import threading


class Turn:
    """Windows enter and leave; as a context manager it keeps them out.

    Who wants it alone goes before windows that have yet to enter.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._alone = threading.Lock()
        self._windows = 0
        self._wanted = 0

    def enter(self) -> None:
        """Wait for the leave to bring a window in. `leave` may be called by another thread."""
        with self._changed:
            self._changed.wait_for(lambda: not self._wanted)
            self._windows += 1

    def leave(self) -> None:
        """The window is in, or given up."""
        with self._changed:
            self._windows -= 1
            self._changed.notify_all()

    def __enter__(self) -> None:
        with self._changed:
            self._wanted += 1
            self._changed.wait_for(lambda: not self._windows)
        self._alone.acquire()

    def __exit__(self, *_: object) -> None:
        self._alone.release()
        with self._changed:
            self._wanted -= 1
            self._changed.notify_all()
