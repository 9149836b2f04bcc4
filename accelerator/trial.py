"""The Neural Engine tried from end to end on this machine: `python -m accelerator.trial --report`.

Builds the programs, compiles them, has Core ML say where they run, predicts, compares with the processor, and has the
processor take over from a backend that fails. Prints a line for each step, to be sent back by whoever has a Mac; where
a step cannot be done it says what is missing. docs/backends.md explains the lines. Ends with 1 where a step failed.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from accelerator.backends.base import Backend, BackendUnavailable, Block
from accelerator.backends.choosing import processor
from accelerator.backends.coreml import CoreMLBackend
from accelerator.backends.coreml_program import program_spans, save_program
from accelerator.backends.coreml_rounding import round_block
from accelerator.backends.coreml_runtime import AppleRuntime, Runtime
from accelerator.backends.trial import SMALL, median_s, off, plain_s, sample
from accelerator.compaction import Source, compact
from accelerator.scanner import Scanner
from accelerator.segment import Segment

_FULL = 65_536
Step = tuple[str, str, dict[str, object]]


def report(folder: Path, runtime: Callable[[], Runtime] = AppleRuntime, full: int = _FULL) -> Iterator[Step]:
    """Each step as its name, "ok", "missing" or "failed", and what it found."""
    yield "machine", "ok", _machine()
    yield _step("build", lambda: _built(folder, full))
    try:
        backend: Backend | None = CoreMLBackend(folder / "programs", runtime())
    except BackendUnavailable as error:
        backend = None
        for name in ("compile", "predict", "compare"):
            yield name, "missing", {"why": str(error)}
    if backend is not None:
        for rows in (*SMALL, full):
            yield from _scored(backend, rows, folder)
    yield _step("fall back", lambda: _fallen_back(folder))


def _step(name: str, work: Callable[[], dict[str, object]]) -> Step:
    try:
        return name, "ok", work()
    except Exception as error:  # noqa: BLE001  whatever fails is what the report is for
        return name, "failed", {"why": f"{type(error).__name__}: {error}"}


def _machine() -> dict[str, object]:
    found: dict[str, object] = {"system": platform.platform(), "processor": platform.machine()}
    found["macos"] = platform.mac_ver()[0] or "none"
    for package in ("coremltools", "numpy", "simsimd"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _built(folder: Path, rows: int) -> dict[str, object]:
    """A program of each size is built: nothing but coremltools is needed for it."""
    block, _ = sample(rows)
    halves, spans = round_block(block), program_spans(len(block), block.dimensions)
    started = time.perf_counter()
    for number, span in enumerate(spans):
        save_program(halves, span, folder / f"built-{number}.mlpackage")
    size = sum(path.stat().st_size for path in folder.glob("built-*/**/*") if path.is_file())
    return {"rows": rows, "programs": len(spans), "mb": round(size / 2**20, 1), "s": _since(started)}


def _scored(backend: Backend, rows: int, folder: Path) -> Iterator[Step]:
    block, queries = sample(rows)

    def compiled() -> dict[str, object]:
        started = time.perf_counter()
        backend.scores(block, queries[:1])
        return {"rows": rows, "s": _since(started), "where": backend.describe()}

    def predicted() -> dict[str, object]:
        mine = median_s(lambda: backend.scores(block, queries[:1]))
        return {"rows": rows, "ms": round(1000 * mine, 3), "processor_ms": round(1000 * _processor_s(block, folder), 3)}

    def compared() -> dict[str, object]:
        wrong = off(backend, block, queries)
        if wrong:
            raise BackendUnavailable(f"other hits than the processor for {wrong} of {len(queries)} queries")
        scores, errors = backend.scores(block, queries)
        exact = np.hstack([block.head * block.head_scales[:, None], block.tail * block.tail_scales[:, None]])
        furthest = float(np.abs(scores - queries @ exact.T).max())
        return {"rows": rows, "furthest_off": round(furthest, 6), "allowed": round(float(errors.max()), 6)}

    for name, work in (("compile", compiled), ("predict", predicted), ("compare", compared)):
        step = _step(name, work)
        yield step
        if step[1] == "failed":
            return


def _processor_s(block: Block, folder: Path) -> float:
    return plain_s(block) if len(block) < _FULL else median_s(lambda: processor(folder).scores(block, _one(block)))


def _one(block: Block) -> np.ndarray:
    return np.eye(1, block.dimensions, dtype=np.float32)


class _Failing(Backend):
    name = "failing"

    def scores(self, block: Block, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        raise BackendUnavailable("made to fail for this report")


def _fallen_back(folder: Path) -> dict[str, object]:
    """A backend that fails amid a search: the processor answers that very search, and it is said."""
    chance = np.random.default_rng(0)
    rows = chance.standard_normal((4_096, 384), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    path = folder / "trial.lvseg"
    compact(path, [Source("trial", 1, rows, np.zeros((len(rows), 16), np.uint8), unit=True)], profile="trial")
    scanner = Scanner(384, _Failing())
    scanner.attach(Segment.open(path))
    (first, *_) = scanner.search(rows[7], 5)
    if first.row != 7 or not scanner.note:
        raise BackendUnavailable("the processor did not take over")
    return {"note": scanner.note}


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 2)


def main() -> int:
    """Print the report."""
    parser = argparse.ArgumentParser(prog="python -m accelerator.trial", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--report", action="store_true", required=True, help="try every step and print what came of it")
    parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="lectern-trial-") as folder:
        for name, outcome, told in report(Path(folder)):
            sys.stdout.write(f"{name:10} {outcome:8} {json.dumps(told)}\n")
            sys.stdout.flush()
            failed += outcome == "failed"
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
