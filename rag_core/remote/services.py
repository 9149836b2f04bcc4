"""The services of a library from afar: of each what programs do most."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from rag_core.domain import LibraryStatus, ModelStatus, Report
from rag_core.errors import LecternError
from rag_core.remote.revived import revived
from rag_core.remote.wire import Wire

ROOT = "/api/v1"


class Remote:
    """What speaks to a server. What only an open library can do raises LecternError."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise LecternError(
            f"The server {self._wire.url} does not offer this ({name}).", help="Close the application, then try again."
        )


class RemoteCatalogue(Remote):
    """See `Catalogue`."""

    def rename(self, document_id: str, title: str | None) -> None:
        """Give a document another title; None gives the found one back."""
        self._wire.ask("PATCH", f"{ROOT}/documents/{document_id}", {"title": title})

    def tag(self, ids: Iterable[str], *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> None:
        """Put tags on documents and take others off."""
        change = {"tags": {"add": [*add], "remove": [*remove]}}
        for document_id in ids:
            self._wire.ask("PATCH", f"{ROOT}/documents/{document_id}", change)

    def tags(self) -> list[tuple[str, int]]:
        """Every tag with how many documents have it."""
        return [(one["tag"], one["documents"]) for one in self._wire.ask("GET", f"{ROOT}/tags")["tags"]]


class RemoteHistory(Remote):
    """See `History`."""

    def export(self, conversation_id: str, form: str) -> bytes:
        """A conversation as a file."""
        return self._wire.bytes(f"{ROOT}/conversations/{conversation_id}/export", query={"form": form})

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation with its messages."""
        self._wire.ask("DELETE", f"{ROOT}/conversations/{conversation_id}")


class RemoteLanguageModels(Remote):
    """See `LanguageModels`."""

    def statuses(self) -> tuple[ModelStatus, ...]:
        """Every model that can be chosen."""
        return tuple(revived(ModelStatus, one) for one in self._wire.ask("GET", f"{ROOT}/models")["models"])


class RemoteMaintenance(Remote):
    """See `Maintenance`."""

    def status(self) -> LibraryStatus:
        """How the library is."""
        return revived(LibraryStatus, self._wire.ask("GET", f"{ROOT}/status"))

    def notes(self) -> tuple[str, ...]:
        """What the user should know, one line each."""
        return self.status().notes

    def verify(self, deep: bool = False) -> Report:
        """Compare every document across the stores."""
        return revived(Report, self._wire.ask("POST", f"{ROOT}/verify", query={"deep": str(deep).lower()}))

    def repair(self) -> Report:
        """Rebuild what differs."""
        return revived(Report, self._wire.ask("POST", f"{ROOT}/repair"))
