"""Backup: one verified archive of a library, made while it is in use.

It holds the tables as one transaction sees them and the documents' original files. What is derived (dumps, Chroma) is
rebuilt from them. It never holds the Gemini key, which PostgreSQL does not know. It does hold the passwords of
encrypted documents, since their pages could not be drawn without them: keep a backup as safe as the library.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable, Generator, Iterator
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path

import psycopg
from psycopg import Connection, sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import TupleRow

from accelerator.atomic import WORK_SUFFIX, write_atomically
from accelerator.faults import reach
from rag_core.domain import BackupReport, Profile
from rag_core.errors import ConfigurationError, StoreUnavailable
from rag_core.settings import Settings
from rag_core.storage.blobs import originals
from rag_core.storage.maintenance.archive import (
    FORMAT,
    VERSION,
    Archive,
    ArchiveWriter,
    Block,
    Manifest,
    Table,
    is_backup,
)
from rag_core.storage.postgres.database import lift_limits, unavailable

# Each after those that it refers to. A migration that makes a table adds its name here or below.
TABLES = (
    "embedding_profiles", "documents", "sources", "document_tags", "followed_sources",
    "left_out_sources", "pages", "chunks", "collections", "collection_members", "collection_documents",
    "conversations", "messages", "citations", "preferences", "question_sets", "questions", "evaluation_runs",
    "evaluation_results", "document_summaries", "chunk_clusters", "document_clusters", "document_memberships",
    "recognised_pages", "chunk_edits", "table_readings",
)  # fmt: skip
# What is on its way, or rebuilt, or of this machine alone, as keys are: not in an archive.
PASSING = ("changes", "index_cursors", "index_backlog", "new_vectors", "jobs", "job_owners", "access_keys",
           "audit", "repeats", "answer_cache", "servers", "leases")  # fmt: skip
# In archives of earlier versions alone: what they held is not taken over.
GONE = ("queries",)

_BLOCK_BYTES = 2**20
_LEFTOVER_AGE_S = 24 * 3600


Transaction = Callable[[], contextlib.AbstractContextManager[Connection[TupleRow]]]


class Backup:
    """Makes archives of one library. `transaction` begins one, `opened` opens a document's bytes."""

    def __init__(self, transaction: Transaction, opened: Callable[[str], BufferedReader]) -> None:
        self._transaction = transaction
        self._opened = opened

    def write(self, path: Path, *, replace: bool = False) -> BackupReport:
        """Write an archive, read it back, and only then give it its name. An existing file stays unless `replace`, and
        one that is no backup stays in any case.

        Raises ConfigurationError (the place), StoreUnavailable (PostgreSQL, or a disk that is full: nothing is left
        behind), StoreCorrupt (the disk does not give back what was written).
        """
        _check_place(path, replace)

        def check(work: Path) -> None:
            Archive(work).close()
            _check_place(path, replace)

        try:
            with self._transaction() as connection:
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                lift_limits(connection)
                with contextlib.closing(self._parts(connection)) as parts:
                    write_atomically(path, parts, check=check, kind="backup")
        except OSError as error:
            raise StoreUnavailable(
                f"The backup could not be written: {error.strerror or error}.",
                help="Choose a disk with more room that you may write to. Nothing was left behind.",
            ) from error
        with Archive(path) as archive:
            return report(archive)

    def _parts(self, connection: Connection[TupleRow]) -> Generator[bytes, None, None]:
        """The bytes of the archive, from the snapshot that this transaction sees."""
        writer = ArchiveWriter()
        tables = {}
        for name in TABLES:
            columns = _columns(connection, name)
            yield from writer.add(f"tables/{name}", _copy_out(connection, name, columns))
            tables[name] = Table(columns=columns, rows=_count(connection, name))
            reach("backup.table")
        left_out: list[str] = []
        notes: list[str] = []
        for document_id, title, sha256, state in _originals(connection):
            if state == "removing":
                left_out.append(document_id)
            else:
                yield from self._original(writer, document_id, title, sha256, left_out, notes)
        yield from writer.finish(
            Manifest(
                format=FORMAT, version=VERSION, created_at=datetime.now(UTC), migrations=_migrations(connection),
                profile=_profile(connection), tables=tables, members=writer.members, left_out=tuple(left_out),
                notes=tuple(notes),
            )
        )  # fmt: skip

    def _original(
        self, writer: ArchiveWriter, document_id: str, title: str, sha256: str, left_out: list[str], notes: list[str]
    ) -> Iterator[bytes]:
        """A document's file. One whose removal began meanwhile is left out; one that is lost or damaged is noted."""
        try:
            file = self._opened(document_id)
        except FileNotFoundError:
            if self._is_gone(document_id):
                left_out.append(document_id)
            else:
                notes.append(f"The original file of “{title}” is missing; its texts are in the backup.")
            return
        with file:
            if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                notes.append(f"The original file of “{title}” was changed outside Lectern.")
            file.seek(0)
            yield from writer.add(f"files/{document_id}", iter(lambda: file.read(_BLOCK_BYTES), b""), packed=False)

    def _is_gone(self, document_id: str) -> bool:
        """Whether a document was removed since the snapshot."""
        with self._transaction() as connection:
            row = connection.execute("SELECT state FROM documents WHERE id = %s", (document_id,)).fetchone()
        return row is None or row[0] == "removing"


def back_up_beside(settings: Settings, path: Path, *, replace: bool = False) -> BackupReport:
    """Write an archive of a library that another process has open, which is not disturbed: PostgreSQL serves both.

    Raises as `Backup.write` does.
    """
    folder = Path(settings.data_dir).expanduser().absolute()
    url = settings.database_url.get_secret_value() if settings.database_url else embedded_address(folder / "postgres")

    @contextlib.contextmanager
    def transaction() -> Iterator[Connection[TupleRow]]:
        try:
            with psycopg.connect(url, connect_timeout=max(1, round(settings.storage.connect_timeout_s))) as connection:
                yield connection
        except psycopg.OperationalError as error:
            raise unavailable(error) from error

    return Backup(transaction, originals(settings).open).write(path, replace=replace)


def embedded_address(folder: Path) -> str:
    """The address of the embedded PostgreSQL that serves a folder. Raises StoreUnavailable when it does not run."""
    try:
        lines = (folder / "postmaster.pid").read_text().splitlines()
        port, socket = int(lines[3]), lines[4]
    except (OSError, ValueError, IndexError) as error:
        raise StoreUnavailable(f"The embedded PostgreSQL of {folder} does not run: {error}") from error
    return make_conninfo(host=socket, port=port, user="postgres", dbname="postgres")


def report(archive: Archive) -> BackupReport:
    """What an archive holds, for people."""
    manifest = archive.manifest
    return BackupReport(
        path=str(archive.path),
        size_bytes=archive.size_bytes,
        created_at=manifest.created_at,
        documents=manifest.tables["documents"].rows - len(manifest.left_out),
        chunks=manifest.tables["chunks"].rows,
        files=sum(name.startswith("files/") for name in manifest.members),
        conversations=manifest.tables["conversations"].rows,
        notes=manifest.notes,
    )


def _check_place(path: Path, replace: bool) -> None:
    """Refuse a place where an archive cannot or must not be written; clear what a killed backup left there long ago."""
    if not path.parent.is_dir():
        raise ConfigurationError(f"There is no folder {path.parent}.", help="Make it, or name another place.")
    if path.is_dir() or (path.exists() and not replace):
        raise ConfigurationError(
            f"{path} exists already.", help="Name another file, or say that it shall be replaced (--replace)."
        )
    if path.exists() and not is_backup(path):
        raise ConfigurationError(
            f"{path} is no backup of Lectern's, or a damaged one: it is not replaced.",
            help="Name another file, or remove that one yourself.",
        )
    with contextlib.suppress(OSError):
        for leftover in path.parent.glob(f".*{WORK_SUFFIX}"):
            if leftover.is_file() and time.time() - leftover.stat().st_mtime > _LEFTOVER_AGE_S:
                leftover.unlink()


def _columns(connection: Connection[TupleRow], table: str) -> tuple[str, ...]:
    rows = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
        " ORDER BY attnum",
        (table,),
    ).fetchall()
    return tuple(row[0] for row in rows)


def _copy_out(connection: Connection[TupleRow], table: str, columns: tuple[str, ...]) -> Iterator[Block]:
    with connection.cursor() as cursor, cursor.copy(copy_command(table, columns, "TO STDOUT")) as copy:
        yield from copy


def copy_command(table: str, columns: tuple[str, ...], direction: str) -> sql.Composed:
    """COPY of a table in binary. direction: "TO STDOUT" or "FROM STDIN"."""
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    ending = sql.SQL("TO STDOUT" if direction == "TO STDOUT" else "FROM STDIN")
    return sql.SQL("COPY {} ({}) {} (FORMAT BINARY)").format(sql.Identifier(table), names, ending)


def _count(connection: Connection[TupleRow], table: str) -> int:
    row = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))).fetchone()
    return row[0] if row else 0


def _originals(connection: Connection[TupleRow]) -> list[tuple[str, str, str, str]]:
    """Id, title, SHA-256 and state of every document."""
    rows = connection.execute("SELECT id, title, sha256, state FROM documents ORDER BY id").fetchall()
    return [(row[0], row[1], row[2], row[3]) for row in rows]


def _profile(connection: Connection[TupleRow]) -> Profile | None:
    row = connection.execute(
        "SELECT p.id, p.name, p.revision, p.dimensions, p.pooling, p.precision FROM embedding_profiles p"
        " WHERE EXISTS (SELECT FROM documents d WHERE d.profile = p.id) ORDER BY p.created_at DESC LIMIT 1"
    ).fetchone()
    return Profile(*row) if row else None


def _migrations(connection: Connection[TupleRow]) -> tuple[str, ...]:
    return tuple(row[0] for row in connection.execute("SELECT name FROM migrations ORDER BY name").fetchall())
