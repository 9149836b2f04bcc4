"""Whatever characters come in by the doors: an answer, or a refusal that was foreseen.

`make fuzz` tries many more; `LECTERN_FUZZ_TEXTS` says how many.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core import Library, Settings
from rag_core.settings import DoorSettings
from tests.conftest import add_text
from tests.rag_core.any_text import EXAMPLES, NAMES, TEXTS, contents, tried
from tests.rag_core.api.conftest import HANDBOOK, serve

pytestmark = pytest.mark.timeout(120 + 2 * EXAMPLES)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Iterator[httpx.Client]:
    """Of a library of its own: what is added here is asked of nobody else's."""
    folder = tmp_path_factory.mktemp("any") / "library"
    settings = Settings(_env_file=None, data_dir=folder, database_url=new_database())
    with (
        Library.open(settings) as library,
        serve(library, settings=DoorSettings(rate_per_s=1e6)) as served,
        served.client() as opened,
    ):
        add_text(library, "handbook.txt", HANDBOOK)
        yield opened


def assert_foreseen(answer: httpx.Response) -> None:
    assert answer.status_code < 500 or b"urn:lectern:problem" in answer.content, answer.text
    assert answer.status_code != 500, answer.text
    assert b"UnexpectedFailure" not in answer.content


def send(client: httpx.Client, method: str, path: str, body: object) -> httpx.Response:
    """A request with JSON in ASCII: lone surrogates come escaped, which is how they come at all."""
    return client.request(method, path, content=json.dumps(body), headers={"Content-Type": "application/json"})


def in_path(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


@tried(0.1)
@given(TEXTS)
def test_a_question(client: httpx.Client, text: str) -> None:
    asked: list[tuple[str, dict[str, Any]]] = [
        ("/api/v1/search", {"question": text, "explain": True}),
        ("/api/v1/ask", {"question": text}),
        ("/api/v1/ask", {"question": text, "stream": True, "conversation": "one for all"}),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": text}]}),
        ("/v1/embeddings", {"input": [text]}),
    ]
    for path, body in asked:
        assert_foreseen(send(client, "POST", path, body))
    assert_foreseen(client.get(f"/api/v1/search?q={in_path(text)}"))


@tried(0.1)
@given(NAMES, st.booleans())
def test_a_name(client: httpx.Client, name: str, is_tag: bool) -> None:
    document = client.get("/api/v1/documents", params={"words": "handbook"}).json()["documents"][0]["id"]
    change = {"tags": {"add": [name], "remove": []}} if is_tag else {"title": name}
    assert_foreseen(send(client, "PATCH", f"/api/v1/documents/{document}", change))
    assert_foreseen(client.get(f"/api/v1/documents?words={in_path(name)}&tag={in_path(name)}"))
    assert_foreseen(client.get(f"/api/v1/documents/{in_path(name)}"))
    scope = {"tags": [name], "documents": [name], "sections": [name]}
    assert_foreseen(send(client, "POST", "/api/v1/search", {"question": "leave", "scope": scope}))
    answer = send(client, "POST", "/api/v1/ask", {"question": "How many days of leave?", "conversation": name}).json()
    conversation = in_path(answer.get("conversation", ""))
    assert_foreseen(send(client, "PATCH", f"/api/v1/conversations/{conversation}", {"title": name}))
    assert_foreseen(client.get(f"/api/v1/conversations?words={in_path(name)}"))
    assert_foreseen(client.get(f"/api/v1/conversations/{conversation}/export?form=pdf"))
    assert_foreseen(client.delete(f"/api/v1/conversations/{conversation}"))
    assert_foreseen(send(client, "POST", "/api/v1/sources", {"folder": f"/nowhere/{name}", "tags": [name]}))
    assert_foreseen(send(client, "POST", "/api/v1/sources/update", {"locations": [f"/{name}"]}))
    assert_foreseen(send(client, "PATCH", f"/api/v1/documents/{document}", {"title": "handbook"}))


@tried(0.1)
@given(NAMES, contents())
def test_a_file(client: httpx.Client, name: str, file: tuple[str, bytes]) -> None:
    ending, data = file
    answer = client.post(f"/api/v1/documents?name={in_path(name)}.{ending}", content=data)
    assert_foreseen(answer)
    for document in filter(None, (result["document"] for result in answer.json().get("results", []))):
        assert_foreseen(client.get(f"/api/v1/documents/{document}/text"))
        assert_foreseen(client.delete(f"/api/v1/documents/{document}"))
    form = b"\r\n".join((
        b"--lectern", b'Content-Disposition: form-data; name="files"; filename="%s.%s"'
        % (name.encode("utf-8", "surrogatepass"), ending.encode()), b"", data, b"--lectern--", b"",
    ))  # fmt: skip
    sent = {"Content-Type": "multipart/form-data; boundary=lectern"}
    assert_foreseen(client.post("/api/v1/documents", content=form, headers=sent))
