"""Nothing that axe-core finds is wrong with any page: https://github.com/dequelabs/axe-core, of development alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ask, idle

AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")
PAGES = ("", "chat", "search?q=ferry", "evaluation", "insights", "models", "system")
pytestmark = pytest.mark.usefixtures("filled")


def wrong(page: Page) -> list[str]:
    """What axe finds, of any impact."""
    idle(page)
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found["violations"]]


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
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


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
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
