"""Two processes on one table of jobs: each job is carried out by one of them, whatever becomes of the other."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime

import psycopg
import pytest

from rag_core import Cancellation, Library, Upload
from rag_core.domain import Configuration, Job, Question
from rag_core.errors import LeaseLost
from rag_core.settings import StorageSettings
from rag_core.storage.postgres.database import ConnectionLost, Database, lift_limits
from rag_core.storage.postgres.jobs import JobStore, check_leases
from tests.conftest import PROJECT, add_text
from tests.until import until

_LEASE_S, _BEAT_S = 6.0, 0.2
_LONG_S = 60.0


class Runner:
    """Such a process, and what it has said."""

    def __init__(self, url: str, lease_s: float, beat_s: float) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.rag_core.jobs.runner_process", url, str(lease_s), str(beat_s)],
            cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()
        self._said: list[str] = []

    def said(self, what: str) -> bool:
        while not self._lines.empty():
            self._said.append(self._lines.get())
        return what in self._said

    def give(self, jobs: list[tuple[str, float]]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(jobs) + "\n")
        self.process.stdin.flush()

    def _listen(self) -> None:
        for line in self.process.stdout or ():
            self._lines.put(line.strip())


@pytest.fixture
def url(new_database: Callable[[], str]) -> str:
    made = new_database()
    with psycopg.connect(made, autocommit=True) as connection:
        connection.execute("CREATE TABLE outcomes (name text, pid integer)")
    return made


@contextmanager
def runners(url: str, lease_s: float = _LEASE_S, beat_s: float = _BEAT_S) -> Iterator[tuple[Runner, Runner]]:
    both = Runner(url, lease_s, beat_s), Runner(url, lease_s, beat_s)
    try:
        until(lambda: both[0].said("ready") and both[1].said("ready"))
        yield both
    finally:
        for runner in both:
            runner.process.send_signal(signal.SIGCONT)
            runner.process.communicate(timeout=30) if runner.process.poll() is None else None


def outcomes(url: str) -> list[tuple[str, int]]:
    with psycopg.connect(url) as connection:
        return [tuple(row) for row in connection.execute("SELECT name, pid FROM outcomes ORDER BY name, pid")]


def listening(url: str) -> int:
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"
        ).fetchone()
    return found[0] if found else 0


def states(url: str) -> list[tuple[str, str]]:
    with psycopg.connect(url) as connection:
        return [tuple(row) for row in connection.execute("SELECT name, state FROM jobs ORDER BY name")]


def test_each_job_is_carried_out_once_and_the_other_is_woken(url: str) -> None:
    names = [f"{number:02}" for number in range(24)]
    # What wakes the second is not its beat; and neither is lost for being slow.
    with runners(url, lease_s=_LONG_S, beat_s=_LONG_S) as (first, second):
        first.give([("warm", 0.0)])
        second.give([("up", 0.0)])
        until(lambda: len(outcomes(url)) == 2 and listening(url) == 2)
        began = time.monotonic()
        first.give([(name, 0.2) for name in names])
        until(lambda: len(outcomes(url)) == 26)
        assert time.monotonic() - began < 0.2 * len(names)
        until(lambda: {state for _, state in states(url)} == {"done"})
    done = [(name, pid) for name, pid in outcomes(url) if name in names]
    assert [name for name, _ in done] == names
    assert {pid for _, pid in done} == {first.process.pid, second.process.pid}


def test_no_job_is_begun_by_both(url: str) -> None:
    names = [f"{number:02}" for number in range(20)]
    with runners(url) as both:
        for number, name in enumerate(names):
            both[number % 2].give([(name, 0.1)])
            until(lambda name=name: any(runner.said(f"committed {name}") for runner in both))  # type: ignore[misc]
        assert [name for name in names if all(runner.said(f"began {name}") for runner in both)] == []


def test_a_killed_holder_s_job_is_taken_once_its_lease_is_over(url: str) -> None:
    with runners(url) as (first, second):
        first.give([("long", 3.0)])
        until(lambda: first.said("began long") or second.said("began long"))
        holder, other = (first, second) if first.said("began long") else (second, first)
        holder.process.kill()
        killed = time.monotonic()
        until(lambda: other.said("began long"))
        assert time.monotonic() - killed > _LEASE_S / 2
        until(lambda: states(url) == [("long", "done")])
    assert outcomes(url) == [("long", other.process.pid)]


def test_what_a_holder_that_stood_still_would_commit_is_refused(url: str) -> None:
    with runners(url) as (first, second):
        first.give([("long", 3.0)])
        until(lambda: first.said("began long") or second.said("began long"))
        holder, other = (first, second) if first.said("began long") else (second, first)
        holder.process.send_signal(signal.SIGSTOP)
        until(lambda: other.said("committed long"))
        holder.process.send_signal(signal.SIGCONT)
        until(lambda: holder.said("refused long"))
        time.sleep(3 * _BEAT_S)  # it would have written how its job ended by now
        assert states(url) == [("long", "done")]
    assert outcomes(url) == [("long", other.process.pid)]


def test_a_token_is_checked_where_the_outcome_is_committed(url: str) -> None:
    database = Database(url, StorageSettings())
    store, now = JobStore(database, lease_s=0.2), datetime.now(UTC)
    try:
        store.put([Job(key, "work", created_at=now) for key in "12"])
        assert store.free() == ["1", "2"]
        first = store.take(["1"], "one")
        assert store.take(["1", "2"], "two").keys() == {"2"}
        time.sleep(0.3)
        assert store.free() == ["1", "2"]
        (token, attempts) = store.take(["1"], "two")["1"]
        assert token > first["1"][0]
        assert attempts == 2
        with database.transaction() as connection:
            check_leases(connection, {"1": token})
        with pytest.raises(LeaseLost), database.transaction() as connection:
            check_leases(connection, {"1": first["1"][0]})
        assert store.put([Job("1", "work", state="done", created_at=now, token=first["1"][0])]) == ["1"]
        assert store.beat("one", {"1": first["1"][0]}) == ["1"]
        assert store.put([Job("1", "work", state="done", created_at=now, token=token)]) == []
        store.leave("two")
        assert [(job.id, job.attempts) for job in store.some(store.free())] == [("2", 0)]
    finally:
        store.deafen()
        database.close()


def test_what_is_taken_while_another_one_puts_it_stays_taken(url: str) -> None:
    database = Database(url, StorageSettings())
    store, job = JobStore(database, lease_s=60), Job("1", "work", created_at=datetime.now(UTC))
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    try:
        store.put([job])
        with ThreadPoolExecutor() as threads, database.transaction() as connection:
            connection.execute("INSERT INTO job_owners VALUES ('one', clock_timestamp() + interval '1 minute')")
            connection.execute("UPDATE jobs SET owner = 'one', token = nextval('job_tokens')")
            refused = threads.submit(store.put, [job])
            until(lambda: database.row(waiting) == (1,))  # what one transaction sees of others stays as it is
            connection.execute("COMMIT")
            assert refused.result() == ["1"]
        assert [job.owner for job in store.some(["1"])] == ["one"]
    finally:
        store.deafen()
        database.close()


def test_who_stands_still_within_a_transaction_keeps_no_lock(url: str) -> None:
    database = Database(url, StorageSettings(pause_timeout_s=0.3))
    store = JobStore(database, lease_s=60)
    try:
        store.put([Job("1", "work", created_at=datetime.now(UTC))])
        with pytest.raises(ConnectionLost), database.transaction() as connection:
            connection.execute("SELECT FROM jobs FOR UPDATE")
            assert store.take(["1"], "two") == {}
            time.sleep(0.6)
            assert store.take(["1"], "two").keys() == {"1"}
            connection.execute("SELECT FROM jobs")
        with database.transaction() as connection:
            lift_limits(connection)
            time.sleep(0.6)
            assert connection.execute("SELECT count(*) FROM jobs").fetchone() == (1,)
    finally:
        store.deafen()
        database.close()


def test_who_stands_still_within_a_pipeline_keeps_no_lock_for_long(url: str) -> None:
    database = Database(url, StorageSettings(pause_timeout_s=0.1, statement_timeout_s=0.1))
    store = JobStore(database, lease_s=60)
    try:
        store.put([Job("1", "work", created_at=datetime.now(UTC))])
        if not database.row("SELECT name FROM pg_settings WHERE name = 'transaction_timeout'"):
            pytest.skip("this PostgreSQL does not limit transactions")
        with pytest.raises(ConnectionLost), database.transaction() as connection, connection.pipeline() as pipeline:
            connection.execute("SELECT FROM jobs FOR UPDATE").fetchone()  # sent and answered, and no end of it is sent
            assert store.take(["1"], "two") == {}
            until(lambda: store.take(["1"], "two"))
            pipeline.sync()
    finally:
        store.deafen()
        database.close()


def retaken(library: Library, job_id: str, kind: str) -> tuple[Cancellation, Cancellation]:
    """What stands for a job's first holder, which said nothing for too long, and for the one that has it now."""
    store = library.storage.jobs
    store.put([Job(job_id, kind, created_at=datetime.now(UTC))])
    first = store.take([job_id], "one")[job_id][0]
    library.storage.database.execute("DELETE FROM job_owners")
    return Cancellation({job_id: first}), Cancellation({job_id: store.take([job_id], "two")[job_id][0]})


def test_a_document_is_committed_by_the_holder_of_its_job_alone(library: Library) -> None:
    (event,) = library.accept([Upload("note.txt", b"A bridge is made of steel, a boat is made of wood.")])
    assert event.document is not None
    late, holder = retaken(library, "job", "add")
    *_, refused = library.resume({event.document.id: "job"}, cancellation=late)
    assert (refused.stage, type(refused.error)) == ("failed", LeaseLost)
    assert library.document(event.document.id).state == "pending"
    *_, done = library.resume({event.document.id: "job"}, cancellation=holder)
    assert (done.stage, library.document(event.document.id).state) == ("ready", "ready")


def test_results_are_kept_by_the_holder_of_a_run_s_job_alone(library: Library) -> None:
    add_text(library, "bridge.txt", "A bridge is made of steel, a boat is made of wood.")
    evaluation = library.evaluation
    asked = evaluation.create("Bridges", [Question("1", "What is a bridge made of?")])
    (run,) = evaluation.begin(asked.id, [Configuration("As it is")])
    late, holder = retaken(library, run.id, "evaluate")
    assert list(evaluation.steps([run.id], cancellation=late)) == []
    late.cancel()
    assert list(evaluation.steps([run.id], cancellation=late)) == []
    assert evaluation.run(run.id).state == "waiting"
    list(evaluation.steps([run.id], cancellation=holder))
    assert (evaluation.run(run.id).state, evaluation.run(run.id).done) == ("done", 1)
