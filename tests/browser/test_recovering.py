"""The database goes away under open pages: each says so in Lectern's words, and is itself again once it is back."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from rag_core.storage.embedded.server import EmbeddedServer
from tests.browser.conftest import serve

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_pages_tell_of_a_lost_database_and_come_back_by_themselves(browser: Browser, tmp_path: Path) -> None:
    database = EmbeddedServer(tmp_path / "pg")
    settings = {"DATABASE_URL": database.start(), "LECTERN_STORAGE__CONNECT_TIMEOUT_S": "1"}
    try:
        with serve(tmp_path / "l", tmp_path / "log", **settings) as server:
            page = browser.new_page()
            main = page.locator("[data-testid=stMain]")
            page.goto(f"{server.url}/system")
            expect(main).to_contain_text("0 documents", timeout=60_000)
            database.stop()
            expect(main).to_contain_text("PostgreSQL does not answer", timeout=60_000)
            for path in ("models", "search", "evaluation", "insights", "chat", ""):
                page.goto(f"{server.url}/{path}")
                expect(main).to_contain_text("PostgreSQL does not answer", timeout=60_000)
                expect(page.locator("[data-testid=stException]")).to_have_count(0)
                assert "redacted" not in main.inner_text()
            database.start()
            expect(main).to_contain_text("Ask your own documents", timeout=60_000)
            expect(main).not_to_contain_text("PostgreSQL does not answer")
            page.close()
        assert "Traceback" not in (tmp_path / "log").read_text()
    finally:
        database.stop()
