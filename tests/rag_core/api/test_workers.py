"""A server that leaves what it accepts to workers, processes of their own, as the page on scale says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from rag_core.cli import main
from tests.rag_core.api.servers import Server, Worker, exports, section
from tests.until import until

COUNT = 60
LEAVING = exports(section("Workers"))


@pytest.fixture
def url(new_database: Callable[[], str]) -> str:
    return new_database()


@pytest.fixture
def server(tmp_path: Path, url: str) -> Iterator[Server]:
    one = Server(tmp_path, "server", url, **LEAVING)
    try:
        one.await_open()
        yield one
    finally:
        one.end()


@pytest.fixture
def workers(tmp_path: Path, url: str, server: Server) -> Iterator[tuple[Worker, Worker]]:
    both = Worker(tmp_path, "first", url), Worker(tmp_path, "second", url)
    try:
        yield both
    finally:
        for one in both:
            one.end()


def at_work(url: str, worker: Worker) -> int:
    """How many jobs a worker has taken and not ended."""
    statement = (
        "SELECT count(*) FROM jobs j JOIN job_owners o ON o.id = j.owner JOIN servers s ON s.id = o.server"
        " WHERE s.name LIKE %s AND j.state IN ('waiting', 'running')"
    )
    with psycopg.connect(url) as connection:
        found = connection.execute(statement, (f"process {worker.process.pid} on%",)).fetchone()
    return found[0] if found else 0


def test_workers_carry_out_what_a_server_leaves_and_one_killed_amid_loses_nothing(
    server: Server, url: str, workers: tuple[Worker, Worker]
) -> None:
    first, second = workers
    for one in workers:
        until(lambda one=one: "takes" in one.said())  # type: ignore[misc]
    texts = {f"note{number}.txt": f"The harbour of number {number} has a pier of stone." for number in range(COUNT)}
    server.ask("POST", "/documents?wait=false", files=[("files", (name, text)) for name, text in texts.items()])
    until(lambda: at_work(url, first))
    first.kill()
    assert "pending" in server.states().values()
    until(lambda: set(server.states().values()) == {"ready"})
    assert len(server.states()) == COUNT
    until(lambda: len(server.finds("harbour")) == 20)
    until(lambda: server.ask("POST", "/verify?deep=true")["findings"] == [])
    with psycopg.connect(url) as connection:
        made = connection.execute("SELECT count(*), count(DISTINCT document_id) FROM chunks").fetchone()
        ended = connection.execute("SELECT name, state FROM jobs WHERE kind = 'add' ORDER BY name").fetchall()
    assert made == (COUNT, COUNT)
    assert ended == [(name, "done") for name in sorted(texts)]

    # It is listed while it lives, and a server tells where nobody takes what it leaves.
    told = server.ask("GET", "/status")
    listed = {one["name"].split()[1]: one["lanes"] for one in told["servers"]}
    assert listed[str(second.process.pid)] == ["adding", "recognising"]
    assert not any("left to workers" in note for note in told["notes"])
    assert second.end() == 0
    assert second.said().count("done ") >= COUNT - 32  # which the other one may have ended before
    assert second.said().splitlines()[-1].startswith("ended")
    until(lambda: any("left to workers" in note for note in server.ask("GET", "/status")["notes"]))


@pytest.mark.slow
def test_a_job_that_a_worker_has_is_stopped_where_it_is_cancelled(
    server: Server, url: str, workers: tuple[Worker, Worker]
) -> None:
    for one in workers:
        until(lambda one=one: "takes" in one.said())  # type: ignore[misc]
    text = "\n\n".join(f"Paragraph {number} tells of the harbour and its pier." * 20 for number in range(20_000))
    server.ask("POST", "/documents?wait=false", files=[("files", ("long.txt", text))])
    until(lambda: any(at_work(url, one) for one in workers))
    (job,) = server.ask("GET", "/jobs")["jobs"]
    server.ask("POST", f"/jobs/{job['id']}/cancel")
    until(lambda: server.ask("GET", f"/jobs/{job['id']}")["state"] == "cancelled")
    until(lambda: server.states() == {})


def test_who_has_a_library_alone_has_no_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["worker", "--data-dir", str(tmp_path / "library")]) == 1
    assert "needs the database and the originals of servers" in capsys.readouterr().err
    assert main(["worker", "--lanes", "reading"]) == 2
    assert "adding, recognising, clustering" in capsys.readouterr().err
    monkeypatch.setenv("LECTERN_JOBS__TAKEN", '["adding"]')
    assert main(["serve", "--data-dir", str(tmp_path / "library")]) == 1
    assert "serves nothing" in capsys.readouterr().err
    assert not (tmp_path / "library").exists()
