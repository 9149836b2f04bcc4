"""Files as jobs: kept at once, read many at a time, told apart where they have one name, resumed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pages.parts import adding
from rag_core.domain import AddEvent, Job
from rag_core.errors import EncryptedDocument, StoreUnavailable, UnexpectedFailure, UnreadableDocument
from rag_core.jobs import Jobs, Request
from tests.pages.conftest import FakeLibrary, a_document, upload
from tests.until import until


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture
def jobs(library: FakeLibrary) -> Jobs:
    return library.jobs


def only(jobs: Jobs) -> Job:
    (job,) = jobs.all()
    return job


def add(jobs: Jobs, *names: str) -> None:
    adding.add(jobs, [upload(name) for name in names])


def test_a_file_goes_through_its_stages(jobs: Jobs, library: FakeLibrary) -> None:
    library.gate.clear()
    library.script["a.pdf"] = [AddEvent("a.pdf", "reading", 3, 8), AddEvent("a.pdf", "ready", document=a_document())]
    add(jobs, "a.pdf")
    assert jobs.busy("add")
    assert only(jobs).state == "waiting"
    library.gate.set()
    until(lambda: not jobs.busy())
    assert (only(jobs).state, only(jobs).progress.stage, jobs.ended("add")) == ("done", "ready", 1)
    jobs.clear("add")
    assert jobs.all() == ()
    assert library.kept_jobs.jobs == {}


def test_what_comes_is_kept_at_once_whatever_is_being_read(jobs: Jobs, library: FakeLibrary) -> None:
    library.gate.clear()
    add(jobs, "a", "b", "a")
    until(lambda: ("accept", ["a", "b", "a"]) in library.calls)
    add(jobs, "c")
    until(lambda: ("accept", ["c"]) in library.calls)
    assert jobs.busy()
    library.gate.set()
    until(lambda: not jobs.busy())
    assert [job.state for job in jobs.all()] == ["done"] * 4
    assert not any(job.document_id == "" for job in library.kept_jobs.jobs.values())


def test_a_short_file_waits_for_no_long_one(jobs: Jobs, library: FakeLibrary) -> None:
    library.gate.clear()
    add(jobs, "long.pdf")
    until(lambda: ("resume", ["long.pdf"]) in library.calls)
    add(jobs, "b")
    until(lambda: ("resume", ["b"]) in library.calls)
    assert jobs.busy()
    library.gate.set()
    until(lambda: not jobs.busy())
    assert [job.state for job in jobs.all()] == ["done"] * 2


def test_what_another_one_is_adding_goes_the_whole_way(jobs: Jobs, library: FakeLibrary) -> None:
    library.elsewhere = {"b"}
    add(jobs, "a", "b")
    until(lambda: not jobs.busy())
    assert sorted(library.calls) == [("accept", ["a", "b"]), ("add", ["b"]), ("resume", ["a"])]


def test_cancelling_one_leaves_the_others(jobs: Jobs, library: FakeLibrary) -> None:
    library.gate.clear()
    add(jobs, "a", "b")
    until(lambda: any(call[0] == "resume" for call in library.calls))
    until(lambda: all(job.document_id for job in jobs.all()))
    jobs.cancel(jobs.all()[1].id)
    assert library.calls[-1] == ("remove", "b")
    library.gate.set()
    until(lambda: not jobs.busy())
    assert [job.state for job in jobs.all()] == ["done", "cancelled"]


def test_what_is_cancelled_on_its_way_to_the_library_does_not_stay_there(
    jobs: Jobs, library: FakeLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(sources: list[Any], **wanted: Any) -> Iterator[AddEvent]:
        library.calls.append(("accept", None))
        for source in sources:
            library.gate.wait(10)
            yield AddEvent(source.key, "waiting", document=library.accepted(source.source.name))

    library.gate.clear()
    monkeypatch.setattr(library, "accept", slowly)
    add(jobs, "a", "b", "c")
    until(lambda: library.calls)
    first, second, _ = jobs.all()
    for job in (first, second):
        jobs.cancel(job.id)
    jobs.dismiss(second.id)
    library.gate.set()
    until(lambda: not jobs.busy())
    until(lambda: sorted(call for call in library.calls if call[0] == "remove") == [("remove", "a"), ("remove", "b")])
    assert ("resume", ["c"]) in library.calls


def test_a_password_is_tried_on_what_the_library_kept(jobs: Jobs, library: FakeLibrary) -> None:
    locked = AddEvent("a", "failed", document=a_document("a", state="failed"), error=EncryptedDocument("locked"))
    library.script["a"] = [locked]
    add(jobs, "a")
    until(lambda: not jobs.busy())
    assert isinstance(only(jobs).error, EncryptedDocument)
    jobs.retry(only(jobs).id, "secret")
    until(lambda: not jobs.busy())
    assert library.calls[-1] == ("retry", ("a", "secret"))
    assert only(jobs).state == "done"
    assert "secret" not in repr(library.kept_jobs.jobs)


def test_a_file_the_library_never_took_is_added_anew(jobs: Jobs, library: FakeLibrary) -> None:
    library.script["a"] = [AddEvent("a", "failed", error=UnreadableDocument("The file is empty."))]
    add(jobs, "a")
    until(lambda: not jobs.busy())
    library.script.clear()
    jobs.retry(only(jobs).id)
    until(lambda: not jobs.busy())
    assert [name for name, _ in library.calls] == ["accept", "accept", "resume"]


def test_an_error_of_the_whole_call_ends_every_file_of_it(jobs: Jobs, library: FakeLibrary) -> None:
    def broken(*args: object, **named: object) -> None:
        raise ZeroDivisionError

    library.resume = broken  # type: ignore[assignment,method-assign]
    add(jobs, "a", "b")
    until(lambda: not jobs.busy())
    assert all(isinstance(job.error, UnexpectedFailure) and job.error.help for job in jobs.all())
    # What is to be reported, and nothing of the traceback.
    assert all(re.fullmatch(r"[\w ]+: ZeroDivisionError, [0-9a-f]{8}\.", str(job.error)) for job in jobs.all())


def test_what_an_earlier_process_left_is_resumed_once(jobs: Jobs, library: FakeLibrary) -> None:
    library.held = [a_document("new"), a_document("late", state="pending"), a_document("early", state="stored")]
    library.script["late"] = [AddEvent("late", "failed", error=UnreadableDocument("It is empty."))]
    library.kept_jobs.put(
        [
            Job("1", "add", "late", document_id="late"),
            Job("2", "add", "here.txt", {"path": "/somewhere/here.txt"}, state="running"),
            Job("3", "add", "lost.txt"),
        ]
    )
    jobs.resume()
    jobs.resume()
    until(lambda: len(jobs.all()) == 4 and not jobs.busy())
    assert {(job.name, job.resumed, job.state) for job in jobs.all()} == {
        ("early", True, "done"), ("late", True, "failed"), ("here.txt", True, "done"), ("lost.txt", True, "failed"),
    }  # fmt: skip
    assert ("accept", ["here.txt"]) in library.calls
    told = adding.resumed(jobs.all())
    assert told == "Lectern ended while 4 documents were being added. Resumed: 2 ready."
    assert adding.resumed([Job("1", "add", resumed=True)]).endswith(
        "1 document was being added. Resumed: 0 ready, 1 to go."
    )
    assert adding.resumed([Job("1", "add")]) == ""


def test_what_an_earlier_process_left_is_looked_for_again(jobs: Jobs, library: FakeLibrary) -> None:
    def broken() -> None:
        raise StoreUnavailable("PostgreSQL is gone.")

    documents = library.documents
    library.documents = broken  # type: ignore[assignment,method-assign]
    jobs.resume()
    until(lambda: not jobs._resumed)
    library.documents = documents  # type: ignore[method-assign]
    library.held = [a_document("early", state="pending")]
    jobs.resume()
    until(lambda: jobs.ended("add") == 1)


def test_a_path_is_kept_and_read_from_its_place(jobs: Jobs, library: FakeLibrary) -> None:
    jobs.submit_all("add", [Request("b.txt", {"path": str(Path("/x/b.txt"))})])
    until(lambda: not jobs.busy())
    assert library.calls == [("accept", ["b.txt"]), ("resume", ["b.txt"])]
