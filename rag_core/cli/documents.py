"""The commands that list, name, tag and remove documents."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

import click

from rag_core.cli.output import emit, report, say, table
from rag_core.cli.session import Session, command, documents_complete, tags_complete

if TYPE_CHECKING:
    from rag_core.domain import Document

_tag = click.option(
    "--tag", "tags", multiple=True, shell_complete=tags_complete, help="those with this tag alone"
)  # fmt: skip


@command("documents", help="List the documents.")
@_tag
def documents(session: Session, tags: tuple[str, ...]) -> None:
    """List the documents, or those with all of some tags."""
    wanted = {tag.casefold() for tag in tags}
    found = [d for d in session.library.documents() if wanted <= {tag.casefold() for tag in d.tags}]
    if session.as_json:
        for document in found:
            emit(document)
    elif not found:
        say("No document has these tags." if wanted else "No documents yet. Add some: lectern add FILE")
    else:
        columns = {"id": False, "state": False, "pages": True, "chunks": True, "size": True, "title": False}
        table(columns, (
            (d.id[:10], d.state, d.page_count, d.chunk_count, f"{max(d.byte_size / 1024, 1):,.0f} KB",
             d.title + "".join(f"  #{tag}" for tag in d.tags))
            for d in found))  # fmt: skip


@command("remove", help="Remove documents by id (or its beginning) or title.")
@click.argument("documents", nargs=-1, required=True, metavar="DOCUMENT...", shell_complete=documents_complete)
def remove(session: Session, documents: tuple[str, ...]) -> int:
    """Remove documents."""
    session.changes("remove", *documents)
    found = _named(session, documents)
    for document in found:
        session.library.remove(document.id)
        report(session.as_json, {"removed": document.id, "title": document.title}, f"Removed {document.title}.")
    return 0 if len(found) == len(documents) else 1


@command("rename", help="Call a document otherwise; without a title, as it was found.")
@click.argument("document", shell_complete=documents_complete)
@click.argument("title", required=False)
def rename(session: Session, document: str, title: str | None) -> int:
    """Give a document another title, or the one back that was found."""
    session.changes("rename", document)
    found = _named(session, [document])
    for one in found:
        session.library.catalogue.rename(one.id, title)
        now = session.library.document(one.id).title
        report(session.as_json, {"renamed": one.id, "title": now}, f"{one.title} is called {now}.")
    return 0 if found else 1


@command("tag", help="Put tags on documents and take others off; without documents, list them.")
@click.argument("documents", nargs=-1, metavar="DOCUMENT...", shell_complete=documents_complete)
@click.option("--add", multiple=True, metavar="TAG", shell_complete=tags_complete)
@click.option("--remove", multiple=True, metavar="TAG", shell_complete=tags_complete)
def tag(session: Session, documents: tuple[str, ...], add: tuple[str, ...], remove: tuple[str, ...]) -> int:
    """Put tags on documents and take others off; without documents, list the tags."""
    if documents and not (add or remove):
        raise click.UsageError("Say what to put on (--add TAG) or to take off (--remove TAG).")
    if documents:
        session.changes("tag", *documents)
    found = _named(session, documents)
    try:
        session.library.catalogue.tag([d.id for d in found], add=add, remove=remove)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    for document in found:
        tags = session.library.document(document.id).tags
        values = {"id": document.id, "tags": list(tags)}
        report(session.as_json, values, f"{document.title}: {', '.join(tags) or 'no tags'}")
    if not documents:
        for name, count in session.library.catalogue.tags():
            report(session.as_json, {"tag": name, "documents": count}, f"{count:6}  {name}")
    return 0 if len(found) == len(documents) else 1


def _named(session: Session, names: Sequence[str]) -> list[Document]:
    """Documents by id, its beginning, title, source, or file name without its ending; names that are not one
    document's are told of."""
    documents, named = session.library.documents(), []
    for wanted in names:
        found = [
            d for d in documents if wanted in (d.title, *d.sources) or (len(wanted) >= 4 and d.id.startswith(wanted))
        ] or [d for d in documents if wanted in (PurePath(source).stem for source in d.sources)]
        if len(found) == 1:
            named += found
        else:
            reason = "no document" if not found else f"{len(found)} documents"
            sys.stderr.write(f"{wanted}: {reason} of that id or title. See: lectern documents\n")
    return named
