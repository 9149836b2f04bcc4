"""The Model Context Protocol, by the client of its own SDK, over HTTP and over standard input."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from rag_core import Library, server_file
from rag_core.api import mcp
from rag_core.domain import Page
from tests.conftest import PROJECT
from tests.rag_core.api.conftest import Served, serve


def talked(server: Any, talk: Callable[[Client], Awaitable[None]]) -> None:
    async def run() -> None:
        async with Client(server) as client:
            await talk(client)

    # In a thread of its own: the browser's tests leave a running loop in this one.
    with ThreadPoolExecutor(1) as executor:
        executor.submit(asyncio.run, asyncio.wait_for(run(), 120)).result()


def told(result: Any) -> Any:
    assert not result.is_error, result
    found = result.structured_content
    return found["result"] if set(found) == {"result"} else found


async def the_handbook(client: Client) -> None:
    assert {tool.name for tool in (await client.list_tools()).tools} == {
        "search", "ask", "list_documents", "read_document",
    }  # fmt: skip
    (listed,) = [one for one in told(await client.call_tool("list_documents", {})) if one["title"] == "handbook"]
    read = told(await client.call_tool("read_document", {"id": listed["id"]}))
    assert "27 days" in read["pages"][0]["text"]
    whole = await client.read_resource(f"lectern://documents/{listed['id']}")
    assert "27 days" in whole.contents[0].text
    hits = told(await client.call_tool("search", {"question": "annual leave", "k": 1}))
    assert hits[0]["document"] == listed["id"]
    answer = told(await client.call_tool("ask", {"question": "How many days of annual leave?"}))
    assert "27" in answer["answer"]
    assert (answer["found"], answer["outcome"]) == (True, "answered")
    near = told(await client.call_tool("ask", {"question": "How often is the chapel painted?"}))
    assert (near["found"], near["outcome"]) == (False, "perhaps" if near["citations"] else "not found")
    assert answer["citations"][0]["document_id"] == listed["id"]
    for wrong in ({"id": "none"}, {"id": listed["id"], "count": 0}):
        assert (await client.call_tool("read_document", wrong)).is_error
    with pytest.raises(MCPError, match="There is no document of that id"):
        await client.read_resource("lectern://documents/none")


def test_over_http(served: Served) -> None:
    talked(f"{served.url}/mcp", the_handbook)


def test_a_key_of_a_tag_reads_its_documents_alone(abroad: AbstractContextManager[Served], filled: Library) -> None:
    _, text = filled.access.create("assistant", tags=["work"])
    other = next(one for one in filled.documents() if one.title == "travel").id

    async def narrowed(client: Client) -> None:
        await the_handbook(client)
        assert (await client.call_tool("read_document", {"id": other})).is_error
        for tool in ("search", "ask", "list_documents"):
            given = {} if tool == "list_documents" else {"question": "Who books trains?"}
            assert "Utrecht" not in json.dumps(told(await client.call_tool(tool, given)))

    with abroad as served:
        headers = {"Authorization": f"Bearer {text}", "Host": "192.0.2.7"}
        http = httpx2.AsyncClient(headers=headers, timeout=60)
        talked(streamable_http_client(f"{served.url}/mcp", http_client=http), narrowed)


def test_sessions_that_do_not_start_are_told_of_and_tried_again(
    filled: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, tries = StreamableHTTPSessionManager.run, []

    @asynccontextmanager
    async def fails_once(self: StreamableHTTPSessionManager) -> AsyncIterator[None]:
        tries.append(self)
        if len(tries) == 1:
            raise RuntimeError("no sessions today")
        async with run(self):
            yield

    monkeypatch.setattr(StreamableHTTPSessionManager, "run", fails_once)
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = {"Accept": "application/json, text/event-stream"}
    with serve(filled) as running, running.client(**headers) as client:
        failed = client.post("/mcp", json=asked)
        assert (failed.status_code, failed.json()["detail"]) == (503, "MCP could not be started.")
        assert "search" in client.post("/mcp", json=asked).text
        running.doors.closing.set()
        assert client.post("/mcp", json=asked).status_code == 503


def test_a_long_document_says_what_is_left_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp, "_CHARS", 3)
    book = SimpleNamespace(id="b", title="Book", page_count=2, tags=())
    library = SimpleNamespace(document=lambda _: book, pages=lambda _: [Page(1, "one"), Page(2, "two")])
    context = SimpleNamespace(request_context=SimpleNamespace(request=None))
    assert mcp.Tools(lambda: library).document(context, "b") == "one\f[1 more pages: read_document gives them]"


def test_over_standard_input(tmp_path: Path) -> None:
    """A process of its own with a library of its own."""

    async def empty(client: Client) -> None:
        assert told(await client.call_tool("list_documents", {})) == []

    talked(command_of(tmp_path / "library"), empty)


def test_over_standard_input_beside_a_running_server(served: Served) -> None:
    with server_file.told(served.library.folder, served.url, served.doors.key):
        talked(command_of(served.library.folder), the_handbook)


def command_of(folder: Path) -> StdioServerParameters:
    environment = {**os.environ, "LECTERN_DATA_DIR": str(folder)}
    return StdioServerParameters(
        command=sys.executable, args=["-m", "rag_core", "mcp"], env=environment, cwd=PROJECT
    )  # fmt: skip
