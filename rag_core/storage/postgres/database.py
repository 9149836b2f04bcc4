"""PostgreSQL, the truth: a pool of connections, transactions with readable errors, migrations."""

from __future__ import annotations

import functools
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar
from weakref import WeakKeyDictionary

import psycopg
from pgvector.psycopg import register_vector
from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from rag_core.errors import StoreUnavailable
from rag_core.runtime.closing import closed_on_failure
from rag_core.settings import StorageSettings
from rag_core.storage.postgres.ownership import claim, new_name, own

_TRIES = 3
_POLL_S = 0.2
_PATIENCE_S = 1.0
# A connection that answered so lately is used without being asked whether it lives: each time is a round trip.
_TRUSTED_S = 1.0
# admin_shutdown, crash_shutdown, cannot_connect_now, deadlock_detected, idle_in_transaction_session_timeout,
# transaction_timeout, and class 08: the connection itself.
_STOOD_STILL = (psycopg.errors.IdleInTransactionSessionTimeout, psycopg.errors.TransactionTimeout)
_LOSSES = ("57P01", "57P02", "57P03", "40P01", "25P03", "25P04")
# Since this version a whole transaction can be limited: to so many of the longest statements.
_LIMITS_TRANSACTIONS, _MOST_STATEMENTS = 170_000, 10
# PostgreSQL refuses NUL and lone surrogates in text.
_REFUSED = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with every character that PostgreSQL refuses replaced by U+FFFD, its length unchanged."""
    return _REFUSED.sub("\ufffd", text)


def literal(word: str) -> str:
    """A word as a pattern of LIKE that means nothing but itself."""
    return re.sub(r"[\\%_]", r"\\\g<0>", storable(word))


class ConnectionLost(StoreUnavailable):
    """The server ended a connection, or cannot be reached. Whatever was in progress may have been committed."""

    def __init__(self, error: Exception, pool: object) -> None:
        told = unavailable(error)
        super().__init__(str(told), help=told.help)
        self.pool = pool


class Recovers(Protocol):
    """Whatever has a database."""

    _database: Database


Self = TypeVar("Self", bound=Recovers)
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Values = Sequence[Any] | Mapping[str, Any] | None


def retried(
    method: Callable[Concatenate[Self, Arguments], Result],
) -> Callable[Concatenate[Self, Arguments], Result]:
    """A method that is `Database.retried`."""

    @functools.wraps(method)
    def run(self: Self, /, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        return self._database.retried(lambda: method(self, *arguments, **named))

    return run


class Database:
    """A pool of connections to one database whose tables are up to date, owned by this library alone, or shared.

    server: by which id those who share it know this one; "" before `belongs_to`. name: what its connections are called.
    """

    def __init__(self, url: str, settings: StorageSettings, revive: Callable[[], None] = lambda: None) -> None:
        """Connect and migrate. `revive` starts the server again where it died, if that is ours to do.

        Raises StoreUnavailable, or LibraryInUse when another library owns the database.
        """
        self._url = url
        self._settings = settings
        self._revive = revive
        self.is_shared = settings.shared
        self.name = new_name(shared=settings.shared)
        self.server = ""
        self._recovering = threading.Lock()
        self._closed = False
        self._out_of_reach = False
        self._answered: WeakKeyDictionary[Connection[TupleRow], float] = WeakKeyDictionary()
        try:
            self._owner = self._own()
            with closed_on_failure(self._owner.close):
                self._pool = self._new_pool()
        except psycopg.Error as error:
            raise _unusable(error) from error

    @contextmanager
    def transaction(self) -> Iterator[Connection[TupleRow]]:
        """One transaction: committed when the block ends, rolled back when it raises.

        Raises StoreUnavailable, which is ConnectionLost where the same may be tried again after `recover`.
        """
        with self._borrowed() as connection, connection:
            yield connection

    def rows(self, statement: str | bytes, values: Values = None, *, binary: bool = False) -> list[TupleRow]:
        """The rows of one statement, which is a transaction by itself, `retried`. Raises StoreUnavailable."""

        def once() -> list[TupleRow]:
            with self._alone() as connection:
                return connection.execute(statement, values, binary=binary).fetchall()

        return self.retried(once)

    def row(self, statement: str | bytes, values: Values = None) -> TupleRow | None:
        """The first row of one statement. See `rows`."""
        return next(iter(self.rows(statement, values)), None)

    def execute(self, statement: str | bytes, values: Values = None) -> None:
        """Execute one statement that returns no rows. See `rows`."""

        def once() -> None:
            with self._alone() as connection:
                connection.execute(statement, values)

        self.retried(once)

    def retried(self, work: Callable[[], Result]) -> Result:
        """What some work returns, which is done anew when its connection was lost, once the server answers again.

        For work that may be done twice: a commit that was lost before it was acknowledged may have happened.
        """
        for _ in range(_TRIES - 1):
            try:
                return work()
            except ConnectionLost as error:
                self.recover(error)
        return work()

    def recover(self, lost: ConnectionLost) -> None:
        """Wait for the server, started anew where it died, and own the database again.

        Raises `lost` when it stays away, LibraryInUse when another library took the database meanwhile.
        """
        with self._recovering:
            if self._closed:
                raise lost
            if self._pool is not lost.pool or self._is_owner():  # another thread has done it, or one connection broke
                return
            self._wait_for_server(lost)
            self._pool, old = self._new_pool(), self._pool
            old.close(timeout=0)

    def check(self) -> None:
        """Make sure that the database is owned still, also after its server ended that one connection alone.

        Raises StoreUnavailable, LibraryInUse.
        """
        if not self._is_owner():
            self.recover(ConnectionLost(psycopg.OperationalError("the connection was lost"), self._pool))

    def belongs_to(self, server: str) -> None:
        """Whose it is is known by an id, also when it is owned again. Raises LibraryInUse, StoreUnavailable."""
        try:
            claim(self._owner, server)
        except psycopg.Error as error:
            raise unavailable(error) from error
        self.server = server

    def listener(self, channel: str) -> Connection[TupleRow]:
        """A connection of its own that hears a channel; whose it is closes it. Raises psycopg.Error."""
        self._owner.execute("SELECT 1")  # see `_configure`
        connection = psycopg.connect(self._url, autocommit=True, **self._options())
        connection.execute(f"LISTEN {channel}")
        return connection

    def version(self) -> str:
        """The server's version, for people."""
        with self.transaction() as connection:
            return f"PostgreSQL {connection.info.server_version // 10_000}"

    def close(self) -> None:
        """Close every connection."""
        self._closed = True
        with self._recovering, closing(self._owner):
            self._pool.close()

    def _wait_for_server(self, lost: ConnectionLost) -> None:
        """Own the database again as soon as its server lets us. One that was out of reach before is asked once."""
        deadline = time.monotonic() + (0 if self._out_of_reach else self._settings.connect_timeout_s)
        while True:
            try:
                self._revive()
                self._owner.close()
                self._owner = self._own()
            except (psycopg.OperationalError, StoreUnavailable) as error:
                if self._closed or time.monotonic() > deadline:
                    self._out_of_reach = True
                    raise lost from error
                time.sleep(_POLL_S)
            else:
                self._out_of_reach = False
                return

    @contextmanager
    def _alone(self) -> Iterator[Connection[TupleRow]]:
        """For one statement: without the two round trips that begin and end a transaction."""
        with self._borrowed() as connection:
            connection.autocommit = True
            try:
                yield connection
            finally:
                if not connection.closed:
                    connection.autocommit = False

    @contextmanager
    def _borrowed(self) -> Iterator[Connection[TupleRow]]:
        """A connection of the pool, and psycopg's complaints as ours."""
        pool = self._pool
        try:
            connection = self._connection(pool)
        except (psycopg.OperationalError, PoolTimeout, PoolClosed) as error:
            raise ConnectionLost(error, pool) from error
        try:
            yield connection
            self._answered[connection] = time.monotonic()
        except (psycopg.OperationalError, *_STOOD_STILL) as error:
            self._answered.clear()  # what broke this one may have broken all
            raise ConnectionLost(error, pool) if _is_loss(error) else unavailable(error) from error
        finally:
            pool.putconn(connection)

    def _check(self, connection: Connection[TupleRow]) -> None:
        """Ask the server whether a connection lives, where it did not answer a moment ago."""
        if time.monotonic() - self._answered.get(connection, -_TRUSTED_S) >= _TRUSTED_S:
            ConnectionPool.check_connection(connection)

    def _connection(self, pool: ConnectionPool[Connection[TupleRow]]) -> Connection[TupleRow]:
        """A connection of the pool; whether a wait is in vain is asked the server now and then."""
        deadline = time.monotonic() + self._settings.connect_timeout_s
        while True:
            try:
                return pool.getconn(timeout=_POLL_S if self._out_of_reach else _PATIENCE_S)
            except PoolTimeout:
                if time.monotonic() > deadline or not self._is_owner():
                    raise

    def _is_owner(self) -> bool:
        """Whether the connection that holds the lock lives."""
        try:
            self._owner.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def _new_pool(self) -> ConnectionPool[Connection[TupleRow]]:
        return ConnectionPool(
            self._url, min_size=1, max_size=self._settings.pool_size, timeout=self._settings.connect_timeout_s,
            kwargs=self._options(), configure=self._configure, check=self._check, open=True,
        )  # fmt: skip

    def _configure(self, connection: Connection[TupleRow]) -> None:
        """Prepare a new connection. One that comes after the owner's was lost may reach a database of another's."""
        self._owner.execute("SELECT 1")
        register_vector(connection)
        if connection.info.server_version >= _LIMITS_TRANSACTIONS:
            # Who stands still amid a pipeline is within a statement that has ended: no other limit ends that.
            limit_ms = int(_MOST_STATEMENTS * self._settings.statement_timeout_s * 1000)
            connection.execute(f"SET transaction_timeout = {limit_ms}")
        connection.commit()

    def _options(self) -> dict[str, Any]:
        limits = {
            "statement_timeout": self._settings.statement_timeout_s,
            "idle_in_transaction_session_timeout": self._settings.pause_timeout_s,
        }
        return {
            "connect_timeout": max(1, round(self._settings.connect_timeout_s)),  # 0 would be for ever
            "options": " ".join(f"-c {name}={int(seconds * 1000)}" for name, seconds in limits.items()),
            "application_name": self.name,
        }

    def _own(self) -> Connection[TupleRow]:
        """A connection that has the database for as long as it lives. See `ownership.py`."""
        connection = psycopg.connect(self._url, autocommit=True, **{**self._options(), "application_name": "Lectern"})
        try:
            own(connection, self.name, shared=self._settings.shared, server=self.server)
        except BaseException:
            connection.close()  # or the database would stay owned for as long as this process lives
            raise
        return connection


def lift_limits(connection: Connection[TupleRow]) -> None:
    """Let the open transaction take as long as it needs."""
    connection.execute("SET LOCAL statement_timeout = 0")
    connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
    if connection.info.server_version >= _LIMITS_TRANSACTIONS:
        connection.execute("SET LOCAL transaction_timeout = 0")


def _is_loss(error: psycopg.Error) -> bool:
    """Whether the same may work with another connection. psycopg gives a broken one no code."""
    return error.sqlstate is None or error.sqlstate in _LOSSES or error.sqlstate.startswith("08")


def unavailable(error: Exception) -> StoreUnavailable:
    """PostgreSQL's complaint as one line without the password that an address may hold."""
    if isinstance(error, psycopg.errors.DiskFull):
        return StoreUnavailable("The disk of the database is full.", help="Make room there and try again.")
    # That a pool had no connection to give says no more than that.
    reason = "." if isinstance(error, PoolTimeout) else f": {_reason(error)}"
    return StoreUnavailable(
        f"PostgreSQL does not answer{reason}",
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
