"""The evaluation page over a real library: from the samples to a comparison, what follows from it, and a restart."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server
from tests.browser.test_looks import PHONE, faint

pytestmark = [pytest.mark.browser, pytest.mark.slow]
Open = Callable[..., Page]
QUESTION = "How long does the ferry keep lost property?"


def result(page: Page) -> None:
    expect(page.get_by_role("heading", name="Result")).to_be_visible(timeout=60_000)


def compare(page: Page, server: Server) -> None:
    """Run the two configurations that are ticked on the questions of the samples."""
    expect(page.get_by_label("Question set")).to_have_value("Sample questions (43)")
    page.locator(".st-key-evaluation_run button").click()
    result(page)
    server.compared = True


@pytest.fixture
def compared(open_page: Open, server: Server, filled: None) -> None:
    """Two configurations were run."""
    if not server.compared:
        compare(open_page("evaluation"), server)


def test_from_the_samples_to_a_comparison_of_two_configurations(open_page: Open, server: Server, filled: None) -> None:
    page = open_page()
    page.get_by_role("link", name="Evaluation").click()
    compare(page, server)
    expect(page.locator(".st-key-evaluation_verdict")).to_contain_text("beyond chance")
    expect(page.locator(".st-key-evaluation_summary tbody tr").first).to_contain_text("%")
    expect(page.locator(".st-key-evaluation_charts canvas, .st-key-evaluation_charts svg.marks")).to_be_visible()
    for shown in (page, open_page(page.url.split("/", 3)[3], dark=True)):
        result(shown)
        shown.locator(".st-key-evaluation_history tbody tr").nth(1).wait_for()
        assert faint(shown) == []
    with page.expect_download() as saved:
        page.get_by_role("button", name="Export").click()
        page.get_by_role("button", name="JSON, everything").click()
    assert json.loads(saved.value.path().read_text())
    page.reload()
    page.get_by_role("button", name=QUESTION).click()
    expect(page.locator(".evidence").first).to_contain_text("holds the answer")
    page.locator(".evidence mark").first.wait_for()
    assert faint(page) == []


def test_a_configuration_becomes_the_librarys_and_is_taken_back(open_page: Open, compared: None) -> None:
    page = open_page("evaluation")
    result(page)
    page.get_by_role("button", name="Make “More passages").click()
    page.get_by_role("dialog").get_by_role("button", name="Make it the library").click()
    back = page.get_by_role("button", name="Take it back")
    back.wait_for()
    own = page.locator(".st-key-evaluation_try_0")
    expect(own).to_contain_text(re.compile(r"Passages \(k\):\W*10;"))
    back.click()
    expect(own).to_contain_text(re.compile(r"Passages \(k\):\W*6;"))


def test_on_a_phone_nothing_is_cut_off(open_page: Open, compared: None) -> None:
    page = open_page("evaluation", **PHONE)
    result(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Questions", exact=True).click()
    page.get_by_role("button", name=f"Remove {QUESTION}").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert faint(page) == []


def test_drafted_questions_are_accepted_or_dropped(open_page: Open, filled: None) -> None:
    page = open_page("evaluation")
    page.get_by_role("button", name="New set").click()
    page.get_by_role("button", name="Make it").click()
    page.get_by_role("button", name="Draft from my documents").click()
    page.get_by_role("dialog").get_by_role("button", name="Draft").click()
    card = page.locator(".st-key-evaluation_card")
    expect(card).to_contain_text("20 questions to look at")
    card.get_by_role("button", name="Drop", exact=True).click()
    expect(card).to_contain_text("19 questions to look at")
    card.get_by_role("button", name="Accept", exact=True).click()
    expect(card).to_contain_text("18 questions to look at")
    card.get_by_role("button", name="Accept all").click()
    expect(card).to_have_count(0)
    page.get_by_role("button", name="Evaluation", exact=True).click()
    page.get_by_role("button", name="Run 19 questions").click()
    result(page)
