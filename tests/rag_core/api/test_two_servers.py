"""Two servers, processes of their own, as the page on scale says: what one takes the other has."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import PROJECT

API = "/api/v1"
PAGE = PROJECT / "docs" / "scale.md"
FOUND_S = 5.0
LONGEST_S = 180.0


class Server:
    """`lectern serve` in a data directory of its own."""

    def __init__(self, folder: Path, name: str, url: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        told = dict(re.findall(r"^export (\w+)=(.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
        own = {
            "DATABASE_URL": url, "LECTERN_STORAGE__ORIGINALS": str(folder / "originals"),
            "LECTERN_DATA_DIR": str(folder / name),
        }  # fmt: skip
        assert own.keys() <= told.keys()
        self._environment = os.environ | {"PYTHONPATH": str(PROJECT)} | told | own
        self._folder, self._log = folder, folder / f"{name}.log"
        self.calls = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=LONGEST_S)
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "rag_core", "serve", "--port", str(self.port)],
                cwd=self._folder, stdout=output, stderr=subprocess.STDOUT, env=self._environment,
            )  # fmt: skip

    def await_open(self) -> None:
        def is_open() -> bool:
            assert self.process.poll() is None, self._log.read_text()
            return self.calls.get(f"{API}/health").status_code == 200

        until(is_open)

    def ask(self, method: str, place: str, **how: Any) -> Any:
        answer = self.calls.request(method, f"{API}{place}", **how)
        assert answer.is_success, (answer.text, self._log.read_text())
        return answer.json() if answer.content else None

    def finds(self, words: str) -> list[str]:
        """The ids of the documents that are found, of which the texts hold the words."""
        hits = self.ask("POST", "/search", json={"question": words, "k": 20})["hits"]
        return [hit["document"]["id"] for hit in hits if words in hit["text"]]

    def states(self) -> dict[str, str]:
        return {one["id"]: one["state"] for one in self.ask("GET", "/documents?limit=1000")["documents"]}

    def add(self, name: str, text: str) -> Any:
        return self.ask("POST", f"/documents?name={name}", content=text.encode())

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)
        self.calls.close()


def until(condition: Callable[[], object], longest_s: float = LONGEST_S) -> None:
    deadline = time.monotonic() + longest_s
    while True:
        try:
            if condition():
                return
        except httpx.HTTPError:
            pass
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.05)


@pytest.fixture
def servers(tmp_path: Path, new_database: Callable[[], str]) -> Iterator[tuple[Server, Server]]:
    """Two, the second of which was started while the first one was at work."""
    url = new_database()
    both = []
    try:
        for name in ("first", "second"):
            both.append(Server(tmp_path, name, url))
            both[-1].await_open()
        yield both[0], both[1]
    finally:
        for one in both:
            one.end()


def test_two_servers_are_one_library(servers: tuple[Server, Server]) -> None:
    first, second = servers
    # What one takes the other finds, shows and lets go of.
    first.add("warm.txt", "A lighthouse warns ships of the rocks.")
    second.finds("lighthouse")  # its model is loaded from now on
    (added,) = first.add("ferry.txt", "The ferry to Tolsund leaves at noon.")["results"]
    document_id = added["document"]
    until(lambda: second.finds("Tolsund") == [document_id], FOUND_S)
    assert second.calls.get(f"{API}/documents/{document_id}/original").content.startswith(b"The ferry")
    second.ask("DELETE", f"/documents/{document_id}")
    until(lambda: not first.finds("Tolsund"), FOUND_S)

    # A key is refused by both once either of them has revoked it.
    made = first.ask("POST", "/keys", json={"name": "a program", "role": "read"})
    keyed = {"Authorization": f"Bearer {made['text']}"}
    until(lambda: all(one.calls.get(f"{API}/status", headers=keyed).is_success for one in servers), FOUND_S)
    second.ask("DELETE", f"/keys/{made['key']['id']}")
    until(lambda: all(one.calls.get(f"{API}/status", headers=keyed).status_code == 401 for one in servers), FOUND_S)

    # One is killed amid adding: the other one brings in what was accepted.
    texts = {f"note{number}.txt": f"The harbour of number {number} has a pier of stone." for number in range(100)}
    first.ask("POST", "/documents?wait=false", files=[("files", (name, text)) for name, text in texts.items()])
    first.process.kill()
    first.process.wait()
    assert "pending" in second.states().values()
    until(lambda: set(second.states().values()) == {"ready"})
    assert len(second.states()) == len(texts) + 1
    assert second.ask("POST", "/verify?deep=true")["findings"] == []

    # It comes again, and is as the other one.
    first.start()
    first.await_open()
    until(lambda: sorted(first.finds("harbour")) == sorted(second.finds("harbour")))
    assert first.states() == second.states()
    assert first.ask("POST", "/verify?deep=true")["findings"] == []
