"""Re-chunking a library's documents, after its chunking was changed: each is read again from its kept bytes.

A few at a time, which are found again once they are ready; all others are found as before. What is left is noted in the
library, so that whoever is stopped or killed goes on there.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from rag_core.cancellation import Cancellation
from rag_core.domain import Progress
from rag_core.ingest import Ingest
from rag_core.storage import Storage

_LEFT = "chunk_anew"
_CHUNKING = "chunking"
# The strategy of libraries from before their chunking was noted.
_FIRST = '"strategy": "characters"'
_TOGETHER = 8
_noting = threading.Lock()


@dataclass(frozen=True, slots=True)
class _Noted:
    """What is to be done still: the chunking that was asked for, as a text, and the documents."""

    chunking: str
    ids: tuple[str, ...]


def begin(storage: Storage, chunking: str = "") -> None:
    """Note that every ready document is to be re-chunked by a chunking, told by its settings' `key`."""
    ids = tuple(sorted(storage.documents.ready_ids()))
    settle(storage, chunking)
    with _noting:
        _note(storage, _Noted(chunking, ids))


def settle(storage: Storage, chunking: str) -> None:
    """Note that a library's documents are as they should be by these settings, or are to stay as they are."""
    storage.conversations.set_preference(_CHUNKING, chunking)


def look(storage: Storage, chunking: str) -> None:
    """On opening a library: one without documents begins with the settings' chunking."""
    if not any(storage.documents.counts()):
        settle(storage, chunking)


def offered(storage: Storage, chunking: str) -> bool:
    """Whether the library's documents were chunked otherwise than the settings say, and nobody has decided about it."""
    kept = storage.conversations.preference(_CHUNKING)
    differs = _FIRST not in chunking if kept is None else kept != chunking
    return differs and not left(storage) and bool(storage.documents.ready_ids())


def left(storage: Storage) -> int:
    """How many documents are to be re-chunked still."""
    return len(_noted(storage).ids)


def note(storage: Storage) -> tuple[str, ...]:
    """What is to be said while some are left."""
    count = left(storage)
    if not count:
        return ()
    have = "1 document has" if count == 1 else f"{count} documents have"
    return (f"{have} chunks of an earlier setting: re-chunk them on the Evaluation page, or leave them so.",)


def forget(storage: Storage) -> None:
    """Leave the rest as it is."""
    with _noting:
        _note(storage, _Noted("", ()))


def rechunk(storage: Storage, ingest: Ingest, token: Cancellation, closing: Callable[[], bool]) -> Iterator[Progress]:
    """Re-chunk what is left, telling documents done and in all. The last step is "done" or "cancelled".

    A document whose file is gone or was changed keeps its chunks; the last step's note says how many. What is asked
    for meanwhile is done as well. Raises StoreUnavailable.
    """
    total = kept = failed = 0
    while (noted := _noted(storage)).ids:
        total = max(total, len(noted.ids))
        yield Progress("chunking", total - len(noted.ids), total)
        if token.is_set() or closing():
            yield Progress("cancelled", total - len(noted.ids), total, "The rest goes on from here when you like.")
            return
        part = noted.ids[:_TOGETHER]
        ready = storage.documents.ready(part)
        sound = {item.id: item.title for item in ready.values() if _is_sound(storage.files.path(item.id), item.id)}
        kept += len(ready) - len(sound)
        storage.read_again(list(sound))
        failed += sum(event.stage == "failed" for event in ingest.resume(sound))
        _take_off(storage, noted.chunking, part)
    told = []
    if kept:
        told.append(f"{kept} documents whose files are not as they were keep their chunks.")
    if failed:
        told.append(f"{failed} documents could not be read again: the Library page says why.")
    yield Progress("done", total, total, " ".join(told))


def _is_sound(path: Path, document_id: str) -> bool:
    """Whether a document's kept file is the one that it was made from: its id begins the file's SHA-256."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest().startswith(document_id)
    except OSError:
        return False


def _take_off(storage: Storage, chunking: str, done: Collection[str]) -> None:
    """Documents were re-chunked. Where another chunking was asked for amid that, they are due once more."""
    with _noting:
        noted = _noted(storage)
        if noted.chunking == chunking:
            _note(storage, _Noted(chunking, tuple(item for item in noted.ids if item not in done)))


def _noted(storage: Storage) -> _Noted:
    kept = json.loads(storage.conversations.preference(_LEFT) or '{"chunking": "", "ids": []}')
    return _Noted(kept["chunking"], tuple(kept["ids"]))


def _note(storage: Storage, noted: _Noted) -> None:
    storage.conversations.set_preference(_LEFT, json.dumps(asdict(noted)) if noted.ids else None)
