"""Cutting a library's documents anew, after its chunking was changed: each is read again from its kept bytes.

A few at a time, which are found again once they are ready; all others are found as before. What is left is noted in the
library, so that whoever is stopped or killed goes on there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from rag_core.adding import Adder
from rag_core.cancellation import Cancellation
from rag_core.domain import Progress
from rag_core.storage import Storage

_LEFT = "chunk_anew"
_TOGETHER = 8


def begin(storage: Storage) -> None:
    """Note that every ready document is to be cut anew."""
    _note(storage, sorted(storage.documents.ready_ids()))


def left(storage: Storage) -> list[str]:
    """The documents that are to be cut anew still."""
    noted: list[str] = json.loads(storage.conversations.preference(_LEFT) or "[]")
    return noted


def note(storage: Storage) -> tuple[str, ...]:
    """What is to be said while some are left."""
    count = len(left(storage))
    if not count:
        return ()
    have = "1 document has" if count == 1 else f"{count} documents have"
    return (f"{have} chunks of an earlier setting: cut them anew on the Evaluation page, or leave them so.",)


def forget(storage: Storage) -> None:
    """Leave the rest as it is."""
    _note(storage, [])


def cut_anew(storage: Storage, adder: Adder, token: Cancellation, closing: Callable[[], bool]) -> Iterator[Progress]:
    """Cut what is left, telling documents done and in all. The last step is "done" or "cancelled".

    A document whose file is gone keeps its chunks; the last step's note says how many. Raises StoreUnavailable.
    """
    waiting = left(storage)
    total = len(waiting)
    kept = 0
    while waiting:
        yield Progress("chunking", total - len(waiting), total)
        if token.is_set() or closing():
            yield Progress("cancelled", total - len(waiting), total, "The rest goes on from here when you like.")
            return
        part, waiting = waiting[:_TOGETHER], waiting[_TOGETHER:]
        there = [document_id for document_id in part if storage.files.path(document_id).is_file()]
        kept += len(part) - len(there)
        documents = storage.documents.ready(there)
        storage.renew(list(documents))
        for _ in adder.resume({document_id: document.title for document_id, document in documents.items()}):
            pass
        _note(storage, waiting)
    note = f"{kept} documents whose files are gone keep their chunks." if kept else ""
    yield Progress("done", total, total, note)


def _note(storage: Storage, ids: Sequence[str]) -> None:
    storage.conversations.set_preference(_LEFT, json.dumps(list(ids)) if ids else None)
