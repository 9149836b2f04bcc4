"""The trial of a backend on this machine: the same hits as the processor on a sample, and faster.

It is made at first use and again after an update of the system, the backend or its library, and kept.
"""

from __future__ import annotations

import json
import logging
import platform
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from accelerator.atomic import write_atomically
from accelerator.backends.base import Backend, BackendUnavailable, Block
from accelerator.backends.cpu import CpuBackend
from accelerator.products import inner
from accelerator.quantise import RoundedVector, quantise

# As many vectors as a library of some thousand pages has, and a few questions.
_ROWS, _DIMENSIONS, _QUERIES, _HITS = 65_536, 384, 8, 20
_TIMES = 9
SMALL = (512, 1024, 2048)
"""Numbers of vectors that a backend may be worth asking for already, though no segment is usually made of so few."""
_log = logging.getLogger(__name__)
_LIBRARIES = {"coreml": "coremltools", "torch": "torch"}


def tried(backend: Backend, judge: CpuBackend, folder: Path) -> tuple[bool, str]:
    """Whether a backend is to be taken instead of the processor, and why, in a few words; it is told from how many
    vectors on. `folder` keeps the outcome for this machine, system and version.
    """
    path, here = folder / "trial.json", _here(backend)
    try:
        kept = json.loads(path.read_bytes())
        if kept["here"] == here:
            backend.least_rows = int(kept["least_rows"])
            return bool(kept["passed"]), str(kept["words"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    passed, words = _try(backend, judge)
    if passed:
        backend.least_rows = _least_rows(backend)
        words = f"{words}; asked from {backend.least_rows:,} vectors on"
    kept = {"here": here, "passed": passed, "words": words, "least_rows": backend.least_rows}
    with suppress(OSError):  # it is tried again then
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(path, [json.dumps(kept).encode()])
    return passed, words


def sample(count: int) -> tuple[Block, NDArray[np.float32]]:
    """A block of so many made-up vectors of unit length, its head their first half, and queries near some of them."""
    chance = np.random.default_rng(0)
    rows = chance.standard_normal((count, _DIMENSIONS), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    queries = rows[: count : count // _QUERIES] + 0.1 * chance.standard_normal(
        (_QUERIES, _DIMENSIONS), dtype=np.float32
    )
    queries = (queries / np.linalg.norm(queries, axis=1, keepdims=True)).astype(np.float32)
    head, tail = quantise(rows[:, : _DIMENSIONS // 2]), quantise(rows[:, _DIMENSIONS // 2 :])
    return Block(f"trial{count}", head.codes, tail.codes, head.scales, tail.scales), queries


def _try(backend: Backend, judge: CpuBackend) -> tuple[bool, str]:
    block, queries = sample(_ROWS)
    try:
        wrong = off(backend, block, queries)
        if wrong:
            return False, f"{backend.name} gives other hits than the processor on {wrong} of {_QUERIES} trial queries"
        took_s = median_s(lambda: backend.scores(block, queries[:1]))
        backend.forget(block.digest)
    except BackendUnavailable as error:
        return False, f"{backend.name} failed on trial: {error}"
    # The processor's search begins with the heads alone, and mostly ends there.
    head = RoundedVector.of(queries[0, : _DIMENSIONS // 2])
    judge_s = median_s(lambda: judge.part(block.head, head.codes))
    times = f"{took_s * 1000:.2f} ms against {judge_s * 1000:.2f} for {_ROWS:,} vectors"
    if took_s >= judge_s:
        return False, f"{backend.name} is slower here: {times}"
    return True, f"the same hits on trial, and faster: {times}"


def _least_rows(backend: Backend) -> int:
    """From how many vectors on the backend is faster than the processor over float32 rows; at most as it was."""
    try:
        for count in SMALL:
            block, queries = sample(count)
            backend.scores(block, queries[:1])  # which makes what is kept of a block
            took_s = median_s(partial(backend.scores, block, queries[:1]))
            backend.forget(block.digest)
            if took_s < plain_s(block):
                return count
    except (BackendUnavailable, OSError) as error:
        _log.warning("The backend %s is not asked of few vectors: %s", backend.name, error)
    return backend.least_rows


def plain_s(block: Block) -> float:
    """Seconds that the processor takes to score the rows of a block as a few vectors are: in float32, by one thread."""
    rows = np.hstack([block.head * block.head_scales[:, None], block.tail * block.tail_scales[:, None]])
    return median_s(lambda: inner(rows, rows[0]))


def off(backend: Backend, block: Block, queries: NDArray[np.float32]) -> int:
    """For how many queries a true hit is not among those that the backend's scores and errors leave."""
    rows = np.hstack([block.head * block.head_scales[:, None], block.tail * block.tail_scales[:, None]])
    scores, errors = backend.scores(block, queries)
    wrong = 0
    for query, found, error in zip(queries, scores, errors, strict=True):
        true = np.argsort(rows @ query)[-_HITS:]
        least = np.partition(found, -_HITS)[-_HITS] - 2 * error
        wrong += not (np.isfinite(found).all() and (found[true] >= least).all())
    return wrong


def median_s(work: Callable[[], object]) -> float:
    """The median of some runs, seconds."""
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
