"""Restore: an archive becomes the content of an empty library.

The originals are written first and every table in one transaction after them, so that a kill leaves an empty library,
which can be restored again, or a whole one. Every derived index is rebuilt from them, without embedding.
"""

from __future__ import annotations

import re

import psycopg
from psycopg import Connection, sql
from psycopg.rows import TupleRow

from accelerator.faults import reach
from rag_core.errors import ConfigurationError, LecternError, LimitExceeded, StoreUnavailable
from rag_core.storage.blobs import Blobs
from rag_core.storage.blobs.folder import ID
from rag_core.storage.blobs.notes import Note
from rag_core.storage.maintenance.archive import Archive, Manifest, damaged
from rag_core.storage.maintenance.backup import GONE, PASSING, TABLES, copy_command
from rag_core.storage.postgres.database import Database, lift_limits
from rag_core.storage.postgres.ownership import migrate, migrations

_FILE = re.compile(rf"files/{ID.pattern}")
_NOTE = "restore"
# What an application that was only opened may have written already.
_ALLOWED = ("embedding_profiles", "preferences")


class Restore:
    """Fills one empty library."""

    def __init__(self, database: Database, files: Blobs) -> None:
        self._database = database
        self._files = files
        self._note = Note(files, _NOTE)

    def run(self, archive: Archive, min_free_bytes: int) -> None:
        """Take over everything that an archive holds; all or nothing.

        Raises ConfigurationError (the library is not empty, or older than the archive), LimitExceeded (the disk),
        StoreCorrupt (the archive), StoreUnavailable.
        """
        check_known(archive)
        with self._database.transaction() as connection:
            _check_empty(connection)
        self._check_room(archive, min_free_bytes)
        names = [name.removeprefix("files/") for name in archive.manifest.members if _FILE.fullmatch(name)]
        self._note.write([key for key in names if not self._files.has(key)])
        committing = False
        try:
            self._write_files(archive)
            committing = True
            self._write_tables(archive)
        except LecternError as error:
            # A commit without an answer may have happened: the next opening sees whether the files are of use.
            if not (committing and isinstance(error, StoreUnavailable)):
                self._note.clear(known=())
            raise
        self._note.clear(known=names)

    def _check_room(self, archive: Archive, min_free_bytes: int) -> None:
        # Twice: the tables, and the dumps and indexes that are made from them.
        needed = 2 * sum(member.size_bytes for member in archive.manifest.members.values())
        free = self._files.free()
        if free - needed < min_free_bytes:
            raise LimitExceeded(
                f"Restoring needs about {needed / 2**20:.0f} MB; {free / 2**20:.0f} MB are free.",
                help="Make room on the disk, or set LECTERN_DATA_DIR to a folder on another one.",
            )

    def _write_files(self, archive: Archive) -> None:
        for name in archive.manifest.members:
            if _FILE.fullmatch(name):
                self._files.write(name.removeprefix("files/"), archive.blocks(name))
        reach("restore.files")

    def _write_tables(self, archive: Archive) -> None:
        manifest = archive.manifest
        try:
            with self._database.transaction() as connection:
                lift_limits(connection)
                _check_empty(connection)
                _go_back(connection, manifest)
                for table in (name for name in TABLES if name in manifest.tables):
                    _copy_in(connection, archive, table)
                for name, script in migrations().items():
                    if name not in manifest.migrations:
                        migrate(connection, name, script)
                _begin(connection, manifest, self._database.server)
                reach("restore.uncommitted")
            reach("restore.committed")
        except (psycopg.DataError, psycopg.IntegrityError, psycopg.ProgrammingError) as error:
            raise damaged(archive.path, f"PostgreSQL does not take its tables: {error}") from error


def check_known(archive: Archive) -> None:
    """Refuse an archive with parts that this Lectern does not know: a newer one's, or one made by hand.

    Raises ConfigurationError or StoreCorrupt.
    """
    manifest = archive.manifest
    unknown = [name for name in manifest.migrations if name not in migrations()]
    if unknown or not set(manifest.tables) <= {*TABLES, *GONE}:
        raise ConfigurationError("The backup was made by a newer Lectern.", help="Update Lectern, then restore it.")
    tables = {f"tables/{name}" for name in manifest.tables}
    strange = [name for name in manifest.members if name not in tables and not _FILE.fullmatch(name)]
    if (
        strange
        or not tables <= set(manifest.members)
        or not {"documents", "chunks", "conversations"} <= set(manifest.tables)
    ):
        raise damaged(archive.path, f"its members are not those of a library: {', '.join(strange[:3]) or 'some lack'}")


def _check_empty(connection: Connection[TupleRow]) -> None:
    for table in TABLES:
        if table not in _ALLOWED:
            row = connection.execute(sql.SQL("SELECT 1 FROM {} LIMIT 1").format(sql.Identifier(table))).fetchone()
            if row is not None:
                raise ConfigurationError(
                    "The library is not empty: a backup is restored into an empty one alone.",
                    help="Set LECTERN_DATA_DIR to a new folder (and DATABASE_URL, if you use it, to a new database).",
                )


def _go_back(connection: Connection[TupleRow], manifest: Manifest) -> None:
    """Lay out the empty tables as they were when the archive was made; later migrations then work on its rows."""
    names = sql.SQL(", ").join(map(sql.Identifier, (*TABLES, *PASSING)))
    connection.execute(sql.SQL("DROP TABLE IF EXISTS {} CASCADE").format(names))
    connection.execute("DELETE FROM migrations")
    for name, script in migrations().items():
        if name in manifest.migrations:
            migrate(connection, name, script)


def _copy_in(connection: Connection[TupleRow], archive: Archive, name: str) -> None:
    table = archive.manifest.tables[name]
    with connection.cursor() as cursor:
        with cursor.copy(copy_command(name, table.columns, "FROM STDIN")) as copy:
            for block in archive.blocks(f"tables/{name}"):
                copy.write(block)
        if cursor.rowcount != table.rows:
            raise damaged(archive.path, f"{name} has {cursor.rowcount} rows instead of {table.rows}")


def _begin(connection: Connection[TupleRow], manifest: Manifest, server: str) -> None:
    """Leave out what was being removed. The rest is ready once the indexes, which have no cursors, were given it.

    The server of this data directory takes the place of that of the one that was backed up.
    """
    connection.execute("DELETE FROM documents WHERE state = 'removing' OR id = ANY(%s)", (list(manifest.left_out),))
    connection.execute("UPDATE documents SET state = 'stored' WHERE state = 'ready'")
    connection.execute("DELETE FROM servers")
    connection.execute("INSERT INTO servers (id) VALUES (%s)", (server,))
    # Whether passages may leave a machine is said on that machine.
    connection.execute("DELETE FROM preferences WHERE name = 'allow_remote'")
    connection.execute(
        "SELECT setval(pg_get_serial_sequence('documents', 'generation'), max(generation)) FROM documents"
        " HAVING count(*) > 0"
    )
