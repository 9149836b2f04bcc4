"""Questions that wait to be accepted, changed or dropped: drafted ones and past ones, by the set they are for.

They are seen by every session and forgotten when Lectern ends; what was accepted is in the set by then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from pages.parts.tasks import Task, TaskBoard
from rag_core.cancellation import Cancellation
from rag_core.domain import Progress, Question

if TYPE_CHECKING:
    from rag_core.library import Library

Drafted = tuple[Question, ...]


class CandidateBoard:
    """Thread-safe. One drafting at a time, in a thread of its own; what it has made can be looked at meanwhile."""

    def __init__(self, library: Callable[[], Library]) -> None:
        self._lock = threading.Lock()
        self._tasks: TaskBoard[int] = TaskBoard(library, "The drafting")
        self._waiting: dict[str, list[Question]] = {}
        self._set_id = ""

    def task(self, set_id: str) -> Task[int] | None:
        """The drafting for a set that is under way, or the last one."""
        return self._tasks.task if set_id == self._set_id else None

    @property
    def busy(self) -> bool:
        """Whether questions are being drafted."""
        return self._tasks.busy

    def waiting(self, set_id: str) -> Drafted:
        """The candidates of a set, in the order in which they came."""
        with self._lock:
            return tuple(self._waiting.get(set_id, ()))

    def add(self, set_id: str, questions: Sequence[Question]) -> None:
        """Put candidates on the board, each under an id that is its own."""
        with self._lock:
            self._waiting.setdefault(set_id, []).extend(replace(item, id=uuid4().hex[:12]) for item in questions)

    def settle(self, set_id: str, question_id: str) -> None:
        """Take one off, accepted or not."""
        with self._lock:
            self._waiting[set_id] = [item for item in self._waiting.get(set_id, ()) if item.id != question_id]

    def clear(self, set_id: str) -> None:
        """Take all of a set off."""
        with self._lock:
            self._waiting.pop(set_id, None)

    def draft(self, set_id: str, count: int, documents: Sequence[str] | None, model: str | None) -> None:
        """Begin to draft, unless that is under way already. Without a model they come from the texts themselves."""
        if self.busy:
            return
        self._set_id = set_id

        def work(library: Library, token: Cancellation, tell: Callable[[Progress], None]) -> int:
            made = 0
            tell(Progress("drafting", 0, count))
            # Another draw of chance each time, or a second drafting would bring the same questions.
            seed = len(library.evaluation.questions(set_id))
            for made, question in enumerate(
                library.evaluation.draft(count, documents, model, seed, cancellation=token), start=1
            ):
                self.add(set_id, [question])
                tell(Progress("drafting", made, count))
            return made

        self._tasks.begin("draft", work)

    def stop(self) -> None:
        """Stop drafting; what was made stays."""
        self._tasks.stop()
