"""Whoever signs in has a library of their own where that is set: what one has, no other is shown, on any page.

All that the server sends to a browser is listened to, so that what a page holds without drawing it counts as shown.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, WebSocket, expect

from tests.browser.conftest import Server, ask, idle, serve
from tests.browser.oidc_server import CLIENT, Provider, oidc_server
from tests.browser.test_signing_in import SECRETS, Visitor
from tests.rag_core.api.house import ADA, BOB, QUESTION, SECRET, secrets_in

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NOTE = "Trains are booked by the office in Utrecht. A ticket costs 31 euros."
_SLOW_MS = 90_000


class Person:
    """Somebody with a browser of their own, and all that it was sent."""

    def __init__(self, browser: Browser, server: Server, provider: Provider, address: str) -> None:
        self.address, self.server, self.provider = address, server, provider
        self.heard: list[str] = []
        self.context: BrowserContext = browser.new_context(locale="en-US")
        self.page: Page = self.context.new_page()
        self.page.on("websocket", self._listen)

    def sign_in(self) -> None:
        self.provider.claims = {"email": self.address, "email_verified": True}
        self.page.goto(self.server.url)
        self.page.get_by_role("button", name="Sign in").click(timeout=_SLOW_MS)
        expect(self.page.get_by_text(self.address.lower())).to_be_visible(timeout=_SLOW_MS)

    def go(self, path: str = "") -> Page:
        self.page.goto(f"{self.server.url}/{path}")
        self.page.get_by_role("button", name="Sign out").wait_for(timeout=_SLOW_MS)
        idle(self.page)
        return self.page

    def add(self, name: str, text: str) -> None:
        page = self.go()
        page.locator("input[type=file]").first.set_input_files(
            {"name": name, "mimeType": "text/plain", "buffer": text.encode()}
        )
        page.locator(".shelf tbody tr").first.wait_for(timeout=_SLOW_MS)

    def get(self, path: str) -> httpx.Response:
        cookies = {one["name"]: one["value"] for one in self.context.cookies()}
        return httpx.get(f"{self.server.url}/{path}", cookies=cookies, timeout=60)

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda told: self.heard.append(_text(told)))


def _text(told: str | bytes) -> str:
    return told if isinstance(told, str) else told.decode("utf-8", "ignore")


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with oidc_server() as running:
        yield running


@pytest.fixture(scope="module")
def apart(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Lectern where people have libraries of their own."""
    folder = tmp_path_factory.mktemp("p")
    (folder / "secrets.toml").write_text(SECRETS.format(client=CLIENT, url=provider.url))
    told = {"STREAMLIT_SECRETS_FILES": str(folder / "secrets.toml"), "LECTERN_DOORS__USERS": '["@example.org"]'}
    told |= {"LECTERN_DOORS__APART": "true", "LECTERN_DOORS__RUN_BY": "root@example.org,eve@example.com"}
    with serve(folder / "library", folder / "log", **told) as running:
        yield running
        assert "Traceback" not in running.log.read_text()


@pytest.fixture(scope="module")
def ada(browser: Browser, apart: Server, provider: Provider) -> Iterator[Person]:
    """Ada, who has a document, a collection with it and a conversation."""
    person = Person(browser, apart, provider, "Ada@example.org")
    person.sign_in()
    person.add("vantablack.md", SECRET)
    page = person.page
    page.get_by_role("button", name="New collection").click()
    page.locator(".st-key-collection_title input").fill("TopSecret")
    page.locator(".st-key-collection_documents input").click()
    page.get_by_role("option", name="Orchestra").click()
    page.locator(".st-key-collection_title input").click()
    page.get_by_role("dialog").get_by_role("button", name="Make").click()
    page.get_by_role("heading", name="TopSecret").wait_for()
    person.go("chat")
    ask(page, QUESTION)
    expect(page.locator(".exchange .body")).to_contain_text("7715533", timeout=_SLOW_MS)
    yield person
    person.context.close()


@pytest.fixture(scope="module")
def bob(browser: Browser, apart: Server, provider: Provider, ada: Person) -> Iterator[Person]:
    person = Person(browser, apart, provider, BOB)
    person.sign_in()
    yield person
    person.context.close()


@pytest.fixture(scope="module")
def keyed(apart: Server, ada: Person) -> Iterator[httpx.Client]:
    """REST with the server's own key, as whoever runs it has it."""
    key = json.loads((apart.data_dir / "server.json").read_text())["key"]
    with httpx.Client(base_url=f"{apart.url}/api/v1/", headers={"X-API-Key": key}, timeout=60) as client:
        yield client


def ids(keyed: httpx.Client) -> tuple[str, str, str]:
    """Of Ada's document, collection and conversation."""
    (document,) = [one for one in keyed.get("documents").json()["documents"] if "vantablack.md" in one["sources"]]
    (collection,) = keyed.get("collections").json()["collections"]
    conversation = keyed.get("conversations").json()["conversations"][-1]
    return document["id"], collection["id"], conversation["id"]


def test_nothing_of_one_is_shown_to_another(ada: Person, bob: Person, keyed: httpx.Client) -> None:
    document, collection, conversation = ids(keyed)
    page = bob.go()
    page.get_by_role("heading", name="Ask your own documents").wait_for()
    expect(page.locator(".shelf")).to_have_count(0)
    for path in ("chat", "search", "insights", "insights?view=jobs", "insights?view=not_found", "insights?view=map"):
        bob.go(path)
    bob.add("note.txt", NOTE)
    for path in (
        f"?d={document}", f"?collection={collection}", f"?d={document}&p=1", f"chat?c={conversation}",
        f"search?q=Which+instrument+is+expensive&d={document}", f"insights?d={document}",
        "insights?days=all&view=documents", "insights?days=all&view=asked", "library", "system", "models", "evaluation",
    ):  # fmt: skip
        bob.go(path)
    page = bob.go(f"chat?c={conversation}")
    ask(page, "How much does a ticket cost, and which instrument is expensive?")
    expect(page.locator(".exchange .body")).to_contain_text("31", timeout=_SLOW_MS)
    idle(page)
    page.keyboard.press("Control+k")
    page.wait_for_timeout(1000)
    assert "vantablack.md" in "".join(ada.heard), "what is listened to tells what is shown"
    assert secrets_in("".join(bob.heard)) == []
    assert secrets_in(page.content()) == []
    page = ada.go(f"chat?c={conversation}")
    expect(page.locator(".exchange")).to_have_count(1)
    assert "Utrecht" not in "".join(ada.heard)


def test_nothing_is_asked_of_the_server_past_the_pages(ada: Person, bob: Person, keyed: httpx.Client) -> None:
    document, _, _ = ids(keyed)
    ways = [f"viewer/{document}{way}" for way in ("", "/find?q=xylophone", "/original", "/pages/1", "/pages/1?flow=1",
            "/pages/1/picture", "/pages/1/figures/0")]  # fmt: skip
    for way in ways:
        told, of_none = bob.get(way), bob.get(way.replace(document, "f" * 32))
        assert (told.status_code, told.text) == (of_none.status_code, of_none.text), way
        assert told.status_code == 404, way
        assert httpx.get(f"{bob.server.url}/{way}").status_code == 401, way
    assert [ada.get(way).status_code for way in ways[:5]] == [200] * 5
    found = {
        one.address: one.get("viewer/find?q=").text + one.get("viewer/find?mention=1&q=").text for one in (ada, bob)
    }
    assert "TopSecret" in found[ada.address]
    assert "vantablack.md" in found[ada.address]
    assert secrets_in(found[bob.address]) == []
    for way in ("documents", "conversations", "search?q=xylophone", "jobs", "insights", "settings", "audit", "keys"):
        assert bob.get(f"api/v1/{way}").status_code == 401, way


def test_a_session_that_somebody_else_goes_on_with_begins_anew(ada: Person, bob: Person, keyed: httpx.Client) -> None:
    of_ada, of_bob = (
        Visitor(one.server, {cookie["name"]: cookie["value"] for cookie in one.context.cookies()
                if cookie["name"].startswith("_streamlit_user")})
        for one in (ada, bob)
    )  # fmt: skip
    with of_ada.page() as socket:
        assert "TopSecret" in of_ada.drawn(socket)
    time.sleep(1)
    with of_bob.page(of_ada.session) as socket:
        drawn = of_bob.drawn(socket)
    assert "bob" in drawn
    assert secrets_in(drawn) == []


def test_who_runs_the_library_has_the_whole_of_it(
    apart: Server, provider: Provider, browser: Browser, ada: Person, keyed: httpx.Client
) -> None:
    root = Person(browser, apart, provider, "Root@example.org")
    root.sign_in()
    expect(root.page.locator(".shelf")).to_contain_text("Orchestra")
    root.go("system").get_by_role("heading", name="System").wait_for()
    expect(root.go("models").get_by_role("heading", name="Models")).to_be_visible()
    assert root.get(f"viewer/{ids(keyed)[0]}").status_code == 200
    root.context.close()
    eve = Person(browser, apart, provider, "eve@example.com")  # who runs it, but may not come in
    provider.claims = {"email": eve.address, "email_verified": True}
    eve.page.goto(apart.url)
    eve.page.get_by_role("button", name="Sign in").click(timeout=_SLOW_MS)
    expect(eve.page.get_by_text("This library is not open to you")).to_be_visible(timeout=_SLOW_MS)
    assert eve.get(f"viewer/{ids(keyed)[0]}").status_code == 401
    assert secrets_in("".join(eve.heard)) == []
    eve.context.close()


def test_keys_of_people_open_what_is_theirs(keyed: httpx.Client, ada: Person) -> None:
    made = keyed.post("keys", json={"name": "Ada's", "role": "read", "person": ADA}).json()
    (document,) = keyed.get("documents", headers={"X-API-Key": made["text"]}).json()["documents"]
    assert document["sources"] == ["vantablack.md"]
    keyed.delete(f"keys/{made['key']['id']}")


def test_what_is_shared_is_shown_and_what_is_taken_back_is_not(ada: Person, bob: Person, keyed: httpx.Client) -> None:
    document, collection, conversation = ids(keyed)
    page = ada.go(f"?collection={collection}")
    page.locator('[class*="st-key-collection_menu_"] button').first.click()
    page.get_by_role("menuitem", name="Share").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Address").fill(BOB)
    dialog.get_by_role("button", name="Share").click()
    expect(dialog).to_contain_text(f"{BOB} Reads and asks")
    seen = bob.go()
    expect(seen.locator(".shelf tbody tr")).to_have_count(2)
    expect(seen.locator('[class*="st-key-collection_entry"]', has_text="TopSecret")).to_have_count(1)
    expect(seen.locator('[class*="st-key-collection_menu_"]')).to_have_count(0)
    seen = bob.go("search?q=xylophone")
    expect(seen.locator(".st-key-search_page")).to_contain_text("Vantablack")
    assert bob.get(f"viewer/{document}").status_code == 200
    seen = bob.go("chat")
    ask(seen, QUESTION)
    expect(seen.locator(".exchange .body")).to_contain_text("7715533", timeout=_SLOW_MS)
    seen = bob.go(f"?d={document}")
    seen.get_by_role("heading", name="Orchestra").first.wait_for()
    dialog.get_by_role("button", name="Take back").click()
    expect(dialog).to_contain_text("Shared with nobody.")
    seen = bob.go(f"?d={document}")
    expect(seen.get_by_text("This document is no longer in the library.")).to_be_visible()
    assert bob.get(f"viewer/{document}").status_code == 404
    assert bob.get(f"viewer/{document}/pages/1").status_code == 404
    expect(bob.go().locator(".shelf tbody tr")).to_have_count(1)
    assert keyed.get(f"conversations/{conversation}/messages").json()
