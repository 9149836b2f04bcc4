"""Ctrl+K, @ and ? by keyboard alone; from documents to a question; what can be asked next."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.conftest import idle

pytestmark = pytest.mark.usefixtures("filled")


def test_anything_is_found_and_asked_by_keyboard_alone(open_page: Callable[..., Page]) -> None:
    page = open_page("models")
    page.locator(".finder").wait_for(state="attached")
    idle(page)
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Find a page")
    field.press_sequentially("ferry")
    expect(page.locator(".finder .found").first).to_contain_text("Handbook of the Veyra Ferry")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Handbook of the Veyra Ferry").wait_for()
    idle(page)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Turn pages")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("Control+k")
    field.press_sequentially("chat")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="What would you like to know?").wait_for()
    idle(page)
    line = page.locator(".st-key-chat_question textarea")
    expect(line).to_be_focused()  # the cursor comes by itself
    idle(page)
    page.keyboard.press("/")
    expect(line).to_be_focused()
    page.keyboard.type("How long is lost property kept @ferr")
    expect(page.get_by_role("option", name="Handbook of the Veyra Ferry").first).to_be_visible()
    page.keyboard.press("Enter")  # takes what was completed, and asks nothing yet
    expect(line).to_have_value('How long is lost property kept @"Handbook of the Veyra Ferry" ')
    page.keyboard.press("Enter")
    expect(page.locator(".exchange .body")).to_contain_text("60 days")
    asks = page.locator(".exchange .asks button")
    asks.first.wait_for(timeout=60_000)
    asked = asks.first.inner_text()
    idle(page)
    asks.first.click()
    expect(page.locator(".exchange .question").last).to_have_text(asked)
    expect(page.locator(".exchange").last).to_have_attribute("data-state", "done", timeout=60_000)


def test_chosen_documents_are_asked_and_the_panel_of_the_scope_closes(open_page: Callable[..., Page]) -> None:
    page = open_page()
    for row in (0, 1):
        page.locator(".shelf tbody input").nth(row).check()
    page.get_by_role("button", name="Ask these 2").click()
    page.get_by_role("heading", name="What would you like to know?").wait_for()
    menu = page.locator(".st-key-chat_scope_menu button")
    expect(menu).to_contain_text("2 documents")
    idle(page)
    menu.click()
    expect(page.locator('[data-testid="stPopoverBody"]')).to_be_visible()
    page.locator(".st-key-chat_question textarea").fill("How long is lost property kept?")
    page.keyboard.press("Enter")
    expect(page.locator('[data-testid="stPopoverBody"]')).to_have_count(0)


def test_what_is_not_there_is_said_in_our_words(open_page: Callable[..., Page]) -> None:
    page = open_page("chat?c=none")
    expect(page.get_by_text("This conversation was deleted")).to_be_visible()
    page = open_page("nowhere")
    expect(page.get_by_role("dialog", name="There is no such page")).to_contain_text("the library instead")


def test_a_page_is_drawn_whose_coming_the_browser_hears_of_late(open_page: Callable[..., Page]) -> None:
    """Meanwhile parts of the page before it ask to be drawn again, each second."""
    page = open_page()
    title = "Handbook of the Veyra Ferry"
    held: list[str | bytes] | None = None
    asked: list[str | bytes] = []
    routes: list[WebSocketRoute] = []

    def route(browser: WebSocketRoute) -> None:
        server = browser.connect_to_server()

        def ask(message: str | bytes) -> None:
            asked.append(message)
            server.send(message)

        browser.on_message(ask)
        server.on_message(lambda message: browser.send(message) if held is None else held.append(message))
        routes.append(browser)

    def wait_for(holds: Callable[[], object]) -> None:
        ends = time.monotonic() + 60
        while not holds():
            assert time.monotonic() < ends
            page.wait_for_timeout(100)

    page.route_web_socket("**/_stcore/stream**", route)
    page.goto(f"{page.url.rstrip('/')}/models")
    page.locator(".finder").wait_for(state="attached")
    idle(page)
    field = page.get_by_role("combobox", name="Find a page")
    while not field.is_visible():  # a key that falls amid a run is lost
        page.keyboard.press("Control+k")
        page.wait_for_timeout(1000)
    field.press_sequentially("ferry")
    expect(page.locator(".finder .found").first).to_contain_text(title, timeout=60_000)
    idle(page)
    held = []
    page.keyboard.press("Enter")
    wait_for(lambda: any(title.encode() in message for message in held or () if isinstance(message, bytes)))
    before = len(asked)
    wait_for(lambda: len(asked) > before)  # a part of the page before
    page.wait_for_timeout(1000)  # in which it is answered
    late, held = held, None
    for message in late:
        routes[-1].send(message)
    page.get_by_role("heading", name=title).wait_for(timeout=60_000)
    page.wait_for_timeout(1500)  # what the new page draws again by itself
    expect(page.get_by_role("heading", name=title)).to_be_visible()
