"""The backend on Apple's Neural Engine, by Core ML: blocks baked into compiled programs.

Made and compiled when a block is first scored, kept in a folder, loaded once in each process. Before its scores are
believed, a block's programs must be placed on the Neural Engine by Core ML's own plan, where the system tells it, and
must score some rows of the block as near to the truth as the backend claims.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from accelerator.atomic import remove_leftovers
from accelerator.backends.base import Backend, BackendUnavailable, Block
from accelerator.backends.coreml_cache import ProgramCache
from accelerator.backends.coreml_program import (
    COLUMNS,
    FORMAT,
    constant_spans,
    output_name,
    program_spans,
    save_program,
)
from accelerator.backends.coreml_rounding import Halves, round_block, round_queries
from accelerator.backends.coreml_runtime import AppleRuntime, Model, Runtime

_COMPILED = "program.mlmodelc"
# Rows and queries that a block is tried with.
_TRIED_ROWS = 1024
_OWN_QUERIES = 16


@dataclass(slots=True)
class _Programs:
    """The loaded programs of one block, for one thread at a time."""

    halves: Halves
    models: list[tuple[range, Model]]


@dataclass(slots=True)
class _Place:
    lock: threading.Lock = field(default_factory=threading.Lock)
    programs: _Programs | None = None


class CoreMLBackend(Backend):
    """Core ML with CPU_AND_NE. Scores of one block are one at a time, those of several side by side."""

    name = "coreml"

    def __init__(self, folder: Path, runtime: Runtime) -> None:
        self._cache = ProgramCache(folder)
        self._runtime = runtime
        self._lock = threading.Lock()
        self._places: dict[str, _Place] = {}
        self._told = True

    @classmethod
    def open(cls, folder: Path) -> CoreMLBackend:
        """The backend with its compiled programs in `folder`, as the folder's sole owner.

        Raises BackendUnavailable where Core ML cannot predict, and OSError.
        """
        runtime = AppleRuntime()
        remove_leftovers(folder)
        return cls(folder, runtime)

    def scores(self, block: Block, queries: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Batches of 32 queries in float16. The first call for a block makes and compiles its programs: seconds."""
        rounded, errors = round_queries(queries)
        with _translated(), self._place(block.digest) as place:
            if place.programs is None:
                place.programs = self._load(block)
            found = _predicted(place.programs, rounded)
            return found, errors + np.float32(place.programs.halves.error)

    def forget(self, digest: str) -> None:
        """Unload the block's programs and remove them from the folder. Raises OSError."""
        with self._place(digest):
            self._cache.discard_all(digest)
        with self._lock:
            self._places.pop(digest, None)

    def describe(self) -> str:
        """The backend, and whether its place is known."""
        return "coreml (Neural Engine)" if self._told else "coreml (Neural Engine asked for; this macOS tells no plan)"

    @contextmanager
    def _place(self, digest: str) -> Iterator[_Place]:
        with self._lock:
            place = self._places.setdefault(digest, _Place())
        with place.lock:
            yield place

    def _load(self, block: Block) -> _Programs:
        halves = round_block(block)
        spans = program_spans(len(block), block.dimensions)
        names = [f"{block.digest}-{FORMAT}-{number}" for number in range(len(spans))]
        models = [self._model(name, halves, span) for name, span in zip(names, spans, strict=True)]
        programs = _Programs(halves, list(zip(spans, models, strict=True)))
        _try(programs, block)
        return programs

    def _model(self, name: str, halves: Halves, span: range) -> Model:
        make = partial(self._make, halves, span)
        folder = self._cache.fetch(name, make)
        try:
            return self._loaded(folder)
        except BackendUnavailable:
            raise
        except Exception:  # noqa: BLE001  a system that was renewed may refuse what an older one compiled
            self._cache.discard(name)
            return self._loaded(self._cache.fetch(name, make))

    def _make(self, halves: Halves, span: range, folder: Path) -> None:
        package = folder / "program.mlpackage"
        save_program(halves, span, package)
        self._runtime.compile(package, folder / _COMPILED)
        shutil.rmtree(package)  # the constants again, and needed no more

    def _loaded(self, folder: Path) -> Model:
        placement = self._runtime.placement(folder / _COMPILED)
        if placement is None:
            self._told = False
        elif placement.placed < max(placement.convolutions, 1):
            raise BackendUnavailable(
                f"The plan places {placement.placed} of {placement.convolutions} convolutions on the Neural Engine"
            )
        return self._runtime.load(folder / _COMPILED)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except BackendUnavailable:
        raise
    except Exception as error:
        raise BackendUnavailable(f"Core ML failed: {error}") from error


def _predicted(programs: _Programs, queries: NDArray[np.float32]) -> NDArray[np.float32]:
    scales = programs.halves.scales
    found = np.empty((len(queries), len(scales)), dtype=np.float32)
    for first in range(0, len(queries), COLUMNS):
        batch = queries[first : first + COLUMNS]
        inputs = _inputs(programs.halves, batch)
        for span, model in programs.models:
            outputs = model.predict(inputs)
            for number, rows in enumerate(constant_spans(span)):
                scored = np.asarray(outputs[output_name(number)]).reshape(-1, COLUMNS)[: len(rows), : len(batch)]
                place = found[first : first + len(batch), rows.start : rows.stop]
                np.multiply(scored.T, scales[rows.start : rows.stop], out=place)
    if not np.isfinite(found).all():
        raise BackendUnavailable("The Neural Engine gave scores that are no numbers")
    return found


def _inputs(halves: Halves, batch: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
    inputs = {}
    first = 0
    for part in halves.parts:
        width = part.codes.shape[1]
        inputs[part.name] = np.zeros((1, width, 1, COLUMNS), dtype=np.float32)
        inputs[part.name][0, :, 0, : len(batch)] = batch[:, first : first + width].T
        first += width
    return inputs


def _try(programs: _Programs, block: Block) -> None:
    """Score some rows whose scores are known. Raises BackendUnavailable when one is further off than claimed."""
    if not len(block):
        return
    rows = _rows(block, _TRIED_ROWS)
    queries = _trial_queries(_rows(block, _OWN_QUERIES)[1])
    rounded, errors = round_queries(queries)
    found = _predicted(programs, rounded)[:, rows[0]]
    off = np.abs(found - queries.astype(np.float64) @ rows[1].T).max(axis=1)
    allowed = errors + programs.halves.error
    if (off > allowed).any():
        worst = int(np.argmax(off - allowed))
        raise BackendUnavailable(
            f"The Neural Engine's scores are off by {off[worst]:.2g}, where {allowed[worst]:.2g} is allowed for"
        )


def _rows(block: Block, most: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Numbers of up to `most` rows, evenly from first to last, and what they hold: float64 (n, d)."""
    numbers = np.unique(np.linspace(0, len(block) - 1, most).astype(np.intp))
    head = block.head[numbers].astype(np.float64) * block.head_scales[numbers, None]
    tail = block.tail[numbers].astype(np.float64) * block.tail_scales[numbers, None]
    return numbers, np.hstack([head, tail])


def _trial_queries(own: NDArray[np.float64]) -> NDArray[np.float32]:
    """Unit queries, one batch at most: rows of the block, equal values (whose sums only grow), and chance."""
    dimensions = own.shape[1]
    chance = np.random.default_rng(0).standard_normal((COLUMNS - _OWN_QUERIES - 1, dimensions))
    queries = np.vstack([own, np.ones((1, dimensions)), chance])
    lengths = np.linalg.norm(queries, axis=1, keepdims=True)
    units: NDArray[np.float64] = np.divide(queries, lengths, out=np.zeros_like(queries), where=lengths > 0)
    return units.astype(np.float32)
