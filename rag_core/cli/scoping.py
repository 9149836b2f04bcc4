"""The options that say what is searched, and how."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

import click

from rag_core.cli.output import bars
from rag_core.cli.session import Session, documents_complete, tags_complete

Function = TypeVar("Function", bound=Callable[..., Any])
MODES = ("auto", "hybrid", "dense", "lexical", "clusters", "scaler")
_IN_CLUSTERS = ("clusters", "scaler")
_DAY = click.DateTime(["%Y-%m-%d"])

mode_option = click.option(
    "--mode", type=click.Choice(MODES),
    help="by meaning, by words, by both, with what clusters add, or inside clusters alone (SCALER)",
)  # fmt: skip


def cluster_for(session: Session, mode: str | None) -> None:
    """Cluster what is due, where a mode looks in clusters, before this process, whose background it otherwise is, ends.

    Raises StoreUnavailable, ConfigurationError (UMAP is not installed)."""
    # A server does so by itself.
    if session.wire is None and (mode or session.library.settings.retrieval.mode) in _IN_CLUSTERS:
        with bars() as draw:
            for step in session.library.clusters.update():
                draw("", step.done, step.total, f"Clustering the documents: {step.stage}")


def scoped(function: Function) -> Function:
    """Gives a command these options; each but the days may be given several times."""
    for option in reversed(
        (
            click.option("--in", "names", multiple=True, metavar="NAME", shell_complete=documents_complete,
                         help="documents by title, file name or tag; this and the following say what is searched"),
            click.option("--document", "documents", multiple=True, metavar="ID", help="these documents"),
            click.option("--tag", "tags", multiple=True, shell_complete=tags_complete, help="documents with a tag"),
            click.option("--folder", "folders", multiple=True, help="documents whose path begins so"),
            click.option("--section", "sections", multiple=True, metavar="TITLE",
                         help="sections with this title or number, or commonly called so: Methods"),
            click.option("--year", "years", multiple=True, type=int, help="documents of a year"),
            click.option("--since", "added_since", type=_DAY, metavar="DATE", help="documents added then or later"),
            click.option("--until", "added_until", type=_DAY, metavar="DATE", help="documents added then or before"),
        )
    ):  # fmt: skip
        function = option(function)
    return function


def narrowed(session: Session, given: dict[str, Any]) -> dict[str, Any] | None:
    """The scope that these options say, as REST takes it; None where they say nothing.

    Raises UsageError for a name that fits nothing.
    """
    scope = {key: _plain(value) for key, value in given.items() if key != "names"}
    if given["names"]:
        try:
            named = session.library.scope_of(given["names"])
        except KeyError as error:
            raise click.UsageError(f"No document or tag is called “{error.args[0]}”. See: lectern documents") from None
        scope["documents"] = [*dict.fromkeys((*scope["documents"], *named.documents))]
        scope["tags"] += named.tags
    found = {key: value for key, value in scope.items() if value}
    return found or None


def _plain(value: Any) -> Any:
    """What JSON can say of an option's value."""
    return value.date().isoformat() if isinstance(value, datetime) else [*(value or ())]
