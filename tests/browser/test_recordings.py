"""A recording in the document viewer: played from the minute that is read."""

from __future__ import annotations

import io
import wave
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from rag_core.reading.sound import is_installed
from tests.browser.conftest import Server, send

pytestmark = [
    pytest.mark.browser, pytest.mark.slow,
    pytest.mark.skipif(not is_installed(), reason="the extra 'sound' is not installed"),
]  # fmt: skip


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {}


def tone(seconds: int) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as made:
        made.setparams((1, 1, 4000, 0, "NONE", ""))
        made.writeframes(bytes(128 + at % 20 for at in range(seconds * 4000)))
    return file.getvalue()


def test_a_recording_is_played_from_the_minute_that_is_read(open_page: Callable[..., Page], server: Server) -> None:
    open_page()  # the library is open
    send(server, "/api/v1/documents?name=tone.wav", tone(130), "application/octet-stream")
    page = open_page("upload")
    page.locator(".shelf .open", has_text="tone").first.click()
    where = page.locator(".passage .where")
    expect(where).to_contain_text("Minute 1 of 3 (from 0:00)")
    player = page.locator(".passage audio")
    player.evaluate("audio => audio.readyState || new Promise(done => audio.onloadedmetadata = done)")
    assert player.evaluate("audio => audio.duration") == pytest.approx(130, abs=0.1)
    page.get_by_role("button", name="Next page").click()
    expect(where).to_contain_text("Minute 2 of 3 (from 1:00)")
    expect(player).to_have_js_property("currentTime", 60)
    player.evaluate("audio => { audio.muted = true; return audio.play() }")
    page.wait_for_function(
        "() => [...document.querySelectorAll('*')].map(one => one.shadowRoot?.querySelector('audio')).find(Boolean)"
        ".currentTime > 60"
    )
