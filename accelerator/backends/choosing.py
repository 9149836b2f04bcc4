"""Which backend searches here, and why: asked for by name, or chosen; and how many threads the CPU is worth."""

from __future__ import annotations

import json
import logging
import os
import platform
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from accelerator.atomic import write_atomically
from accelerator.backends.base import Backend, BackendUnavailable
from accelerator.backends.cpu import CpuBackend
from accelerator.backends.trial import tried

_log = logging.getLogger(__name__)
NAMES = ("auto", "cpu", "coreml", "torch")
_PROBE_S = 0.05
_MOST_THREADS = 8
# Twelve megabytes: more than the nearest caches hold, as a library is.
_PROBE_SHAPE = (65_536, 192)
# A further thread must be worth this much, since it is taken from those who read and answer meanwhile.
_WORTH = 1.15
# A thread reads so many bytes of float32 rows from the caches faster than the steps of the search over 8 bits take: two
# take 0.26 ms against 0.34 for 10,000 rows of 384 dimensions; at 16,000 both ways are even.
_PLAIN_BYTES, _MOST_PLAIN_BYTES = 2**23, 2**25


def choose(name: str, folder: Path) -> tuple[Backend, str]:
    """The backend of that name, and in a few words why it is this one. `folder` keeps what it makes for itself.

    auto takes the Neural Engine on Apple's processors, or a CUDA card where there is one, if it passes a trial on this
    machine, and else the CPU. A backend that cannot run is replaced by the CPU, and the words say why. Takes up to some
    seconds, the first time. Raises ValueError for a name that is not known.
    """
    if name not in NAMES:
        raise ValueError(f"{name} is not among {', '.join(NAMES)}")
    wanted = _likely() if name == "auto" else name
    try:
        backend = None if wanted == "cpu" else _coreml(folder / "coreml") if wanted == "coreml" else _torch()
        if backend is not None:
            return (backend, "as set") if name != "auto" else _tried(backend, folder)
    except BackendUnavailable as error:
        return processor(folder), f"{wanted} cannot run: {error}"
    return processor(folder), "no Neural Engine or CUDA card here" if name == "auto" else "as set"


def _tried(backend: Backend, folder: Path) -> tuple[Backend, str]:
    judge = processor(folder)
    passed, words = tried(backend, judge, folder)
    return (backend, words) if passed else (judge, words)


def processor(folder: Path) -> CpuBackend:
    """The CPU with as many threads as scan fastest. Small segments are scored by their rows as they are."""
    count = threads(folder)
    return CpuBackend(count, min(count * _PLAIN_BYTES, _MOST_PLAIN_BYTES))


def threads(folder: Path) -> int:
    """How many threads scan fastest on this machine: found out in about 50 ms once, and kept in `folder`."""
    path, machine = folder / "threads.json", f"{platform.node()} {platform.processor()} {os.cpu_count()}"
    try:
        kept = json.loads(path.read_bytes())
        if kept["machine"] == machine:
            return max(1, int(kept["threads"]))
    except (OSError, ValueError, KeyError, TypeError):
        _log.debug("No count of threads is kept for this machine yet.")
    found = _fastest()
    with suppress(OSError):  # it is found out again then
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(path, [json.dumps({"machine": machine, "threads": found}).encode()])
    return found


def _fastest() -> int:
    codes = np.random.default_rng(0).integers(-127, 128, _PROBE_SHAPE, dtype=np.int8)
    counts = [count for count in (1, 2, 4, _MOST_THREADS) if count <= (os.cpu_count() or 1)]
    best, fastest = 1, np.inf
    for count in counts:
        took = _time(CpuBackend(count), codes, _PROBE_S / len(counts))
        if took * _WORTH < fastest:
            best, fastest = count, took
    return best


def _time(backend: CpuBackend, codes: np.ndarray, limit_s: float) -> float:
    """The median of the scans that fit the time, seconds: threads that wait for a busy core have no place."""
    backend.part(codes, codes[:1])
    times: list[float] = []
    end = time.perf_counter() + limit_s
    while not times or time.perf_counter() < end:
        started = time.perf_counter()
        backend.part(codes, codes[:1])
        times.append(time.perf_counter() - started)
    return float(np.median(times))


def _likely() -> str:
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        return "coreml"
    return "torch" if Path("/dev/nvidia0").exists() else "cpu"


def _coreml(folder: Path) -> Backend:
    from accelerator.backends.coreml import CoreMLBackend

    return CoreMLBackend.open(folder)


def _torch() -> Backend:
    from accelerator.backends.torch import TorchBackend

    return TorchBackend.best()
