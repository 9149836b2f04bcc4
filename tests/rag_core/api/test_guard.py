"""Attacks on the doors and the pages: by name, by site, by key, by path, by body, by number."""

from __future__ import annotations

import base64
import json
import os
import socket
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import pytest

from rag_core import Library, server_file
from rag_core.errors import ConfigurationError
from rag_core.settings import DoorSettings
from tests.rag_core.api.conftest import Served, serve

JSON = {"Content-Type": "application/json"}
ASK = b'{"question": "x"}'


def sent(served: Served, head: str, body: bytes = b"") -> int:
    """The status of a request as its bytes are written here; 0 where the connection is closed without one."""
    port = int(served.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body)
        line = connection.makefile("rb").readline().split()
    return int(line[1]) if line else 0


HOSTS = [
    "evil.example", "127.0.0.1.evil.example", "evil.example:8501", "localhost.evil.example", "127.0.0.1@evil.example",
    "evil.example#127.0.0.1", "127.0.0.1/../evil.example", "0x7f000001", "2130706433", "[::2]", "localhost:port",
]  # fmt: skip


@pytest.mark.parametrize("path", ["/", "/api/v1/search?q=leave"])
@pytest.mark.parametrize("host", HOSTS)
def test_a_foreign_name_is_refused(served: Served, host: str, path: str) -> None:
    assert sent(served, f"GET {path} HTTP/1.1\nHost: {host}\nConnection: close") in (400, 421)


@pytest.mark.parametrize(
    "head",
    ["GET / HTTP/1.0", "GET / HTTP/1.1\nHost: 127.0.0.1\nHost: evil.example", "GET http://evil.example/ HTTP/1.1"],
)
def test_a_request_without_one_clear_name_is_refused(served: Served, head: str) -> None:
    assert sent(served, f"{head}\nConnection: close") in (400, 421)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "file://"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_a_request_of_another_site_is_refused(served: Served, headers: dict[str, str]) -> None:
    with served.client(**headers) as client:
        assert client.get("/api/v1/search?q=leave").status_code == 403
        assert client.post("/api/v1/documents?name=x.txt", content=b"x").status_code == 403
        assert client.post("/api/upload", files={"file": ("x.txt", b"x")}).status_code == 403


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "application/jsonx"],
)
def test_what_a_form_can_send_changes_nothing(rest: httpx.Client, kind: str) -> None:
    before = rest.get("/api/v1/keys").json()
    answer = rest.post("/api/v1/keys", content=b'{"name": "x", "role": "admin"}', headers={"Content-Type": kind})
    assert answer.status_code == 415
    assert rest.get("/api/v1/keys").json() == before


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/documents/..%2f..%2fserver.json", "/api/v1/documents/%00", "/api/v1/documents/../../etc/passwd",
        "/api/v1/documents/..%2f..%2f..%2fetc%2fpasswd/original", "/api/v1/conversations/%ff%fe",
        "/api/v1/documents/x/pages/99999999999999999999", "/api/v1/documents/x/pages/-1", "/api//v1/keys/",
        "/api/v1/models/..%2fowner.json",
    ],
)  # fmt: skip
def test_odd_paths_lead_nowhere(served: Served, path: str) -> None:
    status = sent(served, f"GET {path} HTTP/1.1\nHost: 127.0.0.1\nConnection: close")
    assert status in (400, 404, 405, 422)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422), (b"{", 422), (b"[]", 422), (b"\xff\xfe", 422), (b'{"question": 3}', 422),
        (b'{"question": "\\u0000\\ud800"}', 422), (b'{"question": "' + b"x" * 5_000 + b'"}', 422),
        (b'{"a":' * 50_000, 400), (b" " * 5_000_000, 413),
    ],
)  # fmt: skip
def test_odd_bodies_are_refused(rest: httpx.Client, body: bytes, status: int) -> None:
    assert rest.post("/api/v1/ask", content=body, headers=JSON).status_code == status


def test_a_body_that_grows_beyond_its_limit_is_cut_off(rest: httpx.Client) -> None:
    grown = rest.post("/api/v1/ask", content=(b" " * 2**16 for _ in range(100)), headers=JSON)
    assert grown.status_code == 413


def test_abroad_nothing_goes_without_a_key(abroad: AbstractContextManager[Served], filled: Library) -> None:
    host = {"Host": "192.0.2.7"}
    reading, text = filled.access.create("reader")
    with abroad as served, served.client(**host) as nobody, served.client(text, **host) as reader:
        for path in ("/", "/api/v1/health", "/metrics", "/v1/models", "/api/v1/openapi.json"):
            assert nobody.get(path).status_code == 401, path
        assert reader.get("/api/v1/search?q=leave").status_code == 200
        assert reader.get("/").status_code == 403
        assert reader.post("/api/v1/documents?name=x.txt", content=b"x").status_code == 403
        for path in ("/api/v1/keys", "/api/v1/backup", "/api/v1/audit"):
            assert reader.get(path).status_code == 403, path
        assert reader.post("/api/v1/keys", json={"name": "mine", "role": "admin"}).status_code == 403
        filled.access.revoke(reading.id)
        assert reader.get("/api/v1/search?q=leave").status_code == 401
        _, admin = filled.access.create("chief", "admin")
        basic = base64.b64encode(f"me:{admin}".encode()).decode()
        assert nobody.get("/", headers={"Authorization": f"Basic {basic}"}).status_code == 200
        assert reader.get("/", headers={"Host": "192.0.2.8"}).status_code == 421
        wrong = {reader.get("/api/v1/health", headers={"Authorization": "Bearer wrong"}).status_code for _ in range(15)}
        assert wrong == {401, 429}
    assert "reader" in {entry.who.split()[1] for entry in filled.access.audit() if entry.status == 403}
    assert text not in json.dumps([entry.action for entry in filled.access.audit()])


def test_behind_a_proxy_on_this_machine_a_key_is_needed(filled: Library) -> None:
    with serve(filled, settings=DoorSettings(hosts=("lectern.example",))) as served, served.client() as client:
        assert client.get("/api/v1/tags").status_code == 200
        for path in ("/api/v1/tags", "/"):
            assert client.get(path, headers={"Host": "lectern.example"}).status_code == 401


@pytest.mark.parametrize(
    "name",
    [
        "Forwarded",
        "X-Forwarded-For",
        "X-Forwarded-Proto",
        "x-forwarded-anything",
        "X-Real-IP",
        "Via",
        "CF-Ray",
        "CDN-Loop",
    ],
)
def test_what_came_through_a_proxy_is_not_of_this_machine(
    filled: Library, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    _, text = filled.access.create("proxied", "admin")
    with serve(filled) as served, served.client(**{name: "1"}) as client, served.client(text, **{name: "1"}) as keyed:
        for path in ("/api/v1/tags", "/", "/api/v1/tags"):
            refused = client.get(path)
            assert (refused.status_code, "through a proxy" in refused.text) == (401, True)
        assert keyed.get("/api/v1/tags").status_code == 200
    assert [record.getMessage() for record in caplog.records if "through a proxy" in record.getMessage()] == [
        "This came through a proxy, behind which anybody may be, so it needs a key of Lectern."
        " Make a key: lectern keys --create NAME. Or call Lectern without the proxy."
    ]


PATHS = ["/", "/fails", "/api/v1/tags", "/api/v1/nothing", "/api/v1/docs", "/metrics", "/mcp", "/_stcore/metrics"]


@pytest.mark.parametrize("host", ["127.0.0.1", "evil.example"])
@pytest.mark.parametrize("path", PATHS)
def test_every_answer_forbids_frames_and_guessed_types(rest: httpx.Client, path: str, host: str) -> None:
    answer = rest.get(path, headers={"Host": f"{host}:{rest.base_url.port}"})
    assert (answer.status_code == 421) == (host == "evil.example")
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    if path == "/":
        assert "img-src 'self' data: blob:;" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["/", "/media/x.png", "/api/v1/docs"])
@pytest.mark.parametrize("kind", ["iframe", "frame", "embed", "object"])
def test_nothing_is_put_into_another_page(rest: httpx.Client, path: str, kind: str) -> None:
    for site in ("cross-site", "same-origin"):
        sent_along = {"Sec-Fetch-Dest": kind, "Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}
        assert rest.get(path, headers=sent_along).status_code == 403


def test_another_site_may_link_to_a_page_and_load_nothing_of_it(rest: httpx.Client) -> None:
    cross = {"Sec-Fetch-Site": "cross-site"}
    assert rest.get("/", headers={**cross, "Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate"}).text == "a page"
    assert rest.get("/", headers={**cross, "Sec-Fetch-Dest": "script", "Sec-Fetch-Mode": "no-cors"}).status_code == 403


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/_stcore/agent/openapi.json", "/base/_stcore/agent/interact"])
def test_what_streamlit_offers_to_programs_is_shut(rest: httpx.Client, path: str) -> None:
    assert rest.get(path).status_code == 404


@pytest.mark.parametrize("depth", [300, 500, 950])
def test_what_is_nested_deeply_is_refused_at_every_door(rest: httpx.Client, depth: int) -> None:
    schema = rest.get("/api/v1/openapi.json").json()
    shapes = schema["components"]["schemas"]
    nested = "[" * depth + "]" * depth
    statuses = set()
    for path, verbs in schema["paths"].items():
        for verb, told in verbs.items():
            if verb == "get" or path == "/api/v1/models/{model_id}":
                continue
            shape = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            fields = shapes.get(shape.get("$ref", "").rpartition("/")[2], shape).get("properties", {"x": {}})
            for body in (nested, *(f'{{"{field}": {nested}}}' for field in fields)):
                statuses.add(rest.request(verb, path, content=body, headers=JSON).status_code)
    assert 422 in statuses
    assert max(statuses) < 500
    deep = f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{"name": "ask", "arguments": {nested}}}}}'
    accept = {**JSON, "Accept": "application/json, text/event-stream"}
    assert rest.post("/mcp", content=deep, headers=accept).status_code < 500


def test_a_key_of_a_tag_sees_nothing_else(abroad: AbstractContextManager[Served], filled: Library) -> None:
    _, text = filled.access.create("intern", tags=["Work"])
    with abroad as served, served.client(text, Host="192.0.2.7") as intern:
        assert {one["title"] for one in intern.get("/api/v1/documents").json()["documents"]} == {"handbook"}
        others = next(one for one in filled.documents() if one.title == "travel").id
        for part in ("", "/text", "/pages", "/chunks", "/original"):
            assert intern.get(f"/api/v1/documents/{others}{part}").status_code == 404
        for question in ("Who books trains?", "@travel Who books trains?"):
            for scope in ({}, {"documents": [others]}, {"names": ["travel"]}):
                asked = intern.post("/api/v1/ask", json={"question": question, "scope": scope}).json()
                assert others not in json.dumps(asked)
                assert "Utrecht" not in json.dumps(asked)
        model = {"question": "Who books trains?", "model": "gguf:../../none.gguf"}
        for said in (intern.get("/api/v1/models"), intern.post("/api/v1/ask", json=model)):
            assert "the models folder" in said.text
            assert str(filled.language_models.folder) not in said.text
        known = filled.ask("Who books trains?").conversation
        asked = intern.post("/api/v1/ask", json={"question": "Who does?", "conversation": known}).json()
        assert "trains" not in json.dumps(asked)
        for path in ("/api/v1/conversations", "/api/v1/status", "/api/v1/tags", "/api/v1/runs"):
            assert intern.get(path).status_code == 403
    with pytest.raises(ConfigurationError):
        filled.access.create("intern", "write", ["work"])


def test_where_the_library_is_on_the_machine_is_told_to_admins_alone(
    abroad: AbstractContextManager[Served], filled: Library
) -> None:
    _, reads = filled.access.create("reader")
    with abroad as served, served.client(reads, Host="192.0.2.7") as reader:
        for path in ("/api/v1/models", "/api/v1/status"):
            said = reader.get(path)
            assert said.status_code == 200
            assert str(filled.language_models.folder) not in said.text
            assert str(filled.settings.data_dir) not in said.text


def test_what_changes_data_is_noted(rest: httpx.Client, filled: Library) -> None:
    rest.post("/api/v1/question-sets", json={"name": "noted"})
    rest.get("/api/v1/status")
    last = filled.access.audit(1)[0]
    assert (last.who, last.action, last.status) == ("this machine", "POST /api/v1/question-sets", 201)


def test_too_many_requests_are_held_back(filled: Library) -> None:
    with serve(filled, settings=DoorSettings(rate_per_s=5)) as served, served.client() as client:
        statuses = [client.get("/api/v1/models").status_code for _ in range(30)]
        assert client.get("/api/v1/health").status_code == 200
    assert {*statuses} == {200, 429}
    with (
        serve(filled, settings=DoorSettings(concurrency=2)) as served,
        served.client() as client,
        ThreadPoolExecutor(8) as pool,
    ):
        many = [*pool.map(lambda _: client.get("/api/v1/search?q=leave").status_code, range(40))]
    assert {*many} == {200}


def test_what_takes_too_long_is_answered_all_the_same(filled: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    monkeypatch.setattr(Library, "retrieve", lambda *_, **__: released.wait(30))
    with serve(filled, settings=DoorSettings(timeout_s=0.2)) as served, served.client() as client:
        assert client.get("/api/v1/search?q=leave").status_code == 504
        released.set()


def test_every_operation_knows_who_may(abroad: AbstractContextManager[Served], filled: Library) -> None:
    _, reading = filled.access.create("looks")
    _, narrow = filled.access.create("looks at work", tags=["work"])
    asking = {"/api/v1/search", "/api/v1/ask", "/api/query", "/v1/chat/completions", "/v1/embeddings"}
    seen = {
        "/api/v1/health",
        "/metrics",
        "/api/papers",
        "/api/papers/{paper_id}",
        "/v1/models",
        "/v1/models/{model_id}",
    }
    seen |= asking | {"/api/v1/models", "/api/v1/models/files"}
    with abroad as served, served.client(reading, Host="192.0.2.7") as reader:
        schema = reader.get("/api/v1/openapi.json").json()
        sent = [(verb, path) for path, verbs in schema["paths"].items() for verb in verbs]
        assert len(sent) > 50
        looking = {
            f"/api/v1/{path}"
            for path in (
                "question-sets/read", "question-sets/check", "insights", "insights/map", "table-plans",
                "table-plans/rows", "table-plans/choices",
                "conversations/{conversation_id}/messages/{message_id}/continue",
            )
        }  # fmt: skip
        for verb, path in sent:
            url = path.replace("{", "").replace("}", "")
            if verb != "get" and path not in asking | looking:
                assert reader.request(verb, url, json={}).status_code == 403, (verb, path)
            if path not in seen and not path.startswith("/api/v1/documents"):
                key = {"Authorization": f"Bearer {narrow}"}
                assert reader.request(verb, url, json={}, headers=key).status_code == 403, (verb, path)


def test_the_note_of_a_server_is_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with server_file.told(tmp_path, "http://127.0.0.1:1", "secret"):
        assert stat.S_IMODE((tmp_path / server_file.NAME).stat().st_mode) == 0o600
        assert server_file.find(tmp_path) == server_file.Served("http://127.0.0.1:1", os.getpid(), "secret")
        (tmp_path / server_file.NAME).write_text('{"url": "x", "pid": 999999999, "key": ""}')
        assert server_file.find(tmp_path) is None
        monkeypatch.setattr(Path, "read_bytes", denied)
        assert server_file.find(tmp_path) is None
    assert server_file.find(tmp_path) is None


def denied(path: Path) -> bytes:
    raise PermissionError(13, "Permission denied", str(path))
