"""A Ray cluster on 127.0.0.1: `python -m tests.rag_core.ingest.ray_nodes NODES [CPUS]`, of one processor each.

It prints its address, and ends with its input, of which each line has it kill a node that is not the first one, with
all of its workers. What it lets in by is in RAY_AUTH_MODE and RAY_AUTH_TOKEN_PATH.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from tests.conftest import PROJECT

MEMORY = 6 * 2**30
"""What each node says that it has, bytes."""


class Nodes:
    """Such a cluster in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.address = self._line()

    def kill(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("kill\n")
        self._process.stdin.flush()
        assert self._line() == "killed"

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        assert line, "the cluster does not start"
        return line


@contextmanager
def nodes(count: int, environment: Mapping[str, str]) -> Iterator[Nodes]:
    """A cluster of some nodes."""
    command = [sys.executable, "-m", "tests.rag_core.ingest.ray_nodes", str(count)]
    process = subprocess.Popen(
        command, cwd=PROJECT, env=os.environ | {"PYTHONPATH": str(PROJECT)} | environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield Nodes(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(60)


def main() -> None:
    from ray.cluster_utils import Cluster

    count, *cpus = map(int, sys.argv[1:])
    size = {"num_cpus": cpus[0] if cpus else 1, "memory": MEMORY, "object_store_memory": 80 * 10**6}
    head = {**size, "node_ip_address": "127.0.0.1", "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    others = [cluster.add_node(**size) for _ in range(count - 1)]
    tell(cluster.address)
    for _ in sys.stdin:
        kill(others.pop())
        tell("killed")
    for node in [*others, cluster.head_node]:
        kill(node)


def kill(node: Any) -> None:
    """End a node as if its machine had lost power: its workers and what they have started as well."""
    for processes in node.all_processes.values():
        for info in processes:
            with suppress(psutil.NoSuchProcess):
                whole = psutil.Process(info.process.pid)
                for process in [whole, *whole.children(recursive=True)]:
                    with suppress(psutil.NoSuchProcess):
                        process.kill()


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as place:  # short: sockets are in it
        (Path(place) / "ray").mkdir()
        os.environ |= {
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": place,
        }  # fmt: skip
        main()
