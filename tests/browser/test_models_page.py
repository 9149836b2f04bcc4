"""Models in a browser: downloaded, stopped, resumed and chosen; a model server tested and used."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from rag_core import Settings
from tests.browser.conftest import Server, serve
from tests.browser.test_looks import faint
from tests.rag_core.models.gemini_server import Script as GeminiScript
from tests.rag_core.models.hub_server import Hub, hub_server
from tests.rag_core.models.openai_server import Script, openai_server
from tests.rag_core.models.tiny_gguf import CHAT_TEMPLATE, write_tiny_gguf

pytestmark = [pytest.mark.browser, pytest.mark.slow]
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with hub_server() as running:
        made = write_tiny_gguf(tmp_path_factory.mktemp("hub") / "tiny.gguf", chat_template=CHAT_TEMPLATE)
        running.files["me/tiny/tiny-Q4_K_M.gguf"] = made.read_bytes()
        yield running


@pytest.fixture(scope="module")
def models() -> Iterator[Script]:
    with openai_server() as running:
        yield running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, hub: Hub, environment: dict[str, str]) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("m")
    (folder / "models").mkdir()
    for made in Settings().models_dir.iterdir():  # the exported embedding model: making it again takes half a minute
        if made.is_dir():
            (folder / "models" / made.name).symlink_to(made)
    environment = {**environment, "LECTERN_MODELS_DIR": str(folder / "models"), "LECTERN_HUB_URL": hub.url}
    with serve(folder / "library", folder / "log", **environment) as running:
        yield running
        assert "Traceback" not in running.log.read_text()


def download(page: Page, wanted: str) -> None:
    page.get_by_label("Another model").fill(wanted)
    page.locator(".st-key-models_download button").click()


def test_a_model_is_downloaded_stopped_resumed_chosen_and_removed(open_page: Open, server: Server, hub: Hub) -> None:
    page = open_page("models")
    expect(page.get_by_text("No model file yet")).to_be_visible()
    hub.hang_after, hub.release = 300_000, threading.Event()
    download(page, "me/tiny")
    expect(page.locator(".st-key-models_download_line")).to_contain_text("262 KB of")
    page.get_by_role("button", name="Stop").click()
    hub.release.set()
    expect(page.locator(".st-key-models_unfinished_0")).to_contain_text("262 KB of")
    hub.hang_after = -1
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("Downloaded and checked")).to_be_visible()
    assert (server.data_dir.parent / "models" / "tiny-Q4_K_M.gguf").read_bytes() == hub.files[
        "me/tiny/tiny-Q4_K_M.gguf"
    ]
    row = page.locator(".st-key-models_files")
    expect(row).to_contain_text("context 2,048 · chat template")
    page.get_by_role("button", name="Use", exact=True).click()
    expect(row).to_contain_text("Answers")
    expect(page.get_by_role("radio", name="tiny-Q4_K_M")).to_be_checked()
    page.locator(".st-key-models_remove_0 button").first.click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_text("No model file yet")).to_be_visible()
    expect(page.get_by_role("radio", name="Quotes from your documents")).to_be_checked()


def test_what_is_not_there_is_said(open_page: Open) -> None:
    page = open_page("models")
    page.get_by_label("Another model, by").fill("me/none")
    told = page.get_by_test_id("InputInstructions")  # that Enter would send it lies over what is written
    expect(told).to_have_count(1)
    expect(told).to_be_hidden()
    download(page, "me/none")
    expect(page.get_by_text("The hub has no me/none")).to_be_visible()
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text("The hub has no me/none")).to_have_count(0)
    expect(page.get_by_role("button", name="Dismiss")).to_have_count(0)


def test_a_model_server_is_tested_used_and_forgotten(open_page: Open, models: Script) -> None:
    page = open_page("models")
    page.get_by_label("Address", exact=True).fill("https://10.255.255.1")
    page.get_by_role("button", name="Test").click()
    expect(page.get_by_text("not on this machine. Confirm first")).to_be_visible()
    page.get_by_label("Address", exact=True).fill(models.url)
    page.get_by_role("button", name="Test").click()
    expect(page.get_by_text("has 2 models")).to_be_visible()
    page.get_by_role("button", name="Use these").click()
    expect(page.get_by_role("radio", name="big (127.0.0.1")).to_be_checked()
    page.get_by_role("button", name="Forget the server").click()
    expect(page.get_by_role("radio", name="Quotes from your documents")).to_be_checked()


def test_a_model_of_gemini_is_chosen_of_its_list_and_one_that_is_gone_is_said(
    open_page: Open, gemini: GeminiScript
) -> None:
    gemini.models = ("gemini-8-flash-lite", "gemini-8-pro")
    page = open_page("models")
    form = page.locator(".st-key-models_gemini_form, [data-testid=stForm]").filter(has_text="Gemini key").last
    form.get_by_label("Gemini key").fill("AIza-a-key-for-tests")
    form.get_by_text("Passages of my documents may leave this machine").click()
    form.get_by_role("button", name="Use Gemini").click()
    expect(page.get_by_text("The newest small model that Gemini has answers")).to_be_visible()
    page.get_by_role("button", name="See its models").click()
    page.get_by_role("combobox", name="Gemini's model").click()
    expect(page.get_by_role("option", name="The newest small one, now gemini-8-flash-lite")).to_be_visible()
    page.get_by_role("option", name="gemini-8-pro").click()
    expect(page.get_by_text("gemini-8-pro answers.")).to_be_visible()
    gemini.models = ("gemini-8-flash-lite",)
    page.get_by_role("button", name="See its models").click()
    expect(page.get_by_text("Gemini has gemini-8-pro no longer")).to_be_visible()
    page.get_by_role("button", name="Forget the key").click()
    expect(page.get_by_text("It needs a key").last).to_be_visible()  # said of the model that was chosen too


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_can_be_read(open_page: Open, server: Server, dark: bool) -> None:
    folder = Path(server.data_dir.parent / "models")
    (folder / "broken.gguf").write_bytes(b"<html>")
    page = open_page("models", dark=dark)
    expect(page.get_by_text("not a model in GGUF form")).to_be_visible()
    assert faint(page) == []
