"""A real server process, a real browser, and files to add. Nothing but 127.0.0.1 may be asked for anything."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from pages.parts import samples
from tests.conftest import PROJECT
from tests.rag_core.models.gemini_server import Script, gemini_server

SAMPLES = PROJECT / "data" / "samples"
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
TIMEOUT_MS = 60_000
expect.set_options(timeout=TIMEOUT_MS)


def browser_path() -> str | None:
    """Where Chrome or Chromium is, if anywhere."""
    named = os.environ.get("CHROME")
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    candidates = [named, *(shutil.which(name) for name in names), MAC]
    return next((path for path in candidates if path and Path(path).exists()), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = browser_path()
    if path is None:
        reason = "no Chrome or Chromium found: install one (Debian: apt-get install chromium) or name it in CHROME"
        if os.environ.get("LECTERN_REQUIRE_BROWSER"):
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=ARGS)
        yield started
        started.close()


@dataclass
class Server:
    """A running Lectern."""

    url: str
    data_dir: Path
    log: Path
    filled: bool = False
    compared: bool = False


@contextmanager
def serve(data_dir: Path, log: Path, **environment: str) -> Iterator[Server]:
    """Run the application on a free port until the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--server.address", "127.0.0.1", "--server.headless", "true"],
            cwd=PROJECT,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | {"LECTERN_DATA_DIR": str(data_dir)} | environment,
        )
    try:
        _await(f"http://127.0.0.1:{port}/_stcore/health", process, log)
        yield Server(f"http://127.0.0.1:{port}", data_dir, log)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except urllib.error.HTTPError:  # it asks for a key
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"the server does not answer: {log.read_text()}")


@pytest.fixture(scope="session")
def gemini() -> Iterator[Script]:
    """A server that speaks Gemini's protocol and says what a test tells it to."""
    with gemini_server() as script:
        yield script


@pytest.fixture(scope="module")
def environment(gemini: Script) -> dict[str, str]:
    """What a module's Lectern is started with. The same question is asked by many tests, each of another answer."""
    return {"LECTERN_GENERATION__GEMINI_ENDPOINT": gemini.url, "LECTERN_ANSWERING__CACHED_ANSWERS": "0"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Iterator[Server]:
    """One Lectern for a module, with an empty library."""
    # Sockets of the embedded PostgreSQL need a short path.
    folder = tmp_path_factory.mktemp("b")
    with serve(folder / "library", folder / "log", **environment) as running:
        yield running
        told = running.log.read_text()
        assert told.startswith(f"Lectern: {running.url}\n")
        assert "Traceback" not in told


@pytest.fixture(scope="module")
def contexts(browser: Browser) -> Iterator[Callable[[bool], BrowserContext]]:
    """A light and a dark profile of the browser, so that the face's scripts are fetched and compiled once for each."""
    made: dict[bool, BrowserContext] = {}

    def of(dark: bool) -> BrowserContext:
        if dark not in made:
            made[dark] = browser.new_context(color_scheme="dark" if dark else "light", locale="en-US")
        return made[dark]

    yield of
    for context in made.values():
        context.close()


@pytest.fixture
def open_page(contexts: Callable[[bool], BrowserContext], server: Server) -> Iterator[Callable[..., Page]]:
    """Opens tabs: `open_page("chat", width=390, height=844, dark=True)`.

    Foreign addresses, errors of scripts, and what the pages' own policy keeps from them fail.
    """
    pages, foreign, broken = [], [], []

    def open_tab(path: str = "", *, width: int = 1280, height: int = 800, dark: bool = False) -> Page:
        page = contexts(dark).new_page()
        pages.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.set_default_timeout(TIMEOUT_MS)
        page.on("pageerror", lambda error: broken.append(str(error)))
        page.on("console", lambda said: broken.append(said.text) if "Content Security Policy" in said.text else None)
        local = ("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:")
        page.on("request", lambda request: None if request.url.startswith(local) else foreign.append(request.url))
        page.goto(f"{server.url}/{path}")
        page.locator(".st-key-frame_waiting").wait_for(state="detached", timeout=60_000)
        page.locator("h1, h2, .st-key-chat_heading").first.wait_for(timeout=60_000)
        return page

    yield open_tab
    for page in pages:
        page.close()
    assert not foreign
    assert not broken


@pytest.fixture
def filled(open_page: Callable[..., Page], server: Server) -> None:
    """The sample library is there."""
    if server.filled:
        return
    page = open_page()
    if page.get_by_role("heading", name="Ask your own documents").count():
        page.get_by_role("button", name="Add the sample library").click()
    else:
        for path in samples.files():
            send(server, f"/api/v1/documents?name={path.name}", path.read_bytes(), "application/octet-stream")
        page.reload()
    for path in samples.files():
        page.locator(".shelf tbody tr", has_text=path.name).wait_for(timeout=90_000)
    server.filled = True


def add_sheet(server: Server, name: str, head: str, rows: Iterable[Sequence[str]]) -> None:
    """Add a CSV file of rows to a server's library."""
    text = "\n".join([head, *map(",".join, rows)])
    send(server, f"/api/v1/documents?name={name}", text.encode(), "application/octet-stream")


def send(server: Server, path: str, body: bytes, kind: str) -> None:
    """Send a body of a media type to a server's REST."""
    request = urllib.request.Request(f"{server.url}{path}", body, {"Content-Type": kind})
    urllib.request.urlopen(request).close()


def idle(page: Page) -> None:
    """Wait until no run was under way for 0.8 s, at most five: Streamlit can forget a click that falls amid another."""
    page.evaluate(
        """async () => {
            const state = () => document.querySelector("[data-testid=stApp]").dataset.testScriptState;
            const until = Date.now() + 5000;
            for (let since = Date.now(); Date.now() - since < 800 && Date.now() < until; ) {
                if (state() !== "notRunning") since = Date.now();
                await new Promise((done) => setTimeout(done, 20));
            }
        }"""
    )


def ask(page: Page, question: str) -> None:
    """Type a question and send it."""
    line = page.locator(".st-key-chat_question textarea")
    with suppress(PlaywrightError):  # two for a moment, where a run of the page takes the place of another
        line.fill(question)
    expect(line).to_have_count(1)
    if line.input_value() != question:
        line.fill(question)
    page.keyboard.press("Enter")


def boxes(page: Page) -> int:
    """How many highlighted boxes lie over the page's picture; waits for the first."""
    page.locator(".passage .box").first.wait_for()
    return page.locator(".passage .box").count() or boxes(page)  # the page may be drawn anew between the two
