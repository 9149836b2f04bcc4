"""Child processes that start in a moment, as a server has done their imports, and ways to kill them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType

import psutil

from tests import forking
from tests.conftest import PROJECT
from tests.faults.worker import Plan, Said, child

_PATIENCE_S = 90.0
_HALTED = (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)


class Child:
    """A process that works by a plan."""

    def __init__(self, target: Callable[[Plan, Connection], None], plan: Plan) -> None:
        if forking.wanted():
            forking.start()
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["tests.faults.worker"])
        self.plan = plan
        self._pipe, theirs = context.Pipe(duplex=False)
        with _importable():
            self._process = context.Process(target=child, args=(target, plan, theirs), daemon=False)
            self._process.start()
        theirs.close()

    @property
    def exitcode(self) -> int | None:
        return self._process.exitcode

    def hear(self, timeout_s: float = _PATIENCE_S) -> Said | None:
        """The next thing that it says; None when it ended, or said nothing for so long."""
        try:
            if not self._pipe.poll(timeout_s):
                return None
            said = self._pipe.recv()
        except (EOFError, OSError):
            return None
        assert isinstance(said, Said)
        return said

    def wait(self, timeout_s: float = _PATIENCE_S) -> int | None:
        """Wait until it has ended, and return its exit code; None while it runs on."""
        self._process.join(timeout_s)
        return self._process.exitcode

    def kill(self) -> None:
        """The process alone, by SIGKILL, as an out-of-memory killer does. Its PostgreSQL lives on."""
        self._process.kill()
        self._process.join()

    def pull_the_plug(self, draw: random.Random) -> None:
        """Everything at once: the process, its children, PostgreSQL's postmaster and all backends, in any order."""
        self._stop()
        doomed = [*_tree(self._process.pid), *_tree(postmaster(self.plan.data_dir))]
        draw.shuffle(doomed)
        for process in doomed:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        for process in _tree(postmaster(self.plan.data_dir)):  # forked meanwhile
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self._process.join()
        deadline = time.monotonic() + 5
        while any(_alive(process) for process in doomed) and time.monotonic() < deadline:
            time.sleep(0.01)

    def _stop(self) -> None:
        """Hold the process, so that it sees nothing of what is killed before it."""
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(self._process.pid)
            process.suspend()
            deadline = time.monotonic() + 1
            while process.status() not in _HALTED and time.monotonic() < deadline:
                time.sleep(0.001)


def postmaster(data_dir: Path) -> int | None:
    """The process id of a library's embedded PostgreSQL."""
    try:
        return int((data_dir / "postgres" / "postmaster.pid").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None


def _tree(pid: int | None) -> list[psutil.Process]:
    try:
        process = psutil.Process(pid or -1)
        return [process, *process.children(recursive=True)]
    except (psutil.NoSuchProcess, ValueError):
        return []


def _alive(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@contextlib.contextmanager
def _importable():
    """The server of processes is started here and imports by this path.

    A child begins by running what this process has as its main module: Streamlit's tests leave a page there.
    """
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(PROJECT), *([before] if before else [])])
    main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
