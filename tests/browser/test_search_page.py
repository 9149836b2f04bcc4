"""Searching, opening the page of a hit, asking about it, and what a conversation is narrowed to."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ask, boxes
from tests.browser.test_looks import faint

pytestmark = pytest.mark.browser
Open = Callable[..., Page]
HANDBOOK = "Handbook of the Veyra Ferry"


@pytest.fixture(autouse=True)
def samples(filled: None) -> None:
    """Every test here needs documents."""


def test_a_page_is_found_opened_and_asked_about(open_page: Open) -> None:
    page = open_page("search")
    line = page.locator(".st-key-search_question input")
    for _ in range(40):  # nothing on the page tells when it begins to listen
        if line.evaluate("element => element === document.activeElement"):
            break
        page.keyboard.press("/")
        page.wait_for_timeout(250)
    expect(line).to_have_value("")
    page.keyboard.type("fares to Tolsund")
    page.keyboard.press("Enter")
    fares = page.locator(".result", has_text=HANDBOOK).filter(has_text="p. 3").first
    expect(fares.locator("mark").first).to_have_text(re.compile("Fares?|Tolsund"))
    expect(fares.locator("img")).to_have_count(1)
    fares.locator(".open").click()
    assert boxes(page) >= 1
    expect(page.locator(".passage .where")).to_contain_text("Page 3 (6 of 13)")
    assert "q=fares+to+Tolsund" in page.url
    page.keyboard.press("Escape")
    expect(page.locator(".passage")).to_have_count(0)
    fares.get_by_role("button", name="Ask about it").click()
    page.locator(".st-key-chat_suggestions button", has_text="fares to Tolsund").click()
    expect(page.locator(".source", has_text=HANDBOOK).first).to_be_visible()
    expect(page.locator(".st-key-chat_scope_menu")).to_contain_text(HANDBOOK)


@pytest.mark.slow
def test_a_search_comes_back_by_its_address(open_page: Open) -> None:
    page = open_page("search?q=chlorine")
    page.locator(".result").first.get_by_role("button", name="Only this document").click()
    expect(page.locator(".st-key-search_scope_menu")).to_contain_text("water works")
    expect(page.get_by_text("from 1 document")).to_be_visible()
    second = open_page(page.url.split("/", 3)[3])
    expect(second.locator(".st-key-search_scope_menu")).to_contain_text("water works")
    expect(second.get_by_text("from 1 document")).to_be_visible()


@pytest.mark.slow
def test_a_name_after_an_at_narrows_the_conversation_for_every_tab(open_page: Open) -> None:
    page = open_page("chat")
    ask(page, "@handbook When is a ticket refunded in full?")
    expect(page.locator(".exchange .body")).to_contain_text("90 minutes late")
    scope = page.locator(".st-key-chat_scope_menu button")
    expect(scope).to_contain_text(HANDBOOK)
    page.get_by_role("button", name="What was searched").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Searched for When is a ticket refunded in full?")
    passages = dialog.locator(".st-key-chat_searched_passages")
    expect(passages).to_contain_text("90 minutes late")
    link = passages.get_by_role("link").first
    expect(link).to_have_attribute("href", re.compile(r"^\./\?d=[0-9a-f]{32}&p=\d+$"))
    expect(dialog.locator("canvas")).to_have_count(0)
    dialog.locator(".st-key-chat_searched_figures label").click()
    expect(dialog.locator(".st-key-chat_searched_candidates canvas").first).to_be_visible()
    page.keyboard.press("Escape")
    scope.click()
    page.get_by_test_id("stPopoverBody").get_by_role("button", name="All documents").click()
    expect(scope).to_contain_text("All documents")
    second = open_page(page.url.split("/", 3)[3])
    expect(second.locator(".st-key-chat_scope_menu")).to_contain_text("All documents")
    ask(second, "@storm How high did the sea rise?")
    expect(second.locator(".st-key-chat_scope_menu")).to_contain_text("STORM")
    page.reload()
    expect(scope).to_contain_text("STORM")


@pytest.mark.parametrize("dark", [pytest.param(False, marks=pytest.mark.slow), True], ids=["light", "dark"])
def test_a_day_of_adding_is_picked_from_a_calendar(open_page: Open, dark: bool) -> None:
    page = open_page("search?q=chlorine", dark=dark)
    page.locator(".result").first.wait_for()
    scope = page.locator(".st-key-search_scope_menu button").first
    scope.click()
    page.get_by_text("Added from").hover()
    assert faint(page) == []
    page.get_by_role("group", name="Added from").get_by_role("spinbutton").first.click()
    page.locator("[role=gridcell] [role=button]", has_text="1").first.click()
    first = f"{date.today():%Y-%m}-01"
    expect(scope).to_contain_text(f"since {first}")
    expect(page).to_have_url(re.compile(f"since={first}"))
    page.get_by_role("group", name="Added to").get_by_role("spinbutton").first.click()
    page.keyboard.type("20010203")
    page.get_by_text("Added to").click()
    expect(page.get_by_text("Nothing was found")).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_search_page_can_be_read(open_page: Open, dark: bool) -> None:
    page = open_page("search?q=fares+to+Tolsund", dark=dark)
    page.locator(".st-key-search_searched summary").click()
    page.locator(".result .open").first.click()
    page.locator(".passage .view").wait_for()
    assert faint(page) == []


def test_on_a_phone_nothing_is_cut_off(open_page: Open) -> None:
    page = open_page("search?q=fares+to+Tolsund", width=390, height=844)
    page.locator(".result").first.wait_for()
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    page.locator(".result .open").first.click()
    assert boxes(page) >= 1
    panel = page.locator(".st-key-search_passage").bounding_box()
    assert panel
    assert panel["width"] == 390
