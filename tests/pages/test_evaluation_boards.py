"""The boards of runs and of drafted questions; what is applied and taken back."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from pages.parts import resources
from pages.parts.evaluation import (
    applying,
    chunking,
    drafting,
    running,
)
from pages.parts.evaluation.candidates import CandidateBoard
from rag_core.domain import Configuration, Job, Progress
from rag_core.errors import StoreUnavailable
from tests.made_runs import AS_IT_IS, MORE, a_question, a_run
from tests.memory import remembered
from tests.pages.conftest import FakeLibrary
from tests.pages.fake_evaluation import FIELDS
from tests.until import until

BY_KEY = {field.key: field for field in FIELDS}


def begun(library: FakeLibrary, *wanted: Configuration, size: int = 3) -> list[str]:
    kept = library.evaluation.create("Bridges", [a_question(n) for n in range(size)])
    return [run.id for run in library.evaluation.begin(kept.id, wanted or [AS_IT_IS])]


def go(library: FakeLibrary, *ids: str) -> None:
    running.go(library, [library.evaluation.run(run_id) for run_id in ids])  # type: ignore[arg-type]


def rest(library: FakeLibrary) -> None:
    until(lambda: not library.jobs.busy())


def test_runs_go_on_by_themselves(library: FakeLibrary) -> None:
    library.evaluation.gate.clear()
    ids = begun(library, AS_IT_IS, MORE)
    go(library, *ids)
    assert set(running.queued(library)) == set(ids)  # type: ignore[arg-type]
    go(library, ids[0])
    library.evaluation.gate.set()
    rest(library)
    assert [run.state for run in library.evaluation.runs()] == ["done", "done"]
    assert [call for call in library.evaluation.calls if call[0] == "carry_out"] == [("carry_out", ids)]
    go(library)
    assert not library.jobs.busy()


def test_a_run_that_waits_or_runs_is_stopped(library: FakeLibrary) -> None:
    library.evaluation.gate.clear()
    first, second = begun(library, AS_IT_IS, MORE)
    go(library, first)
    go(library, second)
    library.jobs.cancel(second)
    assert library.jobs.get(second).state == "cancelled"
    library.evaluation.gate.set()
    rest(library)
    assert library.evaluation.run(first).state == "done"
    go(library, second)
    rest(library)
    assert library.evaluation.run(second).state == "done"


def test_what_a_dead_process_left_goes_on_once(library: FakeLibrary) -> None:
    (left,) = begun(library)
    library.jobs.resume()
    library.jobs.resume()
    until(lambda: library.evaluation.run(left).state == "done" and not library.jobs.busy())
    assert library.jobs.get(left).resumed
    assert [call for call in library.evaluation.calls if call[0] == "carry_out"] == [("carry_out", [left])]
    assert "Resumed and ended" in running.resumed_words(library.evaluation.runs())
    assert "2 runs were under way. Resumed: 1 to go." in running.resumed_words([a_run(), a_run(state="running")])
    assert running.resumed_words([]) == ""


def test_a_run_that_fails_says_why(library: FakeLibrary, caplog: pytest.LogCaptureFixture) -> None:
    for error, said in ((StoreUnavailable("PostgreSQL is gone."), "PostgreSQL is gone."), (OSError(), "Something")):
        library.evaluation.fails = error
        (run_id,) = begun(library)
        go(library, run_id)
        rest(library)
        assert said in str(library.jobs.get(run_id).error)
    assert "A failure that nobody foresaw in the stage job" in caplog.text


def test_drafts_wait_to_be_looked_at(library: FakeLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    board = CandidateBoard(lambda: library)  # type: ignore[arg-type,return-value]
    monkeypatch.setattr(resources, "candidates", lambda: board)
    kept = library.evaluation.create("Mine", [a_question(1, text="Drafted before?")])
    library.evaluation.drafts = [a_question(n, id="same", origin="drafted") for n in range(3)]
    board.draft(kept.id, 3, None, None)
    until(lambda: not board.busy)
    first, second, third = board.waiting(kept.id)
    assert len({first.id, second.id, third.id}) == 3
    drafting.accept(library, kept.id, (first,))  # type: ignore[arg-type]
    board.settle(second.id)
    assert board.waiting(kept.id) == (third,)
    assert [item.text for item in library.evaluation.questions(kept.id)] == ["Drafted before?", first.text]
    library.evaluation.past = [a_question(1, text="drafted BEFORE?"), a_question(2, text="New?", origin="asked")]
    drafting.take_past(library, kept.id)  # type: ignore[arg-type]
    assert [item.text for item in board.waiting(kept.id)] == [third.text, "New?"]
    board.clear(kept.id)
    assert board.waiting(kept.id) == ()
    library.jobs.clear("draft")
    board.settle(third.id)
    assert remembered(board) == 0


def test_drafting_is_stopped(library: FakeLibrary) -> None:
    board = CandidateBoard(lambda: library)  # type: ignore[arg-type,return-value]
    kept = library.evaluation.create("Mine")
    library.evaluation.drafts = [a_question(n) for n in range(3)]
    library.evaluation.gate.clear()
    board.draft(kept.id, 3, None, None)
    board.draft("another", 3, None, None)
    until(lambda: (job := board.job(kept.id)) and job.progress.total)
    library.jobs.cancel(library.jobs.last("draft").id)
    library.evaluation.gate.set()
    until(lambda: not board.busy)
    assert board.waiting(kept.id) == ()
    assert board.job("another") is None


def test_a_configuration_is_applied_and_taken_back(library: FakeLibrary) -> None:
    applying.apply(library, MORE, BY_KEY)  # type: ignore[arg-type]
    kept = json.loads(library.preferences[applying.BEFORE])
    assert (kept["before"], kept["now"]) == ({"retrieval.k": 6}, {"retrieval.k": 10})
    applying._take_back(library, kept["before"])  # type: ignore[arg-type]
    assert [call[1] for call in library.evaluation.calls] == [{"retrieval.k": 10}, {"retrieval.k": 6}]
    assert applying.BEFORE not in library.preferences


def test_other_chunks_are_cut_in_the_background(library: FakeLibrary) -> None:
    library.old_chunks = 1
    applying.apply(library, Configuration("Small", {"chunking.size": 300}), BY_KEY)  # type: ignore[arg-type]
    until(lambda: not resources.library().jobs.busy("rechunk"))
    assert library.old_chunks == 0
    job = Job("1", "rechunk", state="running")
    assert chunking.measure(job) == (0.0, "Re-chunking documents")
    job = replace(job, progress=Progress("chunking", 1, 4), mark=(time.monotonic(), 0))
    assert chunking.measure(job) == (0.25, "Re-chunking 1 of 4 documents")
    assert chunking.measure(replace(job, stopping=True)) == (0.25, "Stopping")
