"""The commands for where documents come from: addresses, what changed since, watched folders."""

from __future__ import annotations

import argparse
import time

from rag_core.cli_output import WrongUsage, emit, plain, shown
from rag_core.domain import FollowedSource, WebAddress
from rag_core.library import Library
from rag_core.sources import Source

UPDATE = "Look again at addresses, files and watched folders that were added, and fetch only what changed."
WATCH = "Follow a folder from now on: the application brings in what comes, changes and goes. Without one, list them."
_FOLLOW_S = 1.0


def add_web(parser: argparse.ArgumentParser) -> None:
    """How far to go from an address."""
    parser.add_argument("--depth", type=int, default=0, help="follow the links of a page so far, within its path (0)")
    parser.add_argument("--pages", type=int, default=50, help="most addresses fetched for each that is named (50)")
    parser.add_argument("--delay", type=float, default=0.5, help="seconds between two requests (0.5)")


def sources_of(options: argparse.Namespace) -> list[Source]:
    """What is named, addresses with how far to go."""
    return [
        WebAddress(one, max(options.depth, 0), max(options.pages, 1), max(options.delay, 0))
        if one.startswith(("http://", "https://"))
        else one
        for one in options.sources
    ]


def add_update(parser: argparse.ArgumentParser) -> None:
    """What to look at."""
    parser.add_argument("locations", nargs="*", metavar="SOURCE", help="addresses, or paths of folders; all without")


def add_watch(parser: argparse.ArgumentParser) -> None:
    """A folder, and what to do with it."""
    parser.add_argument("folder", nargs="?", metavar="FOLDER")
    parser.add_argument("--tag", action="append", default=[], help="a tag for its documents")
    parser.add_argument("--stop", action="store_true", help="follow it no longer; its documents stay")
    parser.add_argument("--remove", action="store_true", help="with --stop: remove its documents")
    parser.add_argument("--follow", action="store_true", help="go on until Ctrl-C, without the application")


def update(library: Library, options: argparse.Namespace) -> int:
    """Look again."""
    return _updated(library, options, options.locations or None)


def watch(library: Library, options: argparse.Namespace) -> int:
    """Watch a folder, leave it, or list those that are watched."""
    if options.folder is None:
        for one in library.followed():
            if one.kind == "folder":
                _tell(options, one)
        return 0
    if options.stop:
        try:
            library.unwatch(options.folder, remove=options.remove)
        except KeyError as error:
            raise WrongUsage(f"{options.folder} is not watched.") from error
        return 0
    try:
        watched = library.watch(options.folder, tags=options.tag)
    except ValueError as error:
        raise WrongUsage(str(error)) from error
    code = _updated(library, options, [watched.location])
    while options.follow:
        time.sleep(_FOLLOW_S)
        _updated(library, options, [watched.location])
    return code


def _updated(library: Library, options: argparse.Namespace, locations: list[str] | None) -> int:
    show, failed = shown(options.json), 0
    for event in library.update(locations):
        show(event)
        failed += event.stage == "failed"
    return 1 if failed else 0


def _tell(options: argparse.Namespace, one: FollowedSource) -> None:
    if options.json:
        emit(plain(one))
    else:
        tags = "".join(f"  #{tag}" for tag in one.tags)
        print(f"{one.documents:7} documents  {one.location}{tags}{'  ' + one.problem if one.problem else ''}")
