"""Compares every store with PostgreSQL, and mends what is derived from it without embedding anything again.

`verify` writes nothing. Documents that were added, removed or carried while it looked are left out: they are not wrong,
only on their way. `repair` acts on a report, each step on what it finds by then; it may be killed and run again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator

from rag_core.domain import Finding, Report
from rag_core.errors import StoreCorrupt, StoreUnavailable
from rag_core.storage.indexes.chroma import ChromaUnavailable
from rag_core.storage.indexes.chroma_probe import ProbeStopped
from rag_core.storage.maintenance.checks import Checks
from rag_core.storage.postgres.truth import Facts, Truth
from rag_core.storage.storage import Storage

_log = logging.getLogger(__name__)


def verify(storage: Storage, deep: bool = False) -> Report:
    """Compare all stores. `deep` reads every text and every vector, and judges Chroma's index anew.

    Raises StoreUnavailable when PostgreSQL does not answer.
    """
    started = time.perf_counter()
    truth = Truth(storage.database)
    before, waited = truth.facts(), _waiting(truth)
    found = list(Checks(storage, truth, before, deep).run())
    after, waiting = truth.facts(), _waiting(truth)
    busy = {store: waited[store] | waiting[store] for store in waited}
    findings = [item for item in found if _stands(item, before, after, busy)]
    ready = [document for document in after.values() if document.state == "ready"]
    return Report(
        documents=len(ready), chunks=sum(document.chunk_count for document in ready), findings=tuple(findings),
        deep=deep, took_s=round(time.perf_counter() - started, 3),
    )  # fmt: skip


def repair(storage: Storage, report: Report) -> Report:
    """Mend what a report found, as far as it can be made again from PostgreSQL. Returns the report after that.

    Raises StoreUnavailable.
    """
    wrong = [item for item in report.findings if item.repairable]
    Truth(storage.database).forget_orphans()
    for item in wrong:
        if item.store == "Dumps":
            _mend_dump(storage, item.document_id)
        elif item.store == "Files":
            _remove_leftover(storage, item.document_id)
    rebuilt = _mend_chroma(storage, [item for item in wrong if item.store == "Chroma"])
    storage.settle()
    after = verify(storage, report.deep)
    if not rebuilt and any(item.store == "Chroma" and item.repairable for item in after.findings):
        storage.guard.rebuild("mending its rows was not enough")
        storage.settle()
        after = verify(storage, report.deep)
    left = {(item.store, item.document_id) for item in after.findings}
    mended = tuple(item for item in wrong if (item.store, item.document_id) not in left)
    return Report(after.documents, after.chunks, after.findings, after.deep, after.took_s, mended)


def _waiting(truth: Truth) -> dict[str, set[str]]:
    return {"Dumps": truth.waiting("dumps"), "Chroma": truth.waiting("chroma")}


def _stands(item: Finding, before: dict[str, Facts], after: dict[str, Facts], busy: dict[str, set[str]]) -> bool:
    """Whether a finding is of a document that stood still while the stores were compared."""
    if before.get(item.document_id) != after.get(item.document_id):
        return False
    return item.document_id not in busy.get(item.store, ())


def _mend_dump(storage: Storage, document_id: str) -> None:
    try:
        if document_id:
            storage.mend_dump(document_id)
        else:
            storage.dumps.mend_segments()
    except StoreCorrupt as error:
        _log.warning("A dump cannot be made again: %s", error)


def _remove_leftover(storage: Storage, document_id: str) -> None:
    """Remove an original file whose document is gone; looked at again, as one cannot be had back."""
    if storage.documents.get(document_id) is None:
        storage.files.remove(document_id)


def _mend_chroma(storage: Storage, wrong: list[Finding]) -> bool:
    """Returns whether the whole index was set aside, to be made again."""
    if not wrong:
        return False
    try:
        # An index that could not be used may be sound by now: a feeder heals as well.
        if all(item.document_id for item in wrong) or not storage.guard.judge(again=True).fault:
            storage.guard.mend(storage.guard.compare(), {item.document_id for item in wrong})
            return False
    except ProbeStopped:
        return False
    except ChromaUnavailable as error:
        _log.warning("Chroma's rows cannot be mended: %s", error)
    try:
        storage.guard.rebuild("; ".join(_reasons(wrong)) or "its rows cannot be mended")
    except StoreUnavailable as error:
        _log.warning("Chroma's index cannot be set aside: %s", error)
        return False
    return True


def _reasons(wrong: list[Finding]) -> Iterator[str]:
    return (item.message for item in wrong if not item.document_id)
