"""What a command works with: the library of one data directory, by its server where one runs, else opened here."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from rag_core import server_file
from rag_core.cancellation import Cancellation
from rag_core.cli.output import report
from rag_core.errors import ConfigurationError, LecternError, StoreUnavailable
from rag_core.paths import data_dir as default_dir
from rag_core.remote.wire import Wire
from rag_core.runtime.closing import Closing

if TYPE_CHECKING:
    from rag_core.domain import Scope
    from rag_core.library import Library
    from rag_core.settings import Settings

_VARIABLE = "LECTERN_DATA_DIR"
_AUDIT_CHARS = 500


class Session(Closing):
    """One command's. Nothing is opened, asked or imported before it is used."""

    def __init__(self, data_dir: str | None = None, backend: str | None = None, *, as_json: bool = False) -> None:
        self.as_json = as_json
        self._data_dir = data_dir
        self._backend = backend
        self._held = ExitStack()
        self._changes: tuple[str, ...] = ()

    def close(self) -> None:
        """Close what was opened."""
        self._held.close()

    def changes(self, *words: str) -> None:
        """Say that this command changes data, in the words of the audit: its name and what it changes, no password."""
        self._changes = words

    def ended(self, code: int) -> None:
        """Note in the audit what was changed in a library that is open here; a server does so by itself."""
        if self._changes and self.wire is None and "library" in self.__dict__:
            who = f"command line ({getpass.getuser()})"
            self.library.access.note(who, " ".join(("lectern", *self._changes))[:_AUDIT_CHARS], code)

    @cached_property
    def folder(self) -> Path:
        """The data directory, as the settings find it."""
        named = self._data_dir or os.environ.get(_VARIABLE)
        if not named and Path(".env").exists():
            from dotenv import dotenv_values

            named = dotenv_values(".env").get(_VARIABLE)
        return Path(named or default_dir() / "library").expanduser().absolute()

    @cached_property
    def settings(self) -> Settings:
        """The settings. Raises ConfigurationError."""
        from rag_core.settings import Settings

        settings = Settings.load(**({"data_dir": self._data_dir} if self._data_dir else {}))
        return settings.changed("retrieval", backend=self._backend) if self._backend else settings

    @cached_property
    def wire(self) -> Wire | None:
        """To the server of the data directory; None where none answers."""
        served = server_file.find(self.folder)
        if served is None:
            return None
        wire = Wire(served.url, served.key)
        try:
            wire.ask("GET", "/api/v1/health")
        except StoreUnavailable:  # it was killed, and its process id is another's by now
            return None
        return wire

    @cached_property
    def library(self) -> Library:
        """The library, or one from afar with its methods. Raises LecternError."""
        if self.wire is not None:
            from rag_core.remote.library import RemoteLibrary

            return cast("Library", RemoteLibrary(self.wire.url, wire=self.wire))
        from rag_core import logs
        from rag_core.library import Library

        library = self._held.enter_context(Library.open(self.settings))
        self._held.enter_context(logs.kept(self.folder, self.settings.logs))
        return library

    def execute(self, executor: str | None) -> None:
        """Have another executor than that of the settings read and embed, and say which. Raises LecternError."""
        if executor is not None:
            self.settings = self.settings.changed("jobs", executor=executor)
            if executor != "local" and self.wire is not None:
                raise ConfigurationError(
                    "The server of this data directory reads and embeds by itself.",
                    help="Close it, or give this command a data directory of its own: docs/scale.md.",
                )
        if self.wire is None and self.settings.jobs.executor != "local":
            how = self.library.maintenance.open_executor()
            report(self.as_json, {"event": "executor", "about": how}, f"{'executor':10} {how}")

    def asked(
        self, question: str, narrowed: Mapping[str, Any] | None, token: Cancellation | None = None, **given: Any
    ) -> Generator[tuple[str, Any]]:
        """The events of an answer as REST has them: `piece`, `piece`, ..., and last `answer`. Raises LecternError."""
        if self.wire is not None:
            yield from self.wire.events("/api/v1/ask", {"question": question, "scope": narrowed, **given})
            return
        from rag_core.domain.serialiser import to_json

        for event in self.library.stream(question, **given, scope=scope_of(narrowed), cancellation=token):
            if event.answer is not None:
                yield "answer", to_json(event.answer, without={"hits"})
            else:
                yield "piece", to_json(event, without={"answer"})


def scope_of(narrowed: Mapping[str, Any] | None) -> Scope | None:
    """What `scoping.narrowed` says as the library takes it."""
    from rag_core.domain import Scope
    from rag_core.domain.serialiser import from_json

    return None if narrowed is None else from_json(Scope, narrowed)


def command(name: str, *, help: str) -> Callable[[Callable[..., int | None]], click.Command]:
    """Makes a command of a function, which gets the session and then the command's own parameters."""

    def make(function: Callable[..., int | None]) -> click.Command:
        @click.command(name, help=help, short_help=help)
        @click.option("--json", "as_json", is_flag=True, help="print one JSON object per line")
        @click.option("--data-dir", metavar="DIR", help=f"the library's folder ({_VARIABLE})")
        @click.option("--backend", type=click.Choice(["auto", "cpu", "coreml", "torch"]), help="what scores vectors")
        @wraps(function)
        def run(as_json: bool, data_dir: str | None, backend: str | None, **given: Any) -> int:
            with Session(data_dir, backend, as_json=as_json) as session:
                try:
                    code = function(session, **given) or 0
                except LecternError:
                    session.ended(1)
                    raise
                session.ended(code)
                return code

        return run

    return make


executor_option = click.option(
    "--executor", type=click.Choice(["local", "ray"]), help="what reads and embeds: this machine, or a Ray cluster"
)


def completed(path: str, names: Callable[[Any], list[str]]) -> Callable[..., list[str]]:
    """Completes a word of the shell from what a running server answers at a path; from nothing where none runs."""

    def complete(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
        wire = Session(context.params.get("data_dir")).wire
        found = names(wire.ask("GET", path)) if wire else []
        return [name for name in found if name.casefold().startswith(begun.casefold())]

    return complete


def document_names(told: Any) -> list[str]:
    """The titles of a list of documents."""
    return [one["title"] for one in told["documents"]]


documents_complete = completed("/api/v1/documents", document_names)
tags_complete = completed("/api/v1/tags", lambda told: [one["tag"] for one in told["tags"]])
models_complete = completed("/api/v1/models", lambda told: [one["id"] for one in told["models"]])
