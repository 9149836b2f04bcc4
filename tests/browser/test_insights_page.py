"""The insights page over a real library that was asked: numbers, charts, files, and the map that opens documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, ask, idle, serve
from tests.browser.test_looks import PHONE, faint

pytestmark = [pytest.mark.browser, pytest.mark.slow]
Open = Callable[..., Page]
CHART = "[data-testid=stVegaLiteChart] canvas, [data-testid=stVegaLiteChart] svg"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that clusters its documents by itself, as it is in use."""
    folder = tmp_path_factory.mktemp("b")
    with serve(folder / "library", folder / "log", LECTERN_HIERARCHY__BACKGROUND="true") as running:
        yield running
        assert "Traceback" not in running.log.read_text()


def test_what_was_asked_is_told_drawn_and_exported(open_page: Open, filled: None, tmp_path: Path) -> None:
    page = open_page("chat")
    for question in ("When is a ticket refunded in full?", "Who won the football match yesterday?"):
        ask(page, question)
        expect(page.locator(".exchange").filter(has_text=question)).to_contain_text("What was searched")
    page.get_by_role("link", name="Insights").click()
    cards = page.locator(".st-key-insights_cards")
    for said in ("Questions2", "Answered50 %", "Perhaps0 %", "Not found50 %", "Documents1 of 3"):
        expect(cards).to_contain_text(said)
    expect(page.locator(CHART).first).to_be_visible()
    assert faint(page) == []

    page.locator(".st-key-insights_view").get_by_text("Not found").click()
    expect(page.get_by_role("heading", name="What was not found")).to_be_visible()
    expect(page.locator(".st-key-insights_list_alone")).to_contain_text("Who won the football match yesterday?")
    page.get_by_text("The numbers", exact=True).click()
    page.locator("[data-testid=stDataFrame]").hover()
    expect(page.get_by_role("button", name="Search", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Download as CSV")).to_be_hidden()  # its formulas are not defused
    with page.expect_download() as download:
        page.locator(".st-key-insights_csv_not_found button").click()
    download.value.save_as(tmp_path / "a.csv")
    assert "football" in (tmp_path / "a.csv").read_text(encoding="utf-8-sig")
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="All numbers (JSON)").click()
    download.value.save_as(tmp_path / "a.json")
    assert len(json.loads((tmp_path / "a.json").read_text())["insights"]["not_found"]) == 1


def test_the_map_opens_documents_and_leads_to_the_tree(open_page: Open, filled: None, server: Server) -> None:
    page = open_page("insights?view=map", dark=True)
    page.locator(".st-key-insights_cards").wait_for()
    for _ in range(40):  # the documents are clustered meanwhile
        if page.locator(".st-key-insights_clusters button").count():
            break
        page.wait_for_timeout(1_000)
        page.reload()
        page.locator(".st-key-insights_cards").wait_for()
        page.locator(".st-key-insights_map, .st-key-insights_empty").first.wait_for()
    page.locator(CHART).first.wait_for()
    assert faint(page) == []
    mark = page.locator(".st-key-insights_map_chart .mark-symbol path")
    expect(mark).to_have_count(3)
    mark.first.hover()
    expect(page.locator("#vg-tooltip-element")).to_contain_text("Cluster")
    page.locator(".st-key-insights_clusters button").first.click()
    page.get_by_role("button", name="Open among the topics").click()
    expect(page.locator(".st-key-upload_clusters button").filter(has_text="passages").first).to_be_visible()
    page.go_back()
    idle(page)
    mark.first.click()
    expect(page.locator(".st-key-upload_document")).to_be_visible()


def test_on_a_phone_nothing_is_cut_off(open_page: Open, filled: None) -> None:
    page = open_page("insights", **PHONE)
    page.locator(".st-key-insights_cards").wait_for()
    idle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
