"""The question line and what leads back to it: focus, the slash, asking again, editing, suggestions."""

from __future__ import annotations

import json
import urllib.request
import uuid
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from tests.browser.conftest import Server, ask, boxes, idle

pytestmark = pytest.mark.browser
Open = Callable[..., Page]
REFUND = "When is a ticket refunded in full?"


@pytest.fixture(autouse=True)
def samples(filled: None) -> None:
    """Every test here needs documents."""


def line(page: Page) -> Locator:
    return page.locator(".st-key-chat_question textarea")


@pytest.mark.slow
def test_a_click_on_an_answer_is_heard_while_the_next_one_is_on_its_way(open_page: Open) -> None:
    """The browser hears late of what the server drew: what is clicked on was the last answer then."""
    page = open_page("chat")
    kept: list[str | bytes] | None = None
    routes: list[WebSocketRoute] = []

    def route(browser: WebSocketRoute) -> None:
        server = browser.connect_to_server()
        browser.on_message(server.send)
        server.on_message(lambda message: browser.send(message) if kept is None else kept.append(message))
        routes.append(browser)

    page.route_web_socket("**/_stcore/stream**", route)
    page.reload()
    page.locator(".st-key-chat_suggestions button").first.wait_for(timeout=60_000)
    idle(page)
    ask(page, REFUND)
    searched = page.get_by_role("button", name="What was searched")
    searched.wait_for()
    expect(page.get_by_role("log", name="Conversation").locator(".exchange")).to_have_count(1)
    idle(page)
    kept = []
    ask(page, "Is chlorine used in the water works?")
    page.wait_for_timeout(2000)
    searched.click()
    page.wait_for_timeout(1000)
    late, kept = kept, None
    assert late
    for message in late:
        routes[-1].send(message)
    expect(page.get_by_role("dialog").get_by_text(REFUND)).to_be_visible()


@pytest.mark.slow
def test_the_cursor_is_back_in_the_line_after_each_answer(open_page: Open) -> None:
    page = open_page("chat")
    suggestion = page.locator(".st-key-chat_suggestions button").first
    suggestion.focus()
    page.keyboard.press("Enter")
    page.locator(".source").first.wait_for()
    expect(line(page)).to_be_focused()
    page.keyboard.type(REFUND)
    page.keyboard.press("Enter")
    expect(page.locator(".exchange").nth(1).locator(".body")).to_contain_text("90 minutes late")
    expect(line(page)).to_be_focused()
    page.locator(".cite").last.click()
    expect(page.locator(".passage h2")).to_be_focused()
    page.keyboard.press("Escape")  # there "/" searches in the document
    expect(page.locator(".passage")).to_have_count(0)
    page.keyboard.press("/")
    expect(line(page)).to_be_focused()
    page.keyboard.type("and / is a letter here")
    expect(line(page)).to_have_value("and / is a letter here")
    page.get_by_role("radiogroup").locator("input").first.focus()
    page.keyboard.press("/")
    expect(line(page)).to_be_focused()


def test_in_a_long_conversation_the_last_answer_is_in_view_and_the_cursor_in_the_line(
    open_page: Open, server: Server
) -> None:
    conversation = str(uuid.uuid4())
    for _ in range(19):
        body = json.dumps({"question": "Thank you!", "conversation": conversation}).encode()
        asked = urllib.request.Request(f"{server.url}/api/v1/ask", body, {"Content-Type": "application/json"})
        urllib.request.urlopen(asked).close()
    page = open_page(f"chat?c={conversation}")
    expect(page.locator(".exchange")).to_have_count(19)
    ask(page, REFUND)
    last = page.locator(".exchange").nth(19).locator(".body")
    expect(last).to_contain_text("90 minutes late")
    expect(last).to_be_in_viewport()
    expect(line(page)).to_be_focused()


@pytest.mark.slow
def test_every_suggestion_is_answered(open_page: Open) -> None:
    page = open_page("chat")
    buttons = page.locator(".st-key-chat_suggestions button p")
    buttons.first.wait_for()
    for question in buttons.all_inner_texts():
        page.locator(".st-key-chat_new button").click()
        page.locator(".st-key-chat_suggestions button", has_text=question).click()
        expect(page.locator(".exchange")).to_have_attribute("data-state", "done")
        expect(page.locator(".fact").first).to_have_text("High confidence")
    page.locator(".fact").press("Enter")
    expect(page.locator(".meta li").first).to_contain_text("probability that this answers the question")


def test_a_question_is_edited_and_what_it_replaced_comes_back(open_page: Open) -> None:
    page = open_page("chat")
    ask(page, REFUND)
    page.locator(".source").first.wait_for()
    ask(page, "Is chlorine used in the water works?")
    page.locator(".exchange").nth(1).locator(".source").first.wait_for()
    page.locator(".question").first.hover()
    page.get_by_role("button", name="Edit this question").first.click()
    page.keyboard.press("Control+A")
    page.keyboard.type("How long is lostt property kept?")
    page.keyboard.press("Enter")
    expect(page.locator(".exchange")).to_have_count(1)
    expect(page.locator(".exchange .body")).to_contain_text("60 days")
    expect(page.locator(".replaced")).to_contain_text("2 earlier answers kept")
    page.get_by_role("button", name="Understood as: How long is lost property kept?").press("Enter")
    expect(page.get_by_label("Edit the question")).to_have_value("How long is lost property kept?")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Bring it back").click()
    expect(page.locator(".exchange")).to_have_count(2)
    expect(page.locator(".exchange .body").first).to_contain_text("90 minutes late")


@pytest.mark.slow
def test_an_agent_shows_its_steps_and_is_kept_chosen(open_page: Open) -> None:
    page = open_page("chat")
    page.locator(".st-key-chat_agent label").click()
    expect(page.get_by_role("switch", name="Agent")).to_be_checked()
    ask(page, "When was Lake Ormen put in use and what does an adult pay to Tolsund?")
    expect(page.locator(".exchange")).to_have_attribute("data-state", "done")
    expect(page.locator(".body")).to_contain_text("1978")
    steps = page.locator(".notes", has_text="3 steps")
    steps.locator("summary").click()
    expect(steps.locator("li")).to_have_count(3)
    expect(steps.locator("li").nth(1)).to_contain_text("Searched for “When was Lake Ormen put in use?”")
    expect(page.locator(".body")).to_contain_text("Adult, Tolsund: 15.80 crowns")
    page.locator(".cite[data-number='3']").click()  # behind the cell and the row of the year
    assert boxes(page) == 1, "the cell alone is marked"
    cell, picture = page.locator(".passage .box").bounding_box(), page.locator(".passage .sheet").first.bounding_box()
    assert cell and picture
    assert cell["width"] < picture["width"] / 10
    page.reload()
    expect(page.get_by_role("switch", name="Agent")).to_be_checked()
    page.get_by_role("button", name="New conversation").click()
    page.get_by_role("heading", name="What would you like to know?").wait_for()
    expect(page.get_by_role("switch", name="Agent")).not_to_be_checked()  # it is of that conversation alone
    idle(page)
    page.go_back()
    expect(page.locator(".exchange")).to_have_count(1)
    expect(page.get_by_role("switch", name="Agent")).to_be_checked()
    page.locator(".st-key-chat_agent label").click()
    expect(page.get_by_role("switch", name="Agent")).not_to_be_checked()
    idle(page)
    page.reload()
    expect(page.locator(".exchange")).to_have_count(1)
    expect(page.get_by_role("switch", name="Agent")).not_to_be_checked()
