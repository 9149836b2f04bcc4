"""The services of a library from afar: of each what programs do most."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from rag_core.domain import AddEvent, FollowedSource, LibraryStatus, ModelFile, ModelStatus, Progress, Report
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

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title."""
        self._wire.ask("PATCH", f"{ROOT}/conversations/{conversation_id}", {"title": title})

    def pin(self, conversation_id: str, pinned: bool) -> None:
        """Keep a conversation before all others, or among them again."""
        self._wire.ask("PATCH", f"{ROOT}/conversations/{conversation_id}", {"pinned": pinned})

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

    def files(self) -> tuple[ModelFile, ...]:
        """The GGUF files of the models folder."""
        return tuple(revived(ModelFile, one) for one in self._wire.ask("GET", f"{ROOT}/models/files")["files"])

    def download(self, wanted: str, *, sha256: str = "") -> Iterator[Progress]:
        """Have the server download a model."""
        steps = self._wire.events(f"{ROOT}/models/download", {"wanted": wanted, "sha256": sha256})
        return (revived(Progress, told) for _, told in steps)

    def remove(self, model_id: str) -> None:
        """Remove a model's file."""
        self._wire.ask("DELETE", f"{ROOT}/models/{model_id}")


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


class RemoteSources(Remote):
    """See `FollowedSources`. `event` makes an event of what the server says of one."""

    def __init__(self, wire: Wire, event: Callable[[dict[str, Any]], AddEvent]) -> None:
        super().__init__(wire)
        self._event = event

    def followed(self) -> list[FollowedSource]:
        """Watched folders, and addresses that were added."""
        return [revived(FollowedSource, one) for one in self._wire.ask("GET", f"{ROOT}/sources")["sources"]]

    def watch(self, folder: str | Path, *, tags: Iterable[str] = ()) -> FollowedSource:
        """Have the server follow a folder of its machine."""
        given = {"folder": _location(str(folder)), "tags": [*tags]}
        return revived(FollowedSource, self._wire.ask("POST", f"{ROOT}/sources", given))

    def unwatch(self, location: str, *, remove: bool = False) -> None:
        """Follow a folder no longer."""
        query = {"location": _location(location), "remove": str(remove).lower()}
        self._wire.ask("DELETE", f"{ROOT}/sources", query=query)

    def update(self, locations: Iterable[str] | None = None) -> Iterator[AddEvent]:
        """Have the server look again at sources, or at these."""
        given = {"locations": None if locations is None else [_location(one) for one in locations]}
        return (self._event(told) for _, told in self._wire.events(f"{ROOT}/sources/update", given))


def _location(named: str) -> str:
    """A path from this process's folder on is another one to the server."""
    from rag_core.sources import location_of

    return location_of(named)
