"""Joining a Ray cluster: whether its package will do, who it lets in, where it is, and how much it takes at a time.

Whoever is let into a Ray cluster runs what they like on it. So it must ask for a token, which is tried without one, and
its nodes must be on this machine or a private network.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from rag_core.errors import ConfigurationError, LecternError, StoreUnavailable

OLDEST = (2, 59)
_KNOCK_S = 5.0
_PROBE_S = 30.0
_PROBE = "import sys; from ray._raylet import GcsClient; GcsClient(address=sys.argv[1])"
_HELP = "docs/scale.md, Bulk on Ray: one token on every machine, RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH."
# A task has one processor: the libraries of its process compute in one thread. Nothing is fetched.
_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cluster:
    """slots: tasks that it carries out at a time. how: what it is, for people."""

    slots: int
    how: str


def join(memory: int, look: Callable[..., None], *given: object) -> Cluster:
    """Join the cluster of RAY_ADDRESS, with this process as a driver.

    memory: what a task takes, bytes. look: carried out with what is given on each node that takes tasks; raises what
    keeps it from doing so. Raises ConfigurationError, StoreUnavailable.
    """
    check_package()
    address = _address()
    _check_doors(address)
    import ray

    failures = (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError)
    try:
        ray.init(address=address, log_to_driver=False, configure_logging=False, runtime_env={"env_vars": _ENVIRONMENT})
    except failures as error:
        raise StoreUnavailable(
            f"The Ray cluster at {address} cannot be joined: {first_line(error)}",
            help=f"This machine must be one of its nodes: ray start --address={address} --num-cpus=0",
        ) from error
    try:
        nodes = [node for node in ray.nodes() if node["Alive"]]
        where = place_of([node["NodeManagerAddress"] for node in nodes])
        taking = {node["NodeID"]: _slots(node["Resources"], memory) for node in nodes}
        if not any(taking.values()):
            raise ConfigurationError(
                f"No node of the Ray cluster has a processor and {memory / 2**20:.0f} MB for a task.",
                help="Start one with ray start --address=... --num-cpus=4 --memory=8000000000",
            )
        _look_at([key for key, slots in taking.items() if slots], look, *given)
    except BaseException:
        ray.shutdown()
        raise
    slots = sum(taking.values())
    return Cluster(slots, f"Ray {ray.__version__} on {where}: nodes {len(nodes)}, tasks at a time {slots}")


def check_package() -> None:
    """Whether Ray is installed, and new enough. Raises ConfigurationError."""
    wanted = ".".join(map(str, OLDEST))
    try:
        found = version("ray")
    except PackageNotFoundError as error:
        raise ConfigurationError("Ray is not installed.", help="Run: pip install 'lectern[ray]'") from error
    if tuple(int(part) for part in found.split(".")[:2]) < OLDEST:
        raise ConfigurationError(
            f"Ray {found} is installed, and {wanted} is the oldest that will do.",
            help="Run: pip install 'lectern[ray]', with the same version on every node.",
        )


def first_line(error: BaseException) -> str:
    """What an error says, without its traceback."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _address() -> str:
    """That of the environment. What Ray reads of the environment is set before it is imported."""
    address = os.environ.get("RAY_ADDRESS", "")
    host, _, port = address.rpartition(":")
    if not host or "/" in address or not port.isdecimal():
        raise ConfigurationError(
            f"{address} is no address of a Ray cluster." if address else "It is not said which Ray cluster.",
            help="RAY_ADDRESS=host:port names the first of its nodes: export RAY_ADDRESS=10.0.0.5:6379",
        )
    if os.environ.setdefault("RAY_AUTH_MODE", "token").lower() != "token":
        raise ConfigurationError("RAY_AUTH_MODE turns Ray's authentication by token off.", help=_HELP)
    token = os.environ.get("RAY_AUTH_TOKEN_PATH") or Path("~/.ray/auth_token").expanduser()
    if not os.environ.get("RAY_AUTH_TOKEN") and not Path(token).is_file():
        raise ConfigurationError(f"There is no token for the Ray cluster at {token}.", help=_HELP)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")  # of what Ray prints of lost tasks amid our output
    if host == "127.0.0.1":  # Ray would take it for the machine's address in its network otherwise
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    return address


def _check_doors(address: str) -> None:
    """Whether the cluster answers, takes the token, and nobody without one. Joining would try for minutes, and then end
    the process."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK_S).close()
    except OSError as error:
        raise StoreUnavailable(
            f"No Ray cluster answers at {address}: {error.strerror or error}.",
            help="See that its first node runs, and that RAY_ADDRESS is its address.",
        ) from error
    probes = {mode: _probe(address, mode) for mode in ("token", "disabled")}
    said = {mode: _said(probe, address) for mode, probe in probes.items()}
    if said["token"]:
        raise ConfigurationError("The Ray cluster refuses the token of this machine.", help=_HELP)
    if not said["disabled"]:
        raise ConfigurationError("The Ray cluster lets in whoever reaches it, without a token.", help=_HELP)


def _probe(address: str, mode: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _PROBE, address]
    environment = {**os.environ, "RAY_AUTH_MODE": mode}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace"
    )


def _said(probe: subprocess.Popen[str], address: str) -> str:
    """How a probe was refused; empty where it was let in. Raises StoreUnavailable."""
    try:
        said = probe.communicate(timeout=_PROBE_S)[1]
    except subprocess.TimeoutExpired:
        probe.kill()
        said = probe.communicate()[1]
    if probe.returncode and "AuthenticationError" not in said:
        reason = (said.strip().splitlines() or ["it does not answer"])[-1]
        raise StoreUnavailable(
            f"What answers at {address} is no Ray cluster, or a failing one: {reason}",
            help="See that its first node runs, and that RAY_ADDRESS is its address.",
        )
    return said if probe.returncode else ""


def place_of(addresses: Sequence[str]) -> str:
    """Where nodes are, for people. Raises ConfigurationError for addresses of the internet."""
    found = sorted({*addresses})
    if all(ip_address(one).is_loopback for one in found):
        return "this machine alone (127.0.0.1)"
    if public := [one for one in found if not ip_address(one).is_private]:
        raise ConfigurationError(
            f"Nodes of the Ray cluster have addresses of the internet: {', '.join(public)}.",
            help="Start them with --node-ip-address= and their addresses in a private network.",
        )
    return f"a private network ({', '.join(found)})"


def _slots(resources: Mapping[str, float], memory: int) -> int:
    return min(int(resources.get("CPU", 0)), int(resources.get("memory", 0) // memory))


def _look_at(nodes: Sequence[str], look: Callable[..., None], *given: object) -> None:
    """Have each node look whether it can take tasks. Raises what keeps one from it."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    task: Any = ray.remote(look)
    try:
        ray.get([
            task.options(num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(key, soft=False)).remote(*given)
            for key in nodes
        ])  # fmt: skip
    except ray.exceptions.RayError as error:
        cause = getattr(error, "cause", None)
        if isinstance(cause, LecternError):
            raise cause from error
        raise StoreUnavailable(
            f"A node of the Ray cluster cannot carry out Lectern: {first_line(cause or error)}",
            help="Install the same release of Lectern, with its Python, on every node.",
        ) from error
