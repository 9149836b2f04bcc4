"""Questions that wait to be accepted, changed or dropped: drafted ones and past ones, by the set they are for.

They are seen by every session and forgotten when Lectern ends; what was accepted is in the set by then. Drafting is a
job of the library, whose questions so far can be looked at.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from rag_core.domain import Job, Question

if TYPE_CHECKING:
    from rag_core.library import Library

Drafted = tuple[Question, ...]
KIND = "draft"


class CandidateBoard:
    """Thread-safe."""

    def __init__(self, library: Callable[[], Library]) -> None:
        self._library = library
        self._lock = threading.Lock()
        self._others: dict[str, list[Question]] = {}
        self._settled: set[str] = set()

    def job(self, set_id: str) -> Job | None:
        """The drafting for a set that is under way, or the last one."""
        job = self._library().jobs.last(KIND)
        return job if job is not None and job.params["set"] == set_id else None

    @property
    def busy(self) -> bool:
        """Whether questions are being drafted."""
        return self._library().jobs.busy(KIND)

    def waiting(self, set_id: str) -> Drafted:
        """The candidates of a set, those drafted first."""
        jobs = [job for job in self._library().jobs.all(KIND) if job.params["set"] == set_id]
        drafted = [question for job in jobs for question in job.result or ()]
        with self._lock:
            found = [*drafted, *self._others.get(set_id, ())]
            return tuple(question for question in found if question.id not in self._settled)

    def add(self, set_id: str, questions: Sequence[Question]) -> None:
        """Put candidates on the board, each under an id that is its own."""
        with self._lock:
            self._others.setdefault(set_id, []).extend(replace(item, id=uuid4().hex[:12]) for item in questions)

    def settle(self, question_id: str) -> None:
        """Take one off, accepted or not."""
        drafted = {question.id for job in self._library().jobs.all(KIND) for question in job.result or ()}
        with self._lock:
            others = {key: [one for one in found if one.id != question_id] for key, found in self._others.items()}
            self._others = {key: found for key, found in others.items() if found}
            self._settled = (self._settled | {question_id}) & drafted

    def clear(self, set_id: str) -> None:
        """Take all of a set off."""
        for question in self.waiting(set_id):
            self.settle(question.id)

    def draft(self, set_id: str, count: int, documents: Sequence[str] | None, model: str | None) -> None:
        """Begin to draft, unless that is under way already. Without a model they come from the texts themselves."""
        wanted = list(documents) if documents is not None else None
        self._library().jobs.submit(KIND, set=set_id, count=count, documents=wanted, model=model)
