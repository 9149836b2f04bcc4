"""Keeps Chroma honest: judges its index before it is opened, sets a damaged one aside, and has it given all again.

To judge it its graph is built, which takes minutes of a processor where there are many chunks: files that were left in
good order, and are as they were left, are opened without.

Whatever is done here holds the index's turn, so that nobody writes to it meanwhile. Documents are queued
anew before anything is deleted or moved away, so that a kill in between loses nothing.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from accelerator.atomic import write_atomically
from accelerator.faults import reach
from rag_core.storage.indexes.chroma import ChromaStore, collection_name
from rag_core.storage.indexes.chroma_probe import ProbeStopped, Verdict, count_rows, probe
from rag_core.storage.originals.files import disk_failure
from rag_core.storage.postgres.changes import ChangeLog
from rag_core.storage.postgres.database import Database
from rag_core.storage.postgres.documents import DocumentStore

_log = logging.getLogger(__name__)
_LEFT = "left.sound"
# Opening builds the graph from the index's log, a second for a thousand rows; other work goes first, and one that is
# given up is rebuilt.
_PROBE_S = 60.0
_PROBE_ROWS_PER_S = 100


@dataclass(frozen=True, slots=True)
class Difference:
    """How Chroma's rows differ from the chunks that it took.

    `missing` counts the rows that each document lacks; `foreign` are the ids of rows that belong to no chunk.
    """

    missing: dict[str, int]
    foreign: list[str]

    @property
    def strays(self) -> dict[str, int]:
        """How many foreign rows name each document."""
        counts: dict[str, int] = {}
        for row in self.foreign:
            document_id = row.rpartition(":")[0]
            counts[document_id] = counts.get(document_id, 0) + 1
        return counts


class ChromaGuard:
    """Judges and repairs the index of one library. Thread-safe."""

    def __init__(
        self, database: Database, documents: DocumentStore, chroma: ChromaStore, log: ChangeLog, name: str,
        turn: AbstractContextManager[object],
    ) -> None:  # fmt: skip
        self._database = database
        self._documents = documents
        self._chroma = chroma
        self._log = log
        self._name = name
        self._turn = turn
        self._stopped = threading.Event()
        self._rebuilt = ""

    def stop(self) -> None:
        """End a judgement that is under way: the library is being closed."""
        self._stopped.set()

    def leave(self) -> None:
        """Close the index, and note how its files are where it was sound to the end."""
        sound, folder = self._chroma.trusted, self._chroma.folder
        self._chroma.close()
        if sound and folder is not None and folder.is_dir():
            with contextlib.suppress(OSError):  # it is judged the next time
                write_atomically(folder / _LEFT, [_state(folder).encode()])

    def judge(self, *, again: bool = False) -> Verdict:
        """Look at the index in a child process, unless it is trusted already; `again` does so in any case.

        A sound index may be opened from then on. Raises StoreUnavailable, ProbeStopped.
        """
        with self._turn:
            profile, folder = self._documents.profile(), self._chroma.folder
            if profile is None or folder is None or (self._chroma.trusted and not again):
                return Verdict()
            self._chroma.distrust()
            verdict = Verdict()
            if folder.exists():
                timeout_s = _PROBE_S + self._documents.counts()[1] / _PROBE_ROWS_PER_S
                verdict = probe(folder, collection_name(profile), timeout_s, self._stopped)
            if not verdict.fault:
                self._chroma.trust()
            return verdict

    def heal(self) -> None:
        """Judge the index where that was not done yet; rebuild a damaged one, and repair one that lost rows.

        Raises StoreUnavailable.
        """
        with self._turn:
            if self._chroma.trusted:
                return
            try:
                verdict = self._left() or self.judge()
            except ProbeStopped:
                return
            if verdict.fault:
                self.rebuild(verdict.fault)
            elif not self._fits(verdict.rows):
                _log.warning("Chroma's index lost rows or holds foreign ones: it is repaired.")
                self.repair(self.compare())

    def rebuild(self, reason: str) -> None:
        """Set the index aside and queue every document for a new one. Raises StoreUnavailable."""
        with self._turn:
            profile = self._documents.profile()
            if profile is None:
                return
            _log.warning("Chroma's index is set aside and rebuilt: %s", reason)
            self._log.queue([self._name])
            reach("rebuild.queued")
            try:
                self._chroma.set_aside(profile, datetime.now().astimezone().strftime("%Y%m%d-%H%M%S"))
            except OSError as error:
                raise disk_failure(error) from error
            reach("rebuild.aside")
            self._rebuilt = reason

    def repair(self, difference: Difference, suspects: Collection[str] = ()) -> None:
        """Remove foreign rows, and take documents again that lack rows or are suspect. Raises StoreUnavailable."""
        with self._turn:
            profile = self._documents.profile()
            if profile is None:
                return
            wrong = {*difference.missing, *suspects}
            self._log.queue([self._name], wrong)
            reach("repair.queued")
            counts = self._counts()
            rows = {f"{document_id}:{index}" for document_id in wrong for index in range(counts.get(document_id, 0))}
            # On a server, rows of unknown documents may be another library's.
            rows |= {row for row in difference.foreign if self._chroma.folder or row.rpartition(":")[0] in counts}
            self._chroma.remove_rows(profile, sorted(rows))
            reach("repair.removed")

    def compare(self, among: Collection[str] | None = None) -> Difference:
        """Compare the ids of all rows with the chunks of ready documents, or some of them; what waits is left out.

        Raises ChromaUnavailable, StoreUnavailable.
        """
        with self._turn:
            profile = self._documents.profile()
            if profile is None:
                return Difference({}, [])
            counts, waiting = self._counts(), self._log.waiting_ids(self._name)
            expected = {key: n for key, n in counts.items() if key not in waiting and (among is None or key in among)}
            seen: dict[str, int] = dict.fromkeys(expected, 0)
            foreign: list[str] = []
            for row, document in self._chroma.places(profile):
                document_id, _, index = row.rpartition(":")
                if document_id in waiting or (document_id in counts and document_id not in expected):
                    continue
                if document == document_id and index.isdecimal() and int(index) < expected.get(document_id, 0):
                    seen[document_id] += 1
                else:
                    foreign.append(row)
            return Difference({key: n - seen[key] for key, n in expected.items() if seen[key] < n}, foreign)

    def note(self) -> str | None:
        """What the user should know of a rebuild. Raises StoreUnavailable."""
        if not self._rebuilt:
            return None
        waiting = self._log.waiting(self._name).documents
        if waiting:
            return (
                f"Chroma's index was damaged and is being rebuilt: {waiting} documents to go. The dump files answer"
                " meanwhile."
            )
        return "Chroma's index was damaged and has been rebuilt."

    def _left(self) -> Verdict | None:
        """An index that was left in good order is trusted as long as no file is another. That is noted no longer then.

        Returns None for any other.
        """
        profile, folder = self._documents.profile(), self._chroma.folder
        if profile is None or folder is None:
            return None
        try:
            left = (folder / _LEFT).read_text(encoding="utf-8")
            (folder / _LEFT).unlink()
            if left != _state(folder):
                return None
            verdict = Verdict(count_rows(folder, collection_name(profile)))
        except (OSError, ValueError, sqlite3.Error):
            return None
        self._chroma.trust()
        return verdict

    def _fits(self, rows: int | None) -> bool:
        """Whether a number of rows is possible, given what Chroma took and what waits."""
        counts, waiting = self._counts(), self._log.waiting_ids(self._name)
        taken = sum(count for document_id, count in counts.items() if document_id not in waiting)
        # Of what waits some rows may be there, and of what is being removed some may be left.
        return (rows or 0) == taken if not waiting else (rows or 0) >= taken

    def _counts(self) -> dict[str, int]:
        """How many chunks each document has that it holds, or will."""
        rows: Sequence[tuple[str, int]] = self._database.rows(
            "SELECT c.document_id, count(*) FROM chunks c JOIN documents d ON d.id = c.document_id"
            " WHERE d.state IN ('stored', 'ready') GROUP BY c.document_id"
        )
        return dict(rows)


def _state(folder: Path) -> str:
    """A text that is another once any file is, by its size and when it changed. Raises OSError."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != _LEFT)
    told = [(path.relative_to(folder), path.stat()) for path in files]
    return "\n".join(f"{name} {stat.st_size} {stat.st_ctime_ns}" for name, stat in told)
