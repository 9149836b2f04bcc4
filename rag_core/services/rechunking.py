"""Re-chunking a library's documents, after its chunking was changed: each is read again from its kept bytes.

A few at a time, which are found again once they are ready; all others are found as before. Each document says by which
chunking it was cut, so that whoever is stopped or killed goes on there. A chunking is told by its settings' `key`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rag_core.cancellation import Cancellation
from rag_core.domain import Progress
from rag_core.ingest import Ingest
from rag_core.services.files_again import holds
from rag_core.storage import Storage

_CHUNKING = "chunking"
# The strategy of libraries from before their chunking was noted.
_FIRST = '"strategy": "characters"'
_TOGETHER = 8


def settle(storage: Storage, chunking: str) -> None:
    """Note that a library's documents are to be cut by a chunking: those of another one are left to be re-chunked."""
    storage.conversations.set_preference(_CHUNKING, chunking)


def look(storage: Storage, chunking: str) -> None:
    """On opening a library: one without documents begins with the settings' chunking."""
    if not any(storage.documents.counts()):
        settle(storage, chunking)


def offered(storage: Storage, chunking: str) -> bool:
    """Whether the library's documents were chunked otherwise than the settings say, and nobody has decided about it."""
    kept = storage.conversations.preference(_CHUNKING)
    differs = _FIRST not in chunking if kept is None else kept != chunking
    return differs and bool(storage.documents.ready_ids())


def left(storage: Storage, chunking: str) -> int:
    """How many documents are to be re-chunked still."""
    return storage.documents.chunkings.count_others(chunking) if _is_settled(storage, chunking) else 0


def note(storage: Storage, chunking: str) -> tuple[str, ...]:
    """What is to be said while some are left."""
    count = left(storage, chunking)
    if not count:
        return ()
    have = "1 document has" if count == 1 else f"{count} documents have"
    return (f"{have} chunks of an earlier setting: re-chunk them on the Evaluation page, or leave them so.",)


def keep(storage: Storage, chunking: str) -> None:
    """Leave all documents as they are, as if they were cut by this chunking."""
    storage.documents.chunkings.put(chunking)
    settle(storage, chunking)


def rechunk(
    storage: Storage, ingest: Ingest, chunking: Callable[[], str], token: Cancellation, closing: Callable[[], bool]
) -> Iterator[Progress]:
    """Re-chunk what is left, telling documents done and in all. The last step is "done" or "cancelled".

    A document whose file is gone or was changed keeps its chunks; the last step's note says how many. What another
    chunking is asked for amid that is cut by it as well. Raises StoreUnavailable.
    """
    total = kept = failed = 0
    wanted = ""
    while count := left(storage, chunking()):
        if chunking() != wanted:
            wanted, last = chunking(), ""
        total = max(total, count)
        yield Progress("chunking", total - count, total)
        if token.is_set() or closing():
            yield Progress("cancelled", total - count, total, "The rest goes on from here when you like.")
            return
        part = storage.documents.chunkings.others(wanted, last, _TOGETHER)
        if not part:
            break
        last = part[-1]
        ready = storage.documents.ready(part)
        sound = {item.id: item.title for item in ready.values() if holds(storage.files.path(item.id), item.id)}
        kept += len(ready) - len(sound)
        storage.documents.chunkings.put(wanted, [key for key in part if key not in sound])
        storage.read_again(list(sound))
        events = ingest.resume(sound, cancellation=Cancellation(token.leases))
        failed += sum(event.stage == "failed" for event in events)
    told = []
    if kept:
        told.append(f"{kept} documents whose files are not as they were keep their chunks.")
    if failed:
        told.append(f"{failed} documents could not be read again: the Library page says why.")
    yield Progress("done", total, total, " ".join(told))


def _is_settled(storage: Storage, chunking: str) -> bool:
    return storage.conversations.preference(_CHUNKING) == chunking
