"""A stand-in for the disk: it counts what is done to the files of some folder and fails the n-th operation."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path
from typing import Any, Literal

import pytest

Mode = Literal["EIO", "ENOSPC", "short", "short, then ENOSPC"]
MODES: tuple[Mode, ...] = ("EIO", "ENOSPC", "short", "short, then ENOSPC")
_WRITING = os.O_WRONLY | os.O_RDWR
_NEEDS_ROOM = ("open to write", "write", "fsync")


class FailingDisk:
    """Fails the `nth` operation on files below `folder`: open, write, fsync, close of what was written, rename, unlink.

    EIO fails it alone. ENOSPC fails it and all that needs room from then on. The short modes count writes alone: half
    of the bytes are written, and then the next write goes on, or fails. `failed` says which operation it was.
    """

    def __init__(self, folder: Path, nth: int, mode: Mode) -> None:
        self._folder = str(folder)
        self._nth = nth
        self._mode = mode
        self._count = 0
        self._written: dict[int, bool] = {}
        self._lock = threading.Lock()
        self._real = {name: getattr(os, name) for name in ("open", "write", "fsync", "close")}
        self.failed = ""

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Take the place of the functions of `os`."""
        for name in ("open", "write", "fsync", "close"):
            patch.setattr(os, name, getattr(self, f"_{name}"))
        for name in ("rename", "replace", "unlink"):
            patch.setattr(os, name, self._by_path(name, getattr(os, name)))

    def _open(self, path: Any, flags: int, *arguments: Any, **named: Any) -> int:
        here = self._holds(path, named)
        if here:
            self._strike("open to write" if flags & _WRITING else "open", path)
        descriptor: int = self._real["open"](path, flags, *arguments, **named)
        if here:
            self._written[descriptor] = bool(flags & _WRITING)
        return descriptor

    def _write(self, descriptor: int, data: Any) -> int:
        if descriptor in self._written and self._strike("write", descriptor):
            data = memoryview(data)[: max(1, len(data) // 2)]
        written: int = self._real["write"](descriptor, data)
        return written

    def _fsync(self, descriptor: int) -> None:
        if descriptor in self._written:
            self._strike("fsync", descriptor)
        self._real["fsync"](descriptor)

    def _close(self, descriptor: int) -> None:
        written = self._written.pop(descriptor, False)
        self._real["close"](descriptor)  # it is closed even where that fails
        if written:
            self._strike("close", descriptor)

    def _by_path(self, name: str, real: Any) -> Any:
        def stand_in(path: Any, *arguments: Any, **named: Any) -> None:
            if self._holds(path, named):
                self._strike(name, path)
            real(path, *arguments, **named)

        return stand_in

    def _holds(self, path: Any, named: dict[str, Any]) -> bool:
        return not isinstance(path, int) and named.get("dir_fd") is None and os.fsdecode(path).startswith(self._folder)

    def _strike(self, name: str, target: Any) -> bool:
        """Count an operation and fail it when its time has come. Returns whether a write shall be short."""
        short = self._mode.startswith("short")
        with self._lock:
            if short and name != "write":
                return False
            self._count += 1
            late = self._count - self._nth
            if late == 0:
                self.failed = f"{name} {target}"
        if late == 0 and short:
            return True
        if late == 0 and self._mode == "EIO":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        full = self._mode == "ENOSPC" and (late == 0 or (late > 0 and name in _NEEDS_ROOM))
        if full or (late > 0 and self._mode == "short, then ENOSPC"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return False
