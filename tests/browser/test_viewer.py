"""The document viewer: read, enlarged, searched, its text selected, its headings and citations stepped through."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from rag_core.reading.text import TextDocument
from tests.browser.conftest import Server, ask, boxes, send
from tests.browser.test_looks import faint

pytestmark = [pytest.mark.browser, pytest.mark.slow]
Open = Callable[..., Page]
SELECTED = """(words) => {
  const host = [...document.querySelectorAll("*")].find((one) => one.shadowRoot?.querySelector(".passage"));
  const spans = [...host.shadowRoot.querySelectorAll(".word")];
  const texts = spans.map((one) => one.textContent.trim());
  const place = texts.findIndex((_, at) => words.every((word, next) => texts[at + next] === word));
  const range = document.createRange();
  range.setStart(spans[place].firstChild, 0);
  range.setEnd(spans[place + words.length - 1].firstChild, words.at(-1).length);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  return [getSelection().toString(), range.getBoundingClientRect().width];
}"""


@pytest.fixture
def cited(open_page: Open, filled: None) -> Page:
    """A citation of the handbook opened beside its answer."""
    page = open_page("chat")
    ask(page, "When is a ticket refunded in full?")
    page.locator(".cite").first.click()
    assert boxes(page) >= 1
    return page


def width_of(part: Locator) -> float:
    box = part.bounding_box()
    assert box
    return box["width"]


def test_a_page_is_as_wide_as_it_can_be_read_and_can_be_enlarged(cited: Page) -> None:
    view, sheet = cited.locator(".passage .view"), cited.locator(".passage .page").nth(5)
    assert width_of(view) > 680, "of 1280 pixels; the side bar makes room"
    fitted = width_of(sheet)
    assert fitted > 650, "the panel filled"
    expect(sheet.locator("img")).to_have_js_property("complete", value=True)
    cited.get_by_role("button", name="Larger").click()
    assert width_of(sheet) == pytest.approx(fitted * 1.2, rel=0.01)
    expect(cited.locator(".passage .box").first).to_be_in_viewport()
    view.focus()
    cited.keyboard.press("0")
    assert width_of(sheet) == pytest.approx(fitted, abs=1)
    cited.locator(".passage .size").click()
    assert width_of(sheet) == pytest.approx(width_of(view) - 24, abs=16), "the width of the page"
    cited.locator(".passage .size").click()
    page = sheet.bounding_box()
    assert page and page["height"] < 700, "the whole of it"


def test_pages_are_turned_by_keys_and_gone_to_by_number(cited: Page) -> None:
    where = cited.locator(".passage .where")
    cited.locator(".passage .view").focus()
    cited.keyboard.press("ArrowRight")
    expect(where).to_contain_text("Page 4 (7 of 13)")
    cited.keyboard.press("ArrowLeft")
    cited.keyboard.press("ArrowLeft")
    expect(where).to_contain_text("Page 2 (5 of 13)")
    where.get_by_role("button").click()
    cited.keyboard.type("9")
    cited.keyboard.press("Enter")
    expect(where).to_contain_text("Page 9 (12 of 13)")
    expect(cited.locator(".passage .page").nth(11).locator("img")).to_be_in_viewport()
    cited.keyboard.press("Home")
    expect(where).to_contain_text("Page i (1 of 13)")


def test_words_are_found_marked_and_stepped_through(cited: Page) -> None:
    cited.locator(".passage .view").focus()
    cited.keyboard.press("Home")
    expect(cited.locator(".passage .where")).to_contain_text("Page i (1 of 13)")
    cited.keyboard.press("Control+f")
    cited.keyboard.type("Tolsund")
    said = cited.locator(".passage .said")
    expect(said).to_contain_text("1 of")
    expect(cited.locator(".passage .now").first).to_be_in_viewport()
    total = int(said.inner_text().split()[-1])
    assert total > 1
    cited.keyboard.press("Shift+Enter")
    expect(said).to_have_text(f"{total} of {total}")
    cited.keyboard.press("Enter")
    expect(said).to_have_text(f"1 of {total}")
    cited.keyboard.press("Enter")
    expect(said).to_have_text(f"2 of {total}")
    expect(cited.locator(".passage .now").first).to_be_in_viewport()
    cited.locator(".passage .finder input").press("Control+a")
    cited.keyboard.type("zeppelin")
    expect(said).to_have_text("Not in this document")
    cited.keyboard.press("Escape")
    expect(cited.locator(".passage .finder")).to_have_count(0)
    expect(cited.locator(".passage .hit")).to_have_count(0)
    expect(cited.locator(".passage h2")).to_be_visible()


def test_text_of_a_picture_can_be_selected_where_it_stands(cited: Page) -> None:
    words = ["refunded", "in", "full"]
    cited.locator(".passage .word").first.wait_for(state="attached")
    text, wide = cited.evaluate(SELECTED, words)
    assert text.split() == words
    assert 60 < wide < 200


def test_headings_are_jumped_to_and_the_text_flows(cited: Page) -> None:
    cited.get_by_role("button", name="Outline").click()
    row = cited.locator(".headings .row").last
    number = row.locator(".quiet").inner_text().removeprefix("p. ")
    row.click()
    expect(cited.locator(".headings")).to_have_count(0)
    expect(cited.locator(".passage .where")).to_contain_text(f"Page {number} (13 of 13)")
    expect(cited.locator(".passage .now").first).to_be_in_viewport()
    cited.get_by_role("button", name="Show the text alone").click()
    expect(cited.locator(".passage .text").first).to_be_visible()
    expect(cited.locator(".passage .where")).to_contain_text(f"Page {number} (13 of 13)")


def test_citations_of_an_answer_are_stepped_through(open_page: Open, filled: None) -> None:
    page = open_page("chat")
    ask(page, "What does an adult pay to Tolsund, and when is a ticket refunded in full?")
    page.locator(".source").nth(1).wait_for()
    page.locator(".source").first.click()
    expect(page.locator(".steps")).to_contain_text("1 of")
    expect(page.get_by_role("button", name="Previous citation")).to_be_disabled()
    page.get_by_role("button", name="Next citation").click()
    expect(page.locator(".steps")).to_contain_text("2 of")
    expect(page.locator(".source").nth(1)).to_have_attribute("aria-current", "true")
    expect(page.locator(".passage .box, .passage mark").first).to_be_in_viewport()


def test_a_passage_is_copied_with_where_it_stands(cited: Page) -> None:
    cited.context.grant_permissions(["clipboard-read", "clipboard-write"])
    where = "[Handbook of the Veyra Ferry, Refunds, p. 3]"
    for button in (cited.locator(".passage .head"), cited.locator(".sources")):
        button.get_by_role("button", name="Copy the passage").click()
        expect(button.get_by_role("button", name="Copied")).to_have_count(1)
        text = cited.evaluate("navigator.clipboard.readText()")
        assert text.startswith("“A ticket is refunded in full") and text.endswith(f"” {where}")
        cited.evaluate("navigator.clipboard.writeText('')")


def test_passages_of_a_page_stand_together_below_an_answer(open_page: Open, filled: None) -> None:
    page = open_page("chat")
    ask(page, "Summarize the storm report of November 2019")
    page.locator(".source").nth(2).wait_for()
    groups = page.locator(".of-page")
    expect(groups).to_have_count(1)
    expect(groups.locator(".title")).to_have_count(1)
    groups.locator(".source").nth(2).click()
    expect(page.locator(".passage .head .number")).to_have_text("3")


def test_the_panel_is_widened_dragged_and_the_original_saved(cited: Page, tmp_path: Path) -> None:
    panel = cited.locator(".st-key-chat_passage")
    before = width_of(panel)
    cited.locator(".grip").focus()
    cited.keyboard.press("ArrowLeft")
    assert width_of(panel) == pytest.approx(before + 40, abs=2)
    cited.keyboard.press("ArrowRight")
    cited.get_by_role("button", name="Wide").click()
    assert width_of(panel) == pytest.approx(1280, abs=2)
    with cited.expect_download() as saving:
        cited.get_by_role("link", name="Download the original").click()
    assert saving.value.suggested_filename == "veyra-ferry-handbook.pdf"
    cited.get_by_role("button", name="Close").click()
    expect(panel).to_have_count(0)
    expect(cited.locator("[data-testid=stSidebar]")).to_be_visible()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_number_that_is_pointed_at_shows_its_evidence(open_page: Open, filled: None, dark: bool) -> None:
    page = open_page("chat", dark=dark)
    ask(page, "When is a ticket refunded in full?")
    number, card = page.locator(".cite").first, page.locator(".card")
    number.hover()
    expect(card).to_contain_text("Handbook of the Veyra Ferry")
    expect(card.locator("blockquote")).to_contain_text("90 minutes late")
    expect(card.locator(".marked").first).to_be_in_viewport()
    assert faint(page) == []
    page.mouse.move(2, 2)
    expect(card).to_have_count(0)
    page.keyboard.press("Tab")
    number.focus()
    expect(card.locator(".crop img")).to_be_visible()
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    page.keyboard.press("Enter")
    assert boxes(page) >= 1
    ask(page, "Is chlorine used in the water works?")
    page.locator(".exchange").nth(1).locator(".cite").first.hover()
    expect(card.locator("blockquote")).to_contain_text("hlorine")
    expect(card.locator(".crop")).to_have_count(0)


SMALL = """() => {
  const small = [];
  const look = (root) => root.querySelectorAll("*").forEach((element) => {
    if (element.shadowRoot) look(element.shadowRoot);
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const size = parseFloat(getComputedStyle(element).fontSize);
    if (!own || !size || element.closest(".words, style, script, [aria-hidden=true]")) return;
    if (element.getBoundingClientRect().width && size < 14) small.push(`${size}: ${element.textContent.trim()}`);
  });
  look(document.body);
  return small;
}"""


def test_on_a_phone_a_choice_closes_the_drawer_and_nothing_is_small(open_page: Open, filled: None) -> None:
    page = open_page("chat", width=390, height=844)
    ask(page, "When is a ticket refunded in full?")
    page.locator(".cite").first.click()
    assert boxes(page) >= 1
    expect(page.locator(".passage .box").first).to_be_in_viewport()
    assert page.evaluate(SMALL) == []
    page.get_by_role("button", name="Show the text alone").click()
    expect(page.locator(".passage mark").first).to_be_in_viewport()
    assert page.evaluate(SMALL) == []
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".passage")).to_have_count(0)
    open_drawer = page.get_by_test_id("stExpandSidebarButton")
    open_drawer.click()
    page.locator(".st-key-chat_list button").first.click()
    expect(page.get_by_role("link", name="Search")).not_to_be_in_viewport()
    open_drawer.click()
    page.get_by_role("link", name="Search").click()
    expect(page.locator("h1")).to_have_text("Search")
    expect(page.get_by_role("link", name="Search")).not_to_be_in_viewport()


def test_a_long_text_opens_at_its_first_page_in_pages(open_page: Open, server: Server, filled: None) -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "The keeper wrote a line in his book. " * 8 for number in range(200))
    send(server, "/api/v1/documents?name=keeper.txt", text.encode(), "application/octet-stream")
    page = open_page()
    page.get_by_role("button", name="keeper", exact=True).click()
    head = page.locator(".passage .where")
    expect(page.locator(".page.flow").first).to_contain_text("Paragraph 0.")
    expect(head).to_contain_text("Page 1 of 3")
    page.get_by_role("button", name="Next page").click()
    expect(head).to_contain_text("Page 2 of 3")
    second = [*TextDocument.paged(text)][1]
    expect(page.locator(".page.flow").nth(1)).to_contain_text(second[: second.index(".") + 1])
