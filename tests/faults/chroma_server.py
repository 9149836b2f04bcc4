"""A Chroma server of one's own: chromadb's, started, killed and started again on the same port."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

_PATIENCE_S = 30.0


class ChromaServer:
    """`chroma run` on a free port of this machine, its data in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = [str(Path(sys.executable).with_name("chroma")), "run", "--host", "127.0.0.1"]
        command += ["--port", str(self._port), "--path", str(self.folder)]
        log = self.folder.with_suffix(".log").open("ab")
        with log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "ANONYMIZED_TELEMETRY": "False"}, cwd=self.folder.parent,
            )  # fmt: skip
        deadline = time.monotonic() + _PATIENCE_S
        while not self._answers():
            assert self._process.poll() is None, self.folder.with_suffix(".log").read_text()
            assert time.monotonic() < deadline, "the Chroma server does not answer"
            time.sleep(0.05)

    def kill(self) -> None:
        """SIGKILL; harmless when it does not run."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        """Let it hang: connections are taken and nothing is answered."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/api/v2/heartbeat", timeout=1):
                return True
        except OSError:
            return False
