"""PostgreSQL, the truth: a pool of connections, transactions with readable errors, migrations."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from typing import Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool, PoolTimeout

from rag_core.errors import LibraryInUse, StoreUnavailable
from rag_core.settings import StorageSettings

# Any number that no other program is likely to use: it marks the database as owned by one library.
_OWNER_KEY = 0x4C656374
# A busy server lets go of a closed or killed owner's lock a moment after its connection ended.
_OWNER_PATIENCE_S = 2.0
# PostgreSQL refuses NUL and lone surrogates in text.
_REFUSED = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with every character that PostgreSQL refuses replaced by U+FFFD, its length unchanged."""
    return _REFUSED.sub("\ufffd", text)


class Database:
    """A pool of connections to one database whose tables are up to date."""

    def __init__(self, url: str, settings: StorageSettings) -> None:
        """Connect and migrate. Raises StoreUnavailable, or LibraryInUse when another library owns the database."""
        self._url = url
        self._settings = settings
        try:
            self._owner = self._own()
        except psycopg.Error as error:
            raise unavailable(error) from error
        try:
            self._migrate()
        except psycopg.Error as error:
            self._owner.close()  # or the database would stay owned for as long as this process lives
            raise _unusable(error) from error
        self._pool: ConnectionPool[Connection[TupleRow]] = ConnectionPool(
            url,
            min_size=1,
            max_size=settings.pool_size,
            timeout=settings.connect_timeout_s,
            kwargs=self._options(),
            configure=register_vector,
            check=ConnectionPool.check_connection,
            open=True,
        )

    @contextmanager
    def transaction(self) -> Iterator[Connection[TupleRow]]:
        """One transaction: committed when the block ends, rolled back when it raises. Raises StoreUnavailable."""
        try:
            with self._pool.connection() as connection:
                yield connection
        except (psycopg.OperationalError, PoolTimeout) as error:
            raise unavailable(error) from error

    def version(self) -> str:
        """The server's version, for people."""
        with self.transaction() as connection:
            return f"PostgreSQL {connection.info.server_version // 10_000}"

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()
        self._owner.close()

    def _options(self) -> dict[str, Any]:
        return {
            "connect_timeout": max(1, round(self._settings.connect_timeout_s)),  # 0 would be for ever
            "options": f"-c statement_timeout={int(self._settings.statement_timeout_s * 1000)}",
        }

    def _own(self) -> Connection[TupleRow]:
        """Hold an advisory lock for as long as the library is open, so that one library writes to a database."""
        connection = psycopg.connect(self._url, autocommit=True, **self._options())
        deadline = time.monotonic() + _OWNER_PATIENCE_S
        while True:
            row = connection.execute("SELECT pg_try_advisory_lock(%s)", (_OWNER_KEY,)).fetchone()
            if row is not None and row[0]:
                return connection
            if time.monotonic() > deadline:
                connection.close()
                raise LibraryInUse("Another Lectern uses this database.")
            time.sleep(0.05)

    def _migrate(self) -> None:
        connection = self._owner
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, applied_at timestamptz DEFAULT now())"
        )
        applied = {row[0] for row in connection.execute("SELECT name FROM migrations")}
        for name, script in migrations().items():
            if name not in applied:
                with connection.transaction():
                    migrate(connection, name, script)


def migrations() -> dict[str, bytes]:
    """Every migration, by name, in the order in which they are applied."""
    folder = resources.files("rag_core.storage") / "migrations"
    scripts = sorted((item for item in folder.iterdir() if item.name.endswith(".sql")), key=lambda item: item.name)
    return {script.name: script.read_text(encoding="utf-8").encode() for script in scripts}


def migrate(connection: Connection[TupleRow], name: str, script: bytes) -> None:
    """Apply one migration and note it, in the transaction that is open."""
    connection.execute(script)
    connection.execute("INSERT INTO migrations (name) VALUES (%s)", (name,))


def unavailable(error: Exception) -> StoreUnavailable:
    """PostgreSQL's complaint as one line without the password that an address may hold."""
    if isinstance(error, psycopg.errors.DiskFull):
        return StoreUnavailable("The disk of the database is full.", help="Make room there and try again.")
    return StoreUnavailable(
        f"PostgreSQL does not answer: {_reason(error)}",
        help="Check that the server of DATABASE_URL runs and lets you in; without DATABASE_URL, start Lectern again.",
    )


def _unusable(error: psycopg.Error) -> StoreUnavailable:
    """Why a database that answers cannot hold a library."""
    if isinstance(error, psycopg.OperationalError):
        return unavailable(error)
    return StoreUnavailable(
        f"The database cannot hold a library: {_reason(error)}",
        help="It needs the extension pgvector, and a user who may make tables and add extensions.",
    )


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return re.sub(r"password=\S+|:/{0,2}[^@\s]+@", "", lines[0]) if lines else type(error).__name__
