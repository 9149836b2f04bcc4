"""Addresses, folders and what is followed, as a user does it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import TIMEOUT_MS, Server, ask, idle, serve
from tests.browser.test_library_page import row
from tests.rag_core.sources.site import Site, page, serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]
FERRY = "The ferry to Norden leaves the eastern pier at seven in the morning and returns at noon."


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as served:
        served.pages |= {
            "/docs/": page("The ferry", FERRY, "tickets"),
            "/docs/tickets": page("Tickets", "A ticket costs eleven euros, and children travel free of charge."),
        }
        yield served


@pytest.fixture
def server(tmp_path: Path, site: Site) -> Iterator[Server]:
    allowed = {"LECTERN_SOURCES__ALLOWED_HOSTS": json.dumps([site.host]), "LECTERN_SOURCES__WATCH_EVERY_S": "0.2"}
    with serve(tmp_path / "l", tmp_path / "log", **allowed) as running:
        yield running
        assert "Traceback" not in running.log.read_text()


def opened(browser: Browser, address: str) -> Page:
    tab = browser.new_page()
    tab.set_default_timeout(TIMEOUT_MS)
    tab.goto(address)
    tab.locator("h1, h2, .st-key-chat_heading").first.wait_for(timeout=60_000)
    idle(tab)  # what is clicked amid a run may be drawn over
    return tab


def test_a_site_and_folders_come_in_and_an_answer_links_to_its_page(
    browser: Browser, server: Server, site: Site, tmp_path: Path
) -> None:
    tab = opened(browser, server.url)
    tab.get_by_role("button", name="Web address").click()
    tab.get_by_label("Links followed from it").fill("1")
    tab.get_by_label("Address of a page").fill(site.url("/docs/"))
    tab.get_by_role("button", name="Add", exact=True).click()
    expect(tab.get_by_text("2 new or changed").first).to_be_visible(timeout=60_000)
    expect(row(tab, "Tickets")).to_contain_text("Ready")

    for name, text in {"chosen": "The harbour has two cranes.", "watched": "The bakery opens at six."}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text(text)
    tab.keyboard.press("Escape")
    idle(tab)
    tab.get_by_role("button", name="Folder", exact=True).click()
    idle(tab)
    tab.get_by_test_id("stPopoverBody").locator("input[type=file]").set_input_files(tmp_path / "chosen")
    expect(row(tab, "chosen")).to_contain_text("Ready", timeout=60_000)
    idle(tab)
    tab.get_by_label("Or follow a folder").fill(str(tmp_path / "watched"))
    tab.get_by_role("button", name="Follow", exact=True).click()
    expect(row(tab, "watched")).to_contain_text("Ready", timeout=60_000)
    (tmp_path / "watched" / "watched.txt").rename(tmp_path / "watched" / "bakery.txt")
    expect(row(tab, "bakery.txt")).to_contain_text("Ready", timeout=60_000)

    site.pages["/docs/tickets"] = page("Tickets", "A ticket costs twelve euros now.")
    tab.reload()
    idle(tab)
    tab.get_by_role("button", name="Followed (2)").click()
    tab.get_by_role("button", name="Update").first.click()
    expect(tab.get_by_text("1 new or changed, 1 as before").first).to_be_visible(timeout=60_000)
    tab.close()

    chat = opened(browser, f"{server.url}/chat")
    ask(chat, "What does a ticket cost?")
    chat.locator(".cite").first.click(timeout=60_000)
    expect(chat.locator(".passage a.origin")).to_have_attribute("href", site.url("/docs/tickets"))
    expect(chat.locator(".passage mark")).to_contain_text("twelve")
    chat.close()
