"""The reading processes: limits, turns, cancellation, and coming back after a kill."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core.errors import Cancelled, LecternError, LimitExceeded, UnreadableDocument
from rag_core.reading import Reader, pool
from rag_core.reading.assemble import title_from
from rag_core.settings import ReadingSettings


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., tuple[Reader, Path]]:
    """Make a reader whose process is the stand-in, and a file that tells it what to do."""
    monkeypatch.setattr(pool, "SERVICE", "tests.rag_core.reading.slow_worker:service")
    readers = []

    def make(behaviour: str, **settings: Any) -> tuple[Reader, Path]:
        path = tmp_path / behaviour
        path.write_text("words")
        readers.append(Reader(ReadingSettings(**settings)))
        return readers[-1], path

    yield make  # type: ignore[misc]
    for reader in readers:
        reader.close()


@pytest.fixture
def own_reader() -> Iterator[Reader]:
    with Reader(ReadingSettings()) as made:
        yield made


@pytest.fixture
def many_pages(make_pdf: Callable[..., Path]) -> Path:
    def draw(canvas: Canvas) -> None:
        for row in range(40):
            canvas.drawString(30, 580 - 14 * row, "Words that fill the whole line of the page, again and again")

    return make_pdf(*[draw] * 600, name="many.pdf")


def pids(reader: Reader) -> list[int]:
    """The processes that read."""
    return [child.pid for child in reader._reading.children if child.pid]


def test_silence_beyond_the_limit_loses_the_page_alone(stub: Callable[..., tuple[Reader, Path]]) -> None:
    reader, path = stub("silent", page_timeout_s=2.5)
    parsed = reader.read(path, "a.txt")
    assert [bool(page.error) for page in parsed.pages] == [False, True, False, False]
    assert "2.5 seconds" in (parsed.pages[1].error or "")
    assert parsed.notes[0] == "Page 2 could not be read and was left out."


def test_a_process_that_is_alive_is_waited_for_until_the_time_of_the_document_is_up(
    stub: Callable[..., tuple[Reader, Path]],
) -> None:
    reader, path = stub("alive", page_timeout_s=2.5)
    assert len(reader.read(path, "a.txt").pages) == 4
    reader, path = stub("alive", timeout_s=0.5)
    with pytest.raises(LimitExceeded, match=r"longer than 0\.5 seconds\."):
        reader.read(path, "a.txt")


def test_the_time_of_the_whole_document_is_limited(stub: Callable[..., tuple[Reader, Path]]) -> None:
    reader, path = stub("silent", timeout_s=0.5)
    began = time.monotonic()
    with pytest.raises(LimitExceeded, match=r"longer than 0\.5 seconds"):
        reader.read(path, "a.txt")
    assert time.monotonic() - began < 3


def test_pages_that_kill_the_process_are_recorded(stub: Callable[..., tuple[Reader, Path]]) -> None:
    reader, path = stub("dies")
    parsed = reader.read(path, "a.txt")
    assert [bool(page.error) for page in parsed.pages] == [False, True, True, False]
    assert "Pages 2, 3 could not be read and were left out." in parsed.notes


def test_an_answer_without_sense_is_an_error(stub: Callable[..., tuple[Reader, Path]]) -> None:
    reader, path = stub("babbles")
    with pytest.raises(UnreadableDocument):
        reader.read(path, "a.txt")


def test_details_that_take_too_long_are_noted(
    stub: Callable[..., tuple[Reader, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_core.reading.reader.DETAILS_TIMEOUT_S", 0.3)
    reader, path = stub("aimless")
    parsed = reader.read(path, "a.txt")
    assert len(parsed.pages) == 4
    assert parsed.notes == ("The outline and the document information could not be read.",)


def test_a_silent_page_can_be_cancelled(stub: Callable[..., tuple[Reader, Path]]) -> None:
    reader, path = stub("silent")
    began = time.monotonic()
    with pytest.raises(Cancelled):
        reader.read(path, "a.txt", cancelled=lambda: time.monotonic() - began > 0.5)
    assert time.monotonic() - began < 4


def test_reading_is_cancelled_between_bundles_of_pages(own_reader: Reader, many_pages: Path) -> None:
    seen: list[tuple[int, int]] = []
    with pytest.raises(Cancelled):
        own_reader.read(
            many_pages, "x.pdf", progress=lambda *pages: seen.append(pages), cancelled=lambda: len(seen) > 1
        )
    assert seen[0] == (0, 600)
    assert 0 < seen[-1][0] < 600
    before = pids(own_reader)
    assert len(own_reader.read(many_pages, "x.pdf").pages) == 600
    assert pids(own_reader) == before
    assert len(before) == 1


def test_progress_counts_pages(own_reader: Reader, samples: Path) -> None:
    seen: list[tuple[int, int]] = []
    own_reader.read(samples / "veyra-ferry-handbook.pdf", "x.pdf", progress=lambda *pages: seen.append(pages))
    assert seen[0] == (0, 13)
    assert seen[-1] == (13, 13)


def test_a_killed_process_is_replaced(own_reader: Reader, samples: Path) -> None:
    path = samples / "water-works-guide.md"
    own_reader.start()
    (first,) = pids(own_reader)
    os.kill(first, signal.SIGKILL)
    assert own_reader.read(path, path.name).title == "Keeper's guide to the Veyra water works"
    assert pids(own_reader) not in ([first], [])


def test_one_that_hangs_holds_up_no_other(stub: Callable[..., tuple[Reader, Path]]) -> None:
    reader, silent = stub("silent", processes=2)
    reached, stop = threading.Event(), threading.Event()
    ends: list[LecternError] = []

    def hang() -> None:
        try:
            reader.read(
                silent, "a.txt", progress=lambda done, _: reached.set() if done else None, cancelled=stop.is_set
            )
        except Cancelled as error:
            ends.append(error)

    thread = threading.Thread(target=hang)
    thread.start()
    assert reached.wait(10)
    for name in ("b", "c"):
        other = silent.with_name(name)
        other.write_text("words")
        assert len(reader.read(other, name).pages) == 4
    assert not ends
    stop.set()
    thread.join(10)
    assert len(ends) == 1


def test_a_picture_is_drawn_while_whatever_reads_is_at_work(samples: Path) -> None:
    path = samples / "veyra-ferry-handbook.pdf"
    with Reader(ReadingSettings(processes=1)) as reader, reader._reading.child():
        assert reader.page_image(path, "application/pdf", 3).png


def test_what_was_read_of_a_long_document_is_told_of(own_reader: Reader, many_pages: Path) -> None:
    told: list[tuple[int, int]] = []
    parsed = own_reader.read(
        many_pages, "x.pdf", begun=lambda pages, so_far: told.append((pages, len(so_far().pages))) if not told else None
    )
    ((pages, had),) = told
    assert 0 < pages == had < len(parsed.pages) == 600


def test_many_threads_share_a_few_processes(own_reader: Reader, samples: Path) -> None:
    names = ["veyra-ferry-handbook.pdf", "water-works-guide.md", "storm-report-2019.txt"] * 4
    found: dict[int, str] = {}

    def read(index: int) -> None:
        found[index] = own_reader.read(samples / names[index], names[index]).pages[-1].text

    threads = [threading.Thread(target=read, args=(index,)) for index in range(len(names))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[index] for index in range(3)] * 4 == [found[index] for index in range(12)]
    assert len(set(found.values())) == 3
    assert 1 <= len(pids(own_reader)) <= own_reader.processes


def test_closing_ends_the_process_even_at_work(many_pages: Path) -> None:
    reader = Reader(ReadingSettings())
    reader.start()
    (pid,) = pids(reader)
    process = psutil.Process(pid)
    failed: list[LecternError] = []

    def read() -> None:
        try:
            reader.read(many_pages, "x.pdf")
        except LecternError as error:
            failed.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    time.sleep(0.3)
    reader.close()
    thread.join(timeout=5)
    assert not thread.is_alive()
    assert len(failed) == 1
    assert not process.is_running()
    with pytest.raises(UnreadableDocument, match="closed"):
        reader.read(many_pages, "x.pdf")
    reader.close()


def test_the_process_ends_with_its_parent() -> None:
    import subprocess

    script = (
        "import os, sys\n"
        "from rag_core.reading import Reader\n"
        "from rag_core.settings import ReadingSettings\n"
        "reader = Reader(ReadingSettings())\n"
        "reader.start()\n"
        "sys.stdout.write(str(reader._reading.children[-1].pid)); sys.stdout.flush()\n"
        "os.kill(os.getpid(), 9)\n"
    )
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=root, check=False)
    pid = int(done.stdout)
    for _ in range(100):
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return
        time.sleep(0.05)
    pytest.fail("the reading process outlived its parent")


def test_a_file_that_is_gone_is_an_error(own_reader: Reader, tmp_path: Path) -> None:
    with pytest.raises(UnreadableDocument, match="cannot be read"):
        own_reader.page_image(tmp_path / "gone", "application/pdf", 1)
    with pytest.raises(UnreadableDocument, match="cannot be read"):
        own_reader.read(tmp_path / "gone", "gone.pdf")


def test_a_page_that_does_not_exist_has_no_picture(own_reader: Reader, samples: Path) -> None:
    for number in (0, 14):
        with pytest.raises(UnreadableDocument, match=f"no page {number}"):
            own_reader.page_image(samples / "veyra-ferry-handbook.pdf", "application/pdf", number)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("../../etc/annual_report.pdf", "annual report"),
        ("C:\\files\\Plan B.txt", "Plan B"),
        ("\U0001f600 “quoted”.md", "\U0001f600 “quoted”"),
        (".hidden", ".hidden"),
        ("archive.tar.txt", "archive.tar"),
        ("", "Untitled"),
        ("x" * 300 + ".pdf", "x" * 300),
    ],
)
def test_titles_from_names(name: str, title: str) -> None:
    assert title_from(name) == title
