"""The pages in the language of their reader, as the browser asks for it and as it was chosen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from pages.parts import language
from tests.browser.conftest import TIMEOUT_MS, Server, idle

pytestmark = pytest.mark.browser
PLACES = ("", "chat", "search", "evaluation", "insights", "models", "system")


@pytest.fixture(params=["de-DE", "ja-JP"])
def abroad(request: pytest.FixtureRequest, browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(locale=request.param)
    yield context
    context.close()


def widest(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth"))


@pytest.mark.slow
def test_every_page_speaks_the_language_of_the_browser(abroad: BrowserContext, filled: None, server: Server) -> None:
    page = abroad.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    code = page.evaluate("navigator.language.slice(0, 2)")
    known = language.catalogue(code)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for place in PLACES:
            page.goto(f"{server.url}/{place}")
            page.locator("h1, h2").first.wait_for(timeout=TIMEOUT_MS)
            expect(page.locator("html")).to_have_attribute("lang", code, timeout=TIMEOUT_MS)
            idle(page)
            links = page.locator('[data-testid="stSidebarNavLink"]').all_text_contents()
            assert any(known.gettext("Library") in link for link in links), place
            assert widest(page) <= width, place


def test_a_choice_is_kept(browser: Browser, filled: None, server: Server) -> None:
    context = browser.new_context(locale="en-US")
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    page.goto(f"{server.url}/system")
    expect(page.locator("html")).to_have_attribute("lang", "en", timeout=TIMEOUT_MS)
    page.locator(".st-key-system_language").get_by_role("combobox").click()
    page.get_by_role("option", name="Deutsch").click()
    expect(page.get_by_role("heading", name="System", exact=True)).to_be_visible(timeout=TIMEOUT_MS)
    expect(page.get_by_role("heading", name="Sicherung", exact=True)).to_be_visible(timeout=TIMEOUT_MS)
    expect(page.locator("html")).to_have_attribute("lang", "de", timeout=TIMEOUT_MS)
    other = context.new_page()
    other.goto(server.url)
    expect(other.get_by_role("heading", name="Bibliothek", exact=True)).to_be_visible(timeout=TIMEOUT_MS)
    expect(other.locator(".shelf th").filter(has_text="Titel")).to_be_visible()
    context.close()
