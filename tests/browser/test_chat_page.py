"""Asking, watching the answer grow, opening what it stands on, and finding it again."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import ask, boxes, idle
from tests.rag_core.models import openai_server
from tests.rag_core.models.gemini_server import Script

pytestmark = pytest.mark.browser
Open = Callable[..., Page]
REFUND = "When is a ticket refunded in full?"


@pytest.fixture(scope="module")
def small() -> Iterator[openai_server.Script]:
    """A server of a model, `small`, whose context is so small that a document goes through it in parts."""
    with openai_server.openai_server() as script:
        yield script


@pytest.fixture(scope="module")
def environment(environment: dict[str, str], small: openai_server.Script) -> dict[str, str]:
    """With that model."""
    server = {"ADDRESS": small.url, "MODELS": '["small"]', "CONTEXT_TOKENS": "2048"}
    return environment | {f"LECTERN_SERVER__{name}": value for name, value in server.items()}


@pytest.fixture(autouse=True)
def samples(filled: None) -> None:
    """Every test here needs documents."""


@pytest.fixture
def remote(open_page: Open, gemini: Script) -> Iterator[Page]:
    """A chat whose answers come, piece by piece, from the model that `gemini` plays."""
    gemini.status, gemini.hang_before, gemini.release, gemini.finish = 200, -1, threading.Event(), "STOP"
    page = open_page("chat")
    page.get_by_role("radiogroup").get_by_text("Quotes").wait_for()
    if not page.get_by_role("radiogroup").get_by_text("Gemini").count():
        idle(page)
        page.get_by_role("button", name="More models").click()
        page.get_by_label("Gemini key").fill("AIza-a-key-for-tests")
        page.get_by_label("Gemini key").press("Tab")
        idle(page)
        page.locator(".st-key-models_gemini_agreed").get_by_text("may leave this machine").click()
        idle(page)
        page.get_by_role("button", name="Use Gemini").click()
        page.locator(".st-key-models_gemini_forget").wait_for(timeout=60_000)
        page.get_by_role("link", name="Chat").click()
    # Its library is imported by then, beside all else that runs.
    page.get_by_role("radiogroup").get_by_text("Gemini").click(timeout=60_000)
    expect(page.get_by_text("leave this machine.").last).to_be_visible()
    yield page
    gemini.release.set()


def answer_with(gemini: Script, *texts: str, hang_before: int = -1) -> None:
    gemini.texts, gemini.hang_before = texts, hang_before


def test_a_citation_opens_its_page_with_the_passage_marked(open_page: Open) -> None:
    page = open_page("chat")
    ask(page, REFUND)
    expect(page.locator(".exchange .body")).to_contain_text("90 minutes late")
    page.locator(".cite").first.click()
    assert boxes(page) >= 1
    expect(page.locator(".passage h2")).to_contain_text("Handbook of the Veyra Ferry")
    expect(page.locator(".passage .where")).to_contain_text("Page 3 (6 of 13)")
    expect(page.locator(".passage .facts")).not_to_contain_text("rerank")
    page.get_by_text("The passage as text").click()
    expect(page.locator(".passage .quote")).to_contain_text("rerank")
    page.get_by_role("button", name="Next page").click()
    expect(page.locator(".passage .where")).to_contain_text("Page 4 (7 of 13)")
    expect(page.locator(".passage .box").first).not_to_be_in_viewport()
    page.get_by_text("Back to the passage").click()
    expect(page.locator(".passage .box").first).to_be_in_viewport()
    expect(page.get_by_text("Back to the passage")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator(".passage")).to_have_count(0)


@pytest.mark.slow
def test_a_passage_of_a_text_is_marked_in_the_text(open_page: Open) -> None:
    page = open_page("chat")
    ask(page, "Is chlorine used in the water works?")
    page.locator(".source", has_text="water works").first.click()
    expect(page.locator(".passage mark")).to_be_in_viewport()


@pytest.mark.slow
def test_reload_and_second_tab_show_the_same(open_page: Open) -> None:
    page = open_page("chat")
    page.locator(".st-key-chat_suggestions button").first.click()
    page.locator(".source").first.wait_for()
    text = page.locator(".exchange .body").inner_text()
    page.reload()
    expect(page.locator(".exchange .body")).to_have_text(text, use_inner_text=True)
    second = open_page(page.url.split("/", 3)[3])
    expect(second.locator(".exchange .body")).to_have_text(text, use_inner_text=True)
    second.locator(".cite").first.click()
    assert boxes(second) >= 1
    page.get_by_role("link", name="Library").click()
    page.get_by_role("link", name="Chat").click()
    expect(page.locator(".exchange .body")).to_have_text(text, use_inner_text=True)


@pytest.mark.slow
def test_the_latest_question_comes_into_view(open_page: Open) -> None:
    page = open_page("chat")
    for number, question in enumerate([REFUND, "Is chlorine used in the water works?", "How does a boil notice end?"]):
        ask(page, question)
        page.locator(".exchange").nth(number).locator(".source").first.wait_for()
        expect(page.locator(".question").nth(number)).to_be_in_viewport()
        expect(page.locator(".exchange").nth(number).locator(".body")).to_be_in_viewport()


@pytest.mark.slow
def test_an_answer_is_marked_and_the_mark_taken_back(open_page: Open) -> None:
    page = open_page("chat")
    ask(page, REFUND)
    good, bad = page.get_by_role("button", name="Good answer"), page.get_by_role("button", name="Bad answer")
    good.focus()
    page.keyboard.press("Enter")
    expect(good).to_have_attribute("aria-pressed", "true")
    expect(good).to_be_focused()
    bad.click()
    expect(bad).to_have_attribute("aria-pressed", "true")
    expect(good).to_have_attribute("aria-pressed", "false")
    page.get_by_role("button", name="What is wrong with it?").click()
    page.keyboard.type("Half of it / is missing")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Your reason: Half of it / is missing")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Your reason: Half of it / is missing")).to_be_visible()
    bad.click()
    expect(bad).to_have_attribute("aria-pressed", "false")
    expect(page.get_by_role("button", name="Your reason")).to_have_count(0)


def test_conversations_are_renamed_pinned_found_and_deleted(open_page: Open) -> None:
    page = open_page("chat")
    ask(page, REFUND)
    page.locator(".source").first.wait_for()
    page.locator(".st-key-chat_menu button").click()
    page.get_by_text("Rename", exact=True).click()
    expect(page.get_by_role("dialog").get_by_role("textbox")).to_be_focused()
    page.get_by_label("Title").fill("Refunds ![x](http://example.com/x.png)")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".st-key-chat_list")).to_contain_text("Refunds ![x](")
    page.locator(".st-key-chat_menu button").click()
    page.get_by_text("Pin", exact=True).click()
    expect(page.locator(".st-key-chat_list button").first).to_contain_text("keep")
    page.locator(".st-key-chat_find input").fill("cancelled 90 MINUTES")
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-chat_list")).to_contain_text("Refunds ![x](")
    page.locator(".st-key-chat_find input").fill("no such words")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No conversation holds these words.")).to_be_visible()
    page.locator(".st-key-chat_menu button").click()
    page.get_by_text("Delete", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("What would you like to know?")).to_be_visible()
    page.reload()  # what was searched for is forgotten
    expect(page.get_by_text("What would you like to know?")).to_be_visible()
    expect(page.get_by_text("Refunds")).to_have_count(0)


def test_what_comes_near_is_doubted_and_a_model_can_be_asked(open_page: Open, small: openai_server.Script) -> None:
    page = open_page("chat")
    ask(page, "how many passengers did the ferry carry in 2022?")
    near = page.locator("[data-state=perhaps] .block")
    expect(near.first).to_contain_text("Perhaps")
    expect(near.first).to_contain_text("412,000 passengers")
    expect(near.last).to_have_text("Not sure: it does not say “2022”.")
    near.first.locator(".cite").click()
    assert boxes(page) >= 1
    page.keyboard.press("Escape")
    small.hang_before, small.texts = -1, ("It carried 412,000 passengers in 2023 [1].",)
    page.get_by_role("button", name="Ask small").click()
    expect(page.locator("[data-state=done] .body")).to_contain_text("It carried 412,000")
    expect(page.locator(".exchange .replaced")).to_contain_text("1 earlier answer kept")
    page.get_by_role("radiogroup").get_by_text("Quotes").click()
    idle(page)


@pytest.mark.slow
def test_what_is_not_there_is_said_with_what_to_do_next(open_page: Open) -> None:
    page, asked = open_page("chat"), "What was the price of copper in Mongolia in 1743?"
    ask(page, asked)
    expect(page.locator("[data-state=abstained] .body")).to_contain_text("Not found")
    idle(page)
    page.get_by_role("button", name="Choose where to look").click()
    expect(page.locator("[data-testid=stPopoverBody]")).to_contain_text("Documents")
    page.keyboard.press("Escape")
    ask(page, "@handbook What is the capital of Peru?")
    page.get_by_role("button", name="Ask all documents").click()
    expect(page.locator(".st-key-chat_scope_menu")).to_contain_text("All documents")
    expect(page.locator(".exchange .replaced")).to_contain_text("1 earlier answer kept")
    page.get_by_role("button", name="Search for these words").click()
    expect(page.get_by_role("heading", name="Search")).to_be_visible()
    assert "q=What+is+the+capital+of+Peru" in page.url
    expect(page.locator(".st-key-search_question input")).to_have_value("What is the capital of Peru?")


def test_a_question_that_cannot_be_asked_is_kept(open_page: Open) -> None:
    page = open_page("chat")
    ask(page, "x" * 5000)
    expect(page.locator(".exchange .error")).to_contain_text("characters")
    expect(page.locator(".exchange .question")).to_contain_text("xxxx")


def test_an_answer_streams_and_nothing_moves_when_it_is_whole(remote: Page, gemini: Script) -> None:
    said = "A ticket is refunded in full when a sailing is cancelled"
    answer_with(gemini, said, " [1]. The purser sings at night.", hang_before=1)
    ask(remote, REFUND)
    body = remote.locator(".exchange .body")
    expect(body).to_contain_text("sailing is cancelled")
    expect(remote.locator(".st-key-chat_stop")).to_be_visible()
    remote.evaluate("document.body.dataset.keep = 'same page'")
    handle = remote.locator(".exchange .question").element_handle()
    before = body.bounding_box()
    gemini.release.set()
    remote.locator(".source").first.wait_for()
    after = body.bounding_box()
    assert before and after
    assert abs(before["x"] - after["x"]) < 1
    assert abs(before["y"] - after["y"]) < 1
    assert handle.evaluate("element => element.isConnected")
    expect(remote.locator(".exchange .doubt")).to_have_text("The purser sings at night.")
    expect(remote.locator(".exchange .doubt-note")).to_have_text("not found in the passages")


def second_that_grows(remote: Page, gemini: Script) -> Locator:
    """A first answer, whole, and a second one that is not; the bodies of both."""
    answer_with(gemini, "The first answer [1].")
    ask(remote, REFUND)
    remote.locator(".source").first.wait_for()
    idle(remote)
    answer_with(gemini, "The second ", "is whole [1].", hang_before=1)
    ask(remote, REFUND)
    bodies = remote.locator(".exchange .body")
    expect(bodies.nth(1)).to_contain_text("The second")
    return bodies


@pytest.mark.slow
def test_what_is_opened_while_an_answer_grows_stays_open_when_it_is_whole(remote: Page, gemini: Script) -> None:
    bodies = second_that_grows(remote, gemini)
    remote.locator(".exchange").first.get_by_role("button", name="What was searched").click()
    dialog = remote.get_by_role("dialog")
    expect(dialog).to_contain_text("The answer: ")
    gemini.release.set()
    expect(bodies.nth(1)).to_contain_text("is whole")
    remote.locator(".exchange").nth(1).locator(".source").first.wait_for()
    idle(remote)
    expect(dialog).to_contain_text("The answer: ")
    remote.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    remote.locator("[data-rate=good]").first.click()
    expect(remote.locator("[data-rate=good]").first).to_have_attribute("aria-pressed", "true")
    idle(remote)
    expect(dialog).to_have_count(0)


def test_an_answer_can_be_stopped(remote: Page, gemini: Script) -> None:
    answer_with(gemini, "The first words ", "and the rest.", hang_before=1)
    ask(remote, REFUND)
    expect(remote.locator(".exchange .body")).to_contain_text("The first words")
    remote.locator(".st-key-chat_stop button").click()
    expect(remote.locator(".exchange .stopped").or_(remote.get_by_text("Stopping")).first).to_be_visible()
    gemini.release.set()
    expect(remote.locator(".exchange .stopped")).to_be_visible()
    expect(remote.locator(".exchange .body")).not_to_contain_text("and the rest")
    expect(remote.locator(".st-key-chat_stop")).to_have_count(0)
    answer_with(gemini, "All of it this time [1].")
    remote.get_by_role("button", name="Ask again").click()
    expect(remote.locator(".exchange .body").last).to_contain_text("All of it this time")
    expect(remote.locator(".exchange")).to_have_count(1)


@pytest.mark.slow
def test_words_in_a_dialog_stay_when_an_answer_arrives(remote: Page, gemini: Script) -> None:
    bodies = second_that_grows(remote, gemini)
    remote.get_by_role("button", name="New collection").click()
    dialog = remote.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Quay")
    instructions = dialog.get_by_role("textbox", name="Instructions")
    instructions.press_sequentially("In one sen")
    gemini.release.set()
    expect(bodies.nth(1)).to_contain_text("is whole")
    idle(remote)
    expect(instructions).to_be_focused()
    remote.keyboard.type("tence")
    expect(instructions).to_have_value("In one sentence")
    expect(dialog.get_by_label("Name")).to_have_value("Quay")
    remote.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    remote.locator(".exchange").nth(1).locator(".source").first.wait_for()
    expect(remote.locator(".exchange .next")).to_have_count(1)


@pytest.mark.slow
def test_a_cut_answer_is_continued(remote: Page, gemini: Script) -> None:
    gemini.finish = "MAX_TOKENS"
    answer_with(gemini, "The whole fare is paid back where the ferry is cancelled [1]. A car that does")
    ask(remote, REFUND)
    body = remote.locator(".exchange .body")
    expect(remote.locator(".exchange .stopped")).to_contain_text("at its limit of length")
    remote.locator("[data-rate=good]").click()
    expect(remote.locator("[data-rate=good]")).to_have_attribute("aria-pressed", "true")
    idle(remote)
    gemini.finish = "STOP"
    answer_with(gemini, "A car that is ", "late waits [1].", hang_before=1)
    remote.get_by_role("button", name="Continue").click()
    expect(body).to_contain_text("is cancelled")  # what stands stays to be read
    expect(body).to_contain_text("A car that is")
    gemini.release.set()
    expect(body).to_contain_text("late waits")
    expect(body).not_to_contain_text("that does")
    expect(remote.locator(".exchange .stopped")).to_have_count(0)
    expect(remote.locator(".exchange")).to_have_count(1)
    expect(remote.locator("[data-rate=good]")).to_have_attribute("aria-pressed", "true")
    remote.reload()
    expect(body).to_contain_text("late waits")
    assert gemini.requests[-1]["contents"][-2]["role"] == "model"


def test_an_answer_goes_on_through_a_reload(remote: Page, gemini: Script) -> None:
    answer_with(gemini, "Before the reload ", "and after it.", hang_before=1)
    ask(remote, REFUND)
    expect(remote.locator(".exchange .body")).to_contain_text("Before the reload")
    remote.reload()
    expect(remote.locator(".exchange .body")).to_contain_text("Before the reload")
    gemini.release.set()
    expect(remote.locator(".exchange .body")).to_contain_text("and after it")


def test_a_refused_key_is_said_and_the_question_can_be_asked_again(remote: Page, gemini: Script) -> None:
    gemini.status, gemini.message = 400, "API key not valid"
    ask(remote, REFUND)
    expect(remote.locator(".exchange .error")).to_contain_text("key")
    gemini.status = 200
    answer_with(gemini, "Better now [1].")
    remote.get_by_role("button", name="Ask again").click()
    expect(remote.locator(".exchange .body").last).to_contain_text("Better now")  # two while a run replaces another
    expect(remote.locator(".exchange")).to_have_count(1)


def test_what_a_model_writes_is_text_alone(remote: Page, gemini: Script) -> None:
    hostile = '![i](http://example.com/i.png) <img src="http://example.com/j.png"> [link](http://example.com) **bold**'
    answer_with(gemini, hostile, " [1]")
    ask(remote, "Show me " + hostile)
    remote.locator(".exchange[data-state=done]").wait_for()
    expect(remote.locator(".exchange .body")).to_contain_text("<img src=")
    expect(remote.locator(".exchange .host")).to_have_text(["image at example.com, not loaded", "example.com"])
    assert remote.locator(".exchange img, .exchange a, .st-key-chat_list img, .st-key-chat_heading img").count() == 0


@pytest.mark.slow
def test_a_summary_tells_what_is_read_and_can_be_stopped(open_page: Open, small: openai_server.Script) -> None:
    small.hang_before = 0
    page = open_page("chat")
    page.get_by_role("radiogroup").get_by_text("small").click()
    idle(page)
    ask(page, "Summarise the Veyra ferry handbook")
    reading = re.compile(r"Reading part 1 of \d+: Handbook of the Veyra Ferry")
    expect(page.locator(".exchange .stage")).to_have_text(reading)
    page.locator(".st-key-chat_stop button").click()
    expect(page.locator(".exchange .stopped")).to_be_visible()
    small.release.set()
