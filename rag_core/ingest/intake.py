"""Intake: the bytes of sources are kept and noted as pending documents, a batch at a time."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rag_core.domain import KNOWN, Document
from rag_core.errors import Cancelled, LecternError, LimitExceeded, StoreUnavailable
from rag_core.ingest.context import RunContext
from rag_core.ingest.folder_ends import Folder
from rag_core.ingest.work import BATCH_DOCUMENTS, Work
from rag_core.reading import detect_bytes
from rag_core.reading.base import LOCKABLE
from rag_core.sources import Found, Item, PassedOver, Refused, Unchanged, read_item
from rag_core.storage import Accepted, note_originals
from rag_core.storage.postgres.database import ConnectionLost
from rag_core.unexpected import each, stage

BATCH_BYTES = 2**23
_UNCHANGED = 2_000
# Items whose bytes were read, each with what is to be noted of it, by document id.
Arrivals = dict[str, tuple[Item, Accepted]]
# Items whose bytes another one, of this run or another, is bringing in, each with its document's id.
Repeated = list[tuple[Item, str]]


def intake(run: RunContext, found: Iterable[Found]) -> Iterator[list[Work]]:
    """What was accepted of what is found at sources, a transaction at a time; all else is told of.

    Those whose bytes another one was bringing in are taken up again after it: mostly they are there by then. Where that
    one was cancelled, interrupted or failed, they go their own way.
    """
    repeated: Repeated = []
    yield from take_in(run, found, repeated)
    while repeated and not run.interrupted:
        items = [item for item, _ in repeated]
        for item, document_id in repeated:
            run.await_lease(document_id, item.key)
        repeated = []
        yield from take_in(run, items, repeated)


def document_id_of(sha256: str, owner: str) -> str:
    """The id of a document by its content, and by whose it is: nobody learns by adding a file who else has it."""
    return (hashlib.sha256(f"{owner}\0{sha256}".encode()).hexdigest() if owner else sha256)[:32]


def leave_pending(run: RunContext, found: Iterable[Found]) -> None:
    """Accept what is found and leave it pending. What another run is bringing in is told of as waiting alone."""
    repeated: Repeated = []
    for works in take_in(run, found, repeated, reading=False):
        for work in works:
            if run.password and work.document.media_type in LOCKABLE:
                run.storage.documents.keep_password(work.document.id, run.password)
            run.release(work.document.id)
            run.tell(work.source, "waiting", document=work.document)
    for item, _ in repeated:
        run.tell(item.key, "waiting")


def take_in(
    run: RunContext, found: Iterable[Found], repeated: Repeated, *, reading: bool = True
) -> Iterator[list[Work]]:
    """The same without what is repeated, which is put into that list. reading: what is accepted is read at once."""
    arrivals: Arrivals = {}
    unchanged: list[Unchanged] = []
    names = list[str]()  # of what was found since a folder ended
    for one in found:
        if run.interrupted:
            break
        names += [one.key] if isinstance(one, Item) else [one.name] if isinstance(one, Refused) else []
        if isinstance(one, Item):
            _gather(run, one, arrivals, repeated, reading)
        elif isinstance(one, Unchanged):
            unchanged.append(one)
        elif isinstance(one, PassedOver) and one.ends:
            run.folders.append(Folder(one.name, one.note, names))
            names = []
        elif isinstance(one, PassedOver):
            run.tell(one.name, "cancelled", note=one.note)
        elif isinstance(one, Refused):
            is_stopped = isinstance(one.error, Cancelled)
            run.tell(one.name, "cancelled" if is_stopped else "failed", error=None if is_stopped else one.error)
        else:
            yield _accept(run, arrivals)  # what was found before is not kept waiting by a slow server
            arrivals = {}
            run.tell(one.name, "fetching", one.done, one.total)
        if _is_full(arrivals):
            yield _accept(run, arrivals)
            arrivals = {}
        if len(unchanged) >= _UNCHANGED:
            _tell_unchanged(run, unchanged)
            unchanged = []
    _tell_unchanged(run, unchanged)
    yield _accept(run, arrivals)


def _is_full(arrivals: Arrivals) -> bool:
    """Whether what was gathered is worth a transaction."""
    return len(arrivals) >= BATCH_DOCUMENTS or _bytes(arrivals) >= BATCH_BYTES


def _bytes(arrivals: Arrivals) -> int:
    return sum(accepted.byte_size for _, accepted in arrivals.values())


def _tell_unchanged(run: RunContext, unchanged: list[Unchanged]) -> None:
    """Tell of sources that are as they were; many at a time, since each costs little more than that."""
    ids = [one.document_id for one in unchanged]
    documents = {**run.storage.documents.ready(ids)}  # remembered, so that the next pass has them at hand
    documents |= run.storage.documents.some([key for key in ids if key not in documents])
    run.storage.sources.looked((one.document_id, one.visit) for one in unchanged)
    for one in unchanged:
        run.tell_end(one.name, documents.get(one.document_id), note=KNOWN)


def _gather(run: RunContext, item: Item, arrivals: Arrivals, repeated: Repeated, reading: bool) -> None:
    """Read an item and lease its document. One that cannot be taken is told of."""
    if run.cancellation.is_set(item.key):
        run.tell(item.key, "cancelled")
        return
    if reading:
        run.tell(item.key, "reading")
    try:
        with stage("intake", item.name, item.key):
            data, visit = read_item(item, run.settings.reading.max_file_bytes)
            _check_room(run, _bytes(arrivals) + len(data))
            sha256 = hashlib.sha256(data).hexdigest()
            content = document_id_of(sha256, run.owner)
            document_id, owner = run.storage.documents.people.place_of(content, run.owner, visit.location)
    except LecternError as error:
        run.tell(item.key, "failed", error=error)
        return
    if document_id == item.unless:
        run.storage.sources.leave_out_still(visit)
        run.tell(item.key, "cancelled", note="it was removed from the library, and is as it was then")
        return
    if run.lease(document_id):
        arrivals[document_id] = (
            replace(item, data=data), Accepted(document_id, sha256, item.name, "", len(data), visit, owner)
        )  # fmt: skip
    else:
        repeated.append((item, document_id))


def _accept(run: RunContext, arrivals: Arrivals) -> list[Work]:
    """Accept what was gathered. Returns what is to be read; what is in the library already is told of."""
    arrivals = {key: arrival for key, arrival in arrivals.items() if not _dropped(run, key, arrival[0])}
    works: list[Work] = []

    def accept(ids: Sequence[str]) -> None:
        part = {key: arrivals[key] for key in ids if key in arrivals}
        try:
            with stage("acceptance", *part):
                works.extend(_accept_together(run, part))
        finally:
            for key in ids:
                if key not in part:  # it was told of as failed
                    arrivals.pop(key, None)

    try:
        each(list(arrivals), accept, lambda key, error: _fail(run, arrivals, key, error), of_all=(ConnectionLost,))
    except ConnectionLost as error:
        for key in list(arrivals):
            _fail(run, arrivals, key, error)
    return works


def _accept_together(run: RunContext, arrivals: Arrivals) -> list[Work]:
    """The same in one transaction. What fails alone leaves `arrivals`."""
    known = _known(run, list(arrivals))
    originals = _originals(run, arrivals, known)
    with note_originals(run.storage.files, list(originals), run.storage.database.server) as came:
        _keep(run, arrivals, originals)
        documents = _note(run, arrivals)
        came.update(documents)
    run.supersede([key for key, document in documents.items() if document.state == "ready"])
    works = []
    for key, (item, _) in arrivals.items():
        document = documents.get(key)
        if document is not None and document.state == "pending":
            works.append(Work(item.key, document))
        else:
            run.release(key)
            run.tell_end(item.key, document, note=KNOWN)
    return works


def _dropped(run: RunContext, document_id: str, item: Item) -> bool:
    """Whether a source was stopped before anything of it was kept."""
    if not run.stopped(item.key):
        return False
    run.release(document_id)
    if not run.interrupted:
        run.tell(item.key, "cancelled")
    return True


def _known(run: RunContext, ids: list[str]) -> dict[str, Document]:
    """What the library has of some documents, once it has finished with those that are half in or half out."""
    known = run.storage.documents.some(ids) if ids else {}
    stuck = [key for key, document in known.items() if document.state in ("removing", "stored")]
    if stuck:
        run.storage.finish(stuck)
        known = run.storage.documents.some(ids)
    return known


def _originals(run: RunContext, arrivals: Arrivals, known: dict[str, Document]) -> dict[str, bytes]:
    """The bytes of a batch that are yet to be kept; what is no document leaves it."""
    originals: dict[str, bytes] = {}
    for key, (item, accepted) in list(arrivals.items()):
        data, document = _data(item), known.get(key)
        is_ready = document is not None and document.state == "ready"
        try:
            media_type = document.media_type if document and is_ready else detect_bytes(data, item.name)
        except LecternError as error:
            _fail(run, arrivals, key, error)
            continue
        arrivals[key] = (item, replace(accepted, media_type=media_type))
        if not (is_ready and run.storage.files.holds(key, data)):
            originals[key] = data
    return originals


def _keep(run: RunContext, arrivals: Arrivals, originals: dict[str, bytes]) -> None:
    """Bring bytes to the disk. One may be too large for it: each by itself then, so that the others are kept."""
    try:
        run.storage.files.write_many(originals)
        return
    except StoreUnavailable:
        pass
    for key, data in originals.items():
        try:
            run.storage.files.write(key, [data])
        except StoreUnavailable as error:
            _fail(run, arrivals, key, error)


def _note(run: RunContext, arrivals: Arrivals) -> dict[str, Document]:
    """Note what was kept as pending. A removal that was under way may have taken the bytes: they are kept anew."""
    if not arrivals:
        return {}
    with run.storage.removals.write_lock():
        run.storage.documents.accept([accepted for _, accepted in arrivals.values()])
        files = run.storage.files
        lost = {key: _data(item) for key, (item, _) in arrivals.items() if not files.has(key)}
        if lost:
            files.write_many(lost)
    return run.storage.documents.some(list(arrivals))


def _fail(run: RunContext, arrivals: Arrivals, document_id: str, error: LecternError) -> None:
    arrival = arrivals.pop(document_id, None)
    if arrival is not None:
        run.release(document_id)
        run.tell(arrival[0].key, "failed", error=error)


def _data(item: Item) -> bytes:
    return item.data if isinstance(item.data, bytes) else item.data.read_bytes()


def _check_room(run: RunContext, size_bytes: int) -> None:
    """Refuse a document, before anything is written, when the disk is nearly full."""
    free = shutil.disk_usage(run.storage.folder).free
    # Text, vectors and their three copies take a few times the file's own size.
    if free - 4 * size_bytes < run.settings.storage.min_free_bytes:
        raise LimitExceeded(
            f"The disk is nearly full: {free / 2**20:.0f} MB are free.",
            help="Make room on the disk and add the document again. Searching goes on.",
        )
