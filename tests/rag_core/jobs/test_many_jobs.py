"""Many jobs at a time: none costs a look at all the others, and whoever listens is told of what changed alone."""

from __future__ import annotations

import threading

from rag_core.domain import Job
from rag_core.jobs import Jobs, Plain, Request
from rag_core.jobs.lanes import Lanes
from rag_core.jobs.versions import Versions
from tests.pages.conftest import KeptJobs
from tests.until import until


class Counted(Plain):
    """Work that waits for `gate`, and counts how often its lane is asked for."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.looks = 0
        super().__init__("counted", "lane", lambda job, token: self.gate.wait(60))

    def lane_of(self, job: Job) -> str:
        self.looks += 1
        return super().lane_of(job)


def test_a_job_that_is_accepted_costs_no_look_at_the_others() -> None:
    kind = Counted()
    jobs = Jobs([kind], KeptJobs())
    jobs.submit_all("counted", [Request(f"job {number}", {"number": number}) for number in range(400)])
    assert kind.looks <= 2 * 400
    kind.gate.set()
    until(lambda: not jobs.busy())
    assert kind.looks <= 3 * 400
    assert jobs.ended("counted") == 400
    jobs.close()


def test_whoever_listens_is_told_of_what_changed() -> None:
    kind = Counted()
    jobs = Jobs([kind], KeptJobs())
    first, second = jobs.submit_all("counted", [Request("one", {"number": 1}), Request("two", {"number": 2})])
    until(lambda: jobs.get(first.id).state == "running")
    version, changed = jobs.since(-1)
    assert {job.id for job in changed} == {first.id, second.id}
    assert jobs.since(version) == (version, [])
    jobs.cancel(second.id)
    assert [job.id for job in jobs.since(version)[1]] == [second.id]
    kind.gate.set()
    until(lambda: not jobs.busy())
    assert [job.id for job in jobs.since(version)[1]] == [second.id, first.id]
    jobs.close()


def test_lanes_keep_their_order() -> None:
    lanes = Lanes()
    for job_id, lane in (("a", "one"), ("b", "one"), ("c", "two"), ("a", "one")):
        lanes.put(job_id, lane)
    assert (list(lanes), lanes.of("one"), lanes.of("none")) == (["one", "two"], ["b", "a"], [])
    lanes.take("b", "a", "a")
    assert list(lanes) == ["two"]


def test_versions_forget_what_is_not_known_any_more() -> None:
    versions = Versions()
    for number in range(1_200):
        versions.touch(str(number))
    versions.forget({"1199"}, 1)
    assert versions.since(-1) == ["1199"]
    assert versions.now == 1_200
