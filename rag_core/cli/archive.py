"""The commands that write a library into one archive, and fill an empty one from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rag_core.cli.output import report
from rag_core.cli.session import Session, command
from rag_core.errors import LibraryInUse

if TYPE_CHECKING:
    from rag_core.domain import BackupReport


@command("backup", help="Write everything into one verified archive, while the library is in use.")
@click.argument("file", type=click.Path())
@click.option("--replace", is_flag=True, help="replace the file if it exists")
def backup(session: Session, file: str, replace: bool) -> None:
    """Write it, also beside an application that has the library open."""
    from rag_core.library import Library

    try:
        with Library.open(session.settings) as library:
            made = library.maintenance.backup(file, replace=replace)
    except LibraryInUse:
        made = Library.backup_beside(file, session.settings, replace=replace)
    _report(session, made, "Written and read back")


@command("restore", help="Fill an empty library from an archive.")
@click.argument("file", type=click.Path())
def restore(session: Session, file: str) -> None:
    """Read and check the archive first, then fill the library."""
    from rag_core.library import Library

    _report(session, Library.restore(file, session.settings), "Restored")


def _report(session: Session, made: BackupReport, done: str) -> None:
    parts = f"{made.documents} documents, {made.chunks} chunks, {made.files} files, "
    size = f"{made.size_bytes / 2**20:,.1f} MB"
    notes = "".join(f"\nnote: {note}" for note in made.notes)
    report(session.as_json, made, f"{done}: {parts}{made.conversations} conversations, {size}.{notes}")
