"""Documents that were accepted before, by this process or an earlier one, and ready ones that are read once more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag_core.domain import KNOWN, Document
from rag_core.errors import StoreUnavailable
from rag_core.ingest.context import RunContext
from rag_core.ingest.work import BATCH_DOCUMENTS, Work

_ELSEWHERE = "Open the library with the data directory that it was added in, or add the file again."


def named_documents(run: RunContext) -> Iterator[list[Work]]:
    """What is left to do of the documents that the run has names for; what is under way elsewhere is waited for."""
    documents = run.storage.documents.some(list(run.names))
    for document_id, name in run.names.items():
        if document_id in documents:
            run.await_lease(document_id, name)
        else:
            run.tell_end(name, None)
    yield from unfinished_documents(run, [documents[key] for key in run.names if key in documents])


def unfinished_documents(run: RunContext, documents: Sequence[Document]) -> Iterator[list[Work]]:
    """What is left to do of documents, a batch at a time; those that another run has are passed over."""
    for first in range(0, len(documents), BATCH_DOCUMENTS):
        if run.interrupted:
            return
        batch = documents[first : first + BATCH_DOCUMENTS]
        yield _as_they_are(run, [item.id for item in batch if run.lease(item.id)])


def ready_documents(run: RunContext) -> Iterator[list[Work]]:
    """The ready documents that the run has names for, to be replaced by what is made of them now."""
    for document_id, name in run.names.items():
        if not run.interrupted and run.lease(document_id):
            document = run.storage.documents.ready([document_id]).get(document_id)
            yield _with_file(run, [Work(name, document, replaces=True)] if document is not None else [])


def _as_they_are(run: RunContext, ids: Sequence[str]) -> list[Work]:
    """What is left to do of leased documents, as they are now: another run may have finished some meanwhile."""
    documents = run.storage.documents.some(ids)
    stuck = [key for key, document in documents.items() if document.state == "stored"]
    if stuck:
        run.storage.finish(stuck)
        documents = run.storage.documents.some(ids)
    works = []
    for key in ids:
        document = documents.get(key)
        if document is not None and document.state == "pending":
            works.append(Work(run.name_of(document), document))
            continue
        run.release(key)
        if document is not None and document.state in ("stored", "ready"):
            run.tell_end(run.name_of(document), document, note=KNOWN)
    return _with_file(run, works)


def _with_file(run: RunContext, works: Sequence[Work]) -> list[Work]:
    """Those whose bytes are here. The others stay as they are, for the data directory that has them."""
    found = []
    for work in works:
        if run.storage.files.has(work.document.id):
            found.append(work)
        else:
            run.give_up(work, StoreUnavailable("Its file is not in this data directory.", help=_ELSEWHERE))
    return found
