"""How many jobs that have ended a process remembers, and what they were asked with: a server works for months."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from rag_core.domain import Job

MOST_ENDED = 5_000
"""Jobs that have ended and stay in memory; the store has the others."""
MOST_PRIVATE_BYTES = 2**28
"""Of files that were uploaded and came to nothing, kept so that they can be tried again."""


def forget_oldest(jobs: dict[str, Job], private: dict[str, Any], unkept: Collection[str]) -> None:
    """Forget the jobs that ended and are too many, those that came first, save for those that no store has yet."""
    if len(jobs) <= MOST_ENDED:
        return
    ended = [job_id for job_id, job in jobs.items() if job.finished]
    for job_id in ended[: max(len(ended) - MOST_ENDED, 0)]:
        if job_id not in unkept:
            del jobs[job_id]
            private.pop(job_id, None)


def let_go_of_files(jobs: dict[str, Job], private: dict[str, Any]) -> None:
    """Let the files go of jobs that ended, where they are too many bytes together, save for those that came last."""
    room = MOST_PRIVATE_BYTES
    for job_id in reversed([*private]):
        if job_id in jobs and jobs[job_id].finished:
            room -= len(getattr(private[job_id], "data", b""))
            if room < 0:
                del private[job_id]
