"""The pages where a key is asked for on this machine too: for the owner by the printed address, for others by a key."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import TIMEOUT_MS, Server, serve
from tests.until import until


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("g")
    with serve(folder / "library", folder / "log", LECTERN_DOORS__ASK_HERE="true") as running:
        until(lambda: (running.data_dir / "server.json").exists())
        yield running
        assert "Traceback" not in running.log.read_text()


@pytest.fixture
def enter(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens an address in a browser of its own, with a key as its password if one is given."""
    opened = []

    def enter(address: str, key: str = "") -> Page:
        context = browser.new_context(http_credentials={"username": "x", "password": key} if key else None)
        opened.append(context)
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        page.goto(address)
        return page

    yield enter
    for context in opened:
        context.close()


def admin_key(server: Server) -> str:
    served = json.loads((server.data_dir / "server.json").read_text())
    request = urllib.request.Request(
        f"{server.url}/api/v1/keys", json.dumps({"name": "afar", "role": "admin"}).encode(),
        {"Authorization": f"Bearer {served['key']}", "Content-Type": "application/json"},
    )  # fmt: skip
    with closing(urllib.request.urlopen(request, timeout=60)) as answer:
        return str(json.load(answer)["text"])


def test_the_printed_address_opens_the_pages_once_and_for_the_owner(
    guarded: Server, enter: Callable[..., Page]
) -> None:
    address = re.search(r"Lectern: (\S+)", guarded.log.read_text())
    assert address is not None
    page = enter(address[1])
    page.locator(".st-key-upload_ways").wait_for()
    assert "entry=" not in page.url
    page.get_by_role("button", name="Folder").click()
    expect(page.get_by_label("Or follow a folder of this machine")).to_be_visible()
    page.goto(f"{guarded.url}/system")
    expect(page.get_by_label("File on this machine")).to_be_visible()
    for again in (address[1], guarded.url):
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(again, timeout=60)


@pytest.mark.slow
def test_an_admin_from_afar_names_no_path_of_the_server(guarded: Server, enter: Callable[..., Page]) -> None:
    page = enter(guarded.url, admin_key(guarded))
    page.locator(".st-key-upload_ways").wait_for()
    page.get_by_role("button", name="Folder").click()
    expect(page.get_by_text("LECTERN_DOORS__FOLDERS")).to_be_visible()
    assert page.get_by_label("Or follow a folder").count() == 0
    page.goto(f"{guarded.url}/system")
    part = page.locator(".st-key-system_backup")
    page.get_by_role("button", name="Write backup").click()
    expect(part).to_contain_text("Backup written")
    assert page.get_by_label("File on this machine").count() == 0
    (written,) = (guarded.data_dir / "backups").iterdir()
    assert written.suffix == ".lectern"
    # As the browser asks for it: with the password that it gave for the page.
    begin = "async (link) => [...new Uint8Array(await (await fetch(link.href)).arrayBuffer()).slice(0, 4)]"
    assert bytes(page.get_by_role("link", name="Download one").evaluate(begin)) == b"PK\x03\x04"
