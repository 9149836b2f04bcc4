"""Collections in the side bar, and conversations there: made, looked at, asked, changed, removed and taken back."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Server, ask, idle

pytestmark = pytest.mark.usefixtures("filled")
LOST = "How long does the ferry keep lost property?"


def entry(page: Page, name: str) -> Locator:
    return page.locator(f'[class*="st-key-collection_entry"] button:has-text("{name}")')


def act(page: Page, what: str) -> None:
    page.locator('[class*="st-key-collection_menu_"] button').first.click()
    page.get_by_role("menuitem", name=what).click()
    idle(page)


def test_a_collection_is_made_and_has_its_documents_and_conversations(open_page: Callable[..., Page]) -> None:
    page = open_page("chat")
    ask(page, "What is the storm report about?")
    page.locator(".exchange .meta").wait_for()
    page = open_page()
    page.get_by_role("button", name="New collection").click()
    page.locator(".st-key-collection_title input").fill("Harbour")
    page.locator(".st-key-collection_documents input").click()
    page.get_by_role("option", name="Handbook of the Veyra Ferry").click()
    page.locator(".st-key-collection_title input").click()  # the list of documents closes
    page.get_by_role("dialog").get_by_role("button", name="Make").click()
    page.get_by_role("heading", name="Harbour").wait_for()
    expect(page.locator(".shelf tbody tr")).to_have_count(1)
    assert "collection=" in page.url
    page.get_by_role("link", name="Chat").click()
    page.get_by_role("heading", name="What would you like to know?").wait_for()
    expect(page.locator(".st-key-chat_scope_menu")).to_contain_text("Harbour")
    expect(page.locator('[class*="st-key-chat_row"]')).to_have_count(0)
    idle(page)
    ask(page, LOST)
    expect(page.locator(".exchange .body")).to_contain_text("60 days")
    expect(page.locator(".st-key-chat_list")).to_contain_text("Today")
    expect(page.locator(".st-key-chat_list")).to_contain_text("Ferry keep lost property")
    entry(page, "Everything").click()
    expect(page.locator(".st-key-chat_list")).to_contain_text("Storm report")


@pytest.mark.slow
def test_it_is_renamed_removed_and_taken_back(open_page: Callable[..., Page]) -> None:
    page = open_page()
    act(page, "Change")
    page.locator(".st-key-collection_title input").fill("Quay")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    page.get_by_role("heading", name="Quay").wait_for()
    expect(page.locator(".shelf .tag")).to_have_text(["Quay"])
    act(page, "Remove")
    page.get_by_role("heading", name="Library").wait_for()
    expect(page.locator(".shelf tbody tr")).to_have_count(3)
    page.get_by_role("button", name="Undo").click()
    expect(entry(page, "Quay")).to_be_visible()


@pytest.mark.slow
def test_it_is_shared_with_a_person_who_has_a_key(open_page: Callable[..., Page], server: Server) -> None:
    page = open_page()
    page.locator('[class*="st-key-collection_menu_"] button').first.click()
    page.get_by_role("menuitem", name="Change").wait_for()
    expect(page.get_by_role("menuitem", name="Share")).to_have_count(0)  # there is nobody to share with
    with httpx.Client(base_url=f"{server.url}/api/v1/", timeout=60) as client:
        made = client.post("keys", json={"name": "Ada's", "role": "write", "person": "ada@example.org"})
        (collection,) = client.get("collections").json()["collections"]
        members = f"collections/{collection['id']}/members"
        page = open_page()
        act(page, "Share")
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("Shared with nobody.")
        dialog.get_by_role("textbox", name="Address").fill("nobody")
        dialog.get_by_role("button", name="Share").click()
        expect(dialog).to_contain_text("“nobody” is no address of a person.")
        dialog.get_by_role("textbox", name="Address").fill("Ada@example.org")
        dialog.get_by_role("button", name="Share").click()
        expect(dialog).to_contain_text("ada@example.org Reads and asks")
        assert client.get(members).json()["members"] == [{"person": "ada@example.org", "role": "reader"}]
        dialog.get_by_role("button", name="Take back").click()
        expect(dialog).to_contain_text("Shared with nobody.")
        assert client.get(members).json()["members"] == []
        actions = [entry["action"].split()[0] for entry in client.get("audit").json()["entries"]]
        assert {"people.share", "people.unshare"} <= set(actions)
        client.delete(f"keys/{made.json()['key']['id']}")


@pytest.mark.slow
def test_each_conversation_has_a_menu(open_page: Callable[..., Page]) -> None:
    page = open_page("chat")
    row = page.locator('[class*="st-key-chat_row"]', has_text="Storm report")
    row.locator('[class*="st-key-chat_menu_"] button').click()
    page.get_by_role("menuitem", name="Into Quay").click()
    idle(page)
    entry(page, "Quay").click()
    expect(page.locator('[class*="st-key-chat_row"]')).to_have_count(2)
    row.locator('[class*="st-key-chat_menu_"] button').click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator('[class*="st-key-chat_row"]')).to_have_count(1)
