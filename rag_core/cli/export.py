"""The command `export`: a conversation as a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from rag_core.cli.output import is_terminal, report, table
from rag_core.cli.session import Session, command
from rag_core.errors import LecternError

FORMS = ("markdown", "pdf", "json", "bibtex")
_SUFFIXES = {".md": "markdown", ".pdf": "pdf", ".json": "json", ".bib": "bibtex"}


@command("export", help="Write a conversation as Markdown, PDF, JSON or BibTeX; without one, list them.")
@click.argument("conversation", required=False)
@click.option("--form", type=click.Choice(FORMS), help="markdown without it, or what the file's name says")
@click.option("--output", metavar="FILE", type=click.Path(), help="where to; standard output without it")
def export(session: Session, conversation: str | None, form: Any, output: str | None) -> None:
    """Write the conversation of an id, or its beginning, or `last`."""
    found = session.library.conversations()
    if conversation is None:
        _list(session, found)
        return
    if conversation == "last":
        fitting = sorted(found, key=lambda one: one.updated_at)[-1:]
    else:
        fitting = [one for one in found if one.id.startswith(conversation)]
    if len(fitting) != 1:
        reason = "no conversation" if not fitting else f"{len(fitting)} conversations"
        raise LecternError(f"{conversation}: {reason} of that id.", help="See: lectern export")
    write(session, fitting[0].id, form, output)


def write(session: Session, conversation_id: str, form: Any, output: str | None) -> None:
    """Write one conversation. Raises LecternError where the file cannot be written."""
    form = form or _SUFFIXES.get(Path(output or "").suffix.lower(), "markdown")
    if output is None and form == "pdf" and is_terminal():
        raise click.UsageError("A PDF goes to a file: --output FILE.")
    data = session.library.history.export(conversation_id, form)
    if output is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        Path(output).write_bytes(data)
    except OSError as error:
        raise LecternError(f"{output} cannot be written: {error.strerror}.") from error
    report(session.as_json, {"exported": conversation_id, "file": output}, f"Written to {output}.")


def _list(session: Session, found: Any) -> None:
    from rag_core.cli.output import emit

    if session.as_json:
        for one in found:
            emit(one)
        return
    rows = ((one.id, f"{one.updated_at:%Y-%m-%d %H:%M}", one.title) for one in found)
    table({"id": False, "used": False, "title": False}, rows)
