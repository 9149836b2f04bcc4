"""Long work as a face sees it."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from rag_core.domain.evaluation import Question
from rag_core.domain.sources import SourceReport
from rag_core.domain.state import BackupReport, Progress, Report
from rag_core.errors import LecternError

if TYPE_CHECKING:
    JobResult = Any  # whoever asks for a kind of job knows what it makes
else:
    JobResult = Report | BackupReport | SourceReport | tuple[Question, ...] | Progress
JobState = Literal["waiting", "running", "done", "failed", "cancelled"]
# Before that a pace says nothing.
_LEAST_S = 2.0
_NOT_BEGUN = Progress("waiting")


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of long work as it stands now.

    `params` and `result` are what its kind takes and makes. `document_id` is there once a file that is added has one.
    `resumed` says that an earlier process left it, `stopping` that it was asked to stop and has not yet. `mark` is when
    its present stage began, in seconds of this process's steady clock, and what was done by then; of another process's
    work that is not known. `owner` is who carries it out, or alone can, `token` grows each time that it is taken, and
    `attempts` is how often that was since it was asked for or came a step further.
    """

    id: str
    kind: str
    name: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    state: JobState = "waiting"
    progress: Progress = _NOT_BEGUN
    result: JobResult | None = None
    error: LecternError | None = None
    document_id: str = ""
    resumed: bool = False
    stopping: bool = False
    created_at: datetime | None = None
    began_at: datetime | None = None
    ended_at: datetime | None = None
    mark: tuple[float, int] = (math.inf, 0)
    owner: str = ""
    token: int = 0
    attempts: int = 0

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state not in ("waiting", "running")

    @property
    def took_s(self) -> float:
        """How long it took, or has taken so far by its last step, seconds."""
        if self.began_at is None or self.ended_at is None:
            return 0.0
        return (self.ended_at - self.began_at).total_seconds()

    @property
    def left_s(self) -> float | None:
        """How long the present stage still takes at its pace, seconds; None while that cannot be told."""
        since, before = self.mark
        spent, step = time.monotonic() - since, self.progress
        if self.state != "running" or step.done <= before or spent < _LEAST_S:
            return None
        return spent / (step.done - before) * (step.total - step.done)
