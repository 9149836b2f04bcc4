"""Signals and crashes amid adding: whatever was acknowledged is there afterwards, whole, and the rest goes on."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import psycopg
import pytest

from rag_core import Library, Settings, Upload
from rag_core.errors import StoreUnavailable
from rag_core.storage.embedded.server import EmbeddedServer
from tests.conftest import PROJECT, add_text
from tests.faults.conftest import ALL
from tests.rag_core.samples import TEXTS

Start = Callable[..., "subprocess.Popen[str]"]
PARAGRAPH = "Paragraph {n} tells of the number {m} at some length, as texts do. "


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A folder of documents that take a while to embed: short ones, then a long one."""
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    (folder / "long.txt").write_text("\n\n".join(PARAGRAPH.format(n=n, m=n * 7) * 9 for n in range(300)))
    return folder


@pytest.fixture
def start(settings: Settings) -> Start:
    """Starts the command line on the library of `settings`."""
    assert settings.database_url is not None
    environment = {
        **os.environ, "DATABASE_URL": settings.database_url.get_secret_value(), "PYTHONPATH": str(PROJECT),
        "LECTERN_DATA_DIR": str(settings.data_dir),
    }  # fmt: skip

    def run(*arguments: str, preexec_fn: Callable[[], object] = lambda: None) -> subprocess.Popen[str]:
        def prepare() -> None:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs in the background
            preexec_fn()

        return subprocess.Popen(
            [sys.executable, "-m", "rag_core", *arguments],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=settings.data_dir.parent,
            preexec_fn=prepare,
        )  # fmt: skip

    return run


def read_until(process: subprocess.Popen[str], stage: str, source: str = "") -> set[str]:
    """Read events until one of this stage; returns the ids acknowledged as ready so far."""
    assert process.stdout is not None
    ready: set[str] = set()
    for line in process.stdout:
        event = json.loads(line)
        if event["stage"] == "ready":
            ready.add(event["document"])
        if event["stage"] == stage and source in event["source"]:
            return ready
    raise AssertionError(process.communicate())


def finish(settings: Settings, acknowledged: set[str], texts: Path) -> None:
    """Open the library again: what was acknowledged is ready, the rest is resumed, everything is found."""
    with Library.open(settings) as library:
        assert acknowledged <= {d.id for d in library.documents() if d.state == "ready"}
        assert all(event.error is None for event in library.resume())
        assert all(event.error is None for event in library.add([texts]))
        documents = library.documents()
        assert [d.state for d in documents] == ["ready"] * (len(TEXTS) + 1)
        assert all(len(library.chunks(d.id)) == d.chunk_count for d in documents)
        assert library.search("How does the bishop move?", k=1)[0].document.title == "chess"
        assert f"; {sum(d.chunk_count for d in documents)} vectors" in library.storage.dumps.describe()


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGKILL, -9), (signal.SIGTERM, 143), (signal.SIGINT, 130)][: 3 if ALL else 1],
)
def test_a_stop_amid_embedding_loses_nothing_acknowledged(
    settings: Settings, start: Start, texts: Path, number: int, code: int
) -> None:
    process = start("add", "--json", str(texts))
    acknowledged = read_until(process, "embedding", "long")
    began = time.monotonic()
    process.send_signal(number)
    _, complaint = process.communicate(timeout=20)
    assert process.returncode == code
    assert time.monotonic() - began < 10
    assert "Traceback" not in complaint
    finish(settings, acknowledged, texts)


def test_a_second_process_is_told_who_holds_the_library(start: Start, texts: Path, tmp_path: Path) -> None:
    first = start("add", "--json", str(texts))
    read_until(first, "embedding")
    first.send_signal(signal.SIGSTOP)  # or it might be done before the other asks
    second = start("status")
    out, complaint = second.communicate(timeout=30)
    first.kill()
    first.communicate()
    assert (second.returncode, out) == (1, "")
    assert f"process {first.pid}" in complaint
    assert "Traceback" not in complaint


def test_files_that_may_not_grow_fail_with_a_reason(settings: Settings, start: Start, tmp_path: Path) -> None:
    (tmp_path / "large.txt").write_text("words " * 100_000)
    (tmp_path / "small.txt").write_text("A few words.")
    limit = 200_000
    process = start(
        "add", "--json", "large.txt", "small.txt",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    out, complaint = process.communicate(timeout=30)
    assert process.returncode == 1, complaint
    last = {event["source"]: event for event in map(json.loads, out.splitlines())}
    assert last["small.txt"]["stage"] == "ready"
    assert "File too large" in last["large.txt"]["error"]["message"]
    with Library.open(settings) as library:
        assert [d.title for d in library.documents()] == ["small"]


def test_names_that_are_no_text_are_printed(start: Start, tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff\xfe.txt")
    (tmp_path / name).write_text("A few words.")
    for arguments in (["add", name], ["add", "--json", name]):
        process = start(*arguments)
        out, complaint = process.communicate(timeout=30)
        assert process.returncode == 0, complaint
        assert "\\udcff\\udcfe.txt" in out
    assert json.loads(out.splitlines()[-1])["source"] == name


def test_the_database_dying_amid_adding_is_said_and_the_document_resumed(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / "postgres")
    settings = Settings(_env_file=None, data_dir=tmp_path / "library", database_url=server.start())
    settings = settings.changed("storage", connect_timeout_s=2)
    try:
        with Library.open(settings) as library:
            kept = add_text(library, "kept.txt", "What was acknowledged is kept.")
            last = None
            for event in library.add([Upload("more.txt", b"More words come here.")]):
                if event.stage == "embedding" and event.done:
                    _kill(int((tmp_path / "postgres" / "postmaster.pid").read_text().split()[0]))
                last = event
            assert last is not None
            assert last.stage == "failed"
            assert isinstance(last.error, StoreUnavailable)
            with pytest.raises(StoreUnavailable):
                library.documents()
        server = EmbeddedServer(tmp_path / "postgres")
        assert server.start() == settings.database_url.get_secret_value()
        with Library.open(settings) as library:
            assert [event.stage for event in library.resume()][-1:] in (["ready"], [])
            assert kept.id in {d.id for d in library.documents() if d.state == "ready"}
            assert {d.state for d in library.documents()} == {"ready"}
            assert len(library.documents()) == 2
    finally:
        server.stop()


def _kill(pid: int) -> None:
    processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    for process in processes:
        process.kill()
    psutil.wait_procs(processes, timeout=5)


def test_a_connection_cut_amid_adding_loses_nothing(library: Library, settings: Settings) -> None:
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url.get_secret_value(), autocommit=True) as connection:
        for event in library.add([Upload("a.txt", b"Some words."), Upload("b.txt", b"Other words.")]):
            if event.stage == "embedding":
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
    assert all(event.error is None for event in library.resume())
    assert [d.state for d in library.documents()] == ["ready"] * 2
