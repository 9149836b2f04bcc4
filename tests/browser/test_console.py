"""What the browser's console says while the pages are opened: nothing."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from pages.parts.page_itself import PLACES
from tests.browser.conftest import TIMEOUT_MS, Server

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_no_page_that_is_opened_by_its_address_complains(browser: Browser, server: Server) -> None:
    context = browser.new_context()
    page, said = context.new_page(), list[str]()
    page.on("console", lambda one: said.append(f"{page.url}: {one.text}") if one.type == "error" else None)
    page.on("response", lambda one: said.append(f"{one.status} {one.url}") if one.status >= 400 else None)
    page.goto(server.url)
    page.locator(".st-key-frame_waiting").wait_for(state="detached", timeout=60_000)
    for place, title, _ in (("", "Library", ""), *PLACES):
        page.goto(f"{server.url}/{place}")
        expect(page.locator("[data-testid=stApp]")).to_have_attribute(
            "data-test-script-state", "notRunning", timeout=TIMEOUT_MS
        )
        link = page.locator("[data-testid=stSidebarNavLink][aria-current=page]")
        expect(link).to_contain_text(title)
        assert page.url.split("?")[0].rstrip("/") == f"{server.url}/{place}".rstrip("/")
    context.close()
    assert not said
