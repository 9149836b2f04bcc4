"""The command `keys`: who may use the library through its doors for other programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from rag_core.cli.output import emit, say
from rag_core.cli.session import Session, command, tags_complete
from rag_core.domain import ROLES
from rag_core.errors import LecternError
from rag_core.remote.wire import Wire


@command("keys", help="List the keys of the doors for other programs, make one, revoke one.")
@click.option("--create", metavar="NAME", help="make a key; its text is shown this once")
@click.option("--revoke", metavar="ID", help="let a key open nothing any longer")
@click.option("--role", type=click.Choice(ROLES), default="read", help="what the new key may do (read without it)")
@click.option("--tag", "tags", multiple=True, shell_complete=tags_complete,
              help="the new key sees documents with this tag alone")  # fmt: skip
def keys(session: Session, create: str | None, revoke: str | None, role: Any, tags: tuple[str, ...]) -> None:
    """List, make or revoke: in the library, or by its server where it runs."""
    if create is not None and revoke is not None:
        raise click.UsageError("--create and --revoke exclude each other.")
    wire = session.wire
    if create is not None:
        session.changes("keys --create", create)
        _show_all([_created(session, wire, create, role, tags)], session)
    elif revoke is not None:
        session.changes("keys --revoke", revoke)
        _revoke(session, wire, revoke)
        _show_all([{"revoked": revoke}], session)
    else:
        _show_all(_all(session, wire), session)


def _created(session: Session, wire: Wire | None, name: str, role: Any, tags: tuple[str, ...]) -> dict[str, Any]:
    if wire is not None:
        made = wire.ask("POST", "/api/v1/keys", {"name": name, "role": role, "tags": tags})
        return {**made["key"], "text": made["text"]}
    from rag_core.plain import plain

    key, text = session.library.access.create(name, role, tags)
    return {**plain(key), "text": text}


def _all(session: Session, wire: Wire | None) -> list[dict[str, Any]]:
    from rag_core.plain import plain

    found: list[dict[str, Any]]
    found = wire.ask("GET", "/api/v1/keys")["keys"] if wire is not None else plain(session.library.access.all())
    return found


def _revoke(session: Session, wire: Wire | None, key_id: str) -> None:
    revoke: Callable[[], object] = (
        (lambda: wire.ask("DELETE", f"/api/v1/keys/{key_id}")) if wire is not None
        else lambda: session.library.access.revoke(key_id)
    )  # fmt: skip
    try:
        revoke()
    except KeyError as error:
        raise LecternError(f"There is no key {key_id} that opens anything.", help="See: lectern keys") from error


def _show_all(found: list[dict[str, Any]], session: Session) -> None:
    for one in found:
        if session.as_json:
            emit(one)
        elif "revoked" in one:
            say(f"Revoked {one['revoked']}.")
        elif "text" in one:
            say(f"{one['text']}\nKeep it: it cannot be shown again.")
        else:
            state = f"revoked {one['revoked_at'][:10]}" if one["revoked_at"] else ", ".join(one["tags"])
            say(f"{one['id']}  {one['role']:6} {one['created_at'][:10]}  {one['name']}  {state}".rstrip())
    if not found and not session.as_json:
        say("No keys. Make one: lectern keys --create NAME --role read")
