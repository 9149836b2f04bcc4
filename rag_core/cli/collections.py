"""The command for collections: list them, make one, ask it in another way, remove it, take it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rag_core.cli.output import counts, report
from rag_core.cli.session import Session, command, completed

if TYPE_CHECKING:
    from rag_core.domain import Collection

_NAMES = completed("/api/v1/collections", lambda told: [one["name"] for one in told["collections"]])


@command("collection", help="Make collections of documents or change them; without a name, list them.")
@click.argument("name", required=False, shell_complete=_NAMES)
@click.option("--make", is_flag=True, help="a new one; put documents in by: lectern tag DOCUMENT --add NAME")
@click.option("--rename", metavar="NAME", help="call it, and its tag, otherwise")
@click.option("--instructions", metavar="TEXT", help="what a language model is told whenever it is asked")
@click.option("--set", "settings", multiple=True, metavar="SETTING=VALUE", help="a setting of search, retrieval.k=10")
@click.option("--remove", is_flag=True, help="remove it; its documents and conversations stay")
@click.option("--take-back", is_flag=True, help="undo a removal, by the id that it told")
def collection(session: Session, name: str | None, make: bool, remove: bool, take_back: bool, **given: Any) -> int:
    """List, make, change and remove collections."""
    if name is None:
        for one in session.library.collections.all():
            _tell(session, one)
        return 0
    session.changes("collection", name)
    try:
        if make:
            return _made(session, name, given)
        if take_back:
            session.library.collections.take_back(name)
            return 0
        return _changed(session, _named(session, name), remove, given)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    except KeyError:
        raise click.UsageError(f"There is no collection {name}. See: lectern collection") from None


def _made(session: Session, name: str, given: dict[str, Any]) -> int:
    instructions, settings = given["instructions"] or "", _settings(given["settings"])
    _tell(session, session.library.collections.make(name, instructions=instructions, settings=settings))
    return 0


def _changed(session: Session, one: Collection, remove: bool, given: dict[str, Any]) -> int:
    if remove:
        session.library.collections.remove(one.id)
        report(
            session.as_json, {"removed": one.id}, f"Removed {one.name}. Undo: lectern collection {one.id} --take-back"
        )
        return 0
    settings = {**one.settings, **_settings(given["settings"])} if given["settings"] else None
    session.library.collections.change(
        one.id, name=given["rename"], instructions=given["instructions"], settings=settings
    )  # fmt: skip
    _tell(session, session.library.collections.get(one.id))
    return 0


def _named(session: Session, name: str) -> Collection:
    wanted = name.casefold()
    return {one.name.casefold(): one for one in session.library.collections.all()}[wanted]


def _settings(given: tuple[str, ...]) -> dict[str, str]:
    if wrong := [text for text in given if "=" not in text]:
        raise click.UsageError(f"{wrong[0]}: write SETTING=VALUE.")
    return dict(text.split("=", 1) for text in given)


def _tell(session: Session, one: Collection) -> None:
    lines = [
        f"{counts(document=one.documents):>17}  {one.name}",
        *([f"{'':19}{one.instructions}"] * bool(one.instructions)),
    ]
    lines += [f"{'':19}{key} = {value}" for key, value in one.settings.items()]
    report(session.as_json, one, "\n".join(lines))
