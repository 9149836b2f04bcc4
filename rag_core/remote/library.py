"""The library of a server, with the same methods as one that is open here, as far as REST offers them."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar

from rag_core.cancellation import Cancellation
from rag_core.domain import (
    AddEvent,
    Answer,
    Box,
    Chunk,
    Conversation,
    Document,
    Hit,
    Message,
    Page,
    PageImage,
    Retrieval,
    Scope,
    StreamEvent,
    Table,
    WebAddress,
    answer_of,
)
from rag_core.domain.serialiser import to_json
from rag_core.errors import LecternError
from rag_core.remote.calls import ROOT, Call, Remote, answer_events, answer_told, received
from rag_core.remote.services import (
    RemoteAccess,
    RemoteCatalogue,
    RemoteChunkEdits,
    RemoteClusters,
    RemoteCollections,
    RemoteEvaluation,
    RemoteHistory,
    RemoteInsights,
    RemoteJobs,
    RemoteLanguageModels,
    RemoteMaintenance,
    RemoteSources,
    RemoteTablePlans,
    RemoteTableViews,
)
from rag_core.remote.wire import Wire
from rag_core.runtime.closing import Closing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag_core.sources import Source

Listed = TypeVar("Listed")
_MOST = 1000


class RemoteLibrary(Remote, Closing):
    """See `Library` for what the methods do. All raise what the server tells, and StoreUnavailable where it is silent.

    What only an open library can do raises NotOffered, a LecternError and AttributeError.
    """

    def __init__(self, url: str, key: str = "", *, wire: Wire | None = None) -> None:
        super().__init__(wire or Wire(url, key))
        self.access = RemoteAccess(self._wire)
        self.catalogue = RemoteCatalogue(self._wire)
        self.collections = RemoteCollections(self._wire)
        self.chunk_edits = RemoteChunkEdits(self._wire)
        self.clusters = RemoteClusters(self._wire)
        self.evaluation = RemoteEvaluation(self._wire)
        self.history = RemoteHistory(self._wire)
        self.insights = RemoteInsights(self._wire)
        self.jobs = RemoteJobs(self._wire)
        self.language_models = RemoteLanguageModels(self._wire)
        self.maintenance = RemoteMaintenance(self._wire)
        self.sources = RemoteSources(self._wire, self._event)
        self.table_plans = RemoteTablePlans(self._wire)
        self.table_views = RemoteTableViews(self._wire)

    # Documents

    def add(
        self, sources: Iterable[Source], *, password: str | None = None, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """Send files, folders and uploads, telling of each step."""
        from rag_core.reading import SUFFIXES
        from rag_core.sources import CONTAINERS, Item, Refused, expand, here

        token = cancellation or Cancellation()
        looking = here(SUFFIXES | CONTAINERS, token.is_set)
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

    document = Call("GET /documents/{document_id}", Document)
    page = Call("GET /documents/{document_id}/pages/{number}", Page)
    tables = Call("GET /documents/{document_id}/tables", list[Table])
    remove = Call("DELETE /documents/{document_id}", NoneType)

    def documents(self) -> list[Document]:
        """Every document in whatever state, newest first."""
        return self._listed(Document, "documents", f"{ROOT}/documents", "offset")

    def chunks(self, document_id: str, *, first: int = 0, limit: int | None = None) -> list[Chunk]:
        """Chunks of a document in order, from index `first` on."""
        return self._listed(Chunk, "chunks", f"{ROOT}/documents/{document_id}/chunks", "first", first, limit)

    def pages(self, document_id: str) -> list[Page]:
        """All pages as text."""
        return self._listed(Page, "pages", f"{ROOT}/documents/{document_id}/pages", "first", 1)

    def page_image(
        self, document_id: str, page: int, *, span: tuple[int, int] | None = None, width_px: int = 1000
    ) -> PageImage:
        """A page as PNG, and the boxes of a span of its text, in fractions of its size."""
        path = f"{ROOT}/documents/{document_id}/pages/{page}"
        png = self._wire.bytes(f"{path}/picture", query={"width": width_px})
        boxes: tuple[Box, ...] = ()
        if span is not None:
            told = self._wire.ask("GET", f"{path}/boxes", query={"start": span[0], "end": span[1]})
            boxes = received(tuple[Box, ...], told["boxes"])
        width, height = struct.unpack(">II", png[16:24])  # they stand at the head of a PNG
        return PageImage(png, width, height, boxes)

    def original(self, document_id: str) -> bytes:
        """A document's own bytes."""
        return self._wire.bytes(f"{ROOT}/documents/{document_id}/original")

    # Questions

    def search(self, question: str, *, scope: Scope | None = None, **wanted: object) -> list[Hit]:
        """The best chunks for a question, best first."""
        return list(self._search(question, scope, wanted, explain=False).hits)

    def retrieve(self, question: str, *, scope: Scope | None = None, **wanted: object) -> Retrieval:
        """The same with what became of each candidate."""
        return self._search(question, scope, wanted, explain=True)

    def ask(self, question: str, **wanted: Any) -> Answer:
        """Answer a question; the same as the end of `stream`."""
        return answer_of(self.stream(question, **wanted))

    def stream(
        self, question: str, *, scope: Scope | None = None, cancellation: Cancellation | None = None, **wanted: object
    ) -> Iterator[StreamEvent]:
        """Answer a question as a stream of events, of which the last holds the whole answer."""
        given = {"question": question, "scope": _given(scope), **wanted}
        return answer_events(self._wire, f"{ROOT}/ask", given, cancellation)

    def reply(self, question: str, *, history: Sequence[tuple[str, str]] = (), **wanted: Any) -> Iterator[StreamEvent]:
        """The same for a caller who keeps the conversation; nothing is kept."""
        return self.stream(question, keep=False, history=[*history], **wanted)

    def scope_of(self, names: Iterable[str], *, seen: Sequence[str] = ()) -> Scope:
        """Documents and tags by what a person calls them, among those that the key sees. Raises KeyError."""
        from rag_core.services.conversation_scope import scope_named

        wanted = [*names]
        return scope_named(wanted, self.documents() if wanted else ())

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts, float32 (n, dimensions), rows of unit length."""
        import numpy as np

        rows: list[dict[str, str]] = []
        for start in range(0, len(texts), _MOST):
            given = {"input": [*texts[start : start + _MOST]], "encoding_format": "base64"}
            rows += self._wire.ask("POST", "/v1/embeddings", given)["data"]
        return np.stack([np.frombuffer(base64.b64decode(row["embedding"]), "<f4") for row in rows])

    # At most a thousand.
    conversations = Call("GET /conversations?limit=1000", list[Conversation], "words")

    def messages(self, conversation_id: str) -> list[Message]:
        """The messages of a conversation in order; none where there is no such conversation."""
        try:
            told = self._wire.ask("GET", f"{ROOT}/conversations/{conversation_id}")
        except KeyError:
            return []
        return received(list[Message], [{**one, "answer": answer_told(one["answer"])} for one in told["messages"]])

    def _listed(
        self, kind: type[Listed], name: str, path: str, counter: str, first: int = 0, most: int | None = None
    ) -> list[Listed]:
        """What is answered a thousand at a time, `counter` saying from where on; none of what is not there."""
        found: list[Listed] = []
        while most is None or len(found) < most:
            limit = _MOST if most is None else min(most - len(found), _MOST)
            try:
                told = self._wire.ask("GET", path, query={counter: first + len(found), "limit": limit})[name]
            except KeyError:
                break
            found += received(list[kind], told)  # type: ignore[valid-type]
            if len(told) < limit:
                break
        return found

    def _search(self, question: str, scope: Scope | None, wanted: dict[str, object], *, explain: bool) -> Retrieval:
        body = {"question": question, "scope": _given(scope), "explain": explain, **wanted}
        told = self._wire.ask("POST", f"{ROOT}/search", body)
        trace = {"searched": told["searched"], "notes": told["notes"]}
        return received(Retrieval, {"hits": [_hit(one) for one in told["hits"]], "trace": trace})

    def _fetched(self, address: WebAddress, token: Cancellation) -> Iterator[AddEvent]:
        """Have the server fetch an address, and what it links to."""
        given = {"addresses": [to_json(address)]}
        for _, told in self._wire.events(f"{ROOT}/documents", given):
            yield self._event(told)
            if token.is_set(address.name):
                return

    def _sent(self, name: str, data: bytes | Path, password: str | None) -> Iterator[AddEvent]:
        from rag_core.sources import unreadable

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
            yield AddEvent(name, "failed", error=unreadable(error.strerror))
        except LecternError as error:
            yield AddEvent(name, "failed", error=error)

    def _event(self, told: dict[str, Any]) -> AddEvent:
        ended = told["document"] and told["stage"] in ("ready", "failed")
        event: AddEvent = received(AddEvent, {**told, "document": None})
        return replace(event, document=self.document(told["document"])) if ended else event


def _hit(told: dict[str, Any]) -> dict[str, Any]:
    """A hit with what is not told of one: where it stands on its page, and its document beside id and title."""
    return {**told, "boxes": (), "document": {"media_type": "", "byte_size": 0, "state": "ready", **told["document"]}}


def _given(scope: Scope | None) -> Any:
    return None if scope is None else to_json(scope)
