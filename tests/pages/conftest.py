"""A library played by a script, so that pages can be drawn without stores or models."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from dataclasses import replace as with_changes
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st

from pages.parts import owning, resources
from rag_core.cancellation import Cancellation
from rag_core.domain import (
    AddEvent,
    Answer,
    BackupReport,
    Chunk,
    ChunkCluster,
    ChunkEdit,
    Citation,
    ClusterTree,
    Considered,
    Conversation,
    Coverage,
    Document,
    FollowedSource,
    Guide,
    Hit,
    Job,
    LibraryServer,
    LibraryStatus,
    Message,
    ModelStatus,
    Page,
    PageImage,
    Progress,
    Question,
    Report,
    Scope,
    Searched,
    Sentence,
    StreamEvent,
    SuggestedModel,
    Table,
    TargetProfile,
    Trace,
    Upload,
    WebAddress,
)
from rag_core.errors import SourceUnavailable
from rag_core.jobs import Jobs
from rag_core.jobs.kinds import kinds
from rag_core.retrieval import Retrieval
from rag_core.settings import Settings
from rag_core.sources import Keyed
from tests.pages.fake_evaluation import FakeEvaluation
from tests.pages.fake_insights import FakeInsights

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
CLUSTERS = (ChunkCluster(("steel", "bridges"), (0, 1)), ChunkCluster((), (2,)))
TEXT = "Bridges are made of steel. Some are made of stone."


def a_document(name: str = "bridges.txt", **changes: Any) -> Document:
    document = Document(
        id=name, title=name.split(".")[0].title(), media_type="text/plain", byte_size=2048, state="ready", page_count=3,
        chunk_count=5, sources=(name,), added_at=NOW,
    )  # fmt: skip
    document = replace(document, **changes)
    card = document.card
    return replace(document, authors=card.authors, year=card.year or document.year) if card else document


def an_answer(question: str = "Of what are bridges made?", **changes: Any) -> Answer:
    citation = Citation(
        number=1, chunk_id="bridges.txt:0", document_id="bridges.txt", title="Bridges", page=2, page_label="ii",
        section="Steel", text="Bridges are made of steel.", start=0, end=26, boxes=(), score=0.712,
    )  # fmt: skip
    answer = Answer(
        question=question, text="Bridges are made of steel. [1]",
        sentences=(Sentence("Bridges are made of steel.", (1,)),),
        citations=(citation,), hits=(), confidence=0.82, abstained=False, model="extractive", message_id="m1",
    )  # fmt: skip
    return replace(answer, **changes)


def a_hit(document: Document | None = None, **changes: Any) -> Hit:
    hit = Hit(
        chunk_id="bridges.txt:0", document=document or a_document(), index=0, page=2, page_label="ii", section="Steel",
        text=TEXT, start=0, end=26, boxes=(), score=0.7, scores={"dense": 0.7, "lexical": 4.2}, matches=((0, 7),),
    )  # fmt: skip
    return replace(hit, **changes)


def a_search(*considered: Considered, **changes: Any) -> Trace:
    """What a search tells of itself."""
    candidates = considered or (Considered("bridges.txt:0", "Bridges", 2, "Steel", {"dense": 0.7}, "passage"),)
    searched = Searched(mode="hybrid", documents=1, chunks=5, candidates=candidates, latency_ms={"dense": 1.5})
    return Trace(query="bridges", latency_ms={"search": 3.0}, searched=replace(searched, **changes))


class KeptJobs:
    """Keeps jobs as PostgreSQL does, as long as the test takes."""

    def __init__(self) -> None:
        self.jobs: dict[str, Job] = {}
        self.woken = threading.Event()

    def put(self, jobs: Sequence[Job]) -> list[str]:
        self.jobs |= {job.id: job for job in jobs}
        return []

    def take(self, ids: Sequence[str], owner: str) -> dict[str, tuple[int, int]]:
        return {job_id: (self.jobs[job_id].token + 1, self.jobs[job_id].attempts + 1) for job_id in ids}

    def free(self) -> list[str]:
        return [job.id for job in self.jobs.values() if not job.finished]

    def some(self, ids: Collection[str]) -> list[Job]:
        return [self.jobs[job_id] for job_id in ids if job_id in self.jobs]

    def beat(self, owner: str, leases: Mapping[str, int]) -> list[str]:
        return []

    def stop(self, job_id: str) -> None:
        self.woken.set()

    def to_stop(self, owner: str) -> list[str]:
        return []

    def leave(self, owner: str) -> None:
        self.woken.clear()

    def listen(self, timeout_s: float) -> bool:
        return self.woken.wait(timeout_s)

    def wake(self) -> None:
        self.woken.set()

    def get(self, job_id: str) -> Job | None:
        return self.jobs.get(job_id)

    def past(self, limit: int) -> list[Job]:
        return list(reversed(self.jobs.values()))[:limit]

    def remove(self, ids: Sequence[str]) -> None:
        for job_id in ids:
            self.jobs.pop(job_id, None)


SUGGESTED = (
    SuggestedModel("Small 1B", "a/small.gguf", 1_800_000_000, 3_000_000_000, "Quick.", fits=True),
    SuggestedModel("Large 8B", "a/large.gguf", 5_000_000_000, 7_000_000_000, "Slow.", fits=True),
)


class FakeLibrary:
    """Plays the part of a library: `script` maps a file's name to the events that adding it brings."""

    def __init__(self) -> None:
        self.held: list[Document] = []
        self.tree = ClusterTree()
        self.cut: list[Chunk] = []
        self.edits: list[ChunkEdit] = []
        self.aside: list[Document] = []
        self.gathered: list[Any] = []
        self.script: dict[str, list[AddEvent]] = {}
        self.elsewhere: set[str] = set()
        self.events: list[StreamEvent | Exception] = []
        self.gate = threading.Event()
        self.gate.set()
        self.calls: list[tuple[str, Any]] = []
        self.followed_sources: list[FollowedSource] = []
        self.is_closing = False
        self.kept: dict[str, list[Message]] = {}
        self.titles: dict[str, str] = {}
        self.pinned: set[str] = set()
        self.unlisted: set[str] = set()
        self.suggested: list[str] = []
        self.statuses: tuple[ModelStatus, ...] = (ModelStatus("extractive", "Quotes", True),)
        self.servers: tuple[LibraryServer, ...] = ()
        self.preferences = FakePreferences()
        self.preferences.library = self
        self.settings = Settings(_env_file=None)
        self.report: Report | Exception = Report(1, 5, (), False, 0.1)
        self.target: TargetProfile | None = None
        self.steps: list[Progress | Exception] = []
        self.evaluation = FakeEvaluation()
        self.access = SimpleNamespace(
            note=lambda who, action, status: self.noted.append((who, action, status)), all=lambda: []
        )
        self.noted: list[tuple[str, str, int]] = []
        self.insights = FakeInsights()
        self.replaced: str | None = None
        self.old_chunks = 0
        self.chunked_otherwise = False
        self.found: list[Hit] | Exception = []
        self.searched = a_search()
        self.scopes: dict[str, Scope] = {}
        self.written: BackupReport | Exception = BackupReport("/b", 12_300, NOW, 1, 5, 1, 2, ("Bridges is missing.",))
        self.sources = FakeSources(self)
        self.catalogue = FakeCatalogue(self)
        self.collections = SimpleNamespace(all=lambda: self.gathered)
        self.guides = SimpleNamespace(of=lambda document: Guide())
        self.chunk_edits = SimpleNamespace(of=lambda document_id: self.edits)
        self.clusters = SimpleNamespace(tree=lambda: self.tree, of_document=lambda document_id: CLUSTERS)
        self.recognition = SimpleNamespace(left=lambda: sum(document.to_recognise for document in self.held))
        self.history = FakeHistory(self)
        self.language_models = SimpleNamespace(
            statuses=lambda: self.statuses,
            suggestions=lambda: SUGGESTED,
            use_gemini=lambda key, keep: self.calls.append(("use_gemini", (key, keep))),
        )  # fmt: skip
        self.maintenance = FakeMaintenance(self)
        self.ingest = SimpleNamespace(
            left=lambda own: [one for one in self.documents()[::-1] if one.state in ("pending", "stored")],
            can_take=lambda document_id, path: True,
        )  # fmt: skip
        self.kept_jobs = KeptJobs()
        self.jobs = Jobs(kinds(self), self.kept_jobs)  # type: ignore[arg-type]

    def documents(self) -> list[Document]:
        return list(self.held)

    def document(self, document_id: str) -> Document:
        return {document.id: document for document in self.held}[document_id]

    def page(self, document_id: str, number: int) -> Page:
        return Page(number, TEXT, "ii" if number == 2 else "")

    def pages(self, document_id: str) -> list[Page]:
        return [Page(1, TEXT), Page(2, "", error="it is damaged")]

    def chunks(self, document_id: str, *, first: int = 0, limit: int | None = None) -> list[Chunk]:
        return self.cut[first:][:limit]

    def tables(self, document_id: str) -> list[Table]:
        return [Table(2, 0, 9, "Table 1: Bridges", (("Name", "Year"), ("Tolsund", "1901")))]

    def page_image(self, document_id: str, page: int, **wanted: Any) -> PageImage:
        self.calls.append(("page_image", (document_id, page, wanted.get("span"))))
        return PageImage(b"png", 10, 14)

    def add(
        self,
        sources: Sequence[Keyed | WebAddress],
        *,
        password: str | None = None,
        cancellation: Cancellation | None = None,
        owner: str = "",
    ) -> Iterator[AddEvent]:
        if isinstance(site := sources[0], WebAddress):
            self.calls.append(("add", [site.address]))
            yield from self.script.get(site.address, [])
            return
        self.calls.append(("add", [item.source.name for item in sources]))
        yield from self._play({item.source.name: item.key for item in sources}, cancellation or Cancellation())

    def _play(self, keys: Mapping[str, str], cancellation: Cancellation) -> Iterator[AddEvent]:
        for name, key in keys.items():
            for event in self.script.get(name, [AddEvent(name, "ready")]):
                self.gate.wait(10)
                if cancellation.is_set(key):
                    yield AddEvent(key, "cancelled")
                    break
                yield replace(event, source=key)

    def accept(
        self, sources: Sequence[Keyed], *, cancellation: Cancellation, owner: str = ""
    ) -> Iterator[AddEvent]:  # fmt: skip
        self.calls.append(("accept", [item.source.name for item in sources]))
        for key, name in [(item.key, item.source.name) for item in sources]:
            first = self.script.get(name, [AddEvent(name, "waiting")])[0]
            refused = first.stage == "failed" and first.document is None
            yield replace(first, source=key) if refused else AddEvent(key, "waiting", document=self.accepted(name))

    def accepted(self, name: str) -> Document | None:
        """None for what another call is adding."""
        size = 2**20 if name.startswith("long") else 2048
        return None if name in self.elsewhere else a_document(name, state="pending", byte_size=size)

    def resume(self, documents: Mapping[str, str], *, cancellation: Cancellation) -> Iterator[AddEvent]:
        self.calls.append(("resume", list(documents)))
        yield from self._play(documents, cancellation)

    def retry(self, document_id: str, **wanted: Any) -> Iterator[AddEvent]:
        self.calls.append(("retry", (document_id, wanted.get("password"))))
        yield AddEvent("another name", "ready")

    def remove(self, document_id: str) -> None:
        self.calls.append(("remove", document_id))

    def retrieve(self, question: str, **wanted: Any) -> Retrieval:
        self.calls.append(("retrieve", (question, wanted)))
        if isinstance(self.found, Exception):
            raise self.found
        return Retrieval(tuple(self.found), self.searched)

    def intake(self) -> tuple[int, int]:
        ready = sum(document.state == "ready" for document in self.held)
        return ready, sum(document.state in ("pending", "stored") for document in self.held)

    def suggestions(self, given: Sequence[Question] = (), **wanted: Any) -> list[str]:
        self.calls.append(("suggestions", [question.text for question in given]))
        self.gate.wait(10)
        return self.suggested

    def stream(self, question: str, **wanted: Any) -> Iterator[StreamEvent]:
        self.calls.append(("stream", (question, wanted.get("model"))))
        self.replaced = wanted.get("replaces")
        if wanted.get("scope") is not None:
            self.scopes[wanted["conversation"]] = wanted["scope"]
        for event in self.events:
            self.gate.wait(10)
            if isinstance(event, Exception):
                raise event
            yield event

    def conversations(self, words: str = "") -> list[Conversation]:
        found = [name for name in self.kept if words.lower() in self.titles.get(name, name).lower()]
        return [
            Conversation(name, self.titles.get(name, name), NOW, NOW, name in self.pinned, name not in self.unlisted)
            for name in found
        ]

    def messages(self, conversation_id: str) -> list[Message]:
        return self.kept.get(conversation_id, [])


class FakePreferences(dict[str, str]):
    library: FakeLibrary

    def set(self, name: str, value: str | None) -> None:
        if value is None:
            self.pop(name, None)
        else:
            self[name] = value

    def fetch_from(self, host: str, *, allowed: bool) -> None:
        self.library.calls.append(("fetch_from", [host, str(allowed)]))


class FakeSources:
    suffixes = frozenset({".txt"})
    changes = 0
    covered: Sequence[Coverage] = ()

    def coverage(self) -> Sequence[Coverage]:
        return self.covered

    def __init__(self, library: FakeLibrary) -> None:
        self.library = library

    def followed(self) -> list[FollowedSource]:
        return self.library.followed_sources

    def passed_over(self, names: Sequence[str]) -> str:
        return ", ".join(names)

    def update(self, locations: Sequence[str], *, cancellation: Cancellation) -> Iterator[AddEvent]:
        self.library.calls.append(("update", list(locations)))
        self.library.gate.wait(10)
        yield from self.library.script.get("update", [])

    def watch(self, folder: str, *, tags: Sequence[str] = ()) -> FollowedSource:
        self.library.calls.append(("watch", folder))
        raise SourceUnavailable(f"There is no folder {folder}.")


class FakeCatalogue:
    def __init__(self, library: FakeLibrary) -> None:
        self.library = library

    def rename(self, document_id: str, title: str | None) -> None:
        self.library.calls.append(("rename", (document_id, title)))
        self.library.document(document_id)

    def tag(self, ids: Sequence[str], *, add: Sequence[str] = (), remove: Sequence[str] = ()) -> None:
        self.library.calls.append(("tag", (list(ids), list(add), list(remove))))
        if "" in add:
            raise ValueError("A tag has letters or figures.")

    def tags(self) -> list[tuple[str, int]]:
        tags = [tag for document in self.library.held for tag in document.tags]
        return [(tag, tags.count(tag)) for tag in sorted(set(tags))]

    def set_aside(self, ids: Iterable[str], *, undo_s: float) -> list[str]:
        self.library.aside = [one for one in self.library.held if one.id in set(ids)]
        self.library.held = [one for one in self.library.held if one not in self.library.aside]
        return [one.id for one in self.library.aside]

    def take_back(self, ids: Iterable[str]) -> list[str]:
        self.library.held += self.library.aside
        return [one.id for one in self.library.aside]


class FakeHistory:
    def __init__(self, library: FakeLibrary) -> None:
        self.library = library

    def begin(self) -> str:
        return uuid.uuid4().hex

    def agent(self, conversation_id: str) -> bool | None:
        return None

    def set_agent(self, conversation_id: str, agent: bool) -> bool:
        self.library.calls.append(("set_agent", conversation_id, agent))
        return True

    def bring_back(self, message_id: str) -> None:
        self.library.calls.append(("bring_back", message_id))

    def export(self, conversation_id: str, form: str) -> bytes:
        return f"{conversation_id} as {form}".encode()

    def pin(self, conversation_id: str, pinned: bool) -> None:
        self.library.pinned = (
            (self.library.pinned | {conversation_id}) if pinned else self.library.pinned - {conversation_id}
        )

    def scope(self, conversation_id: str) -> Scope:
        return self.library.scopes.get(conversation_id, Scope())

    def set_scope(self, conversation_id: str, scope: Scope) -> None:
        self.library.scopes[conversation_id] = scope

    def rename(self, conversation_id: str, title: str) -> None:
        self.library.titles[conversation_id] = title

    def delete(self, conversation_id: str) -> None:
        self.library.kept.pop(conversation_id)

    def rate(self, message_id: str, rating: int | None, reason: str = "") -> None:
        self.library.calls.append(("rate", (message_id, rating, reason)))


class FakeMaintenance:
    def __init__(self, library: FakeLibrary) -> None:
        self.library = library

    def notes(self) -> tuple[str, ...]:
        return ()

    def status(self) -> LibraryStatus:
        return LibraryStatus(
            data_dir="/library", documents=1, chunks=5, pending=2, failed=0, profile="test",
            postgresql="PostgreSQL 18", indexes={"dumps": "dumps", "chroma": "Chroma", "lexical": "tantivy"},
            models=self.library.statuses,
            notes=("Chroma is rebuilt.", *([self.library.target.note] if self.library.target else [])),
            target=self.library.target, servers=self.library.servers,
        )  # fmt: skip

    def to_rechunk(self) -> int:
        return self.library.old_chunks

    def can_rechunk(self) -> bool:
        return self.library.chunked_otherwise

    def keep_chunks(self) -> None:
        self.library.old_chunks = 0
        self.library.chunked_otherwise = False

    def rechunk(self, *, cancellation: Cancellation) -> Iterator[Progress]:
        yield Progress("chunking", 0, self.library.old_chunks)
        self.library.gate.wait(10)
        self.library.old_chunks = 0
        self.library.chunked_otherwise = False
        yield Progress("done", 1, 1, "1 document keeps its chunks.")

    def verify(self, deep: bool = False) -> Report:
        self.library.calls.append(("verify", deep))
        self.library.gate.wait(10)
        if isinstance(self.library.report, Exception):
            raise self.library.report
        return self.library.report

    def reembed(self, *, cancellation: Cancellation) -> Iterator[Progress]:
        self.library.calls.append(("reembed", None))
        for step in self.library.steps:
            if isinstance(step, Exception):
                raise step
            yield step
            self.library.gate.wait(10)
            if cancellation.is_set():
                yield Progress("cancelled", step.done, step.total)
                return

    def discard_reembedding(self) -> None:
        self.library.calls.append(("forget", None))
        self.library.target = None

    def backup(self, path: Any, *, replace: bool = False) -> BackupReport:
        self.library.calls.append(("backup", (str(path), replace)))
        if isinstance(self.library.written, Exception):
            raise self.library.written
        return with_changes(self.library.written, path=str(path))

    def repair(self) -> Report:
        self.library.calls.append(("repair", None))
        found = self.verify(True)
        return replace(found, findings=(), repaired=found.findings)


@pytest.fixture(autouse=True)
def clear_caches() -> Iterator[None]:
    """`cache_resource` outlives an AppTest."""
    st.cache_resource.clear()
    st.cache_data.clear()
    yield
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture(autouse=True)
def by_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever draws a page is its server's owner: without a server, nobody's request says who it is."""
    monkeypatch.setattr(owning, "is_owner", lambda: True)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> FakeLibrary:
    """The library that pages find open."""
    fake = FakeLibrary()
    monkeypatch.setattr(resources, "opening", lambda: SimpleNamespace(library=fake, state="open"))
    return fake


def upload(name: str, size: int = 3) -> Upload:
    return Upload(name, b"x" * size)
