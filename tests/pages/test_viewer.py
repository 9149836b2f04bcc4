"""What the document viewer is answered, of real documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import httpx
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from pages.parts import resources, viewer
from rag_core.library import Library
from rag_core.settings import Settings
from tests.conftest import PROJECT, add_text

HANDBOOK = PROJECT / "data" / "samples" / "veyra-ferry-handbook.pdf"
TOLL = "# The toll\n\nThe toll of the bridge is seven crowns for a\ncar that crosses it by night."


@pytest.fixture(scope="module")
def made(new_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    settings = Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("viewer"), database_url=new_database())
    with Library.open(settings) as library:
        list(library.add([HANDBOOK]))
        yield library


@pytest.fixture
def client(made: Library, monkeypatch: pytest.MonkeyPatch) -> httpx.Client:
    monkeypatch.setattr(resources, "library", lambda cookies=None: made)
    return TestClient(Starlette(routes=viewer.routes()))


def handbook(library: Library) -> str:
    return next(one.id for one in library.documents() if one.has_page_images)


def test_a_document_tells_its_pages_where_its_text_stands_and_its_headings(made: Library, client: httpx.Client) -> None:
    told = client.get(f"/viewer/{handbook(made)}").json()
    assert len(told["pages"]) == 13
    assert told["pages"][0][:2] == [595.2756, 841.8898] or told["pages"][0][1] > told["pages"][0][0]
    assert 0 < told["set"]["left"] < 0.3 < 0.7 < told["set"]["right"] < 1
    assert 4 < told["set"]["line_pt"] < 16
    assert [title for title, *_ in told["sections"]].count("About this handbook") >= 1


def test_words_lie_over_the_page_and_marks_are_those_of_the_picture(made: Library, client: httpx.Client) -> None:
    document = handbook(made)
    page = made.page(document, 7)
    start = page.text.index("lowered from 16 to 14")
    told = client.get(f"/viewer/{document}/pages/7", params={"cited": f"{start}-{start + 21}", "near": "0-9"}).json()
    drawn = made.page_image(document, 7, span=(start, start + 21)).boxes
    marked = [edges for kind, *edges in told["marks"] if kind == "cited"]
    assert marked == [[box.left, box.top, box.right, box.bottom] for box in drawn]
    assert told["sure"]
    read = [" ".join(word for word, *_ in words) for _, _, words in told["lines"]]
    assert " ".join(read).split() == page.text.split()
    assert any("lowered from 16 to" in line for line in read)
    for top, bottom, words in told["lines"]:
        assert 0 <= top < bottom <= 1
        assert all(before[2] <= after[1] + 0.002 for before, after in pairwise(words))
    again = client.get(f"/viewer/{document}/pages/7", params={"marks": "1", "hit": "0-9"}).json()
    assert again["lines"] == [] and again["marks"]


def test_words_are_found_over_line_ends_and_marked_in_text(made: Library, client: httpx.Client) -> None:
    document = add_text(made, "toll.md", TOLL).id
    assert client.get(f"/viewer/{document}").json()["set"] is None
    (hit,) = client.get(f"/viewer/{document}/find", params={"q": "CROWNS for a car"}).json()["hits"]
    page, start, end = hit
    told = client.get(f"/viewer/{document}/pages/{page}", params={"now": f"{start}-{end}"}).json()
    parts = [part for block in told["blocks"] for part in block["parts"]]
    assert [text.split() for text, _, kind in parts if kind == "now"] == [["crowns", "for", "a", "car"]]
    assert client.get(f"/viewer/{document}/find", params={"q": "  "}).json()["hits"] == []
    assert client.get(f"/viewer/{document}/find", params={"q": "a.*"}).json()["hits"] == []
    flow = client.get(f"/viewer/{handbook(made)}/pages/2", params={"flow": "1"}).json()
    assert flow["blocks"]


def test_pictures_and_the_original(made: Library, client: httpx.Client) -> None:
    document = handbook(made)
    picture = client.get(f"/viewer/{document}/pages/2/picture", params={"width": "500"})
    assert picture.headers["content-type"] == "image/png"
    assert int.from_bytes(picture.content[16:20]) == 500
    original = client.get(f"/viewer/{document}/original")
    assert original.content == HANDBOOK.read_bytes()
    assert original.headers["content-type"] == "application/octet-stream"
    assert "attachment" in original.headers["content-disposition"]
    assert original.headers["content-security-policy"] == "sandbox"


@pytest.mark.parametrize("path", ["", "/find?q=x", "/original", "/pages/1", "/pages/1/picture"])
def test_what_is_not_there_is_said(client: httpx.Client, path: str) -> None:
    answer = client.get(f"/viewer/{'0' * 32}{path}")
    assert answer.status_code == 404
    assert "no longer in the library" in answer.json()["message"]


def test_a_page_that_is_not_there_is_said(made: Library, client: httpx.Client) -> None:
    for path, status in (("pages/99", 404), ("pages/99/picture", 422), ("pages/1?cited=x&hit=5-", 200)):
        assert client.get(f"/viewer/{handbook(made)}/{path}").status_code == status
