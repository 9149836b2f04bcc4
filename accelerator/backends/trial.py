"""The trial of a backend on this machine: the same hits as the processor on a sample, and faster.

It is made at first use and again after an update of the system, the backend or its library, and kept.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from accelerator.atomic import write_atomically
from accelerator.backends.base import Backend, BackendUnavailable, Block
from accelerator.backends.cpu import CpuBackend
from accelerator.quantise import RoundedVector, quantise

# As many vectors as a library of some thousand pages has, and a few questions.
_ROWS, _DIMENSIONS, _QUERIES, _HITS = 65_536, 384, 8, 20
_TIMES = 9
_LIBRARIES = {"coreml": "coremltools", "torch": "torch"}


def tried(backend: Backend, judge: CpuBackend, folder: Path) -> tuple[bool, str]:
    """Whether a backend is to be taken instead of the processor, and why, in a few words.

    `folder` keeps the outcome for this machine, system and version.
    """
    path, here = folder / "trial.json", _here(backend)
    try:
        kept = json.loads(path.read_bytes())
        if kept["here"] == here:
            return bool(kept["passed"]), str(kept["words"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    passed, words = _try(backend, judge)
    with suppress(OSError):  # it is tried again then
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(path, [json.dumps({"here": here, "passed": passed, "words": words}).encode()])
    return passed, words


def sample() -> tuple[Block, NDArray[np.float32]]:
    """A block of made-up vectors of unit length, its head their first half, and queries near some of them."""
    chance = np.random.default_rng(0)
    rows = chance.standard_normal((_ROWS, _DIMENSIONS), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    queries = rows[: _ROWS : _ROWS // _QUERIES] + 0.1 * chance.standard_normal(
        (_QUERIES, _DIMENSIONS), dtype=np.float32
    )
    queries = (queries / np.linalg.norm(queries, axis=1, keepdims=True)).astype(np.float32)
    head, tail = quantise(rows[:, : _DIMENSIONS // 2]), quantise(rows[:, _DIMENSIONS // 2 :])
    return Block("trial", head.codes, tail.codes, head.scales, tail.scales), queries


def _try(backend: Backend, judge: CpuBackend) -> tuple[bool, str]:
    block, queries = sample()
    try:
        off = _off(backend, block, queries)
        if off:
            return False, f"{backend.name} gives other hits than the processor on {off} of {_QUERIES} trial queries"
        took_s = _median_s(lambda: backend.scores(block, queries[:1]))
        backend.forget(block.digest)
    except BackendUnavailable as error:
        return False, f"{backend.name} failed on trial: {error}"
    # The processor's search begins with the heads alone, and mostly ends there.
    head = RoundedVector.of(queries[0, : _DIMENSIONS // 2])
    judge_s = _median_s(lambda: judge.part(block.head, head.codes))
    times = f"{took_s * 1000:.2f} ms against {judge_s * 1000:.2f} for {_ROWS:,} vectors"
    if took_s >= judge_s:
        return False, f"{backend.name} is slower here: {times}"
    return True, f"the same hits on trial, and faster: {times}"


def _off(backend: Backend, block: Block, queries: NDArray[np.float32]) -> int:
    """For how many queries a true hit is not among those that the backend's scores and errors leave."""
    rows = np.hstack([block.head * block.head_scales[:, None], block.tail * block.tail_scales[:, None]])
    scores, errors = backend.scores(block, queries)
    wrong = 0
    for query, found, error in zip(queries, scores, errors, strict=True):
        true = np.argsort(rows @ query)[-_HITS:]
        least = np.partition(found, -_HITS)[-_HITS] - 2 * error
        wrong += not (np.isfinite(found).all() and (found[true] >= least).all())
    return wrong


def _median_s(work: Callable[[], object]) -> float:
    times = []
    for _ in range(_TIMES):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return float(np.median(times))


def _here(backend: Backend) -> str:
    library = _LIBRARIES.get(backend.name, "")
    try:
        known = f"{library} {version(library)}" if library else ""
    except PackageNotFoundError:
        known = library
    return " | ".join((platform.node(), platform.platform(), platform.processor(), backend.describe(), known))
