"""Two runners of one table of jobs, one of which leaves a lane to the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from rag_core.cancellation import Cancellation
from rag_core.domain import Job, Progress
from rag_core.jobs import Jobs, Plain
from rag_core.jobs.lanes import carries
from rag_core.settings import JobSettings, StorageSettings
from rag_core.storage.postgres.database import Database
from rag_core.storage.postgres.jobs import JobStore
from tests.until import until


class Sides:
    """The one that leaves the lane, and those that take it; `gate` lets the work go on."""

    def __init__(self, url: str) -> None:
        self.database = Database(url, StorageSettings(shared=True))
        self.gate = threading.Event()
        self._stores: list[JobStore] = []
        self.leaving = self.runner(lambda lane: False)
        self.taking = self.runner(lambda lane: True)

    def runner(self, carries: Callable[[str], bool]) -> Jobs:
        def work(job: Job, token: Cancellation) -> Iterator[Progress]:
            yield Progress("working")
            while not (token.is_set() or self.gate.wait(0.05)):
                pass
            yield Progress("cancelled" if token.is_set() else "done")

        self._stores.append(JobStore(self.database))
        made = Jobs([Plain("work", "lane", work, resumes=True)], self._stores[-1], 0.2, carries)
        made.resume()
        return made

    def close(self) -> None:
        for runner in (self.leaving, self.taking):
            runner.close()
        for store in self._stores:
            store.deafen()
        self.database.close()


@pytest.fixture
def sides(new_database: Callable[[], str]) -> Iterator[Sides]:
    made = Sides(new_database())
    yield made
    made.close()


def test_what_one_leaves_another_does_and_the_first_follows_and_stops_it(sides: Sides) -> None:
    job = sides.leaving.submit("work", "left")
    until(lambda: sides.leaving.get(job.id).progress.stage == "working")
    assert sides.taking.get(job.id).owner == sides.leaving.get(job.id).owner != ""
    sides.leaving.cancel(job.id)
    until(lambda: sides.leaving.get(job.id).state == sides.taking.get(job.id).state == "cancelled")
    # What is asked for again is not stopped by that.
    sides.gate.set()
    sides.leaving.retry(job.id)
    until(lambda: sides.leaving.get(job.id).state == "done")


def test_who_drains_ends_what_is_under_way_and_leaves_the_rest(sides: Sides) -> None:
    first = sides.leaving.submit("work", "first")
    until(lambda: sides.leaving.get(first.id).progress.stage == "working")
    assert not sides.taking.drain(0.1)
    sides.gate.set()
    assert sides.taking.drain(30)
    until(lambda: sides.leaving.get(first.id).state == "done")
    second = sides.leaving.submit("work", "second")
    version = sides.leaving.wait()
    sides.leaving.wait(version, 1.0)
    assert sides.leaving.get(second.id).state == "waiting"
    other = sides.runner(lambda lane: True)
    until(lambda: sides.leaving.get(second.id).state == "done")
    other.close()


def test_which_lanes_are_carried_out_where() -> None:
    server, worker = JobSettings(left=("adding",)), JobSettings(taken=("adding", "recognising"))
    lanes = ("accepting", "adding", "adding long", "recognising")
    assert [carries(JobSettings(), lane) for lane in lanes] == [True] * 4
    assert [carries(server, lane) for lane in lanes] == [True, False, False, True]
    assert [carries(worker, lane) for lane in lanes] == [False, True, True, True]
