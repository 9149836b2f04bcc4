"""A pool of reading processes: each works for one request at a time, and those that wait take turns."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from rag_core.errors import UnreadableDocument
from rag_core.runtime.child import Child, Program

SERVICE = "rag_core.reading.worker:read_service"


class Pool:
    """Some processes. Thread-safe; whoever asks first is served first, so that a long read starves nobody."""

    def __init__(self, memory_bytes: int, size: int) -> None:
        program = Program(SERVICE, memory_bytes=memory_bytes, confined=True)
        self.children = tuple(Child(program) for _ in range(size))
        # The one that was used last stands last; each with the file that it has open.
        self._idle: list[tuple[Child, str]] = [(child, "") for child in self.children]
        self._waiting: deque[object] = deque()
        self._changed = threading.Condition()
        self._closed = False

    @contextmanager
    def child(self, path: str = "") -> Iterator[Child]:
        """A process for one request about a file: the one that has it open, else the one that was used last.

        Raises UnreadableDocument when the pool is closed.
        """
        child = self._take(path)
        try:
            if self._closed:
                raise UnreadableDocument("The reader is closed.", help="Start Lectern again.")
            yield child
        finally:
            with self._changed:
                self._idle.append((child, path))
                self._changed.notify_all()

    def close(self) -> None:
        """End the processes; harmless when done twice. Requests under way end with an error."""
        self._closed = True
        for child in self.children:
            child.interrupt()
        with self._changed:
            self._changed.wait_for(lambda: len(self._idle) == len(self.children))
            for child in self.children:
                child.kill()

    def _take(self, path: str) -> Child:
        ticket = object()
        with self._changed:
            self._waiting.append(ticket)
            self._changed.wait_for(lambda: self._idle and self._waiting[0] is ticket)
            self._waiting.popleft()
            at = next((place for place, (_, opened) in enumerate(self._idle) if path and opened == path), -1)
            child, _ = self._idle.pop(at)
            self._changed.notify_all()
            return child


def usable_cores() -> int:
    """Processor cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
