"""The evaluation page over a real library: from the samples to a comparison, what follows from it, and a restart."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from pages.parts.table import ROW_PX
from tests.browser.conftest import Server, idle
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


def press(page: Page, table: str, column: int, row: int) -> None:
    """Click a button in the first columns of a table, which is a canvas."""
    idle(page)
    place = {"x": 22 + 44 * column, "y": 36 + ROW_PX * row + ROW_PX / 2}
    page.locator(f".st-key-{table} .dvn-scroller").click(position=place)


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
        shown.locator(".st-key-evaluation_history canvas").first.wait_for()
        assert faint(shown) == []
    with page.expect_download() as saved:
        page.get_by_role("button", name="Export").click()
        page.get_by_role("button", name="JSON, everything").click()
    assert json.loads(saved.value.path().read_text())
    page.reload()
    page.locator(".st-key-evaluation_history canvas").first.wait_for()
    press(page, "evaluation_results", 0, 1)
    expect(page.get_by_role("heading", name=QUESTION)).to_be_visible()
    expect(page.locator(".evidence").first).to_contain_text("holds the answer")
    page.locator(".evidence mark").first.wait_for()
    assert faint(page) == []


def test_a_dialog_stays_open_when_a_run_ends(open_page: Open, filled: None) -> None:
    page, other = open_page("evaluation"), open_page("evaluation")
    page.get_by_role("button", name="Add a configuration").click()
    idle(page)
    grid, theirs = (one.locator(".st-key-evaluation_history [role=grid]") for one in (page, other))
    before = int(grid.get_attribute("aria-rowcount") or 0) if grid.count() else 1  # the head is one
    other.locator(".st-key-evaluation_run button").click()
    name = page.get_by_role("dialog").get_by_label("Name")
    name.press_sequentially("Mine, not sent")
    expect(theirs).to_have_attribute("aria-rowcount", str(before + 2), timeout=60_000)
    idle(other)
    idle(page)
    expect(name).to_have_value("Mine, not sent")
    expect(name).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(grid).to_have_attribute("aria-rowcount", str(before + 2))
    idle(page)
    other.locator(".st-key-evaluation_run button").click()
    expect(grid).to_have_attribute("aria-rowcount", str(before + 4), timeout=60_000)
    idle(page)
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_what_is_ticked_is_shown_side_by_side(open_page: Open, compared: None) -> None:
    page = open_page("evaluation")
    result(page)
    expect(page.locator(".st-key-evaluation_summary th")).to_have_count(4)
    idle(page)
    history = page.locator(".st-key-evaluation_history .dvn-scroller")
    history.click(position={"x": 15, "y": 56})
    expect(page.locator(".st-key-evaluation_summary th")).to_have_count(2)
    expect(page).to_have_url(re.compile("runs="))
    idle(page)
    history.click(position={"x": 54, "y": 56})
    page.get_by_role("dialog").get_by_role("button", name="Keep it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_configuration_becomes_the_librarys_and_is_taken_back(open_page: Open, filled: None) -> None:
    page = open_page("evaluation")
    # Beside it, one that is worse is not offered.
    page.get_by_role("checkbox", name="The library as it is").uncheck(force=True)
    expect(page.locator(".st-key-evaluation_run button")).not_to_contain_text("×")
    page.locator(".st-key-evaluation_run button").click()
    result(page)
    page.get_by_role("button", name="Make “More passages").click()
    page.get_by_role("dialog").get_by_role("button", name="Make it the library").click()
    back = page.get_by_role("button", name="Take it back")
    back.wait_for()
    told, help_button = page.get_by_test_id("stTooltipContent"), page.locator(".st-key-evaluation_try_0 button")
    idle(page)
    help_button.hover()
    expect(told).to_contain_text(re.compile(r"Passages \(k\):\W*10;"))
    back.click()
    expect(back).to_have_count(0)
    idle(page)
    help_button.hover()
    expect(told).to_contain_text(re.compile(r"Passages \(k\):\W*6;"))


def test_on_a_phone_nothing_is_cut_off(open_page: Open, compared: None) -> None:
    page = open_page("evaluation", **PHONE)
    result(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("radio", name="Questions", exact=True).click()
    press(page, "evaluation_question_table", 1, 1)
    expect(page.locator(".st-key-evaluation_undo")).to_contain_text(QUESTION)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    press(page, "evaluation_question_table", 0, 0)
    expect(page.get_by_role("dialog").get_by_label("Question", exact=True)).not_to_be_empty()
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert faint(page) == []


def test_drafted_questions_are_accepted_or_dropped(open_page: Open, filled: None) -> None:
    page = open_page("evaluation")
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_text("New set").click()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
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
    page.get_by_role("radio", name="Runs").click()
    page.get_by_role("button", name="Run 19 questions").click()
    result(page)
