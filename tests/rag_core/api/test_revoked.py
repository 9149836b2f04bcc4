"""A key that has ended ends what is open by it: streams, and the WebSocket of a page."""

from __future__ import annotations

import base64
import json
import socket
import time
from contextlib import AbstractContextManager
from typing import LiteralString

import psycopg
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from rag_core import Library
from tests.rag_core.api.conftest import Served

ABROAD = "192.0.2.7"
AT_ONCE_S = 4


def page(served: Served, key: str) -> ClientConnection:
    """The WebSocket of an open page."""
    port = served.url.rpartition(":")[2]
    basic = base64.b64encode(f"me:{key}".encode()).decode()
    return connect(
        f"ws://{ABROAD}:{port}/_stcore/stream",
        subprotocols=["streamlit"],  # type: ignore[list-item]
        additional_headers={"Authorization": f"Basic {basic}"},
        sock=socket.create_connection(("127.0.0.1", int(port))),
    )


def elsewhere(library: Library, statement: LiteralString, key_id: str) -> None:
    """Another process changes a key."""
    address = library.settings.database_url
    assert address is not None
    with psycopg.connect(address.get_secret_value()) as connection:
        connection.execute(statement, (key_id,))


def test_the_socket_of_a_page_ends_with_its_key(abroad: AbstractContextManager[Served], filled: Library) -> None:
    key, text = filled.access.create("chief", "admin")
    _, other = filled.access.create("another", "admin")
    with abroad as served, page(served, text) as chief, page(served, other) as kept:
        assert chief.response is not None
        assert chief.response.headers["X-Frame-Options"] == "DENY"
        chief.send("hello")
        assert chief.recv(10) == "hello"
        filled.access.revoke(key.id)
        with pytest.raises(ConnectionClosed):
            chief.send("still here?")
            chief.recv(10)
        assert (chief.close_code, chief.protocol.close_rcvd is not None) == (1008, True)
        kept.send("hello")
        assert kept.recv(10) == "hello"
        with pytest.raises(InvalidStatus) as refused:
            page(served, text)
        assert refused.value.response.status_code == 401
        assert "frame-ancestors 'none'" in refused.value.response.headers["Content-Security-Policy"]


def test_a_silent_socket_ends_too(abroad: AbstractContextManager[Served], filled: Library) -> None:
    key, text = filled.access.create("chief", "admin")
    with abroad as served, page(served, text) as chief:
        filled.access.revoke(key.id)
        with pytest.raises(ConnectionClosed):
            chief.recv(AT_ONCE_S)


def test_a_stream_ends_with_its_key(abroad: AbstractContextManager[Served], filled: Library) -> None:
    key, text = filled.access.create("listener")
    with abroad as served, served.client(text, Host=ABROAD) as client:
        with client.stream("GET", "/api/v1/jobs/events") as events:
            assert events.status_code == 200
            began = time.monotonic()
            filled.access.revoke(key.id)
            told = [line for line in events.iter_lines() if line.startswith("data: ")]
        assert time.monotonic() - began < AT_ONCE_S
        assert json.loads(told[-1].removeprefix("data: "))["status"] == 401


def test_a_key_that_another_process_revokes_ends_too(abroad: AbstractContextManager[Served], filled: Library) -> None:
    key, text = filled.access.create("listener")
    with abroad as served, served.client(text, Host=ABROAD) as client:
        with client.stream("GET", "/api/v1/jobs/events") as events:
            elsewhere(filled, "UPDATE access_keys SET revoked_at = now() WHERE id = %s", key.id)
            began = time.monotonic()
            assert any('"status":401' in line.replace(" ", "") for line in events.iter_lines())
        assert time.monotonic() - began < AT_ONCE_S
        assert client.get("/api/v1/tags").status_code == 401


def test_a_key_whose_role_changes_ends_what_is_open(abroad: AbstractContextManager[Served], filled: Library) -> None:
    key, text = filled.access.create("chief", "admin")
    with abroad as served, page(served, text) as chief:
        elsewhere(filled, "UPDATE access_keys SET role = 'read' WHERE id = %s", key.id)
        with pytest.raises(ConnectionClosed):
            chief.recv(AT_ONCE_S)
