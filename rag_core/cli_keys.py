"""The command `keys`: who may use the library through its doors for other programs."""

from __future__ import annotations

import argparse
from typing import Any

from rag_core import serving
from rag_core.cli_output import emit, plain
from rag_core.domain import ROLES
from rag_core.errors import LecternError, LibraryInUse
from rag_core.library import Library
from rag_core.remote.wire import Wire
from rag_core.settings import Settings

HELP = "List the keys of the doors for other programs, make one, revoke one."


def add(command: argparse.ArgumentParser) -> None:
    """The command's options."""
    what = command.add_mutually_exclusive_group()
    what.add_argument("--create", metavar="NAME", help="make a key; its text is shown this once")
    what.add_argument("--revoke", metavar="ID", help="let a key open nothing any longer")
    command.add_argument("--role", choices=ROLES, default="read", help="what the new key may do (read without it)")
    command.add_argument("--tag", action="append", default=[], help="the new key sees documents with this tag alone")


def keys(settings: Settings, options: argparse.Namespace) -> int:
    """List, make or revoke: in the library, or by its server where it runs."""
    served = serving.find(settings.data_dir.expanduser().absolute())
    try:
        with Library.open(settings) as library:
            _show(_here(library, options), options)
    except LibraryInUse:
        if served is None:
            raise
        _show(_there(Wire(served.url, served.key), options), options)
    return 0


def _here(library: Library, options: argparse.Namespace) -> list[dict[str, Any]]:
    access = library.access
    if options.create is not None:
        key, text = access.create(options.create, options.role, options.tag)
        return [{**plain(key), "text": text}]
    if options.revoke is not None:
        _revoke(lambda: access.revoke(options.revoke), options.revoke)
        return [{"revoked": options.revoke}]
    found: list[dict[str, Any]] = plain(access.all())
    return found


def _there(wire: Wire, options: argparse.Namespace) -> list[dict[str, Any]]:
    if options.create is not None:
        given = {"name": options.create, "role": options.role, "tags": options.tag}
        made = wire.ask("POST", "/api/v1/keys", given)
        return [{**made["key"], "text": made["text"]}]
    if options.revoke is not None:
        _revoke(lambda: wire.ask("DELETE", f"/api/v1/keys/{options.revoke}"), options.revoke)
        return [{"revoked": options.revoke}]
    found: list[dict[str, Any]] = wire.ask("GET", "/api/v1/keys")["keys"]
    return found


def _revoke(revoke: Any, key_id: str) -> None:
    try:
        revoke()
    except KeyError as error:
        raise LecternError(f"There is no key {key_id} that opens anything.", help="See: lectern keys") from error


def _show(found: list[dict[str, Any]], options: argparse.Namespace) -> None:
    for one in found:
        if options.json:
            emit(one)
        elif "revoked" in one:
            print(f"Revoked {one['revoked']}.")
        elif "text" in one:
            print(f"{one['text']}\nKeep it: it cannot be shown again.")
        else:
            state = f"revoked {one['revoked_at'][:10]}" if one["revoked_at"] else ", ".join(one["tags"])
            print(f"{one['id']}  {one['role']:6} {one['created_at'][:10]}  {one['name']}  {state}".rstrip())
    if not found and not options.json:
        print("No keys. Make one: lectern keys --create NAME --role read")
