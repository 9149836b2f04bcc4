"""A real file system that fills, and files that may not grow: that is said, searching goes on, and then the rest too.

The file system is a small one in memory, mounted for the test where the machine allows it.
"""

from __future__ import annotations

import errno
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rag_core import Library, Settings
from tests.faults.bench import HELD, Bench, add, answers, catch_up, remove, reopen
from tests.faults.children import Child
from tests.faults.conftest import ALL
from tests.faults.judge import judge
from tests.faults.limited import live_limited
from tests.faults.shelf import Shelf
from tests.faults.summary import Tally, seed
from tests.faults.worker import Plan, live

pytestmark = pytest.mark.slow

_PAGE = 4096
# How many pages are left when documents are added: each stops the work at another file.
_ROOM = range(10) if ALL else (0, 3)


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Mounts an empty file system of some MB; the test is skipped where that is not allowed."""
    folder = tmp_path / "small"
    mounted: list[Path] = []

    def make(megabytes: int) -> Path:
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "tmpfs", str(folder)]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as error:
            pytest.skip(f"there is no mount here: {error}")
        if done.returncode:
            pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield make
    for place in mounted:
        subprocess.run(["umount", "-l", str(place)], check=True)


class Ballast:
    """A file that takes up room."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "ballast"

    def leave(self, pages: int) -> None:
        """Fill the file system but for some pages."""
        block = bytes(2**16)
        with self._path.open("ab", buffering=0) as file:
            while len(block) >= _PAGE:
                try:
                    if file.write(block) < len(block):
                        block = block[: len(block) // 2]
                except OSError as error:
                    assert error.errno == errno.ENOSPC
                    block = block[: len(block) // 2]
            file.truncate(max(0, file.tell() - pages * _PAGE))

    def drop(self) -> None:
        self._path.unlink()


def test_a_full_disk_is_told_and_work_goes_on_when_there_is_room(
    mount: Callable[[int], Path], new_database: Callable[[], str], shelf: Shelf, tally: Tally
) -> None:
    folder = mount(8)
    settings = Settings(_env_file=None, data_dir=folder / "library", database_url=new_database())
    bench = Bench(settings.changed("storage", min_free_bytes=0), shelf)
    library = bench.open()
    ballast = Ballast(folder)
    try:
        add(bench, library, shelf.items[: HELD + 1])
        library.storage.settle()
        failures = 0
        for pages in _ROOM:
            ballast.leave(pages)
            tally.faults += 1
            failures += add(bench, library, shelf.items[HELD + 1 : HELD + 5])
            answers(bench, library)
            remove(bench, library, shelf.items[HELD : HELD + 1])  # removing gives room, and never needs any
            ballast.drop()
            assert add(bench, library, shelf.items[HELD : HELD + 5]) == 0
            catch_up(library)
            wrong = tally.judge(*_judged(bench, library))
            assert not wrong, "\n".join([f"{pages} pages were left", *wrong])
            remove(bench, library, shelf.items[HELD + 1 : HELD + 5])
            catch_up(library)
        assert failures > 0, "the disk was never full"
        wrong = reopen(bench, tally)
    finally:
        bench.end()
    assert not wrong, "\n".join(wrong)


def _judged(bench: Bench, library: Library) -> tuple[list[str], list[str]]:
    verdict = judge(library, bench.shelf, bench.expected)
    return verdict.lost, verdict.disagreeing


@pytest.mark.parametrize("pages", (0, 2, 16, 64) if ALL else (8,))
def test_a_disk_that_is_full_for_postgresql_too(
    pages: int, mount: Callable[[int], Path], shelf: Shelf, tally: Tally
) -> None:
    folder = mount(160)
    settings = Settings(_env_file=None, data_dir=folder / "library")
    bench = Bench(settings.changed("storage", min_free_bytes=0), shelf)
    library = bench.open()
    ballast = Ballast(folder)
    try:
        add(bench, library, shelf.items[:HELD])
        library.storage.settle()
        tally.faults += 1
        ballast.leave(pages)
        failed = add(bench, library, shelf.items)
        answers(bench, library)
        ballast.drop()
        assert failed > 0, "the disk was never full"
        assert add(bench, library, shelf.items) == 0
        catch_up(library)
        wrong = tally.judge(*_judged(bench, library))
        wrong += reopen(bench, tally)
    finally:
        bench.end()
    assert not wrong, "\n".join(wrong)


def test_files_that_may_not_grow_for_a_while(tmp_path: Path, shelf: Shelf, tally: Tally) -> None:
    plan = Plan(tmp_path / "library", shelf.file, tmp_path / "journal", seed())
    tally.faults += 1
    for target in (live_limited, live):
        process = Child(target, plan)
        said = process.hear()
        code = process.wait()
        process.pull_the_plug(random.Random(0))
        assert said is not None, code
        assert said.verdict is not None, said.error
        wrong = tally.judge(said.verdict.lost, said.verdict.disagreeing)
        assert not wrong, "\n".join(wrong)
        assert len(said.verdict.held) == len(shelf.items)
