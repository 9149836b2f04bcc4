"""Compares every store with PostgreSQL, and repairs what is derived from it without embedding anything again.

`verify` writes nothing. Documents that were added, removed or followed while it looked are left out: they are not
wrong, only on their way. `repair` acts on a report, each step on what it finds by then; it may be killed and run again.
"""

from __future__ import annotations

import time

from rag_core.domain import Finding, Report
from rag_core.storage.indexes import DerivedIndex
from rag_core.storage.maintenance.checks import Checks
from rag_core.storage.postgres.truth import Facts, Truth
from rag_core.storage.storage import Storage


def verify(storage: Storage, deep: bool = False) -> Report:
    """Compare all stores. `deep` reads every text and every vector, and judges Chroma's index anew.

    Raises StoreUnavailable when PostgreSQL does not answer.
    """
    started = time.perf_counter()
    truth = Truth(storage.database)
    before, waited = truth.facts(), _waiting(storage)
    found = list(Checks(storage, truth, before, deep).run())
    after, waiting = truth.facts(), _waiting(storage)
    busy = {store: waited[store] | waiting[store] for store in waited}
    findings = [item for item in found if _stands(item, before, after, busy)]
    ready = [document for document in after.values() if document.state == "ready"]
    return Report(
        documents=len(ready), chunks=sum(document.chunk_count for document in ready), findings=tuple(findings),
        deep=deep, took_s=round(time.perf_counter() - started, 3),
    )  # fmt: skip


def repair(storage: Storage, report: Report) -> Report:
    """Repair what a report found, as far as it can be rebuilt from PostgreSQL. Returns the report after that.

    Raises StoreUnavailable.
    """
    wrong = [item for item in report.findings if item.repairable]
    for item in wrong:
        if item.store == "Files":
            _remove_leftover(storage, item.document_id)
    rebuilt = [index for index in storage.indexes if index.repair(_of(index, wrong))]
    storage.settle()
    after = verify(storage, report.deep)
    left = [
        index for index in storage.indexes if index not in rebuilt and not index.needed and _of(index, after.findings)
    ]
    for index in left:
        index.rebuild("repairing its rows was not enough")
    if left:
        storage.settle()
        after = verify(storage, report.deep)
    places = {(item.store, item.document_id) for item in after.findings}
    repaired = tuple(item for item in wrong if (item.store, item.document_id) not in places)
    return Report(after.documents, after.chunks, after.findings, after.deep, after.took_s, repaired)


def _of(index: DerivedIndex, findings: list[Finding] | tuple[Finding, ...]) -> list[Finding]:
    """What can be repaired of an index."""
    return [item for item in findings if item.repairable and item.store == index.label]


def _waiting(storage: Storage) -> dict[str, set[str]]:
    return {index.label: storage.log.waiting_ids(index.name) for index in storage.indexes}


def _stands(item: Finding, before: dict[str, Facts], after: dict[str, Facts], busy: dict[str, set[str]]) -> bool:
    """Whether a finding is of a document that stood still while the stores were compared."""
    if before.get(item.document_id) != after.get(item.document_id):
        return False
    return item.document_id not in busy.get(item.store, ())


def _remove_leftover(storage: Storage, document_id: str) -> None:
    """Remove an original file whose document is gone; looked at again, as one cannot be had back."""
    if storage.documents.get(document_id) is None:
        storage.files.remove(document_id)
