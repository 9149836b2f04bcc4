"""The command `keys`: who may use the library through its doors for other programs."""

from __future__ import annotations

from typing import Any

import click

from rag_core.cli.output import emit, say
from rag_core.cli.session import Session, command, tags_complete
from rag_core.domain import ROLES
from rag_core.domain.serialiser import to_json
from rag_core.errors import LecternError


@command("keys", help="List the keys of the doors for other programs, make one, revoke one.")
@click.option("--create", metavar="NAME", help="make a key; its text is shown this once")
@click.option("--revoke", metavar="ID", help="let a key open nothing any longer")
@click.option("--role", type=click.Choice(ROLES), default="read", help="what the new key may do (read without it)")
@click.option("--tag", "tags", multiple=True, shell_complete=tags_complete,
              help="the new key sees documents with this tag alone")  # fmt: skip
@click.option("--person", metavar="ADDRESS",
              help="the new key has what this person has, and what is shared with them")  # fmt: skip
def keys(
    session: Session, create: str | None, revoke: str | None, role: Any, tags: tuple[str, ...], person: str | None
) -> None:  # fmt: skip
    """List, make or revoke: in the library, or by its server where it runs."""
    if create is not None and revoke is not None:
        raise click.UsageError("--create and --revoke exclude each other.")
    access = session.library.access
    if create is not None:
        session.changes("keys --create", create)
        key, text = access.create(create, role, tags, person)
        _show_all([{**to_json(key), "text": text}], session)
    elif revoke is not None:
        session.changes("keys --revoke", revoke)
        _revoke(session, revoke)
        _show_all([{"revoked": revoke}], session)
    else:
        _show_all(to_json(access.all()), session)


def _revoke(session: Session, key_id: str) -> None:
    try:
        session.library.access.revoke(key_id)
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
            state = (
                f"revoked {one['revoked_at'][:10]}"
                if one["revoked_at"]
                else ", ".join([*one["tags"], one["person"]]).strip(", ")
            )
            say(f"{one['id']}  {one['role']:6} {one['created_at'][:10]}  {one['name']}  {state}".rstrip())
    if not found and not session.as_json:
        say("No keys. Make one: lectern keys --create NAME --role read")
