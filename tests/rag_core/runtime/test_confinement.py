"""What a process that meets hostile files can no longer do, tried in one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from rag_core import Library
from rag_core.errors import LecternError
from rag_core.reading import Reader
from rag_core.reading.ocr import PageRecogniser
from rag_core.runtime.environment import bare
from rag_core.settings import OcrSettings, ReadingSettings
from tests.conftest import PROJECT, add_text

SECRETS = ("GOOGLE_API_KEY", "DATABASE_URL", "LECTERN_SERVER__KEY", "AWS_SECRET_ACCESS_KEY", "CHROMA_URL")
TRIES = """
import ctypes, os, socket, sys
from pathlib import Path
from rag_core.runtime.confinement import confine

def tried(what, *values):
    try:
        what(*values)
    except OSError as error:
        return error.errno
    return 0

before = socket.socketpair()
could = confine()
calls, writes, reads = ctypes.CDLL(None, use_errno=True), Path(sys.argv[1]), Path(sys.argv[2])
print(could)
print([tried(socket.socket, family) for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX)])
numbers = 425, 438, 101 if os.uname().machine == "x86_64" else 117
print([calls.syscall(number, 0, 0, 0, 0) for number in numbers])
print([tried(writes.write_text, "x"), tried(writes.mkdir), tried(reads.unlink), tried(os.truncate, reads, 0)])
parent = Path("/proc", str(os.getppid()))
print(tried((parent / "environ").read_bytes), tried((parent / "mem").open, "rb"))
print(reads.read_text(), Path("/proc/self/statm").read_text() != "", len(before))
child = "import socket\\ntry: socket.socket()\\nexcept OSError as error: print(error.errno)"
import subprocess
print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout.strip())
"""
linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone can hold a process to that")


@pytest.fixture
def with_secrets(monkeypatch: pytest.MonkeyPatch, fresh_processes: None) -> None:
    for name in SECRETS:
        monkeypatch.setenv(name, "a secret")


@linux
def test_what_a_confined_process_can_do_no_longer(with_secrets: None) -> None:
    inside = PROJECT / "tests" / "rag_core" / "runtime"  # what the system keeps for temporary files may be written
    if inside.is_relative_to(tempfile.gettempdir()):
        pytest.skip("this checkout is among the temporary files")
    kept = inside / "kept.tmp"
    kept.write_text("kept")
    try:
        told = subprocess.run(
            [sys.executable, "-c", TRIES, str(inside / "made.tmp"), str(kept)], capture_output=True, text=True,
            env=bare(), check=False,
        )  # fmt: skip
        assert kept.read_text() == "kept"
    finally:
        kept.unlink()
    lines = told.stdout.splitlines()
    assert lines, told.stderr
    if lines[0] != "(True, True)":
        pytest.skip(f"this system cannot: {lines[0]}")
    assert lines[1:] == ["[13, 13, 13]", "[-1, -1, -1]", "[13, 13, 13, 13]", "13 13", "kept True 2", "13"]


def read(path: Path) -> None:
    with Reader(ReadingSettings()) as reader:
        reader.read(path, path.name)
        check_confined()


def recognise(path: Path) -> None:
    recogniser = PageRecogniser()
    try:
        with pytest.raises(LecternError):
            recogniser.recognise(OcrSettings(), path, "image/png", 1)
        check_confined()
    finally:
        recogniser.close()


def check_confined() -> None:
    """Look at the process that was started last."""
    child = max(psutil.Process().children(), key=lambda process: process.create_time())
    status = Path(f"/proc/{child.pid}/status").read_text()
    assert "NoNewPrivs:\t1" in status
    assert "Seccomp:\t2" in status
    assert "a secret" not in Path(f"/proc/{child.pid}/environ").read_text()


@linux
@pytest.mark.parametrize("use", [read, recognise])
def test_the_processes_that_read_files_are_confined_and_know_no_secret(
    use: Callable[[Path], None], tmp_path: Path, with_secrets: None
) -> None:
    path = tmp_path / "words.txt"
    path.write_text("Some words.")
    use(path)


@linux
def test_no_process_of_a_library_knows_a_secret(library: Library, with_secrets: None) -> None:
    add_text(library, "lamp.txt", "The lamp on the landing is green.")
    library.clusters.update()
    started = psutil.Process().children(recursive=True)
    ours = [one for one in started if any(part.startswith("rag_core.") for part in one.cmdline())]
    assert ours
    for one in ours:
        known = one.environ()
        assert not {*SECRETS} - {"CHROMA_URL"} & known.keys(), one.cmdline()


def test_a_process_is_told_where_things_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "a secret")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("CHROMA_TOKEN", "theirs")
    found = bare("CHROMA_", OMP_NUM_THREADS="1")
    assert (found["LC_ALL"], found["OMP_NUM_THREADS"], found["CHROMA_TOKEN"]) == ("C.UTF-8", "1", "theirs")
    assert found["PYTHONPATH"] == os.pathsep.join([str(PROJECT), "/elsewhere"])
    assert "GOOGLE_API_KEY" not in found
    assert "CHROMA_TOKEN" not in bare()
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", "import rag_core"], env=found, cwd="/", check=False)
    assert (done.returncode, time.perf_counter() - began < 60) == (0, True)
