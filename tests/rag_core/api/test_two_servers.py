"""Two servers, processes of their own, as the page on scale says: what one takes the other has."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.rag_core.api.servers import API, FOUND_S, Server, exports, section
from tests.until import until


@pytest.fixture(params=["a folder", pytest.param("a bucket", marks=pytest.mark.slow)])
def servers(
    request: pytest.FixtureRequest, tmp_path: Path, new_database: Callable[[], str]
) -> Iterator[tuple[Server, Server]]:
    """Two, the second of which was started while the first one was at work; both have the originals in one place."""
    url = new_database()
    environment = {}
    if request.param == "a bucket":
        environment = {"LECTERN_STORAGE__ORIGINALS": request.getfixturevalue("bucket")}
        assert exports(section("Originals in a bucket")).keys() <= {*environment, *os.environ}
    both = []
    try:
        for name in ("first", "second"):
            both.append(Server(tmp_path, name, url, **environment))
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
    assert [one.is_healthy() for one in servers] == [False, True]
    until(lambda: set(second.states().values()) == {"ready"})
    assert len(second.states()) == len(texts) + 1
    assert second.ask("POST", "/verify?deep=true")["findings"] == []

    # It comes again, and is as the other one.
    first.start()
    first.await_open()
    assert first.is_healthy()
    until(lambda: sorted(first.finds("harbour")) == sorted(second.finds("harbour")))
    assert first.states() == second.states()
    assert first.ask("POST", "/verify?deep=true")["findings"] == []
