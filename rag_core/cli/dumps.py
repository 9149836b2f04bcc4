"""The command `dumps`: vectors as files in TLDR's layout, written for other programs and taken back from them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_core.cli.output import complain, report
from rag_core.cli.session import Session, command
from rag_core.errors import LecternError, LibraryInUse

if TYPE_CHECKING:
    from rag_core.services.dump_files import DumpFile


@command("dumps", help="Write the vectors as files of TLDR's version 1 (export FOLDER), or take them (import FILE...).")
@click.argument("action", type=click.Choice(["export", "import"]))
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
def dumps(session: Session, action: str, paths: tuple[Path, ...]) -> int:
    """Tell each file; the exit code is 1 where one cannot be taken."""
    if action == "export" and len(paths) > 1:
        raise click.UsageError("Vectors are exported to one folder.")
    if session.wire is not None:
        raise LibraryInUse(f"{session.wire.url} has the library open.", help="Close the application, then try again.")
    if action == "export":
        for made in session.library.dump_files.write(paths[0]):
            _tell(session, made)
        return 0
    session.changes("dumps", "import", *map(str, paths))
    failed = 0
    for path in paths:
        try:
            for made in session.library.dump_files.take(path):
                _tell(session, made)
        except LecternError as error:
            complain(error)
            failed += 1
    return 1 if failed else 0


def _tell(session: Session, made: DumpFile) -> None:
    report(session.as_json, made, f"{made.path}: {made.title}, {made.rows} vectors, {made.outcome}")
