"""What a process does to a small library until a fault point kills it."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from accelerator import segments
from rag_core import Library
from rag_core.settings import EmbeddingSettings
from rag_core.storage.indexes import ChromaIndex
from tests.faults.journal import Journal
from tests.faults.shelf import Shelf
from tests.faults.worker import Plan, Said

# The first so many documents of the shelf are in the library from the beginning.
HELD = 8
ARCHIVE = "library.maintenance.backup"


def perform(plan: Plan, pipe: Connection) -> None:
    """Go through the plan's scenario and say that its end was reached."""
    if plan.scenario == "restoring":
        Library.restore(plan.journal.with_name(ARCHIVE), plan.settings())
    else:
        with Library.open(plan.settings()) as library:
            for scenario in SCENARIOS.values() if plan.scenario == "everything" else [SCENARIOS[plan.scenario]]:
                scenario(library, Shelf.load(plan.shelf), Journal(plan.journal))
    pipe.send(Said())


def change(library: Library, shelf: Shelf, journal: Journal) -> None:
    """Add documents, one that was there among them, remove some, add one of those again."""
    added = [shelf.items[0], *shelf.items[HELD : HELD + 3]]
    journal.will("add", [item.id for item in added[1:]])
    for event in library.add([item.path for item in added]):
        if event.stage == "ready" and event.document is not None:
            journal.did("add", event.document.id)
    library.storage.settle()
    for item in shelf.items[1:3]:
        journal.will("remove", [item.id])
        library.remove(item.id)
        journal.did("remove", item.id)
    journal.will("add", [shelf.items[2].id])
    for event in library.add([shelf.items[2].path]):
        if event.stage == "ready":
            journal.did("add", shelf.items[2].id)
    library.storage.settle()


def rebuild(library: Library, shelf: Shelf, journal: Journal) -> None:
    """Have every index begin anew."""
    for index in library.storage.indexes:
        index.rebuild("a test says so")
    library.storage.settle()


def repair(library: Library, shelf: Shelf, journal: Journal) -> None:
    """Repair a library that lost a dump, rows of Chroma and chunks of the lexical index."""
    storage = library.storage
    storage.settle()
    lost = shelf.items[3]
    storage.dumps.remove(lost.id)
    profile = storage.documents.profile()
    assert profile is not None
    storage.index(ChromaIndex).store.remove_rows(profile, [f"{lost.id}:{index}" for index in range(len(lost.texts))])
    storage.lexical.remove([lost.id])
    library.maintenance.repair()


def reembed(library: Library, shelf: Shelf, journal: Journal) -> None:
    """Embed everything anew in another precision, while documents were added and removed since the last time."""
    profile = library.storage.documents.profile()
    assert profile is not None
    precision = "bf16" if profile.precision == "float32" else "float32"
    for _ in library.maintenance.reembed(EmbeddingSettings(precision=precision)):
        pass
    library.storage.settle()


def rechunk(library: Library, shelf: Shelf, journal: Journal) -> None:
    """Have every document read again, as after a change of chunking."""
    library.storage.documents.chunkings.put("another")
    assert [step.stage for step in library.maintenance.rechunk()][-1] == "done"
    library.storage.settle()


def back_up(library: Library, shelf: Shelf, journal: Journal) -> None:
    """Write an archive into the library's own folder."""
    library.maintenance.backup(Path(library.storage.folder) / ARCHIVE, replace=True)


def compact(library: Library, shelf: Shelf, journal: Journal) -> None:
    """Compact dumps into a segment, remove a document of it and add another, and compact again."""
    storage = library.storage
    segments.COMPACT_ROWS = 1
    storage.compact()
    journal.will("remove", [shelf.items[4].id])
    library.remove(shelf.items[4].id)
    journal.did("remove", shelf.items[4].id)
    item = shelf.items[HELD + 3]
    journal.will("add", [item.id])
    for event in library.add([item.path]):
        if event.stage == "ready":
            journal.did("add", item.id)
    storage.compact()
    library.storage.settle()


def edit(library: Library, shelf: Shelf, journal: Journal) -> None:
    """Correct a chunk, leave one out and bring it back; remove documents and take them back."""
    item = shelf.items[5]
    while edits := library.chunk_edits.of(item.id):  # of the time before, which was killed
        library.chunk_edits.undo(item.id, edits[0].page, edits[0].start, edits[0].end)
    library.chunk_edits.correct(f"{item.id}:0", "Somebody wrote something else here.")
    library.chunk_edits.leave_out(f"{item.id}:0")
    left = next(edit for edit in library.chunk_edits.of(item.id) if edit.left_out)
    library.chunk_edits.undo(item.id, left.page, left.start, left.end)
    ids = [shelf.items[6].id, shelf.items[7].id]
    journal.will("remove", ids)
    library.catalogue.set_aside(ids, undo_s=600)
    library.catalogue.take_back(ids)
    for key in ids:
        journal.did("add", key)
    library.storage.settle()


SCENARIOS: dict[str, Callable[[Library, Shelf, Journal], None]] = {
    "changing": change,
    "rebuilding": rebuild,
    "repairing": repair,
    "reembedding": reembed,
    "re-chunking": rechunk,
    "backing up": back_up,
    "compaction": compact,
    "editing": edit,
}
