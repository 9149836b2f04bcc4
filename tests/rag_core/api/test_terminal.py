"""The command line as a person has it: in a terminal, beside a running server."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import stat
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rag_core import server_file
from tests.conftest import PROJECT
from tests.rag_core.api.conftest import Served
from tests.rag_core.models.openai_server import openai_server

ASKED = "How many days of annual leave do employees have?"
_PATIENCE_S = 60


def _at_a_terminal() -> None:
    """Make this process the terminal's, with Ctrl-C as there: what a shell started behind its back ignores it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """A program in a pseudo-terminal of 40 lines of 120 characters."""

    def __init__(self, *arguments: str, at: Path = PROJECT, **variables: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        # Nothing answers here where the cursor is.
        environment = {
            **os.environ, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", "PYTHONPATH": str(PROJECT),
            **variables,
        }  # fmt: skip
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rag_core", *arguments], cwd=at, env=environment, stdin=theirs, stdout=theirs,
            stderr=theirs, start_new_session=True, preexec_fn=_at_a_terminal,
        )  # fmt: skip
        os.close(theirs)
        self._seen = ""

    def until(self, text: str) -> str:
        """What is shown up to a text, which must come."""
        deadline = time.monotonic() + _PATIENCE_S
        while text not in self._seen:
            assert time.monotonic() < deadline, f"{text!r} did not come: {self._seen!r}"
            if not self._read():
                raise AssertionError(f"it ended without {text!r}: {self._seen!r}")
        before, _, self._seen = self._seen.partition(text)
        return before

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def end(self) -> tuple[int, str]:
        """The exit code, and what was shown to the end."""
        while self._read():
            pass
        os.close(self._ours)
        return self._process.wait(_PATIENCE_S), self._seen

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _read(self) -> bool:
        ready, _, _ = select.select([self._ours], [], [], _PATIENCE_S)
        try:
            found = os.read(self._ours, 65536) if ready else b""
        except OSError:  # its end, on Linux
            return False
        self._seen += found.decode(errors="replace")
        return bool(found)


@contextmanager
def terminal(*arguments: str, at: Path = PROJECT, **variables: str) -> Iterator[Terminal]:
    shown = Terminal(*arguments, at=at, **variables)
    try:
        yield shown
    finally:
        shown.stop()


@pytest.fixture
def here(served: Served) -> Iterator[list[str]]:
    """The arguments that name the library of a running server."""
    with server_file.told(served.library.folder, served.url, served.doors.key):
        yield ["--data-dir", str(served.library.folder)]


def test_a_talk_at_the_prompt(served: Served, here: list[str], tmp_path: Path) -> None:
    """Ctrl-C stops the answer, not the program or the conversation; lines, commands, history."""
    models, history = served.library.language_models, served.library.folder / "chat-history"
    with openai_server() as script, terminal("chat", "--model", "server:small", *here, at=tmp_path) as talk:
        script.texts, script.hang_before = ("It is exactly 27 days [1]. ", "More."), 1
        models.use_server(script.url, "", ("small",), agreed=True, keep=False)
        try:
            talk.until("›")
            talk.type("/export talk.md\r")
            talk.until("Nothing was asked yet.")
            talk.until("›")
            talk.type("How many days of annual leave\x1b\rdo employees have?\r")
            talk.until("exactly 27 days")
            talk.type("\x03")
            talk.until("Stopped.")
            talk.type("/model extractive\r")
            talk.type(f"{ASKED}\r")
            talk.until("27 days")
            talk.until(f"[1] \x1b]8;;{served.url}/?d=")
            talk.type("/nonsense\r")
            talk.until("There is no /nonsense")
            talk.type("/export talk.md\r")
            talk.until("Written to")
            talk.type("/quit\r")
            assert talk.end()[0] == 0
        finally:
            models.forget_server()
    one = served.library.conversations()[0]
    assert len(served.library.messages(one.id)) == 2
    assert "27 days" in (tmp_path / "talk.md").read_text()
    assert "+do employees have?" in history.read_text()
    assert stat.S_IMODE(history.stat().st_mode) == 0o600


def test_tables_links_and_colours(here: list[str]) -> None:
    with terminal("documents", *here) as shown:
        code, coloured = shown.end()
    with terminal("documents", *here, NO_COLOR="1") as shown:
        _, plain = shown.end()
    assert code == 0
    assert "handbook" in coloured
    assert "handbook" in plain
    assert not re.search(r"\x1b\[[\d;]*3\d[;m]", plain)


def test_words_are_completed(here: list[str]) -> None:
    def complete(words: str) -> set[str]:
        asked = {"_LECTERN_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        done = subprocess.run(
            [sys.executable, "-c", "from rag_core.cli import program; program()"], cwd=PROJECT, text=True,
            env={**os.environ, "LECTERN_DATA_DIR": here[1], **asked}, capture_output=True, check=True,
        )  # fmt: skip
        return {line.partition(",")[2] for line in done.stdout.splitlines()}

    assert complete("lectern re") == {"rename", "remove", "repair", "reembed", "restore"}
    assert complete("lectern remove hand") == {"handbook"}
    assert complete("lectern search --tag w") == {"work"}
    assert complete("lectern ask --mod") == {"--mode", "--model"}
