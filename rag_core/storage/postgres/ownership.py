"""Whose a database is: a lock for as long as a library is open, shared by servers that are set so, else one's alone.

Servers open it one after another, and whoever brings its tables up to date has it alone meanwhile. Connections are
named by whose they are: where the one that held the lock was lost alone, the others write on, and are waited for.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_core.errors import LibraryInUse, StoreUnavailable

# Any numbers that no other program is likely to use: for the database, for whoever is opening it, for each server.
_OWNER_KEY, _OPENING_KEY, _SERVER_KEY = 0x4C656374, 0x4C656375, 0x4C656376
# A busy server lets go of a closed or killed owner's lock a moment after its connection ended.
_OWNER_PATIENCE_S = 1.0
# What a killed owner's other connections had begun is ended first: it may be committed still.
_ENDING_PATIENCE_S = 15.0
_NAME, _SHARING = "Lectern ", "Lectern sharing "
_OTHERS = """
    SELECT application_name FROM pg_stat_activity WHERE datname = current_database()
    AND starts_with(application_name, %s) AND NOT starts_with(application_name, %s) LIMIT 1
"""
_MOST_BYTES = 63  # that PostgreSQL keeps of a name, in ASCII
_SHARE = "Servers share a database where LECTERN_STORAGE__SHARED=true is set for each of them."


def new_name(*, shared: bool) -> str:
    """What the connections of a library are called: by their first words, which no other's have, it knows them."""
    name = f"{_SHARING if shared else _NAME}{secrets.token_hex(4)}"
    full = f"{name}, process {os.getpid()} on {socket.gethostname()}"
    return full.encode("ascii", "replace")[:_MOST_BYTES].decode()


def own(connection: Connection[TupleRow], name: str, *, shared: bool, server: str = "") -> None:
    """Have a database for as long as a connection lives, its tables up to date. `server`: the one that had it before.

    Raises LibraryInUse, StoreUnavailable for tables of a later release, psycopg.Error.
    """
    with _opening(connection, name):
        began = time.monotonic()
        while True:
            is_free = _try(connection, _OWNER_KEY, shared=shared)
            other = _other(connection, _SHARING if shared else _begin(name))
            if is_free and not other:
                break
            if time.monotonic() - began > (_ENDING_PATIENCE_S if is_free else _OWNER_PATIENCE_S):
                raise _in_use(other, shared)
            if is_free:
                _release(connection, _OWNER_KEY, shared=shared)
            time.sleep(0.05)
        _migrate(connection, name, shared)
        if server:
            claim(connection, server)


def claim(connection: Connection[TupleRow], server: str) -> None:
    """Be a server that is known, for as long as a connection lives. Raises LibraryInUse, psycopg.Error."""
    began = time.monotonic()
    while not _try(connection, _SERVER_KEY, server):
        if time.monotonic() - began > _ENDING_PATIENCE_S:
            raise LibraryInUse(
                "This data directory is a copy of one that another server has open.",
                help="Remove the file `paired` from the copy: its indexes are then made anew.",
            )
        time.sleep(0.05)
    if connection.execute("SELECT FROM servers WHERE id = %s", (server,)).fetchone() is None:
        raise forgotten()


def forgotten() -> LibraryInUse:
    """That a server has been away for so long that the log was not kept for it."""
    return LibraryInUse(
        "This server's place in the database was given up meanwhile.",
        help="Start Lectern again: it then follows what has changed.",
    )


def migrations() -> dict[str, bytes]:
    """Every migration, by name, in the order in which they are applied."""
    folder = resources.files("rag_core.storage.postgres") / "migrations"
    scripts = sorted((item for item in folder.iterdir() if item.name.endswith(".sql")), key=lambda item: item.name)
    return {script.name: script.read_text(encoding="utf-8").encode() for script in scripts}


def migrate(connection: Connection[TupleRow], name: str, script: bytes) -> None:
    """Apply one migration and note it, in the transaction that is open."""
    connection.execute(script)
    connection.execute("INSERT INTO migrations (name) VALUES (%s)", (name,))


def _migrate(connection: Connection[TupleRow], name: str, shared: bool) -> None:
    connection.execute(
        "CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, applied_at timestamptz DEFAULT now())"
    )
    applied = {row[0] for row in connection.execute("SELECT name FROM migrations")}
    known = migrations()
    if later := applied - known.keys():
        raise StoreUnavailable(
            f"The database is a later Lectern's: this one does not know its tables ({max(later)}).",
            help="Update Lectern here, or close the later one and use a backup of before.",
        )
    if missing := [one for one in known if one not in applied]:
        with _alone(connection, name, shared):
            for one in missing:
                with connection.transaction():
                    migrate(connection, one, known[one])


@contextmanager
def _opening(connection: Connection[TupleRow], name: str) -> Iterator[None]:
    """One after another opens a database; a connection is named as its library's once it is its turn."""
    began = time.monotonic()
    while not _try(connection, _OPENING_KEY):
        if time.monotonic() - began > _ENDING_PATIENCE_S:
            raise _in_use("", shared=False)
        time.sleep(0.05)
    connection.execute("SELECT set_config('application_name', %s, false)", (name,))
    yield
    _release(connection, _OPENING_KEY)


@contextmanager
def _alone(connection: Connection[TupleRow], name: str, shared: bool) -> Iterator[None]:
    """Nobody else has the database meanwhile. Raises LibraryInUse."""
    if not shared:
        yield
        return
    other = _other(connection, _begin(name))
    if other or not _try(connection, _OWNER_KEY):
        raise LibraryInUse(
            f"The tables are an earlier Lectern's, which still has them open: {_whose(other)}.",
            help="Close every server of the earlier release, then start this one: it brings the tables up to date.",
        )
    yield
    _release(connection, _OWNER_KEY)


def _try(connection: Connection[TupleRow], key: int, word: str = "", *, shared: bool = False) -> bool:
    """Take a lock where it is free, of a key or of a key and a word. A connection may hold one both ways."""
    kind = "_shared" if shared else ""
    of = "%s, hashtext(%s)" if word else "%s"
    statement = f"SELECT pg_try_advisory_lock{kind}({of})".encode()
    row = connection.execute(statement, (key, word) if word else (key,)).fetchone()
    return bool(row and row[0])


def _release(connection: Connection[TupleRow], key: int, *, shared: bool = False) -> None:
    connection.execute(f"SELECT pg_advisory_unlock{'_shared' if shared else ''}(%s)".encode(), (key,))


def _other(connection: Connection[TupleRow], allowed: str) -> str:
    """What a connection of another library is called, besides those whose names begin as is `allowed`; "" for none."""
    row = connection.execute(_OTHERS, (_NAME, allowed)).fetchone()
    return str(row[0]) if row else ""


def _begin(name: str) -> str:
    return name.partition(",")[0]


def _in_use(name: str, shared: bool) -> LibraryInUse:
    help_text = (
        "Close that one, or name another database in DATABASE_URL: libraries may share a PostgreSQL server, with a"
        " database each."
    )
    if shared or name.startswith(_SHARING):
        help_text = f"{_SHARE} Close that one, or set it there and here."
    return LibraryInUse(f"This database is open in another Lectern, {_whose(name)}.", help=help_text)


def _whose(name: str) -> str:
    return name.partition(", ")[2] or "in another process"
