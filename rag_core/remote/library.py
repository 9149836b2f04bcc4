"""The library of a server, with the same methods as one that is open here, for what programs do most."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rag_core.cancellation import Cancellation
from rag_core.domain import (
    AddEvent,
    Answer,
    Chunk,
    Conversation,
    Document,
    Hit,
    Message,
    Page,
    Piece,
    Scope,
    Searched,
    Trace,
    WebAddress,
)
from rag_core.errors import LecternError, ModelUnavailable, UnreadableDocument
from rag_core.plain import plain
from rag_core.remote.revived import revived
from rag_core.remote.services import (
    ROOT,
    Remote,
    RemoteCatalogue,
    RemoteHistory,
    RemoteLanguageModels,
    RemoteMaintenance,
    RemoteSources,
)
from rag_core.remote.wire import Wire

if TYPE_CHECKING:
    from rag_core.sources import Source

_MOST = 1000


@dataclass(frozen=True, slots=True)
class Found:
    """Hits, and how they were found."""

    hits: tuple[Hit, ...]
    trace: Trace


class RemoteLibrary(Remote):
    """See `Library` for what the methods do. All raise what the server tells, and StoreUnavailable where it is silent.

    What only an open library can do raises LecternError.
    """

    def __init__(self, url: str, key: str = "", *, wire: Wire | None = None) -> None:
        super().__init__(wire or Wire(url, key))
        self.catalogue = RemoteCatalogue(self._wire)
        self.history = RemoteHistory(self._wire)
        self.language_models = RemoteLanguageModels(self._wire)
        self.maintenance = RemoteMaintenance(self._wire)
        self.sources = RemoteSources(self._wire, self._event)

    def __enter__(self) -> RemoteLibrary:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Nothing is held."""

    # Documents

    def add(
        self, sources: Iterable[Source], *, password: str | None = None, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """Send files, folders and uploads, telling of each step."""
        from rag_core.reading import SUFFIXES
        from rag_core.sources import Item, Refused, expand, here

        token = cancellation or Cancellation()
        looking = here(SUFFIXES, token.is_set)
        for source in sources:
            if isinstance(source, WebAddress) or str(source).startswith(("http://", "https://")):
                yield from self._fetched(source if isinstance(source, WebAddress) else WebAddress(str(source)), token)
                continue
            for found in expand([source], looking):
                if isinstance(found, Refused):
                    yield AddEvent(found.name, "failed", error=found.error)
                elif isinstance(found, Item) and token.is_set(found.key):
                    yield AddEvent(found.key, "cancelled")
                elif isinstance(found, Item):
                    sent = self._sent(found.name, found.data, password)
                    yield from (replace(event, source=found.key) for event in sent)

    def resume(self, documents: object = None, *, cancellation: Cancellation | None = None) -> Iterator[AddEvent]:
        """Nothing: the server finishes by itself what was accepted."""
        return iter(())

    def retry(
        self, document_id: str, *, password: str | None = None, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """Have a failed document read again; tells how it ended."""
        told = self._wire.ask("POST", f"{ROOT}/documents/{document_id}/retry", {"password": password})
        return (self._event(one) for one in told["results"])

    def documents(self) -> list[Document]:
        """Every document in whatever state, newest first."""
        found: list[Document] = []
        while True:
            told = self._wire.ask("GET", f"{ROOT}/documents", query={"limit": _MOST, "offset": len(found)})
            found += [revived(Document, one) for one in told["documents"]]
            if len(found) >= told["total"] or not told["documents"]:
                return found

    def document(self, document_id: str) -> Document:
        """One document."""
        return revived(Document, self._wire.ask("GET", f"{ROOT}/documents/{document_id}"))

    def chunks(self, document_id: str, *, first: int = 0, limit: int | None = None) -> list[Chunk]:
        """Chunks of a document in order, from index `first` on."""
        query = {"first": first, "limit": min(limit or _MOST, _MOST)}
        told = self._wire.ask("GET", f"{ROOT}/documents/{document_id}/chunks", query=query)
        return [revived(Chunk, one) for one in told["chunks"]]

    def page(self, document_id: str, number: int) -> Page:
        """One page as text."""
        return revived(Page, self._wire.ask("GET", f"{ROOT}/documents/{document_id}/pages/{number}"))

    def pages(self, document_id: str) -> list[Page]:
        """All pages as text."""
        found: list[Page] = []
        while True:
            query = {"first": len(found) + 1, "limit": _MOST}
            told = self._wire.ask("GET", f"{ROOT}/documents/{document_id}/pages", query=query)
            found += [revived(Page, one) for one in told["pages"]]
            if len(found) >= told["total"] or not told["pages"]:
                return found

    def original(self, document_id: str) -> bytes:
        """A document's own bytes."""
        return self._wire.bytes(f"{ROOT}/documents/{document_id}/original")

    def remove(self, document_id: str) -> None:
        """Remove a document from every store."""
        self._wire.ask("DELETE", f"{ROOT}/documents/{document_id}")

    # Questions

    def search(self, question: str, *, scope: Scope | None = None, **wanted: object) -> list[Hit]:
        """The best chunks for a question, best first."""
        return list(self._search(question, scope, wanted, explain=False).hits)

    def retrieve(self, question: str, *, scope: Scope | None = None, **wanted: object) -> Found:
        """The same with what became of each candidate."""
        return self._search(question, scope, wanted, explain=True)

    def ask(self, question: str, **wanted: Any) -> Answer:
        """Answer a question; the same as the end of `stream`."""
        answers = [piece.answer for piece in self.stream(question, **wanted) if piece.answer is not None]
        if not answers:
            raise ModelUnavailable("The model gave no answer.")
        return answers[-1]

    def stream(
        self, question: str, *, scope: Scope | None = None, cancellation: Cancellation | None = None, **wanted: object
    ) -> Iterator[Piece]:
        """Answer a question piece by piece; the last piece holds the whole answer."""
        token = cancellation or Cancellation()
        for name, told in self._wire.events(f"{ROOT}/ask", {"question": question, "scope": _given(scope), **wanted}):
            yield Piece(answer=revived(Answer, told, hits=())) if name == "answer" else revived(Piece, told)
            if token.is_set():
                return

    def reply(self, question: str, *, history: Sequence[tuple[str, str]] = (), **wanted: Any) -> Iterator[Piece]:
        """The same for a caller who keeps the conversation; nothing is kept."""
        return self.stream(question, keep=False, history=[*history], **wanted)

    def scope_of(self, names: Iterable[str]) -> Scope:
        """Documents and tags by what a person calls them. Raises KeyError for a name that fits none."""
        from rag_core.services.scoped import scope_named

        wanted = [*names]
        return scope_named(wanted, self.documents() if wanted else ())

    def conversations(self, words: str = "") -> list[Conversation]:
        """Conversations, pinned ones first, then the one used last; at most a thousand."""
        told = self._wire.ask("GET", f"{ROOT}/conversations", query={"words": words, "limit": _MOST})
        return [revived(Conversation, one) for one in told["conversations"]]

    def messages(self, conversation_id: str) -> list[Message]:
        """The messages of a conversation in order; none where there is no such conversation."""
        try:
            told = self._wire.ask("GET", f"{ROOT}/conversations/{conversation_id}")
        except KeyError:
            return []
        return [revived(Message, one) for one in told["messages"]]

    def _search(self, question: str, scope: Scope | None, wanted: dict[str, object], *, explain: bool) -> Found:
        body = {"question": question, "scope": _given(scope), "explain": explain, **wanted}
        told = self._wire.ask("POST", f"{ROOT}/search", body)
        searched = revived(Searched, told["searched"]) if told["searched"] else None
        hits = tuple(revived(Hit, one) for one in told["hits"])
        return Found(hits, Trace(searched=searched, notes=tuple(told["notes"])))

    def _fetched(self, address: WebAddress, token: Cancellation) -> Iterator[AddEvent]:
        """Have the server fetch an address, and what it links to."""
        given = {"addresses": [plain(address)]}
        for _, told in self._wire.events(f"{ROOT}/documents", given):
            yield self._event(told)
            if token.is_set(address.name):
                return

    def _sent(self, name: str, data: bytes | Path, password: str | None) -> Iterator[AddEvent]:
        headers = {"Content-Type": "application/octet-stream"}
        if password is not None:
            headers["X-Document-Password"] = password
        path, query = f"{ROOT}/documents", {"name": name}
        try:
            if isinstance(data, bytes):
                steps = self._wire.events(path, data, query=query, **headers)
                yield from (self._event(told) for _, told in steps)
            else:
                with data.open("rb") as file:
                    steps = self._wire.events(path, file, query=query, **headers)
                    yield from (self._event(told) for _, told in steps)
        except OSError as error:
            yield AddEvent(name, "failed", error=UnreadableDocument(f"The file cannot be read: {error.strerror}."))
        except LecternError as error:
            yield AddEvent(name, "failed", error=error)

    def _event(self, told: dict[str, Any]) -> AddEvent:
        ended = told["document"] and told["stage"] in ("ready", "failed")
        return revived(
            AddEvent, {**told, "document": None}, document=self.document(told["document"]) if ended else None
        )


def _given(scope: Scope | None) -> Any:
    return None if scope is None else plain(scope)
