"""Connections to PostgreSQL that end at a commit, a backend that is killed, a server that dies or is started again."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import psycopg
import pytest

from rag_core import Library, Settings
from rag_core.errors import LibraryInUse
from rag_core.storage import Storage
from rag_core.storage.embedded.server import EmbeddedServer
from tests.faults.conftest import ALL
from tests.faults.journal import Expected
from tests.faults.judge import judge
from tests.faults.proxy import Moment, Proxy
from tests.faults.shelf import Item, Shelf
from tests.faults.summary import Tally, seed
from tests.until import until

pytestmark = pytest.mark.slow

MOMENTS: tuple[Moment, ...] = ("before", "during", "after")


class Work:
    """Goes round: adds two documents, removes one of them, and asks. Nothing of it may fail."""

    def __init__(self, library: Library, shelf: Shelf) -> None:
        self.library = library
        self.items = list(shelf.items)
        self.expected = Expected()

    def once(self) -> None:
        first, second = self._next(), self._next()
        events = list(self.library.add([Path(first.path), Path(second.path)]))
        assert [e.error for e in events if e.error is not None] == []
        assert [e.stage for e in events].count("ready") == 2
        self.library.remove(first.id)
        self.expected.states |= {first.id: "absent", second.id: "present"}
        question = " ".join(second.texts[0][:200].split())
        answer = self.library.ask(question)
        kept = self.library.messages(answer.conversation)
        assert [message.question for message in kept] == [question]
        assert kept[0].answer is not None

    def _next(self) -> Item:
        item = self.items.pop(0)
        self.items.append(item)
        return item


@pytest.mark.timeout(600)
@pytest.mark.parametrize("everything", [True, False] if ALL else [True])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_connection_cut_at_a_commit_is_not_noticed(
    moment: Moment, everything: bool, settings: Settings, shelf: Shelf, tally: Tally
) -> None:
    assert settings.database_url is not None
    proxy = Proxy(settings.database_url.get_secret_value())
    try:
        with Library.open(settings.model_copy(update={"database_url": type(settings.database_url)(proxy.url)})) as it:
            work = Work(it, shelf)
            work.once()
            proxy.arm(moment, 10**9, everything=everything)
            work.once()
            commits = proxy.commits
            assert commits > 10
            for number in range(1, commits + 1) if ALL else range(1 + seed() % 20, commits + 1, 20):
                proxy.arm(moment, number, everything=everything)
                cuts = proxy.cuts
                work.once()
                tally.faults += proxy.cuts - cuts
            verdict = judge(it, shelf, work.expected)
            assert proxy.cuts
        assert not tally.judge(verdict.lost, verdict.disagreeing)
    finally:
        proxy.close()


def kill_backend(folder: Path) -> None:
    """Kill the process that serves a connection: PostgreSQL then ends them all and goes through recovery."""
    while not (backends := [one for one in postmaster_of(folder).children() if _serves(one)]):
        time.sleep(0.02)
    backends[-1].kill()


def _serves(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return any(word in "".join(process.cmdline()) for word in ("idle", "COMMIT"))
    return False


def kill_postmaster(folder: Path) -> None:
    processes = [postmaster_of(folder), *postmaster_of(folder).children(recursive=True)]
    for process in processes:
        process.kill()
    psutil.wait_procs(processes, timeout=5)


def postmaster_of(folder: Path) -> psutil.Process:
    return psutil.Process(int((folder / "postmaster.pid").read_text().split()[0]))


@contextmanager
def struck(strike: Callable[[], None], every_s: float, tally: Tally) -> Iterator[None]:
    """Strike now and then while the block runs."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(every_s):
            strike()
            tally.faults += 1

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("strike", [kill_postmaster, kill_backend] if ALL else [kill_postmaster])
def test_an_embedded_server_that_is_killed_comes_back(
    strike: Callable[[Path], None], tmp_path: Path, shelf: Shelf, tally: Tally
) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path / "library")
    with Library.open(settings) as library:
        work = Work(library, shelf)
        work.once()
        with struck(lambda: strike(tmp_path / "library" / "postgres"), 2.0, tally):
            began = time.monotonic()
            while time.monotonic() - began < (60 if ALL else 3):
                work.once()
        verdict = judge(library, shelf, work.expected)
        assert not tally.judge(verdict.lost, verdict.disagreeing)
    assert not (tmp_path / "library" / "postgres" / "postmaster.pid").exists()


@pytest.mark.timeout(300)
def test_a_server_of_ones_own_that_is_started_again_is_waited_for(tmp_path: Path, shelf: Shelf, tally: Tally) -> None:
    server = EmbeddedServer(tmp_path / "postgres")
    settings = Settings(_env_file=None, data_dir=tmp_path / "library", database_url=server.start())

    def restart() -> None:
        kill_postmaster(tmp_path / "postgres")
        time.sleep(0.5)
        server.start()

    try:
        with Library.open(settings) as library:
            work = Work(library, shelf)
            work.once()
            with struck(restart, 2.0, tally):
                began = time.monotonic()
                while time.monotonic() - began < (60 if ALL else 3):
                    work.once()
            verdict = judge(library, shelf, work.expected)
            assert not tally.judge(verdict.lost, verdict.disagreeing)
    finally:
        server.stop()


def test_a_database_is_not_taken_while_another_library_can_write_to_it(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_core.storage.postgres.ownership._ENDING_PATIENCE_S", 0.2)
    other = settings.model_copy(update={"data_dir": tmp_path / "other"})
    first = Storage(settings)
    try:
        first.stop_following()
        assert settings.database_url is not None
        with psycopg.connect(settings.database_url.get_secret_value(), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"
                " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            )
        with pytest.raises(LibraryInUse, match=f"process {os.getpid()}"):
            Storage(other)
        assert first.documents.counts() == (0, 0, 0, 0)
        first.database.check()
    finally:
        first.close()
    Storage(other).close()


def test_a_library_that_lost_its_database_to_another_goes_on_behind_it(settings: Settings, tmp_path: Path) -> None:
    first = Storage(settings)
    try:
        first.stop_following()  # or whoever follows takes the database back before the other comes
        assert settings.database_url is not None
        with psycopg.connect(settings.database_url.get_secret_value(), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        second = Storage(settings.model_copy(update={"data_dir": tmp_path / "other"}))
        try:
            with pytest.raises(LibraryInUse):
                first.documents.counts()
            with pytest.raises(LibraryInUse):
                first.database.check()
            assert second.documents.counts() == (0, 0, 0, 0)
        finally:
            second.close()
        until(lambda: _counts(first) == (0, 0, 0, 0))  # it has a place in the log of changes, which it follows
    finally:
        first.close()


def _counts(storage: Storage) -> tuple[int, ...]:
    """How many documents there are; none where another has the database."""
    try:
        return storage.documents.counts()
    except LibraryInUse:
        return ()
