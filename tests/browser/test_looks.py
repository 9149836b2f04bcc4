"""Light and dark, desktop and phone: readable, nothing cut off, the passage where it belongs."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ask, boxes

pytestmark = [pytest.mark.browser, pytest.mark.slow]
Open = Callable[..., Page]
PHONE = {"width": 390, "height": 844}
_FADES_S = 10.0

CONTRAST = """() => {
  const channel = (byte) => {
    const value = byte / 255;
    return value <= .03928 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4;
  };
  const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const parse = (colour, under) => {
    context.fillStyle = `rgb(${under})`; context.fillRect(0, 0, 1, 1);
    context.fillStyle = colour; context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = ([r, g, b]) => .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b);
  const parent = (element) => element.parentElement || element.getRootNode().host || null;
  const behind = (element) => {
    const chain = [];
    for (let node = element; node; node = parent(node)) chain.unshift(getComputedStyle(node).backgroundColor);
    return chain.reduce((under, colour) => parse(colour, under), [255, 255, 255]);
  };
  const faults = [];
  const look = (root) => root.querySelectorAll("*").forEach((element) => {
    if (element.shadowRoot) look(element.shadowRoot);
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    // The words over a page's picture are not seen: the picture shows them.
    const left_out = element.closest(":disabled, [aria-hidden=true], style, script, .words");
    const off = left_out || !box.width || style.visibility === "hidden";
    if (!own || off || parseFloat(style.fontSize) === 0) return;
    const back = behind(element), front = parse(style.color, back);
    const [a, b] = [light(back), light(front)].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) faults.push(`${element.textContent.trim().slice(0, 30)}: ${ratio.toFixed(2)}`);
  });
  look(document.body);
  return faults;
}"""


def faint(page: Page) -> list[str]:
    """What is too faint to be read, as soon as there is nothing: a run that replaces a button fades it for a moment."""
    found: list[str] = page.evaluate(CONTRAST)
    until = time.monotonic() + _FADES_S
    while found and time.monotonic() < until:
        page.wait_for_timeout(100)
        found = page.evaluate(CONTRAST)
    return found


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_can_be_read_on_both_pages(open_page: Open, filled: None, dark: bool) -> None:
    page = open_page(dark=dark)
    page.locator(".shelf tbody tr").first.wait_for()
    assert faint(page) == []
    expect(page.locator("[data-testid=stCaptionContainer]").first).to_have_css("opacity", "1")
    page.get_by_role("link", name="Chat").click()
    ask(page, "When is a ticket refunded in full?")
    page.locator(".cite").first.click()
    assert boxes(page) >= 1
    assert faint(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="What was searched").click()
    page.get_by_role("dialog").locator("[data-testid=stCaptionContainer]").first.wait_for()
    assert faint(page) == []


def test_on_a_desktop_the_passage_stands_beside_the_conversation(open_page: Open, filled: None) -> None:
    page = open_page("chat")
    ask(page, "When is a ticket refunded in full?")
    page.locator(".cite").first.click()
    assert boxes(page) >= 1
    panel, talk = page.locator(".st-key-chat_passage").bounding_box(), page.locator(".exchange").bounding_box()
    assert panel and talk
    assert talk["x"] + talk["width"] <= panel["x"]
    expect(page.locator(".passage .box").first).to_be_in_viewport()


def test_on_a_phone_the_passage_covers_the_screen_and_closes(open_page: Open, filled: None) -> None:
    page = open_page("chat", **PHONE)
    ask(page, "When is a ticket refunded in full?")
    page.locator(".cite").first.click()
    assert boxes(page) >= 1
    panel = page.locator(".st-key-chat_passage").bounding_box()
    assert panel == {"x": 0, "y": 0, "width": 390, "height": 844}
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".passage")).to_have_count(0)


def test_on_a_phone_a_passage_and_its_button_stand_in_one_row(open_page: Open, filled: None) -> None:
    page = open_page("chat", width=320, height=844)
    ask(page, "How long is lost property kept?")
    page.locator(".of-page .rate").first.wait_for()
    middles = (
        page.locator(".of-page")
        .first.locator("button")
        .evaluate_all("all => all.map((one) => one.getBoundingClientRect()).map((box) => box.top + box.height / 2)")
    )
    assert len(middles) > 1
    assert max(middles) - min(middles) < 2


@pytest.mark.parametrize("path", ["", "chat"])
def test_on_a_phone_nothing_is_cut_off(open_page: Open, filled: None, path: str) -> None:
    page = open_page(path, **PHONE)
    page.wait_for_timeout(500)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    menu = page.locator("[data-testid=stMainMenu]").bounding_box()
    assert menu
    assert menu["x"] + menu["width"] <= 390


def test_the_keyboard_is_enough(open_page: Open, filled: None) -> None:
    page = open_page("chat")
    ask(page, "When is a ticket refunded in full?")
    page.locator(".source").first.wait_for()
    page.locator(".cite").first.focus()
    page.keyboard.press("Enter")
    assert boxes(page) >= 1
    page.keyboard.press("Escape")
    expect(page.locator(".passage")).to_have_count(0)
    expect(page.locator(".cite").first).to_be_focused()


def test_a_conversation_is_told_by_headings_a_log_and_one_chip_for_each_page(open_page: Open, filled: None) -> None:
    page = open_page("chat")
    expect(page.get_by_role("heading", level=1, name="What would you like to know?")).to_be_visible()
    question = "Summarize the storm of 14 November 2019"
    ask(page, question)
    page.locator(".exchange .meta").wait_for(timeout=60_000)
    log = page.get_by_role("log", name="Conversation")
    expect(log.get_by_role("heading", level=2, name=question)).to_be_visible()
    expect(log.locator(".body")).to_have_attribute("aria-live", "polite")
    expect(page.locator(".st-key-chat_heading").get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator(".exchange .cite").nth(2)).to_be_visible()
    sources = page.locator(".exchange").get_by_role("group", name="Sources")
    expect(sources.locator(".of-page")).to_have_count(1)
    count = sources.locator(".source").count()
    expect(sources.get_by_role("button", name=f"Copy {count} passages of THE STORM")).to_be_visible()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_what_has_the_focus_in_the_left_column_is_ringed(open_page: Open, filled: None, dark: bool) -> None:
    page = open_page(dark=dark)
    page.keyboard.press("Tab")
    link = page.get_by_role("link", name="Search", exact=True)
    for _ in range(6):
        page.keyboard.press("Tab")
        if link.evaluate("one => one === document.activeElement"):
            break
    expect(link).to_be_focused()
    expect(link).to_have_css("outline-style", "solid")
    expect(link).to_have_css("outline-width", "2px")
