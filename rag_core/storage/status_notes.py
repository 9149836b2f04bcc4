"""What the user should know of stores that are not as they should be, in sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rag_core.domain import LibraryServer
from rag_core.storage.indexes.base import DerivedIndex
from rag_core.storage.indexes.dumps import Loaded
from rag_core.storage.postgres.changes import Waiting


def told(loaded: Loaded, searched: Collection[str]) -> tuple[str, ...]:
    """What the user should know of dumps that were not as they should be, as long as it is so."""
    lines = []
    left_out = sum(document_id not in searched for document_id in loaded.left_out)
    if count := len(loaded.rewritten):
        written = counted(count, "damaged or missing dump file was", "damaged or missing dump files were")
        lines.append(f"{written} written anew.")
    if left_out:
        lines.append(
            f"{counted(left_out, 'document', 'documents')} cannot be searched, for want of a dump file that could not"
            f" be written: {loaded.reason} Repair tries again."
        )
    return tuple(lines)


def described(index: DerivedIndex, waiting: Waiting) -> str:
    """An index in a few words, with what it has yet to follow."""
    if not waiting.documents:
        return index.describe()
    behind = f"{index.describe()}, {counted(waiting.documents, 'document', 'documents')} behind"
    return behind + (f" ({waiting.reason})" if waiting.reason else "")


def dead_letters(label: str, waiting: Waiting) -> str:
    """What the user should know of documents that an index did not take in many attempts."""
    if not waiting.dead:
        return ""
    return (
        f"{counted(waiting.dead, 'document', 'documents')} could not be brought to {label}: {waiting.reason}"
        " It is tried again when Lectern starts, and by Repair."
    )


def left_alone(lanes: Collection[str], servers: Iterable[LibraryServer]) -> str:
    """What the user should know of lanes that are left to workers where none takes them."""
    taken = {lane for server in servers for lane in server.lanes}
    left = [lane for lane in lanes if lane not in taken]
    return f"What waits for {' and '.join(left)} is left to workers, and none is there: lectern worker." if left else ""


def counted(number: int, one: str, many: str) -> str:
    """A number with what it counts."""
    return f"{number} {one if number == 1 else many}"
