"""A document's page: its text beside its picture, outline, tables, chunks corrected and left out; removals undone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Server, ask, boxes, idle, send

pytestmark = [pytest.mark.browser, pytest.mark.slow]
Open = Callable[..., Page]
HANDBOOK = "Handbook of the Veyra Ferry"


def opened(open_page: Open, title: str = HANDBOOK) -> Page:
    page = open_page()
    page.locator(".shelf .open", has_text=title).first.click()
    page.locator(".passage .sheet, .passage .text").first.wait_for()
    idle(page)
    return page


def view(page: Page, name: str) -> None:
    page.locator(".st-key-upload_view").get_by_role("radio", name=name).click()


def chunk(page: Page, words: str) -> Locator:
    return page.locator(".chunks .chunk", has_text=words)


def test_a_line_of_the_text_is_marked_in_the_picture_and_a_section_opens_its_page(
    open_page: Open, filled: None
) -> None:
    page = opened(open_page)
    expect(page.locator(".st-key-upload_guide .outline .row").first).to_be_visible(timeout=60_000)  # its guide
    expect(page.locator(".st-key-upload_guide button").last).to_be_visible()
    tops = page.locator(".st-key-upload_view button").evaluate_all("all => all.map((one) => one.offsetTop)")
    assert (len(tops), len(set(tops))) == (6, 1)  # in one row
    view(page, "Text")
    line = page.locator(".reading .line").nth(1)
    line.click()
    assert boxes(page) >= 1
    expect(line).to_have_attribute("aria-pressed", "true")
    view(page, "Outline")
    section = page.locator(".outline .row", has_text="p. 4").first
    section.click()
    expect(page.locator(".passage .where")).to_contain_text("Page 4")
    assert boxes(page) >= 1
    view(page, "Tables")
    expect(page.locator(".tables table").first).to_be_visible()
    page.locator(".tables .place").first.click()
    expect(page.locator(".passage .where")).not_to_contain_text("Page 4")
    view(page, "Notes")
    expect(page.locator(".outline")).to_contain_text("All of it was read.")


def test_a_chunk_is_corrected_found_so_left_out_and_brought_back(open_page: Open, filled: None) -> None:
    page = opened(open_page, "STORM OF 14 NOVEMBER")
    view(page, "Passages")
    first = page.locator(".chunks .chunk").first
    first.get_by_role("button", name="Correct").click()
    first.locator("textarea").fill("The lighthouse of Quorn was painted green in 2019.")
    first.get_by_role("button", name="Save").click()
    expect(chunk(page, "lighthouse of Quorn").locator(".mark")).to_have_text("corrected")
    search = open_page("search")
    search.locator(".st-key-search_line input").fill("What colour has the lighthouse of Quorn?")
    search.keyboard.press("Enter")
    expect(search.locator(".results")).to_contain_text("painted green")
    count = page.locator(".chunks .chunk").count()
    idle(page)
    chunk(page, "lighthouse of Quorn").get_by_role("button", name="Leave out").click()
    left = chunk(page, "Left out of search")
    expect(left).to_contain_text("lighthouse of Quorn")
    expect(page.locator(".chunks h3")).to_contain_text(f"{count - 1} passage")
    idle(page)
    left.get_by_role("button", name="Bring back").click()
    expect(left).to_have_count(0)
    idle(page)
    chunk(page, "lighthouse of Quorn").get_by_role("button", name="Take the correction back").click()
    expect(page.locator(".chunks .mark")).to_have_count(0)
    expect(page.locator(".chunks .chunk")).to_have_count(count)


def test_what_was_chosen_is_removed_at_once_and_taken_back(open_page: Open, filled: None) -> None:
    page = open_page()
    rows = page.locator(".shelf tbody tr")
    expect(rows).to_have_count(3)
    page.locator(".shelf .sort", has_text="Title").click()
    expect(rows.first).to_contain_text(HANDBOOK)
    page.locator(".shelf").get_by_role("checkbox", name="Choose all").check()
    page.get_by_role("toolbar", name="Chosen documents").get_by_role("button", name="Remove").click()
    expect(rows).to_have_count(0)
    idle(page)
    page.get_by_role("button", name="Undo").click()
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text(HANDBOOK)
    expect(rows.first).to_contain_text("Ready")


def test_a_document_from_right_to_left_is_set_so_wherever_it_is_shown(
    open_page: Open, filled: None, server: Server
) -> None:
    words = "العبارة إلى نوردن تغادر الرصيف الشرقي في السابعة صباحا"
    send(server, "/api/v1/documents?name=ferry-ar.md", f"# العبارة\n\n{words}.\n".encode(), "application/octet-stream")
    page = opened(open_page, "العبارة")
    assert from_right(page.locator(".passage .text p", has_text="نوردن"))
    view(page, "Passages")
    assert from_right(page.locator(".chunks .text", has_text="نوردن").first)
    page.get_by_role("link", name="Chat").click()
    page.get_by_role("heading", name="What would you like to know?").wait_for()
    idle(page)
    ask(page, "متى تغادر العبارة إلى نوردن الرصيف الشرقي؟")
    answer = page.locator(".exchange .block", has_text="نوردن").first
    answer.wait_for(timeout=60_000)
    assert from_right(answer)


def from_right(text: Locator) -> bool:
    """Whether a line begins at the right edge of what it stands in."""
    return text.evaluate(
        """one => {
            const range = document.createRange();
            range.selectNodeContents(one);
            const [words, room] = [range.getClientRects(), one.getBoundingClientRect()];
            return room.right - Math.max(...[...words].map((rect) => rect.right)) < 20;
        }"""
    )
