"""The embedded PostgreSQL: started again where it died, and stopped where its library has no owner any longer."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import psycopg
import pytest

from rag_core import Settings
from rag_core.errors import StoreUnavailable
from rag_core.storage import Storage
from rag_core.storage.embedded import server
from rag_core.storage.embedded.server import EmbeddedServer, LeakedServers
from tests.until import until


def postmaster_of(folder: Path) -> psutil.Process:
    return psutil.Process(int((folder / "postmaster.pid").read_text().split()[0]))


def test_a_dead_server_is_revived_and_a_living_one_left(tmp_path: Path) -> None:
    embedded = EmbeddedServer(tmp_path / "postgres")
    address = embedded.start()
    try:
        first = postmaster_of(tmp_path / "postgres")
        embedded.revive()
        assert postmaster_of(tmp_path / "postgres") == first
        first.kill()
        psutil.wait_procs([first], timeout=5)
        embedded.revive()
        assert postmaster_of(tmp_path / "postgres") != first
        with psycopg.connect(address) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        embedded.stop()


def test_a_copied_folder_is_set_right_and_a_lasting_fault_is_told_once(tmp_path: Path) -> None:
    embedded = EmbeddedServer(tmp_path / "postgres")
    embedded.start()
    embedded.stop()
    copied = Path(shutil.copytree(tmp_path / "postgres", tmp_path / "elsewhere"))  # its owner is whoever copied it
    copied.chmod(0o755)
    other = EmbeddedServer(copied)
    with psycopg.connect(other.start()) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    other.stop()
    with (copied / "postgresql.conf").open("a") as file:
        file.write("max_connections = nonsense\n")
    began = time.monotonic()
    with pytest.raises(StoreUnavailable, match="contains errors") as told:
        other.start()
    assert time.monotonic() - began < 5
    assert "\n" not in str(told.value)


def test_a_folder_that_was_copied_while_it_was_served_leaves_the_others_server_alone(tmp_path: Path) -> None:
    embedded = EmbeddedServer(tmp_path / "postgres")
    address = embedded.start()
    try:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("CHECKPOINT")  # else the copy might be torn
            copied = shutil.copytree(
                tmp_path / "postgres", tmp_path / "elsewhere", ignore=shutil.ignore_patterns(".s.PGSQL*")
            )
            other = EmbeddedServer(Path(copied))
            assert other.start() != address
            other.stop()
            assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        embedded.stop()


def test_a_server_without_an_owner_is_stopped_after_a_while(
    tmp_path: Path, new_database: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    child = os.fork()
    if child == 0:
        try:
            Storage(Settings(_env_file=None, data_dir=tmp_path / "left"))
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    os.waitpid(child, 0)
    left = postmaster_of(tmp_path / "left" / "postgres")
    owned = Storage(Settings(_env_file=None, data_dir=tmp_path / "owned"))
    try:
        leaked = LeakedServers()
        assert leaked.stop() == []  # its owner may be coming back
        assert left.is_running()
        monkeypatch.setattr(server, "LEAKED_S", 0.0)
        until(lambda: leaked.stop() is None or not left.is_running())  # the library that is open looks for it too
        assert postmaster_of(tmp_path / "owned" / "postgres").is_running()
        assert leaked.stop() == []
    finally:
        owned.close()
    with_left = Storage(Settings(_env_file=None, data_dir=tmp_path / "left"))
    with_left.close()
