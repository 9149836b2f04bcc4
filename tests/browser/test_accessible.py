"""Nothing that axe-core finds is wrong with any page: https://github.com/dequelabs/axe-core, of development alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Server, add_sheet, ask, idle

AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")
PAGES = ("", "chat", "search?q=ferry", "evaluation", "insights", "models", "system")
# A question of each outcome, and one that a whole sheet answers.
ANSWERS = {
    "How long does the ferry keep lost property?": "done",
    "What is the capital of Peru?": "abstained",
    "how many passengers did the ferry carry in 2022?": "perhaps",
    "How many orders came from each city?": "done",
}
UNFOLD = """() => {
  const roots = [document, ...[...document.querySelectorAll("*")].map((one) => one.shadowRoot).filter(Boolean)];
  roots.forEach((root) => root.querySelectorAll("details").forEach((one) => (one.open = true)));
}"""
pytestmark = pytest.mark.usefixtures("filled")
both_themes = pytest.mark.parametrize(
    "dark", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["light", "dark"]
)


def wrong(page: Page, without: str = "") -> list[str]:
    """What axe finds, of any impact; `without` a rule that what Streamlit itself draws breaks."""
    idle(page)
    page.evaluate(AXE)
    options = {"resultTypes": ["violations"], "rules": {without: {"enabled": False}} if without else {}}
    for _ in range(20):  # what Streamlit draws is mended once the finder's script has come
        found = page.evaluate("options => axe.run(document, options)", options)["violations"]
        if not found:
            break
        page.wait_for_timeout(500)
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.slow)])
@both_themes
def test_no_page_has_a_fault(open_page: Callable[..., Page], width: int, dark: bool) -> None:
    page = open_page(width=width, height=844, dark=dark)
    root, found = page.url, {}
    for path in PAGES:
        if path:
            page.goto(f"{root}{path}")
            page.locator("h1, h2").first.wait_for()
        found[path] = wrong(page)
        if width > 1000:  # the same page on a large screen
            page.set_viewport_size({"width": 1920, "height": 1080})
            found[f"{path} at 1920"] = wrong(page)
            page.set_viewport_size({"width": width, "height": 844})
    assert not any(found.values()), found


@both_themes
def test_no_state_has_a_fault(open_page: Callable[..., Page], dark: bool) -> None:
    page = open_page("chat", dark=dark)
    ask(page, "How long does the ferry keep lost property?")
    page.locator(".exchange .meta").wait_for(timeout=60_000)
    found = {"answer": wrong(page)}
    page.locator(".exchange .cite").first.click()
    page.locator(".passage .box").first.wait_for()
    found["passage"] = wrong(page)
    page.locator(".passage").press("Escape")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Find a page").wait_for()
    found["found"] = wrong(page)
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Library").click()
    page.get_by_role("button", name="New collection").click()
    page.get_by_role("dialog").wait_for()
    found["dialog"] = wrong(page)
    idle(page)
    page.get_by_role("dialog").press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Handbook of the Veyra Ferry", exact=True).click()
    page.locator(".passage .page").first.wait_for()
    found["document"] = wrong(page)
    assert not any(found.values()), found


@pytest.mark.slow
@both_themes
def test_no_kind_of_answer_has_a_fault(open_page: Callable[..., Page], server: Server, dark: bool) -> None:
    add_sheet(
        server, "orders.csv", "Invoice,City,Total", [(f"I-{n}", ("Bern", "Oslo")[n % 2], str(n)) for n in range(9)]
    )
    page, found = open_page("chat", dark=dark), {}
    for number, (question, state) in enumerate(ANSWERS.items()):
        ask(page, question)
        answer = page.locator(".exchange").nth(number)
        expect(answer).to_have_attribute("data-state", state, timeout=60_000)
        page.evaluate(UNFOLD)
        found[question] = wrong(page)
    page.get_by_role("button", name="Bad answer").last.click()
    page.get_by_role("button", name="Edit this question").last.click()
    found["edited"] = wrong(page)
    page.keyboard.press("Escape")
    found["searched"] = in_dialog(page, page.get_by_role("button", name="What was searched").first)
    page.get_by_role("button", name="All documents").click()
    page.locator("[data-testid=stPopoverBody]").wait_for()
    found["scope"] = wrong(page)
    page.keyboard.press("Escape")
    page.locator(".st-key-chat_heading button").click()
    page.get_by_role("menu").wait_for()
    found["menu"] = wrong(page, without="region")  # Streamlit hangs its menus beside the page's landmarks
    page.keyboard.press("Escape")
    for name in ("Rename", "Export", "Delete"):
        idle(page)
        page.locator(".st-key-chat_heading button").click()
        found[name] = in_dialog(page, page.get_by_role("menuitem", name=name))
    assert not any(found.values()), found


@pytest.mark.slow
@both_themes
def test_no_state_of_the_library_has_a_fault(open_page: Callable[..., Page], server: Server, dark: bool) -> None:
    add_sheet(server, "fares.csv", "Route,Fare", [(f"R-{n}", str(n)) for n in range(9)])
    page, found = open_page(dark=dark), {}
    shelf = page.locator(".shelf tbody tr")
    shelf.nth(2).wait_for()
    for name in ("Web address", "Folder"):
        idle(page)
        page.get_by_role("button", name=name).click()
        page.locator("[data-testid=stPopoverBody]").wait_for()
        found[name] = wrong(page)
        page.keyboard.press("Escape")
    shelf.first.get_by_role("checkbox").check()
    found["chosen"] = wrong(page)
    shelf.first.get_by_role("button", name="Remove ").click()
    page.get_by_role("button", name="Undo").wait_for()
    found["removed"] = wrong(page)
    page.get_by_role("button", name="Undo").click()
    for title in ("Handbook of the Veyra Ferry", "fares"):
        idle(page)
        shelf.get_by_role("button", name=title, exact=True).click()
        page.locator(".passage .page").first.wait_for()
        views = page.locator(".st-key-upload_view").get_by_role("radio")
        for number in range(views.count()):
            idle(page)
            views.nth(number).click()
            found[f"{title}, {number}"] = wrong(page)
        page.get_by_role("button", name="All documents").click()
    assert not any(found.values()), found


@pytest.mark.slow
@both_themes
def test_no_view_and_no_dialog_of_the_other_pages_has_a_fault(
    open_page: Callable[..., Page], server: Server, dark: bool
) -> None:
    page, found = open_page("insights", dark=dark), {}
    views = page.locator(".st-key-insights_view").get_by_role("radio")
    for number in range(views.count()):
        idle(page)
        views.nth(number).click()
        found[f"insights, {number}"] = wrong(page)
    page.goto(f"{server.url}/evaluation")
    found["configurations"] = in_dialog(page, page.get_by_role("button", name="Add a configuration"))
    page.get_by_role("radio", name="Questions", exact=True).click()
    found["questions"] = wrong(page, without="empty-table-header")  # of the column of ticks, which Streamlit draws
    for path in ("models", "system", "no-such-page", "chat?c=gone"):
        page.goto(f"{server.url}/{path}")
        page.locator("h1, h2").first.wait_for()
        idle(page)
        page.evaluate(UNFOLD)
        found[path] = wrong(page)
    assert not any(found.values()), found


def in_dialog(page: Page, opens: Locator) -> list[str]:
    """What axe finds while a dialog is open that something opens."""
    idle(page)
    opens.click()
    page.get_by_role("dialog").wait_for()
    found = wrong(page)
    page.get_by_role("dialog").press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    return found
