"""Pulling the plug while documents are added: at the next start they are resumed, and a line says so."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from rag_core import Library, Settings
from rag_core.domain import Configuration, Question
from tests.browser.conftest import Server, serve
from tests.until import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PARAGRAPH = "The keeper of lighthouse {n}.{m} writes down wind and weather, and who came by, every morning at six. " * 8


def opened(browser: Browser, url: str) -> Page:
    page = browser.new_page()
    page.goto(url)
    page.locator("h1").first.wait_for(timeout=60_000)
    return page


def _kept(server: Server) -> int:
    """How many documents have their bytes kept, and so survive what comes."""
    with urllib.request.urlopen(f"{server.url}/api/v1/documents?limit=50") as answer:
        return len(json.load(answer)["documents"])


def test_ten_documents_are_resumed_after_a_kill(browser: Browser, tmp_path: Path) -> None:
    files = []
    for n in range(10):
        files.append(tmp_path / f"lighthouse {n}.txt")
        files[-1].write_text("\n\n".join(PARAGRAPH.format(n=n, m=m) for m in range(20)))
    library, log = tmp_path / "l", tmp_path / "log"
    with serve(library, log) as server:
        page = opened(browser, server.url)
        page.locator("input[type=file]").set_input_files([str(file) for file in files])
        until(lambda: _kept(server) == 10)
        owner = re.search(r'"pid": (\d+)', (library / "owner.json").read_text())
        postmaster = (library / "postgres" / "postmaster.pid").read_text().split()[0]
        for pid in (owner[1] if owner else "", postmaster):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        page.close()
    with serve(library, log) as server:
        page = opened(browser, server.url)
        told = page.locator(".st-key-upload_jobs")
        expect(told).to_contain_text("Lectern ended while 10 documents were being added", timeout=30_000)
        expect(told).to_contain_text("all ready", timeout=90_000)
        expect(page.locator("[data-testid=stMain]")).to_contain_text("10 documents, 10 pages")
        page.close()


def test_runs_that_were_left_go_on_at_the_next_start(browser: Browser, tmp_path: Path) -> None:
    with Library.open(Settings(data_dir=tmp_path / "l")) as library:
        asked = [Question(f"{n}", f"What does keeper {n} write down?") for n in range(3)]
        of = library.evaluation.create("Lighthouses", asked)
        left = library.evaluation.begin(of.id, [Configuration("As it is")])
        next(iter(library.evaluation.steps([left[0].id])))
    with serve(tmp_path / "l", tmp_path / "log") as server:
        page = opened(browser, f"{server.url}/evaluation")
        told = page.locator(".st-key-evaluation_lines")
        expect(told).to_contain_text("Lectern ended while 1 run was under way. Resumed and ended.", timeout=60_000)
        expect(page.locator(".st-key-evaluation_history")).to_contain_text("Done")
        page.close()
