"""A process that carries out the jobs of a table, which others do as well: `python -m ... URL LEASE_S BEAT_S`.

It says on its output what it begins, commits and is refused, and takes more jobs from its input, as lines of JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time

from rag_core.cancellation import Cancellation
from rag_core.domain import Job
from rag_core.errors import LeaseLost
from rag_core.jobs import Jobs, Plain, Request
from rag_core.settings import StorageSettings
from rag_core.storage.postgres.database import Database
from rag_core.storage.postgres.jobs import JobStore, check_leases


def say(*words: str) -> None:
    """One line on the output."""
    sys.stdout.write(f"{' '.join(words)}\n")
    sys.stdout.flush()


def run(url: str, lease_s: float, beat_s: float) -> None:
    """Carry out jobs until the input ends."""
    database = Database(url, StorageSettings(pause_timeout_s=1, shared=True))

    def work(job: Job, token: Cancellation) -> None:
        say("began", job.name)
        time.sleep(job.params["work_s"])
        try:
            with database.transaction() as connection:
                check_leases(connection, token.leases)
                connection.execute("INSERT INTO outcomes VALUES (%s, %s)", (job.name, os.getpid()))
        except LeaseLost:
            say("refused", job.name)
            raise
        say("committed", job.name)

    jobs = Jobs([Plain("work", "lane", work, resumes=True)], JobStore(database, lease_s), beat_s)
    jobs._kinds["work"].queues = True
    jobs.resume()
    say("ready")
    for line in sys.stdin:
        jobs.submit_all("work", [Request(name, {"work_s": work_s}) for name, work_s in json.loads(line)])
    jobs.close()
    database.close()


if __name__ == "__main__":
    run(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
