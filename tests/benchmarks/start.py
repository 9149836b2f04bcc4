"""A restart with an existing library, as a browser sees it: `python -m tests.benchmarks.start --chunks 10000`.

`first_page_s` runs from the start of the server's process until the library's table is drawn, `first_answer_s`, in
another restart, until the first cited sentence stands on the chat page, asked as soon as the field is there. Median of
some restarts; the browser is open before.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import Error as BrowserError

from tests.benchmarks.measure import PROJECT, emit, library_of, questions
from tests.browser.conftest import ARGS, ask, browser_path

_PATIENCE_MS = 60_000


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def restart(browser: Browser, data_dir: Path, path: str, wait: Callable[[Page], None]) -> float:
    """Seconds from a new server process until `wait` has seen on the page what it waits for."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    page = browser.new_page()
    page.set_default_timeout(_PATIENCE_MS)
    started = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--server.headless", "true"], cwd=PROJECT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=os.environ | {"LECTERN_DATA_DIR": str(data_dir)},
    )  # fmt: skip
    try:
        _goto(page, f"http://127.0.0.1:{port}/{path}")
        wait(page)
        return time.perf_counter() - started
    finally:
        page.close()
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _goto(page: Page, url: str) -> None:
    deadline = time.monotonic() + _PATIENCE_MS / 1000
    while True:
        try:
            page.goto(url)
            return
        except BrowserError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _table(page: Page) -> None:
    page.locator(".shelf tbody tr").first.wait_for()


def _answer(page: Page) -> None:
    page.locator(".st-key-chat_question textarea").wait_for()
    # Words of the library itself: an answer that found nothing would cite nothing.
    ask(page, questions(1)[0])
    page.locator(".exchange .body").get_by_text(".").first.wait_for()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--restarts", type=int, default=3)
    parser.add_argument("--library", type=Path, help="keep the library in this folder for another run")
    options = parser.parse_args()
    path = browser_path()
    if path is None:
        emit(benchmark="start", skipped="no Chrome or Chromium was found")
        return
    with tempfile.TemporaryDirectory(prefix="lectern-", ignore_cleanup_errors=True) as folder:
        data_dir = options.library or Path(folder)
        with library_of(options.chunks, data_dir) as library:
            chunks = library.maintenance.status().chunks
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=ARGS)
            pages = [restart(browser, data_dir, "", _table) for _ in range(options.restarts)]
            answers = [restart(browser, data_dir, "chat", _answer) for _ in range(options.restarts)]
            browser.close()
    emit(
        benchmark="start", chunks=chunks, restarts=options.restarts,
        first_page_s=round(statistics.median(pages), 2), first_answer_s=round(statistics.median(answers), 2),
        first_page_all_s=[round(value, 2) for value in pages],
        first_answer_all_s=[round(value, 2) for value in answers],
    )  # fmt: skip


if __name__ == "__main__":
    main()
