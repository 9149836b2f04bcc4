"""The services of a library from afar: of each what REST offers. What is more than one request is written out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Any

from rag_core.cancellation import Cancellation
from rag_core.domain import (
    AccessKey,
    AddEvent,
    Answer,
    AuditEntry,
    Calibration,
    ChunkCluster,
    ChunkEdit,
    ClusterTree,
    Collection,
    Configuration,
    CorpusMap,
    Difference,
    Document,
    DocumentFilter,
    Field,
    FollowedSource,
    ImportReport,
    Insights,
    Job,
    LibraryStatus,
    Metric,
    ModelFile,
    ModelStatus,
    Progress,
    Question,
    QuestionSet,
    Report,
    Result,
    Role,
    RowProblem,
    Run,
    StreamEvent,
    TablePlan,
    TableReading,
    TableRows,
    TableView,
)
from rag_core.domain.serialiser import to_json
from rag_core.remote.calls import ROOT, Call, Remote, answer_events, answer_told, received
from rag_core.remote.wire import Wire

_MOST = 1000  # documents that are listed at a time


class RemoteAccess(Remote):
    """See `Access`."""

    all = Call("GET /keys", list[AccessKey])
    revoke = Call("DELETE /keys/{key_id}", NoneType)
    audit = Call("GET /audit", list[AuditEntry], "limit")

    def create(
        self, name: str, role: Role = "read", tags: Iterable[str] = (), person: str | None = None
    ) -> tuple[AccessKey, str]:  # fmt: skip
        """Make a key. Returns it with its text, which nobody can show again."""
        given = {"name": name, "role": role, "tags": [*tags], "person": person}
        made = self._wire.ask("POST", f"{ROOT}/keys", given)
        return received(AccessKey, made["key"]), made["text"]


class RemoteCatalogue(Remote):
    """See `Catalogue`."""

    rename = Call("PATCH /documents/{document_id}", NoneType, "title")

    def documents(
        self, wanted: DocumentFilter, *, offset: int = 0, limit: int | None = None
    ) -> tuple[list[Document], int]:
        """The documents that a filter leaves, newest first, and how many there are; `seen` is what the key says."""
        query = {
            "tag": wanted.tags, "words": " ".join(wanted.words), "state": wanted.state, "year": wanted.year,
            "media_type": wanted.media_type,
        }  # fmt: skip
        found: list[Document] = []
        while True:
            most = max(1, _MOST if limit is None else min(limit - len(found), _MOST))
            page = {**query, "offset": offset + len(found), "limit": most}
            told = self._wire.ask("GET", f"{ROOT}/documents", query=page)
            found += [received(Document, one) for one in told["documents"]]
            if len(told["documents"]) < most or len(found) == limit:
                return found[:limit], told["total"]

    def tag(self, ids: Iterable[str], *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> None:
        """Put tags on documents and take others off."""
        change = {"tags": {"add": [*add], "remove": [*remove]}}
        for document_id in ids:
            self._wire.ask("PATCH", f"{ROOT}/documents/{document_id}", change)

    def tags(self) -> list[tuple[str, int]]:
        """Every tag with how many documents have it."""
        return [(one["tag"], one["documents"]) for one in self._wire.ask("GET", f"{ROOT}/tags")["tags"]]


class RemoteChunkEdits(Remote):
    """See `ChunkEdits`."""

    of = Call("GET /documents/{document_id}/edits", list[ChunkEdit])
    undo = Call("DELETE /documents/{document_id}/edits/{page}/{start}/{end}", NoneType)

    def correct(self, chunk_id: str, text: str) -> None:
        """Give a chunk another text."""
        self._change(chunk_id, text=text)

    def leave_out(self, chunk_id: str) -> None:
        """Have a chunk be found no longer."""
        self._change(chunk_id, left_out=True)

    def _change(self, chunk_id: str, **change: object) -> None:
        document_id, _, index = chunk_id.rpartition(":")
        self._wire.ask("PATCH", f"{ROOT}/documents/{document_id}/chunks/{index}", change)


class RemoteClusters(Remote):
    """See `Clustering`."""

    tree = Call("GET /clusters", ClusterTree)
    of_document = Call("GET /documents/{document_id}/clusters", tuple[ChunkCluster, ...])
    summary = Call("GET /documents/{document_id}/summary", str)


class RemoteCollections(Remote):
    """See `Collections`."""

    all = Call("GET /collections", list[Collection])
    change = Call("PATCH /collections/{collection_id}", NoneType, "name instructions settings")
    remove = Call("DELETE /collections/{collection_id}", NoneType)
    take_back = Call("POST /collections/{collection_id}/take-back", NoneType)
    move = Call("PUT /collections/conversations/{conversation_id}", NoneType, "collection")

    def get(self, collection_id: str) -> Collection:
        """One collection."""
        return {one.id: one for one in self.all()}[collection_id]

    def make(
        self, name: str, *, instructions: str = "", settings: Mapping[str, object] | None = None
    ) -> Collection:  # fmt: skip
        """A new collection."""
        given = {"name": name, "instructions": instructions, "settings": {**(settings or {})}}
        return received(Collection, self._wire.ask("POST", f"{ROOT}/collections", given))


class RemoteEvaluation(Remote):
    """See `Evaluation`."""

    sets = Call("GET /question-sets", list[QuestionSet])
    set = Call("GET /question-sets/{set_id}", QuestionSet)
    create = Call("POST /question-sets", QuestionSet, "name questions")
    rename = Call("PATCH /question-sets/{set_id}", NoneType, "name")
    delete = Call("DELETE /question-sets/{set_id}", NoneType)
    questions = Call("GET /question-sets/{set_id}/questions", list[Question])
    put = Call("PUT /question-sets/{set_id}/questions", NoneType, "questions")
    drop = Call("POST /question-sets/{set_id}/drop", NoneType, "question_ids")
    check = Call("POST /question-sets/check", tuple[RowProblem, ...], "questions")
    export_questions = Call("GET /question-sets/{set_id}/export", bytes, "form")
    fields = Call("GET /settings", tuple[Field, ...])
    begin = Call("POST /runs?start=false", list[Run], "set_id configurations answers judge seed")
    cancel = Call("POST /runs/{run_id}/cancel", NoneType)
    runs = Call("GET /runs", list[Run], "set_id")
    run = Call("GET /runs/{run_id}", Run)
    results = Call("GET /runs/{run_id}/results?passages=true", list[Result], "question_ids passages")
    delete_run = Call("DELETE /runs/{run_id}", NoneType)
    compare = Call("GET /runs/compare?a={run_a}&b={run_b}", tuple[Difference, ...])
    calibration = Call("GET /runs/{run_id}/calibration", Calibration)
    export = Call("GET /runs/export", bytes, "run_ids form")

    def metrics(self) -> tuple[Metric, ...]:
        """Every metric, in the order in which it is shown."""
        from rag_core.evaluation.measuring.metrics import METRICS

        return METRICS

    def read(self, name: str, data: bytes) -> ImportReport:
        """The questions of a file and what is wrong with its rows; nothing is written."""
        return received(ImportReport, self._wire.ask("POST", f"{ROOT}/question-sets/read", data, query={"name": name}))

    def carry_out(
        self, run_ids: Sequence[str] | None = None, *, cancellation: Cancellation | None = None
    ) -> Iterator[Progress]:
        """Have the server do the runs that wait, or these. Whoever stops iterating, or cancels, stops them."""
        token = cancellation or Cancellation()
        for _, told in self._wire.events(f"{ROOT}/runs/carry-out", {"run_ids": run_ids and [*run_ids]}):
            yield received(Progress, told)
            if token.is_set():
                return

    def apply(self, configuration: Configuration) -> tuple[str, ...]:
        """Make a configuration's settings the library's. Returns what is to be known."""
        return tuple(self._wire.ask("PATCH", f"{ROOT}/settings", {**configuration.changes})["notes"])


class RemoteHistory(Remote):
    """See `History`."""

    rename = Call("PATCH /conversations/{conversation_id}", NoneType, "title")
    pin = Call("PATCH /conversations/{conversation_id}", NoneType, "pinned")
    delete = Call("DELETE /conversations/{conversation_id}", NoneType)
    rate = Call("PUT /messages/{message_id}/rating", NoneType, "rating reason")
    export = Call("GET /conversations/{conversation_id}/export", bytes, "form")

    def go_on(
        self, conversation_id: str, message_id: str, cancellation: Cancellation | None = None
    ) -> Iterator[StreamEvent]:
        """Go on with an answer that was cut at its limit of tokens."""
        path = f"{ROOT}/conversations/{conversation_id}/messages/{message_id}/continue"
        return answer_events(self._wire, path, {}, cancellation)


class RemoteInsights(Remote):
    """See `InsightsService`."""

    of = Call("POST /insights", Insights, "days scope")
    corpus_map = Call("POST /insights/map", CorpusMap, "scope")


class RemoteJobs(Remote):
    """See `Jobs`; files are added by `RemoteLibrary.add`, runs carried out by `RemoteEvaluation`."""

    past = Call("GET /jobs?past=true", list[Job], "limit")
    get = Call("GET /jobs/{job_id}", Job)
    cancel = Call("POST /jobs/{job_id}/cancel", NoneType)
    retry = Call("POST /jobs/{job_id}/retry", NoneType)
    dismiss = Call("DELETE /jobs/{job_id}", NoneType)

    def submit(self, kind: str, name: str = "", /, **params: Any) -> Job:
        """Have one piece of work done."""
        return received(Job, self._wire.ask("POST", f"{ROOT}/jobs", {"kind": kind, "name": name, "params": params}))

    def all(self, *kinds: str) -> tuple[Job, ...]:
        """The jobs of the server's process, and those it resumed, in the order in which they came."""
        return received(tuple[Job, ...], self._wire.ask("GET", f"{ROOT}/jobs", query={"kind": kinds})["jobs"])

    def last(self, *kinds: str) -> Job | None:
        """The job of these kinds that came last."""
        return next(reversed(self.all(*kinds)), None)

    def busy(self, *kinds: str) -> bool:
        """Whether any job of these kinds waits or is under way."""
        return any(not job.finished for job in self.all(*kinds))


class RemoteLanguageModels(Remote):
    """See `LanguageModels`."""

    statuses = Call("GET /models", tuple[ModelStatus, ...])
    files = Call("GET /models/files", tuple[ModelFile, ...])
    remove = Call("DELETE /models/{model_id}", NoneType)

    def download(self, wanted: str, *, sha256: str = "") -> Iterator[Progress]:
        """Have the server download a model."""
        steps = self._wire.events(f"{ROOT}/models/download", {"wanted": wanted, "sha256": sha256})
        return (received(Progress, told) for _, told in steps)


class RemoteMaintenance(Remote):
    """See `Maintenance`."""

    status = Call("GET /status", LibraryStatus)
    repair = Call("POST /repair", Report)

    def notes(self) -> tuple[str, ...]:
        """What the user should know, one line each."""
        return self.status().notes

    def verify(self, deep: bool = False) -> Report:
        """Compare every document across the stores."""
        return received(Report, self._wire.ask("POST", f"{ROOT}/verify", query={"deep": deep}))


class RemoteSources(Remote):
    """See `FollowedSources`. `event` makes an event of what the server says of one."""

    def __init__(self, wire: Wire, event: Callable[[dict[str, Any]], AddEvent]) -> None:
        super().__init__(wire)
        self._event = event

    followed = Call("GET /sources", list[FollowedSource])

    def watch(self, folder: str | Path, *, tags: Iterable[str] = ()) -> FollowedSource:
        """Have the server follow a folder of its machine."""
        given = {"folder": _location(str(folder)), "tags": [*tags]}
        return received(FollowedSource, self._wire.ask("POST", f"{ROOT}/sources", given))

    def unwatch(self, location: str, *, remove: bool = False) -> None:
        """Follow a folder no longer."""
        self._wire.ask("DELETE", f"{ROOT}/sources", query={"location": _location(location), "remove": remove})

    def update(self, locations: Iterable[str] | None = None) -> Iterator[AddEvent]:
        """Have the server look again at sources, or at these."""
        given = {"locations": None if locations is None else [_location(one) for one in locations]}
        return (self._event(told) for _, told in self._wire.events(f"{ROOT}/sources/update", given))


def _location(named: str) -> str:
    """A path from this process's folder on is another one to the server."""
    from rag_core.sources import location_of

    return location_of(named)


class RemoteTablePlans(Remote):
    """See `TablePlans`."""

    choices = Call("POST /table-plans/choices", list[str], "plan column most")

    def ask(
        self, plan: TablePlan, question: str, *, conversation: str | None = None, query: str = ""
    ) -> Answer:  # fmt: skip
        """What a plan finds, kept as the answer to a question that says so, in a conversation."""
        given = {"plan": to_json(plan), "question": question, "conversation": conversation, "query": query}
        return received(Answer, answer_told(self._wire.ask("POST", f"{ROOT}/table-plans", given)))

    def csv(self, plan: TablePlan) -> Iterator[bytes]:
        """All the rows that a plan finds, with every column, as CSV."""
        yield self._wire.bytes(f"{ROOT}/table-plans/rows", {"plan": to_json(plan)})


class RemoteTableViews(Remote):
    """See `TableViews`."""

    names = Call("GET /documents/{document_id}/whole-tables", list[str])
    view = Call("GET /documents/{document_id}/whole-tables/{table}", TableView, "first_column columns")
    rows = Call(
        "GET /documents/{document_id}/whole-tables/{table}/rows", TableRows,
        "first limit containing by descending first_column columns",
    )  # fmt: skip
    correct = Call("PUT /documents/{document_id}/whole-tables/{table}/reading", NoneType, "head columns")
    undo = Call("DELETE /documents/{document_id}/whole-tables/{table}/reading", NoneType)
    readings = Call("GET /documents/{document_id}/whole-tables/readings", list[TableReading])
