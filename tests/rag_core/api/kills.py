"""Servers and workers of one library killed at random while documents come in, and what became of those."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg

from tests.rag_core.api.servers import API, Process, Server, Worker
from tests.until import until

SETTLED_S = 300.0
_BATCH = 5
_LONGEST_PAUSE_S = 8.0


@dataclass(slots=True)
class Outcome:
    """What is true in the end of documents that were accepted: none may be lost or doubled, nor any store differ."""

    kills: int = 0
    accepted: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    disagreeing: list[str] = field(default_factory=list)
    settled_s: float = 0.0


class Cluster:
    """Two servers and three workers; documents are given to whichever server answers."""

    def __init__(self, folder: Path, url: str, chance: random.Random) -> None:
        self.url, self._chance = url, chance
        self.servers = [Server(folder, "server0", url)]
        self.processes: list[Process] = [*self.servers]
        self.accepted: set[str] = set()
        self._given = 0

    def grow(self, folder: Path) -> None:
        """Have the others join, once the first is open."""
        self.servers[0].await_open()
        self.servers.append(Server(folder, "server1", self.url))
        self.servers[1].await_open()
        self.processes = [*self.servers, *(Worker(folder, f"worker{number}", self.url) for number in range(3))]

    def give(self) -> None:
        """Upload some documents to a server that answers, if any does; what was not answered may be there or not."""
        names = [f"note{self._given + number}.txt" for number in range(_BATCH)]
        self._given += _BATCH
        files = [("files", (name, f"The harbour called {name} has a pier of stone.")) for name in names]
        for server in self._chance.sample(self.servers, len(self.servers)):
            with contextlib.suppress(httpx.HTTPError):
                answer = server.calls.post(f"{API}/documents?wait=false", files=files, timeout=20)
                if answer.is_success:
                    self.accepted.update(names)
                    return

    def kill_one(self) -> None:
        """Kill any of them with SIGKILL, and start it again at once."""
        one = self._chance.choice(self.processes)
        one.kill()
        one.start()

    def pass_time(self) -> None:
        """Until the next kill."""
        time.sleep(self._chance.uniform(0, _LONGEST_PAUSE_S))

    def settle(self) -> None:
        """Wait until every server answers and nothing is under way any more."""
        for server in self.servers:
            until(lambda server=server: server.calls.get(f"{API}/health").status_code == 200, SETTLED_S)  # type: ignore[misc]
        for server in self.servers:
            until(lambda server=server: set(server.states().values()) <= {"ready", "failed"}, SETTLED_S)  # type: ignore[misc]
            until(lambda server=server: self._behind(server) == 0, SETTLED_S)  # type: ignore[misc]

    def outcome(self, kills: int) -> Outcome:
        """Compare what was accepted with what is there, and every store with PostgreSQL."""
        with psycopg.connect(self.url) as connection:
            rows = connection.execute(
                "SELECT s.name, d.state, (SELECT count(*) FROM chunks WHERE document_id = d.id)"
                " FROM sources s JOIN documents d ON d.id = s.document_id"
            ).fetchall()
        ready = [name for name, state, chunks in rows if state == "ready" and chunks >= 1]
        disagreeing = [
            finding["message"] for server in self.servers
            for finding in server.ask("POST", "/verify?deep=true")["findings"]
        ]  # fmt: skip
        doubled = {name for name, _, chunks in rows if chunks > 1 or ready.count(name) > 1}
        if len({tuple(sorted(server.states().items())) for server in self.servers}) > 1:
            disagreeing.append("The servers list other documents.")
        lost = self.accepted.difference(ready)
        return Outcome(kills, len(self.accepted), sorted(lost), sorted(doubled), disagreeing)

    def end(self) -> None:
        """End them all."""
        for one in reversed(self.processes):
            one.end()

    def _behind(self, server: Server) -> int:
        return int(next(one["behind"] for one in server.ask("GET", "/status")["servers"] if one["is_this"]))


@contextlib.contextmanager
def cluster(folder: Path, url: str, seed: int) -> Iterator[Cluster]:
    """A library of several processes in a folder and an empty database."""
    made = Cluster(folder, url, random.Random(seed))
    try:
        made.grow(folder)
        yield made
    finally:
        made.end()


def kill_at_random(
    folder: Path, url: str, kills: int, seed: int, tell: Callable[[int], None] = lambda kill: None
) -> Outcome:
    """Give documents, kill, go on, so many times. The same seed draws the same processes and pauses."""
    with cluster(folder, url, seed) as processes:
        for number in range(kills):
            processes.give()
            processes.pass_time()
            processes.kill_one()
            tell(number + 1)
        processes.give()
        began = time.monotonic()
        processes.settle()
        settled_s = time.monotonic() - began
        outcome = processes.outcome(kills)
        outcome.settled_s = round(settled_s, 1)
        return outcome
