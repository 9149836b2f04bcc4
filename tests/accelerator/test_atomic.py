from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from accelerator import atomic
from accelerator.atomic import (
    publish_folder,
    remove_leftovers,
    work_path,
    write_atomically,
    write_by,
    write_together,
)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_writes_parts_one_after_another(tmp_path: Path) -> None:
    path = tmp_path / "file"
    matrix = np.arange(6, dtype="<u4").reshape(2, 3)
    write_atomically(path, [b"head", matrix.data, b"", np.empty((0, 3), dtype="f4").data, b"tail"])
    assert path.read_bytes() == b"head" + matrix.tobytes() + b"tail"
    assert path.stat().st_mode & 0o777 == 0o600
    assert names(tmp_path) == ["file"]


def test_parts_above_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic, "_WRITE_BYTES", 7)
    write_atomically(tmp_path / "file", [bytes(range(100))])
    assert (tmp_path / "file").read_bytes() == bytes(range(100))


def test_replaces_an_older_file_and_keeps_its_readers(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, [b"old"])
    with path.open("rb") as reader:
        write_atomically(path, [b"newer"])
        assert reader.read() == b"old"
    assert path.read_bytes() == b"newer"


def test_a_name_as_long_as_the_file_system_takes(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    write_atomically(path, [b"x"])
    assert path.read_bytes() == b"x"


def failing_fsync(failures: list[int]) -> object:
    def fsync(descriptor: int) -> None:
        failures.append(descriptor)
        raise OSError(errno.EIO, "Input/output error")

    return fsync


def test_a_failed_fsync_is_not_repeated_and_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    write_atomically(path, [b"old"])
    calls: list[int] = []
    monkeypatch.setattr(atomic.os, "fsync", failing_fsync(calls))
    monkeypatch.delattr(atomic.fcntl, "F_FULLFSYNC", raising=False)
    with pytest.raises(OSError, match="Input/output"):
        write_atomically(path, [b"new"])
    assert len(calls) == 1
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_a_source_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def parts() -> object:
        yield b"half"
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        write_atomically(tmp_path / "file", parts())
    assert names(tmp_path) == []


def test_full_disk_leaves_nothing(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    descriptor = os.open("/dev/full", os.O_WRONLY)
    try:
        with pytest.raises(OSError, match="No space"):
            atomic._write_all(descriptor, b"x" * 10)
    finally:
        os.close(descriptor)


def make_work(target: Path, text: str) -> Path:
    work = work_path(target)
    (work / "inner").mkdir(parents=True)
    (work / "inner" / "file").write_text(text)
    return work


def test_a_folder_is_published_once(tmp_path: Path) -> None:
    target = tmp_path / "target"
    first, second = make_work(target, "first"), make_work(target, "second")
    assert publish_folder(first, target)
    assert not publish_folder(second, target)
    assert (target / "inner" / "file").read_text() == "first"
    assert names(tmp_path) == ["target"]


def test_leftovers_of_a_killed_writer_are_removed(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept")
    make_work(tmp_path / "target", "half")
    work_path(tmp_path / "file").write_text("half")
    assert remove_leftovers(tmp_path) == 2
    assert names(tmp_path) == ["kept"]


@pytest.mark.parametrize("count", [1, 2, 64, 150])
def test_many_files_are_synced_once_each_and_their_folder_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    synced: list[int] = []
    folders: list[Path] = []
    monkeypatch.setattr(atomic.os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    monkeypatch.setattr(atomic, "sync_folder", folders.append)
    monkeypatch.delattr(atomic.fcntl, "F_FULLFSYNC", raising=False)
    files = {tmp_path / f"{n}": [b"head ", str(n).encode()] for n in range(count)}
    write_together(files)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        str(n): b"head %d" % n for n in range(count)
    }
    assert sorted(synced) == sorted(path.stat().st_ino for path in files)
    assert folders == [tmp_path]


def test_one_full_sync_empties_the_cache_of_the_drive_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(atomic.os, "fsync", lambda _: calls.append("fsync"))
    monkeypatch.setattr(atomic.fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(atomic.fcntl, "fcntl", lambda *_: calls.append("full"))
    write_together({tmp_path / str(n): [b"x"] for n in range(5)})
    assert calls == ["fsync"] * 4 + ["full", "fsync"]  # the last is the folder's


def test_a_failed_fsync_among_many_is_not_repeated_and_leaves_the_old_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {tmp_path / f"{n}": [b"new"] for n in range(20)}
    write_together({path: [b"old"] for path in files})
    calls: list[int] = []
    monkeypatch.setattr(atomic.os, "fsync", failing_fsync(calls))
    monkeypatch.delattr(atomic.fcntl, "F_FULLFSYNC", raising=False)
    with pytest.raises(OSError, match="Input/output"):
        write_together(files)
    assert len(calls) == len(set(calls)) <= 20
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"old"}
    assert len(names(tmp_path)) == 20


def test_a_source_that_fails_among_many_leaves_none_of_its_group(tmp_path: Path) -> None:
    def parts() -> object:
        yield b"half"
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        write_together({tmp_path / "sound": [b"x"], tmp_path / "broken": parts()})
    assert names(tmp_path) == []


def test_nothing_to_write_is_fine() -> None:
    write_together({})


def test_a_file_is_filled_in_any_order_and_appears_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def write(descriptor: int) -> None:
        os.pwrite(descriptor, b"tail", 4)
        assert path.read_bytes() == b"old"
        os.pwrite(descriptor, b"head", 0)

    with path.open("rb") as reader:
        write_by(path, write)
        assert reader.read() == b"old"
    assert path.read_bytes() == b"headtail"
    assert path.stat().st_mode & 0o777 == 0o600
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("error", [RuntimeError("no more"), OSError(errno.ENOSPC, "No space"), KeyboardInterrupt()])
def test_what_fails_while_it_is_filled_leaves_the_old_file(tmp_path: Path, error: BaseException) -> None:
    path, held = tmp_path / "file", []
    path.write_bytes(b"old")

    def write(descriptor: int) -> None:
        held.append(descriptor)
        os.write(descriptor, b"half")
        raise error

    with pytest.raises(type(error)) as caught:
        write_by(path, write)
    assert caught.value is error
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(held[0])


def test_a_failed_fsync_of_what_was_filled_is_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    monkeypatch.setattr(atomic.os, "fsync", failing_fsync(calls))
    monkeypatch.delattr(atomic.fcntl, "F_FULLFSYNC", raising=False)
    with pytest.raises(OSError, match="Input/output"):
        write_by(tmp_path / "file", lambda descriptor: None)
    assert len(calls) == 1
    assert names(tmp_path) == []


def test_what_was_filled_is_synced_before_it_appears_and_its_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[tuple[str, bool]] = []
    path = tmp_path / "file"
    monkeypatch.setattr(atomic, "sync_descriptor", lambda _: steps.append(("file", path.exists())))
    monkeypatch.setattr(atomic, "sync_folder", lambda _: steps.append(("folder", path.exists())))
    write_by(path, lambda descriptor: None)
    assert steps == [("file", False), ("folder", True)]


def test_a_folder_that_is_not_there_takes_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_by(tmp_path / "absent" / "file", lambda descriptor: None)
