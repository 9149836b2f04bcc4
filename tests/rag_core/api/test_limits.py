"""What holds a door: work alone. Slow bodies, streams that wait, one greedy key and half a head shut out nobody."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import httpx
import pytest
import uvicorn
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from rag_core import Library
from rag_core.api import exchange, heads, limits
from rag_core.api.doors import Doors
from rag_core.api.guard import Guard
from rag_core.errors import StoreUnavailable
from rag_core.settings import DoorSettings
from rag_core.storage.postgres.access import AccessStore
from tests.rag_core.api.conftest import Served, serve

SEARCH = "/api/v1/search?q=leave"
EVENTS = "/api/v1/jobs/events"
ABROAD = "192.0.2.7"


@pytest.fixture(scope="module")
def keys(filled: Library) -> tuple[str, str]:
    """Two keys of different people."""
    return filled.access.create("greedy")[1], filled.access.create("other")[1]


@contextmanager
def half_sent(served: Served, key: str, count: int) -> Iterator[list[socket.socket]]:
    """Requests whose bodies have begun."""
    head = f"POST /api/v1/search HTTP/1.1\r\nHost: {ABROAD}\r\nAuthorization: Bearer {key}\r\n"
    head += "Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"
    with ExitStack() as stack:
        address = ("127.0.0.1", int(served.url.rpartition(":")[2]))
        sockets = [stack.enter_context(socket.create_connection(address, timeout=20)) for _ in range(count)]
        for one in sockets:
            one.sendall(head.encode())
        time.sleep(0.5)
        yield sockets


def test_streams_that_wait_and_bodies_that_come_hold_no_slot(filled: Library, keys: tuple[str, str]) -> None:
    greedy, other = keys
    with (
        serve(filled, ABROAD, DoorSettings(concurrency=2)) as served,
        served.client(greedy, Host=ABROAD) as client,
        served.client(other, Host=ABROAD) as quick,
        half_sent(served, greedy, 6),
        ExitStack() as streams,
    ):
        for _ in range(6):
            assert streams.enter_context(client.stream("GET", EVENTS)).status_code == 200
        began = time.monotonic()
        assert {quick.get(SEARCH).status_code, client.get(SEARCH).status_code} == {200}
        assert time.monotonic() - began < 5


def test_a_client_has_half_of_the_streams(filled: Library, keys: tuple[str, str]) -> None:
    greedy, other = keys
    with (
        serve(filled, ABROAD, DoorSettings(streams=4)) as served,
        served.client(greedy, Host=ABROAD) as client,
        served.client(other, Host=ABROAD) as quick,
    ):
        with ExitStack() as streams:
            for _ in range(2):
                streams.enter_context(client.stream("GET", EVENTS))
            assert client.get(EVENTS).status_code == 503
            assert streams.enter_context(quick.stream("GET", EVENTS)).status_code == 200
        for _ in range(100):  # they are counted no longer once the server has seen them go
            with client.stream("GET", EVENTS) as again:
                if again.status_code == 200:
                    return
            time.sleep(0.1)
        raise AssertionError("streams that have ended are counted still")


def test_a_key_has_half_of_the_slots(filled: Library, keys: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    greedy, other = keys
    released = threading.Event()
    retrieve = Library.retrieve

    def slow(self: Library, question: str, **more: object) -> object:
        if question == "slow":
            released.wait(30)
        return retrieve(self, question, **more)

    monkeypatch.setattr(Library, "retrieve", slow)
    with (
        serve(filled, ABROAD, DoorSettings(concurrency=4)) as served,
        served.client(greedy, Host=ABROAD) as client,
        served.client(other, Host=ABROAD) as quick,
        ThreadPoolExecutor(6) as pool,
    ):
        asked = [pool.submit(client.get, "/api/v1/search?q=slow") for _ in range(6)]
        time.sleep(0.5)
        assert quick.get(SEARCH).status_code == 200
        released.set()
        assert {one.result().status_code for one in asked} == {200}


def test_a_body_that_comes_too_slowly_is_cut_off(
    filled: Library, keys: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_GRACE_S", 1.5)
    with serve(filled, ABROAD) as served, half_sent(served, keys[0], 1) as (one,):
        for _ in range(2):
            time.sleep(0.5)
            one.sendall(b" ")
        assert b" 408 " in one.makefile("rb").readline()


def test_a_client_that_takes_nothing_holds_its_slot_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "_STUCK_S", 1.0)

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        async def much() -> object:
            while scope["path"] == "/api/much":
                yield b"data: " + b"x" * 2**20 + b"\n\n"

        await StreamingResponse(much(), media_type="text/event-stream")(scope, receive, send)

    def library() -> Library:
        raise AssertionError("nobody asks for it")

    doors = Doors(library, settings=DoorSettings(concurrency=1))
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(Guard(endless, doors), log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        with socket.create_connection(listening.getsockname(), timeout=20) as idle:
            idle.sendall(b"GET /api/much HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            time.sleep(0.5)
            began = time.monotonic()
            assert httpx.get(f"http://127.0.0.1:{listening.getsockname()[1]}/api/x", timeout=20).status_code == 200
            assert 0.3 < time.monotonic() - began < 8
    finally:
        server.should_exit = True
        server.force_exit = True
        thread.join(30)
        listening.close()


@pytest.mark.parametrize("http", ["httptools", "h11"])
def test_a_head_that_does_not_end_is_cut_off(filled: Library, http: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heads, "SECONDS", 1.0)
    with serve(filled, http=http) as served:
        check_heads(served)


def check_heads(served: Served) -> None:
    address = ("127.0.0.1", int(served.url.rpartition(":")[2]))
    whole = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    for first in (b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n", whole):
        with socket.create_connection(address, timeout=20) as slow:
            slow.sendall(first)
            if first == whole:  # and the next request's head likewise
                time.sleep(0.3)
                assert b"200 OK" in slow.recv(10_000)
            began = time.monotonic()
            with pytest.raises(OSError, match=r"eset|roken pipe|closed"):
                while time.monotonic() - began < 10:
                    slow.sendall(b"X: x\r\n" if first else b"G")
                    time.sleep(0.2)
                    if select_closed(slow):
                        raise OSError("closed")
            assert time.monotonic() - began < 4


def select_closed(connection: socket.socket) -> bool:
    """Whether the other side has closed a connection."""
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    finally:
        connection.setblocking(True)


def test_slow_work_and_slow_bodies_are_no_slow_heads(
    filled: Library, keys: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heads, "SECONDS", 0.5)
    with serve(filled, ABROAD) as served, served.client(keys[0], Host=ABROAD) as client:
        with client.stream("GET", EVENTS) as open_long:
            parts = open_long.iter_raw()
            ended = time.monotonic() + 2
            while time.monotonic() < ended:
                time.sleep(0.2)
            filled.jobs.submit("verify", "")
            assert any(b"verify" in next(parts) for _ in range(50))

        def slowly() -> Iterator[bytes]:
            for piece in (b'{"question": ', b'"annual ', b'leave"}'):
                time.sleep(0.6)
                yield piece

        asked = client.post("/api/v1/search", content=slowly(), headers={"Content-Type": "application/json"})
        assert asked.status_code == 200


@pytest.mark.parametrize("size", [70_000, 1_000_000])
def test_a_head_that_is_too_large_is_refused(served: Served, size: int) -> None:
    address = ("127.0.0.1", int(served.url.rpartition(":")[2]))
    with socket.create_connection(address, timeout=20) as large:
        try:
            large.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * size + b"\r\n\r\n")
            status = large.makefile("rb").readline()
        except OSError:  # it was closed while the rest was on its way
            return
    assert b" 431 " in status or not status


def test_wrong_keys_cost_no_query_each(filled: Library, keys: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    read, live = [], AccessStore.live
    monkeypatch.setattr(AccessStore, "live", lambda self: read.append(1) or live(self))
    with serve(filled, ABROAD) as served, served.client(Host=ABROAD) as client:
        began = time.monotonic()
        for number in range(100):
            wrong = {"Authorization": f"Bearer lectern_{number:012x}_{'x' * 43}"}
            assert client.get(SEARCH, headers=wrong).status_code in (401, 429)
            right = client.get(SEARCH, headers={"Authorization": f"Bearer {keys[number % 2]}"})
            assert right.status_code == 200
        assert len(read) <= 3 + (time.monotonic() - began)
        last = client.get(SEARCH, headers=wrong)
    assert (last.status_code, "Retry-After" in last.headers) == (429, True)


def test_known_keys_hold_while_the_database_is_away(
    filled: Library, keys: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(self: AccessStore) -> object:
        raise StoreUnavailable("The database is away.")

    assert filled.access.verify(keys[0]) is not None
    monkeypatch.setattr(AccessStore, "live", away)
    time.sleep(1.2)
    assert filled.access.verify(keys[0]) is not None
    assert filled.access.verify("lectern_000000000000_x") is None
    monkeypatch.undo()
    key, text = filled.access.create("late")
    assert filled.access.verify(text) == key
