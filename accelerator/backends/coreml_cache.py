"""Compiled programs on disk, each in a folder named by what it holds.

A compiled model must stay at one path, or every process compiles it again for the Neural Engine. Derived from segments,
so that anything damaged is removed and rebuilt.
"""

from __future__ import annotations

import glob
import json
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

from accelerator.atomic import publish_folder, work_path

_SUMS = "sums.json"
_READ_BYTES = 2**20


class ProgramCache:
    """The programs of all blocks. Thread-safe for different names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fetch(self, name: str, make: Callable[[Path], None]) -> Path:
        """The folder `name` with all that `make` wrote, made now where it is missing, damaged or foreign.

        make: is given a new empty folder to write into. Raises OSError, and what `make` raises.
        """
        target = self.folder / name
        if not _sound(target):
            self.discard(name)
            self._make(target, make)
        return target

    def discard(self, name: str) -> None:
        """Remove the folder `name`, or what stands in its place. An unknown one is no error. Raises OSError."""
        target = self.folder / name
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)

    def discard_all(self, digest: str) -> None:
        """Remove every program of a block, those of other formats too. Raises OSError."""
        for target in self.folder.glob(f"{glob.escape(digest)}-*"):
            self.discard(target.name)

    def _make(self, target: Path, make: Callable[[Path], None]) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        work = work_path(target)
        work.mkdir(mode=0o700)
        try:
            make(work)
            (work / _SUMS).write_text(json.dumps(_sums(work)), encoding="utf-8")
            publish_folder(work, target)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def _sound(folder: Path) -> bool:
    """Whether every file that was written still reads as it was; files that came later are no concern."""
    try:
        written = json.loads((folder / _SUMS).read_bytes())
        return isinstance(written, dict) and written.items() <= _sums(folder).items()
    except (OSError, ValueError):
        return False


def _sums(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != _SUMS)
    return {path.relative_to(folder).as_posix(): f"{path.stat().st_size} bytes, CRC {_crc(path):08x}" for path in files}


def _crc(path: Path) -> int:
    crc = 0
    with path.open("rb") as file:
        while piece := file.read(_READ_BYTES):
            crc = zlib.crc32(piece, crc)
    return crc
