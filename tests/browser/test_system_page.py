"""The system page over a real library: sound, damaged, repaired."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server
from tests.browser.test_looks import PHONE, faint

pytestmark = pytest.mark.browser
Open = Callable[..., Page]


def outcome(page: Page, text: str) -> None:
    expect(page.locator(".st-key-system_outcome")).to_contain_text(text, timeout=60_000)


@pytest.mark.slow
def test_a_damaged_library_is_reported_and_repaired(open_page: Open, filled: None, server: Server) -> None:
    page = open_page("system")
    expect(page.locator(".st-key-system_facts")).to_contain_text("PostgreSQL")
    page.get_by_role("button", name="Verify", exact=True).click()
    outcome(page, "No difference")
    dumps = sorted((server.data_dir / "dumps").iterdir())
    dumps[0].unlink()
    dumps[1].write_bytes(bytes(dumps[1].stat().st_size))
    (server.data_dir / "dumps" / f"{'f' * 32}.dump").write_bytes(b"left over")
    page.get_by_role("button", name="Verify", exact=True).click()
    outcome(page, "3 differences")
    expect(page.locator(".st-key-system_outcome tbody tr")).to_have_count(3)
    for shown in (page, open_page("system", dark=True)):
        expect(shown.locator(".st-key-system_outcome tbody tr")).to_have_count(3)
        assert faint(shown) == []
    page.get_by_role("button", name="Repair").click()
    expect(page.locator(".st-key-system_outcome")).to_contain_text(re.compile("repairing|repaired"))
    page.get_by_role("link", name="Library").click()
    expect(page.locator(".shelf")).to_be_visible()
    page.get_by_role("link", name="System").click()
    outcome(page, "3 differences repaired")
    outcome(page, "No difference")
    page.get_by_role("button", name="Verify thoroughly").click()
    outcome(page, "thoroughly")
    outcome(page, "No difference")


def test_on_a_phone_nothing_is_cut_off(open_page: Open, filled: None) -> None:
    page = open_page("system", **PHONE)
    page.locator(".st-key-system_buttons").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_backup_is_written_and_no_file_is_replaced_unasked(open_page: Open, filled: None, tmp_path: Path) -> None:
    page = open_page("system")
    part, place = page.locator(".st-key-system_backup"), tmp_path / "mine.lectern"
    page.get_by_label("File on this machine").fill(str(place))
    page.get_by_role("button", name="Write backup").click()
    expect(part).to_contain_text("Backup written")
    expect(part).to_contain_text("3 documents, 3 original files")
    written = place.stat().st_mtime_ns
    page.get_by_role("button", name="Write backup").click()
    expect(part).to_contain_text("That file exists")
    assert place.stat().st_mtime_ns == written
    page.get_by_text("Replace the backup that is there").click()
    page.get_by_role("button", name="Write backup").click()
    expect(part).to_contain_text("Backup written")
    assert place.stat().st_mtime_ns > written
    assert faint(page) == []
