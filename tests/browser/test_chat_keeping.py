"""What is taken out of a conversation: files, and what is copied."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ask, idle

pytestmark = [pytest.mark.browser, pytest.mark.slow]
Open = Callable[..., Page]
CITED = "[Handbook of the Veyra Ferry, Refunds, p."


def download(page: Page, name: str) -> bytes:
    with page.expect_download() as caught:
        page.get_by_role("dialog").get_by_role("button", name=name).click()
    return Path(caught.value.path()).read_bytes()


def test_a_conversation_is_exported_and_copied(open_page: Open, filled: None) -> None:
    page = open_page("chat")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    idle(page)
    ask(page, "When is a ticket refunded in full?")
    page.locator(".source").first.wait_for()
    page.get_by_role("button", name="Copy answer").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert CITED in page.evaluate("navigator.clipboard.readText()")
    page.get_by_role("button", name="What was searched").click()
    expect(page.get_by_text("The answer: ")).to_contain_text("in all")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    idle(page)
    page.locator(".st-key-chat_menu button").click()
    page.get_by_text("Export", exact=True).click()
    page.get_by_role("button", name="Copy all of it").click()
    expect(page.get_by_role("dialog").get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("# Ticket refunded in full")
    assert CITED in download(page, "Markdown").decode().replace("\\", "")
    assert download(page, "PDF").startswith(b"%PDF-")
    assert json.loads(download(page, "JSON"))["documents"][0]["title"] == "Handbook of the Veyra Ferry"
    assert b"title = {{Handbook of the Veyra Ferry}}" in download(page, "BibTeX")
    expect(page.get_by_role("button", name="BibTeX")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_dialog_ends_with_its_page_and_back_opens_none_again(open_page: Open, filled: None) -> None:
    page = open_page("search")
    dialog = page.get_by_role("dialog")
    for closes in (True, False):
        idle(page)
        page.get_by_role("link", name="Chat").click()
        page.locator(".st-key-chat_question textarea").wait_for()
        idle(page)
        expect(dialog).to_have_count(0)
        page.get_by_role("button", name="New collection").click()
        dialog.get_by_label("Name").fill("Quay")
        if closes:
            page.keyboard.press("Escape")
            expect(dialog).to_have_count(0)
            idle(page)
        page.go_back()
        page.locator(".st-key-search_question").wait_for()
        expect(dialog).to_have_count(0)
    idle(page)
    page.get_by_role("link", name="Chat").click()
    page.locator(".st-key-chat_question textarea").wait_for()
    idle(page)
    expect(dialog).to_have_count(0)


def test_the_library_is_found_by_its_name_too(open_page: Open, filled: None) -> None:
    page = open_page("library?q=ferry")
    page.get_by_role("heading", name="Library", exact=True).wait_for()
    expect(page).to_have_url(re.compile(r":\d+/\?q=ferry$"))
    expect(page.get_by_role("link", name="Library")).to_have_count(1)
