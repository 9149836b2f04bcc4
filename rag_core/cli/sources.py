"""The commands for where documents come from: adding them, looking again, watched folders."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from rag_core.cli.output import adding, counts, report, say, steps
from rag_core.cli.session import Session, command, executor_option
from rag_core.errors import EncryptedDocument

if TYPE_CHECKING:
    from rag_core.domain import AddEvent, FollowedSource
    from rag_core.sources import Source

_FOLLOW_S = 1.0
_DELAY_S = 0.5


@command("add", help="Add files, folders and web addresses, and finish what was left pending.")
@click.argument("sources", nargs=-1, metavar="SOURCE...", type=click.Path(readable=False))
@click.option("--depth", type=int, default=0, help="follow the links of a page so far, within its path (0)")
@click.option("--pages", type=int, default=50, help="most addresses fetched for each that is named (50)")
@click.option("--delay", type=float, default=_DELAY_S, help="seconds between two requests (0.5)")
@click.option("--password", help="password of encrypted PDF documents; asked for when it is left out")
@executor_option
def add(
    session: Session, sources: tuple[str, ...], depth: int, pages: int, delay: float, password: str | None,
    executor: str | None,
) -> int:  # fmt: skip
    """Add files (PDF, Office, web, EPUB, mail, CSV, text, code, images), folders, archives and addresses."""
    session.execute(executor)
    return _added(session, sources, depth, pages, delay, password)


@command("fetch", help="Add the pages at these addresses: the same as add.")
@click.argument("addresses", nargs=-1, required=True, metavar="ADDRESS...")
def fetch(session: Session, addresses: tuple[str, ...]) -> int:
    """As CLI-RAG calls it."""
    return _added(session, addresses, 0, 1, _DELAY_S)


@command("crawl", help="Add a page and what it links to within its path: the same as add --depth 2.")
@click.argument("address")
@click.option("--depth", type=int, default=2, help="how far links are followed (2)")
@click.option("--pages", type=int, default=50, help="most addresses fetched (50)")
@click.option("--delay", type=float, default=_DELAY_S, help="seconds between two requests (0.5)")
def crawl(session: Session, address: str, depth: int, pages: int, delay: float) -> int:
    """As CLI-RAG calls it."""
    return _added(session, (address,), depth, pages, delay)


def _added(
    session: Session, sources: tuple[str, ...], depth: int, pages: int, delay: float, password: str | None = None
) -> int:
    from rag_core.domain import WebAddress

    session.changes("add", *sources)
    library, asks = session.library, sys.stdin.isatty() and not session.as_json
    named: list[Source] = [
        WebAddress(one, max(depth, 0), max(pages, 1), max(delay, 0)) if one.startswith(("http://", "https://")) else one
        for one in sources
    ]
    locked: list[tuple[str, str]] = []
    failed = 0
    with adding(session.as_json) as show:
        failed += _shown(library.resume(), show)
        for event in library.add(named, password=password):
            if asks and isinstance(event.error, EncryptedDocument) and event.document:
                locked.append((event.source, event.document.id))
            else:
                failed += _shown([event], show)
    for source, document_id in locked:
        given = click.prompt(f"Password of {source}", hide_input=True)
        with adding(session.as_json) as show:
            failed += _shown(library.retry(document_id, password=given), show)
    _recognise(session)
    return 1 if failed else 0


@command("update", help="Look again at addresses, files and watched folders that were added, and fetch what changed.")
@click.argument("locations", nargs=-1, metavar="SOURCE...")
def update(session: Session, locations: tuple[str, ...]) -> int:
    """Look again at addresses, or paths of folders; at all without."""
    session.changes("update", *locations)
    return _updated(session, locations)


@command("watch", help="Follow a folder from now on: the application brings in what comes, changes and goes."
                       " Without one, list them.")  # fmt: skip
@click.argument("folder", required=False, type=click.Path())
@click.option("--tag", "tags", multiple=True, help="a tag for its documents")
@click.option("--stop", is_flag=True, help="follow it no longer; its documents stay")
@click.option("--remove", is_flag=True, help="with --stop: remove its documents")
@click.option("--follow", is_flag=True, help="go on until Ctrl-C, without the application")
def watch(
    session: Session, folder: str | None, tags: tuple[str, ...], stop: bool, remove: bool, follow: bool
) -> int:  # fmt: skip
    """Watch a folder, leave it, or list those that are watched."""
    library = session.library
    if folder is None:
        folders = [one for one in library.sources.followed() if one.kind == "folder"]
        for one in folders:
            _tell(session, one)
        if not folders and not session.as_json:
            say("No folder is watched. Watch one: lectern watch FOLDER")
        return 0
    session.changes("watch", *(["--stop"] * stop), *(["--remove"] * remove), folder)
    if stop:
        try:
            library.sources.unwatch(folder, remove=remove)
        except KeyError as error:
            raise click.UsageError(f"{folder} is not watched.") from error
        return 0
    try:
        watched = library.sources.watch(folder, tags=tags)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    code = _updated(session, [watched.location])
    while follow:
        time.sleep(_FOLLOW_S)
        _updated(session, [watched.location])
    return code


def _shown(events: Iterable[AddEvent], show: Callable[[AddEvent], None]) -> int:
    """Show events; returns how many sources failed."""
    failed = 0
    for event in events:
        show(event)
        failed += event.stage == "failed"
    return failed


def _updated(session: Session, locations: Iterable[str]) -> int:
    with adding(session.as_json) as show:
        return 1 if _shown(session.library.sources.update([*locations] or None), show) else 0


def _recognise(session: Session) -> None:
    """Read pages whose text is a picture before this process, whose background it otherwise is, ends."""
    if session.wire is None and session.library.recognition.left():  # a server does so by itself
        with steps(session.as_json, unit=" pages") as show:
            for step in session.library.recognition.run():
                show(step)


def _tell(session: Session, one: FollowedSource) -> None:
    tags = "".join(f"  #{tag}" for tag in one.tags)
    line = f"{counts(document=one.documents):>17}  {one.location}{tags}{'  ' + one.problem if one.problem else ''}"
    report(session.as_json, one, line)
