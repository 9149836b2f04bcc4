"""How quick the pages are, in a real browser: `python -m tests.benchmarks.face --documents 500`.

A library of documents that are made here is opened by a real server. One JSON object each: a switch from page to page
(p50 and p95), from pointing at a number to its evidence, from a click on it to the marked page, the first page after
the server was started anew, and how long an answer takes while other files are added, as a multiple of what it takes
otherwise. Times are milliseconds, as a person sees them: from the press to what was asked for being drawn.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright
from reportlab.pdfgen.canvas import Canvas

from rag_core import Library, Settings
from tests.benchmarks.measure import emit, percentile, sentences
from tests.browser.conftest import ARGS, ask, browser_path, idle, serve

PLACES = {"Library": "Library", "Search": "Search", "Models": "Models", "System": "System", "Insights": "Insights"}
_PAGES, _LINES = 3, 25
_SEED = 7
_WAIT_MS = 120_000


def make(folder: Path, documents: int, seed: int = _SEED) -> list[Path]:
    """PDFs of a few pages of sentences; one in ten is a text. Each knows the toll of a bridge that no other does."""
    folder.mkdir(exist_ok=True)
    chance, known = random.Random(seed), sentences()
    made = []
    for number in range(documents):
        toll = f"The toll of bridge {_name(number, seed)} is {number + 3} crowns."
        pages = [[toll, *chance.choices(known, k=_LINES - 1)] for _ in range(_PAGES)]
        path = folder / f"report-{seed}-{number}.{'txt' if number % 10 == 9 else 'pdf'}"
        if path.suffix == ".txt":
            path.write_text("\n".join(line for page in pages for line in page))
        else:
            _draw(path, pages)
        made.append(path)
    return made


def _name(number: int, seed: int) -> str:
    """A name that stands in one document alone."""
    syllables = ["ka", "lo", "mi", "ru", "ne", "ta", "so", "vi"]
    return "".join(syllables[(number + 1000 * seed) // 8**place % 8] for place in range(4)).capitalize()


def _draw(path: Path, pages: list[list[str]]) -> None:
    canvas = Canvas(str(path))
    for page in pages:
        for place, line in enumerate(page):
            canvas.drawString(50, 800 - 28 * place, line[:100])
        canvas.showPage()
    canvas.save()


def timed_ms(act: Callable[[], object], shown: Callable[[], object]) -> float:
    """Milliseconds from an act to what it shows."""
    began = time.perf_counter()
    act()
    shown()
    return (time.perf_counter() - began) * 1000


def opened(browser: Browser, address: str) -> Page:
    """A tab with a page that is drawn."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(_WAIT_MS)
    page.goto(address)
    page.locator("h1, .st-key-chat_heading, .st-key-chat_question").first.wait_for()
    return page


def switches(page: Page, rounds: int) -> None:
    """From page to page by the left column, once round before it counts."""
    took = []
    for turn in range(rounds + 1):
        for link, head in PLACES.items():
            idle(page)
            tab = page.get_by_role("link", name=link, exact=True)
            heading = page.get_by_role("heading", name=head, exact=True, level=1)
            spent = timed_ms(tab.click, heading.wait_for)
            took += [spent] if turn else []
    emit(benchmark="face", what="page switch", n=len(took), p50_ms=round(median(took)), p95_ms=_p95(took))


def evidence(page: Page, url: str, documents: int, rounds: int) -> None:
    """From pointing at a number to its quote and picture, and from a click to the marked page, each of a new answer."""
    hovers, clicks = [], []
    for turn in range(rounds):
        page.goto(f"{url}/chat")
        _answered(page, turn % documents, _SEED)
        idle(page)
        cite, card = page.locator(".cite").first, page.locator(".card")
        hovers.append(timed_ms(cite.hover, card.wait_for))
        page.mouse.move(5, 5)
        card.wait_for(state="detached")
        marked = page.locator(".passage .box, .passage mark.cited").first
        clicks.append(timed_ms(cite.click, marked.wait_for))
    emit(benchmark="face", what="evidence on hover", n=len(hovers), p50_ms=round(median(hovers)), p95_ms=_p95(hovers))
    emit(benchmark="face", what="citation to page", n=len(clicks), p50_ms=round(median(clicks)), p95_ms=_p95(clicks))


def _answered(page: Page, number: int, seed: int) -> None:
    """Ask in a conversation of its own what one document alone knows."""
    page.locator(".st-key-chat_question textarea").wait_for()
    idle(page)
    ask(page, f"What is the toll of bridge {_name(number, seed)}?")
    page.locator(".exchange .meta").first.wait_for()


def answers_ms(page: Page, url: str, numbers: range) -> list[float]:
    """How long answers take, each in a conversation of its own."""
    took = []
    for number in numbers:
        page.goto(f"{url}/chat")
        page.locator(".st-key-chat_question textarea").wait_for()
        idle(page)
        shown = page.locator(".exchange .meta").first
        question = f"What is the toll of bridge {_name(number, _SEED)}?"
        took.append(timed_ms(lambda question=question: ask(page, question), shown.wait_for))  # type: ignore[misc]
    return took


def while_adding(page: Page, url: str, files: list[Path], documents: int, rounds: int) -> None:
    """Answers alone, then while files come in; each is asked for once, so that none is one given before."""
    first = range(rounds, 2 * rounds)
    alone = answers_ms(page, url, range(first.start % documents, first.start % documents + rounds))
    for path in files:
        body = path.read_bytes()
        asked = urllib.request.Request(f"{url}/api/v1/documents?name={path.name}&wait=false", body)
        asked.add_header("Content-Type", "application/octet-stream")
        urllib.request.urlopen(asked).close()
    busy = answers_ms(page, url, range(2 * rounds, 3 * rounds))
    ratio = median(busy) / median(alone)
    emit(
        benchmark="face", what="answer while files are added", files=len(files), n=rounds, ratio=round(ratio, 2),
        alone_ms=round(median(alone)), adding_ms=round(median(busy)),
    )  # fmt: skip


def _p95(took: list[float]) -> int:
    return round(percentile(took, 0.95))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=500)
    parser.add_argument("--added", type=int, default=100, help="files that come in while one asks")
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lf-", ignore_cleanup_errors=True) as made, sync_playwright() as playwright:
        folder = Path(made)
        with Library.open(Settings(_env_file=None, data_dir=folder / "l")) as library:
            list(library.add(make(folder / "d", options.documents)))
        browser = playwright.chromium.launch(executable_path=browser_path(), args=ARGS)
        environment = {"LECTERN_ANSWERING__CACHED_ANSWERS": "0"}
        with serve(folder / "l", folder / "log", **environment) as server:
            opened(browser, server.url).close()  # what the server makes once
        began = time.perf_counter()
        with serve(folder / "l", folder / "log", **environment) as server:
            page = opened(browser, server.url)
            page.locator(".shelf tbody tr").first.wait_for()
            first_s = time.perf_counter() - began
            emit(benchmark="face", what="first page after a restart", documents=options.documents, s=round(first_s, 2))
            switches(page, options.rounds)
            evidence(page, server.url, options.documents, options.rounds)
            files = make(folder / "more", options.added, _SEED + 1)
            while_adding(page, server.url, files, options.documents, options.rounds)
        browser.close()


if __name__ == "__main__":
    main()
