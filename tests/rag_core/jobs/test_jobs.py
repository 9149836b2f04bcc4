"""Jobs: one at a time in a lane, stopped, tried again, kept, and told of."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rag_core import Library, Settings, Upload
from rag_core.cancellation import Cancellation
from rag_core.domain import Job, Progress, Report
from rag_core.errors import Cancelled, LecternError, StoreUnavailable
from rag_core.jobs import Jobs, Plain, Request, remembering
from rag_core.storage.postgres import jobs as kept_jobs
from tests.pages.conftest import KeptJobs
from tests.until import until


class Work:
    """Work that waits at a gate before each step."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.steps: list[Progress | Exception] = [Progress("embedding", 256, 1000), Progress("done", 1000, 1000)]
        self.begun: list[str] = []

    def __call__(self, job: Job, token: Cancellation) -> Iterator[Progress]:
        self.begun.append(job.kind)
        for step in self.steps:
            if isinstance(step, Exception):
                raise step
            yield step
            self.gate.wait(10)
            if token.is_set():
                yield Progress("cancelled", step.done, step.total)
                return


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def kept() -> KeptJobs:
    return KeptJobs()


@pytest.fixture
def jobs(work: Work, kept: KeptJobs) -> Jobs:
    return Jobs([Plain("long", "lane", work, resumes=True), Plain("short", "lane", work)], kept)


def test_a_lane_takes_one_job_at_a_time(jobs: Jobs, work: Work) -> None:
    first = jobs.submit("long", "The first")
    assert jobs.submit("short").id == first.id
    until(lambda: jobs.get(first.id).progress.done == 256)
    version = jobs.wait()
    work.gate.set()
    assert jobs.wait(version, 10) > version
    until(lambda: not jobs.busy())
    ended = jobs.get(first.id)
    assert (ended.state, ended.result, ended.name) == ("done", Progress("done", 1000, 1000), "The first")
    assert ended.took_s >= 0
    assert work.begun == ["long"]
    with pytest.raises(KeyError):
        jobs.submit("unknown")


def test_a_job_is_stopped_at_its_next_step(jobs: Jobs, work: Work) -> None:
    job = jobs.submit("long")
    until(lambda: jobs.get(job.id).progress.done == 256)
    jobs.cancel(job.id)
    assert jobs.get(job.id).stopping
    work.gate.set()
    until(lambda: not jobs.busy())
    stopped = jobs.get(job.id)
    assert (stopped.state, stopped.result) == ("cancelled", Progress("cancelled", 256, 1000))


@pytest.mark.parametrize(
    ("error", "state", "said"),
    [
        (StoreUnavailable("PostgreSQL is gone."), "failed", "PostgreSQL is gone."),
        (OSError("secret"), "failed", "Something inside"),
        (Cancelled("Stopped by hand."), "cancelled", "Stopped by hand."),
    ],
    ids=["ours", "foreign", "cancelled"],
)
def test_work_that_fails_says_so_and_is_tried_again(
    jobs: Jobs, work: Work, error: Exception, state: str, said: str
) -> None:
    work.gate.set()
    steps, work.steps = work.steps, [error]
    job = jobs.submit("long")
    until(lambda: not jobs.busy())
    assert jobs.get(job.id).state == state
    assert said in str(jobs.get(job.id).error)
    work.steps = steps
    jobs.retry(job.id)
    until(lambda: not jobs.busy())
    assert (jobs.get(job.id).state, jobs.get(job.id).error) == ("done", None)


def test_a_store_that_fails_holds_up_nothing(jobs: Jobs, work: Work, kept: KeptJobs, caplog: Any) -> None:
    def broken(jobs: object) -> None:
        raise StoreUnavailable("PostgreSQL is gone.")

    job = jobs.submit("long")
    until(lambda: jobs.get(job.id).progress.done == 256)
    put, kept.put = kept.put, broken  # type: ignore[method-assign]
    work.gate.set()
    until(lambda: not jobs.busy())
    assert not kept.jobs[job.id].finished
    kept.put = put  # type: ignore[method-assign]
    assert [(item.id, item.state) for item in jobs.past()] == [(job.id, "done")]
    assert "not kept at present" in caplog.text


def test_a_job_that_no_store_has_is_begun_once_one_has(work: Work, kept: KeptJobs) -> None:
    def broken(jobs: object) -> None:
        raise StoreUnavailable("PostgreSQL is gone.")

    jobs = Jobs([Plain("long", "lane", work)], kept, beat_s=0.05)
    work.gate.set()
    put, kept.put = kept.put, broken  # type: ignore[assignment,method-assign]
    job = jobs.submit("long")
    time.sleep(0.3)
    assert (jobs.get(job.id).state, work.begun) == ("waiting", [])
    kept.put = put  # type: ignore[method-assign]
    until(lambda: jobs.get(job.id).state == "done")
    jobs.close()


def test_what_ends_lectern_again_and_again_is_left_to_the_user(work: Work, kept: KeptJobs) -> None:
    kept.put([Job("1", "long", state="running", attempts=5), Job("2", "long", state="running", attempts=4)])
    work.gate.set()
    later = Jobs([Plain("long", "lane", work, resumes=True)], kept)
    later.resume()
    until(lambda: later.ended() == 2)
    assert {job.id: job.state for job in later.all()} == {"1": "failed", "2": "done"}
    assert "begun 5 times" in str(later.get("1").error)
    later.retry("1")
    until(lambda: later.get("1").state == "done")


def test_what_can_go_on_does_at_the_next_start(work: Work, kept: KeptJobs) -> None:
    kept.put([Job("1", "long", state="running"), Job("2", "short", state="running"), Job("3", "gone")])
    work.gate.set()
    later = Jobs([Plain("long", "a", work, resumes=True), Plain("short", "b", work)], kept)
    later.resume()
    until(lambda: later.ended() == 2)
    assert [(job.kind, job.state, job.resumed) for job in later.all()] == [
        ("long", "done", True), ("short", "failed", True),
    ]  # fmt: skip
    assert "Lectern ended" in str(later.get("2").error)


def test_a_job_under_way_when_the_library_closes_is_as_a_dead_process_leaves_it(
    jobs: Jobs, work: Work, kept: KeptJobs
) -> None:
    job = jobs.submit("long")
    until(lambda: jobs.get(job.id).progress.done == 256)
    threading.Timer(0.1, work.gate.set).start()
    jobs.close()
    assert kept.jobs[job.id].state == "running"
    with pytest.raises(LecternError):
        jobs.submit("long")


def test_jobs_are_kept_in_the_library(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "library", _env_file=None)
    note = tmp_path / "bridges.txt"
    note.write_text("Bridges are made of steel. Some are made of stone.")
    with Library.open(settings) as library:
        library.jobs.submit_all(
            "add",
            [Request("bridges.txt", {"path": str(note)}), Request("gone.txt", {"path": str(tmp_path / "gone.txt")})],
        )
        until(lambda: not library.jobs.busy())
        assert [document.title for document in library.documents()] == ["bridges"]
        check = library.jobs.submit("verify", deep=True)
        until(lambda: not library.jobs.busy())
        library.jobs._store.put([Job("left", "add", "bridges.txt", {"path": str(note)}, created_at=check.created_at)])
    with Library.open(settings) as library:
        past = {job.kind + job.name: job for job in library.jobs.past()}
        assert (past["addbridges.txt"].state, past["addgone.txt"].state) in {("done", "failed"), ("waiting", "failed")}
        assert "cannot be read" in str(past["addgone.txt"].error)
        report = past["verify"].result
        assert isinstance(report, Report)
        assert (report.documents, report.findings, report.deep) == (1, (), True)
        library.jobs.resume()
        until(lambda: library.jobs.all("add") and not library.jobs.busy())
        assert library.jobs.get("left").progress.note == "already in the library"


def test_a_document_that_ends_lectern_again_and_again_has_failed_until_it_is_tried_again(library: Library) -> None:
    (event,) = library.accept([Upload("note.txt", b"A bridge is made of steel, a boat is made of wood.")])
    assert event.document is not None
    key, now = event.document.id, datetime.now(UTC)
    library.storage.jobs.put(
        [Job("left", "add", "note.txt", state="running", document_id=key, created_at=now, attempts=5)]
    )
    library.jobs.resume()
    until(lambda: library.jobs.ended("add") == 1)
    failed = library.document(key)
    assert (failed.state, library.jobs.get("left").state) == ("failed", "failed")
    assert "begun 5 times" in (failed.error or "")
    library.jobs.retry("left")
    until(lambda: library.document(key).state == "ready")


def test_jobs_that_ended_are_remembered_up_to_a_number_and_found_in_the_store(
    work: Work, jobs: Jobs, kept: KeptJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembering, "MOST_ENDED", 3)
    work.gate.set()
    made = []
    for number in range(6):
        made.append(jobs.submit("long", str(number)))
        until(lambda: not jobs.busy())
    until(lambda: [job.name for job in jobs.all()] == ["3", "4", "5"])
    assert jobs.get(made[0].id).state == "done"
    jobs.dismiss(made[0].id)
    with pytest.raises(KeyError):
        jobs.get(made[0].id)


def test_a_store_that_fails_loses_no_job_that_ended(
    work: Work, kept: KeptJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(jobs: object) -> None:
        raise StoreUnavailable("PostgreSQL does not answer.")

    monkeypatch.setattr(remembering, "MOST_ENDED", 1)
    jobs = Jobs([Plain(name, name, work) for name in "012"], kept)
    for name in "012":
        jobs.submit(name, name)
    until(lambda: all(job.progress.done == 256 for job in jobs.all()))
    with monkeypatch.context() as patch:
        patch.setattr(kept, "put", broken)
        work.gate.set()
        until(lambda: not jobs.busy())
        assert len(jobs.all()) == 3
    jobs.past()
    assert {job.name: job.state for job in kept.jobs.values()} == dict.fromkeys("012", "done")
    assert [job.name for job in jobs.all()] == ["2"]


def test_files_that_came_to_nothing_take_no_more_than_so_much_memory(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembering, "MOST_PRIVATE_BYTES", 25)
    files = [Upload(f"{number}.exe", b"MZ" + bytes([number]) * 8) for number in range(3)]
    submitted = []
    for file in files:
        submitted += library.jobs.submit_all("add", [Request(file.name, private=file)])
        until(lambda: not library.jobs.busy())
    assert [library.jobs.get(job.id).state for job in submitted] == ["failed"] * 3
    assert [library.jobs.can_retry(job.id) for job in submitted] == [False, True, True]


def test_the_library_forgets_jobs_of_long_ago_and_those_that_are_too_many(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = library.storage.database
    work = [library.jobs.submit("verify")]
    until(lambda: not library.jobs.busy())
    library.jobs.past()
    database.execute("UPDATE jobs SET ended_at = now() - interval '31 days'")
    kept_jobs.JobStore(database).put([Job("new", "verify", created_at=work[0].created_at)])
    assert [row[0] for row in database.rows("SELECT id FROM jobs")] == ["new"]
    monkeypatch.setattr(kept_jobs, "_MOST_KEPT", 2)
    for number in range(4):
        now = datetime.now(UTC)
        ended = Job(str(number), "verify", state="done", created_at=now, ended_at=now)
        kept_jobs.JobStore(database).put([ended])
    assert [row[0] for row in database.rows("SELECT id FROM jobs ORDER BY created_at")] == ["new", "1", "2", "3"]
