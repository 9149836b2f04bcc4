"""Servers and workers, processes of their own, started as the page on scale says."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx

from tests.conftest import PROJECT
from tests.until import until

API = "/api/v1"
PAGE = PROJECT / "docs" / "scale.md"
FOUND_S = 5.0


def section(title: str) -> str:
    """What stands under a title of the page."""
    return PAGE.read_text(encoding="utf-8").partition(f"## {title}\n")[2].partition("\n## ")[0]


def exports(text: str) -> dict[str, str]:
    """The variables that some text of the page sets."""
    return {name: value.strip("'") for name, value in re.findall(r"^export (\w+)=(.*)$", text, re.MULTILINE)}


class Process:
    """A command in a data directory of its own, with what the page has set."""

    def __init__(self, folder: Path, name: str, url: str, *command: str, **environment: str) -> None:
        told = exports(section("Two servers"))
        own = {
            "DATABASE_URL": url, "LECTERN_STORAGE__ORIGINALS": str(folder / "originals"),
            "LECTERN_DATA_DIR": str(folder / name),
        }  # fmt: skip
        assert own.keys() <= told.keys()
        self._environment = os.environ | {"PYTHONPATH": str(PROJECT)} | told | own | environment
        self._folder, self._log, self._command = folder, folder / f"{name}.log", command
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "rag_core", *self._command],
                cwd=self._folder, stdout=output, stderr=subprocess.STDOUT, env=self._environment,
            )  # fmt: skip

    def said(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> int:
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(90)


class Worker(Process):
    """`lectern worker`, as the page says."""

    def __init__(self, folder: Path, name: str, url: str) -> None:
        (command,) = re.findall(r"^lectern (worker .*)$", section("Workers"), re.MULTILINE)
        super().__init__(folder, name, url, *command.split())


class Server(Process):
    """`lectern serve`."""

    def __init__(self, folder: Path, name: str, url: str, **environment: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.calls = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=180)
        super().__init__(folder, name, url, "serve", "--port", str(self.port), **environment)

    def await_open(self) -> None:
        def is_open() -> bool:
            assert self.process.poll() is None, self._log.read_text()
            return self.calls.get(f"{API}/health").status_code == 200

        until(is_open)

    def ask(self, method: str, place: str, **how: Any) -> Any:
        answer = self.calls.request(method, f"{API}{place}", **how)
        assert answer.is_success, (answer.text, self._log.read_text())
        return answer.json() if answer.content else None

    def is_healthy(self) -> bool:
        """As the image and the chart ask, beside it."""
        asked = [sys.executable, str(PROJECT / "deploy" / "healthy.py")]
        return subprocess.run(asked, env=self._environment, cwd=self._folder, capture_output=True).returncode == 0

    def finds(self, words: str) -> list[str]:
        """The ids of the documents that are found, of which the texts hold the words."""
        hits = self.ask("POST", "/search", json={"question": words, "k": 20})["hits"]
        return [hit["document"]["id"] for hit in hits if words in hit["text"]]

    def states(self) -> dict[str, str]:
        return {one["id"]: one["state"] for one in self.ask("GET", "/documents?limit=1000")["documents"]}

    def add(self, name: str, text: str) -> Any:
        return self.ask("POST", f"/documents?name={name}", content=text.encode())

    def end(self) -> int:
        self.calls.close()
        return super().end()
