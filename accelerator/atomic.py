"""Files and folders that appear whole or not at all.

Write beside the target, sync, rename, sync the folder. A failed fsync is never repeated: after a failure the kernel may
have dropped the dirty pages and call the next one a success (Rebello et al., "Can Applications Recover from fsync
Failures?", USENIX ATC 2020).
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from accelerator.faults import reach

WORK_SUFFIX = ".lectern-tmp"

# One write() takes at most 2 GiB less a page on Linux and fails above 2 GiB on macOS.
_WRITE_BYTES = 2**26
# Files open at a time, of the 256 that macOS grants at first, and synced at a time.
_TOGETHER = 64
_SYNCING = 8

Parts = Iterable[bytes | memoryview]


def write_atomically(
    path: Path,
    parts: Parts,
    *,
    mode: int = 0o600,
    check: Callable[[Path], None] | None = None,
    kind: str = "file",
) -> None:
    """Write `parts` one after another as the file `path`, replacing an older one in one step.

    A reader sees the old file or the whole new one, whatever happens in between. Raises OSError; the temporary file is
    then gone and an older `path` unchanged (unless it was the last step, syncing the folder, that failed). `check`
    is given the temporary file once it is on the disk; what it raises keeps the file from taking its place. `kind`
    names the file's fault points: kind.written, kind.synced, kind.renamed and kind.kept.
    """
    write_together({path: parts}, mode=mode, check=check, kind=kind)


def write_together(
    files: Mapping[Path, Parts],
    *,
    mode: int = 0o600,
    check: Callable[[Path], None] | None = None,
    kind: str = "file",
) -> None:
    """Write many files as `write_atomically` writes one, each whole or not at all, in far less time.

    They are synced side by side, so that the file system commits for several at once, and each folder is synced once.
    Raises OSError; some of them may then have taken their places, and no temporary file is left.
    """
    waiting = list(files.items())
    for first in range(0, len(waiting), _TOGETHER):
        _write_group(waiting[first : first + _TOGETHER], mode, check, kind)
    for folder in dict.fromkeys(path.parent for path in files):
        sync_folder(folder)
    for _ in files:
        reach(f"{kind}.kept")


def write_by(path: Path, write: Callable[[int], None], *, kind: str = "file") -> None:
    """Have `write` fill a file by its descriptor, in any order, and let it appear as `path` in one step.

    See `write_atomically` for what is promised, raised and left. `write` may raise what it will.
    """
    work = work_path(path)
    try:
        descriptor = os.open(work, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            write(descriptor)
            reach(f"{kind}.written")
            sync_descriptor(descriptor)
            reach(f"{kind}.synced")
        finally:
            os.close(descriptor)
        work.replace(path)
        reach(f"{kind}.renamed")
    except BaseException:
        work.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)
    reach(f"{kind}.kept")


def publish_folder(work: Path, target: Path) -> bool:
    """Sync everything below the folder `work` and rename it to `target`; False where another process was first.

    `target` then holds the other's files, and `work` is removed. Both stand in the same file system. Raises OSError.
    """
    for folder, _, names in os.walk(work):
        for name in names:
            _sync_file(Path(folder, name))
        sync_folder(Path(folder))
    try:
        work.rename(target)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        shutil.rmtree(work, ignore_errors=True)
        return False
    sync_folder(target.parent)
    return True


def work_path(path: Path) -> Path:
    """A new name beside `path` for what is not finished. Short, as `path` may use the file system's whole length."""
    return path.parent / f".{secrets.token_hex(8)}{WORK_SUFFIX}"


def remove_leftovers(folder: Path, older_s: float = 0.0) -> int:
    """Remove what a killed writer left in `folder`. Returns how many. Raises OSError.

    older_s: of a folder with several owners, what was written to within so many seconds stays.
    """
    latest = time.time() - older_s
    leftovers = [path for path in folder.glob(f".*{WORK_SUFFIX}") if not older_s or path.stat().st_mtime < latest]
    for leftover in leftovers:
        if leftover.is_dir():
            shutil.rmtree(leftover)
        else:
            leftover.unlink(missing_ok=True)
    return len(leftovers)


def sync_descriptor(descriptor: int) -> None:
    """Bring a file's bytes to the disk itself. Raises OSError; do not call again after that."""
    full_sync = getattr(fcntl, "F_FULLFSYNC", None)
    if full_sync is not None:  # macOS: its fsync stops at the drive's cache
        try:
            fcntl.fcntl(descriptor, full_sync)
        except OSError as error:
            if error.errno not in (errno.ENOTSUP, errno.EINVAL, errno.ENOTTY):  # file systems that lack it
                raise
        else:
            return
    os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Bring a folder's entries to the disk. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_group(
    files: Sequence[tuple[Path, Parts]], mode: int, check: Callable[[Path], None] | None, kind: str
) -> None:
    works: dict[Path, Path] = {}
    try:
        with ExitStack() as opened:
            descriptors = []
            for path, parts in files:
                works[path] = work_path(path)
                descriptors.append(os.open(works[path], os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode))
                opened.callback(os.close, descriptors[-1])
                for part in parts:
                    _write_all(descriptors[-1], part)
                reach(f"{kind}.written")
            _sync_descriptors(descriptors)
            for _ in descriptors:
                reach(f"{kind}.synced")
        for path, work in works.items():
            if check is not None:
                check(work)
            work.replace(path)
            reach(f"{kind}.renamed")
    except BaseException:
        for work in works.values():
            work.unlink(missing_ok=True)
        raise


def _sync_descriptors(descriptors: Sequence[int]) -> None:
    """Bring several files to the disk itself, each synced once. Raises OSError.

    Where a sync stops at the drive's cache (macOS), the full one of the last file empties that cache for all.
    """
    *others, last = descriptors
    if others:
        with ThreadPoolExecutor(min(len(others), _SYNCING), thread_name_prefix="sync") as syncing:
            list(syncing.map(os.fsync, others))
    sync_descriptor(last)


def _sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        sync_descriptor(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, part: bytes | memoryview) -> None:
    if not len(part):
        return  # an empty view of several dimensions cannot be cast
    view = memoryview(part).cast("B")
    while view.nbytes:
        view = view[os.write(descriptor, view[:_WRITE_BYTES]) :]
