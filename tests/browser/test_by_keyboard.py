"""The main road by keyboard alone: add, ask, open, step, close, search, tag, remove, undo, export. No mouse is used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import idle

pytestmark = pytest.mark.browser
MOST = 120  # presses of Tab from the one end of a page to the other
FOCUSED = """() => {
  let one = document.activeElement;
  while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
  if (!one || one.matches("body, main, [role=dialog]")) return "";
  return (one.ariaLabel || one.innerText || one.value || "").trim();
}"""
FERRY = "# The ferry\n\nThe ferry to Norden leaves the eastern pier at seven in the morning.\n"
TICKETS = "# Tickets\n\nA ticket of the ferry to Norden costs eleven crowns for an adult.\n"


def reach(page: Page, label: str, key: str = "Tab") -> None:
    """Go on with Tab until what begins with a label has the focus."""
    for _ in range(MOST):
        if any(line.startswith(label) for line in page.evaluate(FOCUSED).splitlines()):  # an icon's name stands first
            return
        page.keyboard.press(key)
    raise AssertionError(f"nothing with {label!r} takes the focus; last: {page.evaluate(FOCUSED)!r}")


def go(page: Page, words: str, choice: str) -> None:
    """By Ctrl+K to what a choice of it says."""
    idle(page)
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Find a page").wait_for()
    page.keyboard.type(words)
    page.get_by_role("option", name=f"Search: {words}").wait_for()  # what is listed is of all the words
    option = page.get_by_role("option", name=choice).first
    option.wait_for()
    for _ in range(MOST):
        if option.get_attribute("aria-selected") == "true":
            break
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Find a page")).to_have_count(0)


def test_the_main_road_needs_no_mouse(open_page: Callable[..., Page], tmp_path: Path) -> None:
    for name, text in (("ferry.md", FERRY), ("tickets.md", TICKETS)):
        (tmp_path / name).write_text(text)
    page = open_page()
    # Heard from here on: what is waited for only when the key is pressed can come before.
    page.on("filechooser", lambda chooser: chooser.set_files([str(path) for path in sorted(tmp_path.glob("*.md"))]))
    idle(page)
    reach(page, "upload")
    expect(page.get_by_role("button", name="Choose files")).to_be_focused()
    page.keyboard.press("Enter")
    shelf = page.locator(".shelf tbody tr")
    expect(shelf).to_have_count(2, timeout=60_000)
    expect(shelf.first).to_contain_text("Ready")

    go(page, "chat", "Chat")
    page.get_by_role("heading", name="What would you like to know?").wait_for()
    expect(page).to_have_title("Chat · Lectern")
    idle(page)
    page.keyboard.press("/")
    expect(page.locator("textarea:focus")).to_have_count(1)
    page.keyboard.type("When does the ferry to Norden leave, and what does a ticket cost for an adult?")
    page.keyboard.press("Enter")
    expect(page.locator(".exchange")).to_have_attribute("data-state", "done", timeout=60_000)
    idle(page)

    reach(page, "Open passage 1", "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".passage mark.cited").first).to_be_in_viewport()
    reach(page, "Next citation")
    page.keyboard.press("Enter")
    expect(page.locator(".passage .steps")).to_contain_text("2 of 2")
    expect(page.locator(".passage mark.cited").first).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.locator(".passage")).to_have_count(0)
    idle(page)
    reach(page, "More")
    page.keyboard.press("Enter")
    expect(page.get_by_role("menu")).to_be_focused()
    reach(page, "Export", "ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").wait_for()
    idle(page)
    reach(page, "Markdown")
    with page.expect_download() as saved:
        page.keyboard.press("Enter")
    assert "eleven crowns" in Path(saved.value.path()).read_text()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    go(page, "eastern pier", "Search: eastern pier")
    expect(page.locator(".result").first).to_contain_text("seven in the morning")

    go(page, "library", "Library")
    expect(shelf).to_have_count(2)
    idle(page)
    reach(page, "Add a tag")
    page.keyboard.press("Enter")
    page.keyboard.type("travel")
    page.keyboard.press("Enter")
    expect(page.locator(".shelf .tag")).to_contain_text("travel")
    idle(page)
    reach(page, "Remove ")
    page.keyboard.press("Enter")
    expect(shelf).to_have_count(1)
    idle(page)
    reach(page, "Undo", "Shift+Tab")
    page.keyboard.press("Enter")
    expect(shelf).to_have_count(2)
